#!/bin/sh
# cron.sh CONFIG NEW.csv ANSWERS.csv - a night: train, or go on with what was stopped, then answer. It is silent unless something is to
# be mended; any other exit code of dnn than 75 ends it. MODEL, TIME_LIMIT (seconds) and DNN (the program) may be set.
set -eu
[ $# -eq 3 ] || { echo "usage: cron.sh CONFIG NEW.csv ANSWERS.csv" >&2; exit 64; }
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):/usr/local/bin model=${MODEL:-model.dnn} code=0
"$dnn" train "$1" -o "$model" -q --resume=or-restart --time-limit "${TIME_LIMIT:-3600}" || code=$?
[ $code -ne 75 ] || exit 0 # stopped, or another one trains: the next night goes on
[ $code -eq 0 ] || exit $code
"$dnn" predict "$model" "$2" -q -o "$3"
