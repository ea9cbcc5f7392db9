#!/bin/sh
# cron.sh CONFIG NEW.csv ANSWERS.csv - one night: train, or resume a stopped training, then predict. Prints errors and warnings only.
# Ends as dnn does, but with 0 instead of 75 (stopped). MODEL, TIME_LIMIT (seconds) and DNN (the program) may be set.
set -eu
[ $# -eq 3 ] || { echo "usage: cron.sh CONFIG NEW.csv ANSWERS.csv" >&2; exit 64; }
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):/usr/local/bin model=${MODEL:-model.dnn} code=0
"$dnn" train "$1" -o "$model" -q --resume=or-restart --time-limit "${TIME_LIMIT:-3600}" || code=$?
[ $code -ne 75 ] || exit 0 # stopped, or another one trains: the next night goes on
[ $code -eq 0 ] || exit $code
"$dnn" predict "$model" "$2" -q -o "$3"
