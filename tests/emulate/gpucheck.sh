#!/bin/bash
# gpucheck.sh - `dnn gpucheck` on the emulated GPU, where every check runs for real: never "ready", and what goes wrong is told with
# the fitting check, exit and mend. Ids: G01 G02 G03 G04 G05 G06 G09 G10 G11 G12 G13 G20. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BACKEND GPU_DEVICE_ID GPU_BATCH_SIZE DNN_TRAIN_GPU
mkdir tmp
export TMPDIR=$WORK/tmp
# of calls that fail in their turn, how many are tried: all checks run up to each
turns=4 && stalls="40 1500"
[ "${NIGHTLY:-no}" = no ] || { turns=16 && stalls="1 40 700 1500 3000"; }
nothing_left() { [ -z "$(ls -A tmp)" ]; ok $? "$1: nothing is left" "$(ls -A tmp)"; }
run dnn gpucheck
is_exit 69 "G20 the emulated card: 69"
out_has "verdict: emulated (exit 69)" "the verdict"
[ ! -s err ]
after_exit $? "the emulated card: nothing on standard error" "$(cat err)"
! grep -E '^[a-z_.]+ +(fail|skip) ' out && ! grep -q '^not run' out
ok $? "every check runs, and passes" "$(grep -E ' (fail|skip) ' out)"
is "$(grep -c '^kernel\.' out)" "$(grep -cE '^(ROW|ALL|ONE)\([a-z]' "$ROOT/src/backend/ops.def")" "every operation's kernel"
for id in gradient train portable repeat health; do
    grep -q "^$id  *pass" out
    ok $? "$id passes" "$(grep -A2 "^$id " out)"
done
nothing_left "after it"
if [ "${NIGHTLY:-no}" = yes ]; then # every shape takes a minute; by day the programs of tests/emulate run every form of the kernels
    export EMULATE_RAN=$WORK/ran
    run dnn gpucheck --level full --json
    unset EMULATE_RAN
    is_exit 69 "every shape"
    # every form of every kernel, but: what measures speed, which an emulated card has not; what follows a guest; layers
    # too wide for a block's memory
    (cd "$ROOT" && EMULATE_RAN=$WORK/ran EMULATE_LIB=$DNN tests/emulate/ran.pl 'peak_.*' guest_end 'recur_(to|steps)_.*' \
        'recur_walk.*<4, 3>') >forms
    ok $? "every shape starts every form of the kernels that a training or an answer may" "$(cat forms)"
else
    run dnn gpucheck --json
fi
out_has '"verdict":"emulated","exit":69' "the same verdict"
! grep -q '"status":"\(fail\|skip\)"' out
ok $? "every check passes"
out_has '"devices":[{"id":"0","name":"emulated","uuid":"GPU-00000000-0000-0000-0000-000000000001"' "the device"
DNN_EMULATE=devices:1:64000000 run dnn gpucheck --format spark
is_exit 0 "Spark: 0"
is "$(cat out)" '{"name":"gpu","addresses":[]}' "an emulated card is not listed"
run dnn gpucheck --device 1 --format prom
out_has 'dnn_gpucheck_check{id="repeat",status="pass"} 1' "another device, Prometheus"
timeout -s TERM 4 "$DNN" gpucheck --level soak --minutes 5 >out 2>err
is $? 124 "soak goes on until it is told to end"
err_has "stopped by SIGTERM before the checks were done" "soak: SIGTERM is told"
nothing_left "after a signal"
for n in 300 2000; do
    run env DNN_EMULATE=term:$n "$DNN" gpucheck --format spark
    is "$STATUS $(cat out)" '75 {"name":"gpu","addresses":[]}' "a signal at call $n: Spark is left with a list"
    run env DNN_EMULATE=term:$n "$DNN" gpucheck --format prom
    is "$STATUS $(grep '^dnn_gpucheck_exit' out)" "75 dnn_gpucheck_exit 75" "a signal at call $n: Prometheus is left with samples"
    err_has "stopped by SIGTERM before the checks were done" "a signal at call $n: SIGTERM is told"
done
mkdir stopped
DNN_EMULATE=term:2000 run sh "$ROOT/scripts/examples/prometheus.sh" stopped
is "$(grep -c '^dnn_gpucheck_exit 75' stopped/dnn.prom)" 1 "the monitor shows it"
for home in /nowhere "$WORK/tmp/none"; do
    TMPDIR=$home run dnn gpucheck
    is_exit 73 "no folder for the models: 73"
    err_has "set TMPDIR to a folder" "no folder for the models: how to give one"
done

