#!/bin/bash
# refused.sh - machines whose GPU cannot be had, as they are met: each told by its true name, with its mend, by train (69, or the CPU)
# and by gpucheck (none, in the check that it belongs to). Ids: G02 G13 G20. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE KUBERNETES_SERVICE_HOST
mkdir tmp
export TMPDIR=$WORK/tmp
make_data d.csv 200
make_config n.json d.csv binary '"epochs": 1' '"backend": {"name": "dnn_gpu", "fallback": "none"}'

told() { # told PLAN CHECK TEXT MEND [VARIABLES]: what a training says without a fallback, and gpucheck
    local plan=$1 id=$2 text=$3 mend=$4
    shift 4
    run env DNN_EMULATE="$plan" "$@" "$DNN" train n.json --force -o m.dnn --progress none
    [ "$STATUS" -eq 69 ] && grep -qF "error[E1801]: dnn_gpu: requested (config) but unavailable ($text" err && grep -qF -- "$mend" err
    ok $? "G02 G13 G20 train: 69, $text" "exit $STATUS: $(cat err)"
    run env DNN_EMULATE="$plan" "$@" "$DNN" gpucheck
    [ "$STATUS" -eq 69 ] && grep -A3 "^$id  *fail  " out | grep -qF "$text" && grep -A3 "^$id  *fail  " out | grep ' fix: ' |
        grep -qF -- "$mend" &&
        [ "$(grep -cE '^[a-z_.]+ +fail ' out)" -eq 1 ] && tail -n 1 out | grep -q '^verdict: none ' && [ ! -s err ]
    ok $? "gpucheck: none, $id" "exit $STATUS: $(grep -A3 ' fail ' out; tail -n 1 out; cat err)"
}
told driver:12040,GetDeviceCount:1:35 runtime "the CUDA driver serves CUDA 12.4, this program needs 13.0" "install driver 580"
told GetDeviceCount:1:35 driver "the CUDA driver calls itself too old, though it serves CUDA 13.0 and this program needs 13.0" "restart"
told GetDeviceCount:1:34 driver "the libcuda.so.1 that is found is a toolkit's stub" LD_LIBRARY_PATH
told GetDeviceCount:1:803 driver "the CUDA driver's library and its module in the kernel are of different versions" "restart"
told GetDeviceCount:1:804 driver "CUDA's compatibility package (cuda-compat) does not serve this card" "take it out of LD_LIBRARY_PATH"
told GetDeviceCount:1:802 context "the cards are not ready: those with NVSwitch wait for their fabric" \
    "sudo systemctl start nvidia-fabricmanager"
told devices:1:64000000,FuncSetAttribute:1:209 architecture "this build has no kernels" CUDA_ARCHS=
told devices:1:64000000,FuncSetAttribute:1:221 architecture \
    "this build has no machine code for the GPU, and the driver's compiler (libnvidia-ptxjitcompiler.so.1)" \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility
told devices:1:64000000,FuncSetAttribute:1:222 architecture "this build has no machine code for the GPU, and the driver is too old" \
    "install a newer driver"

# the driver does not begin: what is missing is seen in /dev
mkdir -p bare/dev held/dev boxed/dev
touch bare/dev/nvidia0 bare/dev/nvidiactl held/dev/nvidia0 held/dev/nvidiactl held/dev/nvidia-uvm boxed/dev/nvidia0 boxed/.dockerenv
run env DNN_EMULATE=GetDeviceCount:1:999 "$DNN" train n.json --force -o m.dnn --progress none
is_exit 69 "train: 69, the driver does not begin"
err_has "the CUDA driver does not begin: cudaErrorUnknown (999) from cudaGetDeviceCount" "says so"
err_has "sudo nvidia-modprobe -c 0 -u" "the driver does not begin: what helps"
has_begun() { # has_begun ROOT TEXT MEND
    run env DNN_EMULATE=GetDeviceCount:1:999 DNN_GPUCHECK_ROOT="$WORK/$1" "$DNN" gpucheck
    [ "$STATUS" -eq 69 ] && grep -A3 "^device  *fail  " out | grep -qF "$2" && grep -A3 "^device  *fail  " out |
        grep ' fix: ' | grep -qF -- "$3"
    ok $? "gpucheck: none, device, $1" "exit $STATUS: $(grep -A3 ' fail ' out; tail -n 1 out)"
}
has_begun bare "/dev/nvidia-uvm is not there" "sudo nvidia-modprobe -c 0 -u, or sudo modprobe nvidia_uvm"
has_begun held "the CUDA driver does not begin" "after a suspend"
has_begun boxed "or the container was not given it" "--gpus all"

