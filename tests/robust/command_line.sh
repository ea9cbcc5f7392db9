#!/bin/bash
# command_line.sh - wrong command lines and hostile surroundings of a process. Ids: L01 L02 L03 L04 L05 L06 L07 L08 L09 L10 L11.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 300
make_leads_model m.dnn
make_leads new.csv 20 2 bare
want=$(digest m.dnn)
dnn predict m.dnn new.csv >answers.csv 2>err
commands="init check train predict evaluate inspect verify schema completion help"

run dnn
is_exit 64 "L01 no arguments: 64"
[ ! -s out ] && grep -q '^commands:' err
ok $? "L01 the overview goes to standard error"
for word in --help -h help; do
    run dnn $word
    is_exit 0 "L01 dnn $word"
    [ ! -s err ] && grep -q '^commands:' out
    ok $? "L01 dnn $word: the overview goes to standard output"
done
run dnn --version
is_exit 0 "L01 --version"
grep -q '^dnn [0-9]' out && [ ! -s err ]
ok $? "L01 --version goes to standard output"
run dnn --version --json
is_exit 0 "L01 --version --json"
out_has '"schema":"dnn.version/1"'
for command in $commands; do
    run dnn $command --help
    is_exit 0 "L01 dnn $command --help"
    head -n 3 out | tail -n 1 | grep -q '^examples:$' && [ ! -s err ]
    ok $? "L01 opens with examples" "$(head -n 4 out)"
    cp out page
    run dnn help $command
    same out page "L01 dnn help $command is the same page"
    run dnn $command -h
    same out page "L01 dnn $command -h too"
done

refused() { # refused NAME WORDS-ON-STDERR ARGUMENTS...
    local name=$1 words=$2
    shift 2
    run dnn "$@"
    is_exit 64 "$name: 64"
    err_has "$words" "$name: says $words"
    [ ! -s out ]
    after_exit $? "$name: nothing on standard output"
}
refused "L02 an unknown command" 'did you mean `dnn train`?' tarin
refused "L02 nothing like a command" '`dnn help` lists the commands' zzzzzzzzzz
refused "L02 a command of another day" 'there is no command "export"' export leads.json
refused "L02 an option without a command" 'no option "--quiet" without a command' --quiet
refused "L02 an empty word" 'there is no command ""' ""
refused "L02 an unknown option" "did you mean --threads?" train leads.json --thread 2
refused "L02 an unknown short option" '"-x"' train leads.json -x
refused "L02 an option of another command" '"--resume"' predict m.dnn new.csv --resume
refused "L02 an option of a later day" '"--folds"' train leads.json --folds 3
refused "L02 the beginning of an option" 'did you mean --output?' predict --out x
refused "L02 the beginning of a longer one" 'did you mean --on-bad-row?' predict --on-bad x
for word in version -V --verison; do
    refused "L02 $word" 'did you mean `dnn --version`?' "$word"
done
refused "L02 an option without a command, behind one" 'did you mean `dnn --version`?' train leads.json --verison
refused "L02 a topic near a word that is none" '`dnn help` lists commands' help nope
refused "L02 an entry of a list that is a word is not refused as a type" '"abc" is not an integer' train leads.json --set train.epochs=abc
refused "L02 an option of a preset that takes none" 'add --set model.preset=mlp' check leads.json --set 'model={"preset": "auto"}' \
    --set 'model.hidden=[64]'
refused "L02 inspect of a config" 'is a config' inspect leads.json
refused "L02 inspect of a pipe" 'give a file' inspect -
for name in DNN_TUNE_GPU DNN_EXPLAIN_GPU; do
    export $name=banana
    refused "L02 $name" "$name is \"banana\"" check leads.json
    unset $name
