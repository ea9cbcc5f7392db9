#!/bin/bash
# gpu_verify.sh - everything that is claimed of the GPU, tried on a machine that has one: one command, under 9 minutes, no network.
#   scripts/gpu_verify.sh                 all parts, in this order:
#       build tests parity repeat learning precision guests gpucheck sanitizer faults memory constants bench
#   scripts/gpu_verify.sh --part NAME     that one (and the build, if it was not done); may be repeated
#   scripts/gpu_verify.sh --pack          before moving to a machine without packages: puts the sources of cJSON and libcsv into
#                                         build/third-party, which has to travel with the tree; there they are compiled
#   scripts/gpu_verify.sh --emulated      the same script on the emulated GPU, to try the script: never green
# Needs a GPU, its driver, the CUDA toolkit (nvcc), gcc, g++, make and perl; PyTorch (python3, or PEERS=/path/to/python) and
# compute-sanitizer where they are. CUDA_ARCHS (90) are the architectures built, COMMIT names the tree where there is no .git.
# Results: $OUT, else build/gpu-verify: report.txt, verify.json (every part), parity.json, guests.json, constants.json, bench.json, dnn-bench.json, log.txt.
# A dated report belongs in tests/bench/results.
# Exit 0 when every part passed, 1 when one failed, 69 when one was skipped: a skipped part is not a pass.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
export LC_ALL=C
unset DNN_EMULATE DNN_FAULT DNN_FALLBACK DNN_PATIENCE MODEL_BACKEND ALL_GPU GPU_BACKEND GPU_BATCH_SIZE OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
all="build tests parity repeat learning precision guests gpucheck sanitizer faults memory constants bench"
parts=""
emulated=no
pack=no
while [ $# -gt 0 ]; do
    case $1 in
    --part) shift; parts="$parts ${1:-}" ;;
    --pack) pack=yes ;;
    --emulated) emulated=yes ;;
    *) sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
    esac
    shift
done
for part in $parts; do
    case " $all " in *" $part "*) ;; *) echo "gpu_verify.sh: no part $part; there are: $all" >&2; exit 64 ;; esac
done
third=$root/build/third-party
if [ $pack = yes ]; then
    tests/fuzz/sources.sh || { echo "gpu_verify.sh: the sources cannot be had" >&2; exit 69; }
    mkdir -p "$third/cjson"
    cp build/sources/cjson-1.7.15/cJSON.[ch] "$third/cjson/" && cp build/sources/libcsv-3.0.3/libcsv.c build/sources/libcsv-3.0.3/csv.h "$third/" &&
        echo "packed: build/third-party ($(du -sk "$third" | cut -f1) KiB)"
    exit
fi

