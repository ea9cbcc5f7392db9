#!/bin/bash
# guest.sh - cuBLASLt in the place of our product kernels, on the emulated GPU, with a stand-in built here (guest_stub.c): bound all or
# nothing, serving where DNN_GUESTS asks for it, and by itself where that pays; kept in the model and obeyed by a resume, failing in the
# middle; what is told.
# DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE DNN_GUESTS
stub() { # stub FOLDER lt|dnn|lt12|dnn8 FLAGS...
    local folder=$1 kind=$2 source=guest_stub file
    shift 2
    case $kind in lt) file=libcublasLt.so.13 ;; lt12) file=libcublasLt.so.12 ;; dnn) file=libcudnn.so.9 ;; dnn8) file=libcudnn.so.8 ;; esac
    [ "${kind#lt}" != "$kind" ] || source=cudnn_stub
    mkdir -p "$folder"
    gcc -shared -fPIC -O1 -Wall -Wextra -Werror "$@" -o "$folder/$file" "$ROOT/tests/emulate/$source.c" -lm 2>stub.err
}
lt=-DVERSION=130100 cudnn=-DVERSION=91900
if ! stub whole lt $lt || ! stub whole dnn $cudnn || sanitized; then
    skip "guests" "no gcc, or a sanitizer: $(head -n 1 stub.err)"
    done_testing
    exit
fi
make_data d.csv 600
make_config c.json d.csv binary '"epochs": 4, "optimizer": {"type": "adamw", "learning_rate": 0.02}, "early_stopping": {"patience": 0},
  "checkpoint": {"every_s": 0, "keep": 2}' '"backend": {"name": "dnn_gpu", "fallback": "none", "precision": "fp32"}'
# every way a product ends: bias and relu, bias and an activation that keeps z, none; and activations by themselves
layers='"layers": [{"type": "dense", "units": 24}, {"type": "relu"}, {"type": "layer_norm"}, {"type": "tanh"},
  {"type": "dense", "units": 16}, {"type": "gelu"}, {"type": "batch_norm"}, {"type": "relu"},
  {"type": "residual", "layers": [{"type": "dense", "units": 16}, {"type": "sigmoid"}]}]'
