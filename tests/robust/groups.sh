#!/bin/bash
# groups.sh - rows in groups: intervals of evaluate, train, cv and of an ensemble, gates on their ends and --better-than take groups
# as independent, not rows; where the data lacks the column, a note says that intervals are by row.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN {srand(4); print "who,x,z,y"; for (g = 0; g < 60; g++) {u = rand() - .5; v = rand() - .5;
    for (i = 0; i < 10; i++) {x = u + .3 * (rand() - .5)
    z = rand(); printf "w%d,%.4f,%.4f,%s\n", g, x, z, (u + .8 * v + .2 * (rand() - .5) > 0 ? "yes" : "no")}}}' >g.csv
cut -d, -f2- g.csv >rows.csv
cat >g.json <<'J'
{"task": "binary", "data": {"train": "g.csv", "target": "y", "positive": "yes", "columns": {"who": "group", "x": "numeric", "z": "numeric"},
  "split": {"method": "group", "valid": 0.2, "test": 0.3}}, "model": {"preset": "linear"}, "output": {"model": "g.dnn"}}
J
ends() { # ends FILE KEY METRIC: "low high"
    K=$2 M=$3 perl -MJSON::PP -0777 -ne '$i = decode_json($_)->{$ENV{K}}{$ENV{M}}; printf "%.9g %.9g\n", @$i' "$1"
}
wider() { # wider A B TIMES: interval A is so many times as wide as B, at least
    perl -e '($a, $b, $c, $d, $t) = @ARGV; exit !(($b - $a) > $t * ($d - $c))' -- $1 $2 "$3"
}
run dnn train g.json --json --quiet
cp out train.json
run dnn evaluate g.dnn g.csv --json --quiet
is_exit 0 "evaluate with the column of groups"
cp out g.out
run dnn evaluate g.dnn rows.csv --json --quiet
cp out rows.out
is "$(perl -ne 'print $1 if /"metrics":(\{.*?\})/' g.out)" "$(perl -ne 'print $1 if /"metrics":(\{.*?\})/' rows.out)" \
    "the metrics are those of rows"
for metric in auc accuracy logloss brier; do
    check "$metric: the interval by groups is wider" wider "$(ends g.out intervals $metric)" "$(ends rows.out intervals $metric)" 1.4
done
sed '1a w0,0.5,0.5,' g.csv >first.csv
run dnn evaluate g.dnn first.csv --json --quiet
is "$(ends out intervals auc)" "$(ends g.out intervals auc)" "a first row without a label takes no row from the groups"
run dnn evaluate g.dnn rows.csv
err_has 'the data lacks "who", the column of groups: intervals are as if all rows were independent' \
    "data without the column of groups: a note"
# accuracy by hand: a jackknife over groups, Student's t of 59 degrees of freedom (2.000995), Wilson's with the rows of that error
dnn predict g.dnn g.csv --quiet >answers
want=$(paste -d, g.csv answers | perl -F, -ane 'next if $. == 1; chomp @F; $n{$F[0]}++; $r{$F[0]} += $F[3] eq $F[4]; $N++;
    $R += $F[3] eq $F[4]; END {
    @v = map { ($R - $r{$_}) / ($N - $n{$_}) } keys %n; $g = @v; $m += $_ / $g for @v; $s += ($_ - $m) ** 2 for @v; $s *= ($g - 1) / $g;
    $p = $R / $N; $k = $p * (1 - $p) / $s; $t = 2.000995; $d = 1 + $t ** 2 / $k; $c = ($p + $t ** 2 / 2 / $k) / $d;
    $h = $t / $d * sqrt($p * (1 - $p) / $k + $t ** 2 / 4 / $k ** 2); printf "%.5f %.5f", $c - $h, $c + $h}')
is "$(printf '%.5f %.5f' $(ends g.out intervals accuracy))" "$want" "accuracy by hand"
low=$(ends g.out intervals auc | cut -d' ' -f1)
run dnn evaluate g.dnn g.csv --quiet --require "auc.low>=$(perl -e "print $low - 1e-6")"
is_exit 0 "auc.low at its value"
run dnn evaluate g.dnn g.csv --quiet --require "auc.low>=$(perl -e "print $low + 1e-6")"
is_exit 82 "auc.low of intervals by groups, above its value: 82"
# train: intervals of its parts; without a column of groups they are by row
run dnn train g.json --json --quiet --set data.split.method=random --set data.columns.who=ignore -o r.dnn
check "train: intervals of the test rows by groups" wider "$(ends train.json test_intervals brier)" "$(ends out test_intervals brier)" 1.3
# a column of groups beside another split: train and evaluate say the same
for more in data.split.method=random data.split.method=hash data.split.method=time; do
    [ $more = data.split.method=time ] && more="$more --set data.split.column=z"
    run dnn train g.json --json --quiet --set $more -o p.dnn --force
    cp out p.out
    run dnn evaluate p.dnn g.csv --part test --json --quiet
    is_exit 0 "$more: evaluate"
    is "$(ends p.out test_intervals brier)" "$(ends out intervals brier)" "$more: intervals of train are those of evaluate"
done
# an ensemble and cv: out-of-fold rows
run dnn train g.json --json --quiet --set 'ensemble={"folds": 3}' -o e.dnn
cp out e.out
run dnn train g.json --json --quiet --set 'ensemble={"folds": 3}' --set data.split.method=random --set data.columns.who=ignore -o f.dnn
check "an ensemble: by groups" wider "$(ends e.out valid_intervals brier)" "$(ends out valid_intervals brier)" 1.3
# the comparison draws groups
dnn train g.json --quiet --set 'data.columns={"who":"group","z":"numeric","x":"ignore"}' -o other.dnn --force
better() { perl -MJSON::PP -0777 -ne 'printf "%.9g %.9g\n", @{decode_json($_)->{gates}[0]{interval}}' out; }
run dnn evaluate g.dnn g.csv --json --quiet --better-than other.dnn
groups=$(better)
run dnn evaluate g.dnn rows.csv --json --quiet --better-than other.dnn
check "--better-than: the interval by groups is wider" wider "$groups" "$(better)" 1.3
# sequences: a series is a group
awk 'BEGIN {srand(6); print "series,t,a,y"; for (s = 0; s < 40; s++) {b = rand() > .5; for (t = 0; t < 20; t++) printf "%d,%d,%.4f,%s\n", s,
    t, b + 1.5 * rand(), b ? "on" : "off"}}' >s.csv
cat >s.json <<'J'
{"task": "tagging", "data": {"train": "s.csv", "target": "y", "columns": {"a": "numeric"}, "sequence": {"group": "series", "order": "t",
  "window": 20, "stride": 20, "label": "row"}},
 "model": {"layers": [{"type": "dense", "units": 8}, {"type": "relu"}]}, "train": {"epochs": 3}, "output": {"model": "s.dnn"}}
J
run dnn train s.json --json --quiet
is_exit 0 "a tagging model"
run dnn evaluate s.dnn s.csv --json --quiet
by_series=$(ends out intervals accuracy)
p=$(perl -ne 'print $1 if /"accuracy":([0-9.]+)/' out)
check "tagging: intervals by series are wider than those of 800 rows" wider "$by_series" \
    "0 $(perl -e "print 3.92 * sqrt($p * (1 - $p) / 800)")" 1.3
done_testing
