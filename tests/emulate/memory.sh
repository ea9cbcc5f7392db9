#!/bin/bash
# memory.sh - what a GPU's memory is asked for: the summary, the journal and check tell it, the limits are kept to, nothing is
# allocated once the steps run, little room and small cards are warned of. Ids: G06 G07 G14. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE GPU_MEMORY_LIMIT_GB
number() { sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p" "$1" | tail -n 1; } # number FILE KEY: the last on the last line
device_of() { grep -o "\"$2\":{[^}]*}" "$1" | tail -n 1 | sed -n "s/.*\"$3\":\([0-9]*\).*/\1/p"; }
make_data d.csv 1200
make_config c.json d.csv binary '"epochs": 2, "early_stopping": {"patience": 0}' \
    '"backend": {"name": "dnn_gpu", "fallback": "none", "precision": "fp32"}, "output": {"metrics": "m.jsonl"}'
sed 's/"none"/"cpu"/' c.json >f.json

# --- what is told ---
run dnn train c.json --force -o m.dnn --progress none --json
is_exit 0 "a training"
is "$(grep -c warning: err)" 1 "the card is small, which is warned of once"
for key in host_peak_bytes device_allocated_bytes device_peak_bytes device_free_bytes; do
    [ "$(device_of out memory $key)" -gt 0 ]
    ok $? "$key in the summary" "$(cat out)"
    [ "$(device_of m.jsonl memory $key)" -gt 0 ]
    ok $? "$key in the journal" "$(tail -n 1 m.jsonl)"
done
run dnn predict m.dnn d.csv -o p.csv --json
[ "$(device_of out memory device_peak_bytes)" -gt 0 ]
ok $? "device_peak_bytes in the summary of predict" "$(cat out)"
run dnn predict m.dnn d.csv -o p.csv --json --backend dnn_cpu
is "$(device_of out memory device_peak_bytes)" 0 "0 on the CPU"

# --- check: within 10 % of what was taken ---
layers='"layers": [{"type": "dense", "units": 64}, {"type": "batch_norm"}, {"type": "gelu"}, {"type": "dropout", "p": 0.2},
  {"type": "residual", "layers": [{"type": "layer_norm"}, {"type": "dense", "units": 64}, {"type": "silu"}]}]'
sed "s/\"preset\": \"mlp\", \"hidden\": \[16, 8\]/${layers//$'\n'/}/" c.json >layers.json
sed 's/\[16, 8\]/[96, 64]/' c.json >wide.json
sed 's/"batch_size": 64/"batch_size": 2000/' wide.json >batch.json
sed 's/"epochs": 2/"epochs": 1, "grad_accumulation": 3, "optimizer": {"type": "sgd"}/' wide.json >sgd.json
sed 's/"precision": "fp32"/"precision": "bf16"/' batch.json >batch16.json
sed 's/"precision": "fp32"/"precision": "bf16"/; s/"batch_size": 64/"batch_size": 400/' layers.json >layers16.json
sed 's/"precision": "bf16"/"precision": "fp16"/' layers16.json >layers16f.json
close() { [ $((100 * ${1:-0})) -ge $((90 * ${2:-1})) ] && [ $((100 * ${1:-0})) -le $((110 * ${2:-1})) ]; } # within 10 %
# foretold NAME [SETTING]: of NAME.json; what the card held, and for what, it counts as it is taken
foretold() {
    local kind took told sum=0 name=$1
    shift
    run dnn check "$name.json" --json "$@"
    cp out told
    dnn train "$name.json" --force -o x.dnn --progress none --json -v --set train.epochs=1 "$@" >out 2>held
    for kind in weights state activations data; do
        told=$(device_of told device_by_kind $kind)
        took=$(sed -n "s/.* at most [0-9]* bytes of GPU 0 were taken:.* $kind \([0-9]*\).*/\1/p" held)
        check "$name: check tells $told of $kind, the device held $took" close "$told" "$took"
        sum=$((sum + told))
    done
    told=$(number told device_bytes)
    is $sum "$told" "$name: the kinds are all of it"
    took=$(device_of out memory device_peak_bytes)
    check "$name: check tells $told, the device held $took" close "$told" "$took"
}
for name in c layers wide batch sgd batch16 layers16 layers16f; do foretold $name; done
make_data big.csv 9000
sed 's/d\.csv/big.csv/; s/"batch_size": 64/"batch_size": 256/' c.json >big.json
foretold big --set data.split.method=random --set data.split.test=0.4
DNN_EMULATE=devices:1:320000 foretold big
grep -q 'data streamed' held
ok $? "the last of which streamed" "$(cat held)"
acts() {
    dnn check "$1.json" --json --set backend.precision="$2" 2>/dev/null | tail -n 1 >acts.json
    device_of acts.json device_by_kind activations
}
[ $((100 * $(acts layers16 bf16))) -lt $((70 * $(acts layers16 fp32))) ]
ok $? "activations and their gradients in bf16 take much less" "$(acts layers16 bf16) of $(acts layers16 fp32)"
run dnn check wide.json
out_has "device      " "for readers as well"
grep -q '^device .*at most (weights .*, state .*, activations .*, data .*)$' out
ok $? "by kind" "$(cat out)"
run dnn check wide.json --backend dnn_cpu
is_exit 0
! grep -q '^device' out
after_exit $? "check on the CPU: no line of a device"

