#!/bin/bash
# build.sh - the libraries that the program links; make with an nvcc that works, one that does not, and none.
. "$(dirname "$0")/../tap.sh"
if command -v readelf >/dev/null 2>&1; then
    readelf -d "$DNN" >needed
    grep -q NEEDED.*libc.so needed && ! grep -iE 'NEEDED.*(cuda|cudart|cublas|cudnn|nvidia|nccl|openblas)' needed
    ok $? "no GPU library and no BLAS among the libraries it needs" "$(grep NEEDED needed)"
else
    skip "the libraries it needs" "no readelf here"
fi

# the test hooks are in the testing program alone (a sanitizer's and the emulated program have them too)
if [ "$HOOKED" = "$DNN" ]; then
    skip "no test hook in the released program" "this build has them"
else
    # DNN_FALLBACK*: from the program before to the one executed in its place
    ! grep -aoE 'DNN_[A-Z_]+' "$DNN" | grep -vE '^DNN_(TRAIN|PREDICT|EVALUATE|EXPLAIN|TUNE)_GPU$|^DNN_FALLBACK' >names
    ok $? "the released program reads no variable that exists for tests" "$(sort -u names)"
    run env DNN_FAULT=alloc:1+,open:1+ DNN_CPU=abacus "$DNN" --version
    is_exit 0 "the released program obeys no variable that exists for tests"
    run env DNN_FAULT=alloc:1+ "$HOOKED" --version
    is_exit 71 "the testing program does"
fi

# make is asked what it would do, without what somebody wants of it in local.mk or by a variable; nothing is built. The cards are those
# of a stand-in for nvidia-smi: `cards` has their capabilities
tree=$ROOT
unset CUDA CUDA_ARCHS CUDA_VISIBLE_DEVICES
export CUDA DEVICE=$WORK/no-card
mkdir smi && printf '#!/bin/sh\ncat "%s/cards"\n' "$WORK" >smi/nvidia-smi && chmod +x smi/nvidia-smi
PATH=$WORK/smi:$PATH
would() { run make -n -C "$tree" LOCAL= BUILD="$WORK/build" "$@" all; }
# codes: for which cards dense.cu would be compiled
codes() { grep -m 1 -- '-c kernels/ops/dense.cu' out | grep -o 'code=[a-z_0-9]*' | tr '\n' ' '; }
would NVCC=
is_exit 0 "make NVCC="
! grep -q -e 'kernels/' -e cudart out
after_exit $? "is a build without kernels" "$(grep -m 3 -e 'kernels/' -e cudart out)"

