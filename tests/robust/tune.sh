#!/bin/bash
# tune.sh - a search: a seeded plan, the same result for any number of threads, after a signal and a kill; its best config is a
# config that trains to the score it was chosen for.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 400
mkdir sub
space='"tune": {"space": {"model.hidden": [[8], [16, 8], [24]], "train.optimizer.learning_rate": {"low": 0.001, "high": 0.1, "log": true},
  "train.batch_size": {"low": 20, "high": 40}, "train.loss.class_weights": [null, "balanced"],'
space+=' "encoders.numeric.encode": ["plain", "ple"]}}'
make_config c.json d.csv binary '"epochs": 18' "\"backend\": {\"name\": \"dnn_cpu\"}, $space"
run dnn tune c.json --trials 7 -o sub/best.json --trials-csv t1.csv --json --threads 1
is_exit 0 "seven trials"
cp out one.json
err_has "best parameters: {" "the best set in one line"
err_has "gain over the config as it is (trial 0): logloss" "what it gains over the config, with its standard error"
check "in JSON too" grep -qE '"gain":\{"metric":"logloss","value":[-0-9.e]+,"standard_error":[0-9.e-]+\}' one.json
no_leftovers best.json "nothing is left beside the config"
[ ! -e sub/best.json.journal ] && [ ! -e sub/best.json.lock ]
ok $? "no journal and no lock"
cp sub/best.json one_best.json
run dnn tune c.json --trials 1 -o sub/best.json --progress none
is_exit 73 "a config that is there is not replaced unasked"
err_has "there is a config already: it is not replaced" "a config that is there: the error says so"
err_has "--force replaces it" "a config that is there: the option that replaces it"
run dnn tune c.json --trials 7 -o sub/best.json --force --trials-csv t3.csv --threads 3 --progress none
is_exit 0 "side by side, over a config that is there"
same one_best.json sub/best.json "the same config by three threads"
sed 's/,[^,]*$//' t1.csv >s1.csv
sed 's/,[^,]*$//' t3.csv >s3.csv
same s1.csv s3.csv "the same trials, but for their seconds"
is "$(wc -l <t1.csv)" 8 "a line for each trial"
is "$(head -1 t1.csv | cut -d, -f1-6)" "trial,stage,epochs,best_epoch,stopped,auc" "the list of trials has a header"
is "$(cut -d, -f2 t1.csv | tail -n +2 | sort | uniq -c | awk '{print $2 ":" $1}' | tr '\n' ' ')" "0:4 1:3 " "a third went on"
run dnn train sub/best.json -o best.dnn --json
is_exit 0 "the best config trains, from another folder"
cp out trained.json
by_python() { if command -v python3 >/dev/null; then check "$1" python3 -; else skip "$1" "no python3"; fi; }
by_python "to the score of its trial; values lie in the space" <<'PY'
import csv, json
r, t = json.load(open("one.json")), json.load(open("trained.json"))
b = r["best"]
assert r["schema"] == "dnn.tune/1" and r["metric"] == "logloss" and r["stopped"] == "trials"
assert [x["trial"] for x in r["trials"]] == list(range(7))
for x in r["trials"]:
    for k, (low, high) in x["valid_intervals"].items():
        assert low <= x["valid"][k] <= high and high > low, (k, x)
for k, v in b["valid"].items():
    assert v == t["valid"][k] or abs(v - t["valid"][k]) < 1e-12, (k, t["valid"], b)
assert min(x["valid"]["logloss"] for x in r["trials"]) == b["valid"]["logloss"]
assert r["trials"][0]["values"] == {}
for x in r["trials"][1:]:
    v = x["values"]
    assert v["model.hidden"] in [[8], [16, 8], [24]] and v["encoders.numeric.encode"] in ["plain", "ple"]
    assert 0.001 <= v["train.optimizer.learning_rate"] <= 0.1 and v["train.batch_size"] in range(20, 41)
    assert v["train.loss.class_weights"] in [None, "balanced"]
