# tap.sh - for test scripts: . "$(dirname "$0")/../tap.sh" . A script runs in an empty folder ($WORK) with DNN set, and ends with
# `done_testing`. Every check prints one TAP line; a failed one prints what it saw.
#
#     run dnn check c.json           # status in $STATUS, output in out and err
#     is_exit 78 "unknown key"
#     err_has 'did you mean "batch_size"'
#
# shellcheck shell=bash
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
DNN=${DNN:-$ROOT/build/dnn}
export LC_ALL=C
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE MODEL_BACKEND ALL_GPU DNN_FAULT
# The program with the test hooks (tests/hooks/hooks.c): DNN itself if it has them, as an emulated or sanitizer build, else the one
# in testing/ beside it. Only lines that set DNN_FAULT, DNN_CPU, ... use it; all others test the released program.
HOOKED=$DNN
grep -qa DNN_FAULT "$DNN" 2>/dev/null || HOOKED=${DNN%/*}/testing/dnn
WORK=$(mktemp -d "${TMPDIR:-/tmp}/dnn-test.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1
TAP=0
FAILED=0
STATUS=0
RAN=
EXIT_SEEN=no
# Whether the GPU's kernels are in this build; with a card that answers, tests must say when they do not want it.
has_kernels() { "$DNN" --version --json 2>/dev/null | grep -q '"backends":\["cuda"'; }
# A sanitizer needs terabytes of address space, more memory than the program plans, and takes crashes for itself; what cannot be
# tested so is skipped. What it finds goes to files of its own, so that no test can overlook it.
SANITIZED=no
if grep -qaE '__(asan|tsan)_init' "$DNN" 2>/dev/null; then
    SANITIZED=yes
    for options in ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS; do
        export "$options=${!options:+${!options}:}log_path=$WORK/.sanitizer"
    done
fi
sanitized() { [ $SANITIZED = yes ]; }
dnn() { "$DNN" "$@"; }
# The lines of the script that led to a check, the check's own first: "at tests/robust/x.sh:12, from line 40".
place() {
    local i file at=
    for ((i = 1; i < ${#BASH_LINENO[@]} - 1; i++)); do
        file=${BASH_SOURCE[i + 1]}
        [ "${file##*/}" != tap.sh ] || continue
        file=${file#"$ROOT"/}
        if [ -z "$at" ]; then at="at ${file#./}:${BASH_LINENO[i]}"; else at+=", from line ${BASH_LINENO[i]}"; fi
    done
    printf '%s\n' "$at"
}
ok() { # ok STATUS NAME [detail]
    TAP=$((TAP + 1))
    if [ "$1" -eq 0 ]; then
        printf 'ok %d - %s\n' "$TAP" "$2"
    else
        printf 'not ok %d - %s\n#   %s\n' "$TAP" "$2" "$(place)"
        FAILED=$((FAILED + 1))
        [ -z "${3:-}" ] || printf '%s\n' "$3" | head -n 20 | sed 's/^/#   /'
    fi
}
check() { # check NAME command...: passes when the command succeeds
    local name=$1
    shift
    if "$@" >"$WORK/check.out" 2>&1; then ok 0 "$name"; else ok 1 "$name" "$* -> $(head -n 5 "$WORK/check.out")"; fi
}
run() { # status in STATUS, standard output in ./out, standard error in ./err
    STATUS=0
    RAN=${*//$'\n'/ }
    RAN=${RAN:0:200}
    EXIT_SEEN=no
    "$@" >out 2>err </dev/null || STATUS=$?
}
is_exit() { # is_exit STATUS [name]
    EXIT_SEEN=yes
    [ "$STATUS" -eq "$1" ]
    ok $? "${2:-exit $1: $RAN}" "exit $STATUS, expected $1: $(head -n 5 err)"
}
err_has() { grep -qF -- "$1" err; ok $? "${2:-says: $1}" "$(head -n 8 err)"; }
out_has() { grep -qF -- "$1" out; ok $? "${2:-prints: $1}" "$(head -n 8 out)"; }
# A command that dies says nothing. So each check that something is not said needs an is_exit since the last run.
after_exit() { # after_exit STATUS NAME detail
    if [ $EXIT_SEEN = yes ]; then ok "$@"; else ok 1 "$2" "no is_exit since: run $RAN (exit $STATUS)"; fi
}
err_lacks() { ! grep -qF -- "$1" err; after_exit $? "${2:-does not say: $1}" "$(head -n 8 err)"; }
out_lacks() { ! grep -qF -- "$1" out; after_exit $? "${2:-does not print: $1}" "$(head -n 8 out)"; }
err_empty() { [ ! -s err ]; after_exit $? "$1" "$(head -n 8 err)"; }
same() { cmp -s -- "$1" "$2"; ok $? "${3:-$1 and $2 are the same}" "$(cmp -- "$1" "$2" 2>&1)"; }
is() { [ "$1" = "$2" ]; ok $? "$3" "got '$1', expected '$2'"; }
skip() { # skip NAME REASON
    TAP=$((TAP + 1))
    printf 'ok %d - %s # SKIP %s\n' "$TAP" "$1" "$2"
}
done_testing() {
    if sanitized; then
        ! ls "$WORK"/.sanitizer.* >/dev/null 2>&1
        ok $? "no sanitizer found anything" "$(cat "$WORK"/.sanitizer.* 2>/dev/null)"
    fi
    printf '1..%d\n' "$TAP"
    [ "$FAILED" -eq 0 ]
    exit
}
