#!/bin/bash
# target_transform.sh - a regression learns a function of its target; answers, metrics and gates stay in the units of the file.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
# amounts over three decades: the logarithm of y is 5 + 1.5 a - b and a little noise
amounts() {
    awk -v rows="$1" 'BEGIN { seed = 7; print "a,b,c,y"; for (i = 0; i < rows; i++) { a = n(); b = n();
        printf "%.4f,%.4f,%d,%.3f\n", a, b, i % 7, exp(5 + 1.5 * a - b + 0.2 * n()) } }
    function r() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 } function n() { return r() + r() + r() + r() - 2 }'
}
amounts 900 >d.csv
head -n 700 d.csv >train.csv
{ head -n 1 d.csv; tail -n 200 d.csv; } >test.csv
config() { # FILE TRANSFORM [MORE KEYS] [OF TRAIN]
    cat >"$1" <<JSON
{"task": "regression", "data": {"train": "train.csv", "target": "y", "columns": {"a": "numeric", "b": "numeric", "c": "numeric"}},
  "model": {"preset": "mlp", "hidden": [12]},
 "target_transform": "$2", "train": {"epochs": 25, "batch_size": 32, "optimizer": {"learning_rate": 0.01}${4:-}},
 "backend": {"name": "dnn_cpu"}${3:-}}
JSON
}
value() { perl -ne "print \$1 if /\"metrics\":\\{[^}]*\"$1\":([^,}]+)/" out; }
below() { awk "BEGIN { exit !($1 < $2) }"; }
for transform in none log cbrt quantile; do
    config $transform.json $transform
    run dnn train $transform.json -o $transform.dnn --progress none
    is_exit 0 "$transform: trained"
    dnn predict $transform.dnn test.csv --quiet >$transform.out
    run dnn evaluate $transform.dnn test.csv --json
    is_exit 0 "$transform: evaluated"
    eval "mae_$transform=$(value mae)"
    want=$(paste -d, test.csv $transform.out | awk -F, 'NR > 1 { d = $4 - $5; s += d < 0 ? -d : d } END { printf "%.5g", s / (NR - 1) }')
    is "$(printf %.5g "$(value mae)")" "$want" "$transform: the metric is that of the answers, in the file's units"
    run dnn verify $transform.dnn
    is_exit 0 "$transform: verified"
    dnn train $transform.json -o other.dnn --quiet --progress none --threads 3
    same $transform.dnn other.dnn "$transform: the same bytes with three threads"
done
below "$mae_log" "0.7 * $mae_none" && below "$mae_cbrt" "$mae_none" && below "$mae_quantile" "$mae_none"
ok $? "amounts are learnt better through a function" "mae: none $mae_none, log $mae_log, cbrt $mae_cbrt, quantile $mae_quantile"
paste -d, test.csv log.out | awk -F, 'NR > 1 && $5 <= 0 { bad = 1 } END { exit bad }'
ok $? "answers of log are above 0"
run dnn inspect log.dnn
out_has "target     y, learnt through log"
run dnn report log.dnn test.csv -o log.html
grep -q 'learnt through.*log' log.html
ok $? "the report says so too"
run dnn inspect quantile.dnn --json
out_has '"target_transform":"quantile"'

# explain: attributions add up in the file's units
run dnn explain log.dnn test.csv --rows w.csv --quiet
paste -d, w.csv log.out | awk -F, 'NR > 1 { d = $1 + $2 + $3 + $4 - $6; if (d < 0) d = -d; if (d > 0.01 * $6) bad = bad " " NR }
    END { print bad; exit bad != "" || NR < 200 }' >far
ok $? "attributions add up to the answer" "$(head -n 3 w.csv; head -n 1 far)"

# several networks, each with its own coding of the rows it learnt
config e.json log ', "ensemble": {"folds": 3}'
run dnn train e.json -o e.dnn --progress none
is_exit 0 "an ensemble"
run dnn predict e.dnn test.csv --uncertainty
awk -F, 'NR > 1 && !($1 > 0 && $2 > 0 && $2 < $1) { bad = 1 } END { exit bad || NR < 200 }' out
ok $? "its answers and their deviations are in the file's units" "$(head -n 4 out)"
run dnn evaluate e.dnn test.csv --json
below "$(value mae)" "0.7 * $mae_none"
ok $? "they are as good" "$(value mae)"
config q.json log "" ', "loss": {"type": "quantile", "q": 0.8}'
run dnn train q.json -o q.dnn --progress none
run dnn evaluate q.dnn test.csv --require 'coverage>=0.65' --require 'coverage<=0.95'
is_exit 0 "a quantile of the target is that of its function"
run dnn cv log.json --folds 2 --json --set train.epochs=5
is_exit 0 "cv"

