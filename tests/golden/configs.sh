#!/bin/bash
# configs.sh - every config of configs/ passes check, trains for an epoch, and its model answers its own file.
. "$(dirname "$0")/../tap.sh"
for config in "$ROOT"/configs/*.json; do
    name=$(basename "$config" .json)
    [ "$name" != default ] || continue # every key with its default: compared with the tables by run_config
    run dnn check "$config"
    is_exit 0 "$name is checked"
    run dnn train "$config" -o "$name.dnn" --set train.epochs=2 --set output.metrics=null --progress none
    is_exit 0 "$name trains"
    run dnn check "$config" --resolved
    cp out resolved.json
    sed -i "s|\"\(\.\./\)*data/|\"$ROOT/data/|" resolved.json
    run dnn check resolved.json
    is_exit 0 "$name, resolved, is a config again"
    data=$(sed -n 's|.*"train": "\.\./data/\([a-z-]*\.csv\)".*|\1|p' "$config")
    run dnn predict "$name.dnn" "$ROOT/data/$data" -o answers.csv
    is_exit 0 "$name predicts"
    is "$(wc -l <answers.csv)" "$(wc -l <"$ROOT/data/$data")" "$name answers every row"
done
done_testing
