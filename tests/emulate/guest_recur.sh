#!/bin/bash
# guest_recur.sh - cuDNN in the place of our recurrent kernels, on the emulated GPU, with a stand-in built here (cudnn_stub.c): gradients
# and trainings of lstm and gru at ragged lengths and in both directions as on the CPU; kept in the model and obeyed by a resume; refused,
# lacking, old, failing in the middle. DNN is build/emulated/dnn, with build/parity/emulated beside it.
. "$(dirname "$0")/../tap.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE DNN_GUESTS CUBLAS_WORKSPACE_CONFIG
parity=${DNN%/emulated/dnn}/parity/emulated
stub() { # stub FOLDER FLAGS...
    mkdir -p "$1"
    gcc -shared -fPIC -O1 -Wall -Wextra -Werror "${@:2}" -o "$1/libcudnn.so.9" "$ROOT/tests/emulate/cudnn_stub.c" -lm 2>stub.err
}
version=-DVERSION=91900
if ! stub whole $version || sanitized; then
    skip "recurrent layers by cuDNN" "no gcc, or a sanitizer: $(head -n 1 stub.err)"
    done_testing
    exit
fi
stub tells $version -DTELLS
with() { # with FOLDER COMMAND...: that library, serving
    local folder=$1
    shift
    env DNN_GUESTS="${RULE-cuDNN}" CUBLAS_WORKSPACE_CONFIG="${SPACE-:4096:2}" \
        LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
}
calls() { grep -c "^$1" err; } # that the stand-in told

# --- gradients against the CPU: its layout, lengths from none to all, both directions, further layers, two micro-batches, shards ---
if [ -x "$parity" ]; then
    for layer in lstm gru; do
        run with tells "$parity" --training --only "$layer of two directions" $layer.json
        is_exit 0 "$layer: gradient and loss are the CPU's, twice and recorded the same bits" "$(grep -h passed.:.false $layer.json)"
        check "$layer: all of it was compared" grep -q '"passed": 4, "failed": 0' $layer.json
        [ "$(calls forward)" -gt 0 ] && [ "$(calls forward)" -eq "$(calls backward)" ] && [ "$(calls forward)" -eq "$(calls weights)" ]
        ok $? "$layer: it has computed: $(calls forward) times" "$(grep -v '^[fbw].* [0-9]' err)"
        grep -q "guests.: .cuDNN 9.19.0" $layer.json
        ok $? "$layer: and is named"
        run "$parity" --training --only "$layer of two directions" own.json
        is_exit 0 "$layer: so are our own"
    done
    stub swapped $version -DSWAPPED
    run with swapped "$parity" --training --only "gru of two directions" swapped.json
    is_exit 1 "gates that change places are noticed"
    stub later $version -DFAIL_AT=5
    run with later "$parity" --training --only "lstm of two directions" later.json
    check "a failure between the way forward and back: the gradient is the CPU's" grep -q 'gradient.*"passed": true' later.json
else
    skip "gradients" "no parity program"
fi

