#!/bin/bash
# overlap.sh - answers of a GPU while the rows behind them are read and those before them are written: the order, the bytes, what bad
# rows do, where a fault goes on. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
make_data d.csv 500
make_config c.json d.csv binary '"epochs": 2' '"backend": {"name": "dnn_gpu"}'
dnn train c.json --force -o m.dnn --progress none --quiet
make_data rows.csv 15000
awk 'NR % 997 == 500 { sub(/^[^,]*/, "nine") } { print }' rows.csv >big.csv # every 997th row cannot be read

# one group at a time has nothing to be beside of
bad=0
for from in 2 3002 6002 9002 12002; do
    { head -n 1 big.csv; tail -n +$from big.csv | head -n 3000; } >part.csv
    dnn predict m.dnn part.csv --on-bad-row null --quiet >part.out || bad=1
    [ $from -eq 2 ] || sed -i 1d part.out
    cat part.out >>want.csv
done
is "$bad $(wc -l <want.csv)" "0 15001" "answers in parts of one group"
for order in 0 1 2 3; do
    run env DNN_EMULATE=hide,report,order:$order "$DNN" predict m.dnn big.csv --on-bad-row null
    same out want.csv "the same bytes in order $order"
    err_has " 0 findings, 0 left" "no finding in order $order"
done
run bash -c 'cat big.csv | "$DNN" predict m.dnn - --on-bad-row null'
same out want.csv "through a pipe"
run dnn predict m.dnn big.csv big.csv --on-bad-row null
{ cat want.csv; tail -n +2 want.csv; } >twice.csv
same out twice.csv "of two inputs"
run dnn predict m.dnn big.csv --on-bad-row skip --rejects bad.csv --json -o x.csv
out_has '"bad_rows":15,' "bad rows are counted"
is "$(wc -l <x.csv)" 14986 "bad rows are left out"
is "$(grep -c nine bad.csv)" 15 "bad rows are listed, in their order"
run dnn predict m.dnn big.csv --on-bad-row skip --max-bad-rows 10 -o y.csv
code=$STATUS
run dnn predict m.dnn big.csv --on-bad-row skip --max-bad-rows 10 -o y.csv --backend dnn_cpu
is "$code" "$STATUS" "too many of them: as the CPU says"
run dnn predict m.dnn big.csv --on-bad-row stop
cp out stop.csv
cp err stop.err
code=$STATUS
run dnn predict m.dnn big.csv --on-bad-row stop --backend dnn_cpu
is "$code $(wc -l <stop.csv)" "$STATUS $(wc -l <out)" "stopped at the first of them: as the CPU"
grep -q 'big.csv:' stop.err
ok $? "stopped at a bad row: it is named" "$(cat stop.err)"
run dnn evaluate m.dnn rows.csv --json
out_has '"rows":15000' "evaluate: every row once"

# faults: the first row without an answer is the first that the CPU answers
calls=$(DNN_EMULATE=report dnn predict m.dnn big.csv --on-bad-row null 2>&1 >/dev/null | sed -n 's/^emulated: \([0-9]*\) calls.*/\1/p')
for n in 4 5 6 7 8 9; do
    run env DNN_EMULATE=any:$((calls * n / 12)):719,report "$DNN" predict m.dnn big.csv --on-bad-row null
    [ $STATUS -eq 0 ] && [ "$(grep 'warning:' err | grep -vc 'less than 4 GiB')" -eq 1 ] && [ "$(wc -l <out)" -eq 15001 ]
    ok $? "G09 a fault at call $((calls * n / 12)) of $calls: the CPU, with one warning" "exit $STATUS: $(cat err)"
    paste -d, out want.csv | awk -F, 'NR > 1 { n = NF / 2; if ($1 != $(n + 1)) exit 1
        for (i = 2; i <= n; i++) { d = $i - $(n + i); if (d < -1e-5 || d > 1e-5) exit 1 } }'
    ok $? "every row once, in its place"
done
done_testing
