#!/bin/bash
# target_statistics.sh - encoders.target_statistics from config to answers: no row's own target reaches its input, answers use the
# statistics of all training rows, and the same bytes on any number of threads and after a stop.
. "$(dirname "$0")/../tap.sh"
field() {
    perl -0777 -ne 'use strict;
        my ($path) = "'"$1"'"; my $v = $_;
        for my $k (split /\./, $path) { $v =~ s/.*?"$k":\s*//s or die }
        $v =~ /^"?([-+.\w]+)/ and print $1' \
        "${2:-out}"
}
within() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x <= high) }'; }
config() { # FILE DATA TASK TARGET COLUMNS [MORE]
    cat >"$1" <<JSON
{"task": "$3", "data": {"train": "$2", "target": "$4", "columns": {$5}${6:-}}, "model": {"preset": "mlp", "hidden": [16]},
 "encoders": {"target_statistics": {}}, "train": {"epochs": 12, "batch_size": 64, "optimizer": {"learning_rate": 0.01}},
 "backend": {"name": "dnn_cpu"}}
JSON
}
# --- a random target and 5,000 categories of one row each ---
awk 'BEGIN { seed = 5; print "c,d,y"; for (i = 0; i < 5000; i++) { seed = (seed * 16807) % 2147483647; y = seed % 1000 < 500;
    seed = (seed * 16807) % 2147483647
    print "k" i ",u" i "," y } }' >noise.csv
config noise.json noise.csv binary y '"c": {"type": "categorical", "encode": "target"}, "d": "categorical"'
run dnn train noise.json -o noise.dnn --json --set 'output.metrics=noise.jsonl'
is_exit 0 "a random target and 5,000 categories of one row"
within "$(field valid.auc)" 0.44 0.56
ok $? "validation AUC is chance" "$(field valid.auc)"
loss=$(tail -n 1 noise.jsonl | perl -ne '/"train":\{"loss":([0-9.e+-]+)/ and print $1')
within "$loss" 0.688 0.70
ok $? "the training loss stays at the constant's" "$loss"
# --- tables of every task ---
awk 'BEGIN { seed = 9; print "id,a,b,n,t,g,two,three,twelve,value"; for (i = 0; i < 900; i++) {
    for (k = 0; k < 6; k++) { seed = (seed * 16807) % 2147483647; r[k] = seed % 9973 }
    a = r[0] % 30; b = r[1] % 5; n = r[2] % 12; s = (a % 3 == b % 3) + (n % 4 == 1) + r[3] % 2
    printf "%d,%s,%s,%s,2024-01-%02d,g%d,%s,%s,L%d,%.2f\n", i, a ? "a" a : "", "b" b, n ? n / 4 : "", 1 + i % 28, int(i / 4),
        (s > 1) ? "yes" : "no", (s > 2) ? "x" : (s > 1) ? "y" : "z", (a + s) % 12, s * 3 + r[4] % 100 / 40 } }' >d.csv
columns='"id": "id", "a": "categorical", "b": "categorical", "n": "numeric"'
answers() { # NAME CONFIG
    rm -f m.dnn
    run dnn train "$2" -o m.dnn --json
    is_exit 0 "$1: trained"
    run dnn verify m.dnn
    is_exit 0 "$1: the golden rows are answered by the same bits"
    run dnn predict m.dnn d.csv -o p.csv
    is_exit 0 "$1: answers the training file"
    for threads in 2 3; do
        dnn train "$2" -o "t$threads.dnn" --threads $threads --quiet 2>/dev/null
        same m.dnn t$threads.dnn "$1: the same model with $threads threads"
    done
}
for task in "binary two" "multiclass three" "multiclass twelve" "regression value"; do
    read -r kind target <<<"$task"
    config c.json d.csv "$kind" "$target" "$columns"
    answers "$target" c.json
done
config c.json d.csv binary two "$columns, \"g\": \"group\"" ', "split": {"method": "group"}'
answers "groups" c.json
config c.json d.csv binary two "$columns, \"t\": \"datetime\"" ', "split": {"method": "time"}'
answers "times" c.json
run dnn inspect m.dnn --json
out_has '"target_statistics":[{"columns":["a"],"entries":' "inspect lists the keys"
out_has '"columns":["a","b"]' "inspect lists the pairs"
# members with statistics of their own folds, and one without any
config c.json d.csv binary two "$columns"
perl \
    -pi \
    -e \
    's/"backend"/"ensemble": {"folds": 2, "select": "mean", "members": [{"name": "with"}, {"name": "without", "encoders": {"target_statistics": null}}]}, "backend"/' \
    c.json
