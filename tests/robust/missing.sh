#!/bin/bash
# missing.sh - texts that mean no value in one column: data.columns.NAME.missing beside data.missing, in training, predict,
# evaluate, explain, the model and init.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN { split("DE FR NA US GB", k, " "); print "country,age,seen,job,y"
    for (i = 0; i < 300;
    i++) print k[i % 5 + 1] "," (i % 11 ? i * 7 % 60 : i % 2 ? -999 : "n.a.") "," (i % 13 ? "2024-01-" 10 + i % 19 : "never") "," \
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
same a.effects empty.effects "missing by column: the effects are as of empty cells"
is "$(dnn inspect a.dnn --json | grep -o '"missing_texts":\[[^]]*\]' | tr -d '\n')" \
    '"missing_texts":["-999","n.a."]"missing_texts":["never"]' \
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
    for (i = 0; i < 300; i++) print k[i % 5 + 1] "," \
        (i % 17 ? i * 7 % 60 + .5 : i % 2 ? "NA" : "unknown") "," (i % 9 ? "clerk" : "unknown") "," i % 2 }' >init.csv
run dnn init init.csv --target y -o init.json
grep -A2 '"age"' init.json | grep -qF '"missing": ["NA", "unknown"]'
ok $? "init writes NA and unknown for the number" "$(cat init.json)"
grep -qF '"country": "categorical"' init.json && grep -qF '"job": "categorical"' init.json && grep -qF '"missing": [""]' init.json
ok $? "  where they are a code and a job elsewhere" "$(cat init.json)"
run dnn check init.json
is_exit 0 "check takes NA and unknown of init"
# words among numbers or dates
words() { # words EXPRESSION [ARGS]: rows of column x; $i counts them
    awk "BEGIN { print \"x,k,y\"; for (i = 0; i < 400; i++) print ($1) \",\" i % 7 \".5,\" (i % 3 ? \"a\" : \"b\") }" >words.csv
    run dnn init words.csv --target "${2:-y}" -o words.json --force
}
while IFS='|' read -r cells list said; do
    words "$cells"
    grep -A2 '"x": {' words.json | grep -qF -- "\"missing\": [$list]"
    ok $? "$cells: missing [$list]" "$(cat words.json err)"
    err_has "warning: column \"x\": $said taken as missing"
    run dnn train words.json -o words.dnn --set model.preset=mlp --set train.epochs=1 --force -q
    is_exit 0 "$cells: train takes the config"
done <<'EOF'
i % 40 ? i * 7919 % 1000 / 10 : "nil"|"nil"|"nil" in 10 of 400 cells (the first at line 2) is no number:
i % 40 ? 18 + i % 70 : i % 80 ? "n.b." : "-"|"n.b.", "-"|"n.b.", "-" in 10 of 400 cells (the first at line 2) are no number:
i == 99 ? "#DIV/0!" : i * 7919 % 1000 / 10|"#DIV/0!"|"#DIV/0!" in 1 of 400 cells (at line 101) is no number:
i % 20 ? "$" i * 7919 % 1000 : "free"|"free"|"free" in 20 of 400 cells (the first at line 2) is no number:
i % 9 ? sprintf("2024-%02d-%02d", i % 12 + 1, i % 28 + 1) : "0000-00-00"|"0000-00-00"|"0000-00-00" in 45 of 400 cells (the first at line 2) is no date:
i % 9 ? sprintf("%02d.%02d.2024", i % 28 + 1, i % 12 + 1) : i % 2 ? "ongoing" : "TBD"|"TBD", "ongoing"|"TBD", "ongoing" in 45 of 400 cells (the first at line 2) are no date:
EOF
for value in 'i % 9 ? i % 6 : "x"' 'i % 3 ? "-inf" : i / 8' 'i % 2 ? substr("abcdefghijkl", i % 12 + 1, 1) : i * 7' \
    'i % 3 ? "low" : i / 8'; do
    words "$value"
    is_exit 0
    err_lacks 'taken as missing' "$value: words"
done
# a target of numbers with a bad cell is one of a regression
words 'i == 99 ? "n.a." : i * 7919 % 1000' x
err_has \
    'target "x": "n.a." in 1 of 400 cells (at line 101) is no number: taken as missing, by the column'"'"'s "missing", and the task is regression'
err_has '1 of 400 rows have no target: training leaves them out'
run dnn train words.json -o words.dnn --set model.preset=mlp --set train.epochs=1 --force -q
is_exit 0 "a text that is missing in the target: train takes the config"
run dnn init words.csv --target x --set 'data.columns.x={"type": "categorical", "missing": []}'
out_has '"task": "multiclass"' "  unless classes are asked for, as the warning says"
words 'i == 99 ? "12O" : i * 7919 % 1000' x
grep -qF '"task": "regression"' words.json
ok $? "a cell that is no word: regression too"
err_has 'warning: target "x": 1 of 400 cells is no number, the first "12O" at line 101: training will stop there; mend the cells'
words 'i % 40 ? substr("yesno ", i % 2 * 3 + 1, 3) : "None"' x
err_has \
    'target "x": is "None" (10 rows) a label? If it means that the label is not known, give `dnn init` --set '"'data.columns.x={\"type\": \"categorical\", \"missing\": [\"None\"]}'"
