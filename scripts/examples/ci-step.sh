#!/bin/sh
# ci-step.sh CONFIG TEST.csv - trains, and puts in use only a model that passes GATE on its own test rows and on TEST.csv, and is better
# than the one in use (MODEL). It ends with the exit code of dnn: 65 bad data, 78 a bad config, 82 a gate that is not met; stopped: 143.
# Nothing else is left behind.
set -eu
[ $# -eq 2 ] || { echo "usage: ci-step.sh CONFIG TEST.csv" >&2; exit 64; }
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):$(dirname "$0")/../../../bin:/usr/local/bin
model=${MODEL:-model.dnn} gate=${GATE:-auc>=0.75} new=${MODEL:-model.dnn}.new.$$ work= better=
trap 'rm -f "$new" "$new".*' EXIT
trap '[ -z "$work" ] || { kill $work || :; wait $work || :; }; exit 143' HUP INT TERM
"$dnn" train "$1" -o "$new" --progress none --require "$gate" & work=$!
wait $work
[ ! -e "$model" ] || cmp -s "$new" "$model" || better=$model
"$dnn" evaluate "$new" "$2" ${better:+--better-than "$better"} --require "$gate" & work=$!
wait $work
mv "$new" "$model"
