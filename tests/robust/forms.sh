#!/bin/bash
# forms.sh - how cells are written: thousands, units, dates by format. init proposes them where a cell proves the reading, and warns
# where none does; a column that changes its form is a bad row. Ids: C19.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN { print "price;share;dist;when;us;amb;y"
    for (i = 0; i < 200; i++) printf "$%d,%03d.%02d;%d.5%%;%d km;%02d.%02d.2024;%d/%d/2024 %d:05 PM;%d,%03d;%s\n", 1 + i % 9, i * 37 % 1000,
        i % 100, i % 90, 10 + i % 70, 1 + i % 28, 1 + i % 12, 1 + i % 12, 1 + i % 28, 1 + i % 12, 1 + i % 9, i * 37 % 1000,
        (i % 9 > 4 ? "yes" : "no") }' >a.csv
awk -F';' 'BEGIN { split("0,31,59,90,120,151,181,212,243,273,304,334", before, ",") } NR == 1 { print; next }
    { gsub(/[$,%]| km/, ""); split($4, d, "."); split($5, u, /[ :\/]/)
    printf "%s;%s;%s;2024-%s-%s;2024-%02d-%02dT%02d:05;%s;%s\n", $1, $2, $3, d[2], d[1], u[1], u[2], u[4] % 12 + 12, $6, $7 }' a.csv >plain.csv
run dnn init a.csv --target y --set model.preset=mlp -o a.json
is_exit 0 "init"
for part in '"thousands": ","' '"unit": ["$"]' '"unit": ["%"]' '"unit": ["km"]' '"format": "%d.%m.%Y"' \
    '"format": "%m/%d/%Y %I:%M %p"' '"amb": "ignore"'; do
    grep -qF -- "$part" a.json
    ok $? "init writes $part" "$(grep -A20 columns a.json)"
done
err_has 'numbers such as "$1,000.00" (line 2) in 200 cells: "thousands": ",", "unit": "$"' "a note says what it saw"
err_has 'warning: column "amb": ignore: nothing proves whether the "," in "1,000" groups digits' "what nothing proves gets a warning"
err_has '"thousands": ","}' "with the key that would read it"
sed 's/"train": "a.csv"/"train": "plain.csv"/; s/"when": {[^}]*}/"when": "datetime"/; s/"us": {[^}]*}/"us": "datetime"/' a.json |
    sed '/"thousands"/d; s/"type": "numeric",/"type": "numeric"/; /"unit"/d' >plain.json
for f in a plain; do
    run dnn train $f.json -o $f.dnn --progress none --quiet --set train.epochs=2 --set backend.name=dnn_cpu --force
    is_exit 0 "train $f"
    dnn predict $f.dnn $f.csv --quiet >$f.out
done
same a.out plain.out "the same numbers and dates, plainly written: the same answers"
is "$(wc -l <a.out)" 201 "every row has an answer"
sed '5s/ km/ mi/' a.csv >b.csv
run dnn predict a.dnn b.csv -o b.out
is_exit 65 "another unit is a bad row"
err_has 'error[E1203]: b.csv:5:' "with its place"
sed '5s/[0-9]*\.[0-9]*\.2024/2024-01-02/' a.csv >b.csv
run dnn predict a.dnn b.csv -o b.out
is_exit 65 "another form of date is a bad row"
err_has 'error[E1223]: b.csv:5:'
run dnn check a.json --set 'data.columns.when={"type": "datetime", "format": "%q"}'
is_exit 64 "a directive that does not exist"
run dnn check a.json --set 'data.columns.dist={"type": "numeric", "thousands": "x"}'
is_exit 64 "what cannot group digits"
done_testing
