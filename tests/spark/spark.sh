#!/bin/bash
# spark.sh - scripts/spark on a real Spark: a cluster of two executors on this machine. SPARK_ROWS=100000 answers more rows,
# SPARK_PYTHON names a Python with pyspark; scripts/setup.sh --nightly installs the pinned one. Where there is none, it is a skip.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
. "$ROOT/tests/leads.sh"
python=${SPARK_PYTHON:-}
for candidate in "$ROOT/.cache/spark/bin/python3" python3; do
    [ -n "$python" ] || ! "$candidate" -c 'import pyspark, pyarrow, pandas' 2>/dev/null || python=$candidate
done
if [ -z "$python" ] || ! java -version 2>/dev/null; then
    echo "1..0 # SKIP no Java, or no Python with pyspark (scripts/setup.sh --nightly)"
    exit 0
fi
plain() { perl -0pe 's/New\nYork/New York/g'; }
make_leads raw.csv 600 && plain <raw.csv >leads.csv
make_leads_model m.dnn
"$DNN" train leads.json -o two.dnn --progress none --quiet --set ensemble.folds=2 || echo "not ok - training of two networks"
make_leads raw.csv "${SPARK_ROWS:-3000}" 2 unlabelled && plain <raw.csv >new.csv
make_data d.csv 400
make_config runs.json d.csv binary '"epochs": 4' '"ensemble": {"folds": 2, "members": [{"name": "a"}, {"name": "b",
    "model": {"hidden": [4]}}]},
  "backend": {"name": "dnn_cpu"}'
make_config trials.json d.csv binary '"epochs": 18' '"backend": {"name": "dnn_cpu"}, "tune": {"space": {"model.hidden": [[8], [16, 8]],
  "train.optimizer.learning_rate": {"low": 0.001, "high": 0.1, "log": true}}}'
perl "$ROOT/scripts/data/make_tagging.pl" 60 1 >series.csv
perl "$ROOT/scripts/data/make_tagging.pl" "$((${SPARK_ROWS:-3000} / 100))" 7 >steps.csv
for label in row group; do # rows are steps: a label each row, and one each group
    cat >steps.json <<JSON
{"task": "multiclass", "data": {"train": "series.csv", "target": "y", "columns": {"series": "id", "t": "id",
  "cue": "categorical", "noise": "numeric"},
  "sequence": {"group": "series", "order": "t", "window": 16, "stride": 8, "label": "$label"}},
 "model": {"preset": "gru", "hidden": [8]}, "train": {"epochs": 2}, "backend": {"name": "dnn_cpu"}}
JSON
    "$DNN" train steps.json -o $label.dnn --force --quiet >/dev/null 2>&1 || echo "not ok - training with label $label"
done
mkdir elsewhere local home bin
cp "$DNN" bin/dnn && DNN=$WORK/bin/dnn # transform.sql calls it so
export DNN SPARK_LOCAL_IP=127.0.0.1 SPARK_LOCAL_DIRS=$WORK/local SPARK_HOME=$WORK/home PYTHONPATH=$ROOT/scripts/spark
# short sessions: the first compiler is enough
[ -n "${SPARK_ROWS:-}" ] || export JDK_JAVA_OPTIONS="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
export PYSPARK_PYTHON=$python PYSPARK_DRIVER_PYTHON=$python CUDA_VISIBLE_DEVICES=
# workers write into $SPARK_HOME/work
ln -s "$("$python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')"/* home/
for part in cluster local; do
    timeout 600 "$python" -B "$ROOT/tests/spark/spark.py" $part 2>spark.err
    code=$?
    [ $code -eq 0 ] || grep -vE '^\s+at |^$' spark.err | tail -n 12 | sed 's/^/#   /'
    if [ $code -eq 0 ]; then
        echo "ok - the driver of the part $part came to its end"
    else
        echo "not ok - the part $part ended with $code"
    fi
done | tee lines
"$python" -B "$ROOT/scripts/spark/example.py" m.dnn "file://$WORK/new.csv" >out 2>err
if [ "$(grep -cE '^[123]\. |difference of a number 0$|other labels: 0 of ' out)" -eq 5 ]; then
    echo "ok - example.py: three scenarios, without a card the same answers"
else
    echo "not ok - example.py"
    cat out err | grep -vE '^\s+at |^$' | tail -n 12 | sed 's/^/#   /'
fi | tee -a lines
printf '1..%d\n' "$(grep -cE '^(not )?ok' lines)"
! grep -q '^not ok' lines
