#!/bin/bash
# rare_labels.sh - a label of very few rows stays in every training part: train, cv and tune go on, and say it. What moves is what
# has that label, or its group.
. "$(dirname "$0")/../tap.sh"
make_rows() { # FILE ROWS OF THE LABEL, from row 1 on; time and group rise with the row
    awk -v rare="$2" 'BEGIN { seed = 7; print "x,z,g,t,y"
        for (i = 1; i <= 240; i++) {
            seed = (seed * 16807) % 2147483647; x = seed % 2001 / 1000 - 1; seed = (seed * 16807) % 2147483647
            printf "%s,%s,g%d,%d,%s\n", x, seed % 100 / 50, i / 8, i, (i <= rare ? "rare" : x > 0 ? "up" : "down") } }' >"$1"
}
config() { # FILE TASK PRESET SPLIT
    cat >c.json <<JSON
{"task": "$2", "data": {"train": "$1", "target": "y", "columns": {"x": "numeric", "z": "numeric", "g": "group", "t": "ignore"},
  "split": $4},
 "model": {"preset": "$3"}, "train": {"epochs": 2}, "tune": {"space": {"train.optimizer.learning_rate": [0.01, 0.001]}},
 "backend": {"name": "dnn_cpu"}}
JSON
}
stratified='{"method": "stratified"}'
for rows in 1 2 3; do
    make_rows d.csv $rows
    config d.csv multiclass mlp "$stratified"
    run dnn train c.json -o m.dnn --set 'ensemble={"folds": 5}' --force
    is_exit 0 "folds, $rows rows of a label"
    [ $rows = 1 ] && err_has 'the label "rare" of "y" is too rare to split (1 row, line 2): it stays in every training part' \
        "  is told with its line"
    [ $rows = 1 ] || err_lacks "too rare to split" "  each fold's run has one"
    run dnn cv c.json --set model.preset=linear
    is_exit 0 "  cv"
    run dnn tune c.json --trials 2 -o best.json
    is_exit 0 "  tune"
    rm -f best.json m.dnn
done
# two labels, one row of one of them
awk -F, 'BEGIN { OFS = FS } NR > 1 { $5 = $5 == "rare" ? "rare" : "all" } 1' d.csv | awk -F, '$5 != "rare" || !met++' >two.csv
config two.csv binary mlp "$stratified"
run dnn train c.json -o m.dnn --set 'ensemble={"folds": 4}' --force
is_exit 0 "one row of the positive label"
# other splits: chance, a group, the latest rows
make_rows first.csv 2
(head -n 1 first.csv; tail -n +2 first.csv | sort -t, -k4,4nr | awk -F, 'BEGIN { OFS = FS } { $4 = NR; $3 = "g" int(NR / 8) } 1') >last.csv
for split in '{"method": "time", "column": "t"}' '{"method": "random", "valid": 0.45, "test": 0.45}' \
    '{"method": "group", "column": "g", "valid": 0.45, "test": 0.45}' '{"method": "hash", "column": "g", "valid": 0.4, "test": 0.4}'; do
    for seed in 1 2 3; do
        config last.csv multiclass linear "${split%\}}, \"seed\": $seed}"
        run dnn train c.json -o m.dnn --force
        is_exit 0 "split $split, seed $seed"
    done
    [ "$split" != '{"method": "time", "column": "t"}' ] || err_has 'the label "rare" of "y" is too rare to split (2 rows, line 240)' \
        "  is told"
done
config last.csv multiclass linear '{"method": "time", "column": "t"}'
run dnn cv c.json
is_exit 0 "cv in the order of time"
# a file of its own is the user's part: an error with the place
config first.csv multiclass linear "$stratified"
sed '2s/[^,]*$/new/' first.csv >test.csv
run dnn train c.json -o m.dnn --force --set data.test=test.csv
is_exit 65 "a label of data.test alone"
err_has 'test.csv:2'
err_has 'label "new" of "y"'
# nor does a label of data.valid's own file count as trained on
config last.csv multiclass linear '{"method": "time", "column": "t", "valid": 0}'
run dnn train c.json -o m.dnn --force --set data.valid=first.csv
is_exit 0 "a rare label that data.valid has in a file of its own"
err_has \
    'the label "rare" of "y" is too rare to split (2 of its 4 rows, line 240): they stay in every training part, and the other rows alone measure it' \
    "  stays in training"
# one of two rows is a test row: the other one alone is in no figure
config first.csv multiclass linear '{"method": "column", "column": "part"}'
awk -F, 'NR == 1 { print $0 ",part"; next } { print $0 "," (NR == 2 || NR > 220 ? "test" : "train") }' first.csv >part.csv
run dnn train c.json -o m.dnn --force --set data.train=part.csv --set ensemble.folds=3
is_exit 0 "two rows of a label, one of them a test row"
err_has \
    'the label "rare" of "y" is too rare to split (1 of its 2 rows, line 3): it stays in every training part, and the other rows alone measure it' \
    "  both are counted"
# steps of sequences
awk 'BEGIN { print "g,t,x,y"; for (g = 0; g < 30; g++) for (t = 0; t < 8; t++) {
    x = (g * 7 + t * 13) % 11 - 5; printf "g%d,%d,%s,%s\n", g, t, x, (g == 9 && t == 3 ? "rare" : x > 0 ? "up" : "down") } }' >steps.csv
cat >s.json <<'JSON'
{"task": "multiclass", "data": {"train": "steps.csv", "target": "y", "columns": {"x": "numeric"},
  "split": {"method": "group", "column": "g"},
 "sequence": {"group": "g", "order": "t", "window": 8, "label": "row"}}, "model": {"preset": "gru", "hidden": [4]}, "train": {"epochs": 2},
 "backend": {"name": "dnn_cpu"}}
JSON
for seed in 1 2 3 4; do
    run dnn train s.json -o s.dnn --force --set data.split.seed=$seed --set data.split.valid=0.4 --set data.split.test=0.4
    is_exit 0 "tagging with one step of a label, seed $seed"
done
run dnn cv s.json
is_exit 0 "cv of tagging"
# --- several labels in a cell ---
lists() { # NAME, SEPARATOR, BEFORE, AFTER
    awk -v s="$2" -v a="$3" -v b="$4" 'BEGIN { n = split("news sport tech food", l, " "); print "x,tags"
        for (i = 0; i < 120; i++) printf "%d,\"%s%s%s%s\"\n", i * 7 % 11, a, l[1 + i % 4], (i % 5 < 3 ? s l[1 + (i + 1 + i % 3) % 4] : ""),
        b }' >l.csv
    run dnn init l.csv --target tags -o l.json --force
    is_exit 0
    "$5" 'cells of "tags" hold several labels' "init: $1"
    run dnn train l.json -o l.dnn --force --set model.preset=linear
    is_exit 0
    "$5" 'hold several labels' "train: $1"
}
lists "a|b" '|' '' '' err_has
lists "a;b" ';' '' '' err_has
lists "a, b" ', ' '' '' err_has
lists "['a', 'b']" "', '" "['" "']" err_has
lists "a b" ' ' '' '' err_lacks
awk 'BEGIN { split("Boston, MA;Austin, TX;Dallas, TX;Miami, FL;San Diego, CA", l, ";"); print "x,tags";
    for (i = 0; i < 120; i++) printf "%d,\"%s\"\n", i % 7, l[1 + i % 5] }' >l.csv
run dnn init l.csv --target tags -o l.json --force
is_exit 0
err_lacks 'several labels' "a comma inside a name is no list"
done_testing
