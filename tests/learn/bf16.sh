#!/bin/bash
# bf16.sh - precision bf16 on a CPU: networks of every kind of product reach the score of fp32, with the same bytes for any threads,
# stopped and resumed or not. Answers are in fp32.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
# two channels of 24 steps; the label follows from where the first one peaks, and the sign of the second there
awk 'BEGIN { srand(3); printf "y"; for (t = 0; t < 24; t++) printf ",a%d,b%d", t, t; print ""
    for (i = 0; i < 1200; i++) { at = int(24 * rand()); s = rand() < 0.5 ? -1 : 1; printf "%s%s", at < 12 ? "early" : "late",
    s < 0 ? "_down" : "_up"
        for (t = 0; t < 24; t++) printf ",%.3f,%.3f", (t == at) * 2 + 0.4 * rand(), (t == at) * s + 0.4 * (rand() - 0.5);
        print "" } }' >s.csv
cat >s.json <<'JSON'
{"task": "multiclass", "data": {"train": "s.csv", "target": "y", "columns": {}, "sequence": {"wide": {"a": "a*", "b": "b*"}}},
 "model": {"layers": [{"type": "dense", "units": 32}, {"type": "pool"}]},
 "train": {"epochs": 12, "batch_size": 32, "optimizer": {"learning_rate": 0.005}, "checkpoint": {"every_s": 0, "keep": 3}},
 "backend": {"name": "dnn_cpu"}}
JSON
attention='{"type": "residual", "layers": [{"type": "layer_norm"}, {"type": "attention", "heads": 2}]}'
declare -A layers=([lstm]='{"type": "lstm", "units": 32}' [gru]='{"type": "gru", "units": 32}'
    [conv]='{"type": "position", "kind": "learned"}, {"type": "conv1d", "units": 32, "kernel": 5}, {"type": "relu"}, {"type": "conv1d",
    "units": 32, "kernel": 3, "dilation": 2, "causal": true}, {"type": "relu"}'
    [attention]='{"type": "position", "kind": "learned"}, '"$attention")
model_of() {
    echo 'model.layers=[{"type": "dense", "units": 32}, '"${layers[$1]}"', {"type": "pool", "kind": "max"}, {"type": "dense", "units": 32},
        {"type": "relu"}]'
}
train() { # KIND PRECISION MODEL [OPTIONS]
    dnn train s.json -o "$3" --force --json --progress none --set backend.precision="$2" --set "$(model_of "$1")" "${@:4}" >out 2>err
}
accuracy() { sed -n 's/.*"test":{[^}]*"accuracy":\([0-9.]*\).*/\1/p' out; }

# where the processor has none: a note, and fp32
DNN_BF16=none "$HOOKED" train s.json -o none.dnn --progress none --set train.epochs=1 --set backend.precision=bf16 2>err
ok $? "a processor without products in bf16 trains" "$(cat err)"
err_has 'backend.precision "bf16": this processor has no products in bf16; computing in fp32' "no products in bf16: a note says so"
"$HOOKED" inspect none.dnn 2>err | grep -q 'fp32 (requested bf16)'
ok $? "no products in bf16: the model says so"
train lstm tf32 m.dnn --set train.epochs=1
err_has 'backend.precision "tf32" is for GPUs; the CPU computes in fp32'

train lstm bf16 m.dnn --set train.epochs=1
if grep -qF 'this processor has no products in bf16' err; then
    skip "training in bf16" "this processor has no products in bf16"
    done_testing
fi
err_has "dnn_cpu: large products in bf16 (" "says which code serves"
dnn inspect m.dnn 2>err | grep -q ', bf16, with '
ok $? "the model says so" "$(dnn inspect m.dnn | grep trained)"
for kind in lstm gru conv attention; do
    train $kind fp32 f.dnn || ok 1 "$kind in fp32" "$(tail -n 3 err)"
    single=$(accuracy)
    train $kind bf16 one.dnn --threads 1 || ok 1 "$kind in bf16" "$(tail -n 3 err)"
    half=$(accuracy)
    awk -v a="$half" -v b="$single" 'BEGIN { exit !(a != "" && a > b - 0.03 && a > 0.85) }'
    ok $? "$kind: accuracy $half, beside $single in fp32"
    ! cmp -s <(dnn predict f.dnn s.csv 2>/dev/null) <(dnn predict one.dnn s.csv 2>/dev/null)
    ok $? "$kind: products are rounded"
    train $kind bf16 two.dnn --threads 2
    same one.dnn two.dnn "$kind: the same bytes with 1 and 2 threads"
    run dnn verify one.dnn
    is_exit 0 "$kind: its golden rows"
done
# killed and resumed, with another number of threads
train lstm bf16 whole.dnn --threads 1
DNN_FAULT=kill:rename:5 "$HOOKED" train s.json -o killed.dnn --force --progress none --set backend.precision=bf16 \
    --set "$(model_of lstm)" >/dev/null 2>&1 &
wait $! 2>/dev/null
ls killed.dnn.ckpt-* >/dev/null 2>&1
ok $? "a killed training leaves checkpoints"
train lstm bf16 killed.dnn --threads 2 --resume
err_has "resuming at step" "it is resumed"
same whole.dnn killed.dnn "resumed after a kill: the same bytes"
# each code by its name; a checkpoint names its own
for code in avx512_bf16 amx; do
    DNN_BF16=$code "$HOOKED" train s.json -o code.dnn --force --progress none --set backend.precision=bf16 --set train.epochs=1 >out 2>err
    grep -qF "large products in bf16 ($code)" err || { skip "$code" "this processor does not have it"; continue; }
    DNN_BF16=$code "$HOOKED" train s.json -o again.dnn --force --progress none --set backend.precision=bf16 --set train.epochs=1 \
        --threads 1 >out 2>err
    same code.dnn again.dnn "$code: the same bytes"
done
done_testing