# told NAME EXIT CHECK TEXT VARIABLES: the check that fails, and why
told() {
    local name=$1 code=$2 id=$3 text=$4
    shift 4
    run env "$@" "$DNN" gpucheck
    [ "$STATUS" -eq "$code" ] && grep -q "^$id  *fail  .*$text" out && [ "$(grep -cE '^[a-z_.]+ +fail ' out)" -eq 1 ] && [ ! -s err ]
    ok $? "$name: $code" "exit $STATUS: $(grep -A2 ' fail ' out; cat err)"
    grep -A2 "^$id  *fail" out | grep -q ' fix: '
    ok $? "$name: with its mend"
    nothing_left "$name"
}
told "G01 no device" 69 device "the driver shows no device" DNN_EMULATE=devices:0:0 DNN_GPUCHECK_ROOT="$WORK"
told "G02 an old driver" 69 runtime "the CUDA driver serves CUDA 12.4, this program needs 13.0" DNN_EMULATE=driver:12040,GetDeviceCount:1:35
told "G03 a hidden one" 69 device 'no device is visible: CUDA_VISIBLE_DEVICES="-1"' CUDA_VISIBLE_DEVICES=-1 DNN_GPUCHECK_ROOT="$WORK"
told "G04 no such index" 69 device 'there is no device "7"' GPU_DEVICE_ID=7
told "G05 busy ones" 75 context "the GPU is busy" DNN_EMULATE=StreamCreateWithFlags:1:46,StreamCreateWithFlags:1:46
told "G06 a full one" 75 alloc "the card is full" DNN_EMULATE=devices:1:60000
told "G06 one that fills up in the midst of the checks" 75 kernel.gather "no room for" DNN_EMULATE=Malloc:5:2
told "G05 a service that is not ready" 69 context "(807) from cuda" DNN_EMULATE=StreamCreateWithFlags:1:807
told "G13 no kernel image" 69 architecture "no kernels for the architecture" DNN_EMULATE=devices:1:64000000,FuncSetAttribute:1:209
told "G09 an error that stays, at once" 81 context "cudaErrorLaunchFailure" DNN_FAULT=cuda:1:719
told "G09 in a kernel" 81 'kernel\.[a-z_]*' "failed: cudaErrorLaunchFailure .*; last given to it: [a-z_]* (kernel [a-z_]*" \
    DNN_EMULATE=break:20:719
told "G09 in a training" 81 train "failed: cudaErrorIllegalAddress" DNN_EMULATE=break:2000:700
grep -q 'resume\|checkpoint' out
is $? 1 "a training inside is not to be resumed"
told "G10 an ECC error" 81 copy "failed: cudaErrorECCUncorrectable" DNN_FAULT=cuda:35:214
told "G12 a hang" 81 'kernel\.[a-z_]*' "hangs: no answer for 0.3 seconds" DNN_EMULATE=hang:150 DNN_PATIENCE=0.3
for n in $stalls; do # while it opens, in a kernel, in a training
    run env DNN_EMULATE=stall:$n DNN_PATIENCE=0.3 "$DNN" gpucheck
    [ "$STATUS" -eq 81 ] && grep -q '^verdict: faulty (exit 81)' out && grep -q ' fail  .*has not come back for 0.3 seconds' out &&
        [ ! -s err ]
    ok $? "G12 call $n does not come back: faulty, and in which check" "exit $STATUS: $(grep -A2 ' fail ' out; cat err)"
    nothing_left "call $n"
