#!/bin/bash
# stream.sh - a table for which the GPU has no room: its rows pass through in parts, copied while others are computed on, and the
# model is the same bytes as where they lie there; the steps of the ladder before and behind. Ids: G06. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE GPU_MEMORY_LIMIT_GB
make_data d.csv 9000
make_config c.json d.csv binary '"epochs": 3, "checkpoint": {"every_s": 0, "keep": 3}' '"backend": {"name": "dnn_gpu", "fallback": "none"}'
sed 's/"none"/"cpu"/' c.json >f.json
dnn train c.json --force -o there.dnn --progress none --quiet
dnn predict there.dnn d.csv --quiet >there.csv
for order in 0 1 2 3; do
    run env DNN_EMULATE=devices:1:250000,hide,report,order:$order "$DNN" train c.json --force -o s.dnn --progress none --json
    is_exit 0 "too large a table, in order $order"
    err_has "dnn_gpu: out of memory; data streamed (" "too large a table, in order $order: one line says that data are streamed"
    err_has " 0 findings, 0 left" "too large a table, in order $order: no finding"
    same s.dnn there.dnn "the same bytes"
done
is "$(grep -c 'out of memory' err)" 1 "said once"
peak=$(sed -n 's/.*"device_peak_bytes":\([0-9]*\).*/\1/p' out)
[ "$peak" -le 225000 ]
ok $? "within what it may have: $peak"
run env DNN_EMULATE=devices:1:250000 "$DNN" check c.json --json
told=$(sed -n 's/.*"device_bytes":\([0-9]*\).*/\1/p' out)
[ $((10 * told)) -ge $((9 * peak)) ] && [ $((10 * told)) -le $((11 * peak)) ]
ok $? "check tells $told, the device held $peak"
allocations() { DNN_EMULATE=devices:1:250000,report dnn train c.json --force -o x.dnn --progress none \
    --set train.epochs="$1" 2>&1 >/dev/null |
    sed -n 's/^emulated: .* \([0-9]*\) allocations.*/\1/p'; }
is "$(allocations 4)" "$(allocations 2)" "nothing is allocated once the steps run"

# evaluation, batch_norm and an odd batch pass through as well
layers='"layers": [{"type": "dense", "units": 16}, {"type": "batch_norm"}, {"type": "relu"}, {"type": "dropout", "p": 0.2}]'
sed "s/\"preset\": \"mlp\", \"hidden\": \[16, 8\]/$layers/; s/\"batch_size\": 64/\"batch_size\": 37, \"grad_accumulation\": 2/" \
    c.json >l.json
dnn train l.json --force -o l.dnn --progress none --quiet
run env DNN_EMULATE=devices:1:250000 "$DNN" train l.json --force -o m.dnn --progress none
err_has "data streamed" "batch_norm, dropout, 37 rows twice a step"
same m.dnn l.dnn "the same bytes"

# the ladder: the table stays beside micro-batches that are halved, down to 32 rows; then it passes through, beside whole ones or,
# where those have no room either, halved ones; then the CPU
ladder() { # BYTES MICRO-BATCH|- STREAMED(0|1)
    run env DNN_EMULATE=devices:1:"$1" "$DNN" train c.json --force -o s.dnn --progress none --set train.batch_size=1024 --set train.epochs=1
    [ $STATUS -eq 0 ] && [ "$(sed -n 's/.*out of memory; micro-batch 1024 -> //p' err)" = "${2#-}" ] &&
        [ "$(grep -c 'out of memory; data streamed' err)" -eq "$3" ]
    ok $? "$1 bytes: micro-batch ${2/-/1024}, streamed $3" "exit $STATUS: $(cat err)"
}
ladder 1100000 - 0
ladder 1000000 512 0
ladder 600000 256 0
ladder 416000 32 0
ladder 350000 256 1
ladder 224000 32 1
run env DNN_EMULATE=devices:1:350000 "$DNN" train c.json --force -o s.dnn --progress none --set train.batch_size=256 --set train.epochs=1
! grep -q 'micro-batch' err && grep -q 'data streamed' err
ok $? "350000 bytes: streamed alone where whole micro-batches have room so" "$(cat err)"
run env DNN_EMULATE=devices:1:250000 "$DNN" train l.json --force -o s.dnn --progress none
is "$(grep -o 'batch_norm takes its.*\|data streamed' err | tr '\n' ';')" \
    "batch_norm takes its statistics over the micro-batch of 37 rows, which is not halved;data streamed;" \
    "batch_norm goes without the first rung, and says so"
