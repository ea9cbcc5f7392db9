#!/bin/bash
# parity.sh - the parity program (tests/parity) on the emulated GPU: every case of every operation through the real machine, plain and
# by graphs, and one small training; and that it does not pass without a device.
. "$(dirname "$0")/../tap.sh"
unset DNN_EMULATE DNN_FAULT DNN_PATIENCE CUDA_VISIBLE_DEVICES
parity=${DNN%/emulated/dnn}/parity/emulated
# all operations of a night; in every run test_ops has them all, with the shadow and with a sanitizer
some=(--only dense) faults="break:300:719 Malloc:9:700"
[ "${NIGHTLY:-no}" = no ] || { some=() && faults+=" break:100:719 LaunchKernelExC:50:719 EventRecord:9:702"; }
DNN_EMULATE=calls run "$parity" --cases "${some[@]}" cases.json
is_exit 0 "every operation is as on the CPU, twice and recorded with the same bits"
cases=$(grep -c '"name"' cases.json)
err_has " $((3 * cases)) graphs," "recorded: each of the $cases cases was played as graphs, of two rounds and of one"
check "the report has no failure" grep -q '"failed": 0, "left_out": 0, "alive": true' cases.json
check "an emulated device is no GPU" grep -q '"real_gpu": false' cases.json
run "$parity" --training --only "tanh, a number to learn" training.json
is_exit 0 "a training: its gradient, its loss, its bits"
for task in "dropout, 2 micro-batches" "layer_norm and dropout"; do
    run "$parity" --training --only "$task" training.json
    is_exit 0 "a training with $task"
done
DNN_EMULATE=calls run "$parity" --training --only "84 steps an epoch" training.json
is_exit 0 "a training of many steps"
err_has " 18 graphs," "of 64, 8 and 1 in the first of its four epochs, then of the 84; and all again"
run "$parity" --precision precision.json
is_exit 0 "large products in fp32, tf32, bf16 and fp16"
for kind in fp32 "bf16 kept"; do
    run "$parity" --least --only "$kind" least.json
    is_exit 0 "the smallest that have each tile, $kind"
    check "are compared" grep -q '"failed": 0, "left_out": 0, "alive": true' least.json
done
check "are none of them left out" grep -q '"failed": 0, "left_out": 0, "alive": true' precision.json
run env DNN_EMULATE=sm:75 "$parity" --precision turing.json
is_exit 0 "a card that has fp16 alone"
check "leaves out the others" grep -q '"failed": 0, "left_out": 4, "alive": true' turing.json
run env DNN_EMULATE=devices:0:0 "$parity" none.json
is_exit 69 "without a device it is no pass"
run env DNN_EMULATE=break:100:719 "$parity" --cases broken.json
is_exit 81 "a device that fails is no pass"
err_has "the device failed: GPU 0 (emulated) failed: cudaErrorLaunchFailure (719)" "a device that fails is named"
check "a device that fails: the report ends as one" grep -q '"alive": false}' broken.json
run env DNN_EMULATE=report "$parity" --cards cards.json
is_exit 0 "two cards train at the same time, by turns and in two threads: the bytes of each alone"
err_has " 0 after a fault, 0 findings, 0 left" "two cards: nothing is left on them"
for fault in $faults; do
    run env DNN_EMULATE=$fault,on:1,report "$parity" --cards-break cards.json
    is_exit 0 "one of two cards fails ($fault): the other goes on" "$(grep -v '"bad": ""' cards.json)"
    err_has " 0 after a fault, 0 findings" "one of two cards fails ($fault): it is left alone"
done
run "$parity" --large 100000 large.json
is_exit 0 "G17 rows, shards, records and tables far apart, through the real machine"
run "$parity" --large 0 none.json
is_exit 69 "G17 no room for 2^31 bytes is no pass"
run "$parity" --wrong
is_exit 64 "an option that does not exist"
done_testing