began=$SECONDS
limit=${GPU_VERIFY_SECONDS:-525}
results=${OUT:-$root/build/gpu-verify}
build=build/gpu
work=$root/build/gpu-verify.work
mkdir -p "$results" "$work" "$work/run"
rm -f "$work"/*.json "$work"/*.log "$results"/{report.txt,verify.json,parity.json,guests.json,constants.json,bench.json,dnn-bench.json,log.txt}
report=$results/report.txt
jobs=$(nproc 2>/dev/null || echo 2)
archs=${CUDA_ARCHS:-90}
nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)}
[ -z "$nvcc" ] || PATH=$PATH:$(dirname "$nvcc")
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin
# drivers that are mounted into a machine without its loader knowing
for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib; do
    [ ! -e $folder/libcuda.so.1 ] || ldconfig -p 2>/dev/null | grep -q libcuda.so.1 || export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
commit=${COMMIT:-$(git -c safe.directory="$root" rev-parse HEAD 2>/dev/null || echo unknown)}
python=${PEERS:-$(command -v python3)}
gpu=""
[ $emulated = yes ] && build=build/gpu-emulated
[ $emulated = yes ] && gpu="the emulated device"
[ -n "$gpu" ] || gpu=$(timeout 60 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$gpu" ] || [ ! -e /dev/nvidiactl ] || gpu="a card that nvidia-smi does not tell of"
dnn=$root/$build/dnn
parity=$root/$build/parity/gpu
[ $emulated = yes ] && dnn=$root/$build/emulated/dnn parity=$root/$build/parity/emulated

say() { printf '%s\n' "$*" | tee -a "$report"; }
why=""                                                    # why a part was skipped or what failed in it
skip() { why=$1; return 69; }
fail() { why="${why:+$why; }$1"; echo "not ok: $1"; }     # the part goes on, and fails at its end
passed() { [ -z "$why" ]; }
quoted() { printf '"%s"' "$(printf '%s' "$1" | tr '\n\t\r' '   ' | sed 's/[\\"]/\\&/g')"; }
need_gpu() { [ -n "$gpu" ] || skip "no GPU is seen here"; }
need_program() { [ -x "$dnn" ] || skip "the program was not built"; }
now() { printf '%s' "$EPOCHREALTIME"; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.4f", b - a }'; }
number() { awk "BEGIN { printf \"$1\", $2 }"; }

# --- build ---
have_packages() { printf '#include <cjson/cJSON.h>\n#include <stddef.h>\n#include <csv.h>\nint main(void) { return 0; }\n' |
    "${CC:-gcc}" -x c - -lcjson -lcsv -o "$work/packages" 2>/dev/null; }
use_packages() { # else those that were carried here
    have_packages && return 0
    [ -f "$third/cjson/cJSON.c" ] && [ -f "$third/libcsv.c" ] || return 1
    "${CC:-gcc}" -O2 -fPIE -c "$third/cjson/cJSON.c" -o "$work/cJSON.o" && "${CC:-gcc}" -O2 -fPIE -w -I"$third" -c "$third/libcsv.c" -o "$work/libcsv.o" &&
        ar rcs "$work/libcjson.a" "$work/cJSON.o" && ar rcs "$work/libcsv.a" "$work/libcsv.o" || return 1
    export CPATH=$third${CPATH:+:$CPATH} LIBRARY_PATH=$work${LIBRARY_PATH:+:$LIBRARY_PATH}
    have_packages
}
part_build() {
    [ $emulated = yes ] || [ -n "$nvcc" ] || skip "no CUDA toolkit: nvcc is not found" || return
    use_packages || { fail "cJSON and libcsv are not here: carry build/third-party, made by scripts/gpu_verify.sh --pack"; return 1; }
    local targets="all parity gpu-constants units"
    [ $emulated = yes ] && targets="emulated parity-emulated units"
    local nvcc_here="NVCC=$nvcc"
    [ $emulated = yes ] && nvcc_here="NVCC="
    # shellcheck disable=SC2086 # words
    make -s -j"$jobs" BUILD="$build" "$nvcc_here" CUDA_ARCHS="$archs" $targets || fail "it does not build"
    [ -z "$nvcc" ] || "$nvcc" --version | sed -n '/release/p'
    [ ! -x "$dnn" ] || "$dnn" --version
    passed
}

# --- tests: those of every floor, with this compiler ---
part_tests() {
    need_program || return
    local good=0 bad=""
    find "$build/unit" -type f -perm -u+x 2>/dev/null | sort >"$work/units"
    [ -s "$work/units" ] || { fail "no unit tests were built"; return 1; }
    # shellcheck disable=SC2016 # the inner shell's
    xargs -P "$jobs" -n 1 sh -c 'timeout 100 "$1" >"$0.$(basename "$1").out" 2>&1 || echo "$1"' "$work/units" <"$work/units" >"$work/units.bad"
    bad=$(tr '\n' ' ' <"$work/units.bad")
    good=$(($(wc -l <"$work/units") - $(wc -l <"$work/units.bad")))
    echo "$good of $(wc -l <"$work/units") programs passed; not: ${bad:-none}"
    for test in $bad; do echo "--- $test"; tail -n 20 "$work/units.$(basename "$test").out"; done
    [ -z "$bad" ] || fail "unit tests: $bad"
    passed
}

# --- parity: every operation against the CPU, plain and recorded, gradients and learning ---
part_parity() {
    need_gpu && need_program || return
    "$parity" "$work/parity.result"
    local code=$?
    cp "$work/parity.result" "$results/parity.json"
    [ $code -ne 69 ] || skip "the device does not open" || return
    [ $code -eq 0 ] || fail "exit $code: $(tail -n 1 "$results/parity.json")"
    passed
}

# --- trainings by the program ---
config() { # FILE DATA EPOCHS BATCH: 14 numbers, 128-128-2
    local columns
    columns=$(for i in $(seq 14); do printf '"x%d": {"type": "numeric", "scale": "standard"}%s' "$i" "$([ "$i" = 14 ] || echo ,)"; done)
    cat >"$1" <<END
{"task": "binary", "data": {"train": "$2", "target": "y", "columns": {$columns}, "split": {"method": "random", "valid": 0, "test": 0}},
 "model": {"layers": [{"type": "dense", "units": 128}, {"type": "relu"}, {"type": "dense", "units": 128}, {"type": "relu"}]},
 "train": {"epochs": $3, "batch_size": $4, "schedule": {"type": "constant"}},
 "backend": {"name": "dnn_gpu", "fallback": "none"}, "output": {"model": "m.dnn"}}
END
}
numeric() { [ -s "$work/run/$1.csv" ] || scripts/bench/make_data.pl numeric "$1" >"$work/run/$1.csv"; }
small() { [ $emulated = yes ] && echo 1000 || echo 20000; }
prepare() { need_gpu && need_program && numeric "$(small)" && cd "$work/run" && config c.json "$(small).csv" "${1:-3}" 256; }
try() { echo "\$ $*"; timeout 120 "$@"; }
furthest() { # the largest difference of two files of answers
    perl -e 'my ($x, $y) = @ARGV; open my $f, "<", $x or die; open my $g, "<", $y or die; my $far = 0;
        while (my $a = <$f>) { my $b = <$g> // die "shorter"; my @a = split /,/, $a; my @b = split /,/, $b; die "cells" if @a != @b;
            next if $. == 1; for (1 .. $#a) { my $d = abs($a[$_] - $b[$_]); $far = $d if $d > $far } }
        die "longer" if <$g>; print $far' "$1" "$2"
}
within() { # FILE FILE BOUND WHAT
    local far
    far=$(furthest "$1" "$2" 2>&1)
    echo "$4: $far, at most $3"
    awk -v a="$far" -v b="$3" 'BEGIN { exit !(a + 0 == a && a <= b) }' || fail "$4: $far"
}

part_repeat() {
    prepare || return
    for i in 1 2; do try "$dnn" train c.json -o r$i.dnn -q || fail "training $i"; done
    cmp r1.dnn r2.dnn || fail "two trainings, two models"
    for rows in 0 7 999; do
        # shellcheck disable=SC2046 # words
        try "$dnn" predict r1.dnn "$(small).csv" -o p$rows.csv -q --backend dnn_gpu $([ $rows = 0 ] || echo --batch-size $rows) || fail "predict by $rows"
        cmp p0.csv p$rows.csv || fail "answers in batches of $rows have other bytes"
    done
    passed
}

part_learning() {
    prepare 10 || return
    try "$dnn" train c.json -o g.dnn --json -q >g.out || fail "training on the GPU"
    try "$dnn" train c.json -o c.dnn --json -q --backend dnn_cpu >c.out || fail "training on the CPU"
    grep -q '"used":"dnn_gpu"' g.out || fail "it did not use the GPU: $(grep -o '"backend":{[^}]*}' g.out)"
    local data auc=()
    data=$(small).csv
    for model in g c; do for where in gpu cpu; do
        try "$dnn" predict $model.dnn "$data" -o $model.$where.csv -q --backend dnn_$where || fail "predict $model on $where"
    done; done
    within g.gpu.csv g.cpu.csv 1e-4 "trained on the GPU, applied on both"
    within c.gpu.csv c.cpu.csv 1e-4 "trained on the CPU, applied on both"
    for model in g c; do
        try "$dnn" evaluate $model.dnn "$data" --json -q >e.$model || fail "evaluate $model"
        auc[${#auc[@]}]=$(grep -o '"auc":[0-9.]*' e.$model | head -n 1 | cut -d: -f2)
    done
    echo "auc: GPU ${auc[0]:-?}, CPU ${auc[1]:-?}"
    awk -v a="${auc[0]:-0}" -v b="${auc[1]:-0}" -v least="$([ $emulated = yes ] && echo 0.6 || echo 0.85)" \
        'BEGIN { exit !(a >= least && a - b < 0.02 && b - a < 0.02) }' || fail "auc ${auc[0]:-?} on the GPU, ${auc[1]:-?} on the CPU"
    try "$dnn" verify g.dnn --backend dnn_gpu || fail "verify on the GPU"
    try "$dnn" verify g.dnn --backend dnn_cpu || fail "verify on the CPU"
    passed
}

# --- precision: each learns, repeats, goes on after a break with the same bytes; fp16's gradients run over ---
part_precision() {
    prepare 4 || return
    local precision width=512 batch=4096 calls auc="" fp32="" saves='"optimizer": {"type": "adamw", "learning_rate": 0.003}, "checkpoint": {"every_s": 0, "keep": 2}'
    [ $emulated = yes ] && width=48 batch=128
    config w.json "$(small).csv" 4 $batch
    sed -i "s/128/$width/g; s/\"epochs\"/$saves, \"epochs\"/; s/\"batch_size\": [0-9]*/\"batch_size\": $batch/" w.json
    for precision in fp32 tf32 bf16 fp16; do
        local set="--set backend.precision=$precision"
        rm -f w.$precision.dnn* w2.dnn* w3.dnn*
        # shellcheck disable=SC2086 # words
        try "$dnn" train w.json -o w.$precision.dnn --json -q $set >w.out || { fail "$precision: training"; continue; }
        grep -q "\"precision\":\"$precision\"" w.out || fail "$precision: it computed in $(grep -o '"precision":"[^"]*"' w.out)"
        # shellcheck disable=SC2086
        DNN_FAULT=count try "$dnn" train w.json -o w2.dnn -q $set 2>w.calls || fail "$precision: training again"
        calls=$(sed -n 's/.* cuda=\([0-9]*\).*/\1/p' w.calls)
        cmp w.$precision.dnn w2.dnn || fail "$precision: two trainings, two models"
        # shellcheck disable=SC2086
        DNN_FAULT=cuda:$((${calls:-300} * 7 / 10)):719 try "$dnn" train w.json -o w3.dnn -q $set
        ls w3.dnn.ckpt-* >/dev/null 2>&1 || echo "it broke off before the first checkpoint, or not at all"
        # shellcheck disable=SC2086
        [ -e w3.dnn ] || try "$dnn" train w.json -o w3.dnn -q --resume $set || fail "$precision: going on"
        cmp w.$precision.dnn w3.dnn || fail "$precision: other bytes after a break"
        try "$dnn" evaluate w.$precision.dnn "$(small).csv" --json -q >w.e || fail "$precision: evaluate"
        auc=$(grep -o '"auc":[0-9.]*' w.e | head -n 1 | cut -d: -f2)
        echo "$precision: auc ${auc:-?}"
        fp32=${fp32:-${auc:-0}}
        awk -v a="${auc:-0}" -v b="$fp32" 'BEGIN { exit !(a > 0.5 && b - a < 0.02) }' || fail "$precision: auc ${auc:-?}, fp32 has $fp32"
    done
    try "$dnn" train w.json -o over.dnn -q --set backend.precision=fp16 --set output.metrics=over.lines \
        --set 'train.loss.class_weights={"0":1e6,"1":1e6}' || fail "fp16: gradients that run over"
    grep -o '"loss_scale":[^,]*,"skipped_steps":[0-9]*' over.lines
    grep -q '"skipped_steps":[1-9]' over.lines || fail "fp16: nothing ran over"
    try "$dnn" train w.json -o auto.dnn -q --json >auto.out || fail "auto"
    echo "auto: $(grep -o '"precision":"[^"]*"' auto.out)"
    passed
}

# --- guests: cuBLASLt and cuDNN, where they are, in the place of our kernels ---
python_libraries() { # FILE: the folder of Python's packages that has it
    [ -z "$python" ] || "$python" -c 'import glob, os, sys
for p in sys.path: print("\n".join(map(os.path.dirname, glob.glob(p + "/nvidia/*/lib/" + sys.argv[1]))))' "$1" 2>/dev/null | grep . | head -n 1
}
find_guests() { # what the loader does not know may stand beside Python's packages, or with the toolkit
    local file folder
    for file in 'libcublasLt.so.1?' 'libcudnn.so.?'; do
        for folder in "$(python_libraries "$file")" ${nvcc:+"${nvcc%/*}/../lib64" "${nvcc%/*}/../lib"}; do
            # shellcheck disable=SC2086 # a pattern
            [ -n "$folder" ] && ls $folder/$file >/dev/null 2>&1 && export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder" && break
        done
    done
}
stand_ins() { # on the emulated card: libraries that compute on the host
    mkdir -p "$work/guests"
    local stub=$root/tests/emulate/guest_stub.c
    gcc -shared -fPIC -O1 -DCUBLASLT -DVERSION=130100 -o "$work/guests/libcublasLt.so.13" "$stub" &&
        gcc -shared -fPIC -O1 -DCUDNN -DVERSION=91900 -o "$work/guests/libcudnn.so.9" "$stub" -lm &&
        export LD_LIBRARY_PATH=$work/guests${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
part_guests() {
    prepare 4 || return
    if [ $emulated = yes ]; then stand_ins || skip "the stand-ins cannot be built" || return; else find_guests; fi
    "$dnn" --version
    for name in cublaslt cudnn; do
        "$dnn" --version --json | grep -q "\"$name\":\"[0-9]" || skip "$("$dnn" --version --json | grep -o "\"${name}_reason\":\"[^\"]*\"")" || return
    done
    # every case of the operations they do, and large products in each precision: against the CPU, twice and recorded
    DNN_GUESTS=always "$parity" --cases "$work/guests.cases" 2>"$work/guests.err" || fail "an operation: $(grep 'not ok' "$work/guests.err" | head -n 3)"
    DNN_GUESTS=always "$parity" --precision "$work/guests.precision" 2>>"$work/guests.err" || fail "a product: $(grep 'not ok' "$work/guests.err" | tail -n 3)"
    cat "$work/guests.err"
    ! grep -q 'warning:' "$work/guests.err" || fail "$(grep -m 1 'warning:' "$work/guests.err")"
    grep -o '"guests": "[^"]*"' "$work/guests.cases"
    grep -q '"guests": "cuBLASLt.*cuDNN' "$work/guests.cases" || fail "they did not serve"
    # trainings with them and without; wide, with a norm, so that nothing is fused and activations stand alone
    local width=512 batch=4096 precision size set
    [ $emulated = yes ] && width=48 batch=128
    config v.json "$(small).csv" 4 $batch
    sed -i "s/128/$width/g; s/\"batch_size\": [0-9]*/\"batch_size\": $batch/; s/, {\"type\": \"relu\"}\]/, {\"type\": \"layer_norm\"}, {\"type\": \"relu\"}]/" v.json
    for precision in fp32 tf32 bf16; do
        set="--set backend.precision=$precision"
        # shellcheck disable=SC2086 # words
        try "$dnn" train v.json -o v.own.dnn -q $set || fail "$precision: training"
        # shellcheck disable=SC2086
        for model in v.1.dnn v.2.dnn; do DNN_GUESTS=always try "$dnn" train v.json -o $model -q $set || fail "$precision: training with guests"; done
        cmp v.1.dnn v.2.dnn || fail "$precision: two trainings with guests, two models"
        for model in own 1; do try "$dnn" predict v.$model.dnn "$(small).csv" -o v.$model.csv -q --backend dnn_cpu || fail "predict"; done
        within v.own.csv v.1.csv "$([ $precision = fp32 ] && echo 1e-2 || echo 0.1)" "$precision: with guests and without"
    done
    # what both take on this card: rows of kernels/guest_rules.def are made of it
    : >v.times
    for size in 256 $batch; do for precision in fp32 tf32 bf16; do
        [ $emulated = no ] || [ $size = 128 ] || continue
        try "$dnn" train v.json -o v.dnn -v --progress none --set backend.precision=$precision --set backend.deterministic=false \
            --set train.batch_size=$size --set train.epochs=1 2>v.err || fail "$precision: by timings"
        sed -n "s/.*dnn_gpu: \([pa][^:]*\): \(cu[A-Za-z]*\) \([0-9.-]*\) us, our kernel \([0-9.-]*\) us.*/{\"precision\": \"$precision\", \"work\": \"\1\", \"guest\": \"\2\", \"guest_us\": \3, \"own_us\": \4}/p" v.err >>v.times
    done; done
    cat v.times
    [ -s v.times ] || fail "nothing was timed"
    { echo '{"program": "gpu_verify guests", "rows": ['; sed '$!s/$/,/' v.times; echo ']}'; } >"$results/guests.json"
    passed
}

part_gpucheck() {
    need_gpu && need_program || return
    "$dnn" help 2>&1 | grep -q gpucheck || skip "this build has no command gpucheck" || return
    "$dnn" gpucheck --level full --json >"$work/gpucheck.result" || fail "exit $?"
    cat "$work/gpucheck.result"
    passed
}

# --- compute-sanitizer: four tools at once, on small shapes ---
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
            under="$sanitizer --tool $tool --error-exitcode 9 --print-limit 20"
            # shellcheck disable=SC2086 # words
            timeout 60 $under "$dnn" train s.json -o s.$tool.dnn -q || code=$?
            # shellcheck disable=SC2086
            timeout 60 $under "$parity" --cases --most "$([ $tool = racecheck ] && echo 0.3 || echo 2)" "$work/sanitizer.$tool" || code=$?
            exit $code
        ) >"$work/sanitizer.$tool.out" 2>&1 &
        running[$tool]=$!
    done
    for tool in memcheck racecheck synccheck initcheck; do
        wait "${running[$tool]}"
        local code=$?
        echo "--- $tool: exit $code"
        tail -n 40 "$work/sanitizer.$tool.out"
        [ "$(grep -c SUMMARY "$work/sanitizer.$tool.out")" -ge 2 ] && [ $code -eq 0 ] || fail "$tool: exit $code, $(grep -o 'ERROR SUMMARY.*\|RACECHECK SUMMARY.*' "$work/sanitizer.$tool.out" | tail -n 1)"
    done
    passed
}

