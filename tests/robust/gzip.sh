#!/bin/bash
# gzip.sh - files packed with gzip are read as they are, from files and pipes: the same config, model and answers. What is damaged,
# cut off or not gzip to its end is 65 with the byte. Ids: C26.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 600
gzip -nc leads.csv >leads.csv.gz
{ head -c 9000 leads.csv | gzip -nc; tail -c +9001 leads.csv | gzip -nc; head -c 700 /dev/zero; } >members.csv.gz

for f in leads.csv leads.csv.gz; do
    run dnn init $f --target converted --set model.preset=mlp --id lead_id -o init.json --force
    is_exit 0 "init reads $f"
    sed 's/leads\.csv\.gz/leads.csv/' init.json >$f.init
done
same leads.csv.init leads.csv.gz.init "init writes the same config, with the same name of the model"
run dnn inspect leads.csv.gz
out_has "rows       600" "inspect reads it"
make_leads_model m.dnn
run dnn check leads.json --set data.train=leads.csv.gz
is_exit 0 "check reads it"
for f in leads.csv.gz members.csv.gz; do
    run dnn train leads.json -o gz.dnn --set data.train=$f --force --progress none
    is_exit 0 "train reads $f"
    same m.dnn gz.dnn "$f: the same model"
done
head -n 300 leads.csv | gzip -nc >one.csv.gz
{ head -n 1 leads.csv; tail -n +301 leads.csv; } >two.csv
run dnn train leads.json -o gz.dnn --set 'data.train=["one.csv.gz", "two.csv"]' --force --progress none
same m.dnn gz.dnn "packed and plain files in one list: the same model"

dnn predict m.dnn leads.csv --quiet >want.out
for f in leads.csv.gz members.csv.gz; do
    run dnn predict m.dnn $f --quiet
    same want.out out "predict reads $f"
    dnn predict m.dnn --quiet <$f >out
    same want.out out "predict reads $f as standard input"
    cat $f | dnn predict m.dnn - --quiet >out
    same want.out out "predict reads $f from a pipe"
done
{ head -c 1 leads.csv.gz; sleep 0.2; tail -c +2 leads.csv.gz | head -c 3000; sleep 0.2; tail -c +3002 leads.csv.gz; } |
    dnn predict m.dnn - --quiet >out
same want.out out "a pipe that pauses, once behind the first byte"
dnn evaluate m.dnn leads.csv --json --quiet --threads 1 | sed 's/"memory".*//' >want.json
dnn evaluate m.dnn leads.csv.gz --json --quiet --threads 1 | sed 's/"memory".*//' >got.json
same want.json got.json "evaluate reads it"
grep -q '"rows":600' got.json
ok $? "evaluate of a packed file reads all rows" "$(cat got.json)"
run dnn --version --json
out_has '"zlib":"1.' "--version says which zlib"

bad() { # bad NAME ID PATTERN: on x.csv.gz
    run dnn predict m.dnn x.csv.gz -o x.out
    is_exit 65 "$1: 65"
    err_has "error[$2]: x.csv.gz: $3" "$1: the message"
    [ ! -e x.out ]
    ok $? "$1: nothing is written"
}
size=$(wc -c <leads.csv.gz)
head -c $((size - 5)) leads.csv.gz >x.csv.gz
bad "cut in the checksum" E1226 "gzip data: they are cut off at byte $((size - 5)) of the file"
head -c 2000 leads.csv.gz >x.csv.gz
bad "cut in the middle" E1226 "gzip data: they are cut off at byte 2000 of the file"
run bash -c "cat x.csv.gz | '$DNN' predict m.dnn - -o x.out"
is_exit 65 "cut in a pipe: 65"
err_has "standard input: gzip data: they are cut off at byte 2000" "cut in a pipe: the message"
head -c 5 leads.csv.gz >x.csv.gz
bad "cut in its header" E1226 "gzip data: they are cut off at byte 5 of the file"
{ head -c $((size - 8)) leads.csv.gz; printf 'XXXX'; tail -c 4 leads.csv.gz; } >x.csv.gz
bad "a wrong checksum" E1226 "gzip data: they are damaged at byte "
{ head -c 1000 leads.csv.gz; printf '\377\377\377\377\377\377\377\377'; tail -c +1009 leads.csv.gz; } >x.csv.gz
run dnn predict m.dnn x.csv.gz -o x.out
is_exit 65 "damaged in the middle: 65"
{ cat leads.csv.gz; echo more; } >x.csv.gz
bad "text behind it" E1226 "gzip data: bytes that are no gzip at byte $size of the file"
gzip -c leads.csv.gz >x.csv.gz
bad "C26 packed twice" E1212 "is not CSV but gzip inside gzip"
printf '' | gzip -c >x.csv.gz
bad "nothing, packed" E1201 "empty, expected a header line"
mkdir empty
touch empty/libz.so.1
run env LD_LIBRARY_PATH="$WORK/empty" "$DNN" predict m.dnn leads.csv.gz -o x.out
is_exit 69 "no zlib: 69"
err_has "error[E1610]: leads.csv.gz: is packed with gzip, and zlib cannot be loaded" "no zlib: the message"
run env LD_LIBRARY_PATH="$WORK/empty" "$DNN" predict m.dnn leads.csv --quiet
same want.out out "a plain file needs none"
done_testing
