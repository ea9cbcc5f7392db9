#!/bin/bash
# restart.sh - a training that loses its GPU executes the program again: what the process before had warned of and used up is not
# forgotten. Ids: G09 G12. DNN is build/emulated/dnn; DNN_EMULATE=break:N, hang:N, stall:N.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
make_data d.csv 300
make_config c.json d.csv binary '"epochs": 40, "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0}' \
    '"backend": {"name": "dnn_gpu"}'
make_config long.json d.csv binary '"epochs": 1000000, "checkpoint": {"every_s": 0}, "early_stopping": {"patience": 0}' \
    '"backend": {"name": "dnn_gpu"}'
seconds() { sed -n "s/.*\"seconds\":{[^}]*\"$1\":\([0-9.e+-]*\).*/\1/p" out; }
between() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x <= high) }'; }
# how many warnings the summary has, and how many were given
listed() { sed 's/.*"warnings":\[\([^]]*\)\].*/\1/' out | sed 's/","/"\n"/g' | grep -c '"'; }

for n in 40 400; do # from the start, and from a checkpoint
    run env DNN_EMULATE=break:$n:719 "$DNN" train c.json --force -o a.dnn --json --progress none
    is_exit 0 "G09 break:$n: the CPU goes on"
    grep -q \
        '"warnings":\[.*"dnn_gpu: .*cudaErrorLaunchFailure.*continuing on the CPU\|"warnings":\[.*"dnn_gpu: .*starting again on the CPU' out
    ok $? "break:$n: the summary has the warning" "$(cat out)"
    is "$(listed)" "$(grep -c 'warning: ' err)" "break:$n: and all others" "$(cat out err)"
    out_has '"reason":"GPU 0 ' "break:$n: with the reason, and nothing else in it"
done
err_has "resuming at step" "the second goes on"

run env DNN_PATIENCE=1 DNN_EMULATE=hang:40 "$DNN" train c.json --force -o a.dnn --json --progress none
check "G12 seconds.total has the time that was waited for the card" between "$(seconds total)" 1 60
run env DNN_PATIENCE=1 DNN_EMULATE=stall:300 "$DNN" train c.json --force -o a.dnn --json --progress none
check "G12 as it has where a call never came back" between "$(seconds total)" 1 60

# limited NAME PLAN: 2 seconds go by with the card that hangs, and the limit is 3
limited() {
    rm -f a.dnn*
    local began
    began=$(now_ms)
    run env DNN_PATIENCE=2 DNN_EMULATE="$2" "$DNN" train long.json --force -o a.dnn --json --progress none --time-limit 3
    local took=$(($(now_ms) - began))
    out_has '"stopped":"time_limit"' "G12 $1: the limit ends it"
    check "G12 $1: over both processes" between "$(seconds total)" 3 4.5
    check "G12 $1: as the clock has it, $took ms" between "$took" 3000 $((3000 + 2500))
}
limited "from the start" hang:40
err_has "starting again on the CPU"
limited "from a checkpoint" hang:300
err_has "resuming at step"

done_testing
