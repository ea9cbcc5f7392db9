#!/bin/bash
# start.sh - a training opens its GPU while the data are read: what is said when either goes wrong, what the seconds say. DNN is
# build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_FALLBACK DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
make_data d.csv 3000
make_config c.json d.csv binary '"epochs": 1' '"backend": {"name": "dnn_gpu", "fallback": "none"}'
run dnn train c.json -o m.dnn --progress none --json
is_exit 0 "a training"
awk 'match($0, /"seconds":\{"load":[0-9.e-]+,"start":[0-9.e-]+,"train":[0-9.e-]+,"total":[0-9.e-]+/) {
    split(substr($0, RSTART, RLENGTH), s, /[:,]/); sum = s[3] + s[5] + s[7]; exit !(s[3] > 0 && s[5] >= 0 && sum <= s[9] * 1.001) }' out
ok $? "its seconds are parts of the whole" "$(cat out)"
for order in 0 1 2 3; do
    run env DNN_EMULATE=hide,report,order:$order "$DNN" train c.json -o n.dnn --progress none
    err_has " 0 findings, 0 left" "nothing wrong in order $order"
    same n.dnn m.dnn "the same bytes"
done
sed 's/"d.csv"/"none.csv"/' c.json >absent.json
run env DNN_EMULATE=report "$DNN" train absent.json -o x.dnn --progress none
is_exit 66 "the data are not there"
err_has " 0 findings, 0 left" "the GPU that was opened is given back"
run env DNN_EMULATE=devices:0:0 "$DNN" train absent.json -o x.dnn --progress none
is_exit 69 "neither are they, nor is a GPU: that comes first"
sed 's/"none"/"cpu"/' absent.json >either.json
run env DNN_EMULATE=devices:0:0 "$DNN" train either.json -o x.dnn --progress none
is_exit 66 "with the CPU in its place, the data"
run env DNN_EMULATE=devices:0:0 "$DNN" train c.json -o x.dnn --progress none
is_exit 69 "data, and no GPU"
[ ! -e x.dnn ] && [ ! -e x.dnn.lock ]
ok $? "nothing is left"
for n in 1 3 5 8 12 20; do
    run env DNN_EMULATE=any:$n:999,report "$DNN" train c.json -o x.dnn --progress none
    [ $STATUS -ne 0 ] && [ $STATUS -lt 128 ]
    ok $? "call $n fails while the data are read: $STATUS" "$(cat err)"
done
done_testing