# --- faults that can be had for real ---
fault() { # NAME EXITS WARNINGS COMMAND...: one of these exits, so many warnings (any: that does not matter), a model only with exit 0
    local name=$1 exits=$2 warnings=$3 code
    shift 3
    rm -f x.dnn*
    try "$@" >out 2>err
    code=$?
    echo "$name: exit $code"
    cat err
    case " $exits " in *" $code "*) ;; *) fail "$name: exit $code, not $exits" ;; esac
    [ "$warnings" = any ] || [ "$(grep 'warning:' err | grep -vc 'less than 4 GiB')" -eq "$warnings" ] || fail "$name: $(grep -c 'warning:' err) warnings, not $warnings"
    if [ $code -eq 0 ]; then [ -e x.dnn ] || fail "$name: no model"; else [ ! -e x.dnn ] || fail "$name: a model"; fi
}
part_faults() {
    prepare || return
    local fall="--set backend.fallback=cpu" hide="CUDA_VISIBLE_DEVICES="
    [ $emulated = yes ] && hide="DNN_EMULATE=devices:0:0"
    fault "hidden, no fallback" 69 0 env "$hide" "$dnn" train c.json -o x.dnn
    # shellcheck disable=SC2086 # words
    fault "hidden, with a fallback" 0 1 env "$hide" "$dnn" train c.json -o x.dnn $fall
    fault "hidden, the CPU asked for" 0 0 env "$hide" "$dnn" train c.json -o x.dnn --backend dnn_cpu
    for code in 719 214 999; do
        # shellcheck disable=SC2086
        fault "error $code in the middle" 0 1 env DNN_FAULT=cuda:120:$code "$dnn" train c.json -o x.dnn $fall
    done
    if command -v strace >/dev/null 2>&1 && [ $emulated = no ]; then
        try strace -f -e trace=open,openat -o trace "$dnn" train c.json -o x.dnn --backend auto -q || fail "auto under strace: exit $?"
        ! grep -q 'libcuda\|libnvidia' trace || fail "auto: small work opens $(grep -o 'lib[a-z-]*\.so[.0-9]*' trace | grep -m 1 'libcuda\|libnvidia')"
    fi
    fault "error 719, no fallback" 81 0 env DNN_FAULT=cuda:120:719 "$dnn" train c.json -o x.dnn
    if [ $emulated = no ]; then
        exec 8>&- 9<&-
        mkfifo "$work/hold.in" "$work/hold.out" 2>/dev/null
        "$root/$build/gpu_constants" --hold 16 <"$work/hold.in" >"$work/hold.out" 2>&1 &
        local holder=$! line=""
        exec 8>"$work/hold.in" 9<"$work/hold.out"
        read -r -t 60 line <&9
        echo "$line"
        case $line in
        held*)
            fault "no memory left, no fallback" "0 69 75 81" any "$dnn" train c.json -o x.dnn
            # shellcheck disable=SC2086
            fault "no memory left, with a fallback" 0 any "$dnn" train c.json -o x.dnn $fall ;;
        *) fail "the neighbour could not take the memory" ;;
        esac
        exec 8>&- 9<&-
        wait $holder
        rm -f "$work/hold.in" "$work/hold.out"
    fi
    fault "after all that" 0 0 "$dnn" train c.json -o x.dnn
    passed
}