done
run dnn train leads.csv
is_exit 78 "L02 the data in the place of the config"
err_has 'help: is this the data? `dnn init'
run dnn check leads.json --set model.preset=mlp --set model.hidden.0=8
is_exit 0 "L02 an entry of a preset's list that stands at its default"
run dnn check leads.json --set data.train.0=leads.csv
is_exit 0 "L02 the first file of one"
run dnn check leads.json --set data.split.method=random --set data.split.column=city
is_exit 78 "L02 a split column that is not read"
run dnn check leads.json --set train.epochs=1
is_exit 0
! grep -q ' 1 epochs' out
after_exit $? "L02 one epoch"
! grep -q 'backend.train ' out
after_exit $? "L02 what only follows backend.name is not shown"
run dnn train leads.json --set train.epochs=1 -o verbose.dnn -v
err_has 'train.epochs = 1 (--set)' "L02 --verbose tells where settings come from"
err_has 'seconds: load' "L02 --verbose tells how many seconds each part took"
err_has ': 1 epoch (all)' "L02   in one epoch"
run dnn train leads.json --set train.epochs=1 -o verbose.dnn --log-format json
grep '"message":"epoch 1/1 ' err |
    grep -q '"epoch":1,"epochs":1,"loss":0\..*,"metric":"logloss","value":0\..*,"best":true,"rows_per_s":.*,"seconds":'
ok $? "L02 --log-format json: the figures of an epoch are members" "$(cat err)"
run dnn predict verbose.dnn new.csv -v -o verbose.csv
err_has '20 rows; seconds: load' "L02   predict too"

for topic in datetime id weight group ignore numeric categorical; do
    run dnn help $topic
    [ "$(wc -l <out)" -gt 1 ]
    ok $? "L02 help $topic says what it is"
done
run dnn help optimizer
out_has 'train.optimizer.learning_rate' "L02 help optimizer"
run dnn help model.preset
out_has '    mlp ' "L02 help model.preset names them"
run dnn help hidden
out_has 'model.hidden, with model.preset "mlp"' "L02 help hidden says whose it is"

# pages by the names people have at hand
for word in TRAIN AUC Data.Split Gates; do
    dnn help "$(printf %s "$word" | tr A-Z a-z)" >page
    run dnn help "$word"
    same out page "L02 help $word: in any case"
done
page_of() { run dnn help "$1"; is_exit 0 "L02 help $1"; out_has "$2" "L02   says: $2"; }
page_of signals 'SIGUSR2'
page_of SIGTERM 'Exit 75'
page_of sigterm 'Exit 75'
page_of signal 'SIGUSR2'
page_of --set 'commands that read or write a config'
page_of set '--set KEY=VALUE'
page_of --rejects 'dnn predict'
page_of --device 'commands that compute'
page_of -o 'dnn train CONFIG'
page_of --json 'One JSON object'
page_of --verbosity 'every command'
page_of 1203 'E1203'
page_of e1203 'E1203'
page_of 12 'E1203'
page_of 64 'usage'
for word in SIGWINCH --bogus 9999 SIG; do
    run dnn help "$word"
    is_exit 64 "L02 help $word: there is none"
done
run dnn help --help
out_has 'usage: dnn help' "L02 help --help is the page of help"

