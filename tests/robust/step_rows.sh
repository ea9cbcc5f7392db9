#!/bin/bash
# step_rows.sh - a step has at most all training rows: a larger batch_size costs no more work or memory and is the same
# training. Ids: N08.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 300 # 210 of them to train on
make_config c.json d.csv binary '"epochs": 5, "checkpoint": {"every_s": 0, "keep": 2}' '"backend": {"name": "dnn_cpu"}'
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" out | tail -n 1; }
answers() { # answers MODEL BATCH ACCUMULATION: trains, and leaves MODEL.csv
    run dnn train c.json --force -o "$1" --progress none --json --set train.batch_size="$2" --set train.grad_accumulation="$3"
    is_exit 0 "batch_size $2, grad_accumulation $3"
    dnn predict "$1" d.csv -o "$1.csv" --quiet
}
answers all.dnn 210 1
peak=$(number host_peak_bytes)
for step in 211:1 65536:1 210:1024 65536:1024; do
    answers x.dnn "${step%:*}" "${step#*:}"
    same x.dnn.csv all.dnn.csv "N08 is the training with all rows a step"
    sanitized || [ "$(number host_peak_bytes)" -le $((peak + 4194304)) ]
    ok $? "in as much memory" "$(number host_peak_bytes), $peak"
done
answers three.dnn 100 3
answers x.dnn 100 1000
same x.dnn.csv three.dnn.csv "three batches of 100 hold all rows: more of them are the same"

# --- check: the same step, and a probe that is short ---
run timeout 60 "$DNN" check c.json --set train.batch_size=65536 --set train.grad_accumulation=1024
is_exit 0 "check of the largest step that a config may ask for"
out_has "batch       210: all training rows; the largest that fits: train 65536," "names the rows of a step"
run dnn check c.json --set train.grad_accumulation=1000
out_has "batch       64, 4 of them a step;" "check names the batches of a step"

# --- what a checkpoint says of a step holds for the one that is resumed ---
big=(c.json --progress none --set train.batch_size=65536 --set train.grad_accumulation=9)
dnn train "${big[@]}" -o whole.dnn --quiet
plays=$(DNN_FAULT=count "$HOOKED" train "${big[@]}" -o y.dnn 2>&1 >/dev/null | sed -n 's/.* play=\([0-9]*\).*/\1/p')
run env DNN_FAULT=play:$((plays * 2 / 3)) "$HOOKED" train "${big[@]}" -o r.dnn
is_exit 81 "stopped"
run dnn train "${big[@]}" -o r.dnn --resume
is_exit 0 "resumed"
err_has "resuming at step"
err_lacks "another kind of machine" "the plan is the same"
same r.dnn whole.dnn "to the same bytes"
done_testing
