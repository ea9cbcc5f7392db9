#!/bin/bash
# bench.sh - dnn bench on the emulated GPU: rows of both machines, and no claims. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BACKEND GPU_DEVICE_ID GPU_BATCH_SIZE DNN_TRAIN_GPU
# in parts: on a busy machine the time of one benchmark is not enough for all rows
mapfile -t rows < <(sed -nE 's/^(ROW|ALL|ONE)\(([a-z0-9_]+).*/\2/p; s/^JOB\([A-Z]+, *([a-z]+),.*/\1/p' "$ROOT/src/backend/ops.def" \
    "$ROOT/src/config/jobs.def")
bad="" there=0
for ((i = 0; i < ${#rows[@]}; i += 20)); do
    # shellcheck disable=SC2046 # an option a row
    run dnn bench --iterations 1 --size small --json $(printf -- '--operation %s ' "${rows[@]:i:20}")
    [ $STATUS -eq 0 ] || bad+="exit $STATUS: $(cat err); "
    there=$((there + $(grep -o '"gpu_true":{"mean_time_ms"' out | wc -l)))
done
[ -z "$bad" ]
ok $? "every row" "$bad"
is "$there" "${#rows[@]}" "on the device too"
run dnn bench --iterations 1 --size small --json
out_has '"device":"emulated"' "its name"
out_has '"emulated":true' "marked"
out_has '"performance_gains":{}' "no gain is claimed"
! grep -o '"gpu_true":{"mean[^}]*}' out | grep -v '"success_rate":1,"percent_of_limit":null'
ok $? "no share of a limit is told"
out_has '"linear":{"train":{"gpu_true":{"path":"fused","operations":7,"pieces":3,"longest":4,"stacks":true}' "a small stack is one piece"
run dnn bench --iterations 1 --operation add --operation act
out_has "the device is emulated" "the table says so"
is "$(grep -cE '^(add|act) +(medium|large) +[0-9.e-]+ +[0-9]+ % +- *$' out)" 4 "larger rows are the CPU's alone"
awk 'BEGIN {srand(1); for (i = 0; i < 30; i++) printf "x%d,", i; print "y"
    for (r = 0; r < 60; r++) {for (i = 0; i < 30; i++) printf "%.3f,", rand(); print r % 2 ? "p" : "q"}}' >wide.csv
run dnn init wide.csv --target y -o wide.json --quiet --set model.preset=linear
run dnn train wide.json -o wide.dnn --quiet --backend dnn_cpu
run dnn bench wide.dnn --iterations 1 --size small --json
is_exit 0 "a model of 30 columns" "$(cat err)"
out_lacks '"train_lstm' "of a model its own jobs alone"
run dnn bench --backend dnn_gpu --iterations 1 --operation add --size small --json
! grep -q gpu_false out && grep -q '"used":"dnn_gpu"' out
ok $? "dnn_gpu: that one alone"
run dnn bench --backend dnn_cpu --iterations 1 --operation add --size small --json
! grep -q gpu_true out && grep -q '"used":"dnn_cpu"' out
ok $? "dnn_cpu: that one alone"
# what a training runs is timed: large activations in 16 bits, each against the limit of its arithmetic
run dnn bench --backend dnn_gpu --iterations 1 --operation dense --operation act_back --operation gather --size small -v
err_has "bench: dense 256 x 128 -> 128, kind 1, flags 8, bf16, beside the limit of bf16" "a large product, of bf16 kept as bf16"
err_has "bench: act_back 256 x 128, kind 3, bf16, beside the limit of fp32" "what is no product is computed in fp32"
err_has "bench: gather 256 x 32 -> 3, kind 2, flags 20, beside the limit of fp32" "what comes from records is fp32"
run dnn bench --backend dnn_gpu --iterations 1 --operation dense --size small --batch-size 1 -v
err_has "bench: dense 1 x 128 -> 128, kind 1, flags 8, beside the limit of fp32" "a small product is one of fp32"
# answers come as in predict: in its batches, kept on the device until all are there
for job in predict evaluate; do
    run dnn bench --iterations 5 --operation $job --size small -v
    err_has "bench: answers of 256 rows: in batches of 1024, of whose answers the device keeps 4096" "$job on the device"
    err_has "bench: answers of 256 rows: in batches of 1024, of whose answers the device keeps 0" "$job on the CPU"
    run dnn bench --backend dnn_gpu --iterations 5 --operation $job --size small --batch-size 100 -v
    err_has "bench: answers of 100 rows: in batches of 100, of whose answers the device keeps 4096" "or in those that are asked for"
done
DNN_EMULATE=devices:0:0 run dnn bench --iterations 1 --operation add --size small --json
is_exit 0 "no device: the CPU's rows"
out_has '"no_gpu":"' "no device: the reason"
DNN_EMULATE=break:5:719 run dnn bench --iterations 1 --size small
is_exit 81 "a card that breaks: 81"
done_testing
