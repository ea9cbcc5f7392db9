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
    is_exit 0 "and obeys none"
    run env DNN_FAULT=alloc:1+ "$HOOKED" --version
    is_exit 71 "the testing program does"
fi

# make is asked what it would do, without what somebody wants of it in local.mk; nothing is built
tree=$ROOT
would() { make -n -C "$tree" LOCAL= BUILD="$WORK/build" "$@" all >out 2>err; STATUS=$?; }
would NVCC=
is_exit 0 "make NVCC="
! grep -q -e 'kernels/' -e cudart out
ok $? "is a build without kernels" "$(grep -m 3 -e 'kernels/' -e cudart out)"

# an nvcc that knows five architectures, with its runtime beside it
mkdir -p toolkit/bin toolkit/lib64
cat >toolkit/bin/nvcc <<'N'
#!/bin/sh
case "$*" in
--list-gpu-arch) printf 'compute_%s\n' 75 80 90 100 120 ;;
--version) echo 'Cuda compilation tools, release 12.8, V12.8.1' ;;
*) while [ $# -gt 0 ]; do [ "$1" != -o ] || : >"$2"; shift; done ;;
esac
N
chmod +x toolkit/bin/nvcc
would NVCC="$WORK/toolkit/bin/nvcc"
is_exit 0 "nvcc without its static runtime"
err_has "is there, but its static runtime (libcudart_static.a) is not" "is said"
! grep -q 'kernels/' out
ok $? "and the build goes without kernels"
: >toolkit/lib64/libcudart_static.a
would NVCC="$WORK/toolkit/bin/nvcc"
is_exit 0 "nvcc with it"
grep -q -- '-c kernels/dense.cu' out
ok $? "compiles the kernels" "$(tail -n 3 out)"
code=$(grep -m 1 -- '-c kernels/dense.cu' out | grep -o 'code=[a-z_0-9]*' | tr '\n' ' ')
[ "$code" = "code=sm_75 code=sm_80 code=sm_90 code=sm_100 code=sm_120 code=compute_100 code=compute_80 " ]
ok $? "for every architecture that it and CUDA_ARCHS name, PTX last" "$code"
front=$(grep -m 1 -- '-c kernels/dense.cu' out | grep -o 'arch=[a-z_0-9]*' | uniq | tr '\n' ' ')
[ "$front" = "arch=compute_75 arch=compute_80 arch=compute_100 arch=compute_80 " ]
ok $? "of three texts" "$front"
grep -q -- '-lcudart_static' out && ! grep -qE -- '-l(cudart|cublas|cudnn)( |$)' out
ok $? "with the static runtime"
would NVCC="$WORK/toolkit/bin/nvcc" CUDA_ARCHS="80 86"
code=$(grep -m 1 -- '-c kernels/dense.cu' out | grep -o 'code=[a-z_0-9]*' | tr '\n' ' ')
[ "$code" = "code=sm_80 code=compute_80 " ]
ok $? "CUDA_ARCHS chooses; what this nvcc does not know is left out" "$code"
would NVCC="$WORK/toolkit/bin/nvcc" CUDA_ARCHS="80 90a"
code=$(grep -o -- '-c kernels/[a-z]*_w[a-z]*.cu\|code=[a-z_0-9]*' out | grep -B 1 -- '-c kernels/gemm_w' | tr '\n' ' ')
[ "$code" = "code=sm_90a -c kernels/gemm_wgmma.cu -- code=compute_80 -c kernels/gemm_wide.cu " ]
ok $? "90a is for the kernels that have its instructions" "$code"
code=$(grep -m 1 -- '-c kernels/dense.cu' out | grep -o 'code=[a-z_0-9]*' | tr '\n' ' ')
[ "$code" = "code=sm_80 code=sm_90 code=compute_80 " ]
ok $? "and all others have code for 90, though nobody named that" "$code"
would NVCC="$WORK/toolkit/bin/nvcc" CUDA_ARCHS=90a
code=$(grep -m 1 -- '-c kernels/dense.cu' out | grep -o 'code=[a-z_0-9]*' | tr '\n' ' ')
[ "$code" = "code=sm_90 code=compute_80 " ]
ok $? "and the others then have code for 90" "$code"
would NVCC="$WORK/toolkit/bin/nvcc" CUDA_ARCHS=70
[ "$STATUS" -ne 0 ] && grep -q 'CUDA_ARCHS=70 names no architecture that this nvcc knows: 75 80 90 100 120' err
ok $? "none that it knows is an error, not a build without kernels" "$(cat err)"
would NVCC="$WORK/toolkit/bin/nvcc" SAN=address
! grep -q -- '-c kernels/' out
ok $? "a sanitizer's build has no kernels"
printf '#!/bin/sh\necho "error: unsupported GNU version" >&2\nexit 1\n' >toolkit/bin/nvcc
would NVCC="$WORK/toolkit/bin/nvcc"
is_exit 0 "an nvcc that does not compile"
err_has "it does not compile: error: unsupported GNU version" "is said with its words"
! grep -q -- '-c kernels/' out
ok $? "and the build goes without kernels"

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
    check "the machine code is that of tests/kernels.table" perl "$ROOT/scripts/build/ptxas_table.pl" --compare "$ROOT/tests/kernels.table" "$new"
else
    skip "registers and spills of the kernels" "no kernels in this build"
fi
done_testing
