#!/bin/bash
# precision.sh - a training whose large products are rounded, on the emulated GPU: each precision learns, gives the same bytes at the
# second time, in every order of work and after a break; fp16's gradients run over and are scaled down; what a card lacks. Ids: N13.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
make_data d.csv 1000
make_config c.json d.csv binary '"epochs": 6, "optimizer": {"type": "adamw", "learning_rate": 0.02}, "early_stopping": {"patience": 0},
  "checkpoint": {"every_s": 0, "keep": 2}' '"backend": {"name": "dnn_gpu", "fallback": "none"}'
# the norm keeps the layers from being fused, and 64 x 32 x 32 is what an emulated card takes as large
layers='"layers": [{"type": "dense", "units": 32}, {"type": "relu"}, {"type": "layer_norm"}, '
layers+='{"type": "dense", "units": 32}, {"type": "gelu"}]'
cp c.json mixed.json
sed -i "s/\"preset\": \"mlp\", \"hidden\": \[16, 8\]/$layers/" c.json
auc() { sed -n 's/.*"test":{[^}]*"auc":\([-0-9.e+]*\).*/\1/p' out; }

# other orders of work, breaks and mixed layers: by day of fp16 alone, which has all that bf16 has, and a scale of gradients
night() { [ "${NIGHTLY:-no}" = yes ]; }
for precision in fp32 tf32 bf16 fp16; do
    train() { dnn train c.json --force --progress none --set backend.precision=$precision "$@"; }
    run train -o whole.dnn --json
    is_exit 0 "$precision: a training"
    awk -v a="$(auc)" 'BEGIN { exit !(a > 0.97) }'
    ok $? "$precision: it learns" "auc $(auc)"
    out_has "\"precision\":\"$precision\"" "$precision: the summary says so"
    if [ $precision = fp32 ]; then
        err_lacks "large products" "fp32: nothing to be said"
    else
        err_has "dnn_gpu: large products in $precision (asked for)" "$precision: the log says so"
    fi
    if night || [ $precision != fp32 ]; then
        run train -o again.dnn --quiet
        same again.dnn whole.dnn "$precision: twice, the same bytes"
    fi
    if night || [ $precision = fp16 ]; then
        DNN_EMULATE=order:3 train -o again.dnn --quiet
        same again.dnn whole.dnn "$precision: the same bytes in another order of work"
        DNN_EMULATE=break:500:719 train -o part.dnn --quiet 2>err
        is $? 81 "$precision: a training that breaks off"
        run train -o part.dnn --resume
        err_has "resuming at step" "$precision: goes on"
        same part.dnn whole.dnn "$precision: to the same bytes"
    fi
    run dnn inspect whole.dnn
    out_has "trained with cuda, emulated, $precision" "$precision: the model knows"
    run dnn verify whole.dnn --backend dnn_gpu
    out_has "the same bits" "$precision: answers are in fp32, as in training"
    run dnn verify whole.dnn --backend dnn_cpu
    is_exit 0 "$precision: and on the CPU"
    mv whole.dnn $precision.dnn
    dnn predict $precision.dnn d.csv --quiet >$precision.csv
done
for precision in tf32 bf16 fp16; do
    ! cmp -s $precision.csv fp32.csv
    ok $? "$precision is not fp32"
done

# --- what lies between large layers is kept in 16 bits, whatever reads it ---
mixed='"layers": [{"type": "dense", "units": 48}, {"type": "batch_norm"}, {"type": "silu"}, {"type": "dropout", "p": 0.1},
  {"type": "residual", "layers": [{"type": "dense", "units": 48}, {"type": "tanh"}]}]'
sed -i "s/\"preset\": \"mlp\", \"hidden\": \[16, 8\]/${mixed//$'\n'/}/" mixed.json
for precision in $(night && echo bf16) fp16; do
    mix() { dnn train mixed.json --force --progress none --set backend.precision=$precision "$@"; }
    run mix -o whole.dnn --json
    is_exit 0 "$precision: norms, dropout and a residual block"
    awk -v a="$(auc)" 'BEGIN { exit !(a > 0.97) }'
    ok $? "$precision: they learn" "auc $(auc)"
    DNN_EMULATE=order:3 mix -o again.dnn --quiet
    same again.dnn whole.dnn "$precision: the same bytes in another order of work"
    DNN_EMULATE=break:700:719 mix -o part.dnn --quiet 2>err
    run mix -o part.dnn --resume
    same part.dnn whole.dnn "$precision: and after a break"
