#!/bin/bash
# signals.sh - what a running training does when it is asked to stop, to save or to say how far it is.
# Ids: S01 S02 S03 S04 S07 S08 S09 S10 X05.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 4000
make_config c.json d.csv binary '"epochs": 400, "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 600, "keep": 2}' \
    '"backend": {"name": "dnn_cpu", "threads": 1}'
run dnn train c.json -o whole.dnn --progress none
is_exit 0 "a training that nobody stops"
want=$(digest whole.dnn)

# start NAME ARGS...: a training in the background, PID; signals have their default action
start() {
    : >err # what the one before said is not this one's
    env --default-signal=INT,HUP,TERM "$DNN" train c.json -o "$1" --progress plain "${@:2}" >out 2>err &
    PID=$!
}
# until the first epochs are done
await_epoch() {
    for _ in $(seq 400); do
        grep -q '^dnn: epoch 3/' err && return 0
        kill -0 $PID 2>/dev/null || return 1
        sleep 0.01
    done
}
reap() {
    STATUS=0
    wait $PID || STATUS=$?
}
resume_same() { # MODEL NAME
    run dnn train c.json -o "$1" --resume --progress none
    is_exit 0 "$2: --resume ends well"
    is "$(digest "$1")" "$want" "$2: the same bytes as the training that nobody stopped"
    no_leftovers "$1" "$2: nothing is left"
}

for signal in TERM HUP XCPU; do
    start a.dnn
    await_epoch
    began=$(now_ms)
    kill -$signal $PID
    reap
    is_exit 75 "S01 SIG$signal: 75"
    [ $(($(now_ms) - began)) -lt 10000 ]
    ok $? "within 10 s"
    err_has "stopped by SIG$signal" && ls a.dnn.ckpt-* >/dev/null 2>&1
    ok $? "S01 SIG$signal: a checkpoint is left"
    resume_same a.dnn "SIG$signal"
done