# --- memory: foretold, kept to, and what passes through has the same bytes; a stop is no hang; the profile has the card's own times ---
held() { grep -o '"memory":{[^}]*}' "$1" | tail -n 1 | sed -n 's/.*"device_peak_bytes":\([0-9]*\).*/\1/p'; }
part_memory() {
    [ $emulated = no ] || (cd "$root" && numeric 6000) || return
    prepare || return
    [ $emulated = no ] || config c.json 6000.csv 1 64 # three parts of 512 rows are less than half of it
    try "$dnn" train c.json -o m.dnn --json >m.out || fail "a training"
    try "$dnn" check c.json --json >check.out || fail "check"
    local took told data limit
    took=$(held m.out)
    told=$(sed -n 's/.*"device_bytes":\([0-9]*\).*/\1/p' check.out)
    data=$(sed -n 's/.*"device_by_kind":{[^}]*"data":\([0-9]*\).*/\1/p' check.out)
    echo "check: $told bytes on the device, of them $data data; the training held $took"
    [ $((10 * ${told:-0})) -ge $((9 * ${took:-1})) ] && [ $((10 * ${told:-0})) -le $((11 * ${took:-1})) ] || fail "check is more than 10 % off"
    limit=$(awk "BEGIN { printf \"%.9f\", (${took:-0} - ${data:-0} / 2) / 1073741824 }")
    try "$dnn" train c.json -o s.dnn --json --set backend.memory_limit_gb="$limit" >s.out 2>err || fail "a training with room for half of its data"
    cat err
    grep -q 'data streamed' err || fail "its data do not stream"
    cmp m.dnn s.dnn || fail "data that stream make another model"
    [ "$(held s.out)" -le $((took - data / 2)) ] || fail "more than the limit: $(held s.out)"
    try "$dnn" train c.json -o p.dnn -q --profile trace.json || fail "a training with a profile"
    cmp m.dnn p.dnn || fail "a profile makes another model"
    perl -MJSON::PP -e 'local $/; open my $f, "<", "trace.json" or die; my %us;
        $us{"$_->{pid}/$_->{tid}"} += $_->{dur} // 0 for @{decode_json(<$f>)->{traceEvents}}; print "profile, us: host $us{\"1/1\"}, steps $us{\"2/1\"}, operations $us{\"2/2\"}\n";
        exit !($us{"2/1"} > 0 && $us{"2/2"} > 0 && $us{"2/1"} < $us{"1/1"})' || fail "the profile lacks the card's times"
    cp trace.json "$results/profile.json"
    DNN_PATIENCE=2 "$dnn" train c.json -o w.dnn --set train.epochs=1000000 --set train.early_stopping.patience=0 --set train.time_limit_s=20 >out 2>err &
    local stopped=$!
    sleep 2
    kill -STOP $stopped || fail "it had ended before the stop"
    sleep 4
    kill -CONT $stopped
    wait $stopped || fail "stopped for four seconds: exit $?"
    grep -q 'hangs' err && fail "a stop was taken for a hang: $(cat err)"
    passed
}

