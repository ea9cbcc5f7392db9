#!/bin/bash
# gpu_verify.sh - proves on a machine with a GPU what is claimed of it. No network. Four stages of at most 8 minutes, each complete
# in itself, the largest unknowns first. Without an option: all four, one after the other.
#   scripts/gpu_verify.sh --stage right   is it right at all, and where does a step's time go
#                         --stage fast    speed, beside PyTorch on the same card
#                         --stage trust   repeat, learning, precision, memory, faults
#                         --stage rare    compute-sanitizer, gpucheck full, more than 2^31 elements
#   scripts/gpu_verify.sh --part NAME     that part alone (and the build); --part and --stage may be repeated
#   scripts/gpu_verify.sh --list          stages, parts, and the seconds each may take
#   scripts/gpu_verify.sh --pack          before moving to a machine without packages: puts the sources of cJSON, libcsv and utf8proc into
#                                         build/third-party, which travels with the tree; there they are compiled
#   scripts/gpu_verify.sh --emulated      the same script on the emulated GPU, to try the script; never green, and slow
# A part that hangs is ended at its own limit and costs no other part its turn. Each part's result is written when it ends.
# Needs a GPU, its driver, the CUDA toolkit (nvcc), gcc, g++, make and perl. Uses PyTorch (python3, or PEERS=/path/to/python), ncu,
# compute-sanitizer and strace where they are. CUDA_ARCHS (the card's own): architectures built. COMMIT: the tree's name where there is
# no .git. BUILD (build/gpu): the folder it builds in. GPU_VERIFY_SECONDS: limit of a stage (480; emulated 3000);
# GPU_VERIFY_PART_SECONDS: of every part, in place of its own.
# Parts are in scripts/gpu/. The parts bench, large and peers hold speed to figures (`must`): a figure that is missed is a failure.
# Results in $OUT, else build/gpu-verify: report.txt, verify.json (parts, constants, bench rows), logs.tar.gz (logs and profiles).
# A dated report belongs in tests/bench/results.
# Exit 0: every part passed. 1: a part failed. 69: a part was skipped, which is no pass; a part that only lacks an optional tool
# (marked ? by --list) is reported and does not change the exit code.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
export LC_ALL=C
# the environment chooses nothing here
for name in ${!DNN_@} ${!GPU_@} MODEL_BACKEND ALL_GPU OPENBLAS_CORETYPE OPENBLAS_L2_SIZE LOG_LEVEL DEBUG MAKEFLAGS MFLAGS; do
    case $name in GPU_VERIFY_*) ;; *) unset "$name" ;; esac
done
help() { sed -n '2,/^set /s/^# \{0,1\}//p' "scripts/${0##*/}"; }
# stage, part, limit in seconds; ? behind the limit: it needs a tool that may be missing
table="right build 150
right first 30
right warpgroups 30
right small 60
right parity 90
right constants 60
right kernels 90?
fast bench 100
fast large 60
fast profile 20
fast sequences 150
fast peers 240
trust repeat 40
trust learning 40
trust precision 90
trust wgmma 90
trust guests 90
trust recurrent 90
trust memory 60
trust faults 90
rare memcheck 150
rare racecheck 150
rare sanitizer 120
rare gpucheck 60
rare huge 60
rare opens 60?"
in_stage() { awk -v s="$1" '$1 == s { print $2 }' <<<"$table"; }
limit_of() { awk -v p="$1" '$2 == p { print $3 + 0 }' <<<"$table"; }
stage_of() { awk -v p="$1" '$2 == p { print $1 }' <<<"$table"; }
optional() { awk -v p="$1" '$2 == p && $3 ~ /[?]/ { found = 1 } END { exit !found }' <<<"$table"; }
all=$(awk '{ print $2 }' <<<"$table" | tr '\n' ' ')
parts=""
emulated=no
pack=no
bad() { echo "gpu_verify.sh: $1" >&2; exit 64; }
while [ $# -gt 0 ]; do
    case $1 in
    --part)
        [ $# -gt 1 ] || { help >&2; exit 64; }
        shift
        case " $all" in *" $1 "*) parts="$parts $1" ;; *) bad "no part $1; there are: $all" ;; esac ;;
    --stage)
        [ $# -gt 1 ] || { help >&2; exit 64; }
        shift
        [ -n "$(in_stage "$1")" ] || bad "no stage $1; there are: right fast trust rare"
        parts="$parts $(in_stage "$1" | tr '\n' ' ')" ;;
    --list) echo "$table"; exit ;;
    --pack) pack=yes ;;
    --emulated) emulated=yes ;;
    --help | -h) help; exit ;;
    *) help >&2; exit 64 ;;
    esac
    shift
