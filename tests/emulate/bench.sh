#!/bin/bash
# bench.sh - dnn bench on the emulated GPU: rows of both machines, and no claims. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BACKEND GPU_DEVICE_ID GPU_BATCH_SIZE DNN_TRAIN_GPU
run dnn bench --iterations 1 --size small --json
is_exit 0 "every row"
is "$(grep -o '"gpu_true":{"mean_time_ms"' out | wc -l)" "$(grep -cE '^(ROW|ALL|ONE|JOB)\([a-zA-Z]' "$ROOT/src/backend/ops.def" "$ROOT/src/run/jobs.def" | awk -F: '{ n += $2 } END { print n }')" "on the device too"
out_has '"device":"emulated"' "its name"
out_has '"emulated":true' "marked"
out_has '"performance_gains":{}' "no gain is claimed"
! grep -o '"gpu_true":{[^}]*}' out | grep -v '"success_rate":1,"percent_of_limit":null'
ok $? "and no share of a limit"
run dnn bench --iterations 1 --operation add --operation act
out_has "the device is emulated" "the table says so"
is "$(grep -cE '^(add|act) +(medium|large) +[0-9.e-]+ +[0-9]+ % +- *$' out)" 4 "larger rows are the CPU's alone"
run dnn bench --backend dnn_gpu --iterations 1 --operation add --size small --json
! grep -q gpu_false out && grep -q '"used":"dnn_gpu"' out
ok $? "dnn_gpu: that one alone"
run dnn bench --backend dnn_cpu --iterations 1 --operation add --size small --json
! grep -q gpu_true out && grep -q '"used":"dnn_cpu"' out
ok $? "dnn_cpu: that one alone"
DNN_EMULATE=devices:0:0 run dnn bench --iterations 1 --operation add --size small --json
is_exit 0 "no device: the CPU's rows"
out_has '"no_gpu":"' "and why"
DNN_EMULATE=break:5:719 run dnn bench --iterations 1 --size small
is_exit 81 "a card that breaks: 81"
done_testing
