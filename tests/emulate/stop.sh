#!/bin/bash
# stop.sh - a signal in the middle of a long epoch on the emulated GPU: steps are queued for about a twentieth of a second, as those
# before took, then the host looks; never a whole epoch ahead. (Of many answers: tests/unit/model_step.c.) DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
make_data d.csv 60000 # 42,000 steps an epoch, of four kernels each
make_config c.json d.csv binary '"epochs": 1' '"backend": {"name": "dnn_gpu", "fallback": "none"}'
for order in 0 1; do # work is done when it is waited for, or at once
    rm -f m.dnn*
    run env DNN_EMULATE=report,calls,order:$order,term:8000 "$DNN" train c.json --force -o m.dnn --progress none --set train.batch_size=1
    is_exit 75 "order $order: it is told to end at kernel 8000"
    err_has "stopped by SIGTERM" "order $order: and does"
    kernels=$(sed -n 's/^emulated: .* \([0-9]*\) kernels$/\1/p' err)
    graphs=$(sed -n 's/^emulated: .* \([0-9]*\) graphs, .*/\1/p' err)
    [ "${graphs:-0}" -gt 10 ]
    ok $? "order $order: steps were played as graphs: ${graphs:-none}"
    [ "${kernels:-168000}" -ge 8000 ] && [ "${kernels:-168000}" -lt 12000 ]
    ok $? "order $order: $kernels kernels were run, of 168,000" # 1,000 steps in a twentieth of a second: faster than it ever is here
    step=$(ls m.dnn.ckpt-*) && step=$((10#${step##*-}))
    [ "${step:-0}" -ge 1900 ] && [ "${step:-0}" -lt 3000 ]
    ok $? "order $order: the checkpoint is of the step at hand: ${step:-none}"
    err_has " 0 findings, 0 left" "order $order: nothing is left"
done
done_testing
