#!/bin/sh
# nvcc.sh NVCC FILE - tests whether nvcc can build programs here. Prints words for the Makefile, or nothing and the reason on standard
# error. FILE keeps the result; the test runs again when nvcc, CXX or FILE changes.
#   archs=75,80,...   what it knows (--list-gpu-arch), and 90a where it makes code for that
#   release=13.0
#   lib=FOLDER        where its static runtime is (libcudart_static.a)
#   small=OPTIONS     which make the code for several cards small, with a comma between two
set -eu
nvcc=$1
file=$2
bin=$(dirname "$(readlink -f "$nvcc")")
stamp="nvcc=$nvcc, 90a and sizes asked, $(stat -Lc '%Y %s' "$nvcc" 2>/dev/null || echo gone)"
if [ -f "$file" ] && [ "$(head -n 1 "$file")" = "$stamp" ]; then
    sed -n 2p "$file"
    exit 0
fi
mkdir -p "$(dirname "$file")"
try=$(mktemp -d)
trap 'rm -rf "$try"' EXIT
without() {
    printf '%s\n' "kernels: $nvcc is there, but $1" \
        "kernels: built without them; with the GPU needed, mend that, or name another: make NVCC=..." >&2
    exit 0
}
# through a link, as a toolkit's package leaves it, and through one of the system's
lib=""
for folder in "$bin/../lib64" "$bin/../lib" "$bin/../targets/x86_64-linux/lib" "$(dirname "$nvcc")/../lib64" "$(dirname "$nvcc")/../lib" \
    /usr/lib/x86_64-linux-gnu; do
    if [ -z "$lib" ] && [ -f "$folder/libcudart_static.a" ]; then lib=$(cd "$folder" && pwd); fi
done
[ -n "$lib" ] || without "its static runtime (libcudart_static.a) is not; the package is cuda-cudart-dev or nvidia-cuda-dev"
printf '%s\n' '#include <cuda_runtime.h>' '__global__ void touch(float *x) { *x = 1; }' \
    'int main(void) { touch<<<1, 1>>>(0); return 0; }' >"$try/try.cu"
"$nvcc" -std=c++17 -o "$try/try.o" -c "$try/try.cu" >"$try/said" 2>&1 ||
    without "it does not compile: $(grep -m 1 -i -e error -e 'not supported' -e 'not found' "$try/said" || head -n 1 "$try/said")"
archs=$("$nvcc" --list-gpu-arch | sed -n 's/^compute_\([0-9]*\)$/\1/p' | tr '\n' ',')
if "$nvcc" -std=c++17 -gencode arch=compute_90a,code=sm_90a -o "$try/try.o" -c "$try/try.cu" >/dev/null 2>&1; then archs=${archs}90a,; fi
# -compress-mode=size: CUDA 12.8 and newer; it takes a quarter of the room, and a driver of CUDA 12.4 or newer
small=""
for option in -compress-mode=size -Xfatbin,-compress-all; do
    # shellcheck disable=SC2046 # words
    [ -n "$small" ] || ! "$nvcc" -std=c++17 $(echo $option | tr , ' ') -o "$try/try.o" -c "$try/try.cu" >/dev/null 2>&1 || small=$option
done
release=$("$nvcc" --version | sed -n 's/^Cuda.*release \([0-9.]*\).*/\1/p')
printf '%s\n' "$stamp" "archs=$archs release=$release lib=$lib small=$small" >"$file"
sed -n 2p "$file"
