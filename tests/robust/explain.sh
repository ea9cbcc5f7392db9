#!/bin/bash
# explain.sh - permutation importance: against columns shuffled in the file and measured by evaluate; groups, kinds of columns,
# threads, errors.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN {
    seed = 11
    print "a,b,c,k,day,note,y"
    for (i = 1; i <= 900; i++) {
        a = r() - 0.5; b = r() - 0.5; c = r(); k = int(r() * 4); d = 1 + int(r() * 28); w = int(r() * 3)
        s = 5 * a + 1.5 * b + (k == 2 ? 3 : 0) + (w == 1 ? 1 : 0) - 1
        printf "%.5f,%s,%.5f,k%d,2024-03-%02d,%s,%s\n", a, (i % 11 ? sprintf("%.5f", b) : ""), c, k, d,
            (w == 1 ? "red car" : w ? "blue car" : "old bike"), (r() < 1 / (1 + exp(-s)) ? "yes" : "no")
    }
}
function r() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }' >all.csv
head -n 601 all.csv >train.csv
{ head -n 1 all.csv; tail -n 300 all.csv; } >test.csv
config() { # FILE [MORE]
    cat >"$1" <<JSON
{"task": "binary", "data": {"train": "train.csv", "target": "y", "positive": "yes", "missing": ["", "NA"], "columns": {"a": "numeric", "b": "numeric",
 "c": "numeric", "k": "categorical", "day": "datetime", "note": "text"}},
 "model": {"preset": "mlp", "hidden": [16]}, "train": {"epochs": 15, "batch_size": 32}, "backend": {"name": "dnn_cpu"}${2:+, $2}}
JSON
}
importance() { perl -ne 'print $1 if /"name":"'"$1"'","importance":([-0-9.e+]+)/' "$2"; }
config c.json
dnn train c.json -o m.dnn --quiet
run dnn explain m.dnn test.csv --json --repeats 8
is_exit 0 "explain"
cp out whole
is "$(perl -ne 'print join " ", sort((/"name":"([^"]*)"/g)[0, 1])' whole)" "a k" "the two that matter most come first"
out_has '"metric":"logloss"' "by the default metric"
is "$(perl -ne 'print scalar(() = /"name"/g)' whole)" 6 "all six columns"
value=$(perl -ne 'print $1 if /"value":([0-9.]+)/' whole)
is "$value" "$(dnn evaluate m.dnn test.csv --quiet --json | perl -ne 'print $1 if /"logloss":([0-9.]+)/')" "the value is that of evaluate"
# the same by hand: the column of the file is shuffled eight times
shuffled() { # COLUMN: how much worse on average
    local column=$1 sum=0 i
    for i in 1 2 3 4 5 6 7 8; do
        perl -e 'my ($n, $s) = splice @ARGV, 0, 2; srand $s; my $h = <>; my @r = map { chomp; [split /,/, $_, -1] } <>; my @v = map { $_->[$n] } @r;
            for my $k (reverse 1 .. $#v) { my $j = int rand $k + 1; @v[$k, $j] = @v[$j, $k] } print $h; $_->[$n] = shift @v, print join(",", @$_), "\n" for @r' \
            "$column" "$i" test.csv >s.csv
        sum=$(perl -e 'print $ARGV[0] + $ARGV[1]' "$sum" "$(dnn evaluate m.dnn s.csv --quiet --json | perl -ne 'print $1 if /"logloss":([0-9.]+)/')")
    done
    perl -e 'print $ARGV[0] / 8 - $ARGV[1]' "$sum" "$value"
}
i=0
for name in a b c k day note; do
    by_hand=$(shuffled $i)
    ours=$(importance $name whole)
    ok "$(perl -e 'exit !(abs($ARGV[0] - $ARGV[1]) < 0.012 + 0.15 * abs $ARGV[0])' -- "$by_hand" "${ours:-9}"; echo $?)" "column $name: $ours, by hand $by_hand"
    i=$((i + 1))
done
ok "$(perl -ne 'exit 1 if /"importance":([-0-9.e+]+),"low":([-0-9.e+]+),"high":([-0-9.e+]+)/ && !($2 < $1 && $1 < $3)' whole; echo $?)" "intervals hold their means"
run dnn explain m.dnn test.csv --json --repeats 8 --threads 3 --batch-size 37
is "$(perl -ne 'print $1 if /("columns".*?\])/' out)" "$(perl -ne 'print $1 if /("columns".*?\])/' whole)" "the same with other threads and batches"
run dnn explain m.dnn test.csv --group a,b --group c,day --json
is "$(perl -ne 'print scalar(() = /"name"/g)' out)" 4 "groups stand in place of their columns"
ok "$(perl -e 'exit !($ARGV[0] > $ARGV[1])' "$(importance 'a, b' out)" "$(importance a whole)"; echo $?)" "a group matters more than its first column"
run dnn explain m.dnn test.csv --repeats 1
is_exit 0 "one repeat"
ok "$(head -n 2 out | tail -n 1 | grep -q '^a  *0[.0-9]*  *##############################$'; echo $?)" "text with bars, without an interval" "$(cat out)"
# target statistics follow the dealt keys; an ensemble with encoders of its own
config t.json '"encoders": {"target_statistics": {"columns": ["k"], "pairs": 2}}, "ensemble": {"folds": 2}'
dnn train t.json -o t.dnn --quiet --set train.epochs=12
run dnn explain t.dnn test.csv --json --repeats 3
is_exit 0 "an ensemble with target statistics"
is "$(perl -ne 'print join " ", (/"name":"([^"]*)"/g)[0]' out)" "a" "the same first column"
ok "$(perl -e 'exit !($ARGV[0] > 0.005)' -- "$(importance k out)"; echo $?)" "the key matters"
cat >r.json <<'JSON'
{"task": "regression", "data": {"train": "train.csv", "target": "a", "missing": ["", "NA"], "columns": {"b": "numeric", "k": "categorical", "y": "categorical"}},
 "model": {"preset": "linear"}, "train": {"epochs": 20}, "backend": {"name": "dnn_cpu"}}
JSON
dnn train r.json -o r.dnn --quiet
run dnn explain r.dnn test.csv --json
out_has '"metric":"rmse"' "a regression"
is "$(perl -ne 'print join " ", (/"name":"([^"]*)"/g)[0]' out)" "y" "its first column"
run dnn explain m.dnn test.csv --group a,x
is_exit 64 "a group of no column"
run dnn explain m.dnn test.csv --group a,b --group b,c
is_exit 64 "a column in two groups"
sed '2,$s/[a-z]*$//' test.csv >bare.csv
run dnn explain m.dnn bare.csv
is_exit 65 "rows without targets"
run dnn explain m.dnn test.csv --repeats 0
is_exit 64 "no repeats"
done_testing