assert len({x["values"]["train.batch_size"] for x in r["trials"][1:]}) > 2
best = json.load(open("one_best.json"))
assert best["train"]["epochs"] == b["epochs"] and best["data"]["train"] == "../d.csv"
rows = list(csv.DictReader(open("t1.csv")))
assert float(rows[3]["logloss.low"]) < float(rows[3]["logloss"]) < float(rows[3]["logloss.high"])
assert rows[3]["model.hidden"].replace(" ", "") == json.dumps(r["trials"][3]["values"]["model.hidden"]).replace(" ", "")
PY
# one trial of the plan, alone
run dnn tune c.json --trial 3 -o three.json --json
is_exit 0 "trial 3 alone"
cp out three.out
by_python "draws what it draws in the search, and has all epochs" <<'PY'
import json
r, t = json.load(open("one.json")), json.load(open("three.out"))
assert t["best"]["trial"] == 3 and len(t["trials"]) == 1 and t["best"]["epochs"] == 18
assert t["best"]["values"] == r["trials"][3]["values"]
PY
run dnn check three.json
is_exit 0 "its config"
run dnn tune c.json --trial 0 --json
out_has '"values":{}' "trial 0 is the config as it is"

# --- stopped, killed, resumed ---
slow="--trials 7 --set train.epochs=900 --set train.early_stopping.patience=0 --threads 1"
# shellcheck disable=SC2086
dnn tune c.json $slow -o whole.json --trials-csv whole.csv -q
for signal in TERM KILL; do
    # shellcheck disable=SC2086
    "$DNN" tune c.json $slow -o cut.json --trials-csv cut.csv -q 2>err &
    pid=$!
    for ((i = 0; i < 500; i++)); do [ -e cut.json.journal ] && [ "$(wc -l <cut.json.journal)" -ge 4 ] && break; nap 10; done
    kill -$signal $pid
    wait $pid 2>/dev/null
    status=$?
    [ $signal = KILL ] || is $status 75 "SIGTERM: 75"
    [ $signal = KILL ] || err_has "trainings are kept in" "SIG$signal: the error says what is kept"
    [ -e cut.json.journal ] && [ ! -e cut.json ]
    ok $? "SIG$signal: the journal is there, no config"
    # shellcheck disable=SC2086
    run dnn tune c.json $slow -o cut.json --resume --set train.seed=1
    is_exit 76 "another seed"
    printf '{"trial":6,"sta' >>cut.json.journal
    [ $signal = TERM ] || sed -i '3s/"trained"/"tr\x01ined"/' cut.json.journal # and a damaged one in the middle
    # shellcheck disable=SC2086
    run dnn tune c.json $slow -o cut.json --trials-csv cut.csv --resume
    is_exit 0 "--resume goes on, behind a line that was cut off"
    err_has "trainings are finished" "from what is kept"
    err_has "its last line is cut off: a training of it is made again" "SIG$signal: the line that was cut off is named"
    [ $signal = TERM ] || err_has "1 of its lines are damaged: their trainings are made again" "SIG$signal: a damaged line is counted"
    same cut.json whole.json "the same config as without a stop"
    rm -f cut.json
