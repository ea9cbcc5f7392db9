#!/bin/bash
# pasted.sh - what is pasted runs: the commands of the help pages, every --set that a page, a note or the help of an error shows, and
# the file names in them, with names that a shell would read otherwise. Examples of commands are run by golden/examples.sh, blocks of
# the README by golden/readme.sh.
. "$(dirname "$0")/../tap.sh"
pages=$ROOT/src/cli/pages
mkdir bin
ln -s "$DNN" bin/dnn
unset -f dnn
export PATH="$WORK/bin:$PATH"

# --- the pages ---

# rows FROM COUNT: leads with the columns that the pages name
rows() {
    awk -v from="$1" -v count="$2" 'BEGIN { split("Oslo Bergen Paris", city, " "); s = from * 7919 % 2147483647 + 3
        print "lead_id,customer,day,age,city,region,visits,note,amount,converted"
        for (i = from; i < from + count; i++) { s = s * 16807 % 2147483647; a = 18 + s % 60; s = s * 16807 % 2147483647; v = s % 40
            printf "L%04d,C%d,2024-%02d-%02d,%d.%03d,%s,%s,%d,wrote %d times on %s,%.1f,%d\n", i, i / 3, 1 + i % 12, 1 + i % 28, a, s % 997,
                city[1 + i % 3], i % 2 ? "north" : "south", v, v, city[1 + i % 3], a + v, ((a > 40) + (v > 20) > 1) } }'
}
rows 1 500 >leads.csv
rows 501 100 >test.csv
rows 501 100 | cut -d, -f1-9 >new.csv
sed 's/converted/outcome/; s/,1$/,bad/; s/,0$/,good/' leads.csv >loans.csv
dnn init loans.csv --target outcome --set model.preset=mlp -q -o loans.json
sed 's/converted/topic/' leads.csv >questions.csv
config() { # config MODEL TARGET TASK MORE
    cat <<JSON
{"task": "$3", "data": {"train": "leads.csv", "target": "$2", "columns": {"lead_id": "id", "age": "numeric", "city": "categorical",
  "visits": "numeric"}}, "model": {"preset": "mlp", "hidden": [8]}, "train": {"epochs": 3}${4:-}, "output": {"model": "$1"}}
JSON
}
config churn.dnn converted binary >churn.json
config leads.dnn converted binary >leads.json
config amount.dnn amount regression ', "intervals": 0.9' >amount.json
config members.dnn converted binary ', "ensemble": {"folds": 2, "members": [{"name": "a"}]}' >members.json
for name in churn leads amount; do dnn train $name.json -q; done
cp churn.dnn old.dnn
cp churn.dnn m.dnn
cp churn.dnn new.dnn
perl "$ROOT/scripts/data/make_tagging.pl" 6 >weather.csv
perl -ne 'print if /^  \{"data": \{"train": "weather/ .. /\}\}$/' "$pages/tagging.txt" >weather.json

