#!/bin/bash
# hang.sh - a GPU that does not answer, seen by the time its first steps took: predict, evaluate and verify end with 81, the rows
# written so far whole, also when the call that hangs never comes back; train executes the program again, check
# ends with 81. Ids: G12 S07.
# DNN is build/emulated/dnn; DNN_EMULATE=hang:N, stall:N.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
one_warning() { [ "$(grep 'warning:' err | grep -vc 'less than 4 GiB')" -eq 1 ] && ! grep -q 'emulated: .* called after' err; }
# close FILE FILE: as many rows, the same up to 1e-5
close() {
    paste -d, "$1" "$2" | awk -F, 'NR > 1 { n = NF / 2; if ($1 != $(n + 1)) exit 1
        for (i = 2; i <= n; i++) { d = $i - $(n + i); if (d < -1e-5 || d > 1e-5) exit 1 } }' &&
        [ "$(wc -l <"$1")" -eq "$(wc -l <"$2")" ]
}
make_data d.csv 600
make_config c.json d.csv binary '"epochs": 2' '"backend": {"name": "dnn_gpu"}'
make_config n.json d.csv binary '"epochs": 2' '"backend": {"name": "dnn_gpu", "fallback": "none"}'
awk 'NR == 1 { print; next } { rows[NR] = $0 } END { for (k = 0; k < 30; k++) for (i = 2; i <= NR; i++) print rows[i] }' d.csv >big.csv
dnn train c.json --force -o a.dnn --progress none --quiet
dnn train n.json --force -o n.dnn --progress none --quiet
dnn train c.json --force -o b.dnn --progress none --quiet --set train.seed=2
dnn predict a.dnn big.csv --quiet >want.csv
calls=$(DNN_FAULT=count dnn predict a.dnn big.csv 2>&1 >/dev/null | sed -n 's/.* cuda=\([0-9]*\).*/\1/p')
[ "${calls:-0}" -gt 200 ]
ok $? "calls of predict are counted: $calls"

# whole: the rows on standard output are the first ones, none of them cut
whole() {
    [ ! -s out ] && return
    [ "$(tail -c 1 out | wc -l)" -eq 1 ] && head -n "$(wc -l <out)" want.csv >head.csv && close out head.csv
}
for n in 1 25 $((calls / 2)) $((calls / 2 + 111)); do
    run env DNN_EMULATE=stall:$n,report DNN_PATIENCE=0.3 "$DNN" predict a.dnn big.csv
    [ $STATUS -eq 81 ] && grep -q 'error\[E1810\]: the GPU hangs' err && whole
    ok $? "G12 predict: call $n never comes back; 81, the rows before it whole" "exit $STATUS: $(cat err)"
done
[ "$(wc -l <out)" -gt 4000 ]
ok $? "G12 predict: rows were written before the hang" "$(wc -l <out)"
err_has "has not come back for 0.3 seconds" "it says what hangs"
err_has "rows are written; start again with the rows behind them" "what is there"
err_has "--backend dnn_cpu answers on the CPU" "G12 predict: the CPU is proposed"
run env DNN_EMULATE=stall:$((calls / 2)) DNN_PATIENCE=0.3 "$DNN" predict a.dnn big.csv -o f.csv --json
is_exit 81 "G12 into a file: 81"
[ ! -e f.csv ]
ok $? "G12 into a file: no file is left"
bash -c "cat big.csv | DNN_EMULATE=stall:$((calls / 2)) DNN_PATIENCE=0.3 '$DNN' predict a.dnn -" >out 2>err
is $? 81 "G12 from a pipe: 81"
check "whole" whole
run env DNN_EMULATE=stall:$((calls / 2)) DNN_PATIENCE=0.3 "$DNN" predict n.dnn big.csv -o lost.csv
is_exit 81 "G12 without a fallback: 81"
err_has "error[E1810]: the GPU hangs" "says what"
[ ! -e lost.csv ] && ! ls .*dnn-tmp* >/dev/null 2>&1
ok $? "nothing is left"
run env DNN_EMULATE=stall:$((calls / 2)) DNN_PATIENCE=0.3 "$DNN" evaluate a.dnn big.csv --json
is_exit 81 "G12 evaluate"
run env DNN_EMULATE=stall:60 DNN_PATIENCE=0.3 "$DNN" evaluate a.dnn d.csv --better-than b.dnn
is_exit 81 "G12 evaluate with two models"
for n in 5 40 150; do
    run env DNN_EMULATE=stall:$n DNN_PATIENCE=0.3 "$DNN" verify a.dnn
    [ $STATUS -eq 81 ] && grep -q 'error\[E1810\]: the GPU hangs' err
    ok $? "G12 verify, call $n: 81" "exit $STATUS: $(cat err)"
    run env DNN_EMULATE=stall:$n DNN_PATIENCE=0.3 "$DNN" check c.json --json
    [ $STATUS -eq 81 ] && grep -q '"id":"E1810"' out
    ok $? "G12 check, call $n: 81" "exit $STATUS: $(cat out err)"
