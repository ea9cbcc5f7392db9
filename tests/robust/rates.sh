#!/bin/bash
# rates.sh - a training resumed with another learning rate: which checkpoints it keeps, over several stops. Ids: N01 M17.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data v.csv 600 value
make_config v.json v.csv regression '"epochs": 30' '"backend": {"name": "dnn_cpu", "threads": 1}'
train() { run dnn train v.json -o m.dnn --progress none --set train.checkpoint.every_s=0 "$@"; }
killed() { # RENAMES ARGS...: at its RENAMES-th rename
    run env "DNN_FAULT=kill:rename:$1" "$HOOKED" train v.json -o m.dnn --progress none --set train.checkpoint.every_s=0 "${@:2}"
}
checkpoints() { find . -maxdepth 1 -name 'm.dnn.ckpt-*' | sort; }
afresh() { # a further --resume has nothing to go on from: NAME ARGS...
    is_exit 0 "$1: it goes on to the end"
    no_leftovers m.dnn "$1: and no checkpoint of the other rate is left"
    train "${@:2}"
    err_has "there is no checkpoint to resume from" "$1: which another --resume could go back to"
    rm -f m.dnn*
}

# stopped twice, each time at the other rate's best epoch or behind it; a rate at which no epoch is better
killed 11
first=$(checkpoints | tail -n 1)
[ -n "$first" ]
ok $? "a training is killed that left a checkpoint" "$(cat err)"
other=(--resume --set train.optimizer.learning_rate=1)
killed 4 "${other[@]}"
err_has "going on with another train.optimizer.learning_rate" "another rate"
[ -e "$first" ] && [ "$(checkpoints | wc -l)" = 3 ]
ok $? "killed again: the checkpoint that it went on from is held beside two newer ones" "$(checkpoints)"
killed 4 "${other[@]}"
err_lacks "another train.optimizer.learning_rate" "the same rate once more"
[ -e "$first" ] && [ "$(checkpoints | wc -l)" = 3 ]
ok $? "N01 it is still held, as by a training that was not killed" "$(checkpoints)"
train "${other[@]}"
afresh "M17 two rates" "${other[@]}"

# the same, to a third rate in between
killed 11
killed 4 "${other[@]}"
killed 4 --resume --set train.optimizer.learning_rate=0.9
train --resume --set train.optimizer.learning_rate=0.9
afresh "three rates" --resume

# what the message of a training that diverged advises
cliff=(--set train.schedule.warmup=0.9 --set train.early_stopping.patience=0)
train "${cliff[@]}" --set 'train.optimizer={"type":"sgd","learning_rate":2,"momentum":0.9}'
is_exit 80 "N01 a rate that grows until it blows up: 80"
lower=("${cliff[@]}" --set 'train.optimizer={"type":"sgd","learning_rate":0.01,"momentum":0.9}' --resume)
killed 4 "${lower[@]}"
err_has "going on with another train.optimizer.learning_rate" "it goes on at a lower rate, and is killed"
train "${lower[@]}"
afresh "N01 as advised" "${lower[@]}"

# an epoch far worse than a constant answer is nothing to go back to: the advice is another start, and it is followed
make_data b.csv 400
make_config b.json b.csv binary '"epochs": 8' '"backend": {"name": "dnn_cpu", "threads": 1}'
wild=(--set train.batch_size=256 --set train.optimizer.type=sgd --set output.metrics=b.jsonl)
run dnn train b.json -o b.dnn --progress none "${wild[@]}" --set train.optimizer.learning_rate=300
is_exit 80 "N01 a first epoch of a rate that is far too high: 80"
loss=$(head -n 1 b.jsonl | sed -n 's/.*"logloss":\([0-9.]*\).*/\1/p')
awk -v l="$loss" 'BEGIN { exit !(l > 10) }'
ok $? "it ended, far worse than a constant answer: $loss"
err_has "and start again" "N01 the advice is another start"
err_lacks "is kept" "nothing is called good"
no_leftovers b.dnn "and nothing is left to be gone on from"
run dnn train b.json -o b.dnn --progress none "${wild[@]}" --set train.optimizer.learning_rate=0.1 --resume
is_exit 0 "N01 followed, with --resume too: it comes to its end"
# inside the first epoch: what was written behind the explosion is nothing to go back to, and one whose first step is ruined neither
inside() { # RATE ARGS..: checkpoints within the epoch
    run dnn train b.json -o b.dnn --progress none --set train.batch_size=8 --set train.optimizer.type=sgd \
        --set train.checkpoint.every_s=0.00001 --set train.schedule.type=constant --set train.optimizer.learning_rate="$@"
}
inside 300
is_exit 80 "N01 an explosion inside the first epoch: 80"
for c in b.dnn.ckpt-*; do
    [ ! -e "$c" ] || [ "$((10#${c##*-}))" -le 3 ]
    ok $? "N01 no checkpoint is left of behind its first steps" "$c: $(cat err)"
