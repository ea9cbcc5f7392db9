#!/bin/bash
# weightless.sh - evaluate, explain and report take a row of weight 0 as if the file did not have it, whatever its cells hold, as training
# does. In a sequence of records it stays as context, and its target is not read.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN { print "a,b,w,y,z"; for (i = 0; i < 240; i++) { a = (i * 37) % 101; b = (i * 53) % 17
    printf "%d,%d,%d,%s,%g\n", a, b, 1 + (i % 4 == 0), (a + b * 3 > 75 ? "up" : "down"), a / 9 + b } }' >rows.csv
# a label that no row has, cells that are no numbers, a target that is missing or far away
awk 'BEGIN { FS = OFS = "," } { print } NR % 30 == 7 { print 5, 3, 0, "odd", "none"; print "bad", 2, 0.0, "up", 1;
    print -9999, 1e9, 0, "NA", 1e30 }' rows.csv >with.csv
config() { # TASK TARGET
    cat >c.json <<JSON
{"task": "$1", "data": {"train": "rows.csv", "target": "$2", "columns": {"a": "numeric", "b": "numeric", "w": "weight"}},
 "model": {"preset": "linear"}, "backend": {"name": "dnn_cpu"}, "output": {"fingerprint": false}}
JSON
}
alike() { # NAME, dnn COMMAND MODEL, OPTIONS: the same answer of both files
    local name=$1 command=$2 model=$3
    shift 3
    run dnn $command $model rows.csv "$@"
    is_exit 0 "$name: the rows that count"
    mv out expected
    run dnn $command $model with.csv "$@"
    is_exit 0 "$name: and rows of weight 0"
    err_has "note: the weight is 0 in 24 of 264 rows, which count for nothing: left out"
    same expected out "$name: the answer is that without them"
}
for task in "binary y" "regression z"; do
    config $task
    run dnn train c.json -o m.dnn --force --quiet
    is_exit 0 "$task: a model"
    alike "$task: evaluate" evaluate m.dnn
    run dnn evaluate m.dnn with.csv --json
    out_has '"rows":240,"rows_unlabelled":0,"rows_bad":0,"rows_weight_zero":24,' "$task: the JSON of evaluate counts them"
    alike "$task: evaluate by groups" evaluate m.dnn --by b:3
    alike "$task: explain" explain m.dnn
    alike "$task: effects" explain m.dnn --effects
    run dnn report m.dnn rows.csv -o rows.html
    run dnn report m.dnn with.csv -o with.html
    is_exit 0 "$task: report"
    # but for the lines of the worst rows, and the hash of the file
    sed -i -E 's/^<tr><td>[0-9]+</<tr><td>LINE</; /sha256 of (rows|with)/d' rows.html with.html
    sed 's/with\.csv/rows.csv/g' with.html >with.as
    same rows.html with.as "$task: the report is that without them"
    # every row of the file
    awk -F, 'BEGIN { OFS = FS } NR > 1 { $3 = 0 } { print }' rows.csv >idle.csv
    for command in evaluate explain "explain --effects"; do
        set -- $command
        run dnn $1 m.dnn idle.csv ${2:-}
        is_exit 65 "$task: $command: no row counts"
        err_has "error[E1235]" "  says so"
    done
done
# a weight that is none is a fault as ever, and predict answers every row
awk 'BEGIN { FS = OFS = "," } NR == 3 { $3 = -1 } { print }' rows.csv >minus.csv
run dnn evaluate m.dnn minus.csv
is_exit 65 "a weight below 0 is an error"
sed 's/^bad/7/' with.csv >full.csv
run dnn predict m.dnn full.csv -o p.csv
is_exit 0 "predict answers rows of weight 0"
is "$(wc -l <p.csv)" 265 "  all of them"
# init: the same questions, notes and config
for how in data.columns.w=weight 'data.columns={"a": "numeric", "b": "numeric", "w": {"type": "weight"}}'; do
    run dnn init rows.csv --target y --set "$how"
    is_exit 0 "init: $how"
    mv out expected
    mv err expected.err
    run dnn init with.csv --target y --set "$how"
    sed -i 's/with\.csv/rows.csv/; s/with\.dnn/rows.dnn/' out err
    same expected out "  rows of weight 0 change nothing of the config"
    same expected.err err "rows of weight 0 change nothing of the notes"
