#!/bin/bash
# backends.sh - dnn_gpu and auto without a GPU; the CPU opens no GPU library. Ids: G01 G03 G08.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
. "$ROOT/tests/opens.sh"
export CUDA_VISIBLE_DEVICES='' # with a card too
make_data d.csv 200
make_config c.json d.csv binary '"epochs": 1'
run dnn train c.json -o m.dnn --json
is_exit 0 "G01 auto: the CPU"
err_lacks auto "no GPU on the machine: nothing is estimated, nothing said"
out_has '"cpu_s":' "the time is that of the training"
out_has '"gpu_s":null' "of a GPU there is none"
out_has '"reason":"no GPU is visible' "the reason is in the JSON"
err_lacks warning
out_has '"requested":"auto","used":"dnn_cpu"'
run dnn train c.json -o m.dnn --backend dnn_cpu
is_exit 0
err_has "dnn_cpu: Using CPU (GPU disabled)"
err_lacks "autotune" "the default of a key without effect is not named"
run dnn train c.json -o m.dnn --backend dnn_cpu --set backend.autotune=false
is_exit 0 "backend.autotune is accepted"
err_has "note: backend.autotune has no effect" "train says that backend.autotune has no effect"
run dnn train c.json -o m.dnn --backend dnn_cpu --set 'backend.guests=["cudnn"]'
is_exit 0 "backend.guests on a CPU"
err_has "note: for GPUs alone, without effect on the CPU: backend.guests" "it has no effect there, which is said"
for list in '["auto", "cudnn"]' '["all", "none"]'; do
    run dnn train c.json -o m.dnn --set "backend.guests=$list"
    is_exit 78 "backend.guests $list is refused"
    err_has 'stands alone, not in a list with others' "backend.guests $list: the reason"
done
run dnn check c.json --set backend.guests=cudn
is_exit 64 "an unknown library is refused"
err_has 'cudnn' "an unknown library: the nearest name is shown"
for word in dnn_gpu cuda cuda:0; do
    run dnn train c.json -o m.dnn --backend $word
    is_exit 0 "G01 --backend $word: the CPU, as backend.fallback says"
    err_has "warning: dnn_gpu: requested but unavailable (" "G01 --backend $word: a loud warning"
    rm m.dnn
    run dnn train c.json -o m.dnn --backend $word -q
    is "$(grep -c . err) $(grep -c 'warning: dnn_gpu: requested but unavailable (' err)" "1 1" \
        "--backend $word --quiet: one line, the warning"
    rm m.dnn
    run dnn train c.json -o m.dnn --backend $word --set backend.fallback=none
    is_exit 69 "G01 --backend $word, fallback none: 69"
    err_has 'error[E1801]'
    [ ! -e m.dnn ]
    ok $? "nothing is written"
done
for visible in "" -1 99 GPU-none; do
    CUDA_VISIBLE_DEVICES=$visible run dnn train c.json -o m.dnn --backend dnn_gpu --set backend.fallback=none
    is_exit 69 "G03 CUDA_VISIBLE_DEVICES=$visible: 69"
    grep -q -e "CUDA_VISIBLE_DEVICES=\"$visible\"" -e 'no CUDA driver' err
    ok $? "the variable is shown, where there is a driver that reads it" "$(cat err)"
done
GPU_BACKEND=rocm run dnn train c.json -o m.dnn --set backend.fallback=none
is_exit 69 "a kind that is not supported: 69"
grep -qE 'GPU_BACKEND "rocm" is not supported: this build has no kernels for AMD GPUs' err
ok $? "rocm: what is there of it" "$(cat err)"
GPU_BACKEND=mps run dnn train c.json -o m.dnn --set backend.fallback=none
is_exit 69 "mps: 69"
err_has 'GPU_BACKEND "mps" is not supported: this platform has no Metal' "mps: the reason is that there is no Metal"
GPU_BACKEND=rocm run dnn train c.json -o m.dnn --backend dnn_gpu
is_exit 0 "rocm with a fallback"
grep -q 'warning: dnn_gpu: requested but unavailable (GPU_BACKEND "rocm" is not supported' err
ok $? "is the CPU, with a warning" "$(cat err)"
GPU_BACKEND=cpu run dnn train c.json -o m.dnn --set backend.fallback=none --set backend.precision=auto
is_exit 0 "GPU_BACKEND=cpu: the CPU"
DNN_TRAIN_GPU=true run dnn train c.json -o m.dnn --set backend.fallback=none
is_exit 69 "DNN_TRAIN_GPU=true asks for the GPU"
MODEL_BACKEND=quantum run dnn train c.json -o m.dnn
is_exit 64 "MODEL_BACKEND that is no word: 64"
# tests/emulate/opens.sh asks the same of a program that has a GPU
stand_ins
for word in dnn_cpu auto; do opens_nothing "G08" $word c.json d.csv; done
if ! has_kernels; then # found or not, wanted or not: the program knows that it has none
    run dnn help gpu
    out_has "no GPU kernels (made without nvcc)" "help gpu says what is not there"
fi
# what a model says of fallback cannot be edited: the option that helps is named
run dnn train c.json -o strict.dnn --set backend.fallback=none --set train.epochs=1
run dnn predict strict.dnn d.csv --backend dnn_gpu -o x.out
is_exit 69 "predict with a model whose fallback is none"
err_has '--backend dnn_cpu' "the way out"
run dnn predict strict.dnn d.csv --backend dnn_cpu -o x.out
is_exit 0 "predict with --backend dnn_cpu as advised"
done_testing
