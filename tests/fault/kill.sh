#!/bin/bash
# kill.sh - kill -9 at 50 seeded moments and at every step of writing: what is on the disk is whole, and --resume ends in the bytes
# of a training that was never stopped. Ids: S06 S12 F12 F14 X02. KILLS=n changes the number, SEED=n the moments.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
KILLS=${KILLS:-50}
RANDOM=${SEED:-20260}
make_data d.csv 3000
make_config c.json d.csv binary '"epochs": 40, "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0.03, "keep": 2}' \
    '"backend": {"name": "dnn_cpu", "threads": 2}, "output": {"metrics": "m.jsonl"}'
cp c.json whole.json
sed -i 's/m.jsonl/w.jsonl/' whole.json
began=$(now_ms)
run dnn train whole.json -o whole.dnn --progress none
is_exit 0 "a training that nobody stops"
took=$(($(now_ms) - began))
want=$(digest whole.dnn)

# starts a training of part.dnn and kills it after $1 ms; status 0 when it was over before
killed_after() {
    "$DNN" train c.json -o part.dnn --resume --progress none >/dev/null 2>>errors &
    local pid=$!
    nap "$1"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
}
other=0 torn=0 lost=0 finished=0
for ((i = 0; i < KILLS; i++)); do
    if killed_after $((RANDOM % (took + took / 4) + 1)); then finished=$((finished + 1)); fi
    # a second death of some, while resuming
    [ $((i % 5)) -ne 0 ] || killed_after $((RANDOM % (took / 2) + 1))
    if [ -e part.dnn ] && ! "$DNN" inspect part.dnn >/dev/null 2>&1; then torn=$((torn + 1)); fi
    if ! "$DNN" train c.json -o part.dnn --resume --progress none >/dev/null 2>>errors; then lost=$((lost + 1)); fi
    [ "$(digest part.dnn)" = "$want" ] || other=$((other + 1))
    rm -f part.dnn
done
is $lost 0 "S06 X02 $KILLS kills: every resume goes through ($finished trainings were over before)"
is $torn 0 "no half-written model was ever seen"
is $other 0 "every model has the bytes of the one that nobody stopped"
cmp -s <(sed 's/"rows_per_s.*//' w.jsonl) <(sed 's/"rows_per_s.*//' m.jsonl)
ok $? "output.metrics holds every epoch once"
grep -q 'ended abruptly' errors
ok $? "S12 a resumed training says that the one before ended abruptly"
no_leftovers part.dnn "F14 nothing is left beside the model"

# at every call of the writing path, of three checkpoints and of the model
make_config s.json d.csv binary '"epochs": 3, "checkpoint": {"every_s": 0, "keep": 2}' '"backend": {"name": "dnn_cpu", "threads": 1}'
run dnn train s.json -o part.dnn --progress none
want=$(digest part.dnn)
bad=0 calls=0
for kind in write fsync rename open close; do
    for ((n = 1; ; n++)); do
        rm -f part.dnn*
        DNN_FAULT=kill:$kind:$n "$HOOKED" train s.json -o part.dnn --progress none >/dev/null 2>&1 &
        status=0
        wait $! 2>/dev/null || status=$?
        [ $status -eq 137 ] || break
        calls=$((calls + 1))
        "$DNN" train s.json -o part.dnn --resume --progress none >/dev/null 2>errors || bad=$((bad + 1))
        [ "$(digest part.dnn)" = "$want" ] || bad=$((bad + 1))
    done
done
is $bad 0 "F12 killed in place of $calls calls: old or new, whole, and resumed to the same bytes"
[ $calls -ge 20 ]
ok $? "the writing path was reached"
no_leftovers part.dnn "nothing is left beside the model"
done_testing
