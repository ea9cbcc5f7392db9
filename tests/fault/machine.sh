#!/bin/bash
# machine.sh - the machine that computes fails at any of its plays, as a device does: 81, what was reached before is kept, --resume
# ends in the bytes of a training without faults; answers that were written stay. Ids: G09. One line reproduces any of them:
# DNN_FAULT=play:N.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 600
make_config c.json d.csv binary '"epochs": 4, "checkpoint": {"every_s": 300, "keep": 2}' \
    '"backend": {"name": "dnn_cpu", "threads": 2}, "output": {"metrics": "m.jsonl"}'
run dnn train c.json -o m.dnn --progress none
is_exit 0 "a training without faults"
want=$(digest m.dnn)
total=$(DNN_FAULT=count "$HOOKED" train c.json -o m.dnn --progress none 2>&1 >/dev/null | sed -n 's/.* play=\([0-9]*\).*/\1/p')
[ "${total:-0}" -gt 20 ]
ok $? "work given to the machine is counted: $total"

# fewer KIND N: there were not so many this time, as how many stretches an epoch has is a matter of time
fewer() { [ "$STATUS" -eq 0 ] && [ "$(sed -n "s/.* $1=\([0-9]*\).*/\1/p" err)" -lt "$2" ]; }
bad=""
for ((n = 1; n <= total; n += 1 + total / 25)); do
    rm -f m.dnn*
    STATUS=0
    DNN_FAULT=count,play:$n "$HOOKED" train c.json -o m.dnn --progress none >out 2>err || STATUS=$?
    ! fewer play $n || [ $n -lt 20 ] || continue
    [ $STATUS -eq 81 ] || bad+="play:$n: exit $STATUS; "
    grep -q 'error\[E1810\].*the machine "cpu" failed' err || bad+="play:$n: $(tail -n 2 err); "
    [ ! -e m.dnn ] || bad+="play:$n: a model is there; "
    if ls m.dnn.ckpt-* >/dev/null 2>&1; then
        grep -q 'with --resume goes on' err || bad+="play:$n: the checkpoint is not spoken of; "
    else
        grep -q 'starts at the first step' err || bad+="play:$n: no word of a new start; "
    fi
    "$DNN" train c.json -o m.dnn --resume --progress none >/dev/null 2>err || bad+="play:$n: resume: $(tail -n 2 err); "
    [ "$(digest m.dnn)" = "$want" ] || bad+="play:$n: other bytes; "
done
[ -z "$bad" ]
ok $? "G09 the machine fails: 81, nothing is lost, --resume ends in the same bytes" "$bad"

rm -f m.dnn*
run env DNN_FAULT=play:$((total - 1)) "$HOOKED" train c.json -o m.dnn --progress none
is_exit 81 "after the last epoch, while the model is measured"
err_has "no checkpoint had been written yet" \
    "what is kept is said: the host has weights without moments, and those are no state to go on from"
run dnn train c.json -o m.dnn --resume --progress none
is "$(digest m.dnn)" "$want" "a fault after the last epoch, resumed: the same model"

# what comes back from the machine: nothing that it did not have is taken for its weights
rm -f m.dnn*
make_config often.json d.csv binary '"epochs": 8, "checkpoint": {"every_s": 0, "keep": 2}, "early_stopping": {"min_delta": 9}' \
    '"backend": {"name": "dnn_cpu", "threads": 2}'
run dnn train often.json -o m.dnn --progress none
is_exit 0 "the first epoch is the best, all are checkpoints"
want=$(digest m.dnn)
for kind in fetch play; do
    total=$(DNN_FAULT=count "$HOOKED" train often.json -o m.dnn --progress none 2>&1 >/dev/null |
        sed -n "s/.* $kind=\([0-9]*\).*/\1/p")
    [ "${total:-0}" -gt 20 ]
    ok $? "$kind is counted: $total"
    bad=""
    seen=0
    hit=0
    for ((n = 1; n <= total; n += 1 + total / 25)); do
        rm -f m.dnn*
        STATUS=0
        DNN_FAULT=count,$kind:$n "$HOOKED" train often.json -o m.dnn --progress none >out 2>err || STATUS=$?
        ! fewer $kind $n || continue
        hit=$((hit + 1))
        [ $STATUS -eq 81 ] || bad+="$kind:$n: exit $STATUS; "
        ! grep -q 'nothing was written' err || ! grep -q 'is kept' err || bad+="$kind:$n: kept, and nothing was written; "
        [ ! -e m.dnn.ckpt-000000000000 ] || bad+="$kind:$n: a checkpoint of step 0; "
        newest=$(find . -name 'm.dnn.ckpt-*' | sort | tail -n 1)
        step=$((10#0${newest##*-}))
        [ $step -ge $seen ] || bad+="$kind:$n: the newest checkpoint is of step $step, after that of $seen; "
        seen=$step
        [ -z "$newest" ] || grep -q "is kept: \"m.dnn.ckpt-$(printf %012d "$step")\"" err || bad+="$kind:$n: $(tail -n 2 err); "
        "$DNN" train often.json -o m.dnn --resume --progress none >/dev/null 2>err || bad+="$kind:$n: resume: $(tail -n 2 err); "
        [ "$(digest m.dnn)" = "$want" ] || bad+="$kind:$n: other bytes; "
    done
    [ -z "$bad" ] && [ $seen -gt 40 ] && [ $hit -ge 10 ]
    ok $? "G09 $kind fails: the newest checkpoint stays the newest, and the message names it" "$bad ($seen, $hit hit)"
done
run dnn train c.json -o m.dnn --progress none
is_exit 0 "a model to answer with"

# answers: many groups of rows
awk 'NR == 1 { print; next } { rows[NR] = $0 } END { for (k = 0; k < 300; k++) for (i = 2; i <= NR; i++) print rows[i] }' d.csv >big.csv
run dnn predict m.dnn big.csv
is_exit 0 "answers without faults"
cp out all.csv
run env DNN_FAULT=play:60 "$HOOKED" predict m.dnn big.csv
is_exit 81 "G09 the machine fails in the middle of a prediction"
cp out part.csv
written=$(($(wc -l <part.csv) - 1))
[ $written -gt 0 ] && [ $written -lt $(($(wc -l <all.csv) - 1)) ]
ok $? "answers were written before: $written"
head -n $((written + 1)) all.csv | cmp -s - part.csv
ok $? "they are whole lines and those of a run without faults"
err_has "the answers to the first $written rows are written" "the error counts the answers that were written"
run env DNN_FAULT=play:60 "$HOOKED" predict m.dnn big.csv -o answers.csv
is_exit 81 "into a file"
err_has "are dropped" "they are not kept"
[ ! -e answers.csv ]
ok $? "a fault while answers go into a file: no file is left"
run env DNN_FAULT=play:2 "$HOOKED" evaluate m.dnn d.csv
is_exit 81 "evaluate: 81"
run env DNN_FAULT=play:1 "$HOOKED" verify m.dnn
is_exit 81 "verify: 81"
run env DNN_FAULT=play:3 "$HOOKED" check c.json
is_exit 81 "check: 81"
done_testing