# completion: words where words stand, files where files stand
dnn completion bash >complete.bash
complete_at() { bash -c '. ./complete.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dnn; echo "${COMPREPLY[*]}"' bash "$@"; }
is "$(complete_at dnn predict --on-bad-row '')" "stop null skip" "L02 completion: the words of an option"
is "$(complete_at dnn help train.opt | tr ' ' '\n' | head -n 1)" "train.optimizer.type" "L02 completion: keys behind help"
is "$(complete_at dnn train --set train.epo)" "train.epochs=" "L02 completion: keys behind --set"
is "$(complete_at dnn train leads.cs)" "leads.csv" "L02 completion: files"
is "$(complete_at dnn train --threads lea)" "" "L02 completion: none for a number"
is "$(complete_at dnn completion '')" "bash zsh" "L02 completion: shells"
is "$(complete_at dnn schema lea)" "" "L02 completion: none for schema"
is "$(complete_at dnn evaluate m.dnn d.csv --on acc)" "accuracy" "L02 completion: metrics behind --on"
is "$(complete_at dnn evaluate m.dnn d.csv --require = pr)" "pr_auc precision" "L02 completion: and behind --require="
is "$(complete_at dnn train c.json --set = train.epo)" "train.epochs=" "L02 completion: keys behind --set="
is "$(complete_at dnn train c.json --backend = dnn_c)" "dnn_cpu" "L02 completion: behind the = of an option"
is "$(complete_at dnn train c.json --backend dnn)" "dnn_gpu dnn_cpu dnn" "L02 completion: all that --backend takes"
is "$(complete_at dnn help E120 | cut -c1-11)" "E1201 E1202" "L02 completion: ids of errors"
is "$(complete_at dnn verify --re)" "" "L02 completion: but stands behind its own commands alone"
is "$(complete_at dnn help exi)" "exit-codes" "L02 completion: topics with an e"
mkdir spaced
touch 'spaced/my data.csv' 'spaced/my.csv'
is "$(bash -c '. ./complete.bash; COMP_WORDS=(dnn train spaced/my); COMP_CWORD=2; _dnn; printf "[%s]" "${COMPREPLY[@]}"' |
    sed 's/\]\[/]\n[/' | sort | tr -d '\n')" \
    "[spaced/my data.csv][spaced/my.csv]" "L02 completion: a blank in the name of a file"
dnn completion zsh >complete.zsh
grep -qF "'" complete.zsh && grep -qF ":value:(stop null skip)'" complete.zsh
ok $? "L02 completion of zsh has the words too"
grep -qF "'(-o --output)'{-o+,--output=}'[" complete.zsh && grep -qF "'*--set=[" complete.zsh
ok $? "L02   behind the = of an option, and behind a letter"

refused "L02 an unknown topic" 'did you mean train.epochs' help train.epoch
refused "L02 an empty topic" 'there is no page ""' help ''
refused "L02 an unknown error id" 'E1299' help E1299
refused "L03 a value that is missing" "--output needs a value" train leads.json -o
refused "L03 at the end behind others" "--set needs a value" train leads.json --set
refused "L03 an empty value" "--output needs a value" train leads.json --output=
refused "L03 an empty value as a word" "--output needs a value" train leads.json -o ""
refused "L03 an empty column" "--target needs a value" init leads.csv --target=
refused "L03 a value for an option without one" "--force takes no value" train leads.json --force=yes
for value in 10x -1 1e3 99999999999999999999 "" " 3" 3.0 0x2 ٣; do
    run dnn train leads.json --threads="$value"
    is_exit 64 "L04 --threads '$value'"
    run dnn train leads.json --batch-size "$value"
    is_exit 64 "L04 --batch-size '$value'"
    run dnn predict m.dnn new.csv --max-bad-rows "$value"
    is_exit 64 "L04 --max-bad-rows '$value'"
    # the catalogue's --epochs is --set train.epochs here
    [ "$value" = 3.0 ] || [ "$value" = " 3" ] || [ "$value" = 1e3 ] || {
        run dnn check leads.json --set train.epochs="$value"
        is_exit 64 "L04 --set train.epochs='$value'"
    }
done
for value in 0 1025; do
    run dnn train leads.json --batch-size $((value * 1024 * 1024)) --threads $value
    is_exit 64 "L04 --batch-size $((value * 1024 * 1024))"
    err_has "an integer from" "L04 --batch-size $((value * 1024 * 1024)): the range is named"
done
for value in -1 ten 1e99 "" nan inf; do
    run dnn train leads.json --time-limit "$value"
    is_exit 64 "L04 --time-limit '$value'"
done
for value in -1 4 x; do
    run dnn train leads.json --verbosity=$value
    is_exit 64 "L04 --verbosity '$value'"