part_constants() {
    need_gpu || return
    [ $emulated = no ] || skip "not on an emulated device" || return
    [ -x "$build/gpu_constants" ] || skip "the program was not built" || return
    local lt
    lt=$(python_libraries 'libcublasLt.so.1*')
    [ -z "$lt" ] || export LD_LIBRARY_PATH="$lt${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    timeout 120 "$build/gpu_constants" >"$results/constants.json" || fail "exit $?"
    cat "$results/constants.json"
    passed
}

# --- bench: a step and a whole job, beside PyTorch on the same GPU ---
seconds_train() { grep -o '"train":[0-9.e-]*' "$1" | tail -n 1 | cut -d: -f2; }
# 28-512-512-512-2 on a tenth of 11 million rows: 3.206 million operations a row and step
bench_large() {
    local rows=1100000 width=512 columns batch precision peer rate
    [ $emulated = yes ] && rows=1000 width=32
    [ -s large.csv ] || "$root/scripts/bench/make_data.pl" table $rows >large.csv
    columns=$(for i in $(seq 28); do printf '"x%d": "numeric"%s' "$i" "$([ "$i" = 28 ] || echo ,)"; done)
    for batch in 65536 4096; do
        [ $emulated = yes ] && batch=256
        cat >large.json <<END
{"task": "binary", "data": {"train": "large.csv", "target": "y", "columns": {$columns}, "split": {"method": "random", "valid": 0, "test": 0}},
 "model": {"preset": "mlp", "hidden": [$width, $width, $width], "dropout": 0}, "train": {"epochs": 3, "batch_size": $batch},
 "backend": {"name": "dnn_gpu", "fallback": "none"}, "output": {"model": "large.dnn", "metrics": "large.lines"}}
END
        for precision in bf16 tf32 fp32; do
            rm -f large.lines large.dnn*
            try "$dnn" train large.json -q --set backend.precision=$precision || { fail "large, $precision"; continue; }
            rate=$(sed -n 's/.*"rows_per_s":\([0-9.e+]*\).*/\1/p' large.lines | tail -n 1)
            line "{\"work\": \"11M x 28, ${width}x3, batch $batch\", \"who\": \"dnn_gpu $precision\", \"rows_per_s\": ${rate:-0}, \"epoch_ms\": $(number %.1f "${rate:-0} ? 11e9 / ${rate:-1} : 0"), \"tflops\": $(number %.1f "${rate:-0} * 3.206e-6")}"
        done
        if [ $emulated = no ] && [ -n "$python" ]; then
            for precision in fp32 bf16 compile; do
                peer=$(timeout 60 "$python" "$root/scripts/bench/peers_gpu.py" large 1100000 $batch $precision 2>"peer.large.err" | tail -n 1)
                line "${peer:-{\"peer\": \"PyTorch $precision, batch $batch\", \"skipped\": $(quoted "$(tail -n 1 peer.large.err)")\}}"
            done
        fi
        [ $emulated = no ] || break
    done
}
# every operation and job beside this machine's own limits, and the GPU beside the CPU
bench_report() {
    local few=""
    [ $emulated = yes ] && few="--size small --iterations 1"
    # shellcheck disable=SC2086 # words
    timeout 100 "$dnn" bench --json -q $few >"$results/dnn-bench.json" || { fail "dnn bench: exit $?"; return; }
    [ $emulated = yes ] || grep -q '"performance_gains":{"gather"' "$results/dnn-bench.json" || fail "dnn bench: no rows of the GPU"
    # {"dense":{"small":{"time_improvement_percent":N,..},..},..}, as it comes
    perl -ne 'next unless /"performance_gains":(.*)/; my ($rest, $name, $size) = ($1, "", "");
        while ($rest =~ /"([a-z_0-9]+)":(?:(\{)|([-0-9.e]+))/g) {
            my ($key, $opens, $n) = ($1, $2, $3);
            if ($opens) { if ($key =~ /^(small|medium|large)$/) { $size = $key } else { $name = $key } }
            elsif ($key eq "time_improvement_percent" && $name =~ /^(dense|dense_back|train|predict|evaluate)$/ && $n < 100) {
                printf "GPU over CPU, %s %s: %.1f times\n", $name, $size, 100 / (100 - $n) } }' "$results/dnn-bench.json"
}
part_bench() {
    need_gpu && need_program || return
    local rows=45000 epochs=50 steps=176 lines="" us peer how began_at ours
    [ $emulated = yes ] && rows=1000 epochs=1 steps=4
    numeric $rows
    numeric $((rows / 5))
    cd "$work/run" && config b.json $rows.csv $epochs 256 && config j.json $rows.csv 10 256
    [ $emulated = yes ] && config j.json $rows.csv 1 256
    line() { lines="$lines${lines:+,
 }$1"; echo "$1"; }
    : >b.times
    for i in 1 2 3; do
        try "$dnn" train b.json -o b.dnn --json -q >b.out || fail "training"
        seconds_train b.out >>b.times
    done
    us=$(sort -g b.times | sed -n 2p)
    us=$(number %.3f "${us:-0} * 1e6 / ($epochs * $steps)")
    line "{\"work\": \"step 45k x 14, 128-128-2, batch 256\", \"who\": \"dnn_gpu\", \"us\": $us, \"start_s\": $(grep -o '"start":[0-9.e-]*' b.out | cut -d: -f2)}"
    try "$dnn" train b.json -o bc.dnn --json -q --backend dnn_cpu >bc.out || fail "training on the CPU"
    line "{\"work\": \"step\", \"who\": \"dnn_cpu, all cores\", \"us\": $(number %.3f "$(seconds_train bc.out) * 1e6 / ($epochs * $steps)")}"
    : >j.times
    for i in 1 2 3; do
        began_at=$(now)
        "$dnn" train j.json -o j.dnn -q && "$dnn" predict j.dnn $((rows / 5)).csv -o j.csv -q --backend dnn_gpu || fail "the job"
        printf '%s\n' "$(since "$began_at")" >>j.times
    done
    ours=$(sort -g j.times | sed -n 2p)
    line "{\"work\": \"cold job: CSV, 10 epochs, model, predictions\", \"who\": \"dnn_gpu\", \"s\": $ours}"
    if [ $emulated = no ] && [ -n "$python" ] && "$python" -c 'import torch, pandas; assert torch.cuda.is_available()' 2>/dev/null; then
        for how in eager graph compile; do
            peer=$(timeout 60 "$python" "$root/scripts/bench/peers_gpu.py" step $rows.csv 5 $how 2>"peer.$how.err" | tail -n 1)
            if [ -n "$peer" ]; then
                line "$peer"
                echo "dnn is $(number %.2f "$(printf '%s' "$peer" | grep -o 'us_a_step": [0-9.]*' | cut -d' ' -f2) / $us") times as fast as PyTorch $how"
            else
                line "{\"peer\": \"PyTorch $how\", \"skipped\": $(quoted "$(tail -n 1 "peer.$how.err")")}"
            fi
        done
        began_at=$(now)
        if timeout 90 "$python" "$root/scripts/bench/peers_gpu.py" job $rows.csv $((rows / 5)).csv peer.csv; then
            peer=$(since "$began_at")
            line "{\"peer\": \"Python, pandas and PyTorch on the GPU, cold job\", \"s\": $peer}"
            echo "dnn is $(number %.2f "$peer / $ours") times as fast as Python with PyTorch"
        else
            line '{"peer": "Python, pandas and PyTorch on the GPU, cold job", "skipped": "it failed"}'
        fi
    else
        line '{"peer": "PyTorch on the GPU", "skipped": "not found"}'
    fi
    bench_large
    bench_report
    printf '{"program": "gpu_verify bench", "rows": [\n %s\n]}\n' "$lines" >"$results/bench.json"
    passed
}

# --- one after the other ---
say "gpu_verify, $(date -u +%Y-%m-%d\ %H:%M) UTC, commit $commit"
say "GPU: ${gpu:-none is seen}; toolkit: $([ -n "$nvcc" ] && "$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p' || echo none); $jobs cores; built for sm $archs"
[ $emulated = no ] || say "EMULATED: this tries the script and proves nothing of a GPU"
wanted=${parts:-$all}
case " $wanted " in *" build "*) ;; *) wanted="build $wanted" ;; esac
green=0 red="" skipped="" json=""
for part in $wanted; do
    at=$SECONDS
    why=""
    if [ $((SECONDS - began)) -ge "$limit" ]; then
        code=69
        why="no time left of $limit s"
    elif [ "$part" = build ]; then # its variables are for the others
        part_build >"$work/build.log" 2>&1
        code=$?
    else
        set -m # a group of processes each: what hangs is ended as a whole when the time is up
        (part_"$part" >"$work/$part.log" 2>&1; code=$?; printf '%s' "$why" >"$work/$part.why"; exit $code) &
        pid=$!
        (sleep $((limit - SECONDS + began + 10)); kill -- -$pid) 2>/dev/null &
        guard=$!
        set +m
        wait $pid
        code=$?
        { kill -- -$guard; wait $guard; } 2>/dev/null
        why=$(cat "$work/$part.why" 2>/dev/null)
    fi
    took=$((SECONDS - at))
    case $code in
    0) state=passed; green=$((green + 1)) ;;
    69) state=skipped; skipped="$skipped $part" ;;
    *) state=failed; red="$red $part"; why=${why:-exit $code} ;;
    esac
    printf '{"part": "%s", "state": "%s", "seconds": %d, "exit": %d, "why": %s}' "$part" $state $took $code "$(quoted "$why")" >"$work/$part.json"
    json="$json${json:+,
  }$(cat "$work/$part.json")"
    say "$(printf '%-10s %-8s %4d s  %s' "$part" $state $took "$why")"
