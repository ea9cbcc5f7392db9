#!/bin/bash
# configs.sh - every config of configs/ passes check, trains for an epoch, and its model answers its own file.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
mkdir leads && make_leads leads/leads.csv 400 && cp "$ROOT/configs/leads.json" leads
for config in "$ROOT"/configs/*.json; do
    name=$(basename "$config" .json)
    [ "$name" != leads ] || config=$WORK/leads/leads.json # its file is made here
    [ "$name" != default ] || continue # every key with its default: compared with the tables by run_config
    run dnn check "$config"
    is_exit 0 "$name is checked"
    run dnn train "$config" -o "$name.dnn" --set train.epochs=2 --set output.metrics=null --progress none
    is_exit 0 "$name trains"
    run dnn check "$config" --resolved
    cp out resolved.json
    sed -i "s|\"leads.csv\"|\"$WORK/leads/leads.csv\"|" resolved.json
    sed -i "s|\"\(\.\./\)*data/|\"$ROOT/data/|" resolved.json
    run dnn check resolved.json
    is_exit 0 "$name, resolved, is a config again"
    data=$(sed -n 's|.*"train": "\([^"]*csv\)".*|\1|p' "$config")
    data=$(dirname "$config")/$data
    run dnn predict "$name.dnn" "$data" -o answers.csv
    is_exit 0 "$name predicts"
    rows=$(wc -l <"$data")
    [ "$name" != leads ] || rows=401 # some cells hold a line end
    is "$(wc -l <answers.csv)" "$rows" "$name answers every row"
done
done_testing
