#!/bin/sh
# setup.sh - installs missing packages (Debian, Ubuntu) and builds dnn. It needs root or sudo; without both it prints the line that an
# administrator must run and ends with 69. When nothing is missing it needs no network.
#   scripts/setup.sh                 to build and use dnn
#   scripts/setup.sh --tests         also what scripts/test.sh needs
#   scripts/setup.sh --full          also what scripts/test.sh --full needs
#   scripts/setup.sh --nightly       also what scripts/test.sh --nightly needs; the pinned Spark goes to .cache/spark
#   scripts/setup.sh --no-build      packages only
set -eu
cd "$(dirname "$0")/.."

need="gcc make libc6-dev libcjson-dev libcsv-dev libutf8proc-dev libopenblas0-pthread zlib1g"
wish=""
build=yes
spark=no
for option in "$@"; do
    case $option in
    --tests) need="$need perl"; wish="g++" ;; # for the emulator's tests; dnn itself is C
    --full | --nightly)
        need="$need perl strace"; wish="g++ python3-yaml dpkg-dev"
        [ "$option" = --full ] || { wish="$wish clang libclang-rt-14-dev default-jre-headless python3-venv"; spark=yes; } ;;
    --no-build) build=no ;;
    *) echo "setup.sh: unknown option $option" >&2; exit 64 ;;
    esac
done

say() { printf '%s\n' "setup: $*" >&2; }
installed() { [ "$(dpkg-query -W -f='${Status}' "$1" 2>/dev/null)" = "install ok installed" ]; }
# a package that is there under another name counts: a compiler of one's own, another build of OpenBLAS
present() {
    case $1 in
    gcc | g++ | make | perl | strace | clang) command -v "$1" >/dev/null 2>&1 && { [ "$1" != perl ] ||
        command -v prove >/dev/null 2>&1; } ;;
    # what libFuzzer and the sanitizers need, whatever the number of clang's version
    libclang-rt-14-dev)
        installed "$1" || echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
            clang -fsanitize=fuzzer,address -x c - -o /dev/null 2>/dev/null ;;
    default-jre-headless) command -v java >/dev/null 2>&1 || installed "$1" ;;
    python3-venv) python3 -c 'import ensurepip' 2>/dev/null || installed "$1" ;;
    libopenblas0-pthread) installed "$1" || ldconfig -p 2>/dev/null | grep -q 'libopenblas\.so\.0' ;;
    zlib1g) installed "$1" || ldconfig -p 2>/dev/null | grep -q 'libz\.so\.1' ;;
    *) installed "$1" ;;
    esac
}

if command -v dpkg-query >/dev/null 2>&1; then
    missing=""; wanted=""
    for p in $need; do present "$p" || missing="$missing $p"; done
    for p in $wish; do present "$p" || wanted="$wanted $p"; done
    if [ -n "$missing$wanted" ]; then
        as=""
        if [ "$(id -u)" != 0 ]; then
            if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
                as="sudo -n env DEBIAN_FRONTEND=noninteractive"
            elif command -v sudo >/dev/null 2>&1 && [ -t 0 ] && [ -n "$missing" ]; then
                as="sudo env DEBIAN_FRONTEND=noninteractive"
            elif [ -n "$missing" ]; then
                say "packages are missing and this user may not install them. An administrator must run:"
                printf '%s\n' "apt-get update && apt-get install -y$missing$wanted" >&2
                exit 69
            else
                say "going on without$wanted (optional)"
                wanted=""
            fi
        fi
        DEBIAN_FRONTEND=noninteractive
        export DEBIAN_FRONTEND
        if [ -n "$missing$wanted" ]; then
            say "installing$missing$wanted"
            # shellcheck disable=SC2086 # word lists
            if ! { $as apt-get update -q && { [ -z "$missing" ] || $as apt-get install -y -q --no-install-recommends $missing; }; } \
                >setup.log 2>&1; then
                if [ -n "$missing" ]; then
                    tail -n 5 setup.log >&2
                    say "the packages could not be installed; the whole log is in setup.log"
                    exit 69
                fi
                say "the lists of packages cannot be had (no network?); going on without$wanted (optional)"
                wanted=""
            fi
            for p in $wanted; do
                # shellcheck disable=SC2086
                $as apt-get install -y -q --no-install-recommends $p >>setup.log 2>&1 || say "going on without $p (optional)"
            done
            rm -f setup.log
        fi
    fi
else
    say \
        "no dpkg here: a C compiler, make, cJSON, libcsv, utf8proc (with headers), OpenBLAS (libopenblas.so.0) and zlib (libz.so.1) must be there"
fi

# Spark for tests/spark; what is pinned and there needs no network
pinned=scripts/spark/requirements.txt
if [ "$spark" = yes ] && ! cmp -s "$pinned" .cache/spark/installed; then
    say "installing Spark into .cache/spark"
    if python3 -m venv --clear .cache/spark >setup.log 2>&1 && .cache/spark/bin/python3 -m pip install \
        -q -r "$pinned" >>setup.log 2>&1; then
        cp "$pinned" .cache/spark/installed
    else
        say "going on without Spark (optional)"
    fi
    rm -f setup.log
fi

[ "$build" = no ] || exec make -j"$(nproc 2>/dev/null || echo 2)" all
