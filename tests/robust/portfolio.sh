#!/bin/bash
# portfolio.sh - preset auto: a list of members that follows from the config and the number of rows alone; its training, its
# parts, its answers.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN { srand(2); print "a,b,c,y"; for (i = 0; i < 120; i++) { a = rand(); b = rand()
    printf "%.3f,%.3f,%s,%s\n", a, b, (i % 3 ? "p" : "q"), (a + b + 0.3 * rand() > 1.15 ? "yes" : "no") } }' >d.csv
run dnn init d.csv --target y -o mlp.json --set model.preset=mlp
run grep -c '"preset": "mlp"' mlp.json
is "$(cat out)" 1 "init writes the fast preset when it is told so"
run dnn init d.csv --target y -o auto.json
run grep -c '"preset": "auto"' auto.json
is "$(cat out)" 1 "init writes preset auto by default, as one word"
run dnn check auto.json --resolved
is_exit 0 "check spells the members out"
for name in linear mlp statistics tree realmlp realmlp_statistics realmlp_tree; do out_has "\"name\": \"$name\"" "member $name"; done
out_has '"folds": 5' "of five folds"
out_has '"epochs": 40' "few rows have the most epochs"
out_lacks '"name": "wide"' "a small table: no network for pixels"
cp out first
run dnn check auto.json --resolved
same out first "the same list each time"
run dnn check first --resolved
same out first "the list is a config that means the same"
run dnn check auto.json --json
is "$(grep -o '"run":' out | wc -l)" 35 "check --json lists 35 runs"
grep -o '"host_bytes":[0-9]*}' out | tr -dc '0-9\n' | awk '$1 < 1000 || $1 > 2e7 { exit 1 } END { exit NR != 35 }'
ok $? "each with the memory of its own network" "$(grep -o '"host_bytes":[0-9]*}' out | sort | uniq -c)"

run dnn check auto.json --json --set train.seed=3
for key in '"model":{"value":{"preset":"auto"},"from":"config"}' '"train.seed":{"value":3,"from":"--set"}' \
    '"data.target":{"value":"y","from":"config"}' '"ensemble.folds":{"value":5,"from":"preset"}'; do out_has "$key" \
    "check tells origins: $key"; done
run dnn check auto.json --resolved --set 'data.columns.c={"type": "categorical", "dim": 2}'
is_exit 0 "a category with an embedding of its own"
out_lacks '"solver": "path"' "whose linear member is trained by steps"

run dnn check auto.json --resolved --set train.time_limit_s=0.01
is_exit 0
out_has '"folds": 3' "little time: three folds"
out_lacks '"name": "realmlp"' "without the slow members"
out_has '"epochs": 2' "little time: few epochs"
# other rows and columns: another list
awk 'BEGIN { print "a,b,c,y"; for (i = 0; i < 130000; i++) print i % 7 "," i % 5 ",p," i % 2 }' >many.csv
run dnn check auto.json --resolved --set data.train=many.csv --set data.positive=1
is_exit 0
out_has '"folds": 3' "many rows: three folds"
out_lacks '"name": "statistics"' "many rows: no member on statistics"
out_lacks '"name": "tree"' "of the small networks one"
out_lacks '"name": "realmlp"' "of RealMLP no periodic form"
for name in realmlp_tree realmlp_quantile; do out_has "\"name\": \"$name\"" "many rows: member $name"; done
out_has '"batch_size": 512' "in larger batches"
out_has '"epochs": 20' "many rows: more epochs"
awk 'BEGIN { for (k = 0; k < 70; k++) printf "x%d,", k; print "y"; for (i = 0; i < 40; i++) { for (k = 0; k < 70; k++) printf "%.2f,",
    (i * k) % 11 + i / 7; print i % 2 } }' >wide.csv
