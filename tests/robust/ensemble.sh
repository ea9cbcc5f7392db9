#!/bin/bash
# ensemble.sh - runs of an ensemble: the same bytes side by side, one after another, in parts, and after a kill.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 1500
by_python() { # by_python NAME <<SCRIPT
    if command -v python3 >/dev/null; then check "$1" python3 -; else skip "$1" "no python3"; fi
}
members='{"name": "A"}, {"name": "B", "model": {"hidden": [24]}, "train": {"optimizer": {"learning_rate": 0.01}}},
  {"name": "C", "model": {"hidden": []}, "train": {"epochs": 2}}'
ensemble() { # FILE ENSEMBLE [TASK [DATA [EPOCHS]]]
    make_config "$1" "${4:-d.csv}" "${3:-binary}" "\"epochs\": ${5:-12}, \"early_stopping\": {\"patience\": 3}" \
        "\"ensemble\": {$2}, \"backend\": {\"name\": \"dnn_cpu\"}"
}
ensemble c.json "\"folds\": 3, \"members\": [$members]"
run dnn train c.json -o one.dnn --threads 1 --json
is_exit 0 "nine runs, one after another"
cp out one.json
want=$(digest one.dnn)
no_leftovers one.dnn "nothing is left beside the model"
for threads in 2 3; do
    run dnn train c.json -o side.dnn --threads $threads --progress none
    is "$(digest side.dnn)" "$want" "the same bytes by $threads threads"
done
by_python "members, weights and out-of-fold metrics are in the JSON" <<'EOF'
import json
r = json.load(open("one.json"))
m = r["members"]
assert [x["name"] for x in m] == ["A", "B", "C"], m
assert abs(sum(x["weight"] for x in m) - 1) < 1e-9 and all(x["folds"] == 3 for x in m)
assert min(x["valid"]["logloss"] for x in m) >= r["valid"]["logloss"] - 1e-12
assert r["rows"]["train"] == 1275 and r["rows"]["valid"] == 0 and r["rows"]["test"] == 225
assert r["valid"]["logloss"] < 0.69 and r["test"]["auc"] > 0.8, r
EOF
run dnn verify side.dnn
is_exit 0 "its golden rows agree"
run dnn predict side.dnn d.csv -o p.csv
is "$(wc -l <p.csv)" 1501 "it answers every row"
run dnn inspect side.dnn
out_has "weight" "inspect lists the members"

run dnn predict side.dnn d.csv -o u.csv --uncertainty
is_exit 0 "predict --uncertainty of an ensemble"
cut -d, -f1-3 u.csv >cut.csv
same p.csv cut.csv "a last column, the others as before"
awk -F, 'NR == 1 && $4 != "uncertainty" {exit 1} NR > 1 {if ($4 < 0 || $4 > 0.5) exit 1; sum += $4}
    END {exit !(sum > 0)}' u.csv
ok $? "of standard deviations"

run dnn check c.json --json
is_exit 0 "check"
cp out plan.out
by_python "lists the runs" <<'EOF'
import json
plan = json.load(open("plan.out"))
runs = plan["runs"]
assert [r["run"] for r in runs] == list(range(9)) and [r["fold"] for r in runs] == [0, 1, 2] * 3, runs
assert [r["member"] for r in runs] == ["A"] * 3 + ["B"] * 3 + ["C"] * 3
assert all(r["seconds"] > 0 and r["host_bytes"] > 0 for r in runs) and runs[6]["seconds"] < runs[0]["seconds"], runs
alone = sum(r["seconds"] for r in runs)
assert abs(plan["runs_seconds"] - alone) < 1e-9 * alone, plan
threads = min(9, plan["backend"]["threads"])
assert alone / threads < plan["seconds"] and (threads == 1 or max(r["seconds"] for r in runs) < plan["seconds"]), plan
EOF
make_data wide.csv 6000
make_config wide.json wide.csv binary '"epochs": 1' '"ensemble": {"folds": 4, "members": [{"name": "a"}, {"name": "b",
    "model": {"hidden": [512, 256]}}]}, "backend": {"name": "dnn_cpu"}'
# a run after another: the memory of a finished one serves the next, or leaves the process
make_data few.csv 800 value
make_config few.json few.csv regression '"epochs": 3' '"ensemble": {"folds": 5, "members": [{"name": "a"}, {"name": "b",
    "model": {"preset": "realmlp"}},
  {"name": "c", "model": {"preset": "tabm"}}]}, "backend": {"name": "dnn_cpu"}'
for of in wide few; do
    if sanitized; then
        skip "the memory of all runs, $of" "a sanitizer takes its own"
        continue
    fi
    dnn check $of.json --json -q >plan.out
    dnn train $of.json -o $of.dnn --json -q >trained.out
    by_python "the memory of all runs within 25 %, $of" <<'EOF'
