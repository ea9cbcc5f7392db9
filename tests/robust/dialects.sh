#!/bin/bash
# dialects.sh - one table in many dialects gives one result: delimiters, decimal comma, encodings, no header, lists of files, a
# file for each part; what init finds in each. Ids: C07 C16 C17 C18 D03.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 500
# one line a row, so that line tools serve
perl -0777 -pi -e 's/New\nYork/Nürnberg/g; s/"The ""Hague"""/Den Haag/g; s/"Paris, TX"/Orléans/g' leads.csv
config() { # config FILE DATA-MEMBERS: the same network on other data
    cat >"$1" <<JSON
{"task": "binary", "data": {"target": "converted", "positive": "yes", "missing": ["${3:-}", "NA"], $2,
  "columns": {"lead_id": "id", "age": "numeric", "city": "categorical", "visits": "numeric", "signed_on": "datetime"}},
 "model": {"preset": "mlp", "hidden": [8]}, "train": {"epochs": 5, "batch_size": 64}, "backend": {"name": "dnn_cpu", "threads": 2}}
JSON
}
config want.json '"train": "leads.csv"'
run dnn train want.json -o want.dnn --progress none
is_exit 0 "the table as it is"
dnn predict want.dnn leads.csv --quiet >want.out
# table NAME FILE DATA-MEMBERS [PREDICT-OPTIONS]: trained and predicted from FILE, the answers are those of leads.csv
table() {
    config t.json "\"train\": \"$2\"${3:+, $3}" "${5:-}"
    run dnn train t.json -o t.dnn --progress none
    is_exit 0 "$1: trains"
    # shellcheck disable=SC2086
    run dnn predict t.dnn "$2" ${4:-} --quiet
    same want.out out "$1: the same answers"
}
tr ',' ';' <leads.csv >semicolon.csv
table "semicolons" semicolon.csv '"delimiter": ";"'
tr ',' '\t' <leads.csv >tabs.csv
table "tabs" tabs.csv '"delimiter": "\t"'
tr ',' '|' <leads.csv >bars.csv
table "bars" bars.csv '"delimiter": "|"'
tr ',.' ';,' <leads.csv >german.csv
table "decimal commas" german.csv '"delimiter": ";", "decimal": ","'
for code in latin1:ISO-8859-1 cp1252:CP1252; do
    iconv -f UTF-8 -t "${code#*:}" leads.csv >coded.csv
    cmp -s coded.csv leads.csv
    [ $? -ne 0 ]
    ok $? "${code%:*} has other bytes"
    table "${code%:*}" coded.csv "\"encoding\": \"${code%:*}\""
    run dnn train want.json -o x.dnn --set data.train=coded.csv
    is_exit 65 "${code%:*} read as UTF-8"
    err_has E1209 "is told apart"
    err_has "coded.csv:" "${code%:*} read as UTF-8: file and line"
done
sed 's/,NA,/,-,/; s/,,/,-,/' leads.csv >dashes.csv
table "another text for missing" dashes.csv "" "" -
head -n 200 leads.csv >one.csv
{ head -n 1 leads.csv; sed -n '201,$p' leads.csv; } >two.csv
config t.json '"train": ["one.csv", "two.csv"]'
run dnn train t.json -o t.dnn --progress none
is_exit 0 "a list of two files: trains"
dnn predict t.dnn one.csv two.csv --quiet >out
same want.out out "a list of two files: the same answers"
tail -n +2 leads.csv >bare.csv
cat >t.json <<'JSON'
{"task": "binary", "data": {"train": "bare.csv", "header": false, "target": "c6", "positive": "yes", "missing": ["", "NA"],
  "columns": {"c1": "id", "c2": "numeric", "c3": "categorical", "c4": "numeric", "c5": "datetime"}},
 "model": {"preset": "mlp", "hidden": [8]}, "train": {"epochs": 5, "batch_size": 64}, "backend": {"name": "dnn_cpu", "threads": 2}}
JSON
run dnn train t.json -o t.dnn --progress none
is_exit 0 "no header: trains"
dnn predict t.dnn bare.csv --quiet | tail -n +2 >out
tail -n +2 want.out >bare.out
same bare.out out "no header: the same answers"
dnn predict t.dnn bare.csv --no-header --quiet >out
same bare.out out "no header: --no-header leaves the header of the answers out"

# init finds each out
found() { # found NAME FILE PATTERN...
    local name=$1 file=$2 bad="" target=converted
    shift 2
    [ "$file" != bare.csv ] || target=c6
    run dnn init --force "$file" --target $target --set model.preset=mlp -o i.json
    is_exit 0 "init: $name"
    for pattern in "$@"; do grep -qF -- "$pattern" i.json || bad+="$pattern; "; done
    [ -z "$bad" ]
    ok $? "init: $name is written down" "$bad $(head -n 12 i.json)"
    run dnn train i.json -o i.dnn --set train.epochs=1 --progress none
    is_exit 0 "init: $name: its config trains"
}
types='"lead_id": "id"'
found "commas" leads.csv '"delimiter": ","' '"encoding": "utf-8"' '"header": true' '"positive": "yes"' "$types" '"age": "numeric"' \
    '"city": "categorical"' \
    '"signed_on": "datetime"' '"missing": ["", "NA"]'
