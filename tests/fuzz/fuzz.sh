#!/bin/bash
# fuzz.sh [SECONDS] - every fuzz target for SECONDS (30), from its corpus, and changed checkpoints through `train --resume`. A crash, a
# leak, a time-out or more than 512 MiB of memory is a failure; the input is kept in build/fuzz. TAP.
cd "$(dirname "$0")/../.." || exit 1
seconds=${1:-${FUZZ_SECONDS:-30}}
count=0
failed=0
result() { count=$((count + 1)); [ "$1" -eq 0 ] || { printf 'not '; failed=1; }; printf 'ok %d - %s\n' "$count" "$2"; }
if ! command -v clang >/dev/null || ! printf 'int LLVMFuzzerTestOneInput(const char*d,long n){return 0;}' |
    clang -x c -fsanitize=fuzzer,address - -o /dev/null 2>/dev/null; then
    echo "1..0 # SKIP clang with libFuzzer is not here"
    exit 0
fi
why=$(tests/fuzz/sources.sh) || echo "# the packaged cJSON, libcsv and utf8proc serve, without coverage: $why"
if ! make -j2 fuzz-build >build/fuzz.log 2>&1; then
    tail -n 20 build/fuzz.log | sed 's/^/# /'
    echo "not ok 1 - the targets build"; echo "1..1"; exit 1
fi
one() { # TARGET: its log to build/fuzz/NAME.log
    local name=${1##*/} corpus
    corpus=tests/fuzz/corpus/${name#fuzz_}
    mkdir -p "build/fuzz/found/$name" "build/fuzz/live/$name" "$corpus"
    ASAN_OPTIONS=allocator_may_return_null=1 "$1" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=512 -print_final_stats=1 \
        -artifact_prefix="build/fuzz/found/$name/" "build/fuzz/live/$name" "$corpus" >"build/fuzz/$name.log" 2>&1
}
targets=(build/fuzz/fuzz_*[a-z])
for ((i = 0; i < ${#targets[@]}; i += 2)); do # two at a time
    one "${targets[i]}" & first=$!
    second=""
    [ $((i + 1)) -ge ${#targets[@]} ] || { one "${targets[i + 1]}" & second=$!; }
    for pair in "$first ${targets[i]}" ${second:+"$second ${targets[i + 1]}"}; do
        wait "${pair%% *}"
        status=$?
        name=${pair##*/}
        log=build/fuzz/$name.log
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
        result $status "$name: ${runs:-0} executions in $seconds s, ${edges:-cov: ?} edges"
        [ $status -eq 0 ] || tail -n 30 "$log" | sed 's/^/# /'
    done
done
# changed checkpoints go into `train --resume`, each within 20 s and 1 GB of address space
if [ -x build/dnn ]; then
    CASES=$((seconds * 4)) DNN=$PWD/build/dnn tests/robust/checkpoint_mutants.sh >build/fuzz/resume.log 2>&1
    status=$?
    result $status "checkpoints with changed bytes through train --resume: $((seconds * 4)) cases"
    [ $status -eq 0 ] || grep '^not ok' build/fuzz/resume.log | sed 's/^/# /'
else
    result 1 "build/dnn is missing: train --resume was not tried"
fi
echo "1..$count"
exit $failed
