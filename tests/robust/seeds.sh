#!/bin/bash
# seeds.sh - the shell lines of the five programs whose GPU support dnn takes over, with dnn's name put in: each ends with 0 or its
# documented code. 000: MODEL_BACKEND and a GPU check. 001: GPU for predictions only. 002: detection. 003: the environment of a service
# and its benchmark. 004: devices, precision, small memory.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 300
make_leads_config leads.json leads.csv
sed -i 's/"name": "dnn_cpu", //' leads.json
# allowed NAME CODES: the last command ended with one of them
allowed() { case " $2 " in *" $STATUS "*) ok 0 "$1" ;; *) ok 1 "$1" "exit $STATUS, expected $2: $(head -n 5 err)" ;; esac; }

# 000: a readiness check, three backends, the words in the log, the emergency switch
run dnn gpucheck
allowed "000 scripts/check_tensorflow_gpu.py: dnn gpucheck" "0 69 75"
MODEL_BACKEND=dnn_cpu run dnn train leads.json -o leads.dnn --progress none
is_exit 0 "000 MODEL_BACKEND=dnn_cpu"
grep -qF 'Using CPU (GPU disabled)' err
ok $? "000 the log has 'Using CPU (GPU disabled)'" "$(cat err)"
MODEL_BACKEND=dnn run dnn train leads.json -o leads.dnn --progress none
is_exit 0 "000 MODEL_BACKEND=dnn, the old word"
grep -qF 'Using CPU (GPU disabled)' err
ok $? "000 is the CPU" "$(cat err)"
MODEL_BACKEND=dnn_gpu run dnn train leads.json -o leads.dnn --progress none
is_exit 0 "000 MODEL_BACKEND=dnn_gpu, with a GPU or without"
grep -qF -e 'GPU acceleration' -e 'dnn_gpu: requested but unavailable' err
ok $? "000 the log says 'GPU acceleration', or warns that there is none" "$(cat err)"
CUDA_VISIBLE_DEVICES="" MODEL_BACKEND=dnn run dnn train leads.json -o leads.dnn --progress none
is_exit 0 "000 CUDA_VISIBLE_DEVICES= MODEL_BACKEND=dnn"

# 001: train on the CPU, predict on the GPU where there is one
DNN_TRAIN_GPU=false DNN_PREDICT_GPU=true run dnn train leads.json -o leads.dnn --progress none
is_exit 0 "001 hybrid: training on the CPU"
DNN_PREDICT_GPU=true run dnn predict leads.dnn leads.csv -o answers.csv --batch-size 128 --verbosity 2
is_exit 0 "001 hybrid: prediction with use_gpu_in_udf, prediction_batch_size 128, verbosity 2"
run dnn predict leads.dnn leads.csv -o answers.csv --backend dnn_cpu -q
is_exit 0 "001 the default: CPU only"
err_empty "001 and quiet"

# 002: detection, monitoring
run dnn gpucheck --format spark
is_exit 0 "002 GPU resources of a cluster"
run dnn --version --json
is_exit 0 "002 what is detected"
CUDA_VISIBLE_DEVICES=0 run dnn train leads.json -o leads.dnn --progress none --set output.metrics=epochs.jsonl
is_exit 0 "002 CUDA_VISIBLE_DEVICES=0"
grep -q '"device_peak_bytes"\|"host_peak_bytes"' epochs.jsonl
ok $? "002 memory of every epoch is in the metrics" "$(head -n 1 epochs.jsonl)"

