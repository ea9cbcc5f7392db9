#!/bin/sh
# cron.sh CONFIG NEW.csv ANSWERS.csv - a nightly job: trains, or continues the training that was stopped, then answers. In a crontab:
#   15 2 * * *  cd /srv/churn && scripts/examples/cron.sh churn.json new.csv answers.csv 2>>churn.log
# 75 (stopped, or another training runs) is no failure: the next night continues. Any other code of dnn ends the script with it.
# DNN=/opt/dnn/dnn in the crontab names the program; not needed beside this script or in /usr/local/bin.
set -eu
[ $# -eq 3 ] || { echo "usage: cron.sh CONFIG NEW.csv ANSWERS.csv" >&2; exit 64; }
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):/usr/local/bin # cron's is short
config=$1
new=$2
answers=$3
model=${MODEL:-model.dnn}
train() {
    code=0
    result=$("$dnn" train "$config" --output "$model" --progress none --time-limit "${TIME_LIMIT:-3600}" --resume --json) || code=$?
    printf '%s\n' "$result" >&2
    # E1520: what was stopped was of other data, which have grown since, or of another config; any other checkpoint stays
    case $result in *'"id":"E1520"'*) stale=$(printf '%s\n' "$result" | sed -n 's/.*"file":"\(.*\)","line":.*/\1/p' | sed 's/\\\(["\\]\)/\1/g') ;; *) stale= ;; esac
}
train
while [ -n "$stale" ] && rm "$stale"; do # the last night may have left more than one
    train
done
case $code in
0) ;;
75) exit 0 ;;
*) exit "$code" ;;
esac
# the answers of last night stay until the new ones are whole
"$dnn" predict "$model" "$new" --output "$answers"