done
for rate in 0.1 0.01; do
    [ "$STATUS" != 80 ] || inside $rate --resume
    [ "$STATUS" = 0 ] || grep -q 'start again' err
    ok $? "N01 followed with $rate: it comes to its end, or the advice is another start" "$(cat err)"
done
rm -f b.dnn*
# one that comes from far is as good as it was
awk 'NR > 1 { split($0, f, ","); $0 = (f[1] + 2) * 7500 "," (f[2] - 3) * 7500 "," f[3] "," f[4] } { print }' v.csv >far.csv
make_config far.json far.csv regression '"epochs": 3' '"backend": {"name": "dnn_cpu", "threads": 1}'
sed -i 's/"numeric"/{"type": "numeric", "scale": "none"}/g; s/"preset": "mlp", "hidden": \[16, 8\]/"preset": "linear"/' far.json
run dnn train far.json -o far.dnn --progress none --set train.checkpoint.every_s=0 --set train.optimizer.learning_rate=0.0001
is_exit 0 "N01 a training whose loss comes from far goes to its end"

# validation rows may lie elsewhere than the training rows: what a constant answer reaches on them is the measure
awk 'BEGIN { srand(1); for (i = 0; i <= 380; i++) { a = rand(); b = rand(); f = i < 300 ? "near.csv" : "off.csv"; o = i < 300 ? 0 : 30
             if (i == 0 || i == 300) print "a,b,y" >f; else printf "%.4f,%.4f,%.4f\n", a, b, a + 2 * b + o >f } }'
cat >off.json <<'J'
{"task": "regression", "data": {"train": "near.csv", "valid": "off.csv", "target": "y", "columns": {"a": "numeric", "b": "numeric"},
 "split": {"test": 0.1}}, "model": {"layers": [{"type": "dense", "units": 16}, {"type": "relu"}]},
 "train": {"epochs": 20, "batch_size": 32, "early_stopping": {"patience": 0}, "optimizer": {"type": "sgd", "learning_rate": 0.01}},
 "backend": {"name": "dnn_cpu", "threads": 1}, "output": {"model": "off.dnn"}}
J
for loss in mse mae huber quantile; do
    other=(--set train.loss.type=$loss --set train.optimizer.momentum=0.9)
    [ $loss != mse ] || other=()
    rm -f off.dnn*
    DNN_FAULT=kill:rename:9 "$HOOKED" train off.json --progress none --set train.checkpoint.every_s=0 "${other[@]}" >/dev/null 2>&1
    before=$(ls off.dnn.ckpt-*)
    run dnn train off.json --progress none --resume "${other[@]}" --set train.optimizer.learning_rate=1000
    is_exit 80 "N01 validation rows of another level, $loss, and a rate that is too high: 80"
    err_has "the last good checkpoint is kept" "a good epoch is known for one"
    for c in $before; do [ -e "$c" ] || before=missing; done
    [ "$before" != missing ] && [ -n "$before" ]
    ok $? "and what was gone on from stays" "$(ls off.dnn*)"
done

# of another rate, older, and another training's: begun afresh beside it, not gone on from
resumed_beside() { # NAME RENAMES ARGS..: beside a training of "${first[@]}", stopped and resumed, what was there stays as if it had not been stopped
    killed 7 "${first[@]}"
    before=$(checkpoints)
    killed "$2" "${@:3}"
    train "${@:3}" --resume
    is_exit "$EXIT" "$1: it is killed, and goes on to the end"
    for c in $before; do [ -e "$c" ] || before=missing; done
    [ "$before" != missing ] && [ -n "$before" ]
    ok $? "$1: another training's checkpoints are left" "$(checkpoints)"
}
first=()
EXIT=0 resumed_beside "N01 a first try of another rate" 11 --set train.optimizer.learning_rate=0.02
[ "$(checkpoints)" = "$before" ]
ok $? "and nothing else, as by a training that was not stopped" "$(checkpoints)"
rm -f m.dnn*
first=("${cliff[@]}" --set 'train.optimizer={"type":"sgd","learning_rate":0.01,"momentum":0.9}')
EXIT=80 resumed_beside "N01 it blows up" 15 "${cliff[@]}" \
    --set 'train.optimizer={"type":"sgd","learning_rate":2,"momentum":0.9}'
err_has "the last good checkpoint is kept" "there is one to go back to"
for c in $before; do err_lacks "${c#./}" "and it is its own"; done
rm -f m.dnn*

# one of another rate that is newer is not of this training's past
killed 11
newer=$(checkpoints | tail -n 1)
train --set train.optimizer.learning_rate=0.3 --set train.epochs=3
is_exit 0 "a training of another kind, afresh"
[ -e "$newer" ]
ok $? "leaves the checkpoints that were there" "$(checkpoints)"
done_testing