done
third=$root/build/third-party
if [ $pack = yes ]; then
    tests/fuzz/sources.sh || { echo "gpu_verify.sh: the sources cannot be had" >&2; exit 69; }
    mkdir -p "$third/cjson"
    cp build/sources/cjson-1.7.15/cJSON.[ch] "$third/cjson/" && cp build/sources/libcsv-3.0.3/libcsv.c build/sources/libcsv-3.0.3/csv.h \
        "$third/" &&
        cp build/sources/utf8proc-2.8.0/utf8proc.[ch] build/sources/utf8proc-2.8.0/utf8proc_data.c "$third/" &&
        echo "packed: build/third-party ($(du -sk "$third" | cut -f1) KiB)"
    exit
fi

began=$SECONDS
date=$(date -u '+%Y-%m-%d %H:%M')
limit=${GPU_VERIFY_SECONDS:-$([ $emulated = yes ] && echo 3000 || echo 480)}
results=${OUT:-$root/build/gpu-verify}
build=${BUILD:-build/gpu$([ $emulated = no ] || echo -emulated)}
case $build in /*) ;; *) build=$root/$build ;; esac
work=$build/verify
mkdir -p "$results" "$work" "$work/run"
rm -f "$work"/*.{json,log,why,rows,musts,told,state,txt} "$results"/{report.txt,verify.json,logs.tar.gz}
report=$results/report.txt
jobs=$(nproc 2>/dev/null || echo 2)
nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)}
[ -z "$nvcc" ] || PATH=$PATH:$(dirname "$nvcc")
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin
# a driver that is mounted into a container is not always known to the loader
for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib; do
    [ ! -e $folder/libcuda.so.1 ] || ldconfig -p 2>/dev/null | grep -q libcuda.so.1 ||
        export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
# the card's own architecture: 8.6 as 86; unknown: the one the kernels are tuned for
own=$(timeout 60 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -dc '0-9\n' | sort -un | tr '\n' ' ')
archs=${CUDA_ARCHS:-${own% }}
archs=${archs:-90}
case " $archs " in *" 90a "*) ;; *" 90 "*) archs="$archs 90a" ;; esac
commit=${COMMIT:-$(git -c safe.directory="$root" rev-parse HEAD 2>/dev/null || echo unknown)}
python=${PEERS:-$(command -v python3)}
gpu=""
[ $emulated = yes ] && gpu="the emulated device"
[ -n "$gpu" ] || gpu=$(timeout 60 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$gpu" ] || [ ! -e /dev/nvidiactl ] || gpu="a card that nvidia-smi does not name"
dnn=$build/dnn
hooked=$build/testing/dnn # the same program with the hooks of the tests
parity=$build/parity/gpu
[ $emulated = yes ] && dnn=$build/emulated/dnn hooked=$build/emulated/dnn parity=$build/parity/emulated

say() { printf '%s\n' "$*" | tee -a "$report"; }
why=""                                                    # why a part was skipped, or its failures
skip() { [ -z "$why" ] || return 1; why=$1; return 69; } # behind a failure it is one
fail() { why="${why:+$why; }$1"; echo "not ok: $1"; }     # the part goes on, and fails at its end
passed() { [ -z "$why" ]; }
quoted() { printf '"%s"' "$(printf '%s' "$1" | tr '\n\t\r' '   ' | sed 's/[\\"]/\\&/g')"; }
need_gpu() { [ -n "$gpu" ] || skip "no GPU is seen here"; }
need_program() { [ -x "$dnn" ] || skip "the program was not built"; }
now() { printf '%s' "$EPOCHREALTIME"; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.4f", b - a }'; }
number() { awk "BEGIN { printf \"$1\", $2 }"; }

for file in build trust train guests faults bench sequences peers; do
    # shellcheck source=/dev/null
    . "scripts/gpu/$file.sh"
done

# run_part NAME SECONDS: in a group of processes of its own, which is ended as a whole at its limit
run_part() {
    local code
    set -m
    (part_"$1" >"$work/$1.log" 2>&1; code=$?; printf '%s' "$why" >"$work/$1.why"; exit $code) &
    pid=$!
    (sleep "$2"; kill -- -$pid; sleep 5; kill -KILL -- -$pid) 2>/dev/null &
    guard=$!
    set +m
    wait $pid
    code=$?
    { kill -KILL -- -$guard; wait $guard; } 2>/dev/null # a shell that has just begun would lose another signal
    pid="" guard=""
    why=$(cat "$work/$1.why" 2>/dev/null)
    [ $code -le 128 ] || why="${why:+$why; }ended after its limit of $2 s"
    return $code
}
list_of() { awk 'NR > 1 { printf ",\n" } { printf "  %s", $0 }' "$@" 2>/dev/null; } # lines as members of a JSON list
json_of() { if [ -s "$1" ]; then cat "$1"; else echo null; fi; }
# write_results CODE: after each part, so that an end from outside loses one part at most
write_results() {
    printf \
        '{"program": "gpu_verify", "date": "%s", "commit": "%s", "gpu": %s, "emulated": %s, "seconds": %d, "exit": %d, "parts": [
%s
],
"constants": %s,
"rows": [
%s
],
"musts": [
%s
]}\n' \
        "$date" "$commit" "$(quoted "$gpu")" "$([ $emulated = yes ] && echo true || echo false)" $((SECONDS - began)) "$1" \
        "$(list_of $states)" "$(json_of "$work/constants.json")" "$(list_of "$work"/*.rows)" \
        "$(list_of "$work"/*.musts)" >"$results/verify.json"
    (cd "$work" && find . -maxdepth 1 -type f \( -name '*.log' -o -name '*.json' -o -name '*.txt' -o -name '*.result' \) -size -8M |
        tar -czf "$results/logs.tar.gz" -T - 2>/dev/null)
}

say "gpu_verify, $date UTC, commit $commit"
say "GPU: ${gpu:-none is seen}; toolkit: $([ -n "$nvcc" ] && "$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p' ||
    echo none); $jobs cores; built for sm $archs"
[ $emulated = no ] || say "EMULATED: this tries the script and proves nothing of a GPU"
wanted=${parts:-$all}
case " $wanted " in *" build "*) ;; *) wanted="build $wanted" ;; esac
# a driver that nobody holds is closed and opened again by each program, which can take seconds
keeper=""
if [ $emulated = no ] && command -v nvidia-smi >/dev/null 2>&1; then
    nvidia-smi -l 5 >/dev/null 2>&1 &
    keeper=$!
fi
pid="" guard="" # the part that runs, and the process that ends it at its limit
ended() { # nothing of this script goes on computing behind it
    [ -z "$keeper" ] || kill "$keeper" 2>/dev/null
    [ -z "$guard" ] || kill -KILL -- -"$guard" 2>/dev/null
    [ -z "$pid" ] || { kill -- -"$pid"; sleep 1; kill -KILL -- -"$pid"; } 2>/dev/null
}
trap ended EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT
green=0 red="" skipped="" missing="" states="" stage="" stage_began=$SECONDS code=0
use_packages || true # sets variables that the compiler reads
for part in $wanted; do
    if [ "$part" != build ] && [ "$stage" != "$(stage_of "$part")" ]; then
        [ -z "$stage" ] || stage_began=$SECONDS # of several stages each has its own time
        stage=$(stage_of "$part")
    fi
    at=$SECONDS
    why=""
    left=$((limit - SECONDS + stage_began))
    own=${GPU_VERIFY_PART_SECONDS:-$([ $emulated = yes ] && echo "$limit" || limit_of "$part")}
    if [ $left -le 0 ]; then
        code=69
        why="no time left of $limit s"
    else
        run_part "$part" $((own < left ? own : left))
        code=$?
    fi
    took=$((SECONDS - at))
    case $code in
    0) state=passed; green=$((green + 1)) ;;
    69) state=skipped; if optional "$part"; then missing="$missing $part"; else skipped="$skipped $part"; fi ;;
    *) state=failed; red="$red $part"; why=${why:-exit $code} ;;
    esac
    printf '{"part": "%s", "state": "%s", "seconds": %d, "exit": %d, "why": %s}\n' "$part" $state $took $code \
        "$(quoted "$why")" >"$work/$part.state"
    states="$states $work/$part.state"
    say "$(printf '%-10s %-8s %4d s  %s' "$part" $state $took "$why")"
    [ ! -s "$work/$part.told" ] || sed 's/^/    /' "$work/$part.told" | tee -a "$report"
    write_results 69
done
code=0
[ -z "$skipped" ] || code=69
[ $emulated = no ] || code=69
[ -z "$red" ] || code=1
say \
    "$green passed; failed:${red:- none}; skipped, which is not a pass:${skipped:- none};" \
    "an optional tool is missing:${missing:- none}; $((SECONDS - began)) s; exit $code"
write_results $code
exit $code
