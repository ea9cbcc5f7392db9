#!/bin/bash
# start.sh - a training opens its GPU while the data are read: what is said when either goes wrong, what the seconds say. DNN is
# build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
make_data d.csv 3000
make_config c.json d.csv binary '"epochs": 1' '"backend": {"name": "dnn_gpu", "fallback": "none"}'
run dnn train c.json --force -o m.dnn --progress none --json
is_exit 0 "a training"
awk 'match($0, /"seconds":\{"load":[0-9.e-]+,"start":[0-9.e-]+,"train":[0-9.e-]+,"total":[0-9.e-]+/) {
    split(substr($0, RSTART, RLENGTH), s, /[:,]/); sum = s[3] + s[5] + s[7]; exit !(s[3] > 0 && s[5] >= 0 && sum <= s[9] * 1.001) }' out
ok $? "its seconds are parts of the whole" "$(cat out)"
for order in 0 1 2 3; do
    run env DNN_EMULATE=hide,report,order:$order "$DNN" train c.json --force -o n.dnn --progress none
    err_has " 0 findings, 0 left" "nothing wrong in order $order"
    same n.dnn m.dnn "the same bytes"
done
# the rows come through a pipe, whose writer has them only when the GPU is open, or waited in vain
mkfifo pipe.csv
sed 's/"d.csv"/"pipe.csv"/' c.json >pipe.json
fed() { # NAME WANT ARGS..: whether the GPU was open before a row was read
    : >err
    { for _ in $(seq 100); do grep -q "Using GPU acceleration" err && echo 1 >open && break; sleep 0.1; done; cat d.csv; } >pipe.csv &
    rm -f open
    run env "${@:3}" "$DNN" train pipe.json --force -o n.dnn --progress none
    wait $!
    is "$STATUS $(cat open 2>/dev/null)" "$2" "$1"
    same n.dnn m.dnn "$1: the same bytes"
}
fed "the GPU opens before the data are there" "0 1" DNN_EMULATE=hide
fed "without a thread to be had, too" "0 1" DNN_FAULT=thread:1:11
# the other way round: the GPU never opens, and meanwhile they are read
rm -f open
timeout 30 bash -c 'cat d.csv >pipe.csv && echo 1 >open' &
run env DNN_EMULATE=stall:3 DNN_PATIENCE=2 "$DNN" train pipe.json --force -o x.dnn --progress none
kill $! 2>/dev/null
wait $!
is "$STATUS $(cat open 2>/dev/null)" "81 1" "the data are read while the GPU opens"
# nobody waits for rows where there is no machine to train on: none are coming, or nobody has opened the pipe
mkfifo idle
exec 9<>idle
sed 's/"d.csv"/"-"/' c.json >dash.json
for config in dash pipe; do
    for plan in devices:0:0 any:5:999 any:9:999; do
        STATUS=0
        DNN_EMULATE=$plan timeout 30 "$DNN" train $config.json --force -o x.dnn --progress none <&9 >out 2>err || STATUS=$?
        [ "$STATUS" -eq 69 ] || [ "$STATUS" -eq 81 ]
        ok $? "$config, $plan: not to be had, said at once" "exit $STATUS: $(cat err)"
    done
done
exec 9>&-
# what came through a pipe cannot be read by another process
sed 's/"none"/"cpu"/' dash.json >dash.cpu.json
for plan in break:60:719 hang:100 stall:300; do
    STATUS=0
    cat d.csv | DNN_EMULATE=$plan DNN_PATIENCE=0.5 timeout 30 "$DNN" train dash.cpu.json --force -o x.dnn --progress none >out 2>err ||
        STATUS=$?
    is_exit 81 "a fault, and rows from a pipe, $plan: 81"
    err_has "the CPU cannot go on: the rows came through a pipe" "a fault, and rows from a pipe, $plan: why the CPU does not take over"
done
sed 's/"d.csv"/"none.csv"/' c.json >absent.json
run env DNN_EMULATE=report "$DNN" train absent.json --force -o x.dnn --progress none
is_exit 66 "the data are not there"
err_has " 0 findings, 0 left" "the GPU that was opened is given back"
run env DNN_EMULATE=devices:0:0 "$DNN" train absent.json --force -o x.dnn --progress none
is_exit 69 "neither are they, nor is a GPU: that comes first"
sed 's/"none"/"cpu"/' absent.json >either.json
run env DNN_EMULATE=devices:0:0 "$DNN" train either.json --force -o x.dnn --progress none
is_exit 66 "no data and no GPU, fallback cpu: the data come first"
run env DNN_EMULATE=devices:0:0 "$DNN" train c.json --force -o x.dnn --progress none
is_exit 69 "data, and no GPU"
[ ! -e x.dnn ] && [ ! -e x.dnn.lock ]
ok $? "nothing is left"
for n in 1 3 5 8 12 20; do
    run env DNN_EMULATE=any:$n:999,report "$DNN" train c.json --force -o x.dnn --progress none
    [ $STATUS -ne 0 ] && [ $STATUS -lt 128 ]
    ok $? "call $n fails while the data are read: $STATUS" "$(cat err)"
done
done_testing
