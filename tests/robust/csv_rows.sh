#!/bin/bash
# csv_rows.sh - unusual but valid files: every row is read, counted and answered once, in its place. Files that cannot be read a
# first or second time. Ids: C02 C03 C07 C08 C11 C13 C22 C25 C27 C28.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 400
make_leads_model m.dnn
want=$(digest m.dnn)
make_leads new.csv 50 2 bare
dnn predict m.dnn new.csv -o new.out 2>err || cat err
rows=$(($(wc -l <new.out) - 1)) # ids hold no line end, so each answer is one line
is "$rows" 50 "50 rows, 50 answers"
# same_model NAME FILE: training on FILE gives the model of leads.csv
same_model() {
    make_leads_config x.json "$2"
    sed -i 's/\("threads": 2\)/\1/' x.json
    run dnn train x.json -o x.dnn --progress none
    is_exit 0 "$1: trains"
    # the file's name is in the config inside the model; the weights and statistics are what must be equal
    dnn predict x.dnn new.csv -o x.out 2>err
    same new.out x.out "$1: the answers of the model from leads.csv"
}
# same_answers NAME FILE: prediction of FILE gives the answers to new.csv
same_answers() {
    run dnn predict m.dnn "$2" -o x.out
    is_exit 0 "$1"
    same new.out x.out "$1: the same answers"
}

head -n 1 new.csv >none.csv
run dnn predict m.dnn none.csv -o none.out
is_exit 0 "C02 prediction of a header without rows"
is "$(cat none.out)" "$(head -n 1 new.out)" "C02 is a header"
run dnn evaluate m.dnn <(head -n 1 leads.csv)
is_exit 65 "C02 evaluation of no rows is an error"

{ printf '\xef\xbb\xbf'; cat leads.csv; } >bom.csv
same_model "C03 a byte-order mark" bom.csv
{ printf '\xef\xbb\xbf"lead_id"'; tail -c +8 leads.csv; } >bom-quoted.csv
same_model "C03 before a quoted name" bom-quoted.csv
{ printf '\xef\xbb\xbf'; cat new.csv; } >bom-new.csv
same_answers "C03 a byte-order mark in prediction" bom-new.csv
run dnn init bom.csv --target converted --set model.preset=mlp -o bom.json
grep -q '"lead_id": "id"' bom.json
ok $? "C03 init sees a clean name"
run dnn inspect bom-quoted.csv --json
out_has '"name":"lead_id"' "C03 inspect sees a clean name"

# quoted line ends belong to the cell, so only ends of records are changed
to_ends() { # to_ends PERL-EXPRESSION-FOR-THE-END < in
    perl -0777 -ne 'my $n = 0; for my $r (/\G((?:"(?:[^"]|"")*"|[^"\n])*)\n/g) { $n++; print $r, '"$1"' }'
}
to_ends '"\r\n"' <leads.csv >crlf.csv
same_model "C07 CRLF" crlf.csv
to_ends '$n % 2 ? "\r\n" : "\n"' <leads.csv >mixed.csv
same_model "C07 CRLF and LF mixed" mixed.csv
to_ends '"\r"' <leads.csv >cr.csv
run dnn train leads.json -o cr.dnn --set data.train=cr.csv --progress none
is_exit 0 "C07 bare CR throughout: trains"
sed 's/"New$/"New York"/; /^York"/d' leads.csv >/dev/null
make_leads_config x.json cr.csv
grep -v 'New$' leads.csv | grep -v '^York' >flat.csv
tr '\n' '\r' <flat.csv >flat-cr.csv
for f in flat flat-cr; do
    make_leads_config $f.json $f.csv
    dnn train $f.json -o $f.dnn --progress none 2>err
    dnn predict $f.dnn new.csv -o $f.out 2>err
done
same flat.out flat-cr.out "C07 bare CR: the answers of LF"
to_ends '"\r\n"' <new.csv >new-crlf.csv
same_answers "C07 CRLF in prediction" new-crlf.csv
with_line 9 'L00008,30,Oslo,1.5\r,2024-01-01,no' flat.csv >stray.csv
run dnn train leads.json -o s.dnn --set data.train=stray.csv
is_exit 65 "C07 a stray CR"
err_has "error[E1213]: stray.csv:9" "C07 a stray CR: file and line"
err_has "help:" "C07 a stray CR: a hint"

head -c -1 leads.csv >cut.csv
same_model "C08 no line end at the end of the file" cut.csv
head -c -1 new.csv >new-cut.csv
same_answers "C08 in prediction the last row is kept" new-cut.csv
printf '\n' >>new-cut.csv
printf '\n\n\n' >>new-cut.csv
same_answers "C13 blank lines at the end" new-cut.csv