# The commands of a page: lines that begin with dnn, with those that a \ joins, without the words behind two blanks or more.
commands() {
    perl -0ne 's/\\\n +/ /g; s/65536,\n +/65536, /g;
        for (split /\n/) { next unless s/^ +(?=dnn [a-z])//; s/ {2,}.*// unless /buckets/; print "$_\n" }' "$1"
}
# A command that waits for something else, or takes minutes.
passed_over() {
    case $1 in
    "dnn bench"*) return 0 ;;              # minutes; tests/robust/bench.sh
    *" and dnn "* | *"; "*) return 0 ;;    # a sentence that begins with a command
    *) return 1 ;;
    esac
}
ran=0
for page in "$pages"/*.txt; do
    name=$(basename "$page" .txt)
    while IFS= read -r line; do
        if passed_over "$line"; then continue; fi
        case $name in
        conformal) line=${line//m.dnn/amount.dnn} ;;
        ensembles) line=${line/ CONFIG/ members.json} line=${line/--run N -o PN/--run 0 -o P0} line=${line/-o MODEL/-o members.dnn} ;;
        tuning) line=${line/ CONFIG/ churn.json} line=${line/trials 30/trials 2} ;;
        texts) line=${line//NAME/note} ;;
        tagging) line="${line/epochs=30/epochs=1} -o w.dnn" ;;
        esac
        case $line in *"dnn merge"*) dnn train members.json --run 1 -o P1 -q 2>err ;; esac
        case $line in "dnn init "*) rm -f c.json ;; esac
        STATUS=0
        timeout 100 bash -c "${line/#dnn init questions.csv --target topic/dnn init questions.csv --target topic --set model.preset=mlp}" \
            >out 2>err </dev/null || STATUS=$?
        [ $STATUS -ne 82 ] || STATUS=0 # a gate of the example is not met by this model: it was measured
        is_exit 0 "$name: $line"
        ran=$((ran + 1))
    done < <(commands "$page")
done
[ $ran -ge 30 ]
ok $? "commands of pages: $ran"

# every line of --set: NAME is a column that fits
sets=0
while IFS= read -r line; do
    config=churn.json
    case $line in
    *buckets* | *"=text"* | *encode*) line=${line//NAME/note} ;;
    *columns.NAME.missing*) line=${line//NAME/age} ;;
    *data.positive=bad*) config=loans.json ;;
    *split.column*) line="$line --set data.columns.day=datetime" line=${line//NAME/day} ;;
    *columns.NAME=group*) line=${line//NAME/customer} ;;
    *model.preset=cnn* | *layers*) continue ;; # of sequences: their own tests
    *) line=${line//NAME/age} ;;
    esac
    [[ $line != *"preset=age"* && $line != *"\\"* ]] || continue
    STATUS=0
    bash -c "dnn check $config -q $line" >out 2>err </dev/null || STATUS=$?
    is_exit 0 "check $line"
    sets=$((sets + 1))
done < <(cat "$pages"/*.txt "$ROOT/README.md" | perl -ne '
    my $word = qr/(?:[^\s\x27`(),;]|\x27[^\x27]*\x27)+/;
    my @all = /--set (?=[a-z])($word)/g; s/[.]$// for @all;
    @all = grep { /=/ } @all;
    print join(" ", map { "--set $_" } @all), "\n" if @all' | sort -u)
[ $sets -ge 15 ]
ok $? "settings of pages and README: $sets"

# --- notes and errors, with names that a shell would read otherwise ---

# The words that a message gives for the line: every --set, --id and --target with its word, as a shell reads it.
advice() {
    perl -ne 'my $word = qr/(?:\$\x27(?:\\.|[^\x27\\])*\x27|\x27[^\x27]*\x27|\\\x27|[\w.\/=:@%+-])+/;
        my @all = /(--(?:set|id) $word)/g; s/[.:]$// for @all; print join(" ", @all), "\n" if @all' "$@"
}
# csv NAME: quotes a cell
cell() { local text=${1//\"/\"\"}; printf '"%s"' "$text"; }
# table NAME EXPRESSION [ROWS] [HEAD]: columns NAME and y
table() {
    { cell "$1"; printf ',x,%s\n' "${4:-y}"
      perl -e 'my ($code, $rows) = @ARGV; for my $i (1 .. $rows) { my $c = eval $code; die $@ if $@; $c =~ s/"/""/g;
        printf "\"%s\",%d,%s\n", $c, $i * 37 % 101, ($i * 7919 % 97 < 40 ? "yes" : "no") }' "$2" "${3:-300}"; } >t.csv
}
# follows NAME TYPE WHAT: init says what to do, it runs as it stands, and the column is of that type then; nothing steers the terminal
follows() {
    run "$DNN" init t.csv --target y -o t.json --force
    ! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' err
    ok $? "$3: nothing of the name reaches the terminal raw" "$(cat -v err)"
    advice err | grep -F -- "${4:-data.columns}" >words
    [ -s words ]
    ok $? "$3: init says what to do" "$(cat -v err)"
    STATUS=0
    bash -c "dnn init t.csv --target y -o t.json --force -q $(head -n 1 words)" >out 2>err2 || STATUS=$?
    is "$STATUS $(perl -MJSON::PP -e 'local $/; utf8::decode($ARGV[0]); my $c = decode_json(<STDIN>)->{data}{columns}{$ARGV[0]};
        print ref $c ? $c->{type} : $c // "none"' "$1" <t.json)" "0 $2" "$3: as pasted: $(head -n 1 words)"
    run "$DNN" check t.json -q --set model.preset=linear
    is_exit 0 "$3: and its cells are read"
}
hostile=$'it\'s "q" $HOME `x` \\ a\nb;*'
for name in "plain" "two words" "$hostile" $'esc\e[31mred' "Größe (m²)" '{"a": 1}'; do
    shown=$(printf '%s' "$name" | cat -v | tr '\n' ' ')
    table "$name" '($i % 90) + 1 . "k"'
    follows "$name" numeric "multipliers in column $shown"
    table "$name" 'sprintf "%d,%03d", 1 + $i % 9, $i * 37 % 1000'
    follows "$name" numeric "thousands or decimals in column $shown"
    table "$name" 'sprintf "%02d/%02d/2024", 1 + $i % 12, 1 + $i % 11'
    follows "$name" datetime "days or months in column $shown"
done
table "customer id's" '"C" . (1000 + $i % 100)' 600
follows "customer id's" group "rows that belong together"
table "a b" '$i * 13 % 7919 + 100000'
follows "a b" id "numbers of rows" "--id"
# the positive label
printf 'x,y\n' >t.csv
for i in $(seq 100); do
    printf '%d,"%s"\n' $((i * 37 % 101)) "$([ $((i % 3)) = 0 ] && echo "it's $i" | sed 's/ .*/ "so"/; s/"/""/g' || echo 'not `so`')"
