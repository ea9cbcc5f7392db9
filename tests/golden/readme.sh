#!/bin/bash
# readme.sh - README and HACKING say what is so: the key reference and the exit codes are the program's, every command
# that is shown runs, every config that is shown is one, every member of an object is printed, every file and function is there.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
cd "$ROOT" || exit 1
check "the key reference is that of \`dnn help keys\`" scripts/readme_keys.sh --check
for command in $(sed -n 's/^| `\([a-z]*\)` |.*/\1/p' README.md); do
    check "command $command has a page" "$DNN" help "$command"
done
is "$(sed -n '/^## Exit codes/,/^## Config/s/^| \([0-9].*\) |$/\1/p' README.md)" "$("$DNN" help exit | sed 's/^ *//; s/  / | /')" \
    "the exit codes are those of \`dnn help exit\`"
"$DNN" help gpu | sed -n '/^toolkit/,/^$/p' | sed '/^$/d; s/ *$//' >"$WORK/table"
[ "$(wc -l <"$WORK/table")" -ge 5 ] && while IFS= read -r row; do grep -qxF -- "$row" README.md || echo "$row"; done <"$WORK/table" >"$WORK/missing"
[ ! -s "$WORK/missing" ]
ok $? "the table of toolkits is that of \`dnn help gpu\`" "$(cat "$WORK/missing")"
for path in $(grep -oE '\((HACKING\.md)\)|`(scripts|tests|data|configs)/[A-Za-z0-9_./-]*`' README.md HACKING.md | sed 's/^[^:]*://; s/[()`]//g' | grep -v '\.h$' | sort -u); do
    [ -e "$path" ]
    ok $? "$path exists"
done
for header in $(grep -oE '\(?(base|data|backend|model|run|cli)/[a-z_]+\.[ch]' HACKING.md | tr -d '(' | sort -u); do
    [ -e "src/$header" ]
    ok $? "src/$header exists"
done
for name in $(grep -oE '`[a-z0-9]+_[a-z0-9_]+`' HACKING.md | tr -d '`' | sort -u); do
    grep -rqw --include='*.h' --include='*.cuh' -- "$name" src kernels
    ok $? "HACKING: $name is declared"
done
for word in $(grep -oE '`(DNN|LOG|GPU|ALL|CUDA|MODEL)_[A-Z_]+`|`DEBUG`' README.md | tr -d '`' | sort -u); do
    check "$word has a page" "$DNN" help "$word"
done

# blocks FILE LANGUAGE FOLDER: each block of that language is FOLDER/N.LANGUAGE
blocks() {
    awk -v language="$2" -v folder="$3" '/^```/ { inside = !inside && $0 == "```" language; if (inside) n++; next }
        inside { print > (folder "/" n "." language) }' "$1"
}
blocks README.md sh "$WORK"
blocks README.md json "$WORK"
cd "$WORK" || exit 1
make_leads leads.csv 900
make_leads test.csv 200 5
make_leads new.csv 30 2 bare
while IFS= read -r line; do
    case $line in
    scripts/*) [ -x "$ROOT/${line%% *}" ]; ok $? "README: ${line%% *} is a script" ;;
    *)
        PATH=$WORK:$PATH
        ln -sf "$DNN" "$WORK/dnn"
        bash -c "command dnn ${line#dnn }" >out 2>err
        ok $? "README: $line" "$(cat err)" ;;
    esac
done < <(cat ./*.sh)
count=0
for block in ./*.json; do
    case $block in ./[0-9]*) ;; *) continue ;; esac
    count=$((count + 1))
    if grep -q '"task"' "$block"; then
        cp "$block" shown.json
    else # a member: put into a config
        { sed 's/ *}$//; $d' 1.json; printf '},\n'; cat "$block"; echo '}'; } | perl -0pe 's/\},?\n\},\n/},\n/' >shown.json
    fi
    run dnn check shown.json
    is_exit 0 "README: the config of block $count"
done
[ $count -ge 2 ]
ok $? "README: $count blocks of JSON"

# members SCHEMA FILE: those that the README lists are those of the object
members() {
    sed -n "s|^. .$1. . \(.*\) .\$|\1|p" "$ROOT/README.md" | sed 's/:.*//' | grep -o '`[a-z0-9_]*`' | tr -d '`' | sort >said
    perl -MJSON::PP -ne 'print "$_\n" for sort grep { $_ ne "schema" } keys %{decode_json($_)}' <(tail -n 1 "$2") | sort >printed
    cmp -s said printed && [ -s said ]
    ok $? "README: the members of $1" "$(diff said printed)"
}
dnn train leads.json -o leads.dnn --json -q --set train.epochs=2 --set output.metrics=epochs.jsonl >train.out
dnn check leads.json --json -q >check.out
dnn predict leads.dnn new.csv -o answers.csv --json -q >predict.out
dnn evaluate leads.dnn test.csv --json -q >evaluate.out
dnn inspect leads.dnn --json >inspect.out
dnn verify leads.dnn --json -q >verify.out
dnn --version --json >version.out
dnn train none.json --json >error.out
cp epochs.jsonl epoch.out
for name in check train epoch predict evaluate inspect verify version error; do
    members "dnn.$name/1" $name.out
done
done_testing
