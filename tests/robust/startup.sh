#!/bin/bash
# startup.sh - the program starts in under 5 ms of processor time and opens no GPU library, with or without a driver: a stand-in
# for each library leaves a mark when it is loaded. The best of many starts counts, so a busy machine matters little. Ids: G01,
# G08.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/opens.sh"
stand_ins

# least COMMAND...: the least processor time of a start in microseconds, user and system: of ten batches of five
least() {
    local best=999999 TIMEFORMAT='%3U %3S' words now
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        words=$({ time for _ in 1 2 3 4 5; do "$@" >/dev/null 2>&1; done; } 2>&1)
        now=$(awk '{ printf "%d", ($1 + $2) * 1e6 / 5 }' <<<"$words")
        [ "$now" -lt $best ] && best=$now
    done
    echo $best
}
starts() { # starts NAME VARIABLES: help exit
    local name=$1 took
    shift
    rm -f loaded
    if sanitized; then
        skip "G01 starts in under 5 ms, $name" "a sanitizer takes longer"
    else
        took=$(least env "$@" "$DNN" help exit)
        [ "$took" -lt 5000 ]
        ok $? "G01 starts in under 5 ms, $name: $((took / 1000)).$((took % 1000 / 100)) ms" "$took microseconds"
    fi
    run env "$@" "$DNN" help exit
    is_exit 0 "G01 help exit, $name"
    [ ! -e loaded ]
    ok $? "G08 help exit loads no library of a GPU, $name"
}
starts "no driver" LD_LIBRARY_PATH=
if [ -n "$driver" ]; then
    starts "a driver" "LD_LIBRARY_PATH=$driver"
    # the stand-in does leave its mark: what asks the libraries for their versions loads them
    run env "LD_LIBRARY_PATH=$driver" "$DNN" gpucheck
    [ -e loaded ] || ! has_kernels
    ok $? "gpucheck loads them"
else
    skip "G01 gpucheck where a driver is" "no gcc"
fi
if [ $traced = yes ]; then
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -f -o trace "$DNN" help exit >/dev/null 2>&1
    ! grep -E 'libcuda|libnvidia|libcublas|libcudnn|libnccl|libamdhip|/dev/nvidia|/proc/driver|libopenblas' trace
    ok $? "G08 starting opens nothing of a GPU, and no other guest" "$(grep -E 'open' trace)"
    calls=$(wc -l <trace)
    sanitized || [ "$calls" -lt 300 ]
    ok $? "starting makes few system calls: $calls"
else
    skip "G08 what starting opens" "no strace"
fi
if command -v readelf >/dev/null 2>&1; then
    needed=$(readelf -d "$DNN" 2>&1) && ! grep -E 'NEEDED.*(cuda|nvidia|cublas|cudnn|hip)' <<<"$needed"
    ok $? "G01 no library of a GPU is among those it needs" "$needed"
else
    skip "G01 the libraries that it needs" "no readelf"
fi
done_testing
