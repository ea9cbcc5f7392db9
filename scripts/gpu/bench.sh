# shellcheck shell=bash disable=SC2154 # what is used here is set by scripts/gpu_verify.sh
# bench.sh - parts of gpu_verify.sh: constants, bench, large, profile; and `must`, which holds a figure to its limit.

part_constants() {
    need_gpu || return
    [ $emulated = no ] || skip "not on an emulated device" || return
    [ -x "$build/gpu_constants" ] || skip "the program was not built" || return
    local lt
    lt=$(python_libraries 'libcublasLt.so.1*')
    [ -z "$lt" ] || export LD_LIBRARY_PATH="$lt${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    "$build/gpu_constants" >"$work/constants.json" || fail "exit $?"
    cat "$work/constants.json"
    sed -n 's/.*"name": "\([^"]*\)", "value": \([^,]*\), "\(unit\|why\)": "\([^"]*\)".*/\1: \2 \4/p' \
        "$work/constants.json" >"$work/constants.told"
    passed
}

# --- rows and figures: a row is one line of JSON; a figure is kept by name for the part that judges it ---
row() { printf '%s\n' "$1" | tee -a "$work/$part.rows" >>"$work/$part.told"; }
figure() { [ -z "$2" ] || printf '%s' "$2" >"$work/figure.$1.txt"; }
figure_of() { cat "$work/figure.$1.txt" 2>/dev/null; }
or_null() { printf '%s' "${1:-null}"; }
quotient() { [ -z "$1" ] || [ -z "$2" ] || number %.2f "$1 / $2"; }
best_of() { grep . | sort -g"$1" | sed -n 1p; } # r: the largest
# must NAME FIGURE >=|<= LIMIT AIM; without a FIGURE it is not judged, and the part is no pass
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
    echo "must: $1: ${2:-no figure} (wanted $3 $4, aim $5): $verdict" | tee -a "$work/$part.told"
    printf '{"what": %s, "figure": %s, "op": "%s", "must": %s, "aim": %s, "verdict": "%s"}\n' "$(quoted "$1")" "$(or_null "$2")" "$3" "$4" \
        "$5" "$verdict" >>"$work/$part.musts"
}
judge() { passed && { [ -z "$unjudged" ] || skip "not judged: $unjudged"; }; }
# rate_of FILE: rows a second of output.metrics, the median of the epochs behind the third: kernels load in the first,
# and graphs are made up to the third
rate_of() {
    sed -n 's/.*"rows_per_s":\([0-9.e+]*\).*/\1/p' "$1" 2>/dev/null | awk 'NR > 3' | sort -g |
        awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'
}

