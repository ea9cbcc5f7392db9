#!/bin/sh
# test.sh - installs, builds and runs the tests; closes with `N passed, N failed, N skipped`.
#   scripts/test.sh           units, gradients, golden command lines, learning, robustness, every kernel on the emulated GPU: about
#                             6 minutes on 2 cores
#   scripts/test.sh --full    also sanitizers, the whole program on the emulated GPU, changed inputs of the fuzzers' corpora, faults and
#                             kills: under 25 minutes
#   scripts/test.sh --nightly all that, and what rarely finds anything new: libFuzzer, Spark, kernels spoilt on purpose, 1000 random
#                             shapes of each kernel, the bytes that kernels move, the stand-ins of cuBLASLt and cuDNN, the scripts of
#                             the build under sanitizers
#   scripts/test.sh PATTERN   only the tests whose path holds PATTERN
# BUILD=dir (environment or make) is built and tested instead of build. Kernels are compiled for the visible GPU; none is visible:
# with CUDA=1 for all; --full compiles them for all.
set -eu
cd "$(dirname "$0")/.."
full=no
nightly=no
pattern=""
for option in "$@"; do
    case $option in
    --full) full=yes ;;
    --nightly) full=yes nightly=yes ;;
    -*) echo "test.sh: unknown option $option" >&2; exit 64 ;;
    *) pattern=$option ;;
    esac
done
export NIGHTLY=$nightly
if [ $full = yes ]; then export CUDA="${CUDA:-all}"; fi
kind=--tests
[ $full = no ] || kind=--full
[ $nightly = no ] || kind=--nightly
scripts/setup.sh $kind --no-build
# half the speed on some machines; tests do not time, but they should not wait either
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE || true
# a warning is an error where it is ours to mend; a user's newer compiler may warn of more
if [ "${CI:-}" = true ]; then export WERROR=1; fi
jobs=$(nproc 2>/dev/null || echo 2)
build=${BUILD:-build} # make BUILD=dir test: all builds of the tests lie below it
make -j"$jobs" all units
make -j"$jobs" BUILD="$build/double" REAL=double OPT='-O1 -g1' grads
# programs SOURCES FOLDER: what is built there from the sources there are; that of a test that is gone is left out
programs() {
    for source in "$1"/*.c; do printf '%s/%s\n' "$2" "$(basename "$source" .c)"; done
}
list=$build/tests.list
{
    printf '%s\n' scripts/check_floors.sh scripts/check_style.sh scripts/check_catalogue.sh
    programs tests/unit "$build/unit"
    programs tests/grad "$build/double/grad"
    find tests/golden tests/learn tests/robust -name '*.sh' -perm -u+x | sort
} >"$list"
if [ $full = yes ]; then
    export FUZZ_SECONDS=${FUZZ_SECONDS:-60}
    make -j"$jobs" BUILD="$build/asan" SAN=address OPT='-O1 -g1' all units replays
    # what works with more than one thread
    threaded=$(for unit in answer_predict backend_machine base_stop base_thread model_tracks table_table train_runs train_train; do
        echo "$build/tsan/unit/$unit"; done)
    # shellcheck disable=SC2086 # several targets
    make -j"$jobs" BUILD="$build/tsan" SAN=thread OPT='-O1 -g1' $([ $nightly = no ] || echo all) $threaded
    {
        # each operation and product with each vector code takes minutes there: of a night alone
        programs tests/unit "$build/asan/unit" | if [ $nightly = yes ]; then cat; else grep -vE '/backend_(ops|bf16|product)$'; fi
        printf '%s\n' "$threaded"
        programs tests/fuzz "$build/asan/replay" | grep '/fuzz_' |
            sed 's/^/ASAN_OPTIONS=allocator_may_return_null=1:hard_rss_limit_mb=512 /'
        find tests/fault $([ $nightly = no ] || echo tests/fuzz/fuzz.sh tests/spark) -name '*.sh' -perm -u+x | sort
        # the whole program with sanitizers: the command lines, bad input, and every way out that a fault takes
        # (make, scripts, documents and memory are the same under a sanitizer; attacks from outside, kills, trainings of sequences,
        # ensembles and searches, and hundreds of files and configs take minutes: of a night alone)
        same='robust/(setup|build|packaging|scripts|shared_data|check|resume|outputs_attacked|breaks|sequence|long_init|init|ensemble_kills'
        same=$same'|csv|config|tagging|held_out|portfolio|ensemble|tune|metamorphic|same_bytes|bench|profile|numerics|limits|decisions'
        same=$same'|init_from|epoch_lines|quantiles|effects|weights|target_transform|target_statistics'
        same=$same'|forms|serving|backends|calibrate|intervals|pasted)\.sh'
        same=$same'|fault/(faults|machine)\.sh|golden/(readme|examples|configs)\.sh'
        [ $nightly = no ] || same=none
        find tests/golden tests/robust tests/fault/machine.sh tests/fault/faults.sh -name '*.sh' -perm -u+x |
            grep -vE "$same" | sort | sed "s,^,DNN=$build/asan/dnn ,"
        [ $nightly = no ] || printf '%s\n' tests/robust/concurrency.sh tests/robust/same_bytes.sh tests/robust/cv.sh |
            sed "s,^,DNN=$build/tsan/dnn ,"
    } >>"$list"
fi
[ -z "$pattern" ] || { grep -e "$pattern" "$list" >"$list.some" || true; mv "$list.some" "$list"; }
# make counts for itself, with what kernels need; its counts are added
emulated=""
if printf '%s\n' tests/emulate | grep -q -e "$pattern"; then
    emulated=$build/emulate.log
    what=emulate-quick
    [ $full = no ] || what=emulate
    [ $nightly = no ] || what="emulate emulate-mutants SHAPES=1000"
    # shellcheck disable=SC2086 # targets, and perhaps a variable
    make -k -j"$jobs" $what 2>&1 | tee "$emulated"
fi
export DNN="${DNN:-$(cd "$build" && pwd)/dnn}"
exec perl tests/run.pl "$list" ${emulated:+"$emulated"}
