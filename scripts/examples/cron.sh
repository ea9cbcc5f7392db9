#!/bin/sh
# cron.sh CONFIG NEW.csv ANSWERS.csv - a nightly job: train, or continue the training that was stopped, then predict. In a crontab:
#   15 2 * * *  cd /srv/churn && scripts/examples/cron.sh churn.json new.csv answers.csv 2>>churn.log
# Exit 75 (stopped, or another training runs) is no failure: the next night continues. Any other exit code of dnn ends the script.
# MODEL names the model file, TIME_LIMIT its seconds. DNN=/opt/dnn/dnn names the program; without it, dnn must stand beside this
# script, in /usr/local/bin or in PATH.
set -eu
[ $# -eq 3 ] || { echo "usage: cron.sh CONFIG NEW.csv ANSWERS.csv" >&2; exit 64; }
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):/usr/local/bin # the PATH of cron is short
model=${MODEL:-model.dnn}
code=0
# or-restart: where config or data have changed, the old checkpoints are removed and the training starts again
"$dnn" train "$1" --output "$model" --progress none --time-limit "${TIME_LIMIT:-3600}" --resume=or-restart || code=$?
[ $code -ne 75 ] || exit 0
[ $code -eq 0 ] || exit $code
# the old answers stay until the new ones are complete
"$dnn" predict "$model" "$2" --output "$3"