# predict at a pipe: whoever waits for rows sees a signal at once, and one that comes before the input ends is no success
mkfifo rows
for signal in TERM:75 INT:130; do
    for how in waits ends; do
        : >answers
        env --default-signal=INT,TERM "$DNN" predict whole.dnn - <rows >answers 2>err &
        PID=$!
        exec 9>rows
        head -n 50 d.csv >&9
        for _ in $(seq 500); do [ "$(wc -l <answers)" -eq 50 ] && break; sleep 0.01; done
        kill -${signal%:*} $PID
        [ $how = ends ] && exec 9>&-
        began=$(now_ms)
        reap
        exec 9>&-
        is_exit ${signal#*:} "S01 predict at a pipe that $how: SIG${signal%:*} ${signal#*:}"
        [ $(($(now_ms) - began)) -lt 1500 ]
        ok $? "at once" "$(($(now_ms) - began)) ms"
        err_has "stopped by SIG${signal%:*} before the end of the input"
        is "$(wc -l <answers)" 50 "the rows that came are answered"
    done
done

start b.dnn
await_epoch
kill -INT $PID
reap
is_exit 130 "S02 SIGINT: 130 after a checkpoint"
err_has 'error[E1903]'
err_has "--resume" "it says how to go on"
resume_same b.dnn SIGINT

# a step of a minute: 14,000 rows in 219 batches through four million weights
make_data long.csv 20000
sed 's/"d.csv"/"long.csv"/; s/\[16, 8\]/[2048, 2048]/; s/"batch_size": 64/&, "grad_accumulation": 1024/' c.json >long.json
for command in "train long.json -o long.dnn" "check long.json"; do
    # shellcheck disable=SC2086 # words
    env --default-signal=INT,HUP,TERM "$DNN" $command >out 2>err &
    PID=$!
    sleep 2
    began=$(now_ms)
    kill -TERM $PID
    reap
    is_exit 75 "S01 ${command%% *}: SIGTERM within a step: 75"
    [ $(($(now_ms) - began)) -lt 2000 ]
    ok $? "at once" "$(($(now_ms) - began)) ms"
    if [ "${command%% *}" = check ]; then err_has "stopped by SIGTERM before the plan was made"; fi
done

# what only looks at data stops at the next block, and says which signal it was
yes 1,Rome,0.5,7 | head -n 6000000 | sed '1i a,b,c,y' >wide.csv
looks() { # SIGNAL EXIT ID ARGS...
    env --default-signal=INT,HUP,TERM "$DNN" "${@:4}" >out 2>err &
    PID=$!
    for _ in $(seq 400); do
        [ $((0x0$(sed -n 's/^SigCgt:\t//p' /proc/$PID/status) & 2)) -ne 0 ] && break
        sleep 0.01
    done
    kill -"$1" $PID
    reap
    is_exit "$2" "S02 $4 on SIG$1: $2"
    err_has "error[$3]: stopped by SIG$1 before the end of the file"
}
looks INT 130 E1903 init wide.csv --target y -o w.json
looks TERM 75 E1902 init wide.csv --target y -o w.json
looks INT 130 E1903 inspect wide.csv
[ ! -e w.json ]
ok $? "no config was written"
rm wide.csv

start c.dnn
await_epoch
kill -USR1 $PID
for _ in $(seq 200); do ls c.dnn.ckpt-* >/dev/null 2>&1 && break; sleep 0.01; done
ls c.dnn.ckpt-* >/dev/null 2>&1
ok $? "S03 SIGUSR1: a checkpoint"
kill -USR2 $PID
for _ in $(seq 200); do grep -q 'step .*best epoch' err && break; sleep 0.01; done
grep -q 'step .*best epoch' err
ok $? "S04 SIGUSR2: a status line" "$(tail -n 3 err)"
"$DNN" train c.json -o quiet.dnn --quiet --set train.epochs=1000000 --set train.early_stopping.patience=0 2>quiet.err &
quiet=$!
for _ in $(seq 200); do sleep 0.05 && kill -USR2 $quiet && grep -q 'step .*best epoch' quiet.err && break; done
grep -q 'step .*best epoch' quiet.err
ok $? "S04 SIGUSR2 with --quiet: a status line" "$(cat quiet.err)"
kill -TERM $quiet
wait $quiet
is $? 75 "S04 SIGTERM with --quiet: 75"
rm -f quiet.dnn*
kill -STOP $PID
sleep 0.3
kill -CONT $PID
reap
is_exit 0 "S07 stopped and continued: it goes on and ends well"
is "$(digest c.dnn)" "$want" "S07 stopped and continued: the same bytes"

# a thousand signals while it saves, again and again
start d.dnn --set train.checkpoint.every_s=0.02
await_epoch
for _ in $(seq 500); do kill -USR1 $PID 2>/dev/null; kill -USR2 $PID 2>/dev/null; done
kill -TERM $PID 2>/dev/null
kill -TERM $PID 2>/dev/null
reap
is_exit 75 "S08 a thousand signals and one SIGTERM that is delivered twice: 75"
count=0 bad=""
mkdir kept
mv d.dnn.ckpt-* kept
for f in kept/*; do # each alone, so that no other one can stand in for it
    count=$((count + 1))
    rm -f d.dnn d.dnn.ckpt-*
    cp "$f" .
    dnn train c.json -o d.dnn --resume --progress none >/dev/null 2>err2 || bad+="$f: $(tail -n 2 err2); "
    grep -q 'passed over' err2 && bad+="$f: passed over; "
    grep -q 'resuming at step' err2 || bad+="$f: not gone on from; "
    [ "$(digest d.dnn)" = "$want" ] || bad+="$f: other bytes; "
done
[ $count -ge 1 ] && [ -z "$bad" ]
ok $? "every checkpoint is whole and leads to the same bytes ($count)" "$bad"
no_leftovers d.dnn "no checkpoint is left at the end"

start e.dnn
await_epoch
kill -TERM $PID
sleep 0.3
kill -TERM $PID 2>/dev/null
reap
[ "$STATUS" -eq 75 ] || [ "$STATUS" -eq 143 ]
ok $? "a second SIGTERM: at once (143), or it had ended (75)" "$STATUS"
rm -f e.dnn*

mkfifo pipe
sed 's/d.csv/pipe/' c.json >p.json
env --default-signal=TERM "$DNN" train p.json -o f.dnn >out 2>err &
PID=$!
sleep 0.3
kill -TERM $PID
reap
is_exit 75 "S09 before any data came: 75"
err_has 'error[E1902]'
err_has "there is no checkpoint; start again"
no_leftovers f.dnn "nothing is left"

(
    trap '' HUP
    "$DNN" train c.json -o g.dnn --progress none >out 2>err &
    PID=$!
    sleep 0.3
    kill -HUP $PID
    wait $PID
)
ok $? "S10 SIGHUP that nohup ignores: it goes on"
is "$(digest g.dnn)" "$want" "to the end"

# X05 somebody reads a checkpoint while its keeper deletes it: what could be opened is whole
whole_file() { # the hash inside is that of the file with the hash as zeros
    local zeros=0000000000000000000000000000000000000000000000000000000000000000
    [ "$(head -c 99 "$1" | tail -c 64)" = "$( (head -c 35 "$1"; printf %s $zeros; tail -c +100 "$1") | sha256sum | cut -c1-64)" ]
}
start h.dnn --set train.checkpoint.every_s=0.02 --set train.checkpoint.keep=1
await_epoch
bad=0 read=0
while kill -0 $PID 2>/dev/null; do
    for f in h.dnn.ckpt-*; do
        cp "$f" copy 2>/dev/null || continue
        read=$((read + 1))
        whole_file copy || bad=$((bad + 1))
    done
done
reap
is $bad 0 "X05 a checkpoint that can be opened is whole, whatever its keeper deletes ($read were read)"
done_testing