sed -i "s/\"preset\": \"mlp\", \"hidden\": \[16, 8\]/${layers//$'\n'/}/" c.json
train() { dnn train c.json --force --progress none "$@"; }
with() { # with FOLDER COMMAND...: those libraries; cuBLASLt serves
    local folder=$1
    shift
    env DNN_GUESTS="${GUESTS_RULE-cuBLASLt}" LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
}
close() { # close MODEL MODEL BOUND: their answers on the CPU differ by so much at most
    dnn predict "$1" d.csv --backend dnn_cpu -q >close.a && dnn predict "$2" d.csv --backend dnn_cpu -q >close.b || return 1
    perl -e 'my ($x, $y, $most) = @ARGV; open my $f, "<", $x or die; open my $g, "<", $y or die; my $far = 0;
        while (my $a = <$f>) { my $b = <$g> // die "shorter"; my @a = split /,/, $a; my @b = split /,/, $b;
            next if $. == 1; for (1 .. $#a) { my $d = abs($a[$_] - $b[$_]); $far = $d if $d > $far } }
        die "far: $far\n" if $far > $most' close.a close.b "$3"
}
warnings() { grep 'warning:' err | grep -vc 'less than 4 GiB'; } # the emulated card is a small one
plan() { # what the model says of guests
    grep -ao 'guests\\":\\"[^"\\]*' "$1" | head -n 1 | sed 's/.*"//'
}

# --- serving ---
run train -o own.dnn
is_exit 0 "without guests"
err_lacks "cuBLASLt" "nothing is said of any"
is "$(plan own.dnn)" "" "no guest is kept in a model without guests"
run with whole "$DNN" train c.json --force --progress none -o guest.dnn
is_exit 0 "it serves"
is "$(warnings)" 0 "without a warning"
err_has "dnn_gpu: in the place of our kernels: cuBLASLt 13.1.0" "the guest that serves is named"
is "$(plan guest.dnn)" "cuBLASLt 13.1.0" "the model keeps it"
run dnn inspect guest.dnn
out_has "trained with cuda, emulated, fp32, with cuBLASLt 13.1.0" "inspect shows the guest"
! cmp -s own.dnn guest.dnn
ok $? "it rounds otherwise than our kernels"
check "a guest's training is the same within 1e-3" close own.dnn guest.dnn 1e-3
run with whole "$DNN" train c.json --force --progress none -o again.dnn
same again.dnn guest.dnn "twice, the same bytes"
DNN_EMULATE=order:3,report run with whole "$DNN" train c.json --force --progress none -o again.dnn
same again.dnn guest.dnn "in another order of work as well"
err_has "0 after a fault, 0 findings, 0 left" "nothing found, nothing left"
# the released program asks by backend.guests
for word in cublaslt '["cublaslt"]' auto none; do
    run env LD_LIBRARY_PATH="whole${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$DNN" train c.json --force --progress none -o keyed.dnn \
        --set "backend.guests=$word"
    is_exit 0 "backend.guests $word"
    same keyed.dnn "$([[ $word == *cublaslt* ]] && echo guest || echo own).dnn" "backend.guests $word: the bytes of who serves"
done
for rows in 1 3; do
    run with whole "$DNN" train c.json --force --progress none -o more.dnn --set train.batch_size=32 --set train.grad_accumulation=$rows
    run train -o more.own.dnn --set train.batch_size=32 --set train.grad_accumulation=$rows
    check "micro-batches of 32, $rows a step" close more.dnn more.own.dnn 1e-3
done
dnn predict guest.dnn d.csv -q >own.csv
run with whole "$DNN" predict guest.dnn d.csv
same out own.csv "an answer never comes from a guest"
run with whole "$DNN" verify guest.dnn --backend dnn_gpu
out_has "the same bits" "golden rows neither"
run with whole "$DNN" train c.json --force --progress none -o bf16.dnn --set backend.precision=bf16
is_exit 0 "bf16"
run train -o bf16.own.dnn --set backend.precision=bf16
check "bf16: within its rounding" close bf16.dnn bf16.own.dnn 0.1
run with whole "$DNN" train c.json --force --progress none -o fp16.dnn --set backend.precision=fp16
run train -o fp16.own.dnn --set backend.precision=fp16
check "fp16, whose large products are scaled, stays with our kernels" close fp16.dnn fp16.own.dnn 0.1

# --- dnn bench: a row of a library beside that of our own kernels ---
served() { # FOLDER: the rows that are made, one benchmark each: on a busy machine the time of one is not enough for all
    for row in dense dense_cublaslt dense_back_cublaslt train_lstm_cudnn; do
        env LD_LIBRARY_PATH="$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$DNN" bench --gpu --size small --iterations 1 --json \
            --operation $row 2>/dev/null | grep -q mean_time_ms && echo $row
    done | tr '\n' ' '
}
is "$(served whole)" "dense dense_cublaslt dense_back_cublaslt train_lstm_cudnn " "bench: rows of each library, and our own beside them"
is "$(served nowhere)" "dense " "bench: without the libraries their rows are left out"

# --- what a training keeps in 16 bits is given to them as it lies ---
stub tells lt $lt -DTELLS
half='"layers": [{"type": "dense", "units": 64}, {"type": "layer_norm"}, {"type": "relu"}, {"type": "dense", "units": 64, "bias": false},
  {"type": "relu"}, {"type": "dense", "units": 64, "bias": false}, {"type": "layer_norm"}, {"type": "dense",
  "units": 64}, {"type": "tanh"}]'
sed "s/\"layers\": \[.*\]}\]/${half//$'\n'/}/" c.json >half.json
products() { grep -c "^product $1\$" err; }
for precision in bf16 fp16; do
    type=$([ $precision = bf16 ] && echo 14 || echo 2)
    run with tells "$DNN" train half.json --force --progress none -o half.dnn --set backend.precision=$precision
    is_exit 0 "$precision: layers of 64"
    is "$(warnings)" 0 "$precision: nothing is refused"
    [ "$(products "$type $type $type")" -gt 0 ]
    ok $? "$precision: factors and what comes of them in 16 bits: $(products "$type $type $type") products"
    if [ $precision = bf16 ]; then
        [ "$(products "14 14 0")" -gt 0 ]
        ok $? "bf16: gradients of weights in fp32 of such factors: $(products "14 14 0")"
    else
        is "$(products "2 2 0")" 0 "fp16: gradients, which are scaled, stay with our kernels"
    fi
    dnn train half.json --force --progress none -q -o half.own.dnn --set backend.precision=$precision
    check "$precision: the same training" close half.dnn half.own.dnn 0.05
    ! cmp -s half.dnn half.own.dnn
    ok $? "$precision: and not by our kernels"
    run with tells "$DNN" train half.json --force --progress none -o again.dnn --set backend.precision=$precision
    same again.dnn half.dnn "$precision: twice, the same bytes"
    DNN_EMULATE=order:3,report run with whole "$DNN" train half.json --force --progress none -o again.dnn --set backend.precision=$precision
    same again.dnn half.dnn "$precision: in another order of work as well"
    err_has "0 after a fault, 0 findings, 0 left" "$precision: nothing found, nothing left"
done
parity=${DNN%/emulated/dnn}/parity/emulated # the same products against exact sums
stub soon lt $lt -DSOON
for precision in bf16 fp16; do
    if [ ! -x "$parity" ]; then skip "$precision: against exact sums" "no parity program"; continue; fi
    type=$([ $precision = bf16 ] && echo 14 || echo 2)
    run with tells "$parity" --precision --only "$precision all kept" kept.json
    is_exit 0 "$precision: what a guest leaves in 16 bits is the sum, rounded once"
    [ "$(products "$type $type $type")" -gt 0 ]
    ok $? "$precision: and it has left it: $(products "$type $type $type") products"
    run with soon "$parity" --precision --only "$precision all kept" soon.json
    is_exit 1 "$precision: one that rounds in the middle of a sum is found out"
done
# --- only where it is asked for ---
sed 's/"units": 24/"units": 320/' c.json >wide.json
run dnn train wide.json --force --progress none -o wide.dnn
for word in none "" cublaslt; do
    GUESTS_RULE=$word run with whole "$DNN" train wide.json --force --progress none -o none.dnn
    same none.dnn wide.dnn "DNN_GUESTS=$word: our kernels"
done

# --- by itself: the products of its rows, in a training that is long enough to pay for loading it ---
stub closed lt $lt -DCREATE=3
sed 's/"units": 64/"units": 128/g' half.json >large.json
large() { # large FOLDER OPTIONS...
    local folder=$1
    shift
    GUESTS_RULE=rule run with "$folder" "$DNN" train large.json --force --progress none "$@"
}
for precision in tf32 bf16; do
    large tells -o rule.$precision.dnn --set backend.precision=$precision
    is "$STATUS $(warnings)" "0 0" "$precision: a long training" "$(cat err)"
    is "$(plan rule.$precision.dnn)" "cuBLASLt 13.1.0$([ $precision = tf32 ] || echo '; wgmma')" "$precision: it serves by itself"
    few=$(grep -c '^product' err)
    run with tells "$DNN" train large.json --force --progress none -o all.dnn --set backend.precision=$precision
    all=$(grep -c '^product' err)
    [ "$few" -gt 0 ] && [ "$few" -lt "$all" ]
    ok $? "$precision: only large products: $few of $all"
    large whole -o again.dnn --set backend.precision=$precision
    same again.dnn rule.$precision.dnn "$precision: twice, the same bytes"
    dnn train large.json --force --progress none -q -o own.$precision.dnn --set backend.precision=$precision
    like=own.bf16.dnn # the stand-in rounds no fp32
    [ $precision = bf16 ] || { like=fp32.dnn && dnn train large.json --force --progress none -q -o fp32.dnn; }
    check "$precision: the same training" close $like rule.$precision.dnn 0.05
    ! cmp -s own.$precision.dnn rule.$precision.dnn
    ok $? "$precision: and not by our kernels"
done
large tells -o x.dnn --set backend.precision=bf16
is "$(grep '^product' err | grep -vc '^product 14 14 ')" 0 "bf16: only of factors in 16 bits"
GUESTS_RULE=rule run with closed "$DNN" train half.json --force --progress none -o short.dnn --set backend.precision=tf32 \
    --set train.epochs=2
is "$STATUS $(warnings) $(plan short.dnn)" "0 0 " "a short training does not open it" "$(cat err)"
for precision in fp32 fp16; do
    large closed -o x.dnn --set backend.precision=$precision
    is "$STATUS $(warnings) $(plan x.dnn | sed 's/wgmma//')" "0 0 " "$precision has no row: not opened" "$(cat err)"
done
large closed -o x.dnn --set backend.precision=tf32
is "$STATUS $(warnings)" "0 1" "the long one does" "$(cat err)"
mkdir -p broken && echo "no library" >broken/libcublasLt.so.13
large broken -o x.dnn --set backend.precision=tf32 --verbosity 3
is "$STATUS $(warnings)" "0 0" "one that cannot be loaded: no warning" "$(cat err)"
err_has "cuBLASLt cannot serve (libcublasLt.so.13 cannot be loaded" "said to the curious"
same x.dnn own.tf32.dnn "a guest that cannot be loaded: the bytes of our kernels"

# --- resume obeys ---
DNN_EMULATE=break:400:719 large whole -o part.dnn --set backend.precision=tf32
is_exit 81 "a training that breaks off"
mkdir old && cp part.dnn.ckpt-* large.json d.csv old/
GUESTS_RULE=none run with whole "$DNN" train large.json --force --progress none -o part.dnn --resume --set backend.precision=tf32
is_exit 0 "goes on as its plan says, without being asked for"
same part.dnn rule.tf32.dnn "to the same bytes"
stub newer lt -DVERSION=130200
cd old || exit 1
GUESTS_RULE=rule run with ../newer "$DNN" train large.json --force --progress none -o part.dnn --resume --set backend.precision=tf32
is_exit 0 "another version does not serve it"
err_has "(guests differs)" "a guest of another version: a warning"
cd .. || exit 1
DNN_EMULATE=break:400:719 run dnn train large.json --force --progress none -o part.dnn --set backend.precision=tf32
large whole -o part.dnn --resume --set backend.precision=tf32
same part.dnn own.tf32.dnn "one that began without it goes on without, where it would serve"

# --- all or nothing ---
refused() { # refused NAME TEXT FOLDER: our kernels serve, after one warning
    run with "$3" "$DNN" train c.json --force --progress none -o refused.dnn
    [ $STATUS -eq 0 ] && [ "$(warnings)" -eq 1 ]
    ok $? "$1: one warning" "exit $STATUS: $(cat err)"
    err_has "$2" "$1: which says why"
}
stub lacking lt $lt -DLACKING
refused "a function is missing" "cuBLASLt cannot serve (libcublasLt.so.13 has no cublasLtMatmul): our own kernels do" lacking
stub elder lt -DVERSION=110300
refused "an old version" "libcublasLt.so.13 is of version 11.3.0, older than 11.11.0" elder
refused "no library at all" "libcublasLt.so.13 cannot be loaded" broken
refused "no handle" "cuBLASLt failed (cublasLtCreate: 3); our own kernels serve" closed

# --- in the middle ---
for n in 1 4 9 20; do
    stub failing lt $lt -DFAIL_AT=$n
    refused "product $n is refused" "cuBLASLt failed (cublasLtMatmul: 14); our own kernels serve from here on" failing
    check "product $n is refused: the training is the same" close refused.dnn own.dnn 1e-3
done
DNN_FAULT=cuda.cublasLtMatmul:13:13 refused "the 13th call of one function" "cuBLASLt failed (cublasLtMatmul: 13)" whole
DNN_FAULT=cuda.cublasLtMatmulAlgoGetHeuristic:2:14 refused "a question is refused" "cuBLASLt failed (cublasLtMatmulAlgoGetHeuristic: 14)" \
    whole
DNN_FAULT=cuda.cublasLtMatmulAlgoGetHeuristic:2:15 run with whole "$DNN" train c.json --force --progress none -o x.dnn
[ $STATUS -eq 0 ] && [ "$(warnings)" -eq 0 ]
ok $? "a shape it does not have is no failure" "$(cat err)"
sed 's/"none", "precision"/"cpu", "precision"/' c.json >f.json
bad=""
calls=$(DNN_FAULT=count with whole "$DNN" train f.json --force -o x.dnn 2>&1 | sed -n 's/.* cuda=\([0-9]*\).*/\1/p')
for ((n = 1; n <= calls; n += 1 + calls / 12)); do
    rm -f x.dnn*
    DNN_FAULT=cuda:$n:719 run with whole "$DNN" train f.json --force --progress none -o x.dnn
    [ $STATUS -eq 0 ] && [ "$(warnings)" -le 1 ] && [ -e x.dnn ] || bad+="cuda:$n: exit $STATUS: $(cat err); "
done
[ -z "$bad" ]
ok $? "any of the $calls calls of runtime and guests fails: at most one warning, and a model" "$bad"
rm -f x.dnn*
run with whole env DNN_EMULATE=break:300:700,report "$DNN" train f.json --force --progress none -o x.dnn
[ $STATUS -eq 0 ] && [ "$(warnings)" -eq 1 ]
ok $? "the card breaks: the CPU takes over" "exit $STATUS: $(cat err)"
is_exit 0
err_lacks "is called after a fault" "the card breaks: the guest is not called again"
rm -f x.dnn*
run with whole env DNN_EMULATE=break:1:700,order:2 "$DNN" train f.json --force --progress none -o x.dnn
is "$STATUS $(warnings)" "0 1" "a guest that meets a broken card is not blamed" "$(cat err)"
rm -f x.dnn*
stub hanging lt $lt -DHANGS
DNN_PATIENCE=0.3 run with hanging "$DNN" train c.json --force --progress none -o x.dnn
is_exit 81 "a guest that does not come back: 81"
err_has "the GPU hangs: cublasLtMatmul has not come back for 0.3 seconds" "by its own name"
# a run that began without guests goes on without: its layers are fused as they were, whatever opened the door
rm -f x.dnn*
make_config small.json d.csv binary '"epochs": 4, "checkpoint": {"every_s": 0, "keep": 2}' \
    '"backend": {"name": "dnn_gpu", "fallback": "none"}'
DNN_EMULATE=break:60:719 run dnn train small.json --force --progress none -o x.dnn
for f in x.dnn.ckpt-*; do cp "$f" "y${f#x}"; done
CUDA_LAUNCH_BLOCKING=1 DNN_EMULATE=calls run dnn train small.json --force --progress none -o y.dnn --resume
fused=$(grep -o '[0-9][0-9]* kernels' err)
CUDA_LAUNCH_BLOCKING=1 DNN_EMULATE=calls run with whole "$DNN" train small.json --force --progress none -o x.dnn --resume
is_exit 0 "a run without guests goes on where they would serve everything"
is "$(grep -o '[0-9][0-9]* kernels' err)" "$fused" "a run without guests goes on with its layers fused" "$(cat err)"
same x.dnn y.dnn "to the same bytes"

# --- what is told ---
run with whole "$DNN" --version --json
out_has '"backends":["cuda","cpu"]' "--version: backends"
out_has '"cublaslt":"13.1.0","cublaslt_reason":null,"cudnn":"9.19.0","cudnn_reason":null' "--version: versions"
run with lacking "$DNN" --version --json
out_has '"cublaslt":null,"cublaslt_reason":"libcublasLt.so.13 has no cublasLtMatmul"' "--version: why not"
run with elder "$DNN" --version
out_has "cuBLASLt 11.3.0 (libcublasLt.so.13 is of version 11.3.0, older than 11.11.0), cuDNN 9.19.0" "--version: in words"
GUESTS_RULE=none run with elder "$DNN" gpucheck
is_exit 69 "gpucheck: an old library is no failure"
out_has "measured: cuBLASLt none, cuDNN 9.19.0" "gpucheck: what can serve"
grep -q '^libraries  *warn' out
ok $? "gpucheck: at most a warning" "$(grep '^libraries' out)"
out_has "cuBLASLt: libcublasLt.so.13 is of version 11.3.0, older than 11.11.0" "gpucheck: and why not"
run with whole "$DNN" gpucheck
out_has "verdict: emulated (exit 69)" "gpucheck passes with guests in the place of kernels"
for op in dense dense_back act act_back gradient train portable repeat; do
    grep -qE "^(kernel\.)?$op  *pass" out
    ok $? "gpucheck: $op" "$(grep -A2 "$op " out)"
done

# --- the numbers that stand for the toolkit's, where its headers are ---
headers=$(ls -d /usr/local/cuda/include "${CUDA_HOME:-/nowhere}/include" 2>/dev/null | while read -r d; do [ ! -e "$d/cublasLt.h" ] ||
    echo "$d"; done | head -n 1)
if [ -n "$headers" ]; then
    cat >numbers.cc <<'C'
namespace ours {
extern "C" {
#include "backend/guests.h"
}
}
#include <cublasLt.h>
#define SAME(a, b) static_assert((int)ours::a == (int)b, #a)
SAME(CUBLASLT_FLOAT, CUDA_R_32F); SAME(CUBLASLT_FP32, CUBLAS_COMPUTE_32F); SAME(CUBLASLT_FP16, CUBLAS_COMPUTE_32F_FAST_16F);
SAME(CUBLASLT_BF16, CUBLAS_COMPUTE_32F_FAST_16BF); SAME(CUBLASLT_TF32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(CUBLASLT_ACROSS_A, CUBLASLT_MATMUL_DESC_TRANSA); SAME(CUBLASLT_ACROSS_B, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(CUBLASLT_EPILOGUE, CUBLASLT_MATMUL_DESC_EPILOGUE); SAME(CUBLASLT_BIAS, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(CUBLASLT_END_NONE, CUBLASLT_EPILOGUE_DEFAULT); SAME(CUBLASLT_END_RELU, CUBLASLT_EPILOGUE_RELU);
SAME(CUBLASLT_END_BIAS, CUBLASLT_EPILOGUE_BIAS);
static_assert((ours::CUBLASLT_END_BIAS | ours::CUBLASLT_END_RELU) == CUBLASLT_EPILOGUE_RELU_BIAS);
SAME(CUBLASLT_BATCH, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT); SAME(CUBLASLT_STRIDE, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(CUBLASLT_WORKSPACE, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES); SAME(CUBLASLT_REDUCTIONS, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
static_assert(CUBLASLT_REDUCTION_SCHEME_NONE == 0 && CUBLAS_OP_N == 0 && CUBLAS_OP_T == 1);
SAME(CUBLASLT_ALIGNMENT, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES == ours::CUBLASLT_ALIGNMENT + 3);
static_assert(sizeof(ours::cublaslt_way) == sizeof(cublasLtMatmulHeuristicResult_t) &&
              sizeof(ours::cublaslt_algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(offsetof(ours::cublaslt_way, workspace) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) &&
              offsetof(ours::cublaslt_way, status) == offsetof(cublasLtMatmulHeuristicResult_t, state));
C
    check "numbers and layouts are the toolkit's" g++ -std=c++17 -w -I"$ROOT/src" -I"$headers" -include cstddef -include cstdint \
        -c numbers.cc -o numbers.o
else
    skip "numbers and layouts are the toolkit's" "no headers of cuBLASLt"
fi
done_testing
