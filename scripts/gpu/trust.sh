# shellcheck shell=bash disable=SC2154 # what is used here is set by scripts/gpu_verify.sh
# trust.sh - parts of gpu_verify.sh: parity, large, gpucheck, sanitizer: programs that judge themselves.

# --- parity: every operation against the CPU, plain and recorded, gradients and learning ---
part_parity() {
    need_gpu && need_program || return
    "$parity" "$work/parity.result" 2>"$work/parity.err"
    local code=$?
    cat "$work/parity.err"
    cp "$work/parity.result" "$results/parity.json"
    [ $code -ne 69 ] || skip "the device does not open" || return
    [ $code -eq 0 ] || fail "exit $code: $(tail -n 1 "$results/parity.json")"
    ! grep -q 'no CUDA graphs' "$work/parity.err" || fail "nothing was recorded: $(grep -m 1 'no CUDA graphs' "$work/parity.err")"
    # where bf16 and fp16 were those of warpgroups, the tiles that they stand for as well
    DNN_WGMMA=none "$parity" --least "$work/parity.twins" || fail "without warpgroups: exit $?"
    passed
}

# --- large: more than 2^31 elements and bytes (G17), as the card has room: 86 GiB for all of it, 11 GiB for 2^31 bytes ---
part_large() {
    need_gpu && need_program || return
    local apart=0 code
    [ $emulated = no ] || apart=100000 # which has no such room: the program alone
    "$parity" --large $apart "$work/large.result" 2>"$work/large.err"
    code=$?
    cat "$work/large.err" "$work/large.result"
    [ $code -ne 69 ] || skip "no room for 2^31 bytes five times over" || return
    [ $code -eq 0 ] || fail "exit $code: $(grep 'not ok' "$work/large.err" | head -n 3)"
    passed
}

part_gpucheck() {
    need_gpu && need_program || return
    "$dnn" help 2>&1 | grep -q gpucheck || skip "this build has no command gpucheck" || return
    local code=0 wanted=0 level=full verdict
    [ $emulated = no ] || level=quick # tests/emulate/gpucheck.sh has the other
    [ $emulated = no ] || wanted=69 # an emulated device is no GPU, whatever its checks say
    "$dnn" gpucheck --level $level --json >"$work/gpucheck.result" || code=$?
    cat "$work/gpucheck.result"
    verdict=$(sed -n 's/.*"verdict":"\([a-z_]*\)".*/\1/p' "$work/gpucheck.result")
    [ $code -eq $wanted ] || fail "exit $code, verdict ${verdict:-none}"
    [ $emulated = no ] || [ "$verdict" = emulated ] || fail "verdict ${verdict:-none}"
    ! grep -q '"status":"fail"' "$work/gpucheck.result" || fail "$(grep -o '"id":"[a-z_]*","status":"fail"' "$work/gpucheck.result" | head -n 3)"
    [ $emulated = yes ] || "$dnn" gpucheck --format spark 2>"$work/spark.err" | grep -qE '^\{"name":"gpu","addresses":\["[0-9]+"(,"[0-9]+")*\]\}$' ||
        fail "Spark is offered no card: $(head -n 3 "$work/spark.err")"
    passed
}

# --- compute-sanitizer: four tools at once, on small shapes. It would also tell of calls that fail: an event that is not done yet,
# what the runtime asks an older driver for. Those that matter the program tells itself ---
part_sanitizer() {
    need_gpu && need_program || return
    [ $emulated = no ] || skip "not on an emulated device" || return
    local tool sanitizer
    sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer /opt/nvidia/*/compute-sanitizer 2>/dev/null | head -n 1)
    [ -n "$sanitizer" ] || skip "compute-sanitizer is not found" || return
    "$sanitizer" --tool memcheck "$parity" --cases --only add "$work/none" >"$work/sanitizer.try" 2>&1
    if grep -qi 'device not supported\|not supported on this' "$work/sanitizer.try"; then skip "compute-sanitizer does not work here: $(grep -i 'not supported' "$work/sanitizer.try" | head -n 1)"; return; fi
    declare -A running
    numeric 1000 # the fused step of small dense layers, which no single operation is
    cd "$work/run" && config s.json 1000.csv 2 256
    for tool in memcheck racecheck synccheck initcheck; do
        (
            code=0
            under="$sanitizer --tool $tool --report-api-errors no --error-exitcode 9 --print-limit 20"
            # shellcheck disable=SC2086 # words
            timeout 60 $under "$dnn" train s.json -o s.$tool.dnn -q || code=$?
            # shellcheck disable=SC2086
            timeout 90 $under "$parity" --cases --most "$([ $tool = racecheck ] && echo 0.3 || echo 2)" "$work/sanitizer.$tool" || code=$?
            # every tile of the products, with warpgroups where the card has them, and without
            # shellcheck disable=SC2086
            DNN_WGMMA=none timeout 60 $under "$parity" --least "$work/sanitizer.$tool.least" || code=$?
            # shellcheck disable=SC2086
            timeout 30 $under "$parity" --least --only "bf16 kept" "$work/sanitizer.$tool.kept" || code=$?
            exit $code
        ) >"$work/sanitizer.$tool.out" 2>&1 &
        running[$tool]=$!
    done
    for tool in memcheck racecheck synccheck initcheck; do
        wait "${running[$tool]}"
        local code=$?
        echo "--- $tool: exit $code"
        tail -n 40 "$work/sanitizer.$tool.out"
        [ "$(grep -c SUMMARY "$work/sanitizer.$tool.out")" -ge 4 ] && [ $code -eq 0 ] || fail "$tool: exit $code, $(grep -o 'ERROR SUMMARY.*\|RACECHECK SUMMARY.*' "$work/sanitizer.$tool.out" | tail -n 1)"
    done
    passed
}