dnn init wide.csv --target y -q -o wide.json
run dnn check wide.json --resolved
is_exit 0
out_has '"name": "wide"' "many columns of numbers: a wide network"
out_has '"name": "wide_log"' "one on logarithms"
out_lacks '"name": "tree"' "in place of the others"
# texts alone: a narrow network beside the linear one; beside numbers the network of tables
awk 'BEGIN { print "t,y"; for (i = 0; i < 200; i++) print "w" i % 20 " v" i % 19 " u" i % 17 "," i % 2 }' >text.csv
awk 'BEGIN { print "t,n,y"; for (i = 0; i < 200; i++) print "w" i % 20 " v" i % 19 " u" i % 17 "," i * 37 % 101 / 7 "," i % 2 }' >both.csv
for f in text both; do dnn init $f.csv --target y -q -o $f.json; done
run dnn check text.json --resolved
is_exit 0
out_has '"name": "text"' "texts alone: a network for them"
out_lacks '"name": "mlp"' "in place of that for tables"
run dnn check both.json --resolved
is_exit 0
out_has '"name": "mlp"' "texts and numbers: the network for tables"
out_lacks '"name": "text"' "in place of that for texts"
# few sequences: more folds, so that each network has most of them
for n in 60 150 500; do
    awk -v n=$n 'BEGIN { for (k = 0; k < 24; k++) printf "t%d,", k; print "label"; for (i = 0; i < n; i++) {
        for (k = 0; k < 24; k++) printf "%d,", (i * 7 + k * (1 + i % 2)) % 13; print i % 2 } }' >series.csv
    dnn init series.csv --target label -q --force -o series.json
    run dnn check series.json --resolved
    [ $n = 60 ] && want=10 || { [ $n = 150 ] && want=5 || want=3; }
    out_has "\"folds\": $want" "$n sequences: $want folds"
done
# an ensemble without members: the list, with its folds and selection
run dnn check auto.json --set ensemble.folds=3
out_has "networks    21: 7 members in 3 folds each" "folds of the config: check has 21 runs"
run dnn check auto.json --set ensemble.folds=3 --json
is "$(grep -o '"run":' out | wc -l)" 21 "check --json lists them"
run dnn train auto.json -o none.dnn --run 21 --set ensemble.folds=3
err_has "the ensemble has runs 0 to 20" "train has them"
run dnn cv auto.json --folds 2 --set ensemble.folds=3 --set train.time_limit_s=0.1 --json
out_has '"runs":12,' "cv too, of the members that fit its time"
run dnn check auto.json --resolved --set 'ensemble={"folds": 2, "members": [], "select": "mean", "rounds": 7}'
for word in '"folds": 2' '"name": "linear"' '"name": "realmlp_tree"' '"select": "mean"' '"rounds": 7'; do
    out_has "$word" "an ensemble without members: $word"
done
cp out two.json
run dnn check two.json --resolved
same out two.json "a resolved ensemble without members resolves to itself"
run dnn check auto.json --json --set ensemble.folds=2 --set ensemble.select=mean
for key in '"ensemble.folds":{"value":2,"from":"--set"}' '"ensemble.select":{"value":"mean","from":"--set"}'; do
    out_has "$key" "its origin: $key"
done
run dnn check auto.json --json --set ensemble.select=mean
out_has '"ensemble.folds":{"value":5,"from":"preset"}' "a selection alone: the folds of the list"
run dnn check auto.json --resolved --set ensemble.folds=4 --set train.time_limit_s=0.01
out_has '"folds": 4' "little time, folds of the config"
out_has '"epochs": 2' "few epochs"
run dnn check auto.json --set ensemble.folds=0
err_has "preset auto has its own ensemble.folds" "folds 0: those of the list, with a note"
run dnn check auto.json --resolved --set 'ensemble.members=[{"name": "A"}, {"name": "B", "train": {"epochs": 3}}]'
is_exit 0
out_lacks '"name": "linear"' "a config with members of its own keeps them"
run dnn check auto.json --set 'ensemble.members=[{"name": "A"}, {"name": "B", "model": {"preset": "auto"}}]'
is_exit 64 "a member of preset auto"
err_has 'member "B" of the ensemble: preset "auto" is a list of members' "is named"
# what the config says wrongly is told with its place, though the document has become another
for wrong in encoders.categorical.min_count=-1 data.columns.a.scale=foo; do
    run dnn check auto.json --set $wrong
    is_exit 64 "--set $wrong"
    err_has "error[E1008]: --set ${wrong%=*}: " "names --set"
    err_lacks "auto.json:" "--set $wrong: no place in the file is named"
