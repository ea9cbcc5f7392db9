#!/bin/bash
# quantiles.sh - a list in train.loss.q: one network, a column a quantile. Coverage on new rows, answers that never cross, figures
# computed again from the answers, ensembles, and what is refused.
. "$(dirname "$0")/../tap.sh"
make_rows() { # FILE ROWS SEED: the spread grows with |z|
    perl -e 'my ($rows, $seed) = @ARGV; srand $seed; print "id,x,z,c,y\n"; for (1 .. $rows) { my ($x, $z, $c) = (rand(4) - 2, rand(4) - 2,
        int rand 3); my $n = 0; $n += rand for 1 .. 12;
        printf "r%d,%.4f,%.4f,%s,%.5f\n", $_, $x, $z, qw(a b c)[$c], 100 + 3 * $x + $c + (0.3 + abs $z) * ($n - 6) }' "$2" "$3" >"$1"
}
make_rows train.csv 1500 1
make_rows new.csv 2000 2
cat >c.json <<'JSON'
{"task": "regression", "data": {"train": "train.csv", "target": "y", "columns": {"id": "id", "x": "numeric",
  "z": "numeric", "c": "categorical"}},
 "model": {"preset": "mlp", "hidden": [32]}, "train": {"epochs": 20, "batch_size": 64, "optimizer": {"learning_rate": 0.01},
 "loss": {"type": "quantile", "q": [0.05, 0.5, 0.95]}}, "backend": {"name": "dnn_cpu"}}
JSON
value() { awk -v k="$1" '$1 == k { print $2 }' out; }
# NAME MODEL [SLACK]: what predict writes rises in each row, and gives the figures of evaluate; each quantile is near its level
holds() {
    local name=$1 model=$2 slack=${3:-0.06}
    run dnn predict "$model" new.csv --quiet -o answers.csv
    is_exit 0 "$name: predict"
    is "$(head -n 1 answers.csv)" "id,q0.05,q0.5,q0.95" "$name: a column a quantile"
    run dnn evaluate "$model" new.csv --quiet
    paste -d, new.csv answers.csv | perl -F, -ane 'BEGIN { @q = (.05, .5, .95); ($pinball, $coverage, $rmse, $slack) = splice @ARGV, 0, 4 }
        next if $. == 1; chomp @F; my ($y, @a) = @F[4, 6 .. 8];
        $n++; $cross++ if $a[0] > $a[1] || $a[1] > $a[2]; $in += $a[0] <= $y && $y <= $a[2]; $square += ($a[1] - $y) ** 2;
        for (0 .. 2) { my $d = $a[$_] - $y; $loss += ($d < 0 ? -$q[$_] * $d : (1 - $q[$_]) * $d) / 3; $below[$_] += $y <= $a[$_] }
        END { $bad = "$cross rows cross; " if $cross; for (0 .. 2) {
        $bad .= "q$q[$_] covers " . $below[$_] / $n . "; " if abs($below[$_] / $n - $q[$_]) > $slack }
            for ([pinball => $pinball, $loss / $n], [coverage => $coverage, $in / $n], [rmse => $rmse, sqrt($square / $n)]) {
            $bad .= "$_->[0] $_->[1], by the answers $_->[2]; " if abs($_->[1] - $_->[2]) > 2e-5 * $_->[2] }
            print "$bad\n"; exit !!$bad || $n != 2000 }' "$(value pinball)" "$(value coverage)" "$(value rmse)" "$slack" - >far
    ok $? "$name: rises, covers, and has the figures of evaluate" "$(cat far out)"
    dnn verify "$model" --quiet >verified
    ok $? "$name: verify" "$(cat verified)"
}
run dnn train c.json -o m.dnn --progress none --require 'coverage>=0.8' --require 'pinball<1'
is_exit 0 "one network, with gates on coverage and pinball"
check "beside the best constants" grep -qE '^dnn: rmse +[0-9].* [0-9.]+$' err
holds "mlp" m.dnn
run dnn evaluate m.dnn new.csv --quiet
out_has "quantile   0.5: 0." "evaluate shows the share at or below each"
run dnn evaluate m.dnn new.csv --quiet --json
out_has '"quantiles":[{"q":0.05,"coverage":0.0' "evaluate --json shows the share at or below each quantile"
run dnn inspect m.dnn
out_has "quantiles  0.05 0.5 0.95" "inspect shows them"
run dnn report m.dnn new.csv -o r.html
grep -q "its quantiles 0.05, 0.5, 0.95" r.html && grep -q "rows at or below it" r.html
ok $? "the report has a table of their coverage"
run dnn evaluate m.dnn new.csv --quiet --by c --require 'coverage.worst>=0.85'
is_exit 0 "by group, with a gate on the worst coverage"
run dnn evaluate m.dnn new.csv --quiet
pinball=$(value pinball)
run dnn evaluate m.dnn new.csv --quiet --by c --json
check "the groups' pinball has the mean of all" perl -0777 -e 'my ($json, $all) = @ARGV; open my $in, "<", $json;
    my ($by) = <$in> =~ /"groups":(.*)/s; my ($sum, $n) = (0, 0);
    while ($by =~ /"rows":(\d+).*?"pinball":([0-9.e-]+)/sg) { $sum += $1 * $2; $n += $1 } print "$n rows, ", $sum / ($n || 1), " $all\n";
    exit !($n == 2000 && abs($sum / $n - $all) < 1e-5 * $all)' out "$pinball"