done
refused "L04 a word" "expected: auto, bar, plain, none" train leads.json --progress dots
refused "L04 a gate that is none" "auc" evaluate m.dnn leads.csv --require 'auc=0.5'
refused "L04 a gate on an unknown metric" "auc" evaluate m.dnn leads.csv --require 'aucc>=0.5'
refused "L04 a metric of another task" "rmse" evaluate m.dnn leads.csv --require 'rmse<1'
refused "L04 a gate without a number" "auc" evaluate m.dnn leads.csv --require 'auc>=high'
refused "L04 a --set without a value" "E1008" check leads.json --set train.epochs
refused "L04 a --set of an unknown key" 'did you mean' check leads.json --set train.epoch=3
refused "L04 a --set of the wrong type" "train.epochs" check leads.json --set train.epochs=many
deep=$(printf '[%.0s' {1..40})$(printf ']%.0s' {1..40})
refused "L04 a --set of JSON that is too deep" 'E1008]: --set model: objects and lists are nested more than 32 deep' \
    check leads.json --set model="{\"layers\": $deep}"
refused "L04 a backend that is none" "E1" train leads.json --backend tpu
# one line of JSON each, when that is asked for anywhere on the line
usage_json() {
    run dnn "$@"
    is_exit 64 "usage: dnn $*"
    is "$(wc -l <err) $(cut -c1-46 err)" '1 {"schema":"dnn.error/1","id":"E100'"$(sed 's/.*"id":"E100\(.\).*/\1/' err)"'","exit":64' \
        "as one line of JSON"
}
usage_json train --log-format json leads.json --threads x
usage_json train leads.json --sett train.epochs=1 --log-format=json
usage_json train --log-format json
usage_json completion --log-format json
usage_json trian leads.json --log-format json
run dnn train leads.json --threads x -- --log-format json
err_has 'dnn: error[E1004]: --threads' "--log-format after -- is no option"
refused "L05 quiet and verbose" "--quiet and --verbose contradict" train leads.json --quiet --verbose
refused "L05 --columns with a header" "--no-header" predict m.dnn new.csv --columns a,b
refused "L05 --rejects where the first bad row stops" "--rejects belongs to --on-bad-row" predict m.dnn new.csv --rejects x.out
refused "L05 --max-bad-rows there" "--max-bad-rows belongs to --on-bad-row" predict m.dnn new.csv --max-bad-rows 3
# what decides how an error is told is seen wherever it stands, and a value of another option is none
run dnn predict m.dnn new.csv --on-bad-row null --null --json
is_exit 0 "L05 --null --json: a text"
! grep -q dnn.predict out err
after_exit $? "L05 --null --json: no object is printed" "$(cat out err)"
run dnn predict m.dnn new.csv --bogus -o o.csv --json
out_has '"id":"E1003"' "L05 -o behind what is wrong: the object is on standard output"
for wrong in "--bogus -o - --json" "--json --bogus" "--json -qo- --bogus" "--json --output=- --bogus" "--bogus --json -- -o o.csv"; do
    # shellcheck disable=SC2086 # words
    run dnn predict m.dnn new.csv $wrong
    err_has '"id":"E1003"' "L05 $wrong: on standard error, as the rows were"
