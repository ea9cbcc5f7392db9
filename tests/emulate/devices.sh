#!/bin/bash
# devices.sh - which GPU: auto, an index, a UUID, a slice of a card; one that is busy, kept for another process, hidden, too new or
# behind a driver that does not serve; and another kind of GPU. Ids: G02 G03 G04 G05 G13 G14 G15 G16. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE GPU_DEVICE_ID GPU_BACKEND
warnings() { grep 'warning:' err | grep -vc 'less than 4 GiB'; }
make_data d.csv 300
train='"epochs": 1, "optimizer": {"type": "adamw", "learning_rate": 0.01}' # beats the constant: no warning of a useless model
make_config n.json d.csv binary "$train" '"backend": {"name": "dnn_gpu", "fallback": "none"}'
make_config f.json d.csv binary "$train" '"backend": {"name": "dnn_gpu"}'

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
err_has "name two cards" "--backend cuda:1 --device 0: the reason"
for wish in 3 cuda:3 GPU-ffff MIG-ffff -1 cuda: GPU- best; do
    run dnn train n.json -o x.dnn --progress none --device="$wish"
    [ $STATUS -eq 69 ] || [ $STATUS -eq 64 ]
    ok $? "G04 --device=$wish: there is none" "exit $STATUS: $(cat err)"
done
run dnn train n.json -o x.dnn --progress none --device 7
err_has 'there is no device "7"' "G04 says which"
there="0 (emulated, GPU-${uuid}1), 1 (emulated, GPU-${uuid}2), 2 (emulated, GPU-${uuid}3)"
err_has "$there" "G04 no device 7: those that are there are listed"
run env GPU_DEVICE_ID=9 "$DNN" train f.json -o x.dnn --progress none
err_has "(GPU_DEVICE_ID: there is no device \"9\"; expected one of $there)" "G04 as the warning does, with the variable that names it"
run env GPU_DEVICE_ID=9 "$DNN" predict x.dnn d.csv -o p.csv --backend dnn_gpu
err_has "(GPU_DEVICE_ID: there is no device \"9\"; expected one of $there)" "G04 of predict too"
run dnn train f.json -o x.dnn --progress none --set backend.device=9
err_has "(--set: there is no device \"9\"; expected one of $there)" "G04 or the option"
run dnn train n.json -o x.dnn --progress none
err_has "which of 3 GPUs has the most memory left cannot be asked (" "that the first was taken for want of NVML"
run dnn train n.json -o x.dnn --progress none --device 0
is_exit 0
err_lacks "cannot be asked" "a card that was named: no word of NVML"

# trained on the card, answered on the CPU: README has this section
make_config h.json d.csv binary "$train" '"backend": {"name": "dnn_cpu", "train": "dnn_gpu", "predict": "dnn_cpu", "evaluate": "auto"}'
run env DNN_EMULATE=report "$DNN" train h.json -o h.dnn --progress none
err_has "model loaded on GPU 0 (emulated" "backend.train: the card"
run env DNN_EMULATE=report "$DNN" predict h.dnn d.csv -o p.csv
[ $STATUS -eq 0 ] && ! grep -q "emulated" err && grep -q "dnn_cpu: Using CPU" err
ok $? "backend.predict: no call of CUDA" "$(cat err)"
run env DNN_EMULATE=report DNN_PREDICT_GPU=true "$DNN" predict h.dnn d.csv -o p.csv
err_has "model loaded on GPU 0 (emulated" "DNN_PREDICT_GPU=true: predict uses the card"

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
err_has "one of 0 (emulated, GPU-${uuid}2)" "G03 CUDA_VISIBLE_DEVICES=1: the one that is shown is named"

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
taken="the GPU is busy, or in exclusive mode with another process on it"
refused G05 75 "$taken" devices:1:64000000,StreamCreateWithFlags:1:46
for call in SetDevice StreamCreateWithFlags; do
    refused "G05 all of them" 75 "$taken" devices:3:64000000,$call:1:46,$call:1:46,$call:1:46
done
err_has "GPU 2 is passed over ($taken)" "G05 after each was tried"
for plan in SetDevice:1:46 StreamCreateWithFlags:1:46 FuncSetAttribute:1:46 StreamCreateWithFlags:1:2 FuncSetAttribute:1:209 \
    FuncSetAttribute:1:222; do
    run env DNN_EMULATE=report,on:0,$plan "$DNN" train n.json -o y.dnn --progress none
    [ $STATUS -eq 0 ] && grep -q "GPU 0 is passed over (" err && grep -q "model loaded on GPU 1 (emulated" err &&
        grep -q " 0 findings, 0 left" err
    ok $? "G05 $plan on the first card: the next one serves" "exit $STATUS: $(cat err)"
done
run env DNN_EMULATE=report,SetDevice:1:46,SetDevice:1:209 "$DNN" train n.json -o y.dnn --progress none
is_exit 75 "G05 one is busy, and for the other there are no kernels: try again later"
run env DNN_EMULATE=report,FuncSetAttribute:1:209,StreamCreateWithFlags:2:46 "$DNN" train n.json -o y.dnn --progress none
is_exit 75 "G05 no kernels for one, and the other is busy: try again later"
run env DNN_EMULATE=on:0,SetDevice:1:46 "$DNN" train n.json -o y.dnn --progress none --device 0
is_exit 75 "G05 one that was named is not passed over"
refused G13 69 "no kernels for the architecture" devices:1:64000000,FuncSetAttribute:1:209
refused G13 69 "too old to compile its kernels" devices:1:64000000,FuncSetAttribute:1:222
refused G15 69 "805" StreamCreateWithFlags:1:805
refused G15 69 "806" StreamCreateWithFlags:1:806
refused G15 69 "807" StreamCreateWithFlags:1:807
refused G11 69 "no GPU is visible" SetDevice:1:100
run env -i PATH="$PATH" LC_ALL=C DNN_EMULATE=report "$DNN" train n.json -o x.dnn --progress none
is_exit 0 "G16 without HOME or anything else of an environment"
for kind in rocm mps; do
    refused "GPU_BACKEND=$kind" 69 "GPU_BACKEND \"$kind\" is not supported" report GPU_BACKEND=$kind
    err_lacks "emulated:" "$kind: no call of CUDA is made"
done
run env GPU_BACKEND=cuda "$DNN" train n.json -o x.dnn --progress none
is_exit 0 "GPU_BACKEND=cuda"
done_testing
