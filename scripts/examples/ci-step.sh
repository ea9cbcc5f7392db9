#!/bin/sh
# ci-step.sh CONFIG TEST.csv - trains, and puts in use only a model that passes GATE on its own test rows and on TEST.csv, and is better
# than the one in use (MODEL). It ends with the exit code of dnn: 65 bad data, 78 a bad config, 82 a gate that is not met.
set -eu
[ $# -eq 2 ] || { echo "usage: ci-step.sh CONFIG TEST.csv" >&2; exit 64; }
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):/usr/local/bin model=${MODEL:-model.dnn} gate=${GATE:-auc>=0.75}
trap 'rm -f "$model".new' EXIT
"$dnn" train "$1" -o "$model".new --progress none --require "$gate"
shift; [ ! -e "$model" ] || cmp -s "$model".new "$model" || set -- "$1" --better-than "$model"
"$dnn" evaluate "$model".new "$@" --require "$gate" && mv "$model".new "$model"
