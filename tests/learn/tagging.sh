#!/bin/bash
# tagging.sh - labels that depend on rows 20 to 39 steps back (scripts/data/make_tagging.pl): presets that read steps know them,
# with the rates, batches and first weights that they bring; a network of single rows can only guess.
. "$(dirname "$0")/../tap.sh"
make=$ROOT/scripts/data/make_tagging.pl
[ -e "$make" ] || make=$ROOT/../scripts/data/make_tagging.pl
perl "$make" 200 1 >train.csv
perl "$make" 60 7 >test.csv
cat >c.json <<'JSON'
{"task": "tagging",
 "data": {"train": "train.csv", "test": "test.csv", "target": "y",
          "columns": {"series": "id", "t": "id", "cue": "categorical", "noise": "numeric"},
          "sequence": {"group": "series", "order": "t", "window": 130}},
 "backend": {"name": "dnn_cpu"}}
JSON
# reaches NAME OPERATOR BOUND EPOCHS MODEL: the accuracy on the rows of a test file
reaches() {
    local got
    got=$(dnn train c.json -o m.dnn --force --quiet --json --set "model=$5" --set "train.epochs=$4" 2>err |
        perl -ne 'print $1 if /"test":\{[^}]*"accuracy":([0-9.e-]+)/')
    awk -v a="$got" -v b="$3" -v o="$2" 'BEGIN { exit !(a != "" && (o == ">" ? a > b : a < b)) }'
    ok $? "$1: accuracy $got $2 $3" "$(tail -n 3 err)"
}
reaches lstm '>' 0.95 120 '{"preset": "lstm", "hidden": [32]}'
reaches gru '>' 0.95 80 '{"preset": "gru", "hidden": [32]}'
reaches transformer '>' 0.95 40 '{"preset": "transformer", "blocks": 1}'
reaches "mlp, a row at a time" '<' 0.6 10 '{"preset": "mlp", "hidden": [32]}'
done_testing