import json
said, took = (json.load(open(f))["memory"] for f in ("plan.out", "trained.out"))
share = said["host_bytes"] / took["host_peak_bytes"]
assert 0.75 < share < 1.25 and abs(sum(said["by_kind"].values()) - said["host_bytes"]) < 1, (said, took)
EOF
done
run dnn check c.json
out_has "networks    9: 3 members in 3 folds each" "in words too"
out_has " in 9 networks" "check names the parameters of all networks"
is "$(grep -cE '^  [A-Za-z0-9_"\ -]+ +[0-9]+ +[0-9.e-]+$' out)" 3 "check has a line for each member"

# --- parts ---
for i in 0 1 2 3 4 5 6 7 8; do dnn train c.json --run $i -o part$i -q --threads $((1 + i % 2)) || break; done
run dnn merge c.json part* -o merged.dnn
is_exit 0 "nine parts are merged"
err_has "member   " "merge tells the members and their scores"
is "$(digest merged.dnn)" "$want" "the same bytes as one training"
run dnn merge c.json part8 part[0-7] -o merged.dnn
is "$(digest merged.dnn)" "$want" "in any order"
run dnn merge c.json part[0-7] -o none.dnn
is_exit 64 "a part is missing"
err_has "run 8 is missing" "a part is missing: the error says which one"
run dnn merge c.json part* part3 -o none.dnn
is_exit 64 "a part is there twice"
run dnn merge c.json part* -o none.dnn --set train.epochs=11
is_exit 76 "parts of another config"
err_has "train.epochs" "parts of another config: the key is named"
sed '$d' d.csv >less.csv
dnn train c.json --run 3 -o other -q --set data.train=less.csv
run dnn merge c.json part[0-2] other part[4-8] -o none.dnn
is_exit 76 "a part of other data"
run dnn merge c.json one.dnn -o none.dnn
is_exit 76 "a model is no part"
head -c 3000 part0 >torn
run dnn merge c.json torn part[1-8] -o none.dnn
is_exit 76 "a damaged part"
run dnn merge c.json part* -o part3
is_exit 64 "the output is a part"
run dnn train c.json --run 9 -o x
is_exit 64 "there is no run 9"
run dnn train c.json --run 1 --set ensemble=null -o x
is_exit 64 "--run without an ensemble"
run dnn train c.json --run 1
is_exit 64 "--run without a name for the part"
cp one.dnn kept.dnn
run dnn train c.json --run 1 -o kept.dnn -q
{ [ "$STATUS" -eq 73 ] && cmp -s one.dnn kept.dnn; }
ok $? "a part does not replace a model" "$(cat err)"
cp part1 kept
run dnn train c.json -o kept -q
{ [ "$STATUS" -eq 73 ] && cmp -s part1 kept; }
ok $? "a model does not replace a part" "$(cat err)"
[ ! -e none.dnn ] && [ ! -e x ]
ok $? "nothing was written"
run dnn predict part0 d.csv
is_exit 76 "a part answers nothing"
err_has "dnn merge" "a part answers nothing: the error says what makes a model of it"

# --- what stands at the names of the runs ---
mkdir there.dnn.ckpt-run-4
printf 'precious\n' >there.dnn.ckpt-run-44
met() { # NAME WHAT COMMAND...
    run "${@:3}"
    is_exit 73 "$2: what is no run is met at the start"
    err_has "there.dnn.ckpt-run-$1: a run of the ensemble is to be kept there" "by its name"
}
met 4 "train" dnn train c.json -o there.dnn
met 4 "check" dnn check c.json --set output.model=there.dnn
rmdir there.dnn.ckpt-run-4
met 44 "train" dnn train c.json -o there.dnn
met 44 "preset auto" dnn train c.json -o there.dnn --set ensemble=null --set 'model={"preset":"auto"}'
is "$(cat there.dnn.ckpt-run-44)" precious "it is untouched"
rm there.dnn.ckpt-run-44