done

# --- what is chosen, and what a card lacks ---
chosen() { # chosen CAPABILITY WISH PRECISION TEXT
    run env DNN_EMULATE=sm:$1 "$DNN" check c.json --json --set backend.precision=$2
    out_has "\"precision\":\"$3\"" "sm_$1, $2: $3"
    [ -z "$4" ] || err_has "$4" "sm_$1, $2: why"
}
chosen 90 auto bf16 "large products in bf16 (auto on sm_90)"
chosen 120 auto bf16 ""
chosen 80 auto tf32 "large products in tf32 (auto on sm_80)"
chosen 89 bf16 bf16 ""
chosen 75 auto fp32 ""
chosen 75 fp16 fp16 ""
chosen 75 bf16 fp32 'backend.precision "bf16": sm_75 has no tensor cores that take bf16; computing in fp32'
run dnn check c.json --json --backend dnn_cpu --set backend.precision=tf32
out_has '"precision":"fp32"' "the CPU: fp32"
err_has 'backend.precision "tf32" is for GPUs; the CPU computes in fp32' "the CPU, tf32 asked for: a warning"
run dnn train c.json --force -o x.dnn --progress none --set backend.precision=fp8
is_exit 64 "a precision that does not exist"
run dnn predict bf16.dnn d.csv --json -o x.csv
is_exit 0
err_lacks "bf16" "answers are not rounded"

# --- a network without a layer that is large enough is one of fp32, and every file says so ---
make_config small.json d.csv binary '"epochs": 4, "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0, "keep": 2}' \
    '"backend": {"name": "dnn_gpu", "fallback": "none"}'
for precision in fp32 auto $(night && echo tf32 bf16) fp16; do
    little() { dnn train small.json --force --progress none --set backend.precision=$precision "$@"; }
    run little -o little.dnn --json --set output.metrics=lines
    is_exit 0
    out_has "\"precision_requested\":\"$precision\",\"precision\":\"fp32\"" \
        "small, $precision: the summary has what was asked and what was done"
    case $precision in
    fp32) err_lacks "fp32" "small, fp32: nothing to be said" ;;
    auto) err_has "no layer is large enough for bf16 (auto on sm_90): all in fp32" "small, auto: why" ;;
    *) err_has "no layer is large enough for $precision (asked for): all in fp32" "small, $precision: why" ;;
    esac
    err_lacks "large products in" "small, $precision: nothing else is claimed"
    ! grep -q loss_scale lines
    ok $? "small, $precision: no scale of gradients"
    rm -f lines
    run dnn inspect little.dnn
    case $precision in
    fp32 | auto) out_has "trained with cuda, emulated, fp32"$'\n' "small, $precision: inspect" ;;
    *) out_has "trained with cuda, emulated, fp32 (requested $precision)"$'\n' "small, $precision: inspect" ;;
    esac
    run dnn inspect little.dnn --json
    out_has '"trained_on":{"backend":"cuda","core":"emulated","blas":"none","blas_core":"none","precision":"fp32","batch"' \
        "small, $precision: nor products of warpgroups"
    run dnn check small.json --json --set backend.precision=$precision
    out_has "\"precision_requested\":\"$precision\",\"precision\":\"fp32\"" "small, $precision: check"
    run dnn check small.json --set backend.precision=$precision
    out_has "BLAS not used, products in fp32 (requested $precision)" "small, $precision: its text"
    dnn predict little.dnn d.csv --quiet >little.$precision.csv
    same little.$precision.csv little.fp32.csv "small, $precision: the bits of fp32"
    DNN_EMULATE=break:150:719 little -o part.dnn --quiet 2>err
    is $? 81 "small, $precision: one that breaks off"
    grep -aho 'precision[^a-z]*[a-z0-9]*[^a-z]*batch' part.dnn.ckpt-* | tr -d '\\' | sort -u >found
    is "$(cat found)" 'precision":"fp32","batch' "small, $precision: the checkpoint"
    run little -o part.dnn --resume
    is_exit 0
    err_has "resuming at step" "small, $precision: goes on"
    err_lacks "differs" "small, $precision: on the same machine"
    same part.dnn little.dnn "small, $precision: to the same bytes"
