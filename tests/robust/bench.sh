#!/bin/bash
# bench.sh - dnn bench without a GPU: rows of the CPU and the reason; options that choose rows; a model of the user. Ids: G01
# G08.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
unset GPU_BACKEND CUDA_VISIBLE_DEVICES DNN_TRAIN_GPU
names=$(sed -nE 's/^(ROW|ALL|ONE)\(([a-z0-9_]+),.*/\2/p' "$ROOT/src/backend/ops.def"; sed -nE 's/^JOB\([A-Z]+, *([a-z]+),.*/\1/p' \
    "$ROOT/src/config/jobs.def")
run dnn bench --size small --iterations 1 --json
is_exit 0 "every row, small"
missing=""
for name in $names; do grep -q "\"$name\":{\"small\":{\"gpu_false\":{\"mean_time_ms\":[0-9]" out || missing="$missing $name"; done
is "$missing" "" "each operation and each job"
! grep -q '"gpu_true"' out
after_exit $? "no rows of a GPU"
for preset in linear mlp realmlp tabm lstm rnn gru tcn cnn transformer rocket; do
    out_has "\"$preset\":{\"train\":{\"gpu_false\":{\"path\":\"strips\"," "the path of $preset, when it trains"
done
[ "$(grep -o '"predict":{"gpu_false":{"path":"strips"' out | wc -l)" -eq 11 ]
ok $? "the path of each preset, when it answers"
out_has '"performance_gains":{}' "no gains without a GPU"
if grep -q '"used":"dnn_cpu"' out; then
    out_has '"no_gpu":"' "the reason in the answer"
fi
perl -ne 'BEGIN { $bad = 1 } $bad = 0 if /"fma":([0-9.e+]+),"fma_one":([0-9.e+]+)/ && $1 > 1e8 && $2 > 1e8; END { exit $bad }' out
ok $? "the limit is measured in the same run"
run dnn bench --backend dnn_cpu --operation add --size small --iterations 7 --json
out_has '"benchmark_results":{"add":{"small":{"gpu_false":' "one row"
out_has '"paths":{}' "one operation: no path of a preset"
[ "$(grep -o mean_time_ms out | wc -l)" -eq 1 ]
ok $? "one operation: one row and no other"
out_has '"no_gpu":null' "nobody asked for a GPU"
run dnn bench --backend dnn_gpu --operation add --size small --iterations 1
is_exit 0 "G01 dnn_gpu without one: the CPU"
err_has "warning: dnn_gpu: requested but unavailable (" "dnn_gpu without one: a loud warning"
is "$(grep -c warning err)" 1 "one and no more"
run dnn bench --operation nothing
is_exit 64 "no such row: 64"
make_leads_model m.dnn
run dnn bench m.dnn --size small --batch-size 32 --iterations 2 --json
is_exit 0 "a model of one's own"
out_has '"train":{"small"' "its training"
out_has '"evaluate":{"small"' "its answers with their metrics"
! grep -q '"dense"' out
after_exit $? "a model of one's own: jobs alone, no operation"
run dnn bench leads.csv
is_exit 76 "what is no model: 76"
run dnn bench none.dnn
is_exit 66 "no file: 66"
timeout -s TERM 2 "$DNN" bench --backend dnn_cpu --size large --operation train --iterations 1000 >out 2>err
is $? 124 "it ends when it is told to"
err_has "stopped by SIGTERM" "the benchmark says that SIGTERM stopped it"
if command -v strace >/dev/null 2>&1 && strace -o /dev/null true 2>/dev/null; then
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -f -e trace=open,openat -o trace "$DNN" bench --backend dnn_cpu --operation add \
        --size small --iterations 1 >out 2>err
    ! grep -qiE 'cuda|nvidia|cudnn|cublas|nvml|rocm|hip' trace
    ok $? "G08 dnn_cpu opens no GPU library" "$(grep -iE 'cuda|nvidia' trace)"
else
    skip "G08 dnn_cpu opens no GPU library" "no strace here"
fi
# both products of a CPU beside each other
run dnn bench --backend dnn_cpu --operation dense --operation dense_openblas --size small --iterations 7 --json
is_exit 0 "our own products and OpenBLAS"
out_has '"dense":{"small":{"gpu_false":' "ours"
if ldconfig -p 2>/dev/null | grep -q libopenblas.so.0; then
    out_has '"dense_openblas":{"small":{"gpu_false":' "a row of the library's products"
else
    skip "OpenBLAS beside ours" "it is not installed"
fi
# both readers beside each other
run dnn bench --backend dnn_cpu --operation read_fast --operation read_libcsv --size small --iterations 7 --json
is_exit 0 "both readers of CSV"
out_has '"read_fast":{"small":{"gpu_false":' "our own scanner"
out_has '"read_libcsv":{"small":{"gpu_false":' "libcsv"
[ "$(grep -oE '"mb_per_s":[1-9]' out | wc -l)" -eq 2 ]
ok $? "each in MB/s" "$(cat out)"
[ "$(grep -oE '"times_libcsv":[0-9]' out | wc -l)" -eq 1 ]
ok $? "read_csv: how many times as fast as libcsv"
run dnn bench --backend dnn_cpu --operation read_fast --operation read_libcsv --size small --iterations 7
grep -qE '^read_fast .* [0-9]+ MB/s, [0-9.]+x libcsv$' out
ok $? "in the table too" "$(cat out)"
run dnn help reader
out_has 'data.reader "auto"' "dnn help reader says which serves when"
done_testing