done
run dnn predict m.dnn new.csv --null --log-format=json --bogus
err_has 'dnn: error[E1003]' "L05 --log-format=json as the value of --null is no format"
run dnn predict m.dnn new.csv --bogus --log-format=json
err_has '"id":"E1003"' "L05 --log-format=json after a wrong option still holds"
keys() { grep -o '{"schema":"dnn.error/1".*' "$1" | grep -oE '"[a-z]+":' | tr -d '\n'; }
run dnn check none.json --json
keys out >told.keys
DNN_FAULT=alloc:30 run "$HOOKED" check leads.json --json
out_has 'out of memory' "L05 the object of a process without memory"
is "$(keys out)" "$(cat told.keys)" "L05   has the members of any other"
printf 'a;b;id;y\n' >comma.csv
for ((i = 0; i < 60; i++)); do echo "$i,$((i % 7));$((i * 11 % 5));x, $i;$((i % 2))"; done >>comma.csv
run dnn init comma.csv --target y --set model.preset=mlp --id id -o comma.json --set train.epochs=1
run dnn train comma.json -o comma.dnn -q
run dnn predict comma.dnn comma.csv --passthrough a,b
sed -n 3p out | grep -qE '^"x, 1","1,1",1,[01],[01](\.[0-9]+)?,[01]'
ok $? "L05 --passthrough repeats cells as they are, in quotes where they hold a comma" "$(cat out err | head -n 5)"
for text in $'N\nA' $'a\tb' $'a\rb'; do
    refused "L05 --null with a tab or a line end" "holds a tab or a line end" \
        predict m.dnn new.csv --io tsv --on-bad-row null --null "$text"
done
run dnn predict m.dnn new.csv --null '' --on-bad-row null
is_exit 0 "L05 --null '' is the default"
{ head -n 1 new.csv | sed 's/$/,prediction,probability_yes,probability_no more/'; sed '1d; s/$/,1,2,3/' new.csv; } >clash.csv
refused "L05 a passthrough of an output's name" 'column "prediction"' predict m.dnn clash.csv --passthrough prediction
refused "L05 a passthrough of the name of a probability" 'column "probability_yes"' predict m.dnn clash.csv --passthrough "probability_yes"
refused "L05 among all" 'E1005' predict m.dnn clash.csv --passthrough all
{ head -n 1 leads.csv | sed 's/$/,prediction/'; sed '1d; s/$/,1/' leads.csv; } >named.csv
run dnn check leads.json --set data.train=named.csv --set data.columns.prediction=id
is_exit 78 "L05 an id column of an output's name"
err_has 'error[E1312]: predictions repeat the id column "prediction"'
run dnn predict m.dnn clash.csv --passthrough "probability_no more"
is_exit 0 "L05 another name that begins so"
refused "L05 --on without --better-than" "--better-than" evaluate m.dnn leads.csv --on auc
refused "L05 --by without --better-than" "--better-than" evaluate m.dnn leads.csv --by 0.1
refused "L05 too many arguments" '"x.json"' train leads.json x.json
refused "L05 too few" "needs more arguments" train
refused "L05 no target" "--target" init leads.csv
run dnn check leads.json --set train.seed=1 --set train.seed=2 --json
is_exit 0 "L05 the last --set of a key counts"
grep -q '"train.seed":{"value":2' out
ok $? "L05 it does" "$(grep -o '"train.seed":[^}]*' out)"

before=$(digest new.csv)
for output in new.csv ./new.csv "$WORK/new.csv" hard.csv soft.csv m.dnn; do
    ln -f new.csv hard.csv
    ln -sf new.csv soft.csv
    run dnn predict m.dnn new.csv -o "$output"
    is_exit 64 "L06 the output ${output##*/} is an input"
    run dnn predict m.dnn new.csv -o x.out --rejects "$output" --on-bad-row skip
    is_exit 64 "L06 the rejects ${output##*/} are an input"
