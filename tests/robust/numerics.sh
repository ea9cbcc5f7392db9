#!/bin/bash
# numerics.sh - data and settings that break arithmetic: each has a defined result. Ids: N01 N02 N03 N04 N05 N06 N07 N08 N09 N10
# N11 N12 N14.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 600
make_data v.csv 600 value
cpu='"backend": {"name": "dnn_cpu", "threads": 1}'
make_config c.json d.csv binary '"epochs": 3' "$cpu"
make_config v.json v.csv regression '"epochs": 30' "$cpu"
sgd='train.optimizer={"type":"sgd","learning_rate":20,"momentum":0.9}'

run dnn train v.json -o m.dnn --set train.epochs=2
is_exit 0 "a model from before"
before=$(digest m.dnn)
run dnn train v.json -o m.dnn --set "$sgd" --set train.checkpoint.every_s=0
is_exit 80 "N01 a learning rate that blows up: 80"
err_has 'error[E1901]'
err_has "lower train.optimizer.learning_rate (now 20)" "what to change"
err_has "step " "N01 a learning rate that blows up: the step"
err_has " of layer " "N01 a learning rate that blows up: the layer where it began"
is "$(digest m.dnn)" "$before" "the model from before is untouched"
run dnn train v.json -o m.dnn --set "$sgd" --set train.clip_norm=0.001
is_exit 0 "N02 the same with train.clip_norm: it goes through"
rm -f m.dnn*
# without --resume whatever stands there stays
echo one >"m.dnn.ckpt-000000000007"
cp m.dnn.ckpt-000000000007 "m.dnn.ckpt-000000000014"
old=$(digest m.dnn.ckpt-000000000007)
run dnn train v.json -o m.dnn --set train.checkpoint.every_s=0 --set train.checkpoint.keep=1
is_exit 0 "a training afresh, with checkpoints after each epoch"
is "$(digest m.dnn.ckpt-000000000007) $(digest m.dnn.ckpt-000000000014) $(ls m.dnn.ckpt-* | wc -l)" "$old $old 2" \
    "the checkpoints that were there are left, also where a step has their name"
rm -f m.dnn*

# numbers as they are, far from 0: the loss begins at thousands of times that of a constant answer, and falls in waves
awk 'BEGIN {print "g,m,y"; for (i = 0; i < 500; i++) {g = 6000 + i * 7919 % 3000; m = 1000 + i * 104729 % 1500;
    print g "," m "," 9 * g + 11 * m + i * 31 % 97}}' >g.csv
cat >g.json <<'JSON'
{"task": "regression", "data": {"train": "g.csv", "target": "y", "columns": {"g": {"type": "numeric", "scale": "none"},
 "m": {"type": "numeric", "scale": "none"}}}, "model": {"preset": "linear"}, "train": {"epochs": 300, "batch_size": 256,
 "optimizer": {"type": "adamw", "learning_rate": 0.01}, "early_stopping": {"patience": 0}}, "backend": {"name": "dnn_cpu", "threads": 1}}
JSON
run dnn train g.json -o g.dnn --json
is_exit 0 "N01 a loss that is far above a constant's, and falls, goes on"
out_has '"stopped":"epochs"' "to its end"
rm -f g.dnn
run dnn train g.json -o g.dnn --json --set train.epochs=3
is_exit 0 "also where it is still high when the epochs are over"
rm -f g.dnn
high() {
    run dnn train v.json -o m.dnn --set 'train.optimizer={"type":"adam","learning_rate":10}' --set train.early_stopping.patience=5 "$@"
}
high
is_exit 0 "too high a rate for a good model"
grep -q "warning: on the .* rows the model is no better than a constant answer: loss .*lower train.optimizer.learning_rate (now 10)" err
ok $? "is not silent" "$(cat err)"
run dnn train g.json -o g.dnn --set train.epochs=1
is_exit 0 "too few epochs for a good model"
err_has "its last epoch was the best: raise train.epochs (now 1), or look at train.optimizer.learning_rate (now 0.01)"
rm -f g.dnn
rm -f m.dnn
high --json
out_has '"warnings":["on the ' "as JSON too"
run dnn train v.json -o m.dnn --json
out_has '"warnings":["the training ended with its epochs while it still got better (the last of 30 was the best): raise train.epochs' \
    "a model that could be better"