for bytes in 1000000 400000 350000; do
    export DNN_EMULATE=devices:1:$bytes
    most=$(dnn check c.json --json --set train.batch_size=1024 2>/dev/null | sed 's/.*"largest_batch":{"train":\([0-9]*\).*/\1/')
    run dnn train c.json --force -o s.dnn --progress none --set train.batch_size="$most" --set train.epochs=1
    [ $STATUS -eq 0 ] && ! grep -q 'micro-batch' err
    ok $? "$bytes bytes: the largest batch that check names, $most, fits" "exit $STATUS: $(cat err)"
    run dnn train c.json --force -o s.dnn --progress none --set train.batch_size=$((2 * most)) --set train.epochs=1
    err_has "micro-batch $((2 * most)) -> " "twice as many do not"
    unset DNN_EMULATE
done
run env DNN_EMULATE=devices:1:160000 "$DNN" train c.json --force -o s.dnn --progress none --set train.batch_size=256
is_exit 0 "little room"
err_has "dnn_gpu: out of memory; micro-batch 256 -> " "micro-batches are halved"
err_has "dnn_gpu: out of memory; data streamed (" "little room: data are streamed"
run env DNN_EMULATE=devices:1:20000 "$DNN" train f.json --force -o s.dnn --progress none
is_exit 0 "no room for anything"
is "$(grep -c 'warning:' err)" 1 "the CPU, with one warning"
run env DNN_EMULATE=devices:1:20000 "$DNN" train c.json --force -o s.dnn --progress none
is_exit 75 "or 75"
dnn train c.json --force -o cpu.dnn --progress none --quiet --backend dnn_cpu

# stopped and gone on, failed and gone on
rm -f s.dnn*
calls=$(DNN_EMULATE=devices:1:250000,report dnn train c.json --force -o x.dnn --progress none 2>&1 >/dev/null |
    sed -n 's/^emulated: \([0-9]*\) calls.*/\1/p')
run env DNN_EMULATE=devices:1:250000,any:$((calls * 2 / 3)):719,report "$DNN" train c.json --force -o s.dnn --progress none
is_exit 81 "a fault in the middle"
run env DNN_EMULATE=devices:1:250000 "$DNN" train c.json --force -o s.dnn --progress none --resume
is_exit 0 "gone on"
same s.dnn there.dnn "to the same bytes"
for n in 3 5 7 9 11; do
    run env DNN_EMULATE=devices:1:250000,any:$((calls * n / 17)):700,report "$DNN" train f.json --force -o s.dnn --progress none
    [ $STATUS -eq 0 ] && [ "$(grep 'warning:' err | grep -vc 'less than 4 GiB')" -eq 1 ]
    ok $? "G09 a fault at call $((calls * n / 14)) while data stream: the CPU" "exit $STATUS: $(cat err)"
done

# answers come through the same ring, whatever room there is
for order in 0 1 2 3; do
    run env DNN_EMULATE=hide,report,order:$order "$DNN" predict there.dnn d.csv
    err_has " 0 findings, 0 left" "answers in order $order: nothing wrong"
    same out there.csv "answers in order $order: the same bytes"
done
run env DNN_EMULATE=devices:1:200000 "$DNN" predict there.dnn d.csv
same out there.csv "answers with little room: the same bytes"
done_testing