# --- the largest batch that fits: a training and a prediction of it are not halved, of a few percent more are ---
most_of() { sed 's/.*"largest_batch":{"train":\([0-9]*\),"predict":\([0-9]*\)}.*/\'"$1/" told; }
largest() { # largest NAME BYTES [SETTING]: of NAME.json on a device of so many bytes
    local name=$1 most above lines
    export DNN_EMULATE=devices:1:$2
    shift 2
    dnn check "$name.json" --json "$@" 2>/dev/null | tail -n 1 >told
    most=$(most_of 1) above=$(($(most_of 1) * 103 / 100 + 1))
    run dnn train "$name.json" --force -o x.dnn --progress none --set train.epochs=1 --set train.batch_size="$most" "$@"
    [ $STATUS -eq 0 ] && ! grep -q 'out of memory; micro-batch' err
    ok $? "$name: $most rows are trained on as they are" "exit $STATUS: $(cat err)"
    run dnn train "$name.json" --force -o x.dnn --progress none --set train.epochs=1 --set train.batch_size="$above" "$@"
    is_exit 0 "$above"
    err_has "dnn_gpu: out of memory; micro-batch $above -> $(((above + 1) / 2))" "are halved"
    lines=$(dnn check "$name.json" --json "$@" --set train.batch_size="$most" 2>/dev/null | tail -n 1 | tee told | wc -l)
    is "$lines $(most_of 1)" "1 $most" "check of that batch says the same"
    most=$(most_of 2)
    run dnn predict x.dnn d.csv --batch-size "$most" -o p.csv
    [ $STATUS -eq 0 ] && ! grep -q 'out of memory' err
    ok $? "predict: $most fit" "exit $STATUS: $(cat err)"
    run dnn predict x.dnn d.csv --batch-size $((most * 103 / 100 + 1)) -o p.csv
    err_has "dnn_gpu: out of memory; batch" "more are halved"
    unset DNN_EMULATE
}
largest wide 1500000
largest sgd 1000000
largest batch16 1500000 --set backend.memory_fraction=0.6
DNN_EMULATE=devices:1:1500000 GPU_BATCH_SIZE=100 dnn check wide.json --json 2>/dev/null | tail -n 1 >told
is "$(most_of 1)" 65536 "GPU_BATCH_SIZE: micro-batches are small, and any batch fits"

# --- the limits are kept to ---
whole=$(dnn train batch.json --force -o x.dnn --progress none --json 2>/dev/null | tail -n 1 >w.json; device_of w.json \
    memory device_peak_bytes)
for share in 95 80; do
    limit=$(awk "BEGIN { printf \"%.9f\", $whole * $share / 100 / 1073741824 }")
    bytes=$((whole * share / 100))
    run dnn train batch.json --force -o x.dnn --progress none --json --set backend.memory_limit_gb="$limit"
    took=$(device_of out memory device_peak_bytes)
    [ $STATUS -eq 0 ] && [ "$took" -le $bytes ] && grep -q "out of memory" err
    ok $? "G06 backend.memory_limit_gb: $took of $bytes bytes" "exit $STATUS: $(cat err)"
    run env GPU_MEMORY_LIMIT_GB="$limit" "$DNN" train batch.json --force -o x.dnn --progress none --json
    took=$(device_of out memory device_peak_bytes)
    [ $STATUS -eq 0 ] && [ "$took" -le $bytes ]
    ok $? "G06 GPU_MEMORY_LIMIT_GB: the same" "exit $STATUS: $(cat err)"
done
run env DNN_EMULATE=devices:1:20000000 "$DNN" train batch.json --force -o x.dnn --progress none --json --set backend.memory_fraction=0.2
took=$(device_of out memory device_peak_bytes)
[ $STATUS -eq 0 ] && [ "$took" -le 4000000 ]
ok $? "G06 backend.memory_fraction: $took of 4000000 bytes" "exit $STATUS: $(cat err)"
run dnn train c.json --force -o x.dnn --progress none --set backend.memory_limit_gb=0.00001
is_exit 75 "G06 too small a limit: 75"
err_has "error[E1804]" "E1804"
err_has "within backend.memory_limit_gb and memory_fraction" "G06 says by what"
run dnn train f.json --force -o x.dnn --progress none --set backend.memory_limit_gb=0.00001
is_exit 0 "or the CPU"
run env GPU_BATCH_SIZE=100 "$DNN" check batch.json --json
small=$(device_of out device_by_kind activations)
run dnn check batch.json --json
[ "$small" -lt "$(device_of out device_by_kind activations)" ]
ok $? "GPU_BATCH_SIZE: micro-batches of that size" "$small"
run env GPU_BATCH_SIZE=100 "$DNN" predict m.dnn d.csv -o p100.csv --json
took=$(device_of out memory device_peak_bytes)
run env GPU_BATCH_SIZE=1000 "$DNN" predict m.dnn d.csv -o p1000.csv --json
[ "$took" -lt "$(device_of out memory device_peak_bytes)" ] && cmp -s p100.csv p1000.csv
ok $? "GPU_BATCH_SIZE: smaller batches of a prediction, the same answers"

# --- nothing is allocated once the steps run ---
allocations() { DNN_EMULATE=report dnn train c.json --force -o x.dnn --progress none --set train.epochs="$1" 2>&1 >/dev/null |
    sed -n 's/^emulated: .* \([0-9]*\) allocations.*/\1/p'; }
two=$(allocations 2)
[ "${two:-0}" -gt 10 ]
ok $? "allocations are counted: $two"
is "$(allocations 6)" "$two" "G07 four epochs more, and not one more of them"

# --- warnings ---
run env DNN_EMULATE=devices:1:3000000000 "$DNN" train c.json --force -o x.dnn --progress none
err_has "warning: dnn_gpu: GPU 0 has 2.8 GiB of memory, less than 4 GiB" "a small card, as a slice of one is (G14), is warned of"
is "$(grep -c warning: err)" 1 "once"
run dnn train wide.json --force -o x.dnn --progress none --json
free=$(($(device_of out memory device_peak_bytes) * 100 / 85))
run env DNN_EMULATE=devices:1:$free "$DNN" train wide.json --force -o x.dnn --progress none --set backend.memory_fraction=1
grep -q 'warning: dnn_gpu: 8[0-9] % of the memory of GPU 0 is in use' err
ok $? "80 % of the card's memory in use: a warning" "$(cat err)"
is "$(grep -c warning: err)" 1 "once"
done_testing
