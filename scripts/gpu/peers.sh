# shellcheck shell=bash disable=SC2154 # what is used here is set by scripts/gpu_verify.sh
# peers.sh - the part peers of gpu_verify.sh: PyTorch on the same card, and the figures of bench and large judged beside it.

peer() { # NAME ARGUMENTS...: one row of peers_gpu.py, or why there is none
    local told name=$1
    shift
    told=$(timeout 120 "$python" "$root/scripts/bench/peers_gpu.py" "$@" 2>peer.err | tail -n 1)
    row "${told:-{\"peer\": \"PyTorch $name\", \"skipped\": $(quoted "$(tail -n 1 peer.err)")\}}"
}
rows_of() { sed -n "s/.*\"$1\": \([0-9.e+]*\).*/\1/p"; }
part_peers() {
    need_gpu && need_program || return
    [ $emulated = no ] || skip "not on an emulated device" || return
    [ -n "$python" ] && "$python" -c 'import torch, pandas; assert torch.cuda.is_available()' 2>/dev/null ||
        skip "no PyTorch with CUDA and pandas" || return
    local rows=45000 how batch at took="" eager="" best="" large=""
    numeric $rows
    numeric $((rows / 5))
    large_data
    cd "$work/run" || return
    # compiling takes longest, so it comes last
    for how in eager graph; do peer $how step $rows.csv 5 $how; done
    at=$(now)
    if timeout 90 "$python" "$root/scripts/bench/peers_gpu.py" job $rows.csv $((rows / 5)).csv peer.csv; then
        took=$(since "$at")
        row "{\"peer\": \"Python, pandas and PyTorch on the GPU, cold job\", \"s\": $took}"
    fi
    for batch in 65536 4096; do for how in fp32 bf16; do peer "$how, batch $batch" large "$(large_rows)" $batch $how; done; done
    peer compile step $rows.csv 5 compile
    for batch in 65536 4096; do peer "compile, batch $batch" large "$(large_rows)" $batch compile; done
    eager=$(grep -i eager "$work/peers.rows" | rows_of us_a_step | head -n 1)
    best=$(grep -iv eager "$work/peers.rows" | rows_of us_a_step | best_of "")
    must "step 45k x 14: PyTorch eager, times" "$(quotient "$eager" "$(figure_of step.dnn_gpu)")" ">=" 10 60
    must "step 45k x 14: PyTorch's best of compile and graph, times" "$(quotient "$best" "$(figure_of step.dnn_gpu)")" ">=" 1 3
    must "cold job: Python with PyTorch, times" "$(quotient "$took" "$(figure_of job)")" ">=" 8 15
    for batch in 65536 4096; do
        large=$(grep "batch $batch\|batch\": $batch" "$work/peers.rows" | rows_of rows_per_s | best_of r)
        must "28-512-512-512-2 in bf16, batch $batch: PyTorch's best, times" "$(quotient "$(figure_of large.$batch)" "$large")" ">=" 1 \
            "$([ $batch = 4096 ] && echo 4 || echo 2.5)"
    done
    judge
}