# --- bench: a step, a whole job, and the GPU beside our own CPU ---
bench_step() {
    local rows=$1 of=$2 name rate us
    for name in dnn_gpu dnn_cpu; do
        config b.json "$rows.csv" "$([ $emulated = yes ] && echo 5 || { [ $name = dnn_gpu ] && echo 500 || echo 20; })" 256
        rm -f b.lines
        try "$dnn" train b.json -o b.dnn --json -q --backend $name --set output.metrics=b.lines >b.out || fail "training, $name"
        rate=$(rate_of b.lines)
        us=$([ -z "$rate" ] || number %.3f "256e6 / $rate")
        row "{\"work\": \"step $of, 128-128-2, batch 256\", \"who\": \"$name\", \"us\": $(or_null "$us")}"
        figure "step.$name" "$us"
        [ $name = dnn_cpu ] || figure start "$(grep -o '"start":[0-9.e-]*' b.out | cut -d: -f2)"
    done
}
bench_job() { # the same job three times: CSV to predictions, started cold
    local rows=$1 took i at
    config j.json "$rows.csv" "$([ $emulated = yes ] && echo 1 || echo 10)" 256
    for i in 1 2 3; do
        at=$(now)
        "$dnn" train j.json -o j.dnn -q && "$dnn" predict j.dnn $((rows / 5)).csv -o j.csv -q --backend dnn_gpu || fail "the job"
        since "$at"
        echo
    done >j.times
    took=$(sort -g j.times | sed -n 2p)
    row "{\"work\": \"cold job: CSV, 10 epochs, model, predictions\", \"who\": \"dnn_gpu\", \"s\": $(or_null "$took")}"
    figure job "$took"
}
bench_both() { # 100,000 rows, width 256
    local rows=100000 name
    [ $emulated = yes ] && rows=1000
    (cd "$root" && numeric $rows)
    for name in dnn_gpu dnn_cpu; do
        config both.json $rows.csv "$([ $name = dnn_gpu ] && [ $emulated = no ] && echo 200 || echo 8)" 1024
        sed -i 's/128/256/g' both.json
        rm -f both.lines
        try "$dnn" train both.json -o both.dnn -q --backend $name --set output.metrics=both.lines || fail "100,000 rows, width 256, $name"
        figure "both.$name" "$(rate_of both.lines)"
        row "{\"work\": \"$rows x 14, 256-256-2, batch 1024\", \"who\": \"$name\", \"rows_per_s\": $(or_null "$(figure_of "both.$name")")}"
    done
    must "GPU over our CPU on all $jobs cores, 100k rows, width 256" "$(quotient "$(figure_of both.dnn_gpu)" "$(figure_of both.dnn_cpu)")" \
        ">=" 10 100
}
bench_quick() {
    local at took
    at=$(now)
    "$dnn" gpucheck --level quick -q >/dev/null || [ $emulated = yes ] || fail "gpucheck --level quick: exit $?"
    took=$(since "$at")
    row "{\"work\": \"gpucheck quick\", \"s\": $took}"
    must "gpucheck quick, seconds" "$took" "<=" 3 1
}
# every operation and job beside this machine's own limits, and the GPU beside the CPU
bench_report() {
    local few=""
    [ $emulated = yes ] && few="--size small --iterations 1"
    # shellcheck disable=SC2086 # words
    timeout 60 "$dnn" bench --json -q $few >"$work/dnn-bench.json" || { fail "dnn bench: exit $?"; return; }
    [ $emulated = yes ] || grep -q '"performance_gains":{"gather"' "$work/dnn-bench.json" || fail "dnn bench: no rows of the GPU"
    # {"dense":{"small":{"time_improvement_percent":N,..},..},..}, as it comes
    perl -ne 'next unless /"performance_gains":(.*)/; my ($rest, $name, $size) = ($1, "", "");
        while ($rest =~ /"([a-z_0-9]+)":(?:(\{)|([-0-9.e]+))/g) {
            my ($key, $opens, $n) = ($1, $2, $3);
            if ($opens) { if ($key =~ /^(small|medium|large)$/) { $size = $key } else { $name = $key } }
            elsif ($key eq "time_improvement_percent" && $name =~ /^(dense|dense_back|train|predict|evaluate)$/ && $n < 100) {
                printf "GPU over CPU, %s %s: %.1f times\n", $name, $size, 100 / (100 - $n) } }' "$work/dnn-bench.json" |
                tee -a "$work/bench.told"
}
part_bench() {
    need_gpu && need_program || return
    local rows=45000 of="45k x 14"
    [ $emulated = yes ] && rows=1000 of="1000 x 14"
    numeric $rows
    numeric $((rows / 5))
    cd "$work/run" || return
    bench_step $rows "$of"
    bench_job $rows
    must "start to the first kernel, seconds" "$(figure_of start)" "<=" 0.5 0.3
    bench_quick
    bench_both
    bench_report
    judge
}

# --- large: 28-512-512-512-2 on a tenth of 11 million rows. A row and step take 3.206 million operations: three times those of
# the way forward, less the first layer's way back ---
# millions ROWS: 1.1M; less than a tenth of one as it is
millions() { if [ "$1" -ge 100000 ]; then number '%.3gM' "$1 / 1e6"; else printf '%s' "$1"; fi; }
# large_row ROWS WIDTH BATCH PRECISION RATE WORK: the label says the rows that were measured; the epoch of the whole table follows
# from their rate and is named extrapolated
large_row() {
    local whole=$(($1 * 10))
    printf '{"work": "%s x 28, %sx3, batch %s", "who": "dnn_gpu %s", "rows": %s, "rows_per_s": %s, "epoch_ms": %s, ' "$(millions "$1")" \
        "$2" "$3" "$4" "$1" "$5" \
        "$(number %.1f "$5 ? $1 * 1e3 / $5 : 0")"
    printf '"extrapolated": {"rows": %s, "epoch_ms": %s}, "tflops": %s}' $whole "$(number %.1f "$5 ? $whole * 1e3 / $5 : 0")" \
        "$(number %.3g "$5 * $6 / 1e12")"
}
large_rows() { [ $emulated = yes ] && echo 1000 || echo 1100000; }
large_config() { # BATCH WIDTH EPOCHS
    local columns
    columns=$(for i in $(seq 28); do printf '"x%d": "numeric"%s' "$i" "$([ "$i" = 28 ] || echo ,)"; done)
    cat >large.json <<END
{"task": "binary", "data": {"train": "large.csv", "target": "y", "columns": {$columns}, "split": {"method": "random",
  "valid": 0, "test": 0}},
 "model": {"preset": "mlp", "hidden": [$2, $2, $2], "dropout": 0}, "train": {"epochs": $3, "batch_size": $1},
 "backend": {"name": "dnn_gpu", "fallback": "none"}, "output": {"model": "large.dnn", "metrics": "large.lines"}}
END
}
large_data() { [ -s "$work/run/large.csv" ] || "$root/scripts/bench/make_data.pl" table "$(large_rows)" >"$work/run/large.csv"; }
part_large() {
    need_gpu && need_program || return
    local width=512 batch precision rate ops batches="65536 4096"
    [ $emulated = yes ] && width=32 batches=256
    large_data
    cd "$work/run" || return
    ops=$(number %.0f "6 * (28 * $width + 2 * $width * $width + $width) - 56 * $width")
    for batch in $batches; do
        large_config "$batch" $width 12
        for precision in bf16 tf32 fp32; do
            rm -f large.lines large.dnn*
            try "$dnn" train large.json -q --set backend.precision=$precision || { fail "large, $precision"; continue; }
            rate=$(rate_of large.lines)
            [ -n "$rate" ] || fail "large, batch $batch, $precision: no rate"
            [ $precision = bf16 ] && figure "large.$batch" "$rate"
            row "$(large_row "$(large_rows)" $width "$batch" $precision "${rate:-0}" "$ops")"
        done
    done
    passed
}

# profile_told TRACE NAME: the operations of a trace that took longest, a line each
profile_told() {
    perl -MJSON::PP -e 'local $/; open my $f, "<", $ARGV[0] or die; my (%us, %n);
        for (@{decode_json(<$f>)->{traceEvents}}) { next unless ($_->{pid} // 0) == 2 && ($_->{tid} // 0) == 2 && defined $_->{dur};
        $us{$_->{name}} += $_->{dur}; $n{$_->{name}}++ }
        printf "$ARGV[1]: %-14s %9.1f us in %d\n", $_, $us{$_}, $n{$_} for grep { defined } (sort {
        $us{$b} <=> $us{$a} } keys %us)[0 .. 11]' "$1" "$2"
}
# --- profile: where the time of those trainings goes, as the program's own trace says ---
part_profile() {
    need_gpu && need_program || return
    local batch batches="65536 4096" width=512
    [ $emulated = yes ] && batches=256 width=32
    large_data
    cd "$work/run" || return
    for batch in $batches; do
        large_config "$batch" $width 4
        try "$dnn" train large.json -q --set backend.precision=bf16 --profile "$work/profile.$batch.json" || fail "batch $batch"
        profile_told "$work/profile.$batch.json" "batch $batch" >>"$work/profile.told"
    done
    [ -s "$work/profile.told" ] || fail "no operation was measured"
    passed
}
