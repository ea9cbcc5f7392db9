# shellcheck shell=bash disable=SC2154 # what is used here is set by scripts/gpu_verify.sh
# bench.sh - parts of gpu_verify.sh: constants, bench.

part_constants() {
    need_gpu || return
    [ $emulated = no ] || skip "not on an emulated device" || return
    [ -x "$build/gpu_constants" ] || skip "the program was not built" || return
    local lt
    lt=$(python_libraries 'libcublasLt.so.1*')
    [ -z "$lt" ] || export LD_LIBRARY_PATH="$lt${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    timeout 120 "$build/gpu_constants" >"$results/constants.json" || fail "exit $?"
    cat "$results/constants.json"
    passed
}

# --- bench: a step and a whole job, beside PyTorch on the same GPU ---
figure() { printf '%s' "${1:-null}"; } # of what failed there is none
seconds_train() { grep -o '"train":[0-9.e-]*' "$1" | tail -n 1 | cut -d: -f2; }
# millions ROWS: 1.1M; less than a tenth of one as it is
millions() { if [ "$1" -ge 100000 ]; then number '%.3gM' "$1 / 1e6"; else printf '%s' "$1"; fi; }
# large_row ROWS WIDTH BATCH PRECISION RATE WORK: a row of bench.json. The label says what was measured; an epoch of the whole table, which
# was not, follows from its rows a second and is named so.
large_row() {
    local whole=$(($1 * 10))
    printf '{"work": "%s x 28, %sx3, batch %s", "who": "dnn_gpu %s", "rows": %s, "rows_per_s": %s, "epoch_ms": %s, ' "$(millions "$1")" "$2" "$3" "$4" "$1" "$5" \
        "$(number %.1f "$5 ? $1 * 1e3 / $5 : 0")"
    printf '"extrapolated": {"rows": %s, "epoch_ms": %s}, "tflops": %s}' $whole "$(number %.1f "$5 ? $whole * 1e3 / $5 : 0")" "$(number %.3g "$5 * $6 / 1e12")"
}
# 28-512-512-512-2 on a tenth of 11 million rows: 3.206 million operations a row and step, three times those of the way forward but
# for the first layer's way back
bench_large() {
    local rows=1100000 width=512 columns batch precision peer rate own best work
    [ $emulated = yes ] && rows=1000 width=32
    work=$(number %.0f "6 * (28 * $width + 2 * $width * $width + $width) - 56 * $width")
    [ -s large.csv ] || "$root/scripts/bench/make_data.pl" table $rows >large.csv
    columns=$(for i in $(seq 28); do printf '"x%d": "numeric"%s' "$i" "$([ "$i" = 28 ] || echo ,)"; done)
    for batch in 65536 4096; do
        [ $emulated = yes ] && batch=256
        cat >large.json <<END
{"task": "binary", "data": {"train": "large.csv", "target": "y", "columns": {$columns}, "split": {"method": "random", "valid": 0, "test": 0}},
 "model": {"preset": "mlp", "hidden": [$width, $width, $width], "dropout": 0}, "train": {"epochs": 3, "batch_size": $batch},
 "backend": {"name": "dnn_gpu", "fallback": "none"}, "output": {"model": "large.dnn", "metrics": "large.lines"}}
END
        own="" best=""
        for precision in bf16 tf32 fp32; do
            rm -f large.lines large.dnn*
            try "$dnn" train large.json -q --set backend.precision=$precision || { fail "large, $precision"; continue; }
            rate=$(sed -n 's/.*"rows_per_s":\([0-9.e+]*\).*/\1/p' large.lines | tail -n 1)
            [ $precision = bf16 ] && own=$rate
            line "$(large_row $rows $width $batch $precision "${rate:-0}" "$work")"
        done
        if [ $emulated = no ] && [ -n "$python" ]; then
            for precision in fp32 bf16 compile; do
                peer=$(timeout 60 "$python" "$root/scripts/bench/peers_gpu.py" large $rows $batch $precision 2>"peer.large.err" | tail -n 1)
                best=$(printf '%s\n' $best "$(printf '%s' "$peer" | grep -o 'rows_per_s": [0-9.e+]*' | cut -d' ' -f2)" | best_of r)
                line "${peer:-{\"peer\": \"PyTorch $precision, batch $batch\", \"skipped\": $(quoted "$(tail -n 1 peer.large.err)")\}}"
            done
        fi
        must "28-512-512-512-2 in bf16, batch $batch: PyTorch's best, times" "$(quotient "$own" "$best")" ">=" 1 "$([ $batch = 4096 ] && echo 4 || echo 2.5)"
        [ $emulated = no ] || break
    done
    echo "extrapolated, not measured: an epoch of $(millions $((rows * 10))) x 28, from the rows a second of $(millions $rows)"
}
# every operation and job beside this machine's own limits, and the GPU beside the CPU
bench_report() {
    local few=""
    [ $emulated = yes ] && few="--size small --iterations 1"
    # shellcheck disable=SC2086 # words
    timeout 100 "$dnn" bench --json -q $few >"$results/dnn-bench.json" || { fail "dnn bench: exit $?"; return; }
    [ $emulated = yes ] || grep -q '"performance_gains":{"gather"' "$results/dnn-bench.json" || fail "dnn bench: no rows of the GPU"
    # {"dense":{"small":{"time_improvement_percent":N,..},..},..}, as it comes
    perl -ne 'next unless /"performance_gains":(.*)/; my ($rest, $name, $size) = ($1, "", "");
        while ($rest =~ /"([a-z_0-9]+)":(?:(\{)|([-0-9.e]+))/g) {
            my ($key, $opens, $n) = ($1, $2, $3);
            if ($opens) { if ($key =~ /^(small|medium|large)$/) { $size = $key } else { $name = $key } }
            elsif ($key eq "time_improvement_percent" && $name =~ /^(dense|dense_back|train|predict|evaluate)$/ && $n < 100) {
                printf "GPU over CPU, %s %s: %.1f times\n", $name, $size, 100 / (100 - $n) } }' "$results/dnn-bench.json"
}
# the GPU beside our own CPU backend on all cores: 100,000 rows, width 256
bench_both() {
    local rows=100000 name seconds gpu_s="" of="100k x 14"
    [ $emulated = yes ] && rows=1000 of="1000 x 14"
    numeric $rows && config both.json $rows.csv 5 1024 && sed -i 's/128/256/g' both.json
    for name in dnn_gpu dnn_cpu; do
        try "$dnn" train both.json -o both.dnn --json -q --backend $name >both.out || { fail "100,000 rows, width 256, $name"; return; }
        seconds=$(seconds_train both.out)
        line "{\"work\": \"$of, 256-256-2, batch 1024, 5 epochs\", \"who\": \"$name\", \"s\": $(figure "$seconds")}"
        [ -n "$gpu_s" ] && must "GPU over our CPU on all $jobs cores, 100k rows, width 256" "$(number %.2f "$seconds / $gpu_s")" ">=" 10 100
        gpu_s=$seconds
    done
}
bench_quick() {
    local took at
    at=$(now)
    "$dnn" gpucheck --level quick -q >/dev/null || [ $emulated = yes ] || fail "gpucheck --level quick: exit $?"
    took=$(since "$at")
    line "{\"work\": \"gpucheck quick\", \"s\": $took}"
    must "gpucheck quick, seconds" "$took" "<=" 3 1
}

# --- what has to be reached: `must NAME FIGURE >=|<= LIMIT AIM`; no FIGURE: not judged, and then the part is no pass ---
unjudged=""
must() {
    local verdict
    if [ -z "$2" ]; then
        verdict="not judged"
        unjudged="$unjudged${unjudged:+, }$1"
    elif awk -v a="$2" -v b="$4" -v op="$3" 'BEGIN { exit !(a + 0 == a && (op == ">=" ? a >= b : a <= b)) }'; then
        verdict=met
    else
        verdict=missed
        [ $emulated = yes ] || fail "$1: $2, wanted $3 $4"
    fi
    echo "must: $1: ${2:-no figure} (wanted $3 $4, aim $5): $verdict"
    musts="$musts${musts:+,
 }{\"what\": $(quoted "$1"), \"figure\": ${2:-null}, \"op\": \"$3\", \"must\": $4, \"aim\": $5, \"verdict\": \"$verdict\"}"
}
quotient() { [ -z "$1" ] || [ -z "$2" ] || number %.2f "$1 / $2"; }
best_of() { grep . | sort -g"$1" | sed -n 1p; } # r: the largest

part_bench() {
    need_gpu && need_program || return
    local rows=45000 epochs=50 steps=176 lines="" musts="" us peer how began_at ours eager="" replayed="" whole="" start
    local of="45k x 14" job="CSV, 10 epochs"
    [ $emulated = yes ] && rows=1000 epochs=1 steps=4 of="1000 x 14" job="CSV, 1 epoch"
    numeric $rows
    numeric $((rows / 5))
    cd "$work/run" && config b.json $rows.csv $epochs 256 && config j.json $rows.csv 10 256
    [ $emulated = yes ] && config j.json $rows.csv 1 256
    line() { lines="$lines${lines:+,
 }$1"; echo "$1"; }
    : >b.times
    for i in 1 2 3; do
        try "$dnn" train b.json -o b.dnn --json -q >b.out || fail "training"
        seconds_train b.out >>b.times
    done
    us=$(sort -g b.times | sed -n 2p)
    [ -z "$us" ] || us=$(number %.3f "$us * 1e6 / ($epochs * $steps)")
    start=$(grep -o '"start":[0-9.e-]*' b.out | cut -d: -f2)
    line "{\"work\": \"step $of, 128-128-2, batch 256\", \"who\": \"dnn_gpu\", \"us\": $(figure "$us"), \"start_s\": $(figure "$start")}"
    try "$dnn" train b.json -o bc.dnn --json -q --backend dnn_cpu >bc.out || fail "training on the CPU"
    peer=$(seconds_train bc.out)
    [ -z "$peer" ] || peer=$(number %.3f "$peer * 1e6 / ($epochs * $steps)")
    line "{\"work\": \"step $of, 128-128-2, batch 256\", \"who\": \"dnn_cpu, all cores\", \"us\": $(figure "$peer")}"
    : >j.times
    for i in 1 2 3; do
        began_at=$(now)
        "$dnn" train j.json -o j.dnn -q && "$dnn" predict j.dnn $((rows / 5)).csv -o j.csv -q --backend dnn_gpu || fail "the job"
        printf '%s\n' "$(since "$began_at")" >>j.times
    done
    ours=$(sort -g j.times | sed -n 2p)
    line "{\"work\": \"cold job: $job, model, predictions\", \"who\": \"dnn_gpu\", \"s\": $ours}"
    if [ $emulated = no ] && [ -n "$python" ] && "$python" -c 'import torch, pandas; assert torch.cuda.is_available()' 2>/dev/null; then
        for how in eager graph compile; do
            peer=$(timeout 60 "$python" "$root/scripts/bench/peers_gpu.py" step $rows.csv 5 $how 2>"peer.$how.err" | tail -n 1)
            if [ -n "$peer" ]; then
                line "$peer"
                peer=$(printf '%s' "$peer" | grep -o 'us_a_step": [0-9.]*' | cut -d' ' -f2)
                if [ $how = eager ]; then eager=$peer; else replayed=$(printf '%s\n' $replayed "$peer" | best_of ""); fi
            else
                line "{\"peer\": \"PyTorch $how\", \"skipped\": $(quoted "$(tail -n 1 "peer.$how.err")")}"
            fi
        done
        began_at=$(now)
        if timeout 90 "$python" "$root/scripts/bench/peers_gpu.py" job $rows.csv $((rows / 5)).csv peer.csv; then
            peer=$(since "$began_at")
            line "{\"peer\": \"Python, pandas and PyTorch on the GPU, cold job\", \"s\": $peer}"
            whole=$peer
        else
            line '{"peer": "Python, pandas and PyTorch on the GPU, cold job", "skipped": "it failed"}'
        fi
    else
        line '{"peer": "PyTorch on the GPU", "skipped": "not found"}'
    fi
    must "step 45k x 14: PyTorch eager, times" "$(quotient "$eager" "$us")" ">=" 10 60
    must "step 45k x 14: PyTorch's best of compile and graph, times" "$(quotient "$replayed" "$us")" ">=" 1 3
    must "cold job: Python with PyTorch, times" "$(quotient "$whole" "$ours")" ">=" 8 15
    must "start to the first kernel, seconds" "$start" "<=" 0.5 0.3
    bench_quick
    bench_both
    bench_large
    bench_report
    printf '{"program": "gpu_verify bench", "emulated": '"$([ $emulated = yes ] && echo true || echo false)"', "rows": [\n %s\n],\n"musts": [\n %s\n]}\n' "$lines" "$musts" >"$results/bench.json"
    passed || return
    [ -z "$unjudged" ] || skip "not judged: $unjudged"
}
