#!/bin/sh
# ci-step.sh CONFIG TEST.csv - a step of a pipeline: train, measure, and pass only a model that is good enough and better than the
# one in use. Ends with dnn's exit code: 65 a bad row, 78 a bad config, 80 diverged, 82 a gate that is not met.
#   MODEL=model.dnn       the model in use; it is replaced at the end, and only then
#   GATE='auc>=0.75'      what the new one must reach
set -eu
config=${1:?usage: ci-step.sh CONFIG TEST.csv}
test=${2:?usage: ci-step.sh CONFIG TEST.csv}
model=${MODEL:-model.dnn}
dnn check "$config" --quiet
dnn train "$config" --output "$model.new" --progress none
set -- --require "${GATE:-auc>=0.75}"
[ ! -e "$model" ] || set -- "$@" --better-than "$model"
dnn evaluate "$model.new" "$test" "$@"
mv "$model.new" "$model"
