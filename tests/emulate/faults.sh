#!/bin/bash
# faults.sh - every call of CUDA fails in its turn, in the middle of an epoch and of a prediction, in each way that a card can: 0 with
# one warning, every row once, and the bytes that the CPU makes of the last good state; with "fallback": "none" 69, 75 or 81. The
# emulated card ends a program that calls it after a fault. Ids: G09 G10 G11 G18 G19. DNN is build/emulated/dnn; one line reproduces
# any of them: DNN_EMULATE=any:N:CODE,report.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
train='"epochs": 4, "checkpoint": {"every_s": 0, "keep": 2}, "early_stopping": {"patience": 0}'
make_data d.csv 300
make_config f.json d.csv binary "$train" '"backend": {"name": "dnn_gpu"}'
make_config c.json d.csv binary "$train" '"backend": {"name": "dnn_cpu"}'
none='backend.fallback="none"'
calls_of() { DNN_EMULATE=report dnn "$@" 2>&1 >/dev/null | sed -n 's/^emulated: \([0-9]*\) calls.*/\1/p'; }
one_warning() { [ "$(grep 'warning:' err | grep -vcE 'less than 4 GiB|rows that the model was trained on')" -eq 1 ]; }
# illegal address, launch failure, ECC, NVLink, unknown (a card that fell off the bus), hardware stack, misaligned
codes=(700 719 214 220 999 714 716)
code_of() { echo "${codes[$1 % ${#codes[@]}]}"; }

# --- in the middle of an epoch ---
calls=$(calls_of train f.json -o m.dnn --progress none)
[ "${calls:-0}" -gt 400 ]
ok $? "calls of a training are counted: $calls"
rm -f m.dnn*
bad=""
compared=0
resumed=0
turns=$(seq $((calls / 5)) 47 $((calls - 90)))" "$(seq $((calls / 2)) $((calls / 2 + 24)))
for n in $turns; do
    export DNN_EMULATE=any:$n:$(code_of "$n"),report
    rm -f a.dnn* b.dnn*
    run dnn train f.json --force -o a.dnn --progress none --json
    [ $STATUS -eq 0 ] && one_warning || bad+="$DNN_EMULATE: exit $STATUS: $(tail -n 2 err); "
    grep -q '"requested":"dnn_gpu","used":"dnn_cpu"' out || bad+="$DNN_EMULATE: not said who trained; "
    kept=$(grep -o 'resuming at step [0-9]*' err)
    run dnn train f.json --force -o b.dnn --progress none --set "$none"
    [ $STATUS -eq 81 ] && [ ! -e b.dnn ] || bad+="$DNN_EMULATE, no fallback: exit $STATUS: $(tail -n 2 err); "
    unset DNN_EMULATE
    run dnn train f.json --force -o b.dnn --progress none --resume --backend dnn_cpu
    [ "$kept" = "$(grep -o 'resuming at step [0-9]*' err)" ] || continue # waiting is not counted in calls
    compared=$((compared + 1))
    [ -z "$kept" ] || resumed=$((resumed + 1))
    cmp -s a.dnn b.dnn || bad+="call $n: not what the CPU makes of the last good state; "
done
[ -z "$bad" ]
ok $? "G09 each call in its turn: 0 with one warning and the CPU's bytes from the last good state; 81 without a fallback" "$bad"
[ $compared -gt 20 ] && [ $resumed -gt 5 ]
ok $? "of them compared: $compared, gone on from a checkpoint: $resumed"
one() { # one ID CODE TEXT
    rm -f a.dnn*
    run env DNN_EMULATE=any:$((calls / 2)):$2,report "$DNN" train f.json --force -o a.dnn --progress none
    [ $STATUS -eq 0 ] && one_warning
    ok $? "$1 $3: the CPU" "exit $STATUS: $(cat err)"
    rm -f a.dnn*
    run env DNN_EMULATE=any:$((calls / 2)):$2,report "$DNN" train f.json --force -o a.dnn --progress none --set "$none"
    is_exit 81 "$1 $3: 81"
    err_has "$3" "$1 by its name"
}
one G10 214 "cudaErrorECCUncorrectable (214)"
err_has "Xid 48, 63, 64, 94 or 95 in the kernel log" "G10 an ECC fault: where to look"
one G10 220 "cudaErrorNvlinkUncorrectable (220)"
one G11 999 "cudaErrorUnknown (999)"
err_has "Xid 79 in the kernel log" "G11 an unknown fault: where to look"

# --- a card that is gone before it is opened; one that goes later is any:N:999 ---
run env DNN_EMULATE=vanish,report "$DNN" train f.json --force -o v.dnn --progress none
[ $STATUS -eq 0 ] && one_warning
ok $? "G11 a card that has gone: the CPU, with one warning" "exit $STATUS: $(cat err)"
dnn train c.json --force -o v.dnn --progress none --quiet --set "$none"
for job in "train f.json -o w.dnn --progress none --set $none" "predict v.dnn d.csv -o v.csv --backend dnn_gpu"; do
    # shellcheck disable=SC2086
    run env DNN_EMULATE=vanish,report "$DNN" $job
    is_exit 75 "G11 ${job%% *} without a fallback: 75, as CUDA says the same of a busy card"
    err_has "where it finds no card, that has gone (Xid 79 in the kernel log)" \
        "G11 ${job%% *} without a fallback: how to tell a lost card from a busy one"
done
run env DNN_EMULATE=vanish "$DNN" gpucheck --level quick
is_exit 75 "G11 gpucheck: 75"
out_has "that has gone (Xid 79" "G11 gpucheck: a lost card may look like a busy one"