done
"$DNN" predict m.dnn - -o new.csv <new.csv 2>err
is $? 64 "L06 the output is what standard input reads"
"$DNN" predict m.dnn -o soft.csv <hard.csv 2>err
is $? 64 "L06 under another name"
"$DNN" predict m.dnn - -o x.out --rejects new.csv --on-bad-row skip <new.csv 2>err
is $? 64 "L06 the rejects are what standard input reads"
err_has "that standard input reads" "L06 it says so"
rm hard.csv soft.csv
run dnn predict m.dnn new.csv -o x.out --rejects x.out --on-bad-row skip
is_exit 64 "L06 output and rejects are one file"
rm -f fresh.out
run dnn predict m.dnn new.csv -o fresh.out --rejects ./fresh.out --on-bad-row skip
is_exit 64 "L06 the same by two names, before it is there"
run dnn init leads.csv --target converted --set model.preset=mlp -o leads.csv
is_exit 64 "L06 the config in the data's place"
run dnn train leads.json -o leads.json
is_exit 64 "L06 the model in the config's place"
cp leads.json spared.json
cp m.dnn spared.dnn
for output in spared.json spared.dnn; do
    run dnn predict m.dnn new.csv -o $output
    is_exit 73 "L06 answers in the place of $output, which is no input"
    err_has "it is not replaced by answers"
done
same leads.json spared.json "L06 the config is untouched"
same m.dnn spared.dnn "L06 the model too"
{ printf '%9000s\n{%300s' "" "" && tail -c +2 leads.json; } >spaced.json
run dnn predict m.dnn new.csv -o spaced.json
is_exit 73 "L06 a config after 9,000 blanks is not replaced by answers"
printf '{"key": 1}\n' >other.json
run dnn predict m.dnn new.csv -o other.json
is_exit 0 "L06 another JSON is replaced like any file"
cp answers.csv again.csv
run dnn predict m.dnn new.csv -o again.csv
is_exit 0 "L06 older answers are replaced"
is "$(digest new.csv) $(digest m.dnn)" "$before $want" "L06 the inputs are untouched"

bytes=$'odd \xff\nname.csv'
cp new.csv "$bytes"
run dnn predict m.dnn "$bytes" -o x.out
is_exit 0 "L07 a name with a line end and bytes that are not UTF-8"
same answers.csv x.out "L07 the answers"
run dnn predict m.dnn "$bytes.not"
is_exit 66 "L07 one that is not there"
err_has 'odd \xff\x0aname.csv.not' "L07 is escaped in the message"
run dnn predict m.dnn $'\e[31m::error::x'
is_exit 66
err_lacks $'\e' "L07 no escape sequence reaches the terminal"
is "$(grep -c '^::' err)" 0 "L07 no line of a message begins with the user's text"
cp new.csv ./-new.csv
run dnn predict m.dnn -o x.out -- -new.csv
is_exit 0 "L07 a name that begins with - stands behind --"
run dnn predict m.dnn ./-new.csv -o x.out
is_exit 0 "L07 or behind ./"
run dnn predict m.dnn -new.csv -o x.out
is_exit 64 "L07 else it is an unknown option"
long=$(printf 'x%.0s' $(seq 4096))
run dnn predict m.dnn "$long"
is_exit 66 "L07 a name of 4096 bytes as an input"
run dnn predict m.dnn new.csv -o "$long"
is_exit 73 "L07 as an output"
run dnn train "$long"
is_exit 66 "L07 as a config"
run dnn init leads.csv --target "$(printf 'x%.0s' $(seq 100000))"
is_exit 65 "L07 a column name of 100,000 bytes"
[ "$(wc -c <err)" -lt 4000 ]
ok $? "L07 is cut in the message" "$(wc -c <err)"

# standard error may be closed: what the checks say goes through a file
for closed in '0<&-' '1>&-' '2>&-' '0<&- 1>&- 2>&-'; do
    eval "\"\$DNN\" train leads.json -o closed.dnn --progress plain --verbosity 2 $closed"
    is $? 0 "L08 training with $closed"
    is "$(digest closed.dnn)" "$want" "L08 the model holds no text of the log"
