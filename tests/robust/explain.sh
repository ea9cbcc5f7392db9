#!/bin/bash
# explain.sh - permutation importance: against columns shuffled in the file and measured by evaluate; groups, kinds of columns,
# threads, errors.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/adds_up.sh"
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
{"task": "binary", "data": {"train": "train.csv", "target": "y", "positive": "yes", "missing": ["", "NA"],
  "columns": {"a": "numeric", "b": "numeric",
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
dnn train c.json -o w.dnn --quiet --set train.loss.class_weights=balanced
run dnn explain w.dnn test.csv --json --repeats 1 --quiet
out_has '"metric":"loss"' "the loss of class weights"
is "$(perl -ne 'print $1 if /"value":([0-9.]+)/' out)" "$(dnn evaluate w.dnn test.csv --quiet --json |
    perl -ne 'print $1 if /"loss":([0-9.]+)/')" "its value is that of evaluate"
# the same by hand: the column of the file is shuffled eight times
shuffled() { # COLUMN: how much worse on average
    local column=$1 sum=0 i
    for i in 1 2 3 4 5 6 7 8; do
        perl -e 'my ($n, $s) = splice @ARGV, 0, 2; srand $s; my $h = <>; my @r = map { chomp; [split /,/, $_, -1] } <>;
            my @v = map { $_->[$n] } @r;
            for my $k (reverse 1 .. $#v) { my $j = int rand $k + 1; @v[$k, $j] = @v[$j, $k] } print $h;
            $_->[$n] = shift @v, print join(",", @$_), "\n" for @r' \
            "$column" "$i" test.csv >s.csv
        sum=$(perl -e 'print $ARGV[0] + $ARGV[1]' "$sum" "$(dnn evaluate m.dnn s.csv --quiet --json |
            perl -ne 'print $1 if /"logloss":([0-9.]+)/')")
    done
    perl -e 'print $ARGV[0] / 8 - $ARGV[1]' "$sum" "$value"
}
i=0
for name in a b c k day note; do
    by_hand=$(shuffled $i)
    ours=$(importance $name whole)
    ok "$(perl -e 'exit !(abs($ARGV[0] - $ARGV[1]) < 0.012 + 0.15 * abs $ARGV[0])' -- "$by_hand" "${ours:-9}"; echo $?)" \
        "column $name: $ours, by hand $by_hand"
    i=$((i + 1))
done
ok "$(perl -ne 'exit 1 if /"importance":([-0-9.e+]+),"low":([-0-9.e+]+),"high":([-0-9.e+]+)/ && !($2 < $1 && $1 < $3)' whole; echo $?)" \
    "intervals hold their means"
run dnn explain m.dnn test.csv --json --repeats 8 --threads 3 --batch-size 37
is "$(perl -ne 'print $1 if /("columns".*?\])/' out)" "$(perl -ne 'print $1 if /("columns".*?\])/' whole)" \
    "the same with other threads and batches"
run dnn explain m.dnn test.csv --group a,b --group c,day --json
is "$(perl -ne 'print scalar(() = /"name"/g)' out)" 4 "groups stand in place of their columns"
ok "$(perl -e 'exit !($ARGV[0] > $ARGV[1])' "$(importance 'a, b' out)" "$(importance a whole)"; echo $?)" \
    "a group matters more than its first column"
run dnn explain m.dnn test.csv --repeats 1
is_exit 0 "one repeat"
ok "$(head -n 2 out | tail -n 1 | grep -q '^a  *0[.0-9]*  *##############################$'; echo $?)" \
    "text with bars, without an interval" "$(cat out)"
# target statistics follow the dealt keys; an ensemble with encoders of its own
config t.json '"encoders": {"target_statistics": {"columns": ["k"], "pairs": 2}}, "ensemble": {"folds": 2}'
dnn train t.json -o t.dnn --quiet --set train.epochs=12
run dnn explain t.dnn test.csv --json --repeats 3
is_exit 0 "an ensemble with target statistics"
is "$(perl -ne 'print join " ", (/"name":"([^"]*)"/g)[0]' out)" "a" "the same first column"
ok "$(perl -e 'exit !($ARGV[0] > 0.005)' -- "$(importance k out)"; echo $?)" "the key matters"
cat >r.json <<'JSON'
{"task": "regression", "data": {"train": "train.csv", "target": "a", "missing": ["", "NA"], "columns": {"b": "numeric",
  "k": "categorical", "y": "categorical"}},
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
# --- columns that say the same ---
awk 'BEGIN {
    seed = 23
    print "a,\"a, twice\",code,num,b,it\x27s,y"
    for (i = 1; i <= 600; i++) {
        a = r() - 0.5; k = int(r() * 5); b = r()
        printf "%.5f,%.5f,k%d,%d,%.5f,%s,%s\n", a, exp(3 * a) + r() / 50, k, k * k, b, (k == 1 ? "one" : k "x"),
        (a + (k == 2) + b + r() > 1.4 ? "yes" : "no")
    }
}
function r() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }' >alike.csv
cat >alike.json <<'JSON'
{"task": "binary", "data": {"train": "alike.csv", "target": "y", "positive": "yes", "columns": {"a": "numeric", "a, twice": "numeric",
  "code": "categorical",
 "num": "numeric", "b": "numeric", "it's": "categorical"}}, "model": {"preset": "mlp", "hidden": [16]},
 "train": {"epochs": 10, "batch_size": 32},
 "backend": {"name": "dnn_cpu"}}
JSON
dnn train alike.json -o alike.dnn --quiet
run dnn explain alike.dnn alike.csv --json
is "$(perl -ne 'my ($list) = /"alike":\[(.*?)\],"backend"/; my @g;
    push @g, join " ", sort split /","/, $1 while $list =~ /"columns":\["(.*?)"\]/g; print join "; ", sort @g' out)" \
    "a a, twice; code it's num" "two groups: of numbers, and of a number and two categories"
cp out alone
run dnn explain alike.dnn alike.csv
is "$(grep -c '^these say much the same (association [01].[0-9]*' out)" 2 "the text names both"
groups=$(sed -n 's/.*all together: //p' out | tr '\n' ' ')
eval "run dnn explain alike.dnn alike.csv --json $groups"
is_exit 0 "the options can be given as they are written: $groups"
is "$(perl -ne 'print scalar(() = /"importance"/g), " ", /"alike":\[\]/ ? "none" : "some"' out)" "3 none" \
    "three entries; their groups are not offered again"
ok "$(perl -e 'sub v { open my $f, "<", shift; local $_ = <$f>; map { /"name":"(.*?)","importance":([-0-9.e]+)/ ? ($1, $2) : () }
    split /\},\{/ } my %a = v("alone"); my %g = v("out");
    my ($p) = grep { /twice/ } keys %g; exit !($g{$p} > $a{a} && $g{$p} > $a{"a, twice"})'; echo $?)" \
    "together they matter more than each alone" "$(cat alone out)"
# --- --rows: attributions ---
sed 's/,[^,]*$//' test.csv | head -n 60 >bare.csv # no target
run dnn explain m.dnn bare.csv --rows w.csv --json
is_exit 0 "attributions, without a target"
adds_up m.dnn w.csv bare.csv probability_yes "those of numbers, a category, a date and a text add up to answer - base"
is "$(head -n 1 w.csv)" "a,b,c,k,day,note,base,answer" "the columns"
is "$(cut -d , -f 7 w.csv | sort -u | wc -l)" 2 "one base for all rows"
ok "$(perl -ne 'exit !(/"largest_difference":([-0-9.e+]+)/ && $1 < 1e-9)' out; echo $?)" "the summary says the largest difference" \
    "$(cat out)"
is "$(perl -ne '%v = /"name":"([^"]*)","mean_absolute":([0-9.e-]+)/g; print +(sort { $v{$b} <=> $v{$a} } keys %v)[0]' out)" a \
    "the column with the largest attributions"
run dnn explain m.dnn bare.csv --rows again.csv --threads 3 --batch-size 7
same w.csv again.csv "the same with other threads and batches"
out_has 'probability of "yes"' "the summary says what is explained"
run dnn explain t.dnn bare.csv --rows w.csv
is_exit 0 "attributions of an ensemble with target statistics"
adds_up t.dnn w.csv bare.csv probability_yes "they add up"
# A linear model: a number's attribution is its weight times (value - mean); of two rows that differ in a column, its attribution alone
# differs.
cat >l.json <<'JSON'
{"task": "regression", "data": {"train": "train.csv", "target": "a", "missing": ["", "NA"], "columns": {"b": {"type": "numeric",
  "scale": "standard"}, "c": "id",
 "k": "categorical", "y": "categorical", "day": "ignore", "note": "ignore"}}, "model": {"preset": "linear"}, "train": {"epochs": 20},
 "backend": {"name": "dnn_cpu"}}
JSON
dnn train l.json -o l.dnn --quiet
mean=$(dnn inspect l.dnn --json | perl -ne 'print $1 if /"name":"b".*?"center":([-0-9.e]+)/')
printf 'b,c,k,y\n%s,"1,5",k1,yes\n0.4,2,k1,yes\n0.4,3,k2,yes\n0.4,4,k2,no\n,5,k2,no\n' "$mean" >lin.csv
run dnn explain l.dnn lin.csv --rows w.csv
is_exit 0 "attributions of a linear model"
is "$(head -n 2 w.csv | cut -c 1-8)" $'c,b,k,y,\n"1,5",0,' "the id first; a number at its mean has none"
dnn predict l.dnn lin.csv --quiet >p
tail -n +2 w.csv | sed 's/^"1,5"/1/' | perl -e 'my @w = map { chomp; [split /,/] } <STDIN>; open my $p, "<", "p"; <$p>;
    my @y = map { /([^,\n]*)$/ } <$p>;
    my $near = sub { abs($_[0] - $_[1]) < 1e-6 }; my $bad = 0;
    for ([1, 0, 1], [2, 1, 2], [3, 2, 3]) { my ($r, $s, $c) = @$_; # rows r and s differ in column c
        for my $k (1 .. 3) { $near->($w[$r][$k] - $w[$s][$k], $k == $c ? $y[$r] - $y[$s] : 0) or $bad++ } } exit $bad'
ok $? "of rows that differ in one column, its attribution alone differs, by the difference of the answers" "$(cat w.csv p)"
cat >k.json <<'JSON'
{"task": "multiclass", "data": {"train": "train.csv", "target": "k", "missing": ["", "NA"], "columns": {"a": "numeric", "b": "numeric",
  "y": "categorical", "c": "ignore",
 "day": "ignore", "note": "ignore"}}, "model": {"preset": "mlp", "hidden": [8]}, "train": {"epochs": 5}, "backend": {"name": "dnn_cpu"}}
JSON
dnn train k.json -o k.dnn --quiet
run dnn explain k.dnn test.csv --rows w.csv
is_exit 0 "attributions of four labels"
is "$(head -n 1 w.csv)" "a,b,y,prediction,base,answer" "attributions name the label that is explained"
adds_up k.dnn w.csv test.csv best "they add up to the probability of the prediction"
run dnn explain m.dnn test.csv --rows w.csv --repeats 3
is_exit 64 "--rows with --repeats"
run dnn explain m.dnn test.csv --rows test.csv
is_exit 64 "the attributions would replace the rows"
run dnn explain m.dnn test.csv --rows k.dnn
is_exit 73 "they would replace a model"
# a row that cannot be read ends it: there is no --on-bad-row to name
sed '3s/,k[0-9],/,k1,/; 3s/^[^,]*/x/' test.csv >bad.csv
for more in "" "--rows w.csv"; do
    run dnn explain m.dnn bad.csv $more
    is_exit 65 "a bad row${more:+, with --rows}"
    err_has 'bad.csv:3:1: column "a": "x" is not a number' "is named"
    err_lacks "on-bad-row" "without an option that explain lacks"
done
run dnn report m.dnn bad.csv -o bad.html
is_exit 65 "report stops at it, too"
err_lacks "on-bad-row" "report on a bad row: no option that it lacks is named"
run dnn evaluate m.dnn bad.csv
err_has "on-bad-row skip" "evaluate has it"
done_testing
