#!/bin/sh
# cron.sh CONFIG NEW.csv ANSWERS.csv - a nightly job: train, or go on where the last night was stopped, then answer. In a crontab:
#   15 2 * * *  cd /srv/churn && scripts/examples/cron.sh churn.json new.csv answers.csv 2>>churn.log
# 75 (stopped, or another training runs) is a matter for the next night and no failure; everything else is told by its code.
set -eu
config=${1:?usage: cron.sh CONFIG NEW.csv ANSWERS.csv}
new=$2
answers=$3
model=${MODEL:-model.dnn}
code=0
train() { dnn train "$config" --output "$model" --progress none --time-limit "${TIME_LIMIT:-3600}" "$@"; }
train --resume || code=$?
if [ $code -eq 76 ]; then # what was stopped was of other data: they have grown since, or the config has changed
    echo "cron.sh: from the start" >&2
    rm -f "$model".ckpt-*
    code=0
    train || code=$?
fi
case $code in
0) ;;
75) exit 0 ;;
*) exit "$code" ;;
esac
# the answers of last night stay until the new ones are whole
dnn predict "$model" "$new" --output "$answers"
