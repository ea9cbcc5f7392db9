#!/bin/sh
# cron.sh CONFIG NEW.csv ANSWERS.csv - one night: train, or resume a stopped training, then predict. Prints errors and warnings only.
# Ends as dnn does. Where the training was stopped (75), the model from before answers. MODEL, TIME_LIMIT (seconds), DNN: may be set.
set -eu
[ $# -eq 3 ] || { echo "usage: cron.sh CONFIG NEW.csv ANSWERS.csv" >&2; exit 64; }
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):$(dirname "$0")/../../../bin:/usr/local/bin model=${MODEL:-model.dnn} code=0
said=$("$dnn" train "$1" -o "$model" -q --resume=or-restart --time-limit "${TIME_LIMIT:-3600}" 2>&1) || code=$?
[ $code -eq 75 ] && [ -e "$model" ] || [ -z "$said" ] || printf '%s\n' "$said" >&2 # 75: stopped, locked, or the GPU is busy or full
[ $code -eq 0 ] || [ $code -eq 75 ] || exit $code
[ ! -e "$model" ] || "$dnn" predict "$model" "$2" -q -o "$3"