done
run dnn init with.csv --target y
out_has '"multiclass"' "init: without a weight their labels are labels"
run dnn init idle.csv --target y --set data.columns.w=weight
is_exit 65 "init: no row counts"
err_has "0 data rows with a weight above 0" "  says so"
# sequences
awk 'BEGIN { print "g,t,x,w,y,v"; for (g = 0; g < 40; g++) for (t = 0; t < 12; t++) {
    x = (g * 7 + t * 13) % 11 - 5; odd = (t % 6 == 2)
    printf "g%d,%d,%d,%d,%s,%s\n", g, t, x, !odd, (odd ? "odd" : x > 0 ? "up" : "down"), (odd ? "none" : x + t / 4) } }' >steps.csv
sed 's/,odd,none$/,,/' steps.csv >blank.csv
for task in "multiclass y last" "multiclass y row" "regression v row"; do
    set -- $task
    cat >s.json <<JSON
{"task": "$1", "data": {"target": "$2", "columns": {"x": "numeric", "w": "weight"}, "missing": [""],
 "sequence": {"group": "g", "order": "t", "window": 4, "label": "$3"}}, "model": {"preset": "gru", "hidden": [4]}, "train": {"epochs": 2},
 "backend": {"name": "dnn_cpu"}, "output": {"fingerprint": false}}
JSON
    for file in steps blank; do
        run dnn train s.json -o $file.dnn --force --quiet --set data.train=$file.csv
        is_exit 0 "sequences, $task: trained on $file.csv"
        run dnn predict $file.dnn steps.csv
        mv out p.$file
    done
    [ "$(wc -l <p.steps)" -gt 39 ]
    ok $? "sequences, $task: answers" "$(wc -l p.steps)"
    same p.blank p.steps "sequences, $task: a target of weight 0 is not learned"
    for command in evaluate explain; do
        for file in steps blank; do
            run dnn $command steps.dnn $file.csv
            is_exit 0 "sequences, $task: $command of $file.csv"
            mv out $command.$file
        done
        same $command.blank $command.steps "sequences, $task: $command does not read it"
    done
done
# a whole sequence of weight 0 is no sample: the batches are those of a file without it
awk -F, -v OFS=, 'NR > 1 && $1 ~ /[37]$/ { $4 = 0; $6 = "9e5" } { print }' blank.csv >idle.csv
awk -F, 'NR == 1 || $1 !~ /[37]$/' blank.csv >removed.csv
for task in "multiclass y row gru" "regression v row gru" "regression v last gru" "regression v group rocket"; do
    set -- $task
    [ $3 = group ] || window=', "window": 4'
    cat >s.json <<JSON
{"task": "$1", "data": {"target": "$2", "columns": {"x": "numeric", "w": "weight"}, "missing": [""], "split": {"method": "random",
  "valid": 0, "test": 0},
 "sequence": {"group": "g", "order": "t", "label": "$3"${window:-}}}, "model": {"preset": "$4"}, "train": {"epochs": 2, "batch_size": 16},
 "backend": {"name": "dnn_cpu"}, "output": {"fingerprint": false}}
JSON
    for file in idle removed; do
        run dnn train s.json -o $file.dnn --force --quiet --set data.train=$file.csv
        is_exit 0 "sequences, $task: trained on $file.csv"
        run dnn predict $file.dnn steps.csv
        mv out p.$file
    done
    same p.removed p.idle "sequences, $task: a sequence of weight 0 is not there"
    window=
done
done_testing