done
run env DNN_EMULATE=stall:700 DNN_PATIENCE=0.3 "$DNN" gpucheck --json
[ "$STATUS" -eq 81 ] && grep -q '^{"schema":"dnn.gpucheck/1","verdict":"faulty","exit":81,.*}}$' out && [ "$(wc -l <out)" -eq 1 ]
ok $? "G12 the same in JSON" "exit $STATUS: $(cut -c1-200 out)"
run env DNN_EMULATE=stall:700 DNN_PATIENCE=0.3 "$DNN" gpucheck --format prom
[ "$STATUS" -eq 81 ] && grep -q '^dnn_gpucheck_exit 81$' out && grep -q '^dnn_gpucheck_check{id="[a-z._0-9]*",status="fail"} 1$' out
ok $? "G12 a call that does not come back: Prometheus" "exit $STATUS: $(head -n 3 out)"
run env DNN_EMULATE=stall:700 DNN_PATIENCE=0.3 "$DNN" gpucheck --format spark
is "$STATUS $(cat out)" '81 {"name":"gpu","addresses":[]}' "G12 a call that does not come back: Spark"
err_has "dnn: warning: GPU 0 is faulty: " "G12 a call that does not come back: Spark, with a line of the card"
# --- several cards: one after the other, up to a faulty one ---
spark() { # spark EXIT NAME VARIABLES..: an empty list, as an emulated card is not listed
    local code=$1 name=$2
    shift 2
    run env "$@" "$DNN" gpucheck --format spark
    is "$STATUS $(cat out)" "$code "'{"name":"gpu","addresses":[]}' "$name"
}
# warned TEXT INDEX..: of those and no others
warned() {
    local text=$1 index
    shift
    for index in "$@"; do err_has "dnn: warning: GPU $index is $text" "GPU $index: $text"; done
    is "$(grep -c 'warning: GPU [0-9]* is' err)" $# "no other card is warned of: $text" "$(cat err)"
}
spark 0 "two good ones" DNN_EMULATE=devices:2:64000000
is "$(grep -c 'dnn: note: GPU [01] is emulated: it is not listed' err)" 2 "each is checked to the end" "$(cat err)"
spark 81 "three broken ones" DNN_EMULATE=devices:3:64000000,break:20:719,report
warned "faulty: kernel." 0
is_exit 81
err_has "GPU 1 and later are not checked after a fault" "the others are not checked, and it is said"
err_lacks "is called after a fault" "without a call after the fault"
spark 75 "two that are full" DNN_EMULATE=devices:2:60000
warned "busy: alloc: the card is full" 0 1
run env DNN_EMULATE=devices:3:64000000,break:20:719 "$DNN" gpucheck --format spark --device 1
warned "faulty: kernel." 1
run env DNN_EMULATE=devices:3:64000000,break:20:719 "$DNN" gpucheck --format spark --backend=cuda:2 -q
is "$STATUS $(wc -l <err)" "81 1" "--quiet is obeyed by all of them: one line"
err_has "dnn: warning: GPU 2 is faulty: kernel." "--quiet: the one line is a warning"
run "$DNN" gpucheck --format spark --backend cuda:1 --device 0
is "$STATUS $(wc -c <out)" "64 0" "a wrong command line: 64, and no list"
err_has "name two cards" "a wrong command line: the reason"
rm -rf tmp/dnn-gpucheck-*
mkdir text && echo 'dnn_gpucheck_exit 0' >text/dnn.prom
DNN_EMULATE=stall:700 DNN_PATIENCE=0.3 run sh "$ROOT/scripts/examples/prometheus.sh" text
is "$STATUS $(grep '^dnn_gpucheck_exit' text/dnn.prom)" "0 dnn_gpucheck_exit 81" "G12 the monitor does not say ready" "$(cat err)"
run env DNN_EMULATE=devices:2:64000000 "$DNN" gpucheck --backend cuda:1 --json
out_has '"id":"context","status":"pass","measured":"GPU 1"' "G04 --backend cuda:1"
calls=$(DNN_FAULT=count dnn gpucheck 2>&1 >/dev/null | sed -n 's/.* cuda=\([0-9]*\).*/\1/p')
bad=""
for ((n = 1; n <= calls; n += 1 + calls / turns)); do
    DNN_FAULT=cuda:$n+:719 dnn gpucheck >out 2>err # it stays, as on a card: a machine that is closed tells of none
    code=$?
    [ $code -eq 81 ] && [ ! -s err ] || bad+="cuda:$n: exit $code: $(cat err) $(tail -n 1 out); "
done
[ -z "$bad" ]
ok $? "G11 any of the $calls calls fails in its turn: faulty" "$bad"
nothing_left "after all that"
# what the host lacks is not the card's fault
bad=""
for fault in alloc:500 write:1 fsync:2 rename:1; do
    DNN_FAULT=$fault dnn gpucheck >out 2>err
    code=$?
    case $code in 71 | 73 | 74) ;; *) bad+="$fault: exit $code: $(tail -n 1 out) $(cat err); " ;; esac
done
[ -z "$bad" ]
ok $? "a failing host is no faulty card" "$bad"

# --- NVML as it may be: a stand-in ---
mkdir ecc hot
cat >nvml.c <<'C'
#include <string.h>
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *to, unsigned room) { strncpy(to, "550.54.14", room); return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (void *)(long)(i + 1); return 0; }
int nvmlDeviceGetTotalEccErrors(void *d, int kind, int counter, unsigned long long *n)
{
    *n = ECC;
    return d == 0 || kind != 1 || counter != 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *bits) { *bits = HOT; return d == 0; }
int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *t) { *t = 71; return d == 0 || sensor != 0; }
C
if gcc -shared -fPIC -DECC=3 -DHOT=0 -o ecc/libnvidia-ml.so.1 nvml.c 2>/dev/null &&
    gcc -shared -fPIC -DECC=0 -DHOT=0x40 -o hot/libnvidia-ml.so.1 nvml.c; then
    told "memory errors" 81 health "errors that could not be corrected" LD_LIBRARY_PATH=ecc
    run env LD_LIBRARY_PATH=hot "$DNN" gpucheck
    is_exit 69 "a hot card is no failure"
    grep -q '^health  *warn  the card has slowed itself down' out
    ok $? "a hot card is a warning" "$(grep -A2 '^health' out)"
    out_has "uncorrected errors 0, slowed down, 71 degrees" "a hot card: what was measured"
else
    skip "memory errors, heat" "no gcc"
fi
done_testing