run dnn init words.csv --target x --set 'data.columns.x={"type": "categorical", "missing": ["None"]}' -o words.json --force
grep -qF '"task": "binary"' words.json
ok $? ""None" as missing leaves two labels" "$(cat words.json)"
run dnn check words.json
err_has 'is missing in 10 of 400 rows'
words 'i % 2 ? "None" : "churn"' x
is_exit 0
err_lacks 'a label?' "None is one of two labels"

# a value that stands for none: the least or greatest, in many rows, far from the others
far() { # far EXPRESSION: rows of column x, and d, an even date; $i counts them
    awk \
        "BEGIN { print \"x,d,y\"
            for (i = 0; i < 400; i++) print ($1) \",\" 2000 + i * 7 % 20 \"-01-02,\" (i % 3 ? \"a\" : \"b\") }" >far.csv
    run dnn init far.csv --target y -o far.json --force
}
takes() { # takes EXPRESSION LIST
    far "$1"
    grep -A2 '"x": {' far.json | grep -qF -- "\"missing\": [$2]"
    ok $? "$1: missing [$2]" "$(cat far.json err)"
    err_has 'warning: column "x": '
}
takes 'i % 10 ? 18 + i % 70 : -999' '"-999"'
err_has \
    '"-999" in 40 of 400 cells is far from the others (19 to 87): taken as missing, by the column'"'"'s "missing"; to keep it as a value, --set '"'data.columns.x.missing=[]'"
takes 'i % 10 ? 18 + i % 70 : i % 20 ? "-999.0" : -999' '"-999", "-999.0"'
takes 'i % 10 ? 18 + i % 70 : i % 20 ? -998 : -999' '"-999", "-998"'
takes 'i % 10 ? 18.5 + i % 70 : i % 20 ? -99 : 99999' '"-99", "99999"'
takes 'i % 20 ? i % 7 / 10 : 2147483647' '"2147483647"'
takes 'i % 20 ? 1950 + i % 70 : -1' '"-1"'
takes 'i % 20 ? 1 + i % 5 : -9' '"-9"'
takes 'i % 20 ? sprintf("20%02d-%02d-%02d", i % 20, i % 12 + 1, i % 28 + 1) : "0001-01-01 00:00:00"' '"0001-01-01 00:00:00"'
takes 'i % 10 ? sprintf("20%02d-%02d-%02d", i % 20, i % 12 + 1, i % 28 + 1) : i % 20 ? "9999-12-31" : "1900-01-01"' \
    '"9999-12-31", "1900-01-01"'
takes 'i % 10 ? sprintf("%02d.%02d.20%02d", i % 28 + 1, i % 12 + 1, i % 20) : "31.12.2099"' '"31.12.2099"'
takes 'i % 10 ? sprintf("20%02d%02d%02d", i % 20, i % 12 + 1, i % 28 + 1) : "99991231"' '"99991231"'
takes 'i % 10 ? sprintf("19%02d-%02d-%02d", i % 50, i % 12 + 1, i % 28 + 1) : "1970-01-01"' '"1970-01-01"'
run dnn train far.json -o far.dnn --set model.preset=mlp --set train.epochs=1 -q
is_exit 0 "  such a config trains"
for value in 'i % 10 ? 18 + i % 80 : 99' 'i % 5 ? 1 + i % 900 : 0' 'i % 4 * 33' 'i % 5 * 20 + 19' 'i % 10 ? i % 30 : -1' \
    'i % 100 ? i % 9 : 20' \
    'sprintf("20%02d-%02d-01", i % 20, i % 12 + 1)' 'i % 10 ? i * 7919 % 1000 - 500 : -501' 'i == 7 ? -999 : i % 70'; do
    far "$value"
    is_exit 0
    err_lacks 'far from the others' "$value: values"
done
far 'i % 20 ? 1990 + i % 20 : 0'
err_has '"0" in 20 of 400 cells is far from the others (1991 to 2009): if it means no value, --set '"'data.columns.x.missing=[\"0\"]'" \
    "what may be a value is told"
grep -qF '"x": "numeric"' far.json
ok $? "a value that may be missing stays in a column of numbers"
run dnn init far.csv --target y --set 'data.columns.x.missing=["0"]'
grep -A2 '"x": {' out | grep -qF '"missing": ["0"]'
ok $? "  until that is said"
far 'i % 10 ? i * 7919 % 1000 / 10 : -999'
run dnn init far.csv --target x
err_has \
    'target "x": "-999" in 40 of 400 cells is far from the others (0.2 to 99.9): if it means no value, --set '"'data.columns.x={\"type\": \"numeric\", \"missing\": [\"-999\"]}' leaves such rows out"
run dnn init far.csv --target x --set 'data.columns.x={"type": "numeric", "missing": ["-999"]}' -o far.json --force
run dnn check far.json
err_has 'is missing in 40 of 400 rows' "  as check says"
# columns of a wide sequence have no entries: their texts are listed for all
awk 'BEGIN { for (k = 0; k < 9; k++) printf "ch1_%d,", k; print "y"; for (i = 0; i < 200; i++) { for (k = 0; k < 9; k++) printf "%s,",
    (i + k) % 11 ? (i * 7 + k * 13) % 97 / 10 : -999; print i % 2 } }' >wide.csv
run dnn init wide.csv --target y
out_has '"missing": ["", "NA", "-999"]' "a wide sequence: -999 in data.missing"
done_testing
