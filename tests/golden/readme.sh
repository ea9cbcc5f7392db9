#!/bin/bash
# readme.sh - README, HACKING, the pages of `dnn help TOPIC` and the manual page are true: every command that they show runs,
# every config is valid, every option, key, topic, file and function that they name exists.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
cd "$ROOT" || exit 1
none() { [ -z "$2" ]; ok $? "$1" "$2"; } # none NAME LIST: the list of faults is empty
pages=$ROOT/src/cli/pages

none "README has at most 250 lines" "$(awk 'END { if (NR > 250) print NR }' README.md)"
none "HACKING has at most 220 lines" "$(awk 'END { if (NR > 220) print NR }' HACKING.md)"
none "pages have at most 80 columns" "$(awk 'FNR > 1 && length > 80 { print FILENAME ":" FNR }' "$pages"/*.txt)"
for command in $(sed -n 's/^| \(`[a-z`, ]*\) |.*/\1/p' README.md | tr -d '`,'); do
    check "command $command has a page" "$DNN" help "$command"
done

# topics: every page is there under each of its names; every `dnn help WORD` leads somewhere
missing=""
for word in $(sed -s -n '1s/:.*//p' "$pages"/*.txt | tr -d ,); do
    "$DNN" help "$word" >/dev/null 2>&1 || missing+=" $word"
    "$DNN" help "${word^^}" >/dev/null 2>&1 || missing+=" ${word^^}"
done
for word in $(grep -hoE 'dnn help [A-Za-z0-9._-]+(, [a-z-]+)*[.\`]' README.md "$pages"/*.txt scripts/examples/* |
    sed 's/dnn help//; s/[,\`]//g; s/\.$//'); do
    [ "$word" = WORD ] || "$DNN" help "$word" >/dev/null 2>&1 || missing+=" $word"
done
none "every topic that is named has a page" "$missing"
missing=""
for name in $(ls "$pages" | sed 's/\.txt//'); do
    "$DNN" help | grep -q "^  $name " || missing+=" $name"
done
none "\`dnn help\` lists every topic" "$missing"
missing=""
for option in $(cat README.md "$pages"/*.txt | grep -vE 'docker|--gpus|--conf|^    *-[ev] ' | grep -oE -- '--[a-z][a-z-]+' | sort -u); do
    [ "$option" = --version ] || "$DNN" help -- "$option" >/dev/null 2>&1 || missing+=" $option"
done
none "every option that is named exists" "$missing"
missing=""
for key in $(cat README.md "$pages"/*.txt | grep -oE '\b(data|model|train|backend|output)(\.[a-z_]+)+' |
    grep -vE '\.(csv|json|dnn|chars|c|h)\b' | sort -u); do
    "$DNN" help "$key" >/dev/null 2>&1 || missing+=" $key"
done
none "every key that is named exists" "$missing"
missing=""
for word in $(cat README.md "$pages"/*.txt | grep -oE '\b(DNN|LOG|GPU|ALL|MODEL)_[A-Z_]+\b' | sort -u); do
    "$DNN" help "$word" >/dev/null 2>&1 || missing+=" $word"
done
none "every variable that is named has a page" "$missing"
missing=""
for path in $(grep -hoE '\b(scripts|tests|data|configs)/[A-Za-z0-9_./-]*[A-Za-z0-9_/]' README.md HACKING.md "$pages"/*.txt |
    grep -v '\.h$' | sort -u) \
    $(grep -oE '\]\([A-Za-z0-9_./-]+\)' README.md | tr -d '])('); do
    [ -e "$path" ] || missing+=" $path"
done
for header in $(grep -oE '\b(base|csv|table|infer|backend|model|measure|config|choose|answer|train|check|cli)(/[a-z]+)?/[a-z_0-9]+\.[ch]' \
    HACKING.md |
    sort -u); do
    [ -e "src/$header" ] || missing+=" $header"
done
none "every file that is named exists" "$missing"
missing=""
for name in $(grep -oE '`[a-z0-9]+_[a-z0-9_]+`' HACKING.md | tr -d '`' | sort -u); do
    grep -rqw --include='*.[ch]' --include='*.cu*' --include='*.def' -- "$name" src kernels || missing+=" $name"
done
none "HACKING: every function that is named exists" "$missing"

# the manual page: every command and topic, and no warning of groff
build=${DNN%/*}
build=${build%/testing}
man=$build/man1/dnn.1
if [ -f "$man" ]; then
    missing=""
    for name in $(ls "$pages" | sed 's/\.txt//'); do
        grep -qxF ".SS ${name//-/\\-}" "$man" || missing+=" $name"
    done
    for command in $("$DNN" help | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        grep -qxF ".SS dnn $command" "$man" || missing+=" $command"
    done
    none "the manual page has every command and topic" "$missing"
    if command -v groff >/dev/null; then
        none "groff sets the manual pages without a warning" "$(groff -man -Tutf8 -ww "${man%/*}"/*.1 2>&1 >/dev/null)"
    fi
fi
if [ "$build" = "$ROOT/build" ]; then # built by plain `make`: nothing is left to build
    make -s install PREFIX=/usr DESTDIR="$WORK/there" >"$WORK/out" 2>&1
    ok $? "make install" "$(cat "$WORK/out")"
    none "the manual page is beside the binary" "$(cd "$WORK/there/usr" && ls bin/dnn share/man/man1/dnn.1 \
        share/man/man1/dnn-train.1 2>&1 >/dev/null)"
    make -s uninstall PREFIX=/usr DESTDIR="$WORK/there"
    none "make uninstall leaves no file" "$(find "$WORK/there" -type f)"
fi

# blocks FILE LANGUAGE FOLDER: each block of that language is FOLDER/N.LANGUAGE
blocks() {
    awk -v language="$2" -v folder="$3" '/^```/ { inside = !inside && $0 == "```" language; if (inside) n++; next }
        inside { print > (folder "/" n "." language) }' "$1"
}
blocks README.md sh "$WORK"
blocks README.md json "$WORK"
cd "$WORK" || exit 1
sed -n 's/^ *\("[a-z]*": {.*}\)$/\1/p' "$pages"/*.txt | split -l 1 --additional-suffix=.json - 9
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
for block in ./[0-9]*.json; do
    count=$((count + 1))
    if grep -q '"task"' "$block"; then
        cp "$block" shown.json
    elif grep -q '^"age"' "$block"; then # a column
        perl -0pe 'BEGIN { open my $in, "<", shift; $part = join "", <$in>; chomp $part } s/"age": "numeric"/$part/' \
            "$block" 1.json >shown.json
    elif grep -q '"split"' "$block"; then # a member of data
        perl -0pe 'BEGIN { open my $in, "<", shift; $part = join "", <$in>; chomp $part } s/("data": \{)/$1$part, /' \
            "$block" 1.json >shown.json
    else # a member: put into a config
        { sed 's/ *}$//; $d' 1.json; printf '},\n'; cat "$block"; echo '}'; } | perl -0pe 's/\},?\n\},\n/},\n/' >shown.json
    fi
    run dnn check shown.json
    is_exit 0 "the config of $block: $(head -n 1 "$block" | cut -c 1-60)"
done
[ $count -ge 4 ]
ok $? "README and pages: $count blocks of JSON"

# members SCHEMA FILE: those that `dnn help json` lists are those of the object
members() {
    perl -e 'my $name = shift; local $/; $_ = <>; /^\Q$name\E +(.*?)\n(?=\S|\n| +of data)/ms or exit; my $list = $1;
        $list =~ s/\(.*?\)//gs; $list =~ s/of a model://; print "$_\n" for sort split " ", $list' "$1" "$pages/json.txt" >said
    perl -MJSON::PP -ne 'print "$_\n" for sort grep { $_ ne "schema" } keys %{decode_json($_)}' <(tail -n 1 "$2") | sort >printed
    cmp -s said printed && [ -s said ]
    ok $? "dnn help json: the members of $1" "$(diff said printed)"
}
dnn train leads.json -o leads.dnn --json -q --set train.epochs=2 --set output.metrics=epochs.jsonl >train.out
dnn check leads.json --json -q >check.out
dnn predict leads.dnn new.csv -o answers.csv --json -q >predict.out
dnn evaluate leads.dnn test.csv --json -q >evaluate.out
dnn inspect leads.dnn --json >inspect.out
dnn verify leads.dnn --json -q >verify.out
dnn --version --json >version.out
dnn bench --operation dense --size small --iterations 1 --json -q >bench.out
CUDA_VISIBLE_DEVICES='' dnn gpucheck --json -q >gpucheck.out
dnn train none.json --json >error.out
cp epochs.jsonl epoch.out
for name in check train epoch predict evaluate inspect verify gpucheck bench version error; do
    members "dnn.$name/1" $name.out
done
done_testing