# refused late, and nobody to count the cards
run env DNN_EMULATE=devices:1:64000000,FuncSetAttribute:1:221 "$DNN" gpucheck
grep -q '^device  *pass  the driver shows a card; without NVML their number is not known' out
ok $? "cards that nobody counted are not 0" "$(grep -A2 '^device' out)"

# --- NVML as it may be: a stand-in ---
mkdir old mig many
cat >nvml.c <<'C'
#include <string.h>
struct process { unsigned pid; unsigned long long bytes; unsigned instance, part; };
int nvmlInit_v2(void) { return INIT; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (void *)(long)(i + 1); return 0; }
int nvmlDeviceGetMigMode(void *d, unsigned *now, unsigned *next) { *now = *next = MIG; return d == 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *count, struct process *to)
{
    static unsigned all = PROCESSES;
    if (*count < all) { /* and one more has come until it is asked again */
        *count = all++;
        return 7;
    }
    for (unsigned i = 0; i < all; i++)
        to[i].pid = 100 + i;
    *count = all;
    return d == 0;
}
C
if gcc -shared -fPIC -DINIT=18 -DMIG=0 -DPROCESSES=0 -o old/libnvidia-ml.so.1 nvml.c 2>/dev/null; then
    gcc -shared -fPIC -DINIT=0 -DMIG=1 -DPROCESSES=0 -o mig/libnvidia-ml.so.1 nvml.c
    gcc -shared -fPIC -DINIT=0 -DMIG=0 -DPROCESSES=20 -o many/libnvidia-ml.so.1 nvml.c
    run env DNN_EMULATE=GetDeviceCount:1:803 LD_LIBRARY_PATH=old "$DNN" gpucheck
    grep -A2 '^nvml  *warn  ' out | grep -q ' fix: restart: the driver was upgraded'
    ok $? "NVML of another version than the driver: a restart" "$(grep -A2 '^nvml' out)"
    run env DNN_EMULATE=devices:0:0 DNN_GPUCHECK_ROOT="$WORK/held" LD_LIBRARY_PATH=mig "$DNN" gpucheck
    grep -A3 '^device  *fail  the card is in MIG mode, and has no instance' out | grep -q ' fix: .*nvidia-smi mig -cgi'
    ok $? "MIG without an instance" "exit $STATUS: $(grep -A3 '^device' out)"
    run env DNN_EMULATE=StreamCreateWithFlags:1:46,StreamCreateWithFlags:1:46 LD_LIBRARY_PATH=many "$DNN" gpucheck
    is_exit 75 "a busy card, with many processes"
    grep -A3 '^context  *fail  ' out | grep -q ' fix: processes on the card: 100, 101, 102, '
    ok $? "a busy card: the processes are named" "$(grep -A3 '^context' out)"
else
    skip "NVML as it may be" "no gcc"
fi

# --- a call of a guest that does not come back is named as it is known ---
run env DNN_EMULATE=stall:1 DNN_PATIENCE=0.3 "$DNN" gpucheck
grep -q 'the GPU hangs: cudaGetDeviceCount has not come back' out
ok $? "a call that does not come back is named" "$(grep -A2 ' fail ' out)"
done_testing
