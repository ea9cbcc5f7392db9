# shellcheck shell=bash disable=SC2154 # what is used here is set by scripts/gpu_verify.sh
# trust.sh - parts of gpu_verify.sh: small, parity, huge, gpucheck, memcheck, racecheck, sanitizer, kernels.

# judged CODE RESULT ERRORS: the verdict of a run of the parity program
judged() {
    cat "$3"
    [ "$1" -ne 69 ] || skip "the device does not open" || return
    [ "$1" -eq 0 ] || fail "exit $1: $(grep 'not ok' "$3" | head -n 3) $(tail -n 1 "$2")"
    ! grep -q 'no CUDA graphs' "$3" || fail "nothing was recorded: $(grep -m 1 'no CUDA graphs' "$3")"
    tail -n 1 "$2" >>"$work/$part.told"
}
# --- small: the smallest cases, so that a wrong kernel is known in seconds ---
part_small() {
    need_gpu && need_program || return
    rm -f "$work/small.told"
    "$parity" --cases --most 0.3 "$work/small.result" 2>"$work/small.err"
    judged $? "$work/small.result" "$work/small.err" || return
    "$parity" --least "$work/small.least.result" 2>"$work/small.err"
    judged $? "$work/small.least.result" "$work/small.err" || return
    passed
}
# --- parity: every operation against the CPU, plain and recorded, gradients and learning ---
part_parity() {
    need_gpu && need_program || return
    rm -f "$work/parity.told"
    "$parity" "$work/parity.result" 2>"$work/parity.err"
    judged $? "$work/parity.result" "$work/parity.err" || return
    # where warpgroups served bf16 and fp16: the portable tiles as well
    DNN_WGMMA=none "$parity" --least "$work/parity.twins.result" || fail "without warpgroups: exit $?"
    passed
}

# --- huge: more than 2^31 elements and bytes (G17), as far as the card has room: 86 GiB for all, 11 GiB for 2^31 bytes ---
part_huge() {
    need_gpu && need_program || return
    local apart=0 code
    [ $emulated = no ] || apart=100000 # it has no such room: the program alone
    "$parity" --large $apart "$work/huge.result" 2>"$work/huge.err"
    code=$?
    cat "$work/huge.err" "$work/huge.result"
    [ $code -ne 69 ] || skip "no room for 2^31 bytes five times over" || return
    [ $code -eq 0 ] || fail "exit $code: $(grep 'not ok' "$work/huge.err" | head -n 3)"
    passed
}

part_gpucheck() {
    need_gpu && need_program || return
    local code=0 wanted=0 level=full verdict
    [ $emulated = no ] || level=quick # tests/emulate/gpucheck.sh has the other
    [ $emulated = no ] || wanted=69 # an emulated device is no GPU
    "$dnn" gpucheck --level $level --json >"$work/gpucheck.result" || code=$?
    cat "$work/gpucheck.result"
    verdict=$(sed -n 's/.*"verdict":"\([a-z_]*\)".*/\1/p' "$work/gpucheck.result")
    [ $code -eq $wanted ] || fail "exit $code, verdict ${verdict:-none}"
    [ $emulated = no ] || [ "$verdict" = emulated ] || fail "verdict ${verdict:-none}"
    ! grep -q '"status":"fail"' "$work/gpucheck.result" || fail "$(grep -o '"id":"[a-z_]*","status":"fail"' "$work/gpucheck.result" |
        head -n 3)"
    [ $emulated = yes ] || "$dnn" gpucheck --format spark 2>"$work/spark.err" |
        grep -qE '^\{"name":"gpu","addresses":\["[0-9]+"(,"[0-9]+")*\]\}$' ||
        fail "Spark is offered no card: $(head -n 3 "$work/spark.err")"
    passed
}

# --- compute-sanitizer on small shapes. API errors are not reported: an event that is not done yet would be one ---
sanitize() { # TOOL [without]: trainings and cases under it; `without`: also the portable tiles in place of warpgroups
    need_gpu && need_program || return
    [ $emulated = no ] || skip "not on an emulated device" || return
    local tool=$1 sanitizer code=0 under
    sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer /opt/nvidia/*/compute-sanitizer 2>/dev/null |
        head -n 1)
    [ -n "$sanitizer" ] || skip "compute-sanitizer is not found" || return
    timeout 60 "$sanitizer" --tool memcheck "$parity" --cases --only add "$work/none.result" >"$work/sanitizer.try" 2>&1
    if grep -qi 'not supported' "$work/sanitizer.try"; then
        skip "compute-sanitizer does not work here: $(grep -i -m 1 'not supported' "$work/sanitizer.try")"
        return
    fi
    numeric 1000 # the fused step of small dense layers, which no single operation is
    cd "$work/run" && config s.json 1000.csv 2 256
    under="$sanitizer --tool $tool --report-api-errors no --error-exitcode 9 --print-limit 20"
    # the portable half first: racecheck may misjudge the asynchronous copies of warpgroups
    # shellcheck disable=SC2086 # words
    {
        timeout 60 $under "$dnn" train s.json -o s.$tool.dnn -q || code=$?
        DNN_WGMMA=none timeout 60 $under "$parity" --least "$work/$tool.portable.result" || code=$?
        timeout 60 $under "$parity" --cases --most "$([ $tool = racecheck ] && echo 0.3 || echo 2)" "$work/$tool.cases.result" || code=$?
        timeout 40 $under "$parity" --least --only "bf16 kept" "$work/$tool.kept.result" || code=$?
    } >"$work/$tool.out" 2>&1
    tail -n 80 "$work/$tool.out"
    [ $code -eq 0 ] && [ "$(grep -c SUMMARY "$work/$tool.out")" -ge 4 ] ||
        fail "$tool: exit $code, $(grep -o 'ERROR SUMMARY.*\|RACECHECK SUMMARY.*' "$work/$tool.out" | tail -n 1)"
    passed
}
part_memcheck() { sanitize memcheck; }
part_racecheck() { sanitize racecheck; }
part_sanitizer() { sanitize synccheck && sanitize initcheck; }

# --- kernels: where a step's time goes, by ncu: the duration of each kernel of a small and of a large training ---
part_kernels() {
    need_gpu && need_program || return
    [ $emulated = no ] || skip "not on an emulated device" || return
    local ncu
    ncu=$(command -v ncu || ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | head -n 1)
    [ -n "$ncu" ] || skip "ncu is not found" || return
    prepare 2 || return
    config l.json "$(small).csv" 2 4096
    sed -i 's/128/512/g' l.json
    local name
    for name in c l; do
        timeout 45 "$ncu" --clock-control none --launch-skip 8 --launch-count 12 --section SpeedOfLight --section LaunchStats \
            --section Occupancy \
            --section WarpStateStats "$dnn" train $name.json -o k.dnn -q --set backend.precision=$([ $name = c ] && echo fp32 ||
            echo bf16) >"$work/ncu.$name.txt" 2>&1 ||
            fail "ncu: exit $?: $(grep -m 1 '==ERROR==' "$work/ncu.$name.txt")"
        awk '/^  [a-z_]+.*\(/ { kernel = $1 } $1 == "Duration" { print kernel, $3, $2 }' "$work/ncu.$name.txt" | sort | uniq -c |
            sort -k3 -gr | head -n 12 >>"$work/kernels.told"
    done
    [ -s "$work/kernels.told" ] || fail "no kernel was measured"
    passed
}