answers "an ensemble" c.json
# an answer looks up what was learned: a row alone, in another order, with unseen and missing values
config c.json d.csv binary two "$columns"
rm -f m.dnn
dnn train c.json -o m.dnn --quiet 2>/dev/null
printf 'id,a,b,n\n1,never,b1,77\n2,,,\n3,a4,b9,0.25\n' >new.csv
run dnn predict m.dnn new.csv -o new.out
is_exit 0 "unseen and missing keys are answered"
sed -n '1p;4p' new.csv >one.csv
dnn predict m.dnn one.csv -o one.out --quiet 2>/dev/null
is "$(tail -n 1 one.out)" "$(tail -n 1 new.out)" "a row is answered by itself"
# --- options ---
config c.json d.csv binary two '"a": {"type": "categorical", "encode": "target"}, "b": {"type": "categorical", "encode": "count"},
    "n": "numeric"'
dnn train c.json --set encoders.target_statistics=null -o own.dnn --quiet 2>/dev/null
is "$(dnn inspect own.dnn --json | grep -o '"target_statistics":.*' | grep -o '"columns":\[' | wc -l)" 2 \
    "encode target and count make keys of their columns alone"
run dnn train c.json -o x.dnn --set 'encoders.target_statistics.columns=["b","nothing"]'
is_exit 78 "a column that is no key"
err_has '"nothing" is no categorical or numeric column'
dnn check c.json --resolved 2>/dev/null | tr -d ' \n' >out
out_has '"target_statistics":{"columns":"auto","pairs":16,"prior":10,"folds":5,"counts":true}' "check --resolved spells the defaults out"
run dnn check c.json --resolved --set encoders.target_statistics=null
out_has '"target_statistics": null' "check --resolved spells null out"
# --- many names: min_count auto ---
awk 'BEGIN { seed = 4; print "s,few,y"; for (i = 0; i < 3000; i++) { seed = (seed * 16807) % 2147483647;
    print "s" (i % 10 ? seed % 1500 : 7) ",f" seed % 7 "," (seed % 7 < 3) } }' >names.csv
config n.json names.csv binary y '"s": "categorical", "few": "categorical"'
dnn train n.json --set encoders.target_statistics=null -o n.dnn --quiet 2>/dev/null
dnn inspect n.dnn --json >out
is "$(grep -o '"min_count":[0-9][0-9]*' out | tr '\n' ' ')" '"min_count":22 "min_count":1 ' \
    "min_count auto: names of a row or two are unknown, few values stay"
# --- stopped and resumed ---
config r.json d.csv binary two "$columns"
dnn train r.json -o whole.dnn --quiet --set train.epochs=30 --set train.early_stopping.patience=0 \
    --set train.checkpoint.every_s=0 2>/dev/null
run dnn train r.json -o part.dnn --quiet --set train.epochs=30 --set train.early_stopping.patience=0 --set train.checkpoint.every_s=0 &
for _ in $(seq 200); do compgen -G 'part.dnn.ckpt-*' >/dev/null && break; sleep 0.02; done
pkill -TERM -P $! 2>/dev/null
wait
run dnn train r.json -o part.dnn --quiet --resume --set train.epochs=30 --set train.early_stopping.patience=0 \
    --set train.checkpoint.every_s=0
is_exit 0 "resumed"
same whole.dnn part.dnn "a training that was stopped ends in the same bytes"
dnn init d.csv --target two --set model.preset=mlp --force --quiet -o e.json 2>/dev/null
dnn train e.json -o e.dnn --quiet --set train.epochs=2 \
    --set 'ensemble={"folds": 2, "select": "mean", "members": [{"name": "plain"}, {"name": "keys", "encoders": {"target_statistics": {}}}]}'
is "$(grep -ao '"encoders.[0-9].statistics.keys"' e.dnn | sort | tr '\n' ' ')" \
    '"encoders.2.statistics.keys" "encoders.3.statistics.keys" ' "one member of an ensemble has statistics, the other has none"
done_testing