done
run dnn check c.json --json --set backend.precision=bf16
out_has '"precision_requested":"bf16","precision":"bf16"' "one that has large layers: bf16"

# --- a checkpoint's precision is kept to, and none of another kind of machine ---
DNN_EMULATE=break:500:719 dnn train c.json --force -o part.dnn --progress none --quiet --set backend.precision=fp16 2>err
mkdir cpu && cp c.json d.csv part.dnn.ckpt-* cpu/
run dnn train c.json --force -o part.dnn --progress none --json --resume --set backend.precision=tf32
out_has '"precision":"fp16"' "a checkpoint of fp16 goes on in fp16"
said='backend.precision "tf32" is not used: the checkpoint "part.dnn.ckpt-[0-9]*" was computed in fp16,'
said+=' and a resumed training keeps its precision'
grep -q "warning: $said" err
ok $? "a checkpoint of fp16, tf32 asked for: a warning" "$(cat err)"
grep -q '"warnings":\[.*is not used' out
ok $? "in the summary too" "$(cat out)"
run dnn inspect part.dnn
out_has "trained with cuda, emulated, fp16 (requested tf32)" "a checkpoint of fp16, tf32 asked for: the model has both"
cp cpu/part.dnn.ckpt-* .
run dnn train c.json --force -o part.dnn --progress none --resume
is_exit 0
err_has "large products in fp16 (as the training began)" "auto goes on in fp16"
err_lacks "warning: backend.precision" "auto asks for no other precision: no warning"
cd cpu || exit 1
run dnn train c.json --force -o part.dnn --progress none --json --resume --backend dnn_cpu
out_has '"precision":"fp32"' "a checkpoint of fp16 goes on in fp32 on the CPU"
err_has "backend differs" "a checkpoint of fp16 on the CPU: a warning"
cd ..

# --- fp16: gradients that run over ---
over() { # weights of a million make gradients that fp16 cannot hold
    dnn train c.json --force --progress none --set backend.precision=fp16 --set 'train.loss.class_weights={"0":1e6,"1":1e6}' "$@"
}
run over -o whole.dnn --set output.metrics=lines
is_exit 0 "gradients that run over"
err_has "fp16: gradients are scaled by" "the scale is told"
skipped=$(sed -n 's/.*"skipped_steps":\([0-9]*\).*/\1/p' lines | tail -n 1)
[ "${skipped:-0}" -ge 5 ]
ok $? "steps are skipped until it fits: $skipped"
grep -q '"loss_scale":[0-9.e+-]*,"skipped_steps":' lines
ok $? "every epoch's line has both"
run over -o again.dnn --quiet
same again.dnn whole.dnn "twice, the same bytes"
DNN_EMULATE=break:700:719 over -o part.dnn --quiet 2>err
is $? 81 "one that breaks off"
run over -o part.dnn --resume
err_has "resuming at step" "goes on"
same part.dnn whole.dnn "a broken run of fp16 goes on with its scale: the same bytes"
for precision in tf32 bf16; do
    run over -o x.dnn --set backend.precision=$precision
    is_exit 0
    err_lacks "scaled" "$precision needs no scale"
done
rm -f x.dnn
run over -o x.dnn --set 'train.optimizer={"type":"sgd","learning_rate":1000}' --set train.schedule.type=constant
is_exit 80 "N13 nothing helps, and the scale is at its least: 80"
err_has "is not finite, at the smallest scale of fp16" "N13 the scale is at its least: the error says so"
[ ! -e x.dnn ]
ok $? "N13 no model"
done_testing
