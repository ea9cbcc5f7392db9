#!/bin/bash
# stopped.sh - a signal, or the time limit, and a GPU that fails or hangs: whoever asked for the end gets it, with what there is to go
# on from, and no other process begins the work again; a config that came through a pipe is not lost with the process that read it.
# Ids: G09 G12 S01. DNN is build/emulated/dnn; DNN_EMULATE=term:N, break:N, hang:N, stall:N.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
make_data d.csv 300
make_config c.json d.csv binary '"epochs": 12, "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0}' \
    '"backend": {"name": "dnn_gpu"}'
make_config long.json d.csv binary '"epochs": 1000000, "checkpoint": {"every_s": 0}, "early_stopping": {"patience": 0}' \
    '"backend": {"name": "dnn_gpu"}'
sed 's/"name": "dnn_gpu"/"name": "dnn_gpu", "fallback": "none"/' c.json >n.json

# --- a signal, and then the card hangs: the limit of the card ends it, and no other process begins the work again ---
# waits NAME COMMAND..: in the background; its exit and the seconds it took go to NAME.exit
waits() {
    local name=$1
    shift
    (
        began=$(now_ms)
        "$@" >$name.out 2>$name.err
        echo "$? $(($(now_ms) - began))" >$name.exit
    ) &
}
at_first="DNN_PATIENCE=4 DNN_EMULATE=hang:100"
dnn train c.json --force -o m.dnn --progress none --quiet --backend dnn_cpu
waits train env $at_first timeout --preserve-status -k 30 2 "$DNN" train c.json --force -o w1.dnn --progress none
waits int env $at_first timeout --preserve-status -s INT -k 30 2 "$DNN" train c.json --force -o w3.dnn --progress none --json
waits call env DNN_PATIENCE=4 DNN_EMULATE=stall:150 timeout --preserve-status -k 30 2 "$DNN" train c.json --force -o w4.dnn --progress none
waits predict env DNN_PATIENCE=4 DNN_EMULATE=hang:30 timeout --preserve-status -k 30 2 "$DNN" predict m.dnn d.csv --backend dnn_gpu -o p.csv
waits limit env $at_first timeout --preserve-status -k 30 25 "$DNN" train c.json --force -o w5.dnn --progress none \
    --time-limit 1 --json
waits limit_call env DNN_PATIENCE=4 DNN_EMULATE=stall:150 timeout --preserve-status -k 30 25 "$DNN" train c.json --force -o w6.dnn \
    --progress none --time-limit 1
waits measured env DNN_PATIENCE=5 DNN_EMULATE=hang:400 timeout --preserve-status -k 30 2 "$DNN" train long.json \
    --force -o w8.dnn --progress none
waits mask env DNN_PATIENCE=1 DNN_EMULATE=stall:300 timeout --preserve-status -k 30 5 "$DNN" train long.json \
    --force -o w7.dnn --progress none
wait
# ended NAME EXIT WORDS: not in ten minutes
ended() {
    local code took
    read -r code took <"$1.exit"
    [ "$code" -eq "$2" ] && [ "$took" -lt 13000 ] && grep -q "$3" "$1.err" "$1.out"
    ok $? "G12 S01 $1: ended, while the card hangs" "exit $code after $took ms: $(cat "$1.out" "$1.err")"
}
ended train 81 'E1810.*: GPU 0 (.*) hangs: no answer for 4 seconds; last given.*there is no checkpoint'
ended int 81 '"id":"E1810","exit":81,.*GPU 0.*hangs.*may need kill -9'
ended call 81 'E1810.*: the GPU hangs: cuda.* has not come back for 4 seconds'
ended predict 75 'E1902.*: stopped by SIGTERM'
ended limit 0 '"stopped":"time_limit"'
ended limit_call 0 'the GPU hangs: cuda.* has not come back for 4 seconds.*; starting again on the CPU'
ended measured 81 'E1810.*hangs.* checkpoint'
ended mask 75 'E1902.*: stopped by SIGTERM; the checkpoint ".*" is written'

