#!/bin/bash
# breaks.sh - a run that breaks (a loss, gradient or weight that is not finite) ends with the model of its best epoch; nothing else ends
# a run early. Ids: N01.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
cpu='"backend": {"name": "dnn_cpu", "threads": 1}'
make_data v.csv 600 value
make_config v.json v.csv regression '"epochs": 30, "early_stopping": {"patience": 0}' "$cpu"
fast='train.optimizer={"type":"sgd","learning_rate":2,"momentum":0.9}'
train() { run dnn train v.json --progress none "$@"; }
cliff() { train -o m.dnn --set train.schedule.warmup=0.9 --set "$fast" --json "$@"; } # the rate grows until the run breaks

# a perfect model whose gradients are tiny, and then some larger ones: no divergence
awk 'BEGIN { x = 12; print "f0,f1,f2,f3,y"; for (i = 0; i < 10000; i++) { r = ""; for (c = 0; c < 4; c++) {
    x = (x * 1103515245 + 12345) % 2147483648
    w[c] = sprintf("%c", 97 + int(x / 65536) % 8); r = r w[c] "," } print r (w[0] == "a" || (w[1] == "b" && w[2] == "c")) } }' >l.csv
run dnn init l.csv --target y --set model.preset=mlp -o l.json -q
run dnn train l.json --json --set train.optimizer.learning_rate=0.01 --set train.batch_size=64 --set train.epochs=80 \
    --set train.early_stopping.patience=0 --backend dnn_cpu
is_exit 0 "N01 a perfect model goes on to its end"
out_has '"stopped":"epochs"'
err_lacks "diverged" "without a word of divergence"
loss=$(sed -n 's/.*"valid":{[^}]*"logloss":\([-0-9.e+]*\).*/\1/p' out)
awk -v l="$loss" 'BEGIN { exit !(l != "" && l < 1e-5) }'
ok $? "no divergence: the loss is next to nothing: $loss"

for valid in 0.15 0; do
    rows=(--set "data.split.valid=$valid")
    rm -f m.*
    cliff "${rows[@]}" --set output.metrics=m.jsonl
    is_exit 0 "N01 some good epochs, then it breaks: exit 0 (validation rows: $valid)"
    out_has '"stopped":"diverged"'
    grep -q \
        'warning: training diverged: .* is not finite (epoch [0-9]*, step [0-9]*, learning rate .*; the model is that of epoch [0-9]*, the best before; lower train.optimizer.learning_rate (now 2), or set train.clip_norm' \
        err
    ok $? "N01 broken after good epochs: the warning says what to change" "$(cat err)"
    no_leftovers m.dnn "nothing but the model is left"
    best=$(sed -n 's/.*"best_epoch":\([0-9]*\).*/\1/p' out) want=$(digest m.dnn) lines=$(wc -l <m.jsonl)
    [ "$best" -ge 1 ] && [ "$best" -le "$lines" ]
    ok $? "epoch $best of $lines"
    rm m.dnn
    # the clock decides nothing: checkpoints at any time, killed anywhere, resumed
    cliff "${rows[@]}" --set output.metrics=m.jsonl --set train.checkpoint.every_s=0
    is "$STATUS $(digest m.dnn)" "0 $want" "the same bytes with a checkpoint each epoch"
    cliff "${rows[@]}" --set output.metrics=m.jsonl --set train.checkpoint.every_s=0.00001
    is "$STATUS $(digest m.dnn)" "0 $want" "the same bytes with a checkpoint every few steps"
    rm m.dnn
    for n in 3 $((lines - 1)) $((lines + 1)); do
        rm -f m.dnn*
        DNN_FAULT=kill:rename:$n "$HOOKED" train v.json -o m.dnn --progress none --set train.schedule.warmup=0.9 --set "$fast" \
            "${rows[@]}" --set output.metrics=m.jsonl --set train.checkpoint.every_s=0.00001 >/dev/null 2>&1 &
        wait $! 2>/dev/null
        ls m.dnn.ckpt-* >/dev/null 2>&1 || { ok 1 "killed at $n"; continue; }
        cliff "${rows[@]}" --set output.metrics=m.jsonl --resume
        is "$STATUS $(digest m.dnn)" "0 $want" "N01 killed at checkpoint $n and resumed: the same bytes"
    done
done

# no epoch better than a constant answer: 80, nothing written
rm -f m.dnn*
train -o m.dnn --set 'train.optimizer={"type":"sgd","learning_rate":1000,"momentum":0.9}' --set train.checkpoint.every_s=0.00001
is_exit 80 "N01 broken in the first epoch: 80"
err_has "no epoch had ended: nothing is written"
err_has "then start again"
is "$(find . -name 'm.dnn*')" "" "neither a model nor a checkpoint"
bad=(v.json -o m.dnn --progress none --set train.batch_size=512 --set train.checkpoint.every_s=0)
run dnn train "${bad[@]}" --set 'train.optimizer={"type":"sgd","learning_rate":8,"momentum":0.9}'
is_exit 80 "N01 broken after epochs that were worse than a constant: 80"
err_has "is no better than a constant answer"
is "$(find . -name 'm.dnn*')" "" "nothing is written"
run dnn train "${bad[@]}" --json --set 'train.optimizer={"type":"sgd","learning_rate":8,"momentum":0.9}'
out_has '"exit":80' "as JSON too"

# checkpoints that a run resumed from are not its own to delete
DNN_FAULT=kill:rename:2 "$HOOKED" train v.json -o m.dnn --progress none --set train.batch_size=8 --set train.checkpoint.every_s=0.00001 \
    --set train.optimizer.type=sgd --set train.optimizer.momentum=0.99 >/dev/null 2>&1 &
wait $! 2>/dev/null
found=$(ls m.dnn.ckpt-*)
train -o m.dnn --resume --set train.batch_size=8 --set train.checkpoint.keep=9 --set train.optimizer.type=sgd \
    --set train.optimizer.learning_rate=1000 --set train.optimizer.momentum=0.99
is_exit 80 "a resumed run that breaks"
err_has "without --resume"
is "$(ls m.dnn.ckpt-*)" "$found" "leaves the checkpoint that it found"
rm -f m.dnn*

# high losses and odd metrics end nothing
train -o m.dnn --set 'train.optimizer={"type":"adam","learning_rate":300}'
is_exit 0 "a loss far above a constant's, epoch after epoch, is no break"
err_has "no better than a constant answer" "a loss above a constant's is warned of"
(echo a,b,c,y; for i in $(seq 90); do echo "$((i % 2)),$((i % 3)),red,$((i == 9))"; done) >rare.csv
make_data d.csv 600
make_config p.json rare.csv binary '"epochs": 3, "optimizer": {"learning_rate": 0.1}, "early_stopping": {"metric": "precision",
    "patience": 0}' \
    "$cpu"
sed -i 's/"target"/"valid": "d.csv", &/; s/"batch_size": 64/"batch_size": 4/' p.json
run dnn train p.json -o p.dnn --json
is_exit 0 "N14 a metric that has no value after any epoch ends nothing"
out_has '"best_epoch":null'
err_has "the metric precision had no value after any epoch: the last epoch's weights are kept"
done_testing