rm -f m.dnn
run dnn train v.json -o m.dnn --json --set train.epochs=200 --set train.optimizer.learning_rate=0.01
out_has '"warnings":[]' "a good model has no warning"
rm -f m.dnn
# the advice is what is known of the training: no rate is lowered that nothing could lower
perl -e 'my $x = 12; sub draw { $x = ($x * 1103515245 + 12345) % 2147483648; $x / 2147483648 } print "a,b,y,t\n";
    for (1 .. 400) { my ($a, $b, $c) = (draw(), draw(), draw());
        printf "%.6f,%.6f,%s,%s\n", $a, $b, $c < 0.5 ? "no" : "yes", $a > 0.5 ? "no" : "yes" }' >n.csv
printf '{"task": "binary", "data": {"train": "n.csv", "target": "y", "columns": {"a": "numeric", "b": "numeric"}},
    "backend": {"name": "dnn_cpu", "threads": 1}}' >n.json
advised() { # NAME TEXT ARGS...
    run dnn train n.json -o n.dnn "${@:3}"
    rm -f n.dnn
    is_exit 0 "no better than a constant: $1"
    grep -q "no better than a constant answer: .*; $2" err
    ok $? "  the advice: $2" "$(cat err)"
}
advised "nothing to be learnt" "the training rows were not learnt either .*: the columns may tell nothing of the target"
overfit=(--set train.early_stopping.metric=accuracy --set train.early_stopping.patience=0 --set train.optimizer.learning_rate=0.05
    --set train.epochs=400 --set 'model={"preset":"mlp","dropout":0}')
advised "nothing that holds" "the training rows were learnt (loss .*), these were not: the columns may tell nothing" "${overfit[@]}"
advised "few rows to learn from" "it had 4 training rows, too few to learn from" --set data.split.valid=0.49 --set data.split.test=0.5
advised "few rows to tell" "[0-9]* rows tell little: more of them would show what it is worth" --set data.split.test=0.02 "${overfit[@]}"
run dnn train n.json -o n.dnn --set data.target=t --set 'train.loss.class_weights={"no":0}' --set train.epochs=3
err_has 'train.loss.class_weights gives "no" the weight 0: its rows are not learned from' "a class of no weight is warned of"
rm -f n.dnn
# all that is warned of stands in the summary, in its order, said aloud or not
{ cat v.csv; tail -n +2 v.csv | head -n 60; } >again.csv
for loud in 1 0; do
    run dnn train v.json -o m.dnn --json --set data.train=again.csv --time-limit 0.000001 --verbosity $loud \
        --set train.optimizer.learning_rate=5
    is_exit 0 "repeated rows, and no time, --verbosity $loud"
    grep -q \
        '"warnings":\["[0-9]* of [0-9]* validation rows .*the time limit came before the end of the first epoch.*no better than a constant' \
        out
    ok $? "three warnings" "$(grep -o '"warnings":.*' out)"
    rm -f m.dnn
done
run dnn check v.json --json --set data.train=again.csv
grep -q '"warnings":\["[0-9]* of [0-9]* validation rows ' out
ok $? "check has those of the data" "$(grep -o '"warnings":.*' out)"

{ echo a,b,c,y; tail -n +2 d.csv | sed 's/,[01]$/,1/'; } >one.csv
run dnn train c.json -o m.dnn --set data.train=one.csv
is_exit 65 "N03 one class: 65"
run dnn train c.json -o m.dnn --set data.train=d3.csv
is_exit 66 "no such file: 66"
sed '7s/,[01]$/,2/' d.csv >three.csv
run dnn train c.json -o m.dnn --set data.train=three.csv
is_exit 65 "N03 three labels in a binary task: 65"
{ echo a,b,c,y; echo 0.1,0.2,red,1; echo 0.1,0.3,red,7; } >valid.csv
run dnn train c.json -o m.dnn --set data.valid=valid.csv
is_exit 65 "N04 a label that no training row has: 65"
err_has "row" "N04 a label that no training row has: the row"

