#!/bin/bash
# wgmma.sh - a training whose large products are those of warpgroups, on the emulated GPU: taken where bf16 or fp16 is asked for on
# sm_90; the twin's bytes, here where both add in one order; stored, and obeyed when resumed.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE DNN_WGMMA
make_data d.csv 8192
make_config c.json d.csv binary '"epochs": 1, "checkpoint": {"every_s": 0, "keep": 2}' '"backend": {"name": "dnn_gpu", "fallback": "none"}'
# two tiles a row of them and 64 rows: as many as they begin to pay with
layers='"layers": [{"type": "dense", "units": 72}, {"type": "layer_norm"}, {"type": "dense", "units": 72}]'
sed -i "s/\"preset\": \"mlp\", \"hidden\": \[16, 8\]/$layers/; s/\"batch_size\": 64/\"batch_size\": 8192/" c.json
sed -i 's/"data": {/"data": {"split": {"method": "random", "valid": 0, "test": 0}, /' c.json
says="large products are those of warpgroups"
train() { dnn train c.json --force --progress none -v "$@"; }

run train -o own.dnn --set backend.precision=bf16
is_exit 0 "a training in bf16"
err_has "$says" "takes them"
DNN_WGMMA=none run train -o twin.dnn --set backend.precision=bf16
is_exit 0 "a training in bf16 without products of warpgroups"
err_lacks "$says" "does not"
head -n 100 d.csv >few.csv
dnn predict own.dnn few.csv --quiet >own.csv
dnn predict twin.dnn few.csv --quiet >twin.csv
same own.csv twin.csv "the same answers with and without products of warpgroups"

# what is taken, on which card
check_says() { # WORDS WISH YES ENVIRONMENT...
    local words=$1 wish=$2 yes=$3
    shift 3
    run env "$@" "$DNN" check c.json -v --set backend.precision="$wish"
    if [ "$yes" = yes ]; then err_has "$says" "$words"; else is_exit 0; err_lacks "$says" "$words"; fi
}
check_says "fp16 takes them" fp16 yes DNN_EMULATE=order:1
check_says "auto takes them on a real card alone" auto no DNN_EMULATE=order:0
check_says "auto takes them when DNN_WGMMA=always" auto yes DNN_WGMMA=always
check_says "tf32 has none" tf32 no DNN_WGMMA=always
check_says "sm_80 has none" bf16 no DNN_EMULATE=sm:80
check_says "nor sm_100" bf16 no DNN_EMULATE=sm:100

# a run goes on as it began
small="--set train.batch_size=64 --set train.epochs=20 --set backend.precision=auto --set data.train=few.csv"
# shellcheck disable=SC2086 # words
DNN_WGMMA=always DNN_EMULATE=break:100:719 run train -o part.dnn $small
is_exit 81 "a training that breaks off"
ls part.dnn.ckpt-* >/dev/null 2>&1 || echo "# no checkpoint: break later"
# shellcheck disable=SC2086
run train -o part.dnn $small --resume
is_exit 0 "goes on"
err_has "$says" "a resumed run takes them, as its plan says"
err_lacks "differs" "a resumed run: nothing differs"
done_testing