# --- stopped and killed ---
ensemble long.json "\"folds\": 3, \"members\": [$members]" binary d.csv 150
still="--set train.early_stopping.patience=0"
# shellcheck disable=SC2086
run dnn train long.json -o whole.dnn --progress none $still
want=$(digest whole.dnn)
for signal in TERM KILL; do
    # shellcheck disable=SC2086
    "$DNN" train long.json -o cut.dnn -q --threads 1 $still 2>err &
    pid=$!
    for ((i = 0; i < 400; i++)); do [ -e cut.dnn.ckpt-run-1 ] && break; nap 10; done
    kill -$signal $pid
    wait $pid 2>/dev/null
    status=$?
    [ $signal = KILL ] || is $status 75 "SIGTERM: 75"
    [ $signal = KILL ] || err_has "runs are finished and kept" "SIG$signal: the error says which runs are kept"
    [ ! -e cut.dnn ] && [ -e cut.dnn.ckpt-run-0 ]
    ok $? "SIG$signal: finished runs are in files, no model"
    before=$(digest cut.dnn.ckpt-run-0)
    # shellcheck disable=SC2086
    run dnn train long.json -o cut.dnn --resume $still --set train.epochs=9
    is_exit 76 "SIG$signal: not resumed by another config"
    is "$(digest cut.dnn.ckpt-run-0)" "$before" "SIG$signal: another config leaves the kept run as it was"
    # shellcheck disable=SC2086
    run dnn train long.json -o cut.dnn --resume --threads 2 --verbose $still
    is_exit 0 "SIG$signal: --resume"
    err_has "runs are finished" "says how many are finished"
    err_lacks "run 0, member" "SIG$signal: --resume does not train finished runs again"
    is "$(digest cut.dnn)" "$want" "SIG$signal: the same bytes"
    no_leftovers cut.dnn "SIG$signal: the files of the runs are gone"
    rm -f cut.dnn
done
# what a power cut or a bad disk leaves of them
head -c 40 part0 | tr 'f' 'X' >cut.dnn.ckpt-run-2
: >cut.dnn.ckpt-run-0
head -c 2000 /dev/zero >cut.dnn.ckpt-run-1
# shellcheck disable=SC2086
run dnn train long.json -o cut.dnn --resume --progress none $still
is_exit 0 "damaged files of runs do not stop a resume"
for i in 0 1 2; do err_has "warning: \"cut.dnn.ckpt-run-$i\" is passed over, and its run is trained again" "run $i is named"; done
is "$(digest cut.dnn)" "$want" "damaged files of runs: the model has the same bytes"
no_leftovers cut.dnn "damaged files of runs: nothing is left of them"
rm -f cut.dnn
# the time limit counts over resumes: what the first process spent is spent
# shellcheck disable=SC2086
"$DNN" train long.json -o cut.dnn -q --threads 1 $still 2>err &
pid=$!
for ((i = 0; i < 400; i++)); do [ -e cut.dnn.ckpt-run-1 ] && break; nap 10; done
kill -KILL $pid
wait $pid 2>/dev/null
kept=$(ls cut.dnn.ckpt-run-* | wc -l)
# shellcheck disable=SC2086
run dnn train long.json -o cut.dnn --resume --time-limit 0.001 --json --verbose $still
is_exit 0 "a resumed ensemble whose time is spent"
out_has '"stopped":"time_limit"' "ends"
ok "$(grep -q 'run [0-9]*, member' err; [ $? = 1 ]; echo $?)" "a resumed ensemble whose time is spent begins no run" "$(cat err)"
err_has "$kept runs, " "the model has the finished runs"
rm -f cut.dnn
# shellcheck disable=SC2086
run dnn train long.json -o timed.dnn --time-limit 0.3 --threads 1 --json $still --set train.epochs=4000
is_exit 0 "the time limit ends an ensemble"
out_has '"stopped":"time_limit"' "the summary says that the time limit ended the ensemble"
run dnn verify timed.dnn
is_exit 0 "the time limit ends an ensemble: the model is whole"

# --- other tasks, other folds ---
make_data v.csv 600 value
ensemble v.json '"folds": 2, "select": "mean", "members": [{"name": "A"}, {"name": "B"}]' regression v.csv
run dnn train v.json -o v.dnn --json --require 'rmse<20'
is_exit 0 "regression, the mean of the members, a gate"
cp out v.out
by_python "equal weights, and members of one recipe differ by their names" <<'EOF'
import json
m = json.load(open("v.out"))["members"]
assert [x["weight"] for x in m] == [.5, .5] and m[0]["valid"]["rmse"] != m[1]["valid"]["rmse"], m
for x in m:
    for name, (low, high) in x["valid_intervals"].items():
        assert low < x["valid"][name] < high, x