# 003: the environment of a service, all of it
service() {
    env ALL_GPU=false FACE_DETECTION_GPU=false FACE_EMBEDDING_GPU=false IMAGE_PROCESSING_GPU=false IMAGE_ENHANCEMENT_GPU=false \
        QUALITY_CHECKS_GPU=false GPU_BACKEND=auto GPU_DEVICE_ID=0 GPU_MEMORY_LIMIT_GB=8 GPU_BATCH_SIZE=32 "$@"
}
run service "$DNN" train leads.json -o leads.dnn --progress none
is_exit 0 "003 the variables of another program beside ours"
is "$(grep -c 'warning:.*FACE_DETECTION_GPU' err)" 1 "003 those of others are named once"
grep 'warning:.*FACE_DETECTION_GPU' err | grep -q QUALITY_CHECKS_GPU
ok $? "003 all in one warning" "$(cat err)"
err_lacks 'ALL_GPU,' "003 ours is not among them"
run service LOG_LEVEL=DEBUG DEBUG=true "$DNN" predict leads.dnn leads.csv -o answers.csv
is_exit 0 "003 LOG_LEVEL=DEBUG DEBUG=true"
for word in auto cuda rocm mps cpu CPU MPS; do
    GPU_BACKEND=$word run dnn train leads.json -o leads.dnn --progress none
    is_exit 0 "003 GPU_BACKEND=$word: served, or the CPU"
done
for word in rocm mps ROCm; do
    run dnn train leads.json -o leads.dnn --progress none --backend "$word"
    is_exit 0 "003 --backend $word falls back to the CPU"
    err_has "dnn_gpu: requested but unavailable (--backend" "003 and says so"
    run dnn train leads.json -o leads.dnn --progress none --backend "$word" --json
    out_has "\"requested\":\"${word,,}\"" "003 the JSON has the backend that was requested"
    run dnn train leads.json -o leads.dnn --progress none --backend "$word" --set backend.fallback=none
    is_exit 69 "003 --backend $word without fallback"
done
run dnn train leads.json -o leads.dnn --backend tpu
is_exit 64 "003 no backend of that name"
for name in ALL_GPU DNN_TRAIN_GPU DEBUG LOG_LEVEL MODEL_BACKEND GPU_BACKEND; do
    run env $name=perhaps "$DNN" train leads.json -o leads.dnn
    is_exit 64 "003 $name=perhaps"
done
for value in True TRUE true False; do
    ALL_GPU=$value run dnn train leads.json -o leads.dnn --progress none
    is_exit 0 "003 ALL_GPU=$value"
done
run dnn bench --operation dense --size small --no-gpu --batch-size 10 --iterations 2 --json
is_exit 0 "003 the benchmark with a CPU baseline"
out_has '"gpu_false":{"mean_time_ms":' "003 mean_time_ms of it"
run dnn bench --operation dense --size small --gpu --batch-size 10 --iterations 2 --json
allowed "003 the benchmark of the GPU" "0 69"
run dnn bench --operation dense --gpu --no-gpu
is_exit 64 "003 --gpu and --no-gpu"
run dnn bench --operation dense --gpu --backend dnn_cpu
is_exit 64 "003 --gpu and --backend"
GPU_BATCH_SIZE=16 GPU_MEMORY_LIMIT_GB=4 run dnn train leads.json -o leads.dnn --progress none
is_exit 0 "003 out of memory: a smaller batch and limit"

# 004: device words, precision, small memory, repeatable results
for device in auto 0 cuda:0; do
    run dnn train leads.json -o leads.dnn --progress none --device $device --set backend.precision=fp16 --batch-size 32
    is_exit 0 "004 device=$device, fp16, batch_size=32"
done
for word in cpu cuda cuda:0 mps; do
    run dnn train leads.json -o leads.dnn --progress none --backend $word
    is_exit 0 "004 device=\"$word\""
done
run dnn train leads.json -o leads.dnn --progress none --batch-size 8 --set train.grad_accumulation=4 --set backend.precision=bf16
is_exit 0 "004 batch_size=8, gradient_accumulation_steps=4, bf16"
run dnn train leads.json -o leads.dnn --progress none --set backend.deterministic=false --set backend.autotune=true \
    --set backend.memory_fraction=0.9
is_exit 0 "004 cudnn_benchmark, memory_fraction=0.9"
run dnn check leads.json --json
is_exit 0 "004 get_optimal_batch_size"
out_has '"largest_batch":{' "004 the largest batch is in the plan"
run dnn train leads.json -o leads.dnn --progress none --set train.epochs=2 --profile trace.json --force
is_exit 0 "004 profile_model"
run dnn inspect leads.dnn --json
is_exit 0 "004 get_device_info of a model"
done_testing