# an nvcc that knows five architectures, with its runtime beside it
mkdir -p toolkit/bin toolkit/lib64
cat >toolkit/bin/nvcc <<'N'
#!/bin/sh
case "$*" in
--list-gpu-arch) printf 'compute_%s\n' 75 80 90 100 120 ;;
--version) echo 'Cuda compilation tools, release 12.8, V12.8.1' ;;
*) case "$*" in *"${REFUSED:-none such}"*) exit 1 ;; esac
   while [ $# -gt 0 ]; do [ "$1" != -o ] || : >"$2"; shift; done ;;
esac
N
chmod +x toolkit/bin/nvcc
CUDA=1
would NVCC="$WORK/toolkit/bin/nvcc"
is_exit 0 "nvcc without its static runtime"
err_has "is there, but its static runtime (libcudart_static.a) is not" "is said"
! grep -q 'kernels/' out
after_exit $? "nvcc without its static runtime: a build without kernels"
: >toolkit/lib64/libcudart_static.a
would NVCC="$WORK/toolkit/bin/nvcc"
is_exit 0 "nvcc with it"
grep -q -- '-c kernels/ops/dense.cu' out
ok $? "compiles the kernels" "$(tail -n 3 out)"
code=$(codes)
[ "$code" = "code=sm_75 code=sm_80 code=sm_90 code=sm_100 code=sm_120 code=compute_100 code=compute_80 " ]
ok $? "for every architecture that it and CUDA_ARCHS name, PTX last" "$code"
all=$code
front=$(grep -m 1 -- '-c kernels/ops/dense.cu' out | grep -o 'arch=[a-z_0-9]*' | uniq | tr '\n' ' ')
[ "$front" = "arch=compute_75 arch=compute_80 arch=compute_100 arch=compute_80 " ]
ok $? "of three texts" "$front"
grep -q -- '-lcudart_static' out && ! grep -qE -- '-l(cudart|cublas|cudnn)( |$)' out
ok $? "the static runtime is linked, and no other library of CUDA"
grep -q -- '-compress-mode=size .*-c kernels/ops/dense.cu' out
ok $? "code for several cards is compressed"

# which cards: the visible ones; those that are asked for
would NVCC="$WORK/toolkit/bin/nvcc" CUDA=
is "$STATUS $(codes)$(grep -c '^kernels: not built, since no GPU is visible; make CUDA=1 ' out)" "0 1" \
    "no card is visible: no kernels, and one line"
for word in all 1; do
    would NVCC="$WORK/toolkit/bin/nvcc" CUDA=$word
    is "$(codes)$(grep -c 'no GPU is visible' out)" "${all}0" "CUDA=$word: for all cards"
done
would NVCC="$WORK/toolkit/bin/nvcc" CUDA=0
is "$STATUS $(codes)$(grep -c 'no GPU is visible' out)" "0 0" "CUDA=0: none, without a word"
: >no-card
would NVCC="$WORK/toolkit/bin/nvcc" CUDA=
is "$(codes)" "$all" "a card that nvidia-smi does not describe: for all"
rm no-card
printf '9.0\n8.6\n9.0\n' >cards
would NVCC="$WORK/toolkit/bin/nvcc" CUDA=
is "$(codes)" "code=sm_90 code=compute_80 " "a visible card: for that, as far as nvcc knows it"
grep -q -- '-compress-mode' out
is $? 1 "code for one card is not compressed"
grep -q '^kernels: for the visible GPU ' out
ok $? "make says that it builds for the visible card" "$(grep '^kernels' out)"
would NVCC="$WORK/toolkit/bin/nvcc" CUDA=all
is "$(codes)" "$all" "CUDA=all: for all cards, whatever is visible"
export CUDA_VISIBLE_DEVICES=
would NVCC="$WORK/toolkit/bin/nvcc" CUDA=
is "$(codes)" "" "a hidden card is not visible"
unset CUDA_VISIBLE_DEVICES
printf '7.0\n' >cards
would NVCC="$WORK/toolkit/bin/nvcc" CUDA=
is "$(codes)" "" "a card of a generation without kernels is passed over"
printf '12.1\n' >cards
would NVCC="$WORK/toolkit/bin/nvcc" CUDA=
is "$(codes)" "$all" "one that is younger than nvcc: for all"
rm cards
mkdir -p build && echo all >build/cuda
would NVCC="$WORK/toolkit/bin/nvcc" CUDA=
is "$(codes)" "$all" "a build folder goes on as CUDA= said at its last build"
rm build/cuda build/nvcc
export REFUSED=-compress-mode
would NVCC="$WORK/toolkit/bin/nvcc"
grep -q -- '-Xfatbin -compress-all .*-c kernels/ops/dense.cu' out
ok $? "an older nvcc compresses as it can"
unset REFUSED
rm build/nvcc
would NVCC="$WORK/toolkit/bin/nvcc" CUDA_ARCHS="80 86"
code=$(codes)
[ "$code" = "code=sm_80 code=compute_80 " ]
ok $? "CUDA_ARCHS chooses; what this nvcc does not know is left out" "$code"
would NVCC="$WORK/toolkit/bin/nvcc" CUDA_ARCHS="80 90a"
code=$(grep -o -- '-c kernels/product/[a-z]*_w[a-z]*.cu\|code=[a-z_0-9]*' out | grep -B 1 -- '-c kernels/product/gemm_w' | tr '\n' ' ')
[ "$code" = "code=sm_90a -c kernels/product/gemm_wgmma.cu -- code=compute_80 -c kernels/product/gemm_wide.cu " ]
ok $? "90a is for the kernels that have its instructions" "$code"
code=$(codes)
[ "$code" = "code=sm_80 code=sm_90 code=compute_80 " ]
ok $? "CUDA_ARCHS with 90a alone of its kind: all other kernels have code for 90" "$code"
would NVCC="$WORK/toolkit/bin/nvcc" CUDA_ARCHS=90a
code=$(codes)
[ "$code" = "code=sm_90 code=compute_80 " ]
ok $? "CUDA_ARCHS=90a: all other kernels have code for 90" "$code"
would NVCC="$WORK/toolkit/bin/nvcc" CUDA_ARCHS=70
[ "$STATUS" -ne 0 ] && grep -q 'CUDA_ARCHS=70 names no architecture that this nvcc knows: 75 80 90 100 120' err
ok $? "CUDA_ARCHS that nvcc does not know is an error, not a build without kernels" "$(cat err)"
would NVCC="$WORK/toolkit/bin/nvcc" SAN=address
is_exit 0
! grep -q -- '-c kernels/' out
after_exit $? "a sanitizer's build has no kernels"
printf '#!/bin/sh\necho "error: unsupported GNU version" >&2\nexit 1\n' >toolkit/bin/nvcc
would NVCC="$WORK/toolkit/bin/nvcc"
is_exit 0 "an nvcc that does not compile"
err_has "it does not compile: error: unsupported GNU version" "is said with its words"
! grep -q -- '-c kernels/' out
after_exit $? "an nvcc that does not compile: a build without kernels"

# --- registers, shared memory, spills ---
table() { printf '# toolkit %s: registers / shared bytes / spilled bytes\n%s  sm_90 %s\n' "$1" "$2" "$3"; }
table 13.0 'gemm<64>' 80/1024/0 >kept
compare() { # WANTED NAME TOOLKIT KERNEL FIGURES: exit code of the comparison with `kept`
    wanted=$1 name=$2; shift 2
    table "$@" >new; perl "$ROOT/scripts/build/ptxas_table.pl" --compare kept new >out 2>&1
    [ $? -eq "$wanted" ]; ok $? "the table of kernels: $name" "$(cat out)"
}
compare 0 "a few registers more or less are chance" 13.0 'gemm<64>' 84/1024/0
compare 1 "many are a difference" 13.0 'gemm<64>' 96/1024/0
compare 1 "and so are spilled bytes" 13.0 'gemm<64>' 80/1024/16
compare 1 "shared memory" 13.0 'gemm<64>' 80/2048/0
compare 1 "another kernel" 13.0 'gemm<32>' 80/1024/0
compare 0 "of another toolkit registers and shared memory are shown" 12.8 'gemm<64>' 96/2048/0
compare 1 "spilled bytes of a hot kernel fail there too" 12.8 'gemm<64>' 80/1024/16
new=${DNN%/*}/kernels/table.txt
if [ -f "$new" ] && has_kernels; then
    check "the machine code is that of tests/kernels.table" perl "$ROOT/scripts/build/ptxas_table.pl" \
        --compare "$ROOT/tests/kernels.table" "$new"
else
    skip "registers and spills of the kernels" "no kernels in this build"
fi
done_testing
