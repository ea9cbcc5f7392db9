#!/bin/bash
# cuda.sh - the whole program on the emulated GPU: trained there and applied on the CPU and the reverse, the same bytes in every order
# of its work, every way it can fail. Ids: G01 G02 G04 G05 G06 G07 G09 G10 G11 G12 G13, E1804, E1805.
# One line reproduces any fault: DNN_EMULATE=break:N:719, hang:N, or DNN_FAULT=cuda:N:CODE. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
gpu='"backend": {"name": "dnn_gpu", "fallback": "none"}'

# close FILE FILE BOUND: two files of answers differ by so much at most
close() {
    perl -e 'my ($x, $y, $most) = @ARGV; open my $f, "<", $x or die; open my $g, "<", $y or die; my $far = 0;
        while (my $a = <$f>) { my $b = <$g> // die "shorter"; my @a = split /,/, $a; my @b = split /,/, $b; die "cells" if @a != @b;
            next if $. == 1; for (1 .. $#a) { my $d = abs($a[$_] - $b[$_]); $far = $d if $d > $far } }
        die "longer" if <$g>; die "far: $far\n" if $far > $most' "$1" "$2" "$3"
}
one_warning() { [ "$(grep 'warning:' err | grep -vc 'less than 4 GiB')" -eq 1 ]; }

# --- the same mathematics ---
make_data d.csv 2000
make_config c.json d.csv binary '"epochs": 1, "early_stopping": {"patience": 0}' "$gpu"
run dnn train c.json --force -o g.dnn --progress none --json
is_exit 0 "2,000 rows, one epoch on the emulated GPU"
err_has "dnn_gpu: Using GPU acceleration (2 GPU(s) detected): emulated" "says which"
err_has "dnn_gpu: model loaded on GPU 0 (emulated, " "says how full it is"
out_has '"used":"dnn_gpu"' "the summary names it"
out_has '"device":"emulated"' "the summary names the device"
! grep -q '"device_peak_bytes":0' out
after_exit $? "the summary has the device's memory"
run dnn train c.json --force -o c.dnn --progress none --backend dnn_cpu
run dnn predict g.dnn d.csv
err_has "dnn_gpu: predicted 2000 rows, 2000 answers" "predicted there"
cp out g.csv
run dnn predict c.dnn d.csv --backend dnn_cpu
cp out c.csv
check "probabilities within 1e-4 of the CPU's" close g.csv c.csv 1e-4
run dnn predict g.dnn d.csv --backend dnn_cpu
cp out gc.csv
check "trained on the GPU, applied on the CPU" close g.csv gc.csv 1e-5
run dnn predict c.dnn d.csv --backend dnn_gpu
cp out cg.csv
check "trained on the CPU, applied on the GPU" close c.csv cg.csv 1e-5
run dnn predict g.dnn d.csv --batch-size 7
same out g.csv "other batches, the same bytes"
run dnn verify g.dnn --backend dnn_gpu
out_has "the same bits" "golden rows are bit-equal where they were made"
run dnn verify g.dnn --backend dnn_cpu
is_exit 0 "golden rows are within the bound on the CPU"
run dnn evaluate g.dnn d.csv --require 'auc>=0.5'
is_exit 0 "evaluate"
for kind in multi value; do
    make_data $kind.csv 400 $kind
    make_config $kind.json $kind.csv "$([ $kind = multi ] && echo multiclass || echo regression)" '"epochs": 2' "$gpu"
    run dnn train $kind.json --force -o $kind.dnn --progress none
    is_exit 0 "$kind"
    run dnn train $kind.json --force -o $kind.cpu.dnn --progress none --backend dnn_cpu
    for m in $kind.dnn $kind.cpu.dnn; do
        dnn predict $m $kind.csv --backend dnn_cpu --quiet | cut -d, -f2- | awk -F, '{ print "x," $0 }' >$m.csv
    done
    [ $kind = multi ] || for m in $kind.dnn $kind.cpu.dnn; do
        dnn predict $m $kind.csv --backend dnn_cpu --quiet | awk '{ print "x," $0 }' >$m.csv
    done
    check "$kind: as on the CPU" close $kind.dnn.csv $kind.cpu.dnn.csv "$([ $kind = multi ] && echo 1e-4 || echo 1e-2)"
done
layers='"layers": [{"type": "dense", "units": 16}, {"type": "batch_norm"}, {"type": "gelu"}, {"type": "dropout", "p": 0.2},
  {"type": "residual", "layers": [{"type": "layer_norm"}, {"type": "dense", "units": 16}, {"type": "silu"}]}]'
for optimizer in sgd rmsprop adamw; do
    sed -e "s/\"preset\": \"mlp\", \"hidden\": \[16, 8\]/${layers//$'\n'/}/" \
        -e "s/\"epochs\"/\"optimizer\": {\"type\": \"$optimizer\"}, \"epochs\"/" c.json >l.json
    run dnn train l.json --force -o l.dnn --progress none --set calibrate=none # which would multiply a difference
    is_exit 0 "every kind of layer, $optimizer"
    dnn train l.json --force -o lc.dnn --progress none --backend dnn_cpu --quiet --set calibrate=none
    dnn predict l.dnn d.csv --quiet >l.csv
    dnn predict lc.dnn d.csv --backend dnn_cpu --quiet >lc.csv
    check "every kind of layer, $optimizer: within 1e-4" close l.csv lc.csv 1e-4
done

# --- the same bytes in every order of the device's work ---
for order in 0 1 2 3; do
    DNN_EMULATE=order:$order,report dnn train c.json --force -o o$order.dnn --progress none 2>o$order.err
done
is "$(sha256sum <o0.dnn)$(sha256sum <o0.dnn)$(sha256sum <o0.dnn)" "$(sha256sum <o1.dnn)$(sha256sum <o2.dnn)$(sha256sum <o3.dnn)" \
    "the same bytes in four orders"
is "$(grep -ch '0 after a fault, 0 findings, 0 left' o?.err | paste -sd+ | bc)" 4 "nothing found, nothing left"

# --- faults ---
sed 's/"none"/"cpu"/; s/"epochs": 1/"epochs": 3/' c.json >f.json
sed 's/"epochs": 1/"epochs": 3/' c.json >n.json
faulted() { # faulted NAME VARIABLES: a training that loses its GPU ends in 0 with one warning and a model of the CPU
    local name=$1
    shift
    rm -f x.dnn*
    run env "$@" "$DNN" train f.json --force -o x.dnn --progress none --json
    is_exit 0 "$name: 0"
    err_lacks "is called after a fault" "$name: no call after the fault"
    [ $STATUS -eq 0 ] && one_warning && [ -e x.dnn ] && ! ls x.dnn.* >/dev/null 2>&1 &&
        grep -q '"requested":"dnn_gpu","used":"dnn_cpu"' out &&
        ! grep -q '^#' out
    ok $? "$name" "exit $STATUS: $(cat err)"
}
DNN_FAULT=count dnn train f.json --force -o x.dnn --progress none 2>err >out
calls=$(sed -n 's/.* cuda=\([0-9]*\).*/\1/p' err)
[ "${calls:-0}" -gt 100 ]
ok $? "calls are counted: $calls"
for n in 20 90 160; do faulted "G09 a sticky error after kernel $n" DNN_EMULATE=break:$n:719,report; done
faulted "G10 an ECC error" DNN_EMULATE=report "DNN_FAULT=cuda:$((calls / 2)):214"
faulted "G11 the card is gone" DNN_FAULT=cuda:$((calls / 2)):999
faulted "G12 a hang" DNN_EMULATE=hang:450,report DNN_PATIENCE=0.2
err_has "hangs: no answer for 0.2 seconds; last given to it: " "says of what"
err_has "; continuing on the CPU from the last good checkpoint" "goes on where the last epoch ended"
err_has "dnn_gpu: the process may need kill -9" "says what may be needed"
err_has "resuming at step" "G12 a hang: the good epochs are kept"
dnn train f.json --force -o same.dnn --progress none --quiet
dnn train n.json --force -o same.n.dnn --progress none --quiet
for n in 1 30 560; do # of 700 calls at least
    faulted "G12 call $n does not come back" DNN_EMULATE=stall:$n DNN_PATIENCE=0.3
    err_has "has not come back for 0.3 seconds" "said by the one who looks on"
done
run env DNN_EMULATE=stall:560 DNN_PATIENCE=0.3 "$DNN" train n.json --force -o x.dnn --progress none
is_exit 81 "G12 the same without a fallback: 81"
err_has "the process may need kill -9" "G12 the same without a fallback: what may be needed"
err_has "the last good checkpoint is kept" "G12 the same without a fallback: a checkpoint is kept"
rm -f x.dnn*
bad=""
for ((n = 1; n <= calls; n += 1 + calls / 40)); do
    rm -f x.dnn*
    DNN_FAULT=cuda:$n:719 dnn train f.json --force -o x.dnn --progress none >out 2>err || bad+="cuda:$n: exit $?: $(tail -n 2 err); "
    one_warning || cmp -s x.dnn same.dnn || bad+="cuda:$n: $(cat err); " # when all is done, nobody minds
    [ -e x.dnn ] || bad+="cuda:$n: no model; "
    rm -f x.dnn*
    DNN_FAULT=cuda:$n:719 dnn train n.json --force -o x.dnn --progress none >out 2>err
    code=$?
    [ $code -eq 69 ] || [ $code -eq 81 ] || cmp -s x.dnn same.n.dnn || bad+="cuda:$n, no fallback: $code: $(tail -n 2 err); "
done
[ -z "$bad" ]
ok $? "G09 any call fails in its turn: the CPU with one warning, or 69, 81" "$bad"
rm -f x.dnn*
run env DNN_EMULATE=break:150:700 "$DNN" train n.json --force -o x.dnn --progress none
is_exit 81 "G09 fallback none: 81"
err_has "error[E1810]: GPU 0 (emulated) failed: cudaErrorIllegalAddress (700)" "G09 fallback none: what failed"
err_has "; last given to it: a recorded round of 15 operations, gather to advance, in steps " "G09 in which work: a graph does not say more"
err_has "CUDA_LAUNCH_BLOCKING=1 waits for each kernel" "G09 fallback none: how to have the kernel named"
seen=""
for n in 150 151 152 153; do
    rm -f x.dnn*
    run env CUDA_LAUNCH_BLOCKING=1 DNN_EMULATE=break:$n:719,report "$DNN" train n.json --force -o x.dnn --progress none
    seen+="$STATUS $(sed -n 's/.*error\[E1810\]: .* from [A-Za-z]*; last given to it: \([^;]*\), in steps .*/\1/p' err), "
done
is "$(tr , '\n' <<<"$seen" | sed 's/^ *//; s/<.*//; /^81/!d' | sort | paste -sd,)" \
    "81 kernel gemm_many,81 kernel mlp_step,81 kernel norm2_tile,81 kernel update" "G09 one by one each kernel is named"
is_exit 81
err_lacks "CUDA_LAUNCH_BLOCKING=1" "G09 one by one: the advice is not given again"

# answers
awk 'NR == 1 { print; next } { rows[NR] = $0 } END { for (k = 0; k < 12; k++) for (i = 2; i <= NR; i++) print rows[i] }' d.csv >big.csv
sed 's/"none"/"cpu"/' c.json >a.json
dnn train a.json --force -o a.dnn --progress none --quiet
dnn predict a.dnn big.csv --quiet >want.csv
for n in 2 10 20; do
    run env DNN_EMULATE=break:$n:719,report "$DNN" predict a.dnn big.csv
    [ $STATUS -eq 0 ] && one_warning && close out want.csv 1e-5
    ok $? "predict loses its GPU after kernel $n: one warning, every row once" "exit $STATUS: $(cat err)"
    is_exit 0
    err_lacks "is called after a fault" "no call after the fault"
done
dnn predict a.dnn d.csv --quiet >few.csv
calls=$(DNN_FAULT=count dnn predict a.dnn d.csv 2>&1 >/dev/null | sed -n 's/.* cuda=\([0-9]*\).*/\1/p')
bad=""
for ((n = 1; n <= calls; n += 6)); do
    for code in 719 2 46; do # one that stays, out of memory, busy
        DNN_FAULT=cuda:$n:$code dnn predict a.dnn d.csv >out 2>err || bad+="cuda:$n:$code: exit $?: $(tail -n 2 err); "
        close out few.csv 1e-5 && [ "$(grep 'warning:' err | grep -vc 'less than 4 GiB')" -le 1 ] || bad+="cuda:$n:$code: $(cat err); "
    done
done
[ -z "$bad" ]
ok $? "any of the $calls calls of predict fails in its turn, in three ways: every row once" "$bad"
run env DNN_EMULATE=hang:200 DNN_PATIENCE=0.2 "$DNN" predict a.dnn big.csv --batch-size 500
is_exit 81 "G12 predict on a GPU that hangs: 81"
err_has "hangs: no answer for 0.2 seconds" "G12 says so"
rows=$(($(wc -l <out) - 1))
[ $rows -gt 0 ] && [ $rows -lt 24000 ] && cmp -s out <(head -n $((rows + 1)) want.csv)
ok $? "G12 the rows written so far are whole: $rows" "$(wc -l out; tail -n 2 out)"
err_has "the answers to the first $rows rows are written" "G12 predict hangs: the rows written are counted"
bash -c "cat big.csv | DNN_EMULATE=break:20:719 '$DNN' predict a.dnn -" >out 2>err
close out want.csv 1e-5 && one_warning
ok $? "G12 predict from a pipe: every row, with one warning" "$(cat err)"

# --- none to be had ---
had() { # had CODE ID TEXT NAME VARIABLES: what is said without a fallback, and with one
    local code=$1 id=$2 text=$3 name=$4
    shift 4
    rm -f x.dnn
    run env "$@" "$DNN" train n.json --force -o x.dnn --progress none
    is_exit "$code" "$name: $code"
    err_has "error[$id]: dnn_gpu: requested (config) but unavailable ($text" "$name: says why"
    run env "$@" "$DNN" train f.json --force -o x.dnn --progress none
    is_exit 0 "$name: the fallback"
    one_warning && grep -qF "warning: dnn_gpu: requested but unavailable ($text" err
    ok $? "$name: one warning" "$(cat err)"
}
had 69 E1801 "no GPU is visible" "G01 no device" DNN_EMULATE=devices:0:0
had 69 E1801 "the CUDA driver serves CUDA 12.4, this program needs 13.0" "G02 an old driver" DNN_EMULATE=driver:12040,GetDeviceCount:1:35
had 69 E1801 'no GPU is visible; CUDA_VISIBLE_DEVICES="-1"' "G03 a hidden one" DNN_EMULATE=devices:0:0 CUDA_VISIBLE_DEVICES=-1
had 69 E1801 'GPU_DEVICE_ID: there is no device "7"' "G04 no such index" GPU_DEVICE_ID=7
had 75 E1805 "the GPU is busy" "G05 busy ones" DNN_EMULATE=StreamCreateWithFlags:1:46,StreamCreateWithFlags:1:46
had 69 E1801 "this build has no kernels for the architecture" "G13 no kernel image" DNN_EMULATE=devices:1:64000000,FuncSetAttribute:1:209

# --- memory ---
run env DNN_EMULATE=Malloc:5:2 "$DNN" train n.json --force -o m.dnn --progress none
is_exit 0 "out of memory once"
err_has "dnn_gpu: out of memory; micro-batch 64 -> 32" "the micro-batch is halved"
dnn predict m.dnn d.csv --quiet >m.csv
dnn train n.json --force -o w.dnn --progress none --quiet
dnn predict w.dnn d.csv --quiet >w.csv
check "the same mathematics" close m.csv w.csv 1e-4
run env GPU_BATCH_SIZE=16 "$DNN" train n.json --force -o m.dnn --progress none --quiet
dnn predict m.dnn d.csv --quiet >m.csv
check "GPU_BATCH_SIZE: the same mathematics" close m.csv w.csv 1e-4
run env DNN_EMULATE=devices:1:60000 "$DNN" train l.json --force -o m.dnn --progress none
is_exit 75 "batch_norm is not halved"
err_has "batch_norm takes its statistics over the micro-batch of 64 rows, which is not halved" "batch_norm is not halved: the reason"
err_has "error[E1804]" "E1804 no room"
# a step that no micro-batch divides
sed 's/"batch_size": 64/"batch_size": 257/' n.json >p.json
dnn train p.json --force -o w.dnn --progress none --quiet
dnn predict w.dnn d.csv --quiet >w.csv
run env DNN_EMULATE=Malloc:5:2 "$DNN" train p.json --force -o m.dnn --progress none
is_exit 0 "a batch of 257 rows"
err_has "dnn_gpu: out of memory; micro-batch 257 -> 129" "is halved as well"
dnn predict m.dnn d.csv --quiet >m.csv
check "the same mathematics" close m.csv w.csv 1e-5
run env GPU_BATCH_SIZE=100 "$DNN" train p.json --force -o m.dnn --progress none
err_has "dnn_gpu: GPU_BATCH_SIZE=100; micro-batch 257 -> 86" "GPU_BATCH_SIZE, which is said"
dnn predict m.dnn d.csv --quiet >m.csv
check "the same mathematics" close m.csv w.csv 1e-5
sed 's/"epochs"/"checkpoint": {"every_s": 0, "keep": 2}, "epochs"/' p.json >pr.json
GPU_BATCH_SIZE=100 dnn train pr.json --force -o whole.dnn --progress none --quiet
GPU_BATCH_SIZE=100 DNN_EMULATE=break:150:719 dnn train pr.json --force -o part.dnn --progress none --quiet --set backend.fallback=none 2>err
run dnn train pr.json --force -o part.dnn --progress none --resume --set backend.fallback=none
err_has "resuming at step" "a training of them goes on"
cmp -s part.dnn whole.dnn
ok $? "in the same micro-batches, to the same bytes"
rm -f part.dnn* whole.dnn*
dnn train n.json --force -o w.dnn --progress none --quiet
dnn train l.json --force -o l0.dnn --progress none --quiet
run env GPU_BATCH_SIZE=16 "$DNN" train l.json --force -o m.dnn --progress none
is_exit 0 "GPU_BATCH_SIZE does not split it either"
err_has "GPU_BATCH_SIZE=16 is not kept to: batch_norm takes its statistics over the micro-batch of 64 rows" \
    "GPU_BATCH_SIZE does not split batch_norm: the reason"
cmp -s m.dnn l0.dnn
ok $? "the same bytes"
for n in 1 2 3 4 5; do
    run env DNN_EMULATE=HostAlloc:$n:2 "$DNN" train n.json --force -o m.dnn --progress none --set backend.fallback=none
    is_exit 0 "no memory to pin, call $n: the card is sound"
    cmp -s m.dnn w.dnn
    ok $? "the same bytes"
done
run env DNN_EMULATE=HostAlloc:1:2 "$DNN" train n.json --force -o m.dnn --progress none
is "$(grep -c "could not pin" err)" 1 "memory that cannot be pinned is said once"
run env DNN_EMULATE=HostAlloc:1:719 "$DNN" train n.json --force -o m.dnn --progress none --set backend.fallback=none
is_exit 81 "a fault there is one"
run env DNN_EMULATE=devices:1:60000 "$DNN" train n.json --force -o m.dnn --progress none
is_exit 75 "G06 too little memory: 75"
run env DNN_EMULATE=devices:1:60000 "$DNN" train f.json --force -o m.dnn --progress none
is_exit 0 "or the CPU"
one_warning
ok $? "too little memory, the CPU serves: one warning" "$(cat err)"
run dnn train n.json --force -o m.dnn --progress none --set backend.memory_limit_gb=0.00005
is_exit 75 "backend.memory_limit_gb is kept to"

# --- devices, auto ---
for device in 1 cuda:1 GPU-00000000-0000-0000-0000-000000000002; do
    run dnn train c.json --force -o x.dnn --progress none --device $device
    err_has "model loaded on GPU 1" "device $device"
done
# several cards: the freest, as the driver's library (a stand-in here) tells
mkdir nvml
cat >nvml/stub.c <<'C'
#include <string.h>
struct memory { unsigned long long total, free, used; };
int nvmlInit_v2(void) { return 0; }
#ifndef LACKING
int nvmlShutdown(void) { return 0; }
#endif
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) { *device = (void *)uuid; return strlen(uuid) != 40; }
int nvmlDeviceGetMemoryInfo(void *device, struct memory *m)
{
    m->free = ((char *)device)[39] == '2' ? 900 : 100;
    return 0;
}
#ifdef MODE
int nvmlDeviceGetComputeMode(void *device, int *mode) { *mode = ((char *)device)[39] == '2' ? MODE : 0; return 0; }
#endif
#ifdef HELD
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, void *list)
{
    *count = ((char *)device)[39] == '2';
    memset(list, 0, 24 * *count);
    return 0;
}
#endif
C
if gcc -shared -fPIC -o nvml/libnvidia-ml.so.1 nvml/stub.c 2>/dev/null; then
    run env LD_LIBRARY_PATH=nvml "$DNN" train c.json --force -o x.dnn --progress none
    is_exit 0
    err_has "model loaded on GPU 1" "the freest of two"
    err_lacks "cannot be asked" "is no guess"
    run env LD_LIBRARY_PATH=nvml DNN_EMULATE=on:1,SetDevice:1:46 "$DNN" train c.json --force -o x.dnn --progress none
    [ $STATUS -eq 0 ] && grep -q "GPU 1 is passed over (the GPU is busy" err && grep -q "model loaded on GPU 0" err
    ok $? "where it is taken, the other" "exit $STATUS: $(cat err)"
    for how in "0 -DMODE=2" "0 -DMODE=3 -DHELD" "1 -DMODE=3" "1 -DMODE=0 -DHELD"; do
        # shellcheck disable=SC2086 # words
        gcc -shared -fPIC ${how#* } -o nvml/libnvidia-ml.so.1 nvml/stub.c
        run env LD_LIBRARY_PATH=nvml "$DNN" train c.json --force -o x.dnn --progress none
        is_exit 0
        err_has "model loaded on GPU ${how%% *}" "the freest, of mode and holders ${how#* }"
        err_lacks "passed over" "of mode and holders ${how#* }: none is tried in vain"
    done
    gcc -shared -fPIC -DMODE=2 -o nvml/libnvidia-ml.so.1 nvml/stub.c
    run env LD_LIBRARY_PATH=nvml DNN_EMULATE=on:0,SetDevice:1:46 "$DNN" train c.json --force -o x.dnn --progress none
    err_has "model loaded on GPU 1" "what NVML calls taken is tried when nothing else is left"
    gcc -shared -fPIC -DLACKING -o nvml/libnvidia-ml.so.1 nvml/stub.c
    run env LD_LIBRARY_PATH=nvml "$DNN" train c.json --force -o x.dnn --progress none
    err_has "model loaded on GPU 0" "a library that lacks a call is not used"
else
    skip "the freest of two" "no gcc"
fi
run dnn train c.json --force -o x.dnn --progress none --backend auto
err_has "auto: cpu 0.0 s, gpu 0.4 s; using CPU" "small work stays on the CPU"
out=$(DNN_EMULATE=report dnn train c.json --force -o x.dnn --progress none --backend auto 2>&1)
! grep -q emulated: <<<"$out"
ok $? "small work of auto makes no call to the card" "$out"
run dnn predict g.dnn d.csv --backend auto
err_has "using CPU" "predict as well"
cat d.csv | dnn predict g.dnn --backend auto >x.out 2>err
err_has "auto: input from a pipe; using CPU" "of a pipe nobody knows the length: the CPU"
auto() { run dnn check c.json --backend auto --set train.epochs=1000000 "$@"; }
auto --json --threads 1
mv err one
auto --json --threads 2
said=$(grep -o 'auto: cpu .*' err)
[ -n "$said" ] && [ "$said" = "$(grep -o 'auto: cpu .*' one)" ]
ok $? "deterministic: the choice knows neither threads nor a clock" "$(cat one err)"
auto --json --set backend.deterministic=false
perl -ne '$good ||= /auto: cpu ([0-9.]+) s, gpu ([0-9.]+) s; using CPU/ && $1 > 1 && $2 > $1; END { exit !$good }' err
ok $? "where the CPU has much to do, the GPU is opened and probed, and left where it is slower" "$(cat err)"
out_has '"used":"dnn_cpu","reason":"estimates: cpu ' "auto: both estimates are the reason"
perl -ne 'next unless /"reason":"estimates: cpu ([0-9.]+) s, gpu ([0-9.]+) s"/; my $said = "$1 $2";
    $good = /"estimates":\{"cpu_s":([-0-9.e+]+),"gpu_s":([-0-9.e+]+)\}/ && sprintf("%.1f %.1f", $1, $2) eq $said; END { exit !$good }' out
ok $? "check --json: the estimates that decided" "$(cat out)"
auto --set backend.deterministic=false
perl -ne '$c = $1 if /requested auto: estimates: cpu ([0-9.]+) s, gpu/;
    $good ||= /^time .* by steps timed here, ([0-9.]+) s as estimated \(/ && $1 eq $c;
    END { exit !$good }' out
ok $? "as in its text, beside the time that was measured" "$(cat out)"
sed 's/\[16, 8\]/[512, 512]/' c.json >wide.json
for word in cpu none; do
    run env DNN_EMULATE=devices:0:0 "$DNN" check wide.json --backend auto --set train.epochs=1000000 --set backend.fallback=$word
    is_exit 0 "auto without a GPU, fallback $word: the CPU is the faster one that is there"
    err_has "auto: GPU unavailable" "auto without a GPU, fallback $word: the reason"
done
# what is looked up in a table is no product: 3,000,000 parameters of which a row uses a thousand
awk 'BEGIN { srand(4); print "c,y"; for (i = 0; i < 6000; i++) print "v" i % 3000 "," i % 2 }' >e.csv
cat >e.json <<'JSON'
{"task": "binary", "data": {"train": "e.csv", "target": "y", "columns": {"c": {"type": "categorical", "encode": "embedding",
  "dim": 1024}}}, "model": {"preset": "mlp", "hidden": [16]}, "train": {"epochs": 1, "batch_size": 256}}
JSON
run dnn train e.json --force -o e.dnn --progress none --backend dnn_cpu
is_exit 0 "a large table"
awk 'NR == 1 { print; next } { for (k = 0; k < 20; k++) print }' e.csv >e20.csv
out=$(DNN_EMULATE=report dnn predict e.dnn e20.csv --backend auto -o e.out 2>&1)
! grep -q emulated: <<<"$out" && grep -q "auto: cpu 0\.[0-4] s, .*; using CPU" <<<"$out"
ok $? "auto predicts small work with a large table on the CPU, without a call" "$out"
run env DNN_TRAIN_GPU=false "$DNN" train c.json --force -o x.dnn --progress none
err_has "dnn_cpu: Using CPU (GPU disabled)" "DNN_TRAIN_GPU=false"

# --- resume: on the same kind the same bytes, on the other the same training ---
sed 's/"epochs": 1,/"epochs": 4, "checkpoint": {"every_s": 0, "keep": 2},/' c.json >r.json
dnn train r.json --force -o whole.dnn --progress none --quiet
DNN_EMULATE=break:200:719 dnn train r.json --force -o part.dnn --progress none --quiet 2>err
is $? 81 "a training that breaks off"
mkdir cpu auto && cp r.json d.csv part.dnn.ckpt-* cpu/ && cp r.json d.csv part.dnn.ckpt-* auto/
run dnn train r.json --force -o part.dnn --progress none --resume
is_exit 0 "goes on"
same part.dnn whole.dnn "to the same bytes"
cd cpu || exit 1
run "$DNN" train r.json --force -o part.dnn --progress none --resume --backend dnn_cpu
is_exit 0 "or on the CPU"
err_has "backend differs" "resumed on the CPU: a warning that the backend differs"
dnn predict part.dnn d.csv --backend dnn_cpu --quiet >part.csv
dnn predict ../whole.dnn d.csv --backend dnn_cpu --quiet >whole.csv
check "resumed on the CPU: the same answers" close part.csv whole.csv 1e-4
cd ../auto || exit 1
run "$DNN" train r.json --force -o part.dnn --progress none --resume --backend auto
err_has "auto: the checkpoint was computed on the GPU; using it" "auto goes on where it was"
same part.dnn ../whole.dnn "to the same bytes"
cd ..
done_testing