awk -F, 'NR == 1 {print "k," $0; next} {print "5," $0}' d.csv >const.csv
sed 's/"columns": {/"columns": {"k": "numeric", /' c.json >const.json
run dnn train const.json -o m.dnn --set data.train=const.csv
is_exit 0 "N05 a constant column"
err_has "warning" "N05 a constant column: a warning"
awk -F, 'NR == 1 {print "k," $0; next} {print "123456789," $0}' d.csv >later.csv
"$DNN" predict m.dnn const.csv -q >same.txt
run dnn predict m.dnn later.csv -q
is_exit 0 "N05 a constant of the training rows that is another one later"
cmp -s out same.txt
ok $? "tells nothing then either: the same answers"
sed 's/"k": "numeric"/"k": "datetime"/' const.json >dates.json
awk -F, 'NR == 1 {print "k," $0; next} {print "2024-01-01," $0}' d.csv >day.csv
awk -F, 'NR == 1 {print "k," $0; next} {print "2024-01-08," $0}' d.csv >week.csv
run dnn train dates.json -o dates.dnn --set data.train=day.csv
is_exit 0 "N05 dates of one day"
"$DNN" predict dates.dnn day.csv -q | cut -d, -f2- | tail -n +2 >there.txt
"$DNN" predict dates.dnn week.csv -q | cut -d, -f2- | tail -n +2 >later.txt
perl -e 'open my $a, "there.txt"; open my $b, "later.txt"; while (<$a>) { my @x = split /,/; my @y = split /,/, <$b>;
    abs($x[0] - $y[0]) < 0.2 or exit 1 }'
ok $? "a week later the answers are of the same kind"
awk -F, 'NR == 1 {print "k," $0; next} {print "," $0}' d.csv >empty.csv
run dnn train const.json -o m.dnn --set data.train=empty.csv
is_exit 65 "N06 a column without any value: 65"
err_has '"k"' "it is named"

head -n 4 d.csv >few.csv
run dnn train c.json -o m.dnn --set data.train=few.csv --set data.split.valid=0.1
is_exit 65 "N07 no row for the validation part: 65"
{ echo a,b,c,y; grep ',1$' d.csv | head -n 20; } >ones.csv
run dnn train c.json -o m.dnn --set data.valid=ones.csv
is_exit 0 "N07 a validation part that lacks a class"
err_has "warning" "N07 a validation part that lacks a class: a warning"
grep -v ',1$' d.csv | head -n 20 >noughts.csv
value() { awk 'NR == 1 || $0 ~ /,100/' v.csv | head -n 2; }
value >same.csv
awk -F, 'BEGIN {OFS = ","} {print $0, NR == 1 ? "w" : 1}' d.csv >weighed.csv
sed 's/,1$/,0/' weighed.csv >idle.csv
sed 's/"columns": {/&"w": "weight", /; s/d\.csv/weighed.csv/' c.json >w.json
undefined() { # NAME WHAT ARGS...: check and train alike, before the first step
    for job in check train; do
        run dnn $job "${@:3}" --set output.model=m.dnn --set train.checkpoint.every_s=0
        is_exit 65 "N14 $1: $job 65"
        err_has "$2"
    done
}
undefined "auc of one label" 'error[E1238]' c.json --set data.valid=ones.csv --set train.early_stopping.metric=auc
for metric in pr_auc recall precision f1; do
    undefined "$metric without the label" 'rows of the positive label' c.json --set data.valid=noughts.csv \
        --set train.early_stopping.metric=$metric
done
undefined "r2 of a single row" 'targets that differ' v.json --set data.valid=same.csv --set train.early_stopping.metric=r2
undefined "weights of 0, and the usual metric" 'error[E1235]' w.json --set data.valid=idle.csv
undefined "weights of 0, and the loss" 'error[E1235]' w.json --set data.valid=idle.csv --set train.loss.type=focal
# of test rows, which decide nothing, it is told
for job in 'check w.json' 'train w.json'; do
    run dnn $job --json --set data.test=idle.csv --set output.model=m.dnn
    is_exit 0 "N14 test rows that all weigh 0: $job"
    err_has "warning: the weight of each of the 600 test rows is 0: no metric has a value on them" "  is warned of"