done >>t.csv
run "$DNN" init t.csv --target y -o t.json --force
bash -c "dnn init t.csv --target y -o t.json --force -q $(advice err | grep positive | head -n 1)" 2>err2
is "$(perl -MJSON::PP -e 'local $/; print decode_json(<STDIN>)->{data}{positive}' <t.json)" 'not `so`' \
    "the other label: $(advice err | grep positive)"
# a file's name
cp leads.csv "my file's.csv"
run "$DNN" init "my file's.csv" --target converted -o "-my file's.json"
command=$(grep -o '`dnn check [^`]*`' err | tr -d '`')
STATUS=0
bash -c "$command -q" >out 2>err2 || STATUS=$?
is "$STATUS" 0 "the note of init as pasted: $command"

# commands that make another file: they run as they stand, leave the input as it was, and init reads what they make
mends() { # mends FILE WHAT: the bytes are standard input
    local file=$1 line made
    rm -rf kept && mkdir kept
    cat >"kept/$file"
    cp "kept/$file" before
    run "$DNN" init "kept/$file" --target y -o kept.json --force
    line=$(perl -ne 'my $w = qr/\x27(?:[^\x27]|\x27\\\x27\x27)*\x27|[^\s\x27;]+/;
        print "$1\n" if s/`[^`]*`//gr =~ /(?:: |; )((?:tail|sed|tr|zcat|iconv) .* > (?:$w)+)/' err | head -n 1)
    bash -c "$line" 2>err2
    is "$? $(cmp "kept/$file" before && ls kept | wc -l)" "0 2" "$file: $2: the command runs, and the input stays: $line" "$(cat err err2)"
    made=$(find kept -type f ! -name "$file")
    run "$DNN" init "${made:-none}" --target y -o kept.json --force
    is_exit 0 "$file: $2: what the command makes is read"
}
body() { seq 60 | awk -v s="${1:-,}" '{ print $1 % 7 s $1 % 11 s ($1 % 3 ? "a" : "b") }'; }
plain() { echo "x,z,y"; body; }
for file in data.csv "it's my.csv" data.txt; do
    mends "$file" "a title above the names" < <({ echo "A table of 2024,,"; plain; })
    mends "$file" "sep=" < <({ echo "sep=;"; plain | tr , ';'; })
    mends "$file" "blanks and names of rows" < <({ echo '"x" "z" "y"'; body ' ' | awk '{ print NR, $0 }'; })
    mends "$file" "names of rows" < <({ echo '"x","z","y"'; body | awk '{ print "\"" NR "\"," $0 }'; })
    mends "$file" "single quotes" < <(plain | sed "s/[^,]*/'&'/g")
    mends "$file" "the names once more" < <({ plain; plain; })
    mends "$file" "UTF-16" < <(plain | sed 's/b$/ü/' | iconv -f UTF-8 -t UTF-16)
done
mends data.csv.gz "packed: the names once more" < <({ plain; plain; } | gzip -c)
mends data.csv.gz "packed twice" < <(plain | gzip -c | gzip -c)
echo '[{"x": 1, "y": "a"}]' >data.json
run "$DNN" init data.json --target y
err_has "< data.json > data.mended.csv" "JSON: the names"
run bash -c "printf 'sep=;\nx;y\n1;a\n' | '$DNN' predict churn.dnn -"
err_has "put it in front: | tail -n +2" "standard input: a part of a pipe"

# --- what everybody tries ---

tries() { # tries KEY WORDS..: the help shows the same line with --set, which runs
    local key=$1 line
    shift
    run "$DNN" check "my leads.json" "$@"
    is_exit 64 "$*: no option"
    line=$(sed -n 's/.*help: it is a key of the config: `\(dnn check .* --set .*\)`; `dnn help \(.*\)` describes it/\1/p' err)
    dnn help "$key" >/dev/null 2>&1
    ok $? "  dnn help $key"
    STATUS=0
    bash -c "$line -q" >out 2>err2 || STATUS=$?
    is "$STATUS $(grep -cF -- "$key" <<<"$line")" "0 1" "  as pasted: $line" "$(cat err err2)"
}
cp churn.json "my leads.json"
tries train.epochs --epochs 10
tries train.optimizer.learning_rate --lr=0.1
tries train.optimizer.learning_rate --learning-rate 0.1
tries train.seed --seed 3
tries train.early_stopping.patience --patience 3
tries model.preset --preset mlp
tries model.hidden --hidden '[16, 8]'
tries model.hidden --hidden 16,8
tries model.hidden --layers 3
tries data.split.method --method random
tries data.split.valid --val-split .2
tries train.loss.type --loss focal
tries train.loss.class_weights --class-weight balanced
tries train.optimizer.type --optimizer adam
tries train.schedule.type --lr_scheduler cosine
tries backend.precision --fp16
run "$DNN" check "my leads.json" --epochs 2 --lr 0.1 --n-jobs 2 --seed 3
err_has "\`dnn check 'my leads.json' --set train.epochs=2" "  the first" # each of them is replaced
err_has " --set train.optimizer.learning_rate=0.1 --threads 2 --set train.seed=3\`" "  all of them"
pair() { # pair INIT TRAIN WORDS..: data in place of a config: the help shows both commands, which run
    local init=$1 train=$2
    shift 2
    rm -f leads.json
    run "$DNN" "$@"
    is_exit 64 "$*: no option"
    is "$(sed -n 's/^  = help: //p' err)" "that stands in a config: \`$init\` writes it from the data, then \`$train\`" "  both commands"
    [[ $init != *" COL "* ]] || return 0
    STATUS=0
    bash -c "$init -q && $train -q --set train.epochs=1 --set model.preset=linear" >out 2>err2 || STATUS=$?
    is "$STATUS" 0 "  as pasted" "$(cat err err2)"
}
pair 'dnn init leads.csv --target converted -o leads.json' 'dnn train leads.json' train leads.csv --target converted
pair 'dnn init leads.csv --target converted -o leads.json' 'dnn check leads.json' check leads.csv -y converted
pair 'dnn init leads.csv --id lead_id --set train.optimizer.learning_rate=0.1 --target converted -o leads.json' \
    'dnn train leads.json --threads 2 -o my.dnn' train leads.csv --id lead_id --lr=0.1 --threads 2 --label converted -o my.dnn
pair 'dnn init leads.csv --set train.epochs=5 --target COL -o leads.json' 'dnn train leads.json' train leads.csv --epochs 5
run "$DNN" train leads.csv
err_has 'dnn init leads.csv --target COL -o leads.json' "data in place of a config, without an option"
means() { # means HELP COMMAND..: what an option of other programs stands for
    local help=$1
    shift
    run "$DNN" "$@"
    is_exit 64 "$*: no option"
    is "$(sed -n 's/^  = help: //p' err)" "$help" "$*: the help says what it stands for"
}
means 'did you mean --target churned?' init new.csv --label churned
means 'it is an argument, not an option: `dnn init DATA.csv...`' init --data new.csv
means 'did you mean --backend dnn_gpu?' train churn.json --gpu
means 'did you mean --threads 4?' predict churn.dnn new.csv --n-jobs 4
means "did you mean --delimiter ';'?" predict churn.dnn new.csv --sep ';'
means 'it is an argument, not an option: `dnn predict MODEL [DATA.csv|-]...`' predict --model=churn.dnn new.csv
means 'did you mean --folds 3?' cv churn.json -k 3
means 'it is an option of `dnn tune`' train churn.json --trials 3
means 'it is a command: `dnn cv`' train churn.json --cv 3
means '--backend dnn_gpu asks for a GPU; the device says which one' train churn.json --device gpu
means 'did you mean `train.loss.type`?' train churn.json --set train.loss=focal
run "$DNN" predict churn.dnn new.csv --epochs 3
is_exit 64
err_lacks "--set" "a command without a config has no such help"
for limit in 90 90s 5m 2h 1h30m 1d; do
    run "$DNN" train churn.json --time-limit $limit -q --set train.epochs=1 --force
    is_exit 0 "--time-limit $limit"
done
run "$DNN" train churn.json --time-limit 5x
is_exit 64 "--time-limit 5x"
err_has 'expected: seconds, as 90 or 90s, or 5m, 2h, 1h30m, 1d'
for word in overfitting imbalance importance leak forecast upgrade onnx limits handover; do
    [ "$("$DNN" help $word 2>err | wc -l)" -gt 15 ]
    ok $? "dnn help $word" "$(cat err)"
done
run "$DNN" help -k overfit
out_has 'dnn help bad-model' "help -k finds a page by its alias"
run "$DNN" help -k class weights
out_has 'dnn help train.loss.class_weights' "  a key, by two words"
run "$DNN" help 'class' weights
out_has 'dnn help train.loss.class_weights' "  without -k"
run "$DNN" help -k E1203
out_has 'dnn help E1203' "  an error"
run "$DNN" help -k qqqq
is_exit 64 "  a word of no page"
done_testing
