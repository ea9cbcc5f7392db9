#!/bin/bash
# twins.sh - values that differ in the way they are written alone are told by name: labels and categories in init, check and train, new
# values in predict. Names of columns compare in NFC. Codes that are one number are categories; long digits are texts.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN { print "x,ville,caf\xc3\xa9,y"; n = split("NYC|nyc|Paris|Paris\xc2\xa0|Li\xc3\xa8ge|Lie\xcc\x80ge|Rom|1|1.0|True", v, "|")
    for (i = 0; i < 300; i++) printf "%s,%s,%d,%s\n", i * 13 % 50, i % 3 ? v[1 + i * 7 % n] : "Rom", i * 17 % 23,
    (i % 50 > 20 ? (i % 9 ? "yes" : "Yes\xc2\xa0") : "no") }' >t.csv
run dnn init t.csv --target y --set model.preset=linear --set train.epochs=2 -o t.json
is_exit 0 "init"
err_has 'warning: target "y": labels "Yes' "labels"
err_has '(blanks) differ in the way they are written alone: are they one label? Mend the file' \
    "labels that differ in blanks: the warning says so"
err_has 'note: column "ville": values differ in the way they are written alone: ' "categories"
err_has '"1" and "1.0" (one number)' "  a number"
for command in "check t.json" "train t.json -o t.dnn"; do
    # shellcheck disable=SC2086 # words
    run dnn $command
    is_exit 0 "${command%% *}"
    err_has 'warning: target "y": labels "yes" and "Yes' "${command%% *}: labels"
    err_has 'note: column "ville": values differ in the way they are written alone: ' "${command%% *}: categories"
done
# the name of a column with its accent apart; new values, three of them named
printf 'ville,cafe\xcc\x81,x\nnyC,1,2\nLi\xc3\xa8ge\xc2\xa0,1,3\nTokyo,1,2\nOslo,1,2\nTokyo,1,2\nRom,1,2\n' >ask.csv
run dnn predict t.dnn ask.csv -o -
is_exit 0 "a column's name composed and apart"
err_has 'column "ville": 5 cells with a category that training did not see: "nyC" (training had "NYC"), "Li' "new values"
err_has ' (training had "Li' "  a twin in blanks"
err_has '"Tokyo", ...' "new values: the list is cut short"
sed '1s/.*/x,ville,cafe\xcc\x81,y/' t.csv >apart.csv
run dnn evaluate t.dnn apart.csv
is_exit 0 "in evaluate too"
run dnn train t.json --set data.train=apart.csv -o a.dnn
is_exit 0 "a column's name composed and apart, in training"
dnn predict t.dnn t.csv --quiet >want && dnn predict a.dnn t.csv --quiet >got
same want got "a column's name apart: the same model"
# codes and long digits
awk 'BEGIN { print "c,d,y,l"; split("110E1 11E2 7E2 5E3", w, " ");
    for (i = 0; i < 200; i++) print w[1 + i % 4] "," i % 37 "E" i % 5 "," (i % 4 < 2 ? "110E1" : "11E2") "," \
        (i % 4 < 2 ? "12345678901234567" : "12345678901234568") }' >c.csv
run dnn init c.csv --target y --ignore l --set model.preset=linear -o c.json
err_has 'column "c": categorical: codes, taken as categories: as numbers "110E1" and "11E2" would be one' "codes are categories"
run dnn train c.json -o c.dnn --set train.epochs=2 --json
is_exit 0 "codes as labels train"
err_lacks "equal as numbers" "codes as labels: not equal as numbers"
err_lacks "the same number" "codes as labels: not taken for a mistake"
run dnn init c.csv --target l --ignore y --set model.preset=linear -o l.json
is_exit 0 "labels of 17 digits"
run dnn train l.json -o l.dnn --set train.epochs=2
is_exit 0
err_lacks "the same number" "  compare by their digits"
is "$(dnn predict l.dnn c.csv --quiet | cut -d, -f1 | sort -u | wc -l)" 3 "  are two classes"
done_testing