done >l08 2>&1
cat l08
"$DNN" predict m.dnn new.csv -o x.out 2>&-
is $? 0 "L08 prediction without standard error"
same answers.csv x.out "L08 the answers hold no text of the log"
"$DNN" predict m.dnn new.csv -o x.out <&- 2>err
is $? 0 "L08 prediction without standard input"
# only silence that was asked for (/dev/null) is silence
for words in "predict m.dnn new.csv" "init leads.csv --target converted" "evaluate m.dnn leads.csv" "check leads.json" schema --version \
    help "train leads.json -o closed.dnn --json"; do
    # shellcheck disable=SC2086 # words
    "$DNN" $words >&- 2>err
    is $? 74 "L08 $words with standard output closed: 74"
    err_has "standard output: cannot be written" "L08 $words with standard output closed: the error says so"
done
"$DNN" predict m.dnn - <&- >out 2>err
is $? 74 "L08 rows from standard input that is closed: 74"
"$DNN" predict m.dnn new.csv >/dev/null 2>err
is $? 0 "L08 /dev/null is silence"

if command -v perl >/dev/null 2>&1 && cat >argc.c <<'C' && cc -o argc argc.c 2>/dev/null; then
#include <unistd.h>
int main(int argc, char **argv) { char *none[] = {0}; (void)argc; return execv(argv[1], none); }
C
    run ./argc "$DNN"
    is_exit 64 "L09 argc 0"
else
    skip "L09 argc 0" "no compiler here"
fi

run env -u HOME TMPDIR=/nowhere/at/all "$DNN" train leads.json -o x.dnn
is_exit 0 "L10 without HOME and with a TMPDIR that is missing"
is "$(digest x.dnn)" "$want" "L10 the same model"
mkdir gone
(
    cd gone && rmdir ../gone
    "$DNN" predict "$WORK/m.dnn" "$WORK/new.csv" -o "$WORK/x.out" 2>"$WORK/err"
)
is $? 0 "L10 in a working folder that was removed"
same answers.csv x.out "L10 the same answers"
(
    mkdir ../gone.$$ && cd ../gone.$$ && rmdir "../gone.$$"
    "$DNN" predict "$WORK/m.dnn" "$WORK/new.csv" -o x.out 2>"$WORK/err"
)
is $? 73 "L10 an output there cannot be made"
for mask in 077:600 022:644 000:666 027:640; do
    rm -f x.out x.dnn x.json
    (umask "${mask%:*}" && "$DNN" predict m.dnn new.csv -o x.out && "$DNN" train leads.json -o x.dnn --progress none &&
        "$DNN" init leads.csv --target converted --set model.preset=mlp -o x.json) 2>err
    is "$(stat -c '%a %a' x.out) $(stat -c %a x.dnn x.json | tr '\n' ' ')" "${mask#*:} ${mask#*:} ${mask#*:} ${mask#*:} " \
        "L10 umask ${mask%:*}: outputs have mode ${mask#*:}"
done

for setting in OPENBLAS_NUM_THREADS=9999 OPENBLAS_NUM_THREADS=x OMP_NUM_THREADS=0 GOTO_NUM_THREADS=7 OPENBLAS_VERBOSE=2 \
    MALLOC_ARENA_MAX=1 LD_BIND_NOW=1; do
    run env "$setting" "$DNN" train leads.json -o x.dnn --progress none
    is_exit 0 "L11 $setting"
    is "$(digest x.dnn)" "$want" "L11 the same model"
