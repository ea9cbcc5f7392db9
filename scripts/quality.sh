#!/bin/bash
# quality.sh - preset auto on eleven real data sets, beside the libraries that win there. Optional; it needs python3 and the data.
#   scripts/quality.sh [--data DIR] [--seeds 1,2,3] [--rows ROWS] [--peers[=LIST]] [--set K=V]... [--out FILE] [SET...]
#   scripts/quality.sh --table [FILE...] >tests/bench/results/DATE-quality.txt
# Each training adds a line to FILE (default build/quality/results.tsv: set, row, seed, score, log-loss, calibration error, seconds),
# so the work may be done in pieces; --table writes the table of all lines, of several FILEs too. A set whose data (DIR, default
# ../shared/data) are missing is skipped, with a line.
#   ROWS   auto (default), linear, mlp, members (each member of auto alone, as a bag), steps (bag, + PLE, + TS, + RealMLP); --rows ''
#          trains nothing
#   LIST   logreg,histgb,lgbm,xgb,mlp,catboost (default: all), measured anew with both protocols: the pinned versions come into
#          build/peers, or PEERS=/path/to/python has them. Without --peers the table takes earlier figures.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/bench/peers.sh
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE 2>/dev/null || true
export DNN=${DNN:-$PWD/build/dnn} PYTHONDONTWRITEBYTECODE=1
mkdir -p build/quality
python=''
for word in "$@"; do case $word in --peers*) python=$(peers_python) ;; esac; done
exec python3 scripts/quality/main.py --folder "$PWD/build/quality" --python "$python" "$@"
