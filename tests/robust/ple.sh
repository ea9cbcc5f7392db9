#!/bin/bash
# ple.sh - piecewise-linear numbers through the whole program: train, predict, verify, resume and threads; defaults of
# "encoders", and what the resolved config and inspect say; errors with their place.
. "$(dirname "$0")/../tap.sh"
make_rows() { # FILE ROWS SEED [unlabelled]
    awk -v rows="$2" -v seed="$3" -v bare="${4:-}" '
        function next_of(n) { seed = (seed * 16807) % 2147483647; return int(seed / 2147483647 * n) }
        BEGIN {
            print "id,a,b,c,k" (bare ? "" : ",y")
            for (i = 1; i <= rows; i++) {
                a = next_of(4001) / 1000 - 2; b = next_of(5) ? "" next_of(100000) / 7 : ""; c = next_of(2)
                wave = int(a * 3 + 100) % 2
                printf "%d,%s,%s,%d,k%d", i, a, b, c, next_of(6)
                print bare ? "" : "," (wave + (b > 9000) > next_of(100) / 60 ? "yes" : "no")
            }
        }' >"$1"
}
make_rows train.csv 3000 5
make_rows ask.csv 400 17 bare
config() { # ENCODERS [COLUMNS]
    cat >c.json <<JSON
{"task": "binary",
 "data": {"train": "train.csv", "target": "y", "positive": "yes",
 "columns": {${2:-"\"id\": \"id\", \"a\": \"numeric\", \"b\": \"numeric\", \"c\": \"numeric\", \"k\": \"categorical\""}}},
 "encoders": $1,
 "model": {"preset": "mlp", "hidden": [24, 12]}, "train": {"epochs": 8, "batch_size": 64, "checkpoint": {"every_s": 0}},
 "backend": {"name": "dnn_cpu"}}
JSON
}
auc() { dnn train c.json -o "$1" --force --quiet --json 2>err | perl -ne 'print $1 if /"valid":\{"auc":([0-9.]+)/'; }
config '{"numeric": {}}'
plain=$(auc plain.dnn)
config '{"numeric": {"encode": ["plain", "ple"], "edges": "tree", "bins": 24}}'
both=$(auc m.dnn)
ok "$(perl -e 'print $ARGV[1] > $ARGV[0] + 0.05 ? 0 : 1' "${plain:-1}" "${both:-0}")" \
    "a wave is learned with bins, hardly without: auc $plain, $both"
run dnn verify m.dnn
is_exit 0 "verify"
for threads in 1 2 3; do
    dnn train c.json -o t$threads.dnn --threads $threads --quiet
done
ok "$(cmp -s t1.dnn t2.dnn && cmp -s t1.dnn t3.dnn; echo $?)" "1, 2 and 3 threads: the same model"
dnn predict m.dnn ask.csv --quiet -o all.csv
dnn predict m.dnn ask.csv --quiet --batch-size 7 --threads 3 -o parts.csv
ok "$(cmp -s all.csv parts.csv; echo $?)" "an answer does not depend on its batch"
(head -n 1 ask.csv; sed -n 31p ask.csv) >one.csv
dnn predict m.dnn one.csv --quiet | tail -n 1 >one
ok "$(sed -n 31p all.csv | cmp -s - one; echo $?)" "an answer does not depend on other rows"
printf 'id,a,b,c,k\n1,1e9,,0,k1\n2,-1e9,1e30,1,new\n' >far.csv
run dnn predict m.dnn far.csv --quiet
is_exit 0 "values beyond all edges, and missing ones"
ok "$(grep -qi nan out; [ $? = 1 ]; echo $?)" "have answers"
# stopped at the third checkpoint, and resumed
DNN_FAULT=kill:rename:3 "$HOOKED" train c.json -o r.dnn --quiet >/dev/null 2>&1 &
wait $! 2>/dev/null
ls r.dnn.ckpt-* >/dev/null 2>&1
ok $? "killed behind a checkpoint"
dnn train c.json -o r.dnn --resume --quiet
ok "$(cmp -s t1.dnn r.dnn; echo $?)" "resumed: the same model"
run dnn check c.json --resolved
is_exit 0 "check --resolved"
ok "$(grep -q '"edges": "tree"' out && grep -q '"bins": 24' out; echo $?)" "it says the encoders"
run dnn inspect m.dnn --json
ok "$(grep -q '"encode":\["plain","ple"\],"bins":' out; echo $?)" "inspect says the bins"
# a column's own entry wins; a number with two values stays plain
config '{"numeric": {"encode": "ple", "scale": "clip"}, "categorical": {"encode": "embedding", "dim": 2}}' \
    '"a": {"type": "numeric", "encode": "plain"}, "b": {"type": "numeric", "transform": "log1p"}, "c": "numeric", "k": "categorical"'
dnn train c.json -o own.dnn --quiet
run dnn inspect own.dnn --json
is "$(grep -o '"encode":\["ple"\]' out | wc -l)" 1 "one number has bins alone"
is "$(grep -o '"scale":"clip","impute"' out | wc -l)" 4 "the default scale of all three, and in the config"
ok "$(grep -q '"transform":"log1p"' out && grep -q '"encode":"embedding","dim":2' out; echo $?)" "transform, and the default of categories"
run dnn verify own.dnn
is_exit 0 "verify"
for bad in '{"numeric": {"encode": "plee"}}' '{"numeric": {"bins": 1}}' '{"numeric": {"edges": ["tree"]}}' '{"number": {}}' \
    '{"numeric": {"type": "numeric"}}'; do
    config "$bad"
    run dnn check c.json --quiet
    is_exit 78 "refused: $bad"
    ok "$(grep -q 'c.json:4:' err; echo $?)" "refused: $bad: file and line"
done
config '{"numeric": {}, "categorical": {}, "target_statistics": null}'
run dnn check c.json --quiet
is_exit 0 "target_statistics may be null"
done_testing