# --- trainings: two channels of up to 9 steps; the class says which channel has the larger last number ---
make_rows() { # FILE ROWS
    awk -v rows="$2" 'BEGIN {
        srand(5); printf "y"; for (c = 0; c < 2; c++) for (t = 0; t < 9; t++) printf ",ch%d_%d", c, t; print ""
        for (i = 0; i < rows; i++) {
            n = 1 + i % 9; for (t = 0; t < 18; t++) x[t] = rand() - .5
            printf "%d", (x[n - 1] > x[8 + n])
            for (t = 0; t < 18; t++) printf ",%s", t % 9 < n ? x[t] : ""
            print ""
        } }' >"$1"
}
make_rows d.csv 500
config() { # LAYERS
    cat >c.json <<JSON
{"task": "binary", "data": {"train": "d.csv", "target": "y", "columns": {}, "sequence": {"wide": {"a": "ch0_*", "b": "ch1_*"}}},
 "model": {"layers": [$1, {"type": "pool", "kind": "last"}]}, "train": {"epochs": 4, "batch_size": 64,
 "optimizer": {"type": "adamw", "learning_rate": 0.02},
  "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0, "keep": 2}},
 "backend": {"name": "dnn_gpu", "fallback": "none", "precision": "fp32"}}
JSON
}
train() { "$DNN" train c.json --force --progress none "$@"; }
plan() { grep -ao 'guests\\":\\"[^"\\]*' "$1" | head -n 1 | sed 's/.*"//'; }
warnings() { grep 'warning:' err | grep -vc 'less than 4 GiB'; }
close() { # MODEL MODEL BOUND
    dnn predict "$1" d.csv --backend dnn_cpu -q >close.a && dnn predict "$2" d.csv --backend dnn_cpu -q >close.b || return 1
    perl -e 'my ($x, $y, $most) = @ARGV; open my $f, "<", $x or die; open my $g, "<", $y or die; my $far = 0;
        while (my $a = <$f>) { my $b = <$g> // die "shorter"; my @a = split /,/, $a; my @b = split /,/, $b;
            next if $. == 1; for (1 .. $#a) { my $d = abs($a[$_] - $b[$_]); $far = $d if $d > $far } }
        die "far: $far\n" if $far > $most' close.a close.b "$3"
}
config '{"type": "lstm", "units": 8, "bidirectional": true}, {"type": "dropout", "p": 0.1}, {"type": "gru", "units": 6}'
run dnn train c.json --force --progress none -o own.dnn
is_exit 0 "without guests"
is "$(plan own.dnn)" "" "no guest is kept in a model without guests"
run with tells "$DNN" train c.json --force --progress none -o guest.dnn
is_exit 0 "it serves"
is "$(warnings)" 0 "without a warning"
err_has "in the place of our kernels: cuDNN 9.19.0" "the guest that serves is named"
is "$(plan guest.dnn)" "cuDNN 9.19.0" "the model keeps it"
[ "$(calls 'forward 2')" -gt 0 ] && [ "$(calls 'weights 3')" -gt 0 ]
ok $? "lstm and gru are its own: $(calls forward) calls forward"
check "the training is the same" close own.dnn guest.dnn 1e-3
run with whole "$DNN" train c.json --force --progress none -o again.dnn
same again.dnn guest.dnn "twice, the same bytes"
DNN_EMULATE=order:3,report run with whole "$DNN" train c.json --force --progress none -o again.dnn
same again.dnn guest.dnn "in another order of work as well"
err_has "0 after a fault, 0 findings, 0 left" "nothing found, nothing left"
# --- the released program asks by backend.guests, and sets what makes sums repeatable ---
keyed() { # FOLDER GUESTS
    run env LD_LIBRARY_PATH="$1${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$DNN" train c.json --force --progress none -o keyed.dnn \
        --set "backend.guests=$2"
    is_exit 0 "backend.guests $2"
}
for word in cudnn all '["cudnn"]' '["cublaslt", "cudnn"]'; do
    keyed whole "$word"
    is "$(plan keyed.dnn)" "cuDNN 9.19.0" "backend.guests $word: the model names cuDNN"
    same keyed.dnn guest.dnn "backend.guests $word: cuDNN serves, and nothing else in the model differs"
done
for word in auto none '[]'; do
    keyed tells "$word"
    is "$(calls forward)" 0 "backend.guests $word: cuDNN computes nothing"
    same keyed.dnn own.dnn "backend.guests $word: the bytes of our kernels"
done
export CUBLAS_WORKSPACE_CONFIG=:0:0
keyed whole cudnn
err_has "warning: dnn_gpu: cuDNN cannot serve (CUBLAS_WORKSPACE_CONFIG is not :4096:2): our own kernels do" \
    "a wish that cannot be met is a warning"
same keyed.dnn own.dnn "another workspace: the bytes of our kernels"
unset CUBLAS_WORKSPACE_CONFIG
run with tells "$DNN" predict guest.dnn d.csv
is "$(calls forward)" 0 "an answer never comes from it"
# a layer whose inputs are kept in 16 bits, and their gradients in bf16; large products may take TF32, those of fp32 not
cp c.json ragged.json
config '{"type": "dense", "units": 64}, {"type": "tanh"}, {"type": "gru", "units": 32}'
for precision in fp32 bf16 fp16; do
    run with tells "$DNN" train c.json --force --progress none -o half.dnn --set backend.precision=$precision --set train.batch_size=256
    is_exit 0 "$precision"
    is "$(grep -o '^forward.*' err | sort -u)" "forward 3 256 9 64 32 $([ $precision = fp32 ] && echo 3 || echo 0)" \
        "$precision: its mathematics"
    dnn train c.json --force --progress none -o half.own.dnn --set backend.precision=$precision --set train.batch_size=256 2>/dev/null
    check "$precision: within its rounding" close half.dnn half.own.dnn 0.1
done
mv ragged.json c.json

# --- resume obeys ---
DNN_EMULATE=break:900:719 run with whole "$DNN" train c.json --force --progress none -o part.dnn
is_exit 81 "a training that breaks off"
RULE=none run with whole "$DNN" train c.json --force --progress none -o part.dnn --resume
is_exit 0 "goes on as its plan says, without being asked for"
same part.dnn guest.dnn "to the same bytes"

# --- where it cannot serve: our kernels, their bytes, one line with --verbosity 3 ---
ours() { # NAME TEXT FOLDER
    run with "$3" "$DNN" train c.json --force --progress none -o ours.dnn --verbosity 3
    [ $STATUS -eq 0 ] && [ "$(warnings)" -eq 0 ]
    ok $? "$1: no warning" "exit $STATUS: $(cat err)"
    is "$(grep -c 'cuDNN cannot serve' err)" "${4:-1}" "$1: said $([ "${4:-1}" = 1 ] && echo once || echo "once a shape")" \
        "$(grep cuDNN err)"
    err_has "$2" "$1: and why"
    same ours.dnn own.dnn "$1: the bytes of our kernels"
}
stub lacking $version -DLACKING
ours "a function is missing" "libcudnn.so.9 has no cudnnRNNBackwardWeights_v8" lacking
stub elder -DVERSION=8500
ours "an old version" "libcudnn.so.9 is of version 8.5.0, older than 8.6.0" elder
stub closed $version -DCREATE=1
ours "no handle" "cuDNN cannot serve (cudnnCreate: 1)" closed
stub refusing $version -DREFUSES
run with refusing "$DNN" train c.json --force --progress none -o refused.dnn --verbosity 3
is_exit 0 "no layer is supported"
err_has "a layer of 8 units on 2 inputs, 9 steps: cudnnSetRNNDescriptor_v8: 3000" "no layer is supported: the reason"
check "no layer is supported: the training is the same" close refused.dnn own.dnn 1e-3
SPACE="" ours "sums that NVIDIA does not call repeatable" "CUBLAS_WORKSPACE_CONFIG is not :4096:2" whole
for word in none "" cuBLASLt; do
    RULE=$word run with tells "$DNN" train c.json --force --progress none -o none.dnn
    is "$(calls forward)" 0 "DNN_GUESTS=$word: our kernels"
done

# --- in the middle: forward, and between forward and back ---
for n in 1 3 4 5 9 20 26; do # the last two in a capture
    stub failing $version -DFAIL_AT=$n
    run with failing "$DNN" train c.json --force --progress none -o failed.dnn
    [ $STATUS -eq 0 ] && [ "$(warnings)" -eq 1 ]
    ok $? "call $n is refused: one warning" "exit $STATUS: $(cat err)"
    check "call $n is refused: the training is the same" close failed.dnn own.dnn 1e-3
done
err_has "cuDNN failed (cudnnRNN" "the call is named"
sed -i 's/"none", "precision"/"cpu", "precision"/' c.json
run with whole env DNN_EMULATE=break:300:700,report "$DNN" train c.json --force --progress none -o x.dnn
is_exit 0 "the card breaks: the CPU takes over"
err_lacks "is called after a fault" "the card breaks: the guest is not called again"

# --- the numbers that stand for cuDNN's, where its headers are ---
headers=$(ls -d /usr/local/cuda/include "${CUDA_HOME:-/nowhere}/include" 2>/dev/null | while read -r d; do [ ! -e "$d/cudnn.h" ] ||
    echo "$d"; done | head -n 1)
if [ -n "$headers" ]; then
    cat >numbers.cc <<'C'
namespace ours {
extern "C" {
#include "backend/guests.h"
}
}
#include <cudnn.h>
#define SAME(a, b) static_assert((int)ours::a == (int)b, #a)
SAME(CUDNN_FLOAT, CUDNN_DATA_FLOAT); SAME(CUDNN_STANDARD, CUDNN_RNN_ALGO_STANDARD);
SAME(CUDNN_CELL_LSTM, CUDNN_LSTM); SAME(CUDNN_CELL_GRU, CUDNN_GRU);
SAME(CUDNN_BIAS_INPUT, CUDNN_RNN_SINGLE_INP_BIAS); SAME(CUDNN_BIAS_BOTH, CUDNN_RNN_DOUBLE_BIAS); SAME(CUDNN_ONE_WAY, CUDNN_UNIDIRECTIONAL);
SAME(CUDNN_INPUTS_LINEAR, CUDNN_LINEAR_INPUT); SAME(CUDNN_MATH_DEFAULT, CUDNN_DEFAULT_MATH); SAME(CUDNN_MATH_FMA, CUDNN_FMA_MATH);
SAME(CUDNN_STEPS_FIRST, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED); SAME(CUDNN_PADDED, CUDNN_RNN_PADDED_IO_ENABLED);
SAME(CUDNN_TRAINING, CUDNN_FWD_MODE_TRAINING); SAME(CUDNN_ADD, CUDNN_WGRAD_MODE_ADD);
// the calls take as many arguments of the same kinds: theirs with pointers and enumerations of their own
template <class T, bool = __is_enum(T)> struct plain { typedef T type; };
template <class T> struct plain<T, true> { typedef int type; };
template <class T> struct plain<T *, false> { typedef const void *type; };
template <class F> struct shape_of;
template <class R, class... A> struct shape_of<R (*)(A...)> { typedef typename plain<R>::type type(typename plain<A>::type...); };
template <class A, class B> struct equal { static const bool yes = false; };
template <class A> struct equal<A, A> { static const bool yes = true; };
#define NEED(name, result, arguments) \
    static_assert(equal<shape_of<decltype(&::name)>::type, shape_of<decltype(ours::cudnn::name)>::type>::yes, #name);
#include "backend/cudnn.def"
C
    check "numbers and arguments are cuDNN's" g++ -std=c++17 -w -I"$ROOT/src" -I"$headers" -include cstddef -include cstdint \
        -c numbers.cc -o numbers.o
else
    skip "numbers and arguments are cuDNN's" "no headers of cuDNN"
fi
done_testing
