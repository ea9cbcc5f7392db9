#!/bin/sh
# cron.sh CONFIG NEW.csv ANSWERS.csv - one night: train, or resume a stopped training, then predict. It prints errors and warnings only,
# and ends as dnn does. 65 (bad data): model and answers from before stay. 82 (no better model): the model from before answers. 75
# (stopped, locked, or the GPU is busy): the same, with 0; where there is no such model, 75.
# MODEL, TIME_LIMIT (seconds), DNN may be set; LEAST (80): percent of the last training's rows that there must be, where the config
# has no data.min_rows; GATE, such as auc>=0.75; TEST: a labelled file, on which a new model must be better than the one in use.
set -eu
[ $# -eq 3 ] || { echo "usage: cron.sh CONFIG NEW.csv ANSWERS.csv" >&2; exit 64; }
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):$(dirname "$0")/../../../bin:/usr/local/bin model=${MODEL:-model.dnn} code=0 rows= better=
new=$model${TEST:+.new}
[ ! -e "$model" ] || grep -q '"min_rows"' "$1" ||
    rows=$("$dnn" inspect "$model" --json 2>/dev/null | sed -n 's/.*"rows":{"train":\([0-9]*\).*/\1/p')
said=$("$dnn" train "$1" -o "$new" -q --resume=or-restart --time-limit "${TIME_LIMIT:-3600}" ${GATE:+--require "$GATE"} \
    ${rows:+--set "data.min_rows=$((rows * ${LEAST:-80} / 100))"} 2>&1) || code=$?
case $said in *E1240*) said="$said
  = help: LEAST=0 cron.sh ... takes a file of any length" ;; esac
[ $code -eq 75 ] && [ -e "$model" ] || [ -z "$said" ] || printf '%s\n' "$said" >&2
if [ $code -eq 0 ] && [ "$new" != "$model" ]; then
    [ ! -e "$model" ] || cmp -s "$new" "$model" || better=$model
    "$dnn" evaluate "$new" "$TEST" -q ${better:+--better-than "$better"} ${GATE:+--require "$GATE"} >/dev/null || code=$?
    if [ $code -eq 0 ]; then mv "$new" "$model"; else rm -f "$new"; fi
fi
case $code in 0 | 75 | 82) ;; *) exit $code ;; esac
[ -e "$model" ] || exit $code
"$dnn" predict "$model" "$2" -q -o "$3"
[ $code -eq 75 ] || exit $code
