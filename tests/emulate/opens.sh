#!/bin/bash
# opens.sh - a program that has a GPU and uses none opens none: every job with dnn_cpu, and with auto where the work is small, loads no
# library of a GPU and makes no call of CUDA (as the first call would load libcuda). Ids: G08. DNN is build/emulated/dnn; with --card, a
# program on a machine with a card, whose own driver is what must not be opened: strace tells.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
. "$ROOT/tests/opens.sh"
unset DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
card=no
[ "${1:-}" != --card ] || card=yes
[ $card = yes ] || stand_ins
make_data d.csv 300
make_config c.json d.csv binary '"epochs": 2, "checkpoint": {"every_s": 0}'
[ $card = yes ] || export DNN_EMULATE=report
# that it would be noticed
watched "$DNN" train c.json --force -o g.dnn --progress none --backend dnn_gpu
is_exit 0 "dnn_gpu"
if [ $card = yes ]; then
    [ $traced = yes ] && opened
    ok $? "opens this machine's driver, which is noticed" "$(cat err)"
    for word in dnn_cpu auto; do opens_nothing "G08" $word c.json d.csv; done
    done_testing
fi
[ "$(sed -n 's/^emulated: \([0-9]*\) calls.*/\1/p' err)" -gt 100 ]
ok $? "makes calls" "$(cat err)"
if [ -n "$driver" ]; then
    [ -e loaded ]
    ok $? "a program that opens NVML is noticed" "$(cat err)"
else
    skip "a program that opens NVML" "no gcc"
fi
if [ $traced = yes ]; then
    grep -q '^[^=]*libnvidia-ml' trace
    ok $? "by strace as well" "$(cat trace)"
fi
for word in dnn_cpu auto; do opens_nothing "G08" $word c.json d.csv; done
done_testing
