#!/bin/bash
# cv.sh - cross-validation: each row is answered once, by the fold that left it out; the same bytes for any number of threads.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 600
awk -F, 'NR == 1 {print "id," $0; next} {print "r" NR ",", $0}' d.csv | tr -d ' ' >ids.csv
make_config c.json ids.csv binary '"epochs": 8' '"backend": {"name": "dnn_cpu"}'
sed -i 's/"columns": {/"columns": {"id": "id", /' c.json
run dnn cv c.json --folds 4 -o oof.csv --json --threads 1
is_exit 0 "four folds"
cp out one.json
is "$(head -1 oof.csv)" "id,fold,prediction,probability_0,probability_1" "ids, fold, and the columns of predict"
is "$(cut -d, -f1 oof.csv | tail -n +2)" "$(cut -d, -f1 ids.csv | tail -n +2)" "a line for each row, in order"
is "$(cut -d, -f2 oof.csv | tail -n +2 | sort | uniq -c | awk '{print $2 ":" $1}' | tr '\n' ' ')" "0:150 1:150 2:150 3:150 " \
    "each row is in one fold"
err_has "pooled" "the summary"
err_has "+-" "the summary has standard errors"
run dnn cv c.json --folds 4 -o side.csv --threads 3 -q
is "$(digest side.csv)" "$(digest oof.csv)" "the same bytes side by side"
check_python() { if command -v python3 >/dev/null; then check "$1" python3 -; else skip "$1" "no python3"; fi; }
check_python "folds, pooled metrics and standard errors agree with the answers" <<'PY'
import csv, json, math
r = json.load(open("one.json"))
assert r["schema"] == "dnn.cv/1" and r["rows"] == 600 and len(r["folds"]) == 4
truth = [row["y"] for row in csv.DictReader(open("ids.csv"))]
rows = list(csv.DictReader(open("oof.csv")))
def right(fold): 
    hits = [row["prediction"] == y for row, y in zip(rows, truth) if fold is None or row["fold"] == str(fold)]
    return sum(hits) / len(hits)
for f in r["folds"]:
    assert abs(f["metrics"]["accuracy"] - right(f["fold"])) < 1e-9
    for name, (low, high) in f["intervals"].items():
        assert low < f["metrics"][name] < high, (name, f)
    assert f["rows"] == {"train": 382, "valid": 68, "test": 150} or sum(f["rows"].values()) == 600, f["rows"]
    assert f["rows"]["test"] == 150 and 60 <= f["rows"]["valid"] <= 75
assert abs(r["pooled"]["accuracy"] - right(None)) < 1e-9
of = [f["metrics"]["logloss"] for f in r["folds"]]
mean = sum(of) / 4
error = math.sqrt(sum((x - mean) ** 2 for x in of) / 3 / 4)
assert abs(error - r["standard_error"]["logloss"]) < 1e-9
assert r["pooled"]["auc"] > 0.6, r["pooled"]
def width(of, name): return of[name][1] - of[name][0]
assert r["pooled_intervals"].keys() == r["pooled"].keys()
assert 0.4 < width(r["pooled_intervals"], "auc") / width(r["folds"][0]["intervals"], "auc") < 0.6 # four times the rows
PY
# a fold is the job of the config on the other rows: training on them with a split by column gives the same answers
awk -F, 'NR == FNR {fold[$1] = $2; next} FNR == 1 {print $0 ",part"; next} {print $0 "," (fold[$1] == 2 ? "test" : "train")}' \
    oof.csv ids.csv >part.csv
sed 's/"ids.csv"/"part.csv"/; s/"columns": {/"split": {"method": "column", "column": "part"}, &/' c.json >part.json
run dnn train part.json -o part.dnn -q
is_exit 0 "a training on the rows of one fold"
run dnn cv c.json --folds 4 -o novalid.csv -q --set data.split.valid=0
is_exit 0 "without validation rows"
dnn predict part.dnn part.csv -o p.csv -q
awk -F, 'NR > 1 && $2 == 2 {print $1 "," $3 "," $4 "," $5}' novalid.csv >want
awk -F, 'NR == FNR {if ($2 == 2) in_fold[$1] = 1; next} in_fold[$1]' novalid.csv p.csv >got
same got want "it gives the answers of that fold, bit for bit"

# --- an ensemble inside; groups; time; parts of their own ---
run dnn cv c.json --folds 2 --set ensemble.folds=2 --set train.epochs=3 -o e1.csv --threads 1 --json
is_exit 0 "an ensemble in each fold"
out_has '"runs":2' "of two runs"
run dnn cv c.json --folds 2 --set ensemble.folds=2 --set train.epochs=3 -o e2.csv --threads 2 -q
same e1.csv e2.csv "the same bytes by two threads"
run dnn cv c.json --folds 3 --set train.epochs=1 --set data.split.method=group --set data.split.column=c -o g.csv -q
is_exit 0 "by group"
is "$(paste -d, g.csv ids.csv | awk -F, 'NR > 1 {print $2, $9}' | sort -u | awk '{print $2}' | sort | uniq -d)" "" "a group is in one fold"
run dnn cv c.json --folds 3 --set train.epochs=1 --set data.split.method=time --set data.split.column=a -o t.csv -q
is_exit 0 "by time"
is "$(awk -F, 'NR > 1 && $2 == ""' t.csv | wc -l)" 300 "the early half is answered by no fold"
is "$(awk -F, 'NR > 1 && $2 == ""' t.csv | head -1 | cut -d, -f2-)" ",,," "its lines have the ids alone"
head -101 ids.csv >test.csv
run dnn cv c.json --folds 2 --set train.epochs=1 --set data.test=test.csv -o sep.csv --json
is_exit 0 "a separate test file"
is "$(wc -l <sep.csv)" 601 "is not part of it"
make_data v.csv 300 value
make_config v.json v.csv regression '"epochs": 4' '"backend": {"name": "dnn_cpu"}'
run dnn cv v.json --folds 3 -o v.out --json
is_exit 0 "a regression"
is "$(head -1 v.out)" "fold,prediction" "without ids"
out_has '"rmse"' "its metrics"

# --- errors and signals ---
run dnn cv c.json --folds 1
is_exit 64 "one fold"
run dnn cv c.json --folds 90 --set data.split.method=group --set data.split.column=c
is_exit 65 "more folds than groups"
err_has "--folds" "more folds than groups: the error names the option"
run dnn cv c.json -o ids.csv
is_exit 64 "the output is the input"
run dnn cv c.json -o c.json
is_exit 64 "or the config"
run dnn cv c.json -o - --json
is_exit 64 "two things on standard output"
mkfifo pipe
run dnn cv c.json -o x.csv --set data.train=pipe
is_exit 64 "a pipe cannot be read twice"
sed '1s/^id/fold/' ids.csv >fold.csv
sed 's/"id": "id"/"fold": "id"/; s/ids.csv/fold.csv/' c.json >fold.json
run dnn cv fold.json --folds 2 --set train.epochs=1 -o x.csv
is_exit 78 "an id of the name fold"
[ ! -e x.csv ]
ok $? "nothing was written"
"$DNN" cv c.json --set train.epochs=100000 --set train.early_stopping.patience=0 -o x.csv -q 2>err &
pid=$!
nap 700
kill -TERM $pid
wait $pid
is $? 75 "SIGTERM: 75"
err_has "nothing of a cross-validation is kept" "SIGTERM: the error says that nothing is kept"
[ ! -e x.csv ]
ok $? "nothing was written"
done_testing
