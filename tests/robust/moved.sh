#!/bin/bash
# moved.sh - what predict and evaluate say when the rows are no longer those of the training: ranges, unseen categories, the
# stability index, the gate on unseen rows. Ids: D05 D06.
. "$(dirname "$0")/../tap.sh"
rows() { # rows SHIFT CITY COUNT: b has the shift added, every tenth city is CITY
    awk -v shift="$1" -v city="$2" -v count="$3" 'BEGIN { print "a,b,city,when,y"; for (i = 0; i < count; i++)
        printf "%d,%d,%s,%d-03-%02d,%s\n", i % 17, i * 7 % 40 + shift, (city != "" && i % 10 == 0 ? city : i % 3 ? "Oslo" : "Rome"),
            2020 + (shift ? 9 : 0), 1 + i % 28, (i * 7 % 40 > 20 ? "yes" : "no") }'
}
rows 0 "" 600 >a.csv
rows 30 Mars 400 >b.csv
dnn init a.csv --target y --set model.preset=mlp -o c.json --quiet --set train.epochs=2 --set backend.name=dnn_cpu \
    --set data.columns.when=datetime
run dnn train c.json -o m.dnn --progress none --quiet --force
is_exit 0 "a model"
run dnn predict m.dnn b.csv -o o.csv
err_has 'column "city": 40 cells with a category that training did not see' "D05 unseen categories"
err_has 'column "b": 300 numbers outside the range of training (0 to 39): 40 to 69' "D06 numbers, the training's range, and how far they go"
err_has 'outside the range of training (2020-03-01 to 2020-03-28): 2029-03-01 to 2029-03-28' "dates as dates"
err_has 'whose distribution changed since training (stability index): "b" ' "columns that moved"
run dnn predict m.dnn b.csv -o o.csv --quiet
is_exit 0
err_empty "nothing of it with --quiet"
run dnn predict m.dnn b.csv -o o.csv --quiet --json
grep -q '"unseen":1,"stability_index":{"a":0.0[0-9]*,"b":[1-9][0-9.]*,"city":[0-9.]*,"when":[0-9.]*},"gates":\[\]' out
ok $? "all of it in the JSON" "$(head -c 600 out)"
dnn predict m.dnn a.csv --quiet >want
{ cat a.csv; sed -n '2,4p' b.csv; } >c.csv
rm -f o.csv
run dnn predict m.dnn c.csv -o o.csv --require 'unseen<=0.001'
is_exit 82 "a gate that is not met"
err_has 'gate not met: unseen<=0.001, measured 0.00497512; the answers are written' "is told with the share"
is "$(wc -l <o.csv)" 604 "a gate that is not met: the answers are whole"
run dnn predict m.dnn c.csv -o o.csv --require 'unseen<=0.01' --require 'unseen >= 0' --quiet --json
is_exit 0 "gates that are met"
out_has '"gates":[{"gate":"unseen<=0.01","value":0.004975124378109453,"pass":true},{"gate":"unseen >= 0"'
{ cat c.csv; sed -n '2s/2029/never/p' b.csv; } >bad.csv
run dnn predict m.dnn bad.csv --on-bad-row skip --require 'unseen<=0.001' --quiet
err_has 'measured 0.00497512' "a row that cannot be read counts neither here nor there"
for gate in 'auc>=0.8' 'unseen=1' 'unseen<=x'; do
    run dnn predict m.dnn a.csv -o o.csv --require "$gate"
    is_exit 64 "no gate of predict: $gate"
done
run dnn evaluate m.dnn a.csv
is_exit 0
! grep -q '^drift' out
after_exit $? "evaluate on rows as in training has no table of drift" "$(cat out)"
run dnn evaluate m.dnn b.csv --quiet
grep -q '^b  *[0-9.]*  *300  *0$' out
ok $? "evaluate on others has" "$(cat out)"
run dnn evaluate m.dnn b.csv --quiet --json
out_has '"stability_index":{"a":0.' "evaluate --json on moved rows has the stability index"
for threads in 1 3; do dnn predict m.dnn b.csv -o o.csv --quiet --json --threads $threads | sed 's/"seconds.*//'; done >both
is "$(sort -u both | wc -l)" 1 "the same with any number of threads"

# rare categories, which training pools, are no new ones: 120 rows of 20 towns
towns() { awk -F, -v each="$1" 'BEGIN { OFS = "," } NR > 1 && NR % 5 == 0 { $3 = "town" int((NR / 5 - 1) / each) } { print }' a.csv; }
towns 6 >towns.csv
{ cat towns.csv; echo '1,2,Mars,2020-03-01,no'; } >mars.csv
run dnn train c.json -o t.dnn --quiet --set data.train=towns.csv --set 'data.columns.city={"type": "categorical", "min_count": 50}'
is_exit 0 "a model with min_count"
run dnn predict t.dnn towns.csv -o o.csv --json
is_exit 0
out_has '"unknown_categories":{},"rare_categories":{"city":120},"outside_range":{},"unseen":0,' \
    "the training file itself has rare categories and no new one"
err_lacks 'category'
run dnn predict t.dnn towns.csv -o o.csv -v
err_has 'column "city": 120 cells with a category that training pooled, as it is rare there' "-v tells of them"
run dnn predict t.dnn mars.csv -o o.csv --json --require 'unseen<=0.001'
is_exit 82 "a new one counts for the gate"
out_has '"unknown_categories":{"city":1},"rare_categories":{"city":120}' "the counts are two"
err_has 'column "city": 1 cell with a category that training did not see'
run dnn train c.json -o off.dnn --quiet --set data.train=towns.csv --set 'data.columns.city={"type": "categorical", "min_count": 50}' \
    --set output.fingerprint=false
run dnn predict off.dnn mars.csv -o o.csv --quiet --json --require 'unseen<=0.001'
is_exit 0 "without a fingerprint the model cannot tell, and the gate passes"
out_has '"unknown_categories":{"city":121},"rare_categories":{}' "all count as unknown"
# an ensemble: a town of one row is missing from the rows of some run, and is no new one
towns 1 >towns.csv
options=(--quiet --set data.train=towns.csv --set data.columns.city=categorical --set data.split.test=0 \
    --set 'ensemble={"folds": 3}' --set train.epochs=1)
run dnn train c.json -o e.dnn "${options[@]}"
is_exit 0 "an ensemble"
run dnn predict e.dnn towns.csv -o o.csv --quiet --json
check "training file of an ensemble: rare ones, no new one" grep \
    -q '"unknown_categories":{},"rare_categories":{"city":[1-9][0-9]*},"outside_range":{},"unseen":0,' out
run dnn predict e.dnn mars.csv -o o.csv --quiet --json
check "a new one" grep -q '"unknown_categories":{"city":[1-9]' out
for i in 0 1 2; do dnn train c.json --run $i -o part$i "${options[@]}"; done
run dnn merge c.json part0 part1 part2 -o merged.dnn "${options[@]}"
same e.dnn merged.dnn "merge gives the same bytes"
done_testing
