#!/bin/bash
# limits.sh - time limit, signals and memory where one penalty, or one pass over the rows, takes long: presets that are solved for
# with 500 classes, and (with NIGHTLY=yes) every preset with 500 classes and 10^6 rows. Bounds of time are wide: they tell seconds from minutes.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
export CUDA_VISIBLE_DEVICES=''
within() { # within MILLISECONDS: from $began to now
    local took=$(($(now_ms) - began))
    [ $took -lt "$1" ]
    ok $? "  in time" "$took ms"
}
ends() { # ends WHAT MODEL: SIGTERM ends the training $child soon, and no model is written
    began=$(now_ms)
    kill -TERM $child
    STATUS=0
    wait $child || STATUS=$?
    is_exit 75 "$1"
    within 8000
    [ ! -e "$2" ]
    ok $? "  writes no model"
}
CLASSES=500
ROWS=${ROWS:-6000}
awk -v n="$ROWS" -v k=$CLASSES 'BEGIN { OFS = ","; srand(3); print "a,b,c,d,y"
    for (i = 0; i < n; i++) { y = i % k; print sin(y) + rand(), sin(2 * y) + rand(), cos(3 * y) + rand(), rand(), "k" y } }' >many.csv
run dnn init many.csv --target y -o many.json --set model.preset=linear
is_exit 0 "500 classes, preset linear"
still="--progress none --force"

began=$(now_ms)
# shellcheck disable=SC2086
run dnn train many.json -o many.dnn --time-limit 0.4 --json $still
is_exit 0 "a time limit" "$(cat err)"
within 15000
out_has '"stopped":"time_limit"' "  is said"
# shellcheck disable=SC2086
run dnn train many.json -o none.dnn --time-limit 0.001 --json $still
is_exit 0 "a limit before the first class: a constant answer" "$(cat err)"
out_has '"epochs":1,"best_epoch":1,"stopped":"time_limit"' "  of one epoch"
# shellcheck disable=SC2086
run dnn train many.json -o none.dnn --time-limit 0.2 --json --set data.split.valid=0 $still
is_exit 0 "a limit without validation rows" "$(cat err)"
within 30000
out_has '"stopped":"time_limit"' "  is said"

"$DNN" train many.json -o killed.dnn --progress plain >out 2>err &
child=$!
for ((i = 0; i < 600; i++)); do grep -q '^dnn: epoch 2/' err && break || sleep 0.05; done
ends "SIGTERM inside a penalty" killed.dnn

# rows x classes in double, for answers and for their exponentials; the shares of the split leave 70 % to training
least=$((2 * 8 * CLASSES * ROWS * 6 / 10))
memory() { tr ',' '\n' <out | sed -n 's/.*"host_bytes"://p' | head -n 1; }
run dnn check many.json --json
[ "$(memory)" -gt $least ]
ok $? "check knows of rows x classes" "$(memory), at least $least"
run dnn check many.json --json --set ensemble.folds=2 --threads 1
[ "$(memory)" -gt $((least * 8 / 10)) ]
ok $? "also of folds" "$(memory)"

# of a night: each preset with 500 classes, and with 10^6 rows (judging 150,000 rows by 32 networks takes a minute)
big() { # big NAME: a time limit and SIGTERM with each preset
    local preset
    run dnn init "$1.csv" --target y -o "$1.json" --force
    for preset in auto linear mlp realmlp tabm; do
        began=$(now_ms)
        # shellcheck disable=SC2086
        run dnn train "$1.json" -o "$1.dnn" --set model.preset=$preset --time-limit 5 --json $still
        is_exit 0 "$1, $preset: a time limit" "$(cat err)"
        within 150000
        out_has '"stopped":"time_limit"' "  is said"
        rm -f "$1.dnn"
        "$DNN" train "$1.json" -o "$1.dnn" --set model.preset=$preset --progress none >out 2>err &
        child=$!
        sleep 5
        ends "$1, $preset: SIGTERM" "$1.dnn"
        rm -f "$1.dnn"*
    done
}
if [ "${NIGHTLY:-no}" = yes ]; then
    awk -v n=42000 -v k=$CLASSES 'BEGIN { OFS = ","; srand(3); print "a,b,c,d,y"
        for (i = 0; i < n; i++) { y = i % k; print sin(y) + rand(), sin(2 * y) + rand(), cos(3 * y) + rand(), rand(), "k" y } }' >classes.csv
    awk 'BEGIN { OFS = ","; srand(3); print "a,b,c,d,y"
        for (i = 0; i < 1000000; i++) { a = rand(); b = rand(); print a, b, "c" i % 7, rand(), (a + b + rand() > 1.5 ? "yes" : "no") } }' >rows.csv
    big classes
    big rows
fi
done_testing