done
sed 's/"a": "numeric"/"a": {"type": "numeric",\n "scale": "foo"}/' auto.json >place.json
run dnn check place.json
is_exit 78 "the same in the file"
err_has "place.json:$(grep -n '"foo"' place.json | cut -d: -f1):" "has its place there"

# the training is that of the list
run dnn train auto.json -o other.dnn --set train.epochs=3 --time-limit 0.3
err_has "preset auto has its own train.epochs for its members" "says which key is not used"
run dnn train auto.json -o auto.dnn --threads 2
is_exit 0 "it trains"
err_has '35 runs' "35 runs"
for name in linear realmlp_tree; do err_has "member \"$name\": logloss " "member by member, $name"; done
err_has "left" "the progress tells the time that is left"
err_has "the linear model alone: logloss " "the linear model beside it"
err_has "the best single network, of member" "the best network beside it"
err_has "without it the loss would be" "what a member brings"
dnn train first -o first.dnn -q --threads 1
cmp -s auto.dnn first.dnn
ok $? "the same bytes as the list, with one thread and with two"
run dnn predict auto.dnn d.csv
is "$(wc -l <out)" 121 "auto answers"
# where nothing beats the linear model by more than a standard error, it is the model
awk 'BEGIN { srand(4); print "a,b,y"; for (i = 0; i < 200; i++) { a = rand(); b = rand();
    printf "%.3f,%.3f,%.4f\n", a, b, 2 * a - b + (rand() + rand() + rand() - 1.5) } }' >line.csv
cat >line.json <<'JSON'
{"task": "regression", "data": {"train": "line.csv", "target": "y", "columns": {"a": "numeric", "b": "numeric"}},
 "ensemble": {"folds": 3, "members": [{"name": "net", "model": {"preset": "mlp", "hidden": [8]}, "train": {"epochs": 20}},
                                      {"name": "line", "model": {"preset": "linear"}}]}}
JSON
run dnn train line.json -o line.dnn --json
is_exit 0 "a line in noise"
err_has "the model is the linear one alone" "has the linear model alone, with a note"
out_has '{"name":"line","weight":1,' "its weight is 1"
run dnn train line.json -o line.dnn --force --set ensemble.select=mean --json
out_has '{"name":"line","weight":0.5,' "equal weights stay equal"
# rows that repeat, and differ in their target
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 400; i++) print i % 10 "," int(i / 10) % 4 "," (i % 40 < 20 &&
    int(i / 40) % 2 ? "yes" : "no") }' >twins.csv
cat >twins.json <<'JSON'
{"task": "binary", "data": {"train": "twins.csv", "target": "y", "positive": "yes", "split": {"valid": 0.2, "test": 0},
  "columns": {"a": "numeric", "b": "numeric"}}, "model": {"preset": "linear"}, "ensemble": {"folds": 2}}
JSON
run dnn train twins.json -o twins.dnn
# 20 cells of 10 rows, 5 of them "yes": 25 of 45 pairs differ; in 20 others none does
err_has "noise: 400 of 400 rows equal others in every column used; two such rows have different labels in 27.8 % of cases" \
    "the noise of rows that repeat"
awk 'BEGIN { print "a,y"; for (i = 0; i < 200; i++) print i % 50 "," i % 50 + (i < 100 ? 3 : -3) }' >pairs.csv
run dnn train twins.json -o twins.dnn --force --set task=regression --set data.train=pairs.csv --set 'data.columns={"a":"numeric"}' \
    --set data.positive=null
err_has "the target has a standard deviation of about 3.464" "the noise of rows that repeat, of values"
# rows of two kinds in validation and test
awk 'BEGIN { srand(5); print "a,y,part"; for (i = 0; i < 600; i++) { a = rand(); p = i < 400 ? "train" : i < 500 ? "valid" : "test"
    printf "%.3f,%s,%s\n", a, ((p == "test" ? rand() : a) > 0.5 ? "yes" : "no"), p } }' >apart.csv
cat >apart.json <<'JSON'
{"task": "binary", "data": {"train": "apart.csv", "target": "y", "positive": "yes", "columns": {"a": "numeric"},
  "split": {"method": "column", "column": "part"}}, "model": {"preset": "linear"}}
JSON
run dnn train apart.json -o apart.dnn
err_has "warning: validation and test rows disagree beyond chance: logloss " "a warning where they disagree"
done_testing
