#!/bin/bash
# formats.sh - --format of train and evaluate: gates as JUnit test cases, metrics as gauges of Prometheus, in valid syntax.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads_model m.dnn
. "$ROOT/tests/formats.sh"
run dnn evaluate m.dnn leads.csv --require 'auc>=0.1' --require 'logloss < 0.001' --format junit
is_exit 82 "junit: a gate that is not met"
xml out
ok $? "junit: well formed" "$(cat out)"
out_has 'tests="2" failures="1" errors="0"' "junit: counted"
out_has '<testcase classname="dnn.evaluate" name="auc&gt;=0.1"/>' "junit: a gate that is met"
is "$(grep -A1 'name="logloss &lt; 0.001"' out | grep -c '<failure type="gate" message="measured 0\.[0-9]*"/>')" 1 \
    "junit: and one that is not"
run dnn evaluate m.dnn missing.csv --format junit
is_exit 66 "junit: an error"
xml out
ok $? "junit: is a case too" "$(cat out)"
out_has '<error type="E1601" message="missing.csv: cannot be opened' "junit: with its id and place"
run dnn evaluate m.dnn leads.csv --format prom --quiet
is_exit 0 "prom"
prom out
ok $? "prom: valid" "$(cat out)"
auc=$(dnn evaluate m.dnn leads.csv --json --quiet | sed 's/.*"metrics":{"auc":\([0-9.]*\).*/\1/')
is "$(sed -n 's/^dnn_metric{part="data",metric="auc"} //p' out | cut -c1-8)" "${auc:0:8}" "prom: the value of the JSON"
run dnn train leads.json -o new.dnn --format prom --quiet --progress none
is_exit 0 "train: prom"
prom out
ok $? "train: valid" "$(cat out)"
is "$(sed -n 's/.*part="\([a-z]*\)".*/\1/p' out | uniq | tr '\n' ' ')" "baseline valid test " "train: a gauge for each part"
run dnn train leads.json -o never.dnn --format junit --quiet --progress none --require 'auc>1'
is_exit 82 "train: a gate that is not met"
xml out
ok $? "train: well formed" "$(cat out)"
out_has 'tests="1" failures="1" errors="0"' "train: the gate is the case"
[ ! -e never.dnn ]
ok $? "train: and no model"
run dnn train leads.json -o never.dnn --format prom --quiet --progress none --require 'auc>1'
is_exit 82 "train: prom, a gate that is not met"
prom out
ok $? "train: the metrics are told all the same" "$(cat out)"
is "$(sed -n 's/.*part="\([a-z]*\)".*/\1/p' out | uniq | tr '\n' ' ')" "baseline valid test " "train: of each part"
run dnn evaluate m.dnn leads.csv --format prom --json
is_exit 64 "--json is another format"
run dnn evaluate m.dnn leads.csv --format json --quiet
is "$STATUS $(cut -c1-27 out)" '0 {"schema":"dnn.evaluate/1",' "--format json is --json"
mkdir node
DNN=$DNN run "$ROOT/scripts/examples/prometheus.sh" node m.dnn leads.csv
is_exit 0 "prometheus.sh with a model"
prom <(grep -v '^dnn_gpucheck_exit ' node/dnn.prom)
ok $? "prometheus.sh: valid, GPU and model" "$(cat node/dnn.prom)"
is "$(grep -c '^dnn_metric{' node/dnn.prom)" 9 "prometheus.sh: nine metrics"
done_testing
