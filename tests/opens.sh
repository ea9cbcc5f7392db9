# opens.sh - finds which jobs open a GPU library. Use: . "$ROOT/tests/opens.sh" after tap.sh and training.sh. Each library is a
# stand-in that leaves a mark when it is loaded. Where strace is installed, it lists the opened files too.
# shellcheck shell=bash
gpu_names='cuda|nvidia|cudnn|cublas|nvml|nccl|rocm|amdhip|libhip'
driver="" # a folder of stand-ins, for LD_LIBRARY_PATH; empty: no compiler
# stand_ins: makes them
stand_ins() {
    mkdir -p driver
    cat >driver/mark.c <<'C'
#include <stdio.h>
__attribute__((constructor)) static void loaded(void) { FILE *f = fopen("loaded", "a"); if (f) fclose(f); }
int cuInit(unsigned flags) { (void)flags; return 0; }
C
    gcc -shared -fPIC -o driver/mark.so driver/mark.c 2>/dev/null || return 0
    local library
    for library in libcuda.so.1 libnvidia-ml.so.1 libcublasLt.so.1{2,3} libcudnn.so.{8,9} libcudart.so.1{2,3} libnccl.so.2 \
        libamdhip64.so; do
        cp driver/mark.so "driver/$library"
    done
    driver=$WORK/driver
}
traced=no
! command -v strace >/dev/null 2>&1 || ! strace -o /dev/null true 2>/dev/null || traced=yes
# watched COMMAND...: run, with the stand-ins and under strace as far as there are
watched() {
    rm -f loaded trace
    if [ $traced = yes ]; then # the leak checker does not work under it
        run env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" LD_LIBRARY_PATH="${driver:-${LD_LIBRARY_PATH:-}}" \
            strace -f -e trace=open,openat -o trace "$@"
    else
        run env LD_LIBRARY_PATH="${driver:-${LD_LIBRARY_PATH:-}}" "$@"
    fi
}
# opened: a library, or a call of the runtime was made, as DNN_EMULATE=report counts them. A folder that is searched for others may have
# a driver's name.
opened() {
    [ -e loaded ] || grep -q '^emulated: [0-9]* calls' err || grep -qiE "/proc/driver/nvidia|[\"/][^\"/]*($gpu_names)[^\"/]*\"" \
        trace 2>/dev/null
}
# looks: there is something that would notice. Where nothing is, that is said: "opened none" would be an answer to no question.
looks() { [ -n "$driver" ] || [ $traced = yes ] || [ "${DNN_EMULATE:-}" = report ]; }
# opened_none NAME: the job that was watched ended well, and opened nothing
opened_none() {
    local why="exit $STATUS: $(tail -n 3 err; grep -iE "$gpu_names" trace 2>/dev/null)"
    if [ "$STATUS" -eq 0 ] && ! looks; then
        skip "$1" "NOT LOOKED AT: no gcc for stand-ins, no strace, no emulation"
    else
        [ "$STATUS" -eq 0 ] && ! opened
        ok $? "$1" "$why"
    fi
}
# opens_nothing ID BACKEND CONFIG DATA: train, check, predict, evaluate, verify, bench and what needs no machine. auto chooses for small
# work; bench with auto measures both, and is left out.
opens_nothing() {
    local id=$1 word=$2 config=$3 data=$4 job
    for job in "check $config" "train $config -o opens.dnn --progress none" "train $config -o opens.dnn --progress none --resume" \
        "predict opens.dnn $data -o opens.csv" "evaluate opens.dnn $data" "verify opens.dnn" \
        "bench --operation dense --operation train --size small --iterations 1"; do
        [ "$word ${job%% *}" != "auto bench" ] || continue
        # shellcheck disable=SC2086
        watched "$DNN" $job --backend "$word"
        opened_none "$id ${job%% *} with $word opens no library of a GPU"
    done
    rm -f opens.json
    for job in "inspect opens.dnn" "inspect $data" "init $data --target y -o opens.json" "schema" "help gpu"; do
        # shellcheck disable=SC2086
        watched "$DNN" $job
        opened_none "$id ${job%% *} opens none"
    done
}
