#!/bin/sh
# ci-step.sh CONFIG TEST.csv - a step of a pipeline: train, measure, and pass only a model that is good enough and better than the
# one in use. Ends with dnn's exit code: 65 a bad row, 78 a bad config, 80 diverged, 82 a gate that is not met; the same data again
# give the same model, which is no better: 82. What does not pass is removed.
#   MODEL=model.dnn       the model in use; it is replaced at the end, and only then
#   GATE='auc>=0.75'      what the new one must reach
#   DNN=/opt/dnn/dnn      where dnn is; not needed beside this script or on PATH
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
