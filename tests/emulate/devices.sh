#!/bin/bash
# devices.sh - which GPU: auto, an index, a UUID, a slice of a card; one that is busy, kept for another process, hidden, too new or
# behind a driver that does not serve; and another kind of GPU. Ids: G02 G03 G04 G05 G13 G14 G15 G16. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_FALLBACK DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE GPU_DEVICE_ID GPU_BACKEND
warnings() { grep 'warning:' err | grep -vc 'less than 4 GiB'; }
make_data d.csv 300
make_config n.json d.csv binary '"epochs": 1' '"backend": {"name": "dnn_gpu", "fallback": "none"}'
make_config f.json d.csv binary '"epochs": 1' '"backend": {"name": "dnn_gpu"}'

uuid=00000000-0000-0000-0000-00000000000
export DNN_EMULATE=devices:3:64000000
for wish in auto 0 cuda:0 GPU-${uuid}1; do
    run dnn train n.json -o x.dnn --progress none --device $wish
    err_has "model loaded on GPU 0 (emulated" "--device $wish"
done
for wish in 2 cuda:2 GPU-${uuid}3 MIG-${uuid}3; do
    run dnn train n.json -o x.dnn --progress none --device $wish
    err_has "model loaded on GPU 2 (emulated" "G14 --device $wish"
    run env GPU_DEVICE_ID=$wish "$DNN" predict x.dnn d.csv -o p.csv
    err_has "model loaded on GPU 2 (emulated" "GPU_DEVICE_ID=$wish"
done
run dnn train n.json -o x.dnn --progress none --device cuda:1 --set backend.device=2
[ $STATUS -eq 0 ] && grep -q "model loaded on GPU [12] " err
ok $? "two wishes: one card" "$(cat err)"
run dnn train n.json -o x.dnn --progress none --backend cuda:1 --device 1
err_has "model loaded on GPU 1 (emulated" "one wish in two words"
run dnn train n.json -o y.dnn --progress none --backend cuda:1 --device 0
is_exit 64 "--backend cuda:1 --device 0: 64"
err_has "name two cards" "which is said"
for wish in 3 cuda:3 GPU-ffff MIG-ffff -1 cuda: GPU- best; do
    run dnn train n.json -o x.dnn --progress none --device="$wish"
    [ $STATUS -eq 69 ] || [ $STATUS -eq 64 ]
    ok $? "G04 --device=$wish: there is none" "exit $STATUS: $(cat err)"
done
run dnn train n.json -o x.dnn --progress none --device 7
err_has 'there is no device "7"' "G04 says which"
err_has "0 (emulated, GPU-${uuid}1), 1 (emulated, GPU-${uuid}2), 2 (emulated, GPU-${uuid}3)" "G04 and lists those that are"

# shown LIST DEVICE: which card device 0 is, of those that are shown
shown() {
    run env CUDA_VISIBLE_DEVICES="$1" "$DNN" train n.json -o x.dnn --progress none --device "$2"
    [ $STATUS -eq 0 ] && grep -q "model loaded on GPU 0 (emulated" err
    ok $? "G03 CUDA_VISIBLE_DEVICES=$1: GPU 0 is $2" "exit $STATUS: $(cat err)"
}
shown 2 GPU-${uuid}3
shown 1,0 GPU-${uuid}2
shown GPU-${uuid}3,0 GPU-${uuid}3
shown 1,7,0 GPU-${uuid}2
run env CUDA_VISIBLE_DEVICES=1 "$DNN" train n.json -o x.dnn --progress none --device 1
is_exit 69 "G03 CUDA_VISIBLE_DEVICES=1: there is no second one"
err_has "one of 0 (emulated, GPU-${uuid}2)" "G03 but the one that is shown"

refused() { # refused ID CODE TEXT PLAN [VARIABLE..]: exit and words without a fallback, one warning and the CPU with one
    local id=$1 code=$2 text=$3 plan=$4
    shift 4
    run env DNN_EMULATE="$plan" "$@" "$DNN" train n.json -o y.dnn --progress none
    is_exit "$code" "$id $plan: $code"
    err_has "$text" "$id says: $text"
    run env DNN_EMULATE="$plan" "$@" "$DNN" train f.json -o y.dnn --progress none --json
    [ $STATUS -eq 0 ] && [ "$(warnings)" -eq 1 ] && grep -qF "$text" err && grep -q '"used":"dnn_cpu"' out
    ok $? "$id with a fallback: one warning, the CPU" "exit $STATUS: $(cat err)"
    run env DNN_EMULATE="$plan" "$@" "$DNN" predict x.dnn d.csv -o p.csv --backend dnn_gpu
    is_exit "$code" "$id predict, as the model's config has it: $code"
}
refused G02 69 "needs 13.0" driver:12040,GetDeviceCount:1:35
refused G02 69 "of different versions" GetDeviceCount:1:803
refused G02 69 "cuda-compat" GetDeviceCount:1:804
refused G03 69 'no GPU is visible; CUDA_VISIBLE_DEVICES=""' devices:3:64000000 CUDA_VISIBLE_DEVICES=
refused G03 69 'no GPU is visible; CUDA_VISIBLE_DEVICES="-1"' devices:3:64000000 CUDA_VISIBLE_DEVICES=-1
refused G03 69 'no GPU is visible; CUDA_VISIBLE_DEVICES="99"' devices:3:64000000 CUDA_VISIBLE_DEVICES=99
refused G03 69 'no GPU is visible; CUDA_VISIBLE_DEVICES="GPU-nonsense"' devices:3:64000000 CUDA_VISIBLE_DEVICES=GPU-nonsense
refused G05 75 "the GPU is busy, or in exclusive mode with another process on it" StreamCreateWithFlags:1:46
refused G13 69 "no kernels for the architecture" FuncSetAttribute:1:209
refused G13 69 "too old to compile its kernels" FuncSetAttribute:1:222
refused G15 69 "805" StreamCreateWithFlags:1:805
refused G15 69 "806" StreamCreateWithFlags:1:806
refused G15 69 "807" StreamCreateWithFlags:1:807
refused G11 69 "no GPU is visible" SetDevice:1:100
run env -i PATH="$PATH" LC_ALL=C DNN_EMULATE=report "$DNN" train n.json -o x.dnn --progress none
is_exit 0 "G16 without HOME or anything else of an environment"
for kind in rocm mps; do
    refused "GPU_BACKEND=$kind" 69 "GPU_BACKEND=\"$kind\" is not supported" report GPU_BACKEND=$kind
    err_lacks "emulated:" "$kind: no call of CUDA is made"
done
run env GPU_BACKEND=cuda "$DNN" train n.json -o x.dnn --progress none
is_exit 0 "GPU_BACKEND=cuda"
done_testing
