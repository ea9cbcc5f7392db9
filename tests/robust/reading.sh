#!/bin/bash
# reading.sh - files that are written otherwise than the training file: --delimiter, --decimal, --encoding and --quote of predict,
# evaluate and explain give the answers of the same rows written as the training file. Ids: D03.
. "$(dirname "$0")/../tap.sh"
# the same 60 rows twice: plain, and in latin1 with ; and decimal commas, sums of money grouped by the other sign
awk 'BEGIN { split("Köln,Oslo,Malmö", city, ",")
    for (f = 0; f < 2; f++) { d = f ? ";" : ","; file = f ? "utf8.csv" : "a.csv"
        printf "x%ssum%scity%sy\n", d, d, d >file
        for (i = 0; i < 60; i++) { printf "%d%s%d%s", i % 7, f ? "," : ".", i % 10, d >file
            if (f) printf "%d.%03d,50", 1 + i % 3, i * 37 % 1000 >file; else printf "\"%d,%03d.50\"", 1 + i % 3, i * 37 % 1000 >file
            printf "%s%s%s%s\n", d, city[1 + i % 3], d, (i % 7 > 3 ? "yes" : "no") >file } } }'
iconv -f UTF-8 -t LATIN1 utf8.csv >b.csv
cat >c.json <<'JSON'
{"task": "binary", "data": {"train": "a.csv", "target": "y", "columns": {"x": "numeric", "city": "categorical",
 "sum": {"type": "numeric", "thousands": ","}}}, "model": {"preset": "mlp", "hidden": [4]}, "train": {"epochs": 2},
 "backend": {"name": "dnn_cpu"}}
JSON
run dnn train c.json -o m.dnn --progress none --quiet --force
is_exit 0 "a model"
other=(--delimiter ';' --decimal , --encoding latin1)
for command in predict evaluate explain; do
    dnn $command m.dnn a.csv --quiet >want
    run dnn $command m.dnn b.csv "${other[@]}" --quiet
    is_exit 0 "D03 $command reads the other file"
    same want out "$command: the same answers"
done
run dnn evaluate m.dnn b.csv "${other[@]}" --better-than m.dnn --by -0.1
is_exit 0 "both models of a comparison read it"
run dnn predict m.dnn b.csv
is_exit 65 "without the options"
err_has "help: give --delimiter ';'" "the help names the option"
run dnn predict m.dnn b.csv --delimiter ';' --decimal ,
is_exit 65 "another encoding"
err_has 'help: give --encoding "latin1" or "cp1252"' "the help names that one"
{ head -n 1 a.csv; printf "1.5,2000,Kö\"ln,no\n"; } >q.csv
run dnn predict m.dnn q.csv
is_exit 65 "a quote inside a cell is an error by RFC 4180"
run dnn predict m.dnn q.csv --quote lenient --quiet
is "$STATUS $(wc -l <out)" "0 2" "a quote inside a cell is a character with --quote lenient"
tr ';' '\t' <utf8.csv >t.csv
for tab in '\t' $'\t'; do
    run dnn predict m.dnn t.csv --delimiter "$tab" --decimal , --quiet
    is "$STATUS $(cksum <out)" "0 $(dnn predict m.dnn a.csv --quiet | cksum)" "a tab"
done
run dnn predict m.dnn a.csv --delimiter '::'
is_exit 64 "no delimiter"
run dnn predict m.dnn a.csv --decimal ';'
is_exit 64 "no decimal sign"
run dnn predict m.dnn t.csv --io tsv --delimiter '\t'
is_exit 64 "--io says it too"
done_testing
