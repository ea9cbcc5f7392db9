#!/bin/bash
# gpu_verify.sh - everything that is claimed of the GPU, tried on a machine that has one: one command, under 9 minutes, no network.
#   scripts/gpu_verify.sh                 all parts, in this order:
#       build tests opens parity large repeat learning precision wgmma guests gpucheck sanitizer faults memory constants bench
#   scripts/gpu_verify.sh --part NAME     that one (and the build, if it was not done); may be repeated
#   scripts/gpu_verify.sh --pack          before moving to a machine without packages: puts the sources of cJSON and libcsv into
#                                         build/third-party, which has to travel with the tree; there they are compiled
#   scripts/gpu_verify.sh --emulated      the same script on the emulated GPU, to try the script: never green; slow, and given 50 minutes
# Needs a GPU, its driver, the CUDA toolkit (nvcc), gcc, g++, make and perl; PyTorch (python3, or PEERS=/path/to/python) and
# compute-sanitizer where they are; strace for the part opens. CUDA_ARCHS (the card's own) are the architectures built, COMMIT names the
# tree where there is no .git, BUILD (build/gpu) is the folder it is built in, which has what the parts leave behind as well: BUILD/verify.
# The parts are in scripts/gpu/. The part bench holds speed to what must be reached (`must` in scripts/gpu/bench.sh): missed is failed.
# Results: $OUT, else build/gpu-verify: report.txt, verify.json (every part), parity.json, guests.json, constants.json, bench.json, dnn-bench.json,
# profile.json, log.txt. GPU_VERIFY_SECONDS: the time after which what runs is ended (525).
# A dated report belongs in tests/bench/results.
# Exit 0 when every part passed, 1 when one failed, 69 when one was skipped: a skipped part is not a pass.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
root=$PWD
export LC_ALL=C
# what chooses is said here alone
for name in ${!DNN_@} ${!GPU_@} MODEL_BACKEND ALL_GPU OPENBLAS_CORETYPE OPENBLAS_L2_SIZE LOG_LEVEL DEBUG MAKEFLAGS MFLAGS; do
    [ "$name" = GPU_VERIFY_SECONDS ] || unset "$name"
done
help() { sed -n '2,/^set /s/^# \{0,1\}//p' "scripts/${0##*/}"; }
all="build tests opens parity large repeat learning precision wgmma guests gpucheck sanitizer faults memory constants bench"
parts=""
emulated=no
pack=no
while [ $# -gt 0 ]; do
    case $1 in
    --part) [ $# -gt 1 ] || { help >&2; exit 64; }; shift; parts="$parts $1" ;;
    --pack) pack=yes ;;
    --emulated) emulated=yes ;;
    --help | -h) help; exit ;;
    *) help >&2; exit 64 ;;
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
date=$(date -u '+%Y-%m-%d %H:%M')
limit=${GPU_VERIFY_SECONDS:-$([ $emulated = yes ] && echo 3000 || echo 525)}
results=${OUT:-$root/build/gpu-verify}
build=${BUILD:-build/gpu$([ $emulated = no ] || echo -emulated)}
case $build in /*) ;; *) build=$root/$build ;; esac
work=$build/verify
mkdir -p "$results" "$work" "$work/run"
rm -f "$work"/*.json "$work"/*.log "$work"/*.why "$results"/{report.txt,verify.json,parity.json,guests.json,constants.json,bench.json,dnn-bench.json,profile.json,log.txt}
report=$results/report.txt
jobs=$(nproc 2>/dev/null || echo 2)
nvcc=${NVCC:-$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)}
[ -z "$nvcc" ] || PATH=$PATH:$(dirname "$nvcc")
[ ! -d /usr/local/cuda/bin ] || PATH=$PATH:/usr/local/cuda/bin
# drivers that are mounted into a machine without its loader knowing
for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib; do
    [ ! -e $folder/libcuda.so.1 ] || ldconfig -p 2>/dev/null | grep -q libcuda.so.1 || export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
# the card's own architecture, 8.6 as 86; what cannot be asked is taken for the largest the kernels are tuned for
own=$(timeout 60 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -dc '0-9\n' | sort -un | tr '\n' ' ')
archs=${CUDA_ARCHS:-${own% }}
archs=${archs:-90}
case " $archs " in *" 90a "*) ;; *" 90 "*) archs="$archs 90a" ;; esac
commit=${COMMIT:-$(git -c safe.directory="$root" rev-parse HEAD 2>/dev/null || echo unknown)}
python=${PEERS:-$(command -v python3)}
gpu=""
[ $emulated = yes ] && gpu="the emulated device"
[ -n "$gpu" ] || gpu=$(timeout 60 nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
[ -n "$gpu" ] || [ ! -e /dev/nvidiactl ] || gpu="a card that nvidia-smi does not tell of"
dnn=$build/dnn
hooked=$build/testing/dnn # with the test hooks: faults, patience, choice of kernels
parity=$build/parity/gpu
[ $emulated = yes ] && dnn=$build/emulated/dnn hooked=$build/emulated/dnn parity=$build/parity/emulated

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

for file in build trust train guests faults bench; do
    # shellcheck source=/dev/null
    . "scripts/gpu/$file.sh"
done

# --- one after the other ---
say "gpu_verify, $date UTC, commit $commit"
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
        [ $code -le 128 ] || [ $((SECONDS - began)) -lt "$limit" ] || why="${why:+$why; }ended after $limit s of all parts"
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
    grep 'times as fast\|^GPU over CPU\|^must:\|^extrapolated' "$work/bench.log" | sed 's/^/    /' | tee -a "$report"
fi
[ ! -s "$results/parity.json" ] || say "parity: $(tail -n 1 "$results/parity.json")"
code=0
[ -z "$skipped" ] || code=69
[ $emulated = no ] || code=69
[ -z "$red" ] || code=1
say "$green passed; failed:${red:- none}; skipped, which is not a pass:${skipped:- none}; $((SECONDS - began)) s; exit $code"
printf '{"program": "gpu_verify", "date": "%s", "commit": "%s", "gpu": %s, "emulated": %s, "seconds": %d, "exit": %d, "parts": [\n  %s\n]}\n' \
    "$date" "$commit" "$(quoted "$gpu")" "$([ $emulated = yes ] && echo true || echo false)" $((SECONDS - began)) $code "$json" >"$results/verify.json"
for part in $wanted; do
    printf '===== %s\n' "$part"
    tail -c 400000 "$work/$part.log" 2>/dev/null
done >"$results/log.txt"
exit $code