# --- check makes no plan for a card that fails ---
run env DNN_FAULT=cuda:60:719 "$DNN" check f.json
is_exit 81 "G09 check: 81"
err_has "dnn_cpu goes without the GPU" "G09 check: how to plan for the CPU"

# --- in the middle of a prediction ---
dnn train f.json --force -o m.dnn --progress none --quiet
awk 'NR == 1 { print; next } { rows[NR] = $0 } END { for (k = 0; k < 8; k++) for (i = 2; i <= NR; i++) print rows[i] }' d.csv >big.csv
dnn predict m.dnn big.csv --quiet >gpu.csv
dnn predict m.dnn big.csv --quiet --backend dnn_cpu >cpu.csv
calls=$(calls_of predict m.dnn big.csv)
[ "${calls:-0}" -gt 100 ]
ok $? "calls of a prediction are counted: $calls"
bad=""
for ((n = 1; n <= calls - 30; n += 2)); do
    run env DNN_EMULATE="any:$n:$(code_of "$n"),report" "$DNN" predict m.dnn big.csv
    [ $STATUS -eq 0 ] && { one_warning || [ "$n" -gt $((calls - 60)) ]; } || bad+="any:$n: exit $STATUS: $(tail -n 2 err); "
    # once all is answered, nobody minds; each line is the GPU's or the CPU's answer to that row, the CPU's to the end once it has taken
    # over
    perl -e 'my @f = map { open my $h, "<", $_ or die; [<$h>] } @ARGV; my ($out, $gpu, $cpu) = @f; my $late = 0;
        exit 1 if @$out != @$gpu; for (0 .. $#$out) { $late ||= $out->[$_] ne $gpu->[$_]; exit 1 if $late && $out->[$_] ne $cpu->[$_] }' \
        out gpu.csv cpu.csv || bad+="any:$n: rows; "
done
[ -z "$bad" ]
ok $? "G09 each call of predict in its turn: one warning, every row once, the CPU's bytes from the first unwritten row on" "$bad"
bad=""
for ((n = 1; n <= calls - 30; n += 9)); do
    for code in 719 2 46; do
        run env DNN_EMULATE="any:$n:$code,report" "$DNN" evaluate m.dnn d.csv
        [ $STATUS -eq 0 ] && [ "$(grep 'warning:' err | grep -vcE 'less than 4 GiB|rows that the model was trained on')" -le 1 ] ||
            bad+="any:$n:$code: exit $STATUS: $(tail -n 2 err); "
    done
done
[ -z "$bad" ]
ok $? "evaluate as well" "$bad"
dnn train f.json --force -o n.dnn --progress none --quiet --set "$none"
bad=""
seen=""
for ((n = 1; n <= calls - 30; n += 11)); do
    for code in 719 2 46; do
        run env DNN_EMULATE="any:$n:$code,report" "$DNN" predict n.dnn big.csv -o lost.csv
        case $STATUS in
            69 | 75 | 81) [ ! -e lost.csv ] || bad+="any:$n:$code: a file is left; " ;;
            0) cmp -s lost.csv gpu.csv || bad+="any:$n:$code: other answers; " ;;
            *) bad+="any:$n:$code: exit $STATUS: $(tail -n 2 err); " ;;
        esac
        seen+="$STATUS "
        rm -f lost.csv
    done
done
[ -z "$bad" ]
ok $? "without a fallback: 69, 75 or 81, or the answers" "$bad"
for code in 69 75 81; do
    [[ " $seen" = *" $code "* ]]
    ok $? "$code is among them" "$seen"
done

# --- a card that is wrong without a word ---
dnn train f.json --force -o c.dnn --progress none --quiet --backend dnn_cpu
run dnn verify m.dnn --backend dnn_gpu
is_exit 0 "the stored rows are answered as they were"
run env DNN_EMULATE=wrong:1 "$DNN" verify m.dnn --backend dnn_gpu
is_exit 81 "G19 a silent wrong result: verify finds it, 81"
run env DNN_EMULATE=wrong:40 "$DNN" gpucheck --level quick
[ $STATUS -eq 81 ]
ok $? "G19 a silent wrong result: gpucheck finds it, 81" "exit $STATUS: $(tail -n 2 out)"
run env DNN_EMULATE=dry "$DNN" train f.json --force -o w.dnn --progress none
[ $STATUS -eq 0 ] && one_warning && cmp -s w.dnn c.dnn
ok $? "G19 a card that does not compute, its counters with it: the CPU's bytes, with one warning" "exit $STATUS: $(cat err)"
run env DNN_EMULATE=dry "$DNN" train f.json --force -o w.dnn --progress none --set "$none"
is_exit 81 "G19 or 81"
err_has "the GPU does not compute: it says that" "G19 a card that does not compute, fallback none: the reason"

# --- several at once; each has an emulated card of its own ---
for i in 1 2 3 4 5 6 7 8; do
    (dnn predict m.dnn big.csv --quiet >out.$i 2>err.$i && cmp -s out.$i gpu.csv) &
    pids[i]=$!
done
bad=""
for i in 1 2 3 4 5 6 7 8; do wait "${pids[i]}" || bad+="$i "; done
[ -z "$bad" ]
ok $? "G18 eight processes at a time, a card each" "$bad"
run env DNN_EMULATE=Malloc:3:2 "$DNN" predict m.dnn big.csv
[ $STATUS -eq 0 ] && cmp -s out gpu.csv
ok $? "G18 another one took the memory: what cudaMalloc says counts, and a smaller batch has room" "exit $STATUS: $(cat err)"
done_testing