done
printf '{"sch' | cat - /dev/zero | head -c 500 >cut.json.journal
run dnn tune c.json --trials 2 -o cut.json --resume --progress none
is_exit 0 "a journal of zeros, as a power cut leaves it, does not stop a search"
err_has 'cut.json.journal": its first line is damaged: the search starts afresh' "a journal of zeros: a warning"
rm -f cut.json
echo "my notes" >cut.json.journal
run dnn tune c.json --trials 2 -o cut.json --resume --progress none
is "$STATUS $(cat cut.json.journal)" "76 my notes" "a file of somebody's own stays"
rm -f cut.json.journal
# --- limits and errors ---
begun=$(now_ms)
run dnn tune c.json --set train.epochs=100000 --set train.early_stopping.patience=0 --time-limit 1 -o limit.json --json
took=$(($(now_ms) - begun))
is_exit 0 "a time limit"
out_has '"stopped":"time_limit"' "is said"
[ $took -lt 8000 ]
ok $? "the time limit is kept" "$took ms"
run dnn check limit.json
is_exit 0 "the best so far is written"
run dnn tune c.json --resume
is_exit 64 "--resume without -o"
run dnn tune c.json --trial 1 --trials 4
is_exit 64 "--trial with --trials"
run dnn tune c.json -o d.csv
is_exit 64 "the output is the input"
run dnn tune c.json -o x.json --trials-csv x.json
is_exit 64 "two outputs of one name"
run dnn tune c.json --set data.split.valid=0
is_exit 78 "no validation rows"
run dnn tune c.json --set 'ensemble.members=[{"name": "A"}]'
is_exit 78 "members of an ensemble"
bad() { # bad SPACE NAME WORDS
    run dnn tune c.json --trials 4 --set "tune.space=$1"
    is_exit 64 "$2"
    err_has "$3" "$2: $3"
    grep '^dnn: error' err >searched
    for config in c.json init.json; do
        run dnn check $config --set "tune.space=$1"
        is_exit 64 "check of $config: $2"
        grep '^dnn: error' err >checked
        same searched checked "the same words"
    done
}
dnn init d.csv --target y -o init.json --quiet
bad '{"model.hiden": [[3]]}' "an unknown key of the model" '--set tune.space: trial 1, {"model.hiden":[3]}: unknown key'
bad '{"model.dropout": {"low": 0.5, "high": 0.1}}' "a low above its high" 'needs a "low" and a "high" above it'
bad '{"model.l1": []}' "no values" "neither a list of values nor a range"
bad '{"data": [1]}' "a group" "is no key of model, train or encoders"
err_has "a search varies the network and its training" "why it cannot vary"
err_lacks "did you mean" "a known group is not proposed for itself"
bad '{"data.target": ["y"]}' "a key of the data" "data.target"
bad '{"train.epoch": [1]}' "an unknown key" "unknown"
bad '{"model.dropout": {"low": 1}}' "half a range" "needs a"
bad '{"model.dropout": {"low": 0, "high": 0.5, "log": true}}' "a range of ratios from 0" "log"
bad '{"model.dropout": {"low": 0, "hihg": 1}}' "a word of no range" "is not a range"
bad '{"model.dropout": 0.1}' "one value" "neither a list"
bad '3' "no object" "is an object of keys"
run dnn tune c.json --trials 4 --set 'tune.space={"model.dropout": [2]}'
err_has "trial 1" "a value out of range: the trial"
sed 's/"tune":.*$/"tune": {\n "space": {"model.dropout": [2]}}}/' c.json | sed '/"train.batch_size": {"low": 20/d' >wrong.json
for command in tune check; do
    run dnn $command wrong.json
    is_exit 78 "$command: the same in the file"
    err_has "wrong.json:$(grep -n '"space"' wrong.json | cut -d: -f1):" "$command: the place of the space is named"
done
dnn init d.csv --target y -o auto.json --quiet
run dnn tune auto.json --trials 2 --set train.epochs=2 -o alone.json
is_exit 0 "the config of init, preset auto: a search of its one network"
is "$(grep -c '"preset": "mlp"' alone.json)" 1 "preset auto: the best config names the one network"
err_has "preset auto is a list of networks; tune searches one network, preset mlp" "preset auto: a note says which network is searched"
err_has "preset auto was not tried and may be better" "at the end, what was not tried"
run dnn tune auto.json --trial 0 --set train.epochs=2
err_has "best parameters: {} (no key is changed)" "trial 0 changes no key"
run dnn tune c.json --trials 1 --set train.epochs=2 --set ensemble.folds=3 -o folds.json
is_exit 0
err_has "a trial is one network, trained on the training rows of the split; ensemble.folds 3 is for" "an ensemble: what is searched"
err_lacks "preset auto" "without a word of auto"
make_data v.csv 200 value
make_config v.json v.csv regression '"epochs": 3' '"backend": {"name": "dnn_cpu"}, "model": {"layers": [{"type": "dense", "units": 8}]}'
sed -i 's/ "model": {"preset": "mlp", "hidden": \[16, 8\]},//' v.json
run dnn tune v.json --trials 3 --trials-csv v.out --json
is_exit 0 "a regression, of layers, by the common space"
out_has '"metric":"rmse"' "its metric"
! grep -q class_weights out
after_exit $? "without class weights"
done_testing
