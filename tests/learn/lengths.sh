#!/bin/bash
# lengths.sh - sequences of many lengths: they learn, and give the same bytes with any threads and from a checkpoint inside an epoch,
# also with batches of like length, accumulated gradients and class weights; an answer has the same bytes in any batch.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
# the label tells which of two channels is larger at the first step; nine rows of ten have 2 to 9 steps, the others up to 48
rows_of() {
    awk -v rows="$1" -v seed="$2" 'BEGIN {
        srand(seed); printf "y"; for (t = 0; t < 48; t++) printf ",a_%d,b_%d", t, t; print ""
        for (i = 0; i < rows; i++) {
            n = 2 + int(rand() * 8); if (rand() < 0.1) n += int(rand() * 39); line = ""
            for (t = 0; t < 48; t++) {
                a = rand() - 0.5; b = rand() - 0.5; if (!t) y = a > b ? "left" : rand() < 0.3 ? "far" : "right"
                if (y == "far" && t == 1) b += 2
                line = line (t < n ? sprintf(",%.3f,%.3f", a, b) : ",,")
            }
            print y line
        } }'
}
rows_of 3000 1 >train.csv
rows_of 600 2 >test.csv
cat >c.json <<'JSON'
{"task": "multiclass", "data": {"train": "train.csv", "test": "test.csv", "target": "y", "columns": {},
   "sequence": {"wide": {"a": "a_*", "b": "b_*"}}},
 "model": {"preset": "gru", "hidden": [32]}, "backend": {"name": "dnn_cpu"},
 "train": {"epochs": 12, "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0.001, "keep": 1}}}
JSON
for by_length in false true; do
    run dnn train c.json -o one.dnn --force --progress none --json --threads 1 --set train.by_length=$by_length
    got=$(perl -ne 'print $1 if /"test":\{[^}]*"accuracy":([0-9.e-]+)/' out)
    awk -v a="$got" 'BEGIN { exit !(a > 0.93) }'
    ok $? "it learns what the first step tells, by_length $by_length: accuracy $got" "$(tail -n 3 err)"
done
same_bytes() { # same_bytes NAME [--set ...]: one thread and two, and a run that was killed inside an epoch
    local name=$1 at
    shift
    dnn train c.json -o one.dnn --force -q --threads 1 --set train.epochs=4 "$@"
    dnn train c.json -o two.dnn --force -q --threads 2 --set train.epochs=4 "$@"
    same one.dnn two.dnn "$name: the same bytes with one thread and with two"
    rm -f cut.dnn*
    DNN_FAULT=kill:rename:3 "$HOOKED" train c.json -o cut.dnn -q --set train.epochs=4 "$@" >/dev/null 2>&1 &
    wait $! 2>/dev/null
    at=$(find . -name 'cut.dnn.ckpt-*')
    at=$((10#${at##*-}))
    [ "$at" -gt 0 ] && [ $((at % $(steps_of "$@"))) -ne 0 ]
    ok $? "$name: killed inside an epoch, at step $at"
    dnn train c.json -o cut.dnn --resume -q --set train.epochs=4 "$@"
    same one.dnn cut.dnn "$name: the same bytes from there"
}
# steps of an epoch, as the lines of metrics count them
steps_of() {
    rm -f lines
    dnn train c.json -o steps.dnn --force -q --set train.epochs=1 --set output.metrics=lines "$@"
    perl -ne 'print $1 if /"step":(\d+)/' lines
}
same_bytes "steps"
same_bytes "accumulated gradients" --set train.by_length=true --set train.grad_accumulation=3
same_bytes "class weights" --set train.by_length=true --set train.loss.class_weights=balanced
# each row alone, and beside the longest
dnn predict one.dnn test.csv >all.csv
{ head -n 1 test.csv; sed -n 2,9p test.csv; } >few.csv
dnn predict one.dnn few.csv >few.out
same few.out <(head -n 9 all.csv) "an answer has the same bytes in another batch"
dnn predict one.dnn test.csv --threads 2 >two.csv
same all.csv two.csv "an answer has the same bytes with two threads"
# a text as tokens, and groups of rows
awk 'BEGIN { srand(4); print "text,y"; for (i = 0; i < 1500; i++) { n = 1 + int(rand() * 9) + (rand() < 0.1) * int(rand() * 50)
    line = y = ""; for (t = 0; t < n; t++) { w = "w" int(rand() * 30); if (rand() < 0.1 && !y) { w = "key"; y = "yes" } line = line w " " }
    print line "," (y ? y : "no") } }' >text.csv
cat >t.json <<'JSON'
{"task": "binary", "data": {"train": "text.csv", "target": "y", "columns": {"text": {"type": "text", "encode": "tokens"}}},
 "model": {"preset": "transformer", "blocks": 1, "dim": 16}, "backend": {"name": "dnn_cpu"}, "train": {"epochs": 8}}
JSON
awk 'BEGIN { srand(6); print "g,t,x,y"; for (g = 0; g < 500; g++) { n = 2 + int(rand() * 6) + (rand() < 0.1) * int(rand() * 40); s = 0
    for (t = 0; t < n; t++) { x = rand() - 0.5; s += x; printf "%d,%d,%.3f,%d\n", g, t, x, (s > 0) } } }' >groups.csv
cat >g.json <<'JSON'
{"task": "tagging", "data": {"train": "groups.csv", "target": "y", "columns": {"g": "id", "t": "id", "x": "numeric"},
   "sequence": {"group": "g", "order": "t", "window": 48}},
 "model": {"preset": "lstm", "hidden": [16]}, "backend": {"name": "dnn_cpu"}, "train": {"epochs": 15}}
JSON
for config in t g; do
    run dnn train $config.json -o one.dnn --force --progress none --json --threads 1 --set train.by_length=true
    got=$(perl -ne 'print $1 if /"test":\{[^}]*"accuracy":([0-9.e-]+)/' out)
    awk -v a="$got" 'BEGIN { exit !(a > 0.9) }'
    ok $? "$config: accuracy $got" "$(tail -n 3 err)"
    dnn train $config.json -o two.dnn --force -q --threads 2 --set train.by_length=true
    same one.dnn two.dnn "$config: the same bytes with one thread and with two"
done
done_testing
