#!/bin/bash
# referee.sh - dnn beside the programs its networks come from, from one set of weights and one batch: answers and gradients within
# 1e-5. realmlp against pytabkit, tabm and piecewise-linear numbers against tabm and rtdl_num_embeddings; lstm, gru, attention, a
# transformer block and conv1d against torch.nn. A short training of realmlp and tabm compares optimisers, schedules and factors too,
# and the constants of realmlp stand side by side.
# Optional: it installs the versions of scripts/bench/requirements.txt into build/peers (several GB for PyTorch), or
# PEERS=/path/to/python names an interpreter that has them. What is missing is skipped, with a line. Exit 1: something differs.
#   scripts/referee.sh [constants|realmlp|tabm_case|series]...
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/bench/peers.sh
make -s -j"$(nproc)" all
export DNN=${DNN:-$PWD/build/dnn} OMP_NUM_THREADS=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$(peers_python)" -W ignore scripts/referee/main.py "$folder" "$@"
