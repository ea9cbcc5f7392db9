#!/bin/bash
# ways_back.sh - the ways back to the CPU that the README names, on a card that would serve. The third, make NVCC=, is in
# tests/robust/build.sh. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
make_data d.csv 200
make_config c.json d.csv binary '"epochs": 1'
used() { out_has "\"used\":\"$1\"" "$2"; }
run dnn train c.json --force -o gpu.dnn --json --set backend.train=dnn_gpu
used dnn_gpu "the config asks for the GPU, and has it"
MODEL_BACKEND=dnn run dnn train c.json --force -o cpu.dnn --json
is_exit 0 "MODEL_BACKEND=dnn"
used dnn_cpu "is the CPU"
err_has "dnn_cpu: Using CPU (GPU disabled)"
sed 's/"data":/"backend": {"name": "dnn_gpu"}, "data":/' c.json >gpu.json
MODEL_BACKEND=dnn run dnn train gpu.json --force -o cpu2.dnn --json
used dnn_cpu "MODEL_BACKEND=dnn wins over the config"
CUDA_VISIBLE_DEVICES='' run dnn train gpu.json --force -o hidden.dnn --json
is_exit 0 "CUDA_VISIBLE_DEVICES= hides the card"
used dnn_cpu "and the CPU serves"
err_has 'warning: dnn_gpu: requested but unavailable (no GPU is visible; CUDA_VISIBLE_DEVICES=""); using CPU' \
    "CUDA_VISIBLE_DEVICES= hides the card: a warning"
for model in cpu cpu2 hidden; do dnn predict $model.dnn d.csv -q --backend dnn_cpu -o $model.out; done
[ "$(wc -l <cpu.out)" -eq 201 ] && cmp cpu.out cpu2.out && cmp cpu.out hidden.out
ok $? "each way the same answers"
done_testing