done

# the end: all is done, and only the card is to be given back
at_end() { # how many calls there are is chance, as some ask whether something is done
    local all back
    all=$(DNN_EMULATE=report dnn "$@" 2>&1 >/dev/null | sed -n 's/^emulated: \([0-9]*\) calls.*/\1/p')
    for ((back = 1; back < 60; back += 4)); do
        run env DNN_EMULATE=stall:$((all - back)) DNN_PATIENCE=0.3 "$DNN" "$@"
        ! grep -q 'was only to be given back' err || break
    done
    [ $STATUS -eq 0 ] && one_warning && grep -q 'was only to be given back' err && grep -q '"used":"dnn_gpu"' out
    ok $? "G12 $1, $back calls before the end: 0, and what it found is told" "exit $STATUS: $(cat out err)"
}
at_end train n.json -o end.dnn --progress none --set train.epochs=1 --json
run dnn verify end.dnn
is_exit 0 "the model is whole"

# what was promised stands on standard output, whole and alone
told_json() {
    run env DNN_EMULATE=stall:$1 DNN_PATIENCE=0.3 "$DNN" "${@:2}" --json
    [ $STATUS -eq 81 ] && [ "$(wc -l <out)" -eq 1 ] &&
        grep -q '^{"schema":"dnn.error/1","id":"E1810","exit":81,.*has not come back for 0.3 seconds.*}$' out
    ok $? "G12 $2 --json, call $1: the error, in JSON" "exit $STATUS: $(cat out err)"
}
told_json 3 train n.json -o w.dnn --progress none
told_json 120 train n.json -o w.dnn --progress none
told_json 3 verify n.dnn
told_json 3 predict n.dnn d.csv -o lost.csv
told_json 3 evaluate n.dnn d.csv
told_json 60 bench --operation act
told_json 3 check n.json

# the first steps were short: ten seconds are enough, and nobody waits for ten minutes
began=$(now_ms)
run env DNN_EMULATE=hang:700,report "$DNN" train c.json --force -o x.dnn --progress none --set train.epochs=8
[ $STATUS -eq 0 ] && one_warning && [ $(($(now_ms) - began)) -lt 60000 ]
ok $? "G12 the limit follows from the measured steps" "exit $STATUS after $(($(now_ms) - began)) ms: $(cat err)"
err_has "hangs: no answer for 10 seconds" "as it says"

# a process that was stopped has waited for nothing
"$DNN" train c.json --force -o y.dnn --progress none --quiet --set train.epochs=40 --set train.early_stopping.patience=0 2>err &
pid=$!
(export DNN_PATIENCE=1; exec "$DNN" train c.json --force -o z.dnn --progress none --quiet --set train.epochs=40 \
    --set train.early_stopping.patience=0) 2>err.z &
other=$!
for _ in 1 2 3; do
    nap 300
    kill -STOP $pid $other 2>/dev/null
    nap 1300
    kill -CONT $pid $other 2>/dev/null
done
wait $pid && wait $other
ok $? "S07 stopped for longer than a GPU may take: nothing hangs" "$(cat err err.z)"
! grep -q 'hangs\|come back\|using CPU' err.z && cmp -s y.dnn z.dnn
ok $? "S07 another training beside it does not hang either" "$(cat err.z)"
done_testing