# a training that was cut goes on; another transform is another training
dnn train log.json -o whole.dnn --quiet --progress none --set train.checkpoint.every_s=0
DNN_FAULT=kill:rename:9 "$HOOKED" train log.json -o cut.dnn --progress none --set train.checkpoint.every_s=0 >/dev/null 2>&1
run dnn train log.json -o cut.dnn --resume --progress none --set train.checkpoint.every_s=0
is_exit 0 "a cut training is resumed"
is "$(digest cut.dnn)" "$(digest whole.dnn)" "to the same model"
sed 's/"log"/"auto"/' log.json >auto.json
dnn train auto.json -o whole.dnn --quiet --progress none --set train.checkpoint.every_s=0
DNN_FAULT=kill:rename:9 "$HOOKED" train auto.json -o cut.dnn --progress none --set train.checkpoint.every_s=0 >/dev/null 2>&1
run dnn train auto.json -o cut.dnn --resume --progress none --set train.checkpoint.every_s=0
err_has "resuming at step" "a cut training with auto is resumed"
is "$(digest cut.dnn)" "$(digest whole.dnn)" "to the same model"

# auto: by validation rows, whatever the test rows say
amounts 4000 >many.csv
for transform in log auto; do
    run dnn train log.json -o $transform.dnn --progress none --set data.train=many.csv --set target_transform=$transform \
        --set train.epochs=5
    is_exit 0 "$transform: trained"
done
err_has "note: target_transform auto: log (rmse of a quick model: none " "auto says what it chose, and why"
run dnn inspect auto.dnn
out_has "target     y, learnt through log"
is "$(dnn predict auto.dnn test.csv -q | sha256sum)" "$(dnn predict log.dnn test.csv -q | sha256sum)" "its answers are those of log"
dnn train log.json -o other.dnn --quiet --progress none --threads 3 --set data.train=many.csv --set target_transform=auto \
    --set train.epochs=5
same auto.dnn other.dnn "auto: the same bytes with three threads"
awk -F, 'NR == 1 || NR % 6 { print > "part1.csv" } NR == 1 || !(NR % 6) { print > "part2.csv" }' many.csv
awk -F, -v OFS=, 'NR > 1 { $4 = -5000 * (NR % 3) } { print }' test.csv >far.csv
for test in test far; do
    run dnn train log.json -o "$test.m" --progress none --set target_transform=auto --set data.train=part1.csv --set data.valid=part2.csv \
        --set data.test=$test.csv --set train.epochs=2
    is_exit 0 "$test.csv is the test part"
    grep -F 'target_transform auto' err >"$test.said"
done
same test.said far.said "test rows do not choose"
of_many=(--progress none --set target_transform=auto --set data.train=many.csv --set train.epochs=2)
run dnn train e.json -o ea.dnn "${of_many[@]}"
err_has "target_transform auto: log in 3 of 3 networks" "each network of an ensemble chooses"
for i in 0 1 2; do dnn train e.json --run $i -o $i.part -q "${of_many[@]}"; done
run dnn merge e.json 2.part 0.part 1.part -o em.dnn "${of_many[@]}"
same ea.dnn em.dnn "merged from its runs: the same bytes"
run dnn cv log.json --folds 2 --json "${of_many[@]}"
is_exit 0 "cv with auto"
err_has " of 2 networks" "each fold chooses"

# tune: with a function the score is in the units of the file, and the best config keeps it
for transform in log cbrt quantile auto; do
    run dnn tune log.json --trials 3 --set target_transform=$transform -o best.json --force --json --progress none
    is_exit 0 "tune with $transform"
    run dnn train best.json -o best.dnn --progress none --json
    is_exit 0 "tune with $transform: its config trains"
    rmse=$(perl -ne 'print $1 if /"valid":\{[^}]*"rmse":([^,}]+)/' out)
    below "$rmse" 400 && below 5 "$rmse"
    ok $? "tune with $transform: in the units of the file" "$rmse"
    grep -q "\"target_transform\": *\"$transform\"" best.json
    ok $? "tune with $transform: the config keeps it"
done

# what has no logarithm
sed '41s/[0-9.]*$/-3/' train.csv >minus.csv
run dnn train log.json -o x.dnn --set data.train=minus.csv
is_exit 65 "a target below 0"
err_has 'error[E1227]: minus.csv:41:' "names the row"
err_has 'column "y": "-3" has no logarithm (`target_transform` is "log")' "a target below 0: the key is named"
err_has 'set `target_transform` to "cbrt" or "quantile"' "a target below 0: the remedy"
run dnn train cbrt.json -o x.dnn --progress none --set data.train=minus.csv --set train.epochs=1
is_exit 0 "cbrt takes it"
run dnn train auto.json -o x.dnn --progress none --set data.train=minus.csv --set train.epochs=1
is_exit 0 "auto takes a target below 0"
sed '2s/[0-9.]*$/0/' test.csv >zero.csv
run dnn evaluate log.dnn zero.csv
is_exit 0 "evaluate measures against any value"
sed 's/"log"/"sqrt"/' log.json >sqrt.json
run dnn check sqrt.json
is_exit 78 "an unknown function"
sed 's/"regression"/"binary"/' log.json >binary.json
run dnn check binary.json
is_exit 78 "classes have none"
err_has '`target_transform` belongs to `task` "regression"'
done_testing