grep -q 'New$' leads.csv && grep -q '""Hague""' leads.csv && grep -q '"Paris, TX"' leads.csv
ok $? "C11 the file has cells with line ends, quotes and delimiters"
cat >dots.csv <<'CSV'
lead_id,age,city,visits,signed_on
a,30,"one
two

four",1,2024-01-01
b,31,"CRLF is
 next",2,2024-01-01
c,x,Oslo,3,2024-01-01
CSV
run dnn predict m.dnn dots.csv -o d.out
is_exit 65 "C11 an error behind cells with line ends"
err_has 'dots.csv:8:3: column "age": "x"' "C11 has the right physical line"
printf 'lead_id,age,city,visits,signed_on\n"a,""b""\nc",30,Oslo,1,2024-01-01\n' >quoted.csv
run dnn predict m.dnn quoted.csv
is_exit 0 "C11 an id with delimiter, quotes and line end"
is "$(sed -n 2,3p out | cut -d, -f1-2 | head -n 2)" "$(printf '"a,""b""\nc",%s' "$(sed -n 3p out | cut -d, -f2)")" \
    "C11 comes out as it went in"

perl -0777 -pe 's/\n(L0000[3579])/\n\n$1/g' new.csv >blank.csv
run dnn predict m.dnn blank.csv -o x.out
is_exit 0 "C13 blank lines among several columns"
same new.out x.out "C13 no answer for them"
err_has "4 blank lines" "C13 counted in a note"
perl -0777 -pe 's/\n(L0000[35])/\n  \t \n$1/g' new.csv >white.csv
run dnn predict m.dnn white.csv -o x.out
is_exit 0 "C13 lines of blanks only"
same new.out x.out "C13 are blank lines"
# one column: a blank line is a row with a missing value
{ echo x; for i in $(seq 60); do echo $((i % 7)); echo; done; } >one.csv
{ echo y; for i in $(seq 60); do echo "$((i % 2))"; echo $((i % 2)); done; } | paste -d, one.csv - >one-train.csv
cat >one.json <<'JSON'
{"task": "binary", "data": {"train": "one-train.csv", "target": "y", "columns": {"x": "numeric"}},
 "model": {"preset": "mlp", "hidden": [4]}, "train": {"epochs": 1}}
JSON
run dnn train one.json -o one.dnn
is_exit 0 "C13 a model of one column"
run dnn predict one.dnn one.csv
is_exit 0 "C13 prediction of one column with blank lines"
is "$(($(wc -l <out) - 1))" 120 "C13 one column: each blank line is a row"
printf 'x\n1\n\n' >last.csv
run dnn predict one.dnn last.csv
is "$(($(wc -l <out) - 1))" 2 "C13 one column: the last one too"

awk 'BEGIN { print "customer,x,y"; for (i = 0; i < 300; i++) printf "%d,%d,%d\n", 16777217 + i * 370001, i % 11, i % 2 }' >big.csv
run dnn init big.csv --target y --set model.preset=mlp -o big.json
is_exit 0 "C25 integers above 2^24"
cat >ints.json <<'JSON'
{"task": "binary", "data": {"train": "big.csv", "target": "y", "columns": {"customer": "numeric", "x": "numeric"}},
 "model": {"preset": "mlp", "hidden": [4]}, "train": {"epochs": 1}}
JSON
run dnn train ints.json -o ints.dnn
is_exit 0 "C25 train anyway"
err_has 'column "customer" goes to 127407520, where float32 makes numbers equal that are nearer than 8' \
    "C25 integers above 2^24: the warning"
err_has "looks like an identifier" "C25   of what they may be"
awk 'BEGIN { print "customer,x,y"; for (i = 0; i < 300; i++) printf "%d,%d,%d\n", 16777217 + i * 37, i % 11, i % 2 }' >big.csv
run dnn train ints.json -o ints.dnn
is_exit 0 "C25 integers above 2^24 and near each other"
err_lacks "float32" "C25 integers above 2^24 that keep apart less the first one: no warning"

mkdir folder.csv
for command in "train leads.json -o x.dnn --set data.train=folder.csv" "predict m.dnn folder.csv" "evaluate m.dnn folder.csv" \
    "init folder.csv --target y" "inspect folder.csv"; do
    # shellcheck disable=SC2086
    run dnn $command
    is_exit 66 "C27 a folder: dnn ${command%% *}"
done
for command in "train leads.json -o x.dnn --set data.train=none.csv.not" "predict m.dnn none.csv.not" "evaluate m.dnn none.csv.not" \
    "init none.csv.not --target y" "inspect none.csv.not" "train none.json" "check none.json" "predict none.dnn new.csv" \
    "verify none.dnn"; do
    # shellcheck disable=SC2086
    run dnn $command
    is_exit 66 "C27 a file that is not there: dnn ${command%% *}"