done
err_has "dnn: test: no metric has a value"
is "$(grep -o '"test":{"auc":null' out)" '"test":{"auc":null' "  their metrics are null"
is "$(grep -o '"warnings":.*the weight of each of the [0-9]* test' out | wc -l)" 1 "  the summary has the warning"
grep -q '"baseline":{"auc":0.5' out
ok $? "the constant answer is measured on the validation rows" "$(cat out)"
run dnn train w.json -o m.dnn --set data.test=idle.csv --set data.split.valid=0
is_exit 0 "N14 test rows of weight 0, and no validation rows"
run dnn train c.json -o m.dnn --set data.valid=ones.csv --set train.loss.class_weights='{"0": 1, "1": 0}'
is_exit 65 "N14 the loss of rows whose class weighs 0: 65"

run dnn train c.json -o m.dnn --set train.batch_size=4096
is_exit 0 "N08 more rows in a batch than in the file"
head -n 66 d.csv >odd.csv
run dnn train c.json -o m.dnn --set data.train=odd.csv --set data.split.valid=0 --set data.split.test=0
is_exit 0 "N08 a last batch of one row"
run dnn train c.json -o m.dnn --set data.train=odd.csv --set data.split.valid=0 --set data.split.test=0 --set train.batch_size=1
is_exit 0 "a batch of one row"

awk -F, 'NR == 1 {print "big,tiny,far," $0; next} {printf "%g,%g,%.6f,%s\n", $1 * 1e30, $2 * 1e-30, 1e9 + $1 / 100, $0}' d.csv >wide.csv
sed 's/"columns": {/"columns": {"big": "numeric", "tiny": "numeric", "far": "numeric", /' c.json >wide.json
run dnn train wide.json -o m.dnn --json --set data.train=wide.csv
is_exit 0 "N09 values of 1e30 and 1e-30, and a mean far above the spread"
! grep -q null out || ! grep -q '"logloss":null' out
ok $? "every loss is a number" "$(cat out)"
awk -F, 'NR == 1 {print "leak," $0; next} {print $4 "," $0}' d.csv >leak.csv
sed 's/"columns": {/"columns": {"leak": "numeric", /' c.json >leak.json
run dnn train leak.json -o m.dnn --set data.train=leak.csv
is_exit 0 "N10 a column that is the label"
err_has '"leak"' "N10 a column that is the label: a warning that names it"
{ cat d.csv; tail -n +2 d.csv; } >twice.csv
run dnn train c.json -o m.dnn --set data.train=twice.csv
is_exit 0 "N11 rows that are in training and in validation"
grep -q 'warning.*[0-9]' err
ok $? "N11 rows in both parts: a warning that counts them" "$(cat err)"
run dnn train leak.json -o m.dnn --json --set data.train=leak.csv --set 'model={"preset":"linear"}' --set train.epochs=60 \
    --set 'train.optimizer={"type":"adam","learning_rate":300}' --set train.early_stopping.patience=0
is_exit 0 "N12 logits of thousands"
grep -q '"logloss":[0-9]' out
ok $? "N12 logits of thousands: a finite loss" "$(cat out)"

printf 'a,y\n' >single.csv
awk -F, 'NR > 1 {print $1 "," ($1 > 0)}' d.csv >>single.csv
cat >single.json <<'JSON'
{"task": "binary", "data": {"train": "single.csv", "target": "y", "columns": {"a": "numeric"}}, "model": {"preset": "mlp"},
 "train": {"epochs": 3}, "backend": {"name": "dnn_cpu"}}
