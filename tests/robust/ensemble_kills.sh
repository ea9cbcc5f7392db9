#!/bin/bash
# ensemble_kills.sh - an ensemble that is stopped or killed while runs are at work: --resume goes on inside them and ends in the
# bytes of a training that nobody stopped.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 1000
make_config c.json d.csv binary '"epochs": 60, "early_stopping": {"patience": 0}, "checkpoint": {"keep": 2}' \
    '"ensemble": {"folds": 2, "members": [{"name": "A", "model": {"dropout": 0.2}}, {"name": "L", "model": {"preset": "linear"}},
    {"name": "B", "model": {"norm": "batch"}}]}, "backend": {"name": "dnn_cpu"}'
began=$(now_ms)
run dnn train c.json -o whole.dnn --progress none --threads 1
is_exit 0 "an ensemble that nobody stops"
took=$(($(now_ms) - began))
want=$(digest whole.dnn)
cut_after() { # cut_after SIGNAL MS ARGS...: a training of cut.dnn that gets the signal then; its status in STATUS
    "$DNN" train c.json -o cut.dnn --verbose "${@:3}" >out 2>err &
    local pid=$!
    nap "$2"
    kill -"$1" $pid 2>/dev/null
    STATUS=0
    wait $pid 2>/dev/null || STATUS=$?
}
resumed() { # resumed ARGS...: after a cut
    run dnn train c.json -o cut.dnn --resume --verbose "$@"
    [ "$STATUS" -eq 0 ] || lost=$((lost + 1))
    ! grep -q "goes on at step" err || inside=$((inside + 1))
    [ "$(digest cut.dnn)" = "$want" ] || other=$((other + 1))
    [ "$(ls cut.dnn*)" = cut.dnn ] || other=$((other + 1))
    rm -f cut.dnn*
}
inside=0 other=0 lost=0
for threads in 1 2; do
    for renames in 1 35 61 150 246; do # kill -9: 60 checkpoints of each network, 6 runs
        DNN_FAULT=kill:rename:$renames "$HOOKED" train c.json -o cut.dnn -q --threads $threads --set train.checkpoint.every_s=0 &
        wait $! 2>/dev/null
        resumed --threads $((3 - threads))
    done
done
[ $inside -ge 4 ]
ok $? "killed while runs were at work" "$inside of 10 resumed inside a run"
for threads in 1 2; do
    for percent in 30 55 80; do
        cut_after TERM $((took * percent / 100 / threads)) --threads $threads
        resumed --threads $((3 - threads))
    done
done
is $lost 0 "every resume goes through"
is $other 0 "the same bytes, whatever the moment and the threads, and nothing is left"
# stopped again and again, without checkpoints in between: nothing is done twice
left=40
while [ $left -gt 0 ]; do
    cut_after TERM $((took / 4)) --resume --threads 2
    [ $STATUS -ne 0 ] || break
    left=$((left - 1))
done
is "$STATUS" 0 "an ensemble that is stopped all the time comes to its end"
is "$(digest cut.dnn)" "$want" "the same bytes"
no_leftovers cut.dnn "nothing is left"
rm -f cut.dnn
# SIGUSR1 is for all runs at work
"$DNN" train c.json -o cut.dnn --verbose --threads 2 --set train.epochs=100000 2>err &
pid=$!
nap 300
for ((i = 0; i < 100; i++)); do
    kill -USR1 $pid
    nap 20
    [ "$(ls cut.dnn.ckpt-run-0.ckpt-* cut.dnn.ckpt-run-1.ckpt-* 2>/dev/null | sed 's/.ckpt-[0-9]*$//' | sort -u | wc -l)" -lt 2 ] || break
done
kill -USR2 $pid
for ((i = 0; i < 100; i++)); do grep -q "runs are finished" err && break || nap 20; done
kill -TERM $pid
wait $pid
is $? 75 "SIGTERM: 75"
grep -q ' runs are finished$' err
ok $? "SIGUSR2: how many runs are finished"
ok "$(ls cut.dnn.ckpt-run-0.ckpt-* cut.dnn.ckpt-run-1.ckpt-* >/dev/null 2>&1; echo $?)" "both runs at work wrote checkpoints" "$(ls)"
err_has "2 in progress have checkpoints" "SIGTERM: two runs have checkpoints, and it is told"
err_has "with --resume continues from there"
run dnn train c.json -o cut.dnn --resume
is_exit 76 "another config: not resumed"
err_has "train.epochs" "another config: the error says what differs"
run dnn train c.json -o cut.dnn --set train.epochs=2
err_has "2 runs of an earlier training will be replaced" "without --resume they are noted"
no_leftovers cut.dnn "and replaced"
cut_after TERM $((took / 3)) --threads 2
run dnn train c.json -o cut.dnn --resume=or-restart --set train.epochs=2
is_exit 0 "--resume=or-restart: they are removed"
no_leftovers cut.dnn "nothing is left"
# one run alone
DNN_FAULT=kill:rename:9 "$HOOKED" train c.json --run 4 -o part4 -q --set train.checkpoint.every_s=0 &
wait $! 2>/dev/null
ok "$(ls part4.ckpt-* >/dev/null 2>&1; echo $?)" "a run alone, killed: its checkpoints are there"
run dnn train c.json --run 4 -o part4 --resume --verbose
is_exit 0 "a run alone, killed, is resumed"
err_has "run 4 goes on at step" "inside"
no_leftovers part4 "its checkpoints are gone"
for i in 0 1 2 3 5; do dnn train c.json --run $i -o part$i -q; done
run dnn merge c.json part? -o merged.dnn
is "$(digest merged.dnn)" "$want" "merged: the same bytes"
done_testing