done
run env OPENBLAS_CORETYPE=Prescott "$DNN" train leads.json -o x.dnn --progress none
is_exit 0 "L11 OPENBLAS_CORETYPE of another processor"
run dnn verify x.dnn
is_exit 0 "L11 its model holds"
# how much is told: nothing but errors, warnings too, progress, files, everything
rank() { # the number of lines on standard error of a training
    env "$@" "$DNN" train leads.json -o x.dnn --progress plain 2>err >/dev/null
    wc -l <err
}
plain=$(rank LOG_LEVEL=) info=$(rank LOG_LEVEL=info) debug=$(rank LOG_LEVEL=debug)
for word in error warning Warning WARNING; do is "$(rank LOG_LEVEL=$word)" 0 "LOG_LEVEL=$word prints nothing of a run without faults"; done
LOG_LEVEL=Warning run dnn train leads.json -o x.dnn --set backend.name=auto --backend mps
is "$(wc -l <err) $(grep -c '^dnn: warning:' err)" "1 1" "LOG_LEVEL=Warning prints warnings only"
[ "$plain" -gt 0 ] && [ "$info" -ge "$plain" ] && [ "$debug" -gt "$info" ]
ok $? "info and debug print more and more" "$plain $info $debug"
is "$(rank DEBUG=true)" "$debug" "DEBUG=true is LOG_LEVEL=debug"
is "$(rank DEBUG=1)" "$debug" "DEBUG=1 is LOG_LEVEL=debug"
for word in false 0 off No; do is "$(rank DEBUG=$word)" "$plain" "DEBUG=$word changes nothing"; done
run env LOG_LEVEL=debug "$DNN" train leads.json -o x.dnn --quiet
is_exit 0
[ ! -s err ]
after_exit $? "an option wins over LOG_LEVEL" "$(cat err)"
run dnn train leads.json -o x.dnn --verbose --progress plain
is "$(wc -l <err)" "$info" "--verbose is LOG_LEVEL=info"
# descriptors that are closed: the first file that is opened must not become standard output or error
"$DNN" train leads.json -o x.dnn <&- >&- 2>&-
is "$? $(digest x.dnn)" "0 $want" "0, 1 and 2 closed: the same model"
"$DNN" predict m.dnn new.csv -o x.out >&- 2>&-
same answers.csv x.out "0, 1 and 2 closed: the same answers"
refused "predict: a name of --columns is empty" "name 2 is empty" predict m.dnn new.csv --no-header --columns a,,b
refused "train: standard output is no place for a model" "not to standard output" train leads.json -o -
refused "train: one name for two outputs" "output.metrics is the model" train leads.json -o y.dnn --set output.metrics=y.dnn
run dnn inspect - <leads.csv
is_exit 64 "inspect: what can be read only once"
err_has "reads its file more than once: give a file"
run env LD_PRELOAD=/nowhere/shim.so "$DNN" predict m.dnn new.csv -o x.out
is_exit 0 "L11 an LD_PRELOAD that is not there"
# a small stack: raised where that is allowed, else an error that says so; never a fault in the middle
for kib in 256 64; do
    for command in "train leads.json -o stack.dnn --progress none --threads 2" "predict stack.dnn leads.csv -o stack.csv" \
        "check leads.json"; do
        # shellcheck disable=SC2086
        run bash -c "ulimit -s $kib; exec \"\$0\" $command" "$DNN"
        [ "$STATUS" -eq 0 ] || { [ "$STATUS" -eq 71 ] && grep -q 'the stack limit is' err; }
        ok $? "ulimit -s $kib: ${command%% *} works or says why not" "exit $STATUS: $(head -n 3 err)"
    done
done
# a wrong --set is told before the data is read
printf 'a,y\n1,0\n"2,1\n' >broken.csv
run dnn init broken.csv --target y --set train.epochs=many
is_exit 64 "a wrong --set comes before a data error"
err_has '--set train.epochs' "a wrong --set before a data error is named"
# a config is UTF-8: it cannot name a file whose name is not
odd=$(printf 'caf\351.csv')
printf 'a,y\n1,0\n2,1\n' >"$odd"
run dnn init "$odd" --target y --set model.preset=mlp -o odd.json
is_exit 64 "a file name that is not UTF-8"
err_has 'is not UTF-8' "a file name that is not UTF-8: the reason"
# a long column name does not run into its type
long=$(printf 'n%.0s' $(seq 60))
{ echo "$long,y"; for i in $(seq 20); do echo "$i.5,$((i % 2))"; done; } >long.csv
run dnn inspect long.csv
out_has "$long  numeric" "inspect: two blanks behind a long name"
done_testing