JSON
run dnn train single.json -o m.dnn
is_exit 0 "a single column"
run dnn train c.json -o m.dnn --set data.split.valid=0 --set data.split.test=0
is_exit 0 "no validation and no test rows"
printf 'a,b,c,y\n' >none.csv
run dnn train c.json -o m.dnn --set data.train=none.csv
is_exit 65 "no rows: 65"
# a training of many classes whose target has just two labels, with every loss: it is measured as one of many classes
for set in train.loss.type=focal train.loss.class_weights=balanced train.loss.label_smoothing=0.1 train.epochs=1; do
    run dnn train c.json -o two.dnn --set task=multiclass --set train.epochs=1 --set $set --json
    is_exit 0 "two labels of a multiclass target, $set"
    out_has '"macro_auc":'
done
rm -f two.dnn
# a category whose values are all too rare, a target whose values are too near for a scale
run dnn check c.json --set 'data.columns.c={"type": "categorical", "min_count": 100000}'
is_exit 0 "N05 a column all of whose values are too rare"
err_has 'column "c": no value is in `min_count` (100000) training rows, and so it tells nothing but where it is missing'
awk -F, 'BEGIN {OFS = ","} NR > 1 {$4 = $4 "e-320"} {print}' v.csv >tiny.csv
run dnn check v.json --set data.train=tiny.csv
is_exit 0 "N05 a target of tiny values"
err_has 'the values of the target "y" differ by less than can be scaled'
# a target that is the same in all rows
awk -F, 'BEGIN {OFS = ","} NR > 1 {$4 = 7} {print}' v.csv >seven.csv
run dnn train v.json --set data.train=seven.csv --set output.model=seven.dnn
is_exit 0 "N04 a constant target"
err_has 'has the same value in every training row: there is nothing to learn' "what it is about is said"
err_lacks "lower train.optimizer.learning_rate" "N04 a constant target: nothing else is advised"
# a target that is large against its spread: 9 digits do not tell its values apart, 17 do
awk 'BEGIN {srand(2); print "x,when_ms"; for (i = 0; i < 300; i++) {x = rand(); printf "%.4f,%.0f\n", x, 1700000000000 + 5000 * x}}' >ms.csv
cat >ms.json <<'J'
{"task": "regression", "data": {"train": "ms.csv", "target": "when_ms", "columns": {"x": "numeric"}, "split": {"test": 0.2}},
 "model": {"preset": "linear"}, "train": {"epochs": 2}, "output": {"model": "ms.dnn"}}
J
near() { # FILE COLUMN: the answers are near the targets, in 17 digits
    cut -d, -f"$2" "$1" | tail -n +2 | paste -d, - ms.csv.y |
        awk -F, '$1 != "" {n++; d = $1 - $2; s += d * d; e += $1 ~ /e/} END {exit !(n >= 200 && !e && sqrt(s / n) < 1000)}'
}
tail -n +2 ms.csv | cut -d, -f2 >ms.csv.y
run dnn train ms.json
is_exit 0 "N05 a target of milliseconds"
err_lacks "digits" "needs no warning"
run dnn predict ms.dnn ms.csv -o ms.answers
check "its answers keep the digits that matter" near ms.answers 1
run dnn cv ms.json --folds 3 -o ms.folds --set data.split.test=0
check "those of cv too" near ms.folds 2
run dnn explain ms.dnn ms.csv --rows ms.rows
check "answers of explain keep the digits that matter" near ms.rows 3

# the largest weights that a row and a class may have, together
awk 'BEGIN { print "x,w,y"; for (i = 0; i < 600; i++) print i % 7 ",1e20," (i % 3 == 0) }' >heavy.csv
cat >heavy.json <<'J'
{"task": "binary", "data": {"train": "heavy.csv", "target": "y", "columns": {"x": "numeric", "w": "weight"}},
 "model": {"preset": "mlp", "hidden": [8]}, "train": {"epochs": 2, "loss": {"class_weights": {"0": 1e9, "1": 1e9}}},
 "output": {"model": "heavy.dnn"}}
J
for loss in cross_entropy focal; do
    run dnn train heavy.json --force --set train.loss.type=$loss
    is_exit 0 "weights of 1e20 times 1e9 are no overflow ($loss)"
done
done_testing