run dnn explain m.dnn new.csv --json
out_has '"metric":"pinball"' "explain judges by pinball"
run dnn explain m.dnn new.csv --rows rows.csv --quiet
is_exit 0 "explain of rows"
run dnn explain m.dnn new.csv --effects effects.json --quiet
is_exit 0 "effects"
run dnn explain m.dnn new.csv --effects --quiet
out_has "the 0.5 quantile of y on " "effects say that they are of the middle one"
dnn train c.json -o high.dnn --quiet --set train.loss.q=0.9 --set train.epochs=1
run dnn explain high.dnn new.csv --effects --quiet
out_has "the 0.9 quantile of y on " "  or of the one that there is"
grep -q "the 0.5 quantile of y, on" r.html
ok $? "the report says which quantile it tells of" "$(grep -o 'answers are averaged.\{60\}' r.html)"
dnn train c.json -o m2.dnn --quiet --threads 1
same m.dnn m2.dnn "the same bytes by one thread"
run dnn train c.json -o m.dnn --quiet --init-from m.dnn
is_exit 0 "a warm start"
for preset in linear realmlp tabm; do
    run dnn train c.json -o p.dnn --quiet --force --set "model={\"preset\":\"$preset\"}" --set train.epochs=12
    is_exit 0 "$preset"
    holds "$preset" p.dnn 0.12
done
run dnn train c.json -o p.dnn --quiet --force --set target_transform=log --set calibrate=none
holds "learnt through a logarithm" p.dnn
# ensembles: two nights, merge and resume give the same bytes
sets=(--set ensemble.folds=2 --set 'ensemble.members=[{"name":"a"},{"name":"t","model":{"preset":"tabm","k":4}}]' --set train.epochs=8)
for night in first second; do
    run dnn train c.json -o e.dnn --quiet "${sets[@]}"
    is_exit 0 "an ensemble, $night night"
done
holds "ensemble" e.dnn 0.06
for run in 0 1 2 3; do dnn train c.json -o "part$run" --quiet "${sets[@]}" --run $run; done
run dnn merge c.json part0 part1 part2 part3 -o merged.dnn --quiet "${sets[@]}"
is_exit 0 "merge"
same e.dnn merged.dnn "merge makes the model that train makes"
run dnn predict e.dnn new.csv --quiet --uncertainty
is "$(head -n 1 out)" "id,q0.05,q0.5,q0.95,uncertainty" "the deviation of the middle one between the members"
run dnn evaluate e.dnn new.csv --quiet --better-than m.dnn
out_has "gate pinball better than m.dnn" "models are compared by pinball"
run dnn train c.json -o single.dnn --quiet --set train.loss.q=0.9
run dnn evaluate e.dnn new.csv --quiet --better-than single.dnn
is_exit 65 "a model of another number of answers"
err_has "does not answer the quantiles" "says so"
run dnn cv c.json --folds 2 --quiet -o cv.csv
is_exit 0 "cv writes answers"
is "$(head -n 1 cv.csv)" "id,fold,q0.05,q0.5,q0.95" "a column a quantile"
run dnn train c.json -o a.dnn --quiet --force --set 'model={"preset":"auto"}' --set train.time_limit_s=2
is_exit 0 "preset auto"
run dnn tune c.json -o best.json --trials 2 --quiet --json
out_has '"metric":"pinball"' "tune compares by pinball"
# refused
run dnn check c.json --set 'train.loss.q=[0.9,0.1]'
is_exit 64 "a list that falls"
err_has "is above the one before it" "says what is wrong"
run dnn check c.json --set intervals=0.9
is_exit 78 "intervals beside quantiles"
run dnn check c.json --set 'ensemble={"folds":2,"members":[{"name":"a"},{"name":"b","train":{"loss":{"q":[0.1,0.9]}}}]}'
is_exit 78 "a member of other quantiles"
err_has "its answers are other quantiles" "says so"
sed 's/"id": "id"/"q0.5": "id"/; s/"x": "numeric"/"x": "numeric"/' c.json >id.json
sed '1s/id/q0.5/' train.csv >id.csv
run dnn train id.json -o id.dnn --quiet --set data.train=id.csv
is_exit 78 "an id column of a quantile's name"
done_testing