# --- a signal, and then the card breaks ---
run env DNN_EMULATE=term:150,break:152:700 "$DNN" train c.json --force -o a.dnn --progress none
is_exit 81 "G09 S01 a signal at piece of work 150, a fault at 152: it ends"
err_has "GPU 0 (emulated) failed" "a signal, and then a fault: it says what broke"
err_has "the last good checkpoint is kept: \"a.dnn.ckpt-" "a signal, and then a fault: the checkpoint is kept"
err_lacks "continuing on the CPU" "a signal, and then a fault: the CPU does not go on"
run dnn train c.json --force -o a.dnn --progress none --resume --backend dnn_cpu
is_exit 0 "from which --resume goes on"
run env DNN_EMULATE=term:150,break:152:700 "$DNN" train n.json --force -o a.dnn --progress none
is_exit 81 "where no CPU may go on, a broken card is told as one"

# --- the config comes through a pipe ---
rm -f a.dnn*
run dnn train c.json --force -o want.dnn --progress none --backend dnn_cpu
for n in 40 150; do
    rm -f a.dnn*
    bash -c "cat c.json | DNN_EMULATE=break:$n:700 '$DNN' train /dev/stdin -o a.dnn --progress none" >out 2>err
    is $? 0 "G09 break:$n, a config from standard input: the CPU goes on"
    check "G09 break:$n, a config from standard input: the model is whole" dnn verify a.dnn --backend dnn_cpu
done
rm -f a.dnn*
bash -c "DNN_EMULATE=break:150:700 '$DNN' train <(cat c.json) -o a.dnn --progress none --set train.epochs=14" >out 2>err
is $? 0 "as it does with <(...), and a --set"
err_has "of 14)" "--set train.epochs holds when the CPU goes on"
mkfifo pipe
cat c.json >pipe &
run env DNN_EMULATE=break:150:700 "$DNN" train pipe -o a.dnn --progress none
is_exit 0 "G09 a config from a named pipe: the CPU goes on"
bash -c "DNN_EMULATE=stall:300 DNN_PATIENCE=0.5 '$DNN' train <(cat c.json) -o a.dnn --progress none" >out 2>err
is $? 0 "G09 a config from <(...), and a call that does not come back: the CPU goes on"
# a config that is another one by now
cp c.json moves.json
(export DNN_PATIENCE=1 DNN_EMULATE=hang:150; exec "$DNN" train moves.json --force -o b.dnn --progress none 2>moves.err) &
pid=$!
for _ in $(seq 100); do ls b.dnn.ckpt-* >/dev/null 2>&1 && break; nap 50; done
echo '{"no": "config"}' >moves.json
wait $pid
is $? 0 "the config is the one that the training began with" "$(cat moves.err)"

# --- predict and evaluate go on in the same process after a fault ---
run dnn predict want.dnn d.csv
cp out want.csv
for job in predict evaluate; do
    bash -c "DNN_EMULATE=break:40:700 '$DNN' $job want.dnn <(cat d.csv) --backend dnn_gpu" >out 2>err
    is $? 0 "G09 $job of rows that come through a pipe, and the card breaks"
    bash -c "DNN_PATIENCE=0.5 DNN_EMULATE=stall:60 '$DNN' $job want.dnn <(cat d.csv) --backend dnn_gpu" >out 2>err
    is $? 81 "G12 $job, and the card hangs"
done
run env DNN_FAULT=thread:2 DNN_EMULATE=report "$DNN" predict want.dnn d.csv --backend dnn_gpu
[ $STATUS -eq 0 ] && grep -q ' 0 findings' err && cmp -s out want.csv
ok $? "no thread beside: none later either, and one drives the card" "exit $STATUS: $(tail -3 err)"
done_testing