EOF
run dnn predict v.dnn v.csv --uncertainty --on-bad-row null --null NONE
awk -F, 'NF != 2 || (NR > 1 && !($2 > 0))' out >wrong
is "$(cat wrong)" "" "the uncertainty of values"
run dnn train v.json -o v.dnn --require 'rmse<0.001'
is_exit 82 "a gate that is not met"
make_data m.csv 900 multi
ensemble m.json '"folds": 4' multiclass m.csv
run dnn train m.json -o m.dnn --progress none
is_exit 0 "folds of the config itself"
run dnn predict m.dnn m.csv -o p.csv
is_exit 0 "answers"
ensemble s.json '"members": [{"name": "A"}, {"name": "B", "model": {"hidden": [4]}}]'
run dnn train s.json -o s.dnn --progress none --json
is_exit 0 "members without folds: one run each, on the split"
out_has '"rows":{"train":1050,"valid":225,"test":225}' "members without folds have the validation rows of the split"
run dnn train s.json -o s.dnn --set data.split.valid=0
is_exit 78 "members without folds need validation rows"
for method in group time hash random; do
    awk -v m=$method 'NR == 1 {print $0 ",g"} NR > 1 && m != "time" {print $0 "," int(NR / 9)}
        NR > 1 && m == "time" {printf "%s,2024-01-%02d\n", $0, 1 + NR / 60}' d.csv >g.csv
    case $method in group) type=group ;; time) type=datetime ;; hash) type=id ;; *) type=numeric ;; esac
    ensemble g.json '"folds": 3' binary g.csv 3
    sed -i "s/\"c\": \"cat/\"g\": \"$type\", &/" g.json
    run dnn train g.json -o g.dnn --progress none --set data.split.method=$method
    is_exit 0 "folds by $method"
done
# --- a useless ensemble ---
awk 'BEGIN {srand(3); print "a,b,c,y"; for (i = 0; i < 600; i++) print rand() "," rand() ",x," (rand() < 0.5)}' >n.csv
ensemble n.json '"folds": 2' binary n.csv 30
run dnn train n.json -o one.dnn --progress none --set train.optimizer.learning_rate=0.5 --set train.epochs=1
is_exit 82 "no better than a constant on the rows left out: the model that is there stays"
run dnn train n.json -o n.dnn --progress none --set train.optimizer.learning_rate=0.5 --set train.epochs=1
is_exit 0 "where none is, it is written"
err_has "no better than a constant answer" "no better than a constant: a warning"

# --- the config ---
refused() { # ENSEMBLE CODE WORDS NAME
    ensemble bad.json "$1"
    run dnn train bad.json -o bad.dnn
    is_exit "$2" "$4"
    err_has "$3" "$4: $3"
}
refused '"folds": 1' 78 "ensemble.folds" "one fold"
refused '"folds": 101' 78 "ensemble.folds" "too many folds"
refused '"folds": 2, "members": [{"name": "A"}, {"name": "A"}]' 78 "have the name" "two of a name"
refused '"folds": 2, "members": [{"name": "A", "data": {}}]' 78 "cannot be set in a member" "a key that no member has"
refused '"folds": 2, "members": [{"name": "A", "epoch": 3}]' 78 'unknown key "epoch"' "a key that nothing has"
err_lacks 'did you mean `epoch`' "the unknown key is not proposed for itself"
refused '"folds": 2, "members": [{"name": "A", "train": {"epoch": 3}}]' 78 'member "A"' "an error inside a member"
refused '"folds": 2, "members": [{"encoders": {"numeric": {"bin": 3}}}]' 78 'member "member-0"' "an error in a member's encoders"
ensemble k.json '"folds": 2, "select": "mean", "members": [{"name": "A"}, {"name": "B", "encoders": {"numeric": {"encode": "ple",
    "bins": 8}}}]'
run dnn train k.json -o k1.dnn --progress none --threads 1
is_exit 0 "members with encoders of their own"
for i in 0 1 2 3; do dnn train k.json --run $i -o k$i -q; done
run dnn merge k.json k0 k1 k2 k3 -o k2.dnn
same k1.dnn k2.dnn "merged: the same bytes"
run dnn verify k1.dnn
is_exit 0 "its golden rows agree"
refused '"folds": 2, "members": ["A"]' 78 "is an object" "a member that is no object"
refused '"folds": 2, "members": {}' 78 "is a list" "members that are no list"
refused '"folds": 2, "select": "best"' 78 "ensemble.select" "a word that is none"
# a part of other rows under the hash of these data, made right again
if command -v python3 >/dev/null; then
    make_data e.csv 900
    ensemble f.json '"folds": 2'
    cp d.csv keep.csv
    run dnn train f.json --run 0 -o f0 -q
    cp e.csv d.csv
    run dnn train f.json --run 1 -o f1 -q
    cp keep.csv d.csv
    python3 - <<'EOF'
import hashlib, re
a, b = open("f0", "rb").read(), open("f1", "rb").read()
data = re.compile(rb'"data":"([0-9a-f]{64})"')
b = b.replace(data.search(b).group(1), data.search(a).group(1))
at = b.index(b'"sha256":"') + 10
b = b[:at] + b"0" * 64 + b[at + 64:]
open("f1", "wb").write(b[:at] + hashlib.sha256(b).hexdigest().encode() + b[at + 64:])
EOF
    run dnn merge f.json f0 f1 -o f.dnn
    is_exit 76 "a part of other rows under the same hash"
    err_has "holds other rows" "a part of other rows under the same hash: the reason"
else
    skip "a part of other rows under the same hash" "no python3"
fi
done_testing