found "semicolons" semicolon.csv '"delimiter": ";"' "$types"
found "tabs" tabs.csv '"delimiter": "\t"' "$types"
found "bars" bars.csv '"delimiter": "|"' "$types"
found "decimal commas" german.csv '"delimiter": ";"' '"decimal": ","' '"visits": "numeric"'
found "no header" bare.csv '"header": false' '"c2": "numeric"' '"c3": "categorical"'
iconv -f UTF-8 -t CP1252 leads.csv >coded.csv
run dnn init --force coded.csv --target converted
is_exit 0 "init: an encoding that is not UTF-8"
grep -qE '"encoding": "(cp1252|latin1)"' out
ok $? "init: is written down"
found "dashes for missing" dashes.csv '"-"' '"age": "numeric"'
run dnn init --force leads.csv --target converted --set data.delimiter=';'
[ $STATUS -ne 0 ] || grep -qF '"delimiter": ";"' out
ok $? "init: what --set says is taken as given" "$(cat out err)"
run dnn init --force leads.csv --target age --set model.preset=mlp -o r.json
grep -q '"task": "regression"' r.json
ok $? "init: a numeric target is a regression"
run dnn train r.json -o r.dnn --set train.epochs=1 --progress none
[ $STATUS -eq 0 ] && grep -q 'is missing in 47 of 500 rows' err
ok $? "rows without it are left out, with a note" "exit $STATUS $(head -n 2 err)"
run dnn init --force leads.csv --target city --set model.preset=mlp -o m.json
grep -q '"task": "multiclass"' m.json
ok $? "init: a target of several words is multiclass"

# parts of their own, each split method, from outside: rows add up and the same twice
awk -F, 'NR == 1 { print $0 ",part,team"; next } { print $0 "," (NR % 7 == 0 ? "test" : NR % 5 == 0 ? "valid" : "train") ",t" NR % 11 }' \
    leads.csv >parts.csv
for method in random stratified hash time group column; do
    config s.json "\"train\": \"parts.csv\", \"split\": {\"method\": \"$method\"$([ $method != column ] ||
        echo ', "column": "part"')$([ $method != group ] || echo ', "column": "team"')}"
    run dnn check s.json --json
    is_exit 0 "split $method"
    grep -o '"rows":{[^}]*}' out >rows
    is "$(tr -dc '0-9,' <rows | awk -F, '{ print $1 + $2 + $3 }')" 500 "split $method: every row has one part" "$(cat rows)"
    run dnn train s.json -o s1.dnn --progress none
    dnn train s.json -o s2.dnn --progress none --threads 3 2>err
    same s1.dnn s2.dnn "split $method: the same twice"
done
is "$(awk -F, 'NR > 1 { n[$(NF - 1)]++ } END { printf "\"rows\":{\"train\":%d,\"valid\":%d,\"test\":%d}", n["train"], n["valid"],
    n["test"] }' parts.csv)" "$(cat rows)" \
    "split column: as the file says"
run dnn check s.json --json --set data.test=two.csv
is "$(grep -o '"rows":{[^}]*}' out)" "$(sed 's/"test":.*/"test":301}/' rows)" "split column: a part with its own file is that file alone"
err_has "$(grep -o '"test":[0-9]*' rows | cut -d: -f2) rows of data.train left out: column \"part\" says a part that has its own file"
awk -F, '$(NF - 1) != "valid"' parts.csv >unvalid.csv
run dnn train s.json -o s1.dnn --set data.train=unvalid.csv --set train.epochs=2 --progress none
is_exit 0 "a file without a row of validation"
err_has 'no row says "valid" in column "part": there is nothing to choose the best weights by, and the last epoch'"'s are kept"
config s.json '"train": "one.csv", "valid": "two.csv", "test": ["two.csv", "one.csv"]'
run dnn check s.json --json
is "$(grep -o '"rows":{[^}]*}' out)" '"rows":{"train":199,"valid":301,"test":500}' "parts in files of their own"
config s.json '"train": "leads.csv", "split": {"valid": 0, "test": 0}'
run dnn train s.json -o s.dnn --json --progress none
is_exit 0 "no validation and no test"
out_has '"rows":{"train":500,"valid":0,"test":0}'
perl -MJSON::PP -e 'local $/; my $o = decode_json(<STDIN>); exit !(exists $o->{valid} && exists $o->{test})' <out 2>err
ok $? "its JSON is JSON" "$(cat err)"
done_testing
