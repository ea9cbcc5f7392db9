#!/bin/bash
# ensemble_faults.sh - the card fails inside a run of an ensemble: the program goes on with the CPU. Runs that were finished stay as
# the card made them, the run at work goes on from its checkpoint, the others are the CPU's. Ids: G09 G11. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE DNN_FAULT CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
make_data d.csv 300
make_config c.json d.csv binary '"epochs": 20, "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0}' \
    '"ensemble": {"folds": 3, "members": [{"name": "a"}, {"name": "b", "model": {"hidden": [8]}}], "select": "mean"},
    "backend": {"name": "dnn_gpu"}'
run dnn train c.json -o card.dnn --progress none
is_exit 0 "six runs on the card"
run dnn train c.json -o host.dnn --progress none --backend dnn_cpu
is_exit 0 "six runs on the CPU"
dnn predict card.dnn d.csv -o card.csv -q --backend dnn_cpu
DNN_FAULT=count dnn train c.json -o counted.dnn --progress none 2>err >out
calls=$(sed -n 's/.* cuda=\([0-9]*\).*/\1/p' err)
[ "${calls:-0}" -gt 600 ]
ok $? "calls are counted: $calls"

# near ANSWERS: as far from those of the card as two machines may be, and a run that begins anew
near() {
    paste -d, card.csv "$1" | awk -F, 'NR > 1 {d = $2 - $5; if (d < 0) d = -d; if (d > worst) worst = d}
        END {exit !(NR == 301 && worst < 0.02)}'
}
for part in 4 40 80; do # percent: within the first run, and later ones
    call=$((calls * part / 100)) code=999 what="G11 the card is gone"
    [ $part -ne 40 ] || code=719 what="G09 a sticky error"
    rm -f x.dnn*
    run env DNN_FAULT=cuda:$call:$code "$DNN" train c.json -o x.dnn --json --verbose --progress none
    is_exit 0 "$what after $part % of the calls: the CPU goes on"
    is "$(grep -c 'warning: dnn_gpu: .*on the CPU' err)" 1 "$what after $part % of the calls: one warning" "$(cat err)"
    out_has '"requested":"dnn_gpu","used":"dnn_cpu"' "the summary says who ended it"
    no_leftovers x.dnn "nothing is left beside the model"
    [ $part -lt 10 ] || err_has "runs are finished" "finished runs are taken over"
    dnn predict x.dnn d.csv -o x.csv -q --backend dnn_cpu
    near x.csv
    ok $? "the answers are those of the card" "$(paste -d, card.csv x.csv | head -n 4)"
    run dnn verify x.dnn --backend dnn_cpu
    is_exit 0 "$what after $part % of the calls: the golden rows come out again"
done
dnn train c.json -o same.dnn --progress none -q --set backend.fallback=none
run env DNN_FAULT=cuda:$((calls / 2)):999 "$DNN" train c.json -o x2.dnn --progress none --set backend.fallback=none
is_exit 81 "fallback none: 81"
[ ! -e x2.dnn ] && ls x2.dnn.ckpt-run-0 >/dev/null
ok $? "finished runs stay for --resume, no model"
run dnn train c.json -o x2.dnn --progress none --resume --verbose --set backend.fallback=none
is_exit 0 "--resume on the card"
err_has "runs are finished" "takes them over"
is "$(digest x2.dnn)" "$(digest same.dnn)" "the bytes of a training without a fault"

done_testing
