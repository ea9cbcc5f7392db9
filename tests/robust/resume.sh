#!/bin/bash
# resume.sh - --resume takes the newest valid checkpoint of the same config and data, and no other. Ids: M17.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 3000
make_config c.json d.csv binary '"epochs": 40, "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0, "keep": 3}' \
    '"backend": {"name": "dnn_cpu", "threads": 1}, "output": {"model": "m.dnn"}'
run dnn train c.json -o whole.dnn --progress none
is_exit 0 "a training that nobody stops"
want=$(digest whole.dnn)
# three checkpoints, as a killed run leaves them
dies_at() { # FAULT ARGS...: status of a training that is killed there
    DNN_FAULT=kill:$1 "$HOOKED" train c.json --progress none "${@:2}" >/dev/null 2>&1 &
    wait $! 2>/dev/null
}
dies_at rename:9
is "$(ls m.dnn.ckpt-* | wc -l)" 3 "the newest three checkpoints are kept"
mkdir kept
cp m.dnn.ckpt-* kept

run dnn train c.json --progress none --set train.checkpoint.every_s=1000
is_exit 0 "without --resume it starts afresh"
err_has "--resume would go on from the newest one of this config and data" "without --resume: a note tells of the checkpoints"
is "$(ls m.dnn.ckpt-* | wc -l)" 3 "without --resume: the checkpoints stay"
is "$(digest m.dnn)" "$want" "the same bytes"

# a file of metrics that lost its end, in the middle of a line
DNN_FAULT=kill:rename:9 "$HOOKED" train c.json -o torn.dnn --progress none --set output.metrics=torn.jsonl >/dev/null 2>&1
head -c 700 torn.jsonl >half && cat half >torn.jsonl
mkdir found
cp torn.dnn.ckpt-* found
seen=0 bad=""
DNN_FAULT=count "$HOOKED" train c.json -o torn.dnn --progress none --resume --set output.metrics=torn.jsonl 2>&1 >/dev/null |
    grep 'fault counts' >counts
for kind in open read; do # before the metrics are cut, or after?
    low=1 high=$(sed -n "s/.* $kind=\([0-9]*\).*/\1/p" counts)
    while [ "$low" -le "$high" ]; do
        n=$(((low + high) / 2))
        cp found/* .
        cat half >torn.jsonl
        STATUS=0
        DNN_FAULT=$kind:$n+:EIO "$HOOKED" train c.json -o torn.dnn --progress none --resume --set output.metrics=torn.jsonl >out 2>err ||
            STATUS=$?
        if grep -q 'cannot be read, to cut it to whole lines' err; then
            seen=$((seen + 1))
            [ $STATUS -ne 0 ] && cmp -s half torn.jsonl || bad+="$kind $n: exit $STATUS, $(wc -c <torn.jsonl) bytes; "
            break
        fi
        if cmp -s half torn.jsonl; then low=$((n + 1)); else high=$((n - 1)); fi
    done
done
[ -z "$bad" ] && [ $seen -eq 2 ]
ok $? "metrics that lost their end and cannot be read: an error, and nothing is cut" "$seen seen; $bad"
cp found/* .
cat half >torn.jsonl
run dnn train c.json -o torn.dnn --progress none --resume --set output.metrics=torn.jsonl
is_exit 0 "metrics that lost their end"
err_has "is shorter than the checkpoint remembers"
perl -MJSON::PP -ne '$e = decode_json($_)->{epoch}; die "line $. is of epoch $e\n" if $. == 1 ? $e != 1 : $e <= $last; $last = $e;
    END { die "the last epoch is $last\n" if !$? && $last != 40 }' torn.jsonl 2>half
ok $? "each line is whole, from the first epoch to the last" "$(cat half)"
run dnn train c.json --resume --set train.epochs=41
is_exit 76 "M17 --resume with another config: 76"
err_has 'error[E1520]'
err_has "train.epochs" "the key that differs is named"
sed '9s/^0/1/' d.csv >e.csv
sed '9s/^-0/-1/' e.csv >f.csv
run dnn train c.json --resume --set data.train=f.csv
is_exit 76 "M17 --resume with other data: 76"
err_has "the data differ"
is "$(ls m.dnn.ckpt-* | wc -l)" 3 "the checkpoints are left"

run dnn train c.json --resume --set train.checkpoint.every_s=100 --set backend.threads=2 --set data.train=./d.csv
is_exit 0 "threads, paths and the checkpoint's rhythm may differ"
err_has "resuming at step"
is "$(digest m.dnn)" "$want" "the same bytes"
no_leftovers m.dnn "the checkpoints are gone"

# stopped beside a newer checkpoint of an earlier run of the same config and data: --resume takes the newer one
stop_after() { # stop_after SECONDS: of a training that lasts long
    env --default-signal=TERM "$DNN" train c.json -o two.dnn --progress none --set train.epochs=1000000 >out 2>err &
    sleep "$1"
    kill -TERM $!
    STATUS=0
    wait $! || STATUS=$?
}
stop_after 1.5
is_exit 75 "an earlier run, stopped"
err_has "with --resume continues from there"
older=$(ls two.dnn.ckpt-*)
stop_after 0.3
is_exit 75 "another one beside it, stopped sooner"
younger=$(ls two.dnn.ckpt-* | grep -v "$older")
run timeout -s TERM 0.3 "$DNN" train c.json -o two.dnn --progress none --set train.epochs=1000000 --resume
err_has "resuming at step $(echo "${older##*-}" | sed 's/^0*//') " "--resume takes the newer one"
rm -f two.dnn.ckpt-"${older##*-}"
run timeout -s TERM 0.3 "$DNN" train c.json -o two.dnn --progress none --set train.epochs=1000000 --resume
[ -n "$younger" ]
ok $? "both are there"
rm -f two.dnn*

