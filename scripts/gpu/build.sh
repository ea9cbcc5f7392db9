# shellcheck shell=bash disable=SC2154 # what is used here is set by scripts/gpu_verify.sh
# build.sh - parts of gpu_verify.sh: build, opens.

# --- build ---
have_packages() { printf \
    '#include <cjson/cJSON.h>\n#include <stddef.h>\n#include <csv.h>\n#include <utf8proc.h>\nint main(void) { return 0; }\n' |
    "${CC:-gcc}" -x c - -lcjson -lcsv -lutf8proc -o "$work/packages" 2>/dev/null; }
use_packages() { # else those that were carried here
    have_packages && return 0
    [ -f "$third/cjson/cJSON.c" ] && [ -f "$third/libcsv.c" ] && [ -f "$third/utf8proc.c" ] || return 1
    "${CC:-gcc}" -O2 -fPIE -c "$third/cjson/cJSON.c" -o "$work/cJSON.o" && "${CC:-gcc}" -O2 -fPIE -w -I"$third" -c "$third/libcsv.c" \
        -o "$work/libcsv.o" &&
        "${CC:-gcc}" -O2 -fPIE -w -c "$third/utf8proc.c" -o "$work/utf8proc.o" && ar rcs "$work/libutf8proc.a" "$work/utf8proc.o" &&
        ar rcs "$work/libcjson.a" "$work/cJSON.o" && ar rcs "$work/libcsv.a" "$work/libcsv.o" || return 1
    export CPATH=$third${CPATH:+:$CPATH} LIBRARY_PATH=$work${LIBRARY_PATH:+:$LIBRARY_PATH}
    have_packages
}
part_build() {
    [ $emulated = yes ] || [ -n "$nvcc" ] || skip "no CUDA toolkit: nvcc is not found" || return
    use_packages ||
        { fail "cJSON, libcsv and utf8proc are not here: carry build/third-party, made by scripts/gpu_verify.sh --pack"; return 1; }
    local targets="all testing parity gpu-constants"
    [ $emulated = yes ] && targets="emulated parity-emulated"
    local nvcc_here="NVCC=$nvcc"
    [ $emulated = yes ] && nvcc_here="NVCC="
    # shellcheck disable=SC2086 # words
    make -s -j"$jobs" BUILD="${build#"$root"/}" "$nvcc_here" CUDA_ARCHS="$archs" KERNEL_LINES=1 $targets || fail "it does not build"
    [ $emulated = yes ] || "$nvcc" --version | sed -n '/release/p'
    [ -x "$dnn" ] || { fail "no program was built"; return 1; }
    "$dnn" --version
    "$dnn" --version --json | grep -q '"backends":\["cuda"' || fail "it was built without kernels: $nvcc does not compile them"
    passed
}

# --- opens: a command that does not use the card opens none of its libraries; with stand-ins for them, and with this machine's driver ---
part_opens() {
    need_gpu && need_program || return
    strace -o /dev/null true 2>/dev/null || skip "no strace, or it may not trace here" || return
    local test unseen=""
    for test in robust/backends.sh robust/startup.sh "emulate/opens.sh --card"; do
        echo "--- $test"
        # shellcheck disable=SC2086 # words
        DNN=$dnn timeout 100 tests/$test >"$work/opens.out" 2>&1 || fail "${test%% *}: exit $?: $(grep -m 3 '^not ok' "$work/opens.out")"
        cat "$work/opens.out"
        unseen=${unseen:-$(grep -m 1 '# SKIP' "$work/opens.out")}
    done
    passed || return
    [ -z "$unseen" ] || skip "not looked at: $unseen"
}
