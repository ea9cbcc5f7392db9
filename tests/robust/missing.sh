#!/bin/bash
# missing.sh - texts that mean no value in one column: data.columns.NAME.missing beside data.missing, in training, predict,
# evaluate, explain, the model and init.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN { split("DE FR NA US GB", k, " "); print "country,age,seen,job,y"
    for (i = 0; i < 300; i++) print k[i % 5 + 1] "," (i % 11 ? i * 7 % 60 : i % 2 ? -999 : "n.a.") "," (i % 13 ? "2024-01-" 10 + i % 19 : "never") "," \
        (i % 9 ? "clerk" : "-999") "," (i % 5 == 2 || i * 7 % 60 > 40 ? "a" : "b") }' >a.csv
awk -F, -v OFS=, 'NR > 1 && ($2 == "-999" || $2 == "n.a.") { $2 = "" } NR > 1 && $3 == "never" { $3 = "" } 1' a.csv >empty.csv
config() { # config DATA AGE SEEN
    cat <<EOF
{"task": "binary", "data": {"train": "$1", "missing": [""], "target": "y", "positive": "a", "columns": {"country": "categorical",
 "age": $2, "seen": $3, "job": "categorical"}}, "model": {"preset": "mlp"}, "train": {"epochs": 2}}
EOF
}
config a.csv '{"type": "numeric", "missing": ["-999", "n.a."]}' '{"type": "datetime", "missing": "never"}' >a.json
config empty.csv '"numeric"' '"datetime"' >empty.json
for f in a empty; do
    run dnn train $f.json -o $f.dnn -q
    is_exit 0 "train $f"
    dnn predict $f.dnn $f.csv -q >$f.out
    dnn evaluate $f.dnn $f.csv -q >$f.told
    dnn explain $f.dnn $f.csv -q --effects $f.effects >$f.explained
done
same a.out empty.out "missing by column answers as empty cells do"
same a.told empty.told "  evaluate too"
same a.explained empty.explained "  explain too"
same a.effects empty.effects "  and its effects"
is "$(dnn inspect a.dnn --json | grep -o '"missing_texts":\[[^]]*\]' | tr -d '\n')" '"missing_texts":["-999","n.a."]"missing_texts":["never"]' \
    "inspect shows the texts of each column"
dnn schema | grep -q 'Texts that mean no value in this column'
ok $? "the schema has the key"
printf 'country,age,seen,job\nNA,12,n.a.,-999\n' >other.csv
run dnn predict a.dnn other.csv
is_exit 65 "a text of another column is a bad row"
err_has 'or one of data.missing [""], or of the column'"'"'s missing ["never"]'
sed 's/,n.a.,/,never,/' other.csv >good.csv
run dnn predict a.dnn good.csv
is_exit 0 "-999 stays a category beside the number -999"
# a target: rows without a value are left out
awk -F, -v OFS=, 'NR > 1 && NR % 10 == 0 { $5 = "unknown" } 1' a.csv >target.csv
config target.csv '{"type": "numeric", "missing": ["-999", "n.a."]}' '{"type": "datetime", "missing": "never"}' |
    sed 's/"job":/"y": {"type": "categorical", "missing": "unknown"}, "job":/' >target.json
run dnn train target.json -o target.dnn
is_exit 0 "a target may have texts of its own"
err_has 'is missing in 30 of 300 rows' "  whose rows are left out"
run dnn evaluate target.dnn target.csv --json
is "$(grep -o '"rows_unlabelled":[0-9]*' out)" '"rows_unlabelled":30' "  in evaluate too"
sed 's/"y": {[^}]*}/"y": {"type": "categorical", "missing": "unknown", "unknown": "error"}/' target.json >odd.json
run dnn check odd.json
is_exit 78 "no other key of a target"
sed 's/"missing": \["-999", "n.a."\]/"missing": [1]/' a.json >odd.json
run dnn check odd.json
is_exit 78 "texts alone"
err_has 'data.columns.age.missing'
# init writes a mark for the column whose cells prove it, where it is a value of another one
awk 'BEGIN { split("DE FR NA US GB", k, " "); print "country,age,job,y"
    for (i = 0; i < 300; i++) print k[i % 5 + 1] "," (i % 17 ? i * 7 % 60 + .5 : i % 2 ? "NA" : "unknown") "," (i % 9 ? "clerk" : "unknown") "," i % 2 }' >init.csv
run dnn init init.csv --target y -o init.json
grep -A2 '"age"' init.json | grep -qF '"missing": ["NA", "unknown"]'
ok $? "init writes NA and unknown for the number" "$(cat init.json)"
grep -qF '"country": "categorical"' init.json && grep -qF '"job": "categorical"' init.json && grep -qF '"missing": [""]' init.json
ok $? "  where they are a code and a job elsewhere" "$(cat init.json)"
run dnn check init.json
is_exit 0 "  and check takes it"
done_testing