newest=$(ls kept | tail -n 1)
for damage in cut flipped empty foreign; do
    cp kept/* .
    case $damage in
    cut) head -c 3000 "kept/$newest" >"$newest" ;;
    flipped) printf '\001' | dd of="$newest" bs=1 seek=4000 conv=notrunc 2>/dev/null ;;
    empty) : >"$newest" ;;
    foreign) cp whole.dnn "$newest" ;;
    esac
    run dnn train c.json --resume --progress none
    is_exit 0 "the newest one $damage: the one before serves"
    err_has "passed over" "the newest one $damage: a warning"
    is "$(digest m.dnn)" "$want" "the same bytes"
    rm -f m.dnn.ckpt-*
done
# one that could not be read is no damaged one: nothing starts afresh behind anybody's back
cp kept/* .
opens=$(DNN_FAULT=count "$HOOKED" train c.json --resume --progress none 2>&1 >/dev/null |
    sed -n 's/.*fault counts.* open=\([0-9]*\).*/\1/p')
bad="" refused=0
for error in EMFILE EACCES; do
    for ((n = 1; n <= opens; n++)); do
        rm -f m.dnn*
        cp kept/* .
        STATUS=0
        DNN_FAULT=open:$n:$error "$HOOKED" train c.json --resume --progress none >out 2>err || STATUS=$?
        grep -q 'starts afresh' err && bad+="open:$n:$error: started afresh; "
        grep -q 'passed over' err && [ $STATUS -eq 0 ] && ! grep -q 'resuming at step' err && bad+="open:$n:$error: passed over; "
        grep -Eq 'searched for checkpoints|ckpt-.*cannot be opened|make the checkpoint readable' err && refused=$((refused + 1))
    done
done
[ -z "$bad" ] && [ "${opens:-0}" -gt 0 ] && [ $refused -ge 4 ]
ok $? "a folder or checkpoint that could not be opened: an error" "$opens opens, $refused refused; $bad"
rm -f m.dnn*
cp kept/* .
reads=$(DNN_FAULT=count "$HOOKED" train c.json --resume --progress none 2>&1 >/dev/null |
    sed -n 's/.*fault counts.* read=\([0-9]*\).*/\1/p')
bad=""
for ((n = 1; n <= reads; n++)); do
    rm -f m.dnn*
    cp kept/* .
    DNN_FAULT=read:$n+:EIO "$HOOKED" train c.json --resume --progress none >out 2>err
    grep -q 'starts afresh' err && bad+="read:$n+:EIO; "
done
[ -z "$bad" ] && [ "${reads:-0}" -gt 0 ]
ok $? "a disk that cannot be read from some moment on: never afresh" "$reads reads; $bad"
rm -f m.dnn*
run dnn train c.json --resume --progress none
is_exit 0 "--resume without a checkpoint starts afresh"
err_has "no checkpoint to resume from" "--resume without a checkpoint: a note"
is "$(digest m.dnn)" "$want" "the same bytes"

# the time of all runs counts against the limit
cp kept/* .
run dnn train c.json --resume --time-limit 0.000001 --json
out_has '"stopped":"time_limit"' "a limit that earlier runs have used up: the best so far"
rm -f m.dnn*
# three seconds of a first life leave one of a limit of four, and the time left is told so; a busy machine takes its share of them
stop_at() { # SECONDS ARGS...: a training that never ends by itself is stopped
    "$DNN" train c.json --set train.epochs=1000000 --progress none "${@:2}" >/dev/null 2>&1 &
    nap "$1"
    kill -TERM $!
    wait $!
}
stop_at 3000
run dnn train c.json --resume --set train.epochs=1000000 --time-limit 4 --progress bar --json
is_exit 0 "a limit that earlier runs have almost used up"
spent=$(sed -n 's/.*"train":\([0-9.e+-]*\),"total".*/\1/p' out)
awk -v s="$spent" 'BEGIN { exit !(s < 2) }'
ok $? "leaves what is left of it: $spent s"
most=$(tr '\r' '\n' <err | sed -n 's/.*, \([0-9.]*\) s left.*/\1/p' | sort -g | tail -n 1)
awk -v s="${most:-99}" 'BEGIN { exit !(s < 2) }'
ok $? "the bar shows what is left of the time: at most $most s" "$(tr '\r' '\n' <err | tail -n 5)"
rm -f m.dnn*
# what was cut goes with the rest when the model is written
cp kept/* .
last=$(find . -name 'm.dnn.ckpt-*' | sort | tail -n 1)
truncate -s 700 "$last"
run dnn train c.json --resume --progress none
is_exit 0 "a checkpoint that was cut, and one before it"
err_has "passed over" "is told"
[ -z "$(find . -maxdepth 1 -name 'm.dnn.ckpt-*')" ]
ok $? "a cut checkpoint is removed with the others" "$(ls)"
rm -f m.dnn*
# a training that was stopped by patience, and one that lasts several lives
for turn in 1 2 3 4 5 6 7 8; do
    dies_at rename:2 --resume && break
done
run dnn train c.json --resume --progress none
is "$(digest m.dnn)" "$want" "eight lives: the same bytes"
done_testing