done
say ""
if [ -s "$results/constants.json" ]; then
    say "constants:"
    sed -n 's/.*"name": "\([^"]*\)", "value": \([^,]*\), "\(unit\|why\)": "\([^"]*\)".*/    \1: \2 \4/p' "$results/constants.json" | tee -a "$report"
fi
if [ -s "$results/bench.json" ]; then
    say "bench:"
    sed -n 's/^ *\({.*}\),*$/    \1/p' "$results/bench.json" | tee -a "$report"
    grep 'times as fast\|^GPU over CPU' "$work/bench.log" | sed 's/^/    /' | tee -a "$report"
fi
[ ! -s "$results/parity.json" ] || say "parity: $(tail -n 1 "$results/parity.json")"
code=0
[ -z "$skipped" ] || code=69
[ $emulated = no ] || code=69
[ -z "$red" ] || code=1
say "$green passed; failed:${red:- none}; skipped, which is not a pass:${skipped:- none}; $((SECONDS - began)) s; exit $code"
printf '{"program": "gpu_verify", "commit": "%s", "gpu": %s, "emulated": %s, "seconds": %d, "exit": %d, "parts": [\n  %s\n]}\n' \
    "$commit" "$(quoted "$gpu")" "$([ $emulated = yes ] && echo true || echo false)" $((SECONDS - began)) $code "$json" >"$results/verify.json"
for part in $wanted; do
    printf '===== %s\n' "$part"
    tail -c 400000 "$work/$part.log" 2>/dev/null
done >"$results/log.txt"
exit $code