done
mkfifo pipe
cat new.csv >pipe &
run dnn predict m.dnn pipe -o x.out
is_exit 0 "C27 prediction from a named pipe"
same new.out x.out "C27 the same answers from a named pipe"
dnn predict m.dnn - <new.csv >x.out 2>err
is $? 0 "C27 prediction from standard input"
same new.out x.out "C27 the same answers from standard input"
cat new.csv | dnn predict m.dnn >x.out 2>err
is $? 0 "C27 standard input is the default"
same new.out x.out "C27 the same answers from standard input by default"
dnn predict m.dnn - - <new.csv >x.out 2>err
[ $? -ne 0 ]
ok $? "C27 standard input twice is an error"
cat leads.csv >pipe &
run dnn train leads.json -o x.dnn --set data.train=pipe --progress none
is_exit 0 "C27 training from a named pipe: one pass is enough"
# an error of all rows, of which the pipe cannot be asked once more for the line
{ head -n 1 leads.csv; echo L1,30,Oslo,1.5,2024-01-01,maybe; } >unseen.csv
make_leads_config unseen.json pipe
sed -i 's/"binary"/"multiclass"/; s/"train": "pipe"/"train": "pipe", "test": "unseen.csv"/; s/, "positive": "yes"//' unseen.json
cat leads.csv >pipe &
run timeout 20 "$DNN" train unseen.json -o x.dnn --progress none
is_exit 65 "C27 a label of no training row, from a named pipe: told, and nobody waits for another writer"
err_has "E1410" "C27 by its name"
cat leads.csv >pipe &
"$DNN" init - --target converted <leads.csv 2>err
is $? 64 "C27 init of standard input, which holds a file"
err_has "give a file" "C27 init of standard input: the error says what to do"
run timeout 20 "$DNN" init pipe --target converted
is_exit 65 "C27 init needs two passes"
err_has "E1237" "C27 init of a pipe: the error says that it reads twice"
cat pipe >/dev/null 2>&1 &
reader=$!
: >pipe
wait $reader 2>/dev/null
cat leads.csv >pipe &
run timeout 20 "$DNN" evaluate m.dnn pipe
is_exit 0 "C27 evaluation from a named pipe"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null 2>&1; then
    mkdir closed
    cp "$DNN" m.dnn leads.json new.csv closed
    chmod 755 "$WORK" closed
    chmod 644 closed/m.dnn closed/leads.json
    chmod 000 closed/new.csv
    run setpriv --reuid=65534 --regid=65534 --clear-groups closed/dnn predict closed/m.dnn closed/new.csv
    is_exit 77 "C27 a file without permission"
    err_has "E1602" "C27 named so"
elif [ "$(id -u)" -ne 0 ]; then
    chmod 000 cut.csv
    run dnn predict m.dnn cut.csv
    is_exit 77 "C27 a file without permission"
else
    skip "C27 a file without permission" "root without setpriv"
fi

# C22 more than memory: said before training begins, and quickly
if sanitized; then
    skip "C22 more than this process may have" "a build with sanitizers has no limit"
else
    run bash -c "ulimit -v 1500000; exec '$DNN' train leads.json -o big.dnn --set 'model={\"preset\":\"mlp\",\"hidden\":[30000,30000]}'"
    is_exit 71 "C22 more than this process may have: 71 before training"
    grep -Eq 'needs [0-9.]+ [GM]iB.* [0-9.]+ [GM]iB' err
    ok $? "C22 more than this process may have: both numbers" "$(cat err)"
    [ ! -e big.dnn ]
    ok $? "C22 nothing was written"
fi

# C28: prediction stands still because nobody reads its output, and the input changes meanwhile
make_leads long.csv 100000 3 bare
changed() { # changed NAME COMMAND: long.csv is changed by COMMAND while it is read
    cp long.csv moving.csv
    mkfifo answers
    "$DNN" predict m.dnn moving.csv -o - >answers 2>err &
    local pid=$!
    {
        head -c 100000 >/dev/null
        eval "$2"
        cat >/dev/null
    } <answers
    wait $pid
    is $? 65 "C28 $1: 65"
    err_has "E1219" "C28 $1: changed while being read"
    rm answers
}
changed "a file that grows" 'echo "L9,30,Oslo,1.5,2024-01-01" >>moving.csv'
changed "a file that shrinks" 'truncate -s 1000000 moving.csv'
changed "a file written anew" 'cat new.csv >moving.csv'
cp long.csv moving.csv
mkfifo answers
"$DNN" predict m.dnn moving.csv -o - >answers 2>err &
pid=$!
{ head -c 100000 >begin; mv new.csv moving.csv; cat >rest; } <answers
wait $pid
is $? 0 "C28 a file replaced by another under its name: the one that was opened is read"
is "$(cat begin rest | wc -l)" 100001 "C28 whole"
done_testing
