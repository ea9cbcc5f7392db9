#!/bin/sh
# ci-step.sh CONFIG TEST.csv - a step of a pipeline: trains, measures, and passes only a model that is good enough and better than
# the one in use. It ends with the exit code of dnn: 65 bad data, 78 a bad config, 80 diverged, 82 a gate that is not met. The same
# data give the same model, which is not better: 82. A model that does not pass is removed.
#   MODEL=model.dnn       the model in use; it is replaced at the end
#   GATE='auc>=0.75'      the gate
#   DNN=/opt/dnn/dnn      the program; not needed beside this script or on PATH
set -eu
[ $# -eq 2 ] || { echo "usage: ci-step.sh CONFIG TEST.csv" >&2; exit 64; }
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):/usr/local/bin # cron's is short
config=$1
test=$2
model=${MODEL:-model.dnn}
"$dnn" check "$config" --quiet
"$dnn" train "$config" --output "$model.new" --progress none
trap 'rm -f "$model.new"' EXIT
set -- --require "${GATE:-auc>=0.75}"
[ ! -e "$model" ] || set -- "$@" --better-than "$model"
"$dnn" evaluate "$model.new" "$test" "$@"
mv "$model.new" "$model"
