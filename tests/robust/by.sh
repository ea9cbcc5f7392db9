#!/bin/bash
# by.sh - evaluate --by: metrics by group are those of a file with the group's rows alone, bit for bit; worst first; bins of numbers
# and dates; gates on the worst group in text, JSON and JUnit; the largest groups and "other"; what it refuses.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/formats.sh"
awk 'BEGIN {srand(3); print "x,z,city,day,note,y,v"; for (i = 0; i < 800; i++) {x = rand(); z = rand(); c = int(rand() * 4)
    split("north,south,\"a, b\",", n, ","); k = c == 2 ? "\"a, b\"" : c == 3 ? "" : n[c + 1]
    printf "%.4f,%.4f,%s,2024-%02d-%02d,n%d,%s,%.4f\n", x, z, k, 1 + i % 12, 1 + i % 28, i % 70,
    (x + (c - 1) * rand() * .5 > .5 ? "yes" : "no"), 3 * x + z + (c == 1) * rand()}}' >d.csv
config() { # TASK TARGET NAME
    cat >$3.json <<J
{"task": "$1", "data": {"train": "d.csv", "target": "$2", "columns": {"x": "numeric", "z": "numeric"}}, "model": {"preset": "linear"},
  "output": {"model": "$3.dnn"}}
J
    dnn train $3.json --quiet
}
config binary y b
config regression v r
group() { # group COLUMN NAME: its metrics and intervals as JSON
    C=$1 N=$2 perl -MJSON::PP -0777 -ne '$j = JSON::PP->new->canonical; $d = $j->decode($_); for (@{$d->{groups}{$ENV{C}} || []}, $d) {
        next unless exists $ENV{N} && ($ENV{N} eq "*" ? $_ == $d : ($_->{group} // "") eq $ENV{N});
        print $j->encode([$_->{rows}, $_->{metrics}, $_->{intervals}]), "\n"; last }' out
}
names() { C=$1 perl -MJSON::PP -0777 -ne 'print join("|", map { $_->{group} } @{decode_json($_)->{groups}{$ENV{C}}}), "\n"' out; }
for model in b r; do
    head -n 1 d.csv >south.csv
    grep ',south,' d.csv >>south.csv
    run dnn evaluate $model.dnn d.csv --by city --json --quiet
    is_exit 0 "$model: --by city"
    cp out by.out
    south=$(group city south)
    run dnn evaluate $model.dnn south.csv --json --quiet
    is "$south" "$(group city '*')" "the group's metrics and intervals are those of its rows alone"
done
cp by.out out
is "$(names city | tr '|' '\n' | sort | tr '\n' '|')" '(missing)|a, b|north|south|' "four groups, one of missing cells"
worst=$(perl -MJSON::PP -0777 -ne '$g = decode_json($_)->{groups}{city}; print join(" ", map { $_->{metrics}{rmse} } @$g)' out)
is "$worst" "$(echo $worst | tr ' ' '\n' | sort -rg | tr '\n' ' ' | sed 's/ $//')" "the worst rmse first"
run dnn evaluate r.dnn d.csv --by x:4 --by day:3 --json --quiet
is "$(perl -MJSON::PP -0777 -ne 'print join(" ", sort map { $_->{rows} } @{decode_json($_)->{groups}{x}})' out)" "200 200 200 200" \
    "four bins of equally many rows"
names day | grep -qE '(^|\|)2024-01-[0-9]+ to 2024-0[45]-[0-9]+'
ok $? "dates are cut too" "$(names day)"
awk -F, -v OFS=, '{ $2 = NR == 1 ? "z" : NR % 3 == 0 } { print }' d.csv >flag.csv
run dnn evaluate r.dnn flag.csv --by z:2 --json --quiet
is "$(names z | tr '|' '\n' | sort | paste -sd ' ')" "0 1" "a bin of one value is named after it"
run dnn evaluate r.dnn d.csv --by x:4 --by day:3 --json --quiet
high=$(group x "$(names x | tr '|' '\n' | sort -g | tail -n 1)")
from=$(names x | tr '|' '\n' | sort -g | tail -n 1 | cut -d' ' -f1)
awk -F, -v from="$from" 'NR == 1 || $1 >= from' d.csv >high.csv
run dnn evaluate r.dnn high.csv --json --quiet
is "$high" "$(group x '*')" "a bin is the rows between its ends"
# gates
auc=$(dnn evaluate b.dnn d.csv --by city --json --quiet | perl -MJSON::PP -0777 -ne '@a = sort { $a <=> $b } map {
    $_->{metrics}{auc} } @{decode_json($_)->{groups}{city}}; printf "%.17g", $a[0]')
run dnn evaluate b.dnn d.csv --by city --json --quiet --require "auc.worst>=$auc"
is_exit 0 "auc.worst at its value"
out_has '"pass":true,"where":"city ' "auc.worst names the group"
run dnn evaluate b.dnn d.csv --by city --require "auc.worst>$auc"
is_exit 82 "auc.worst above its value: 82"
grep -qE 'gate auc.worst>.*: NOT met \(0\.[0-9]+, of city ".*", [0-9]+ rows\)' out
ok $? "the text names the group" "$(tail -n 2 out)"
is "$(grep -A1 -E '^city +rows +auc' out | wc -l)" 2 "its table is ordered by that metric"
run dnn evaluate b.dnn d.csv --by city --format junit --require "auc.worst>$auc"
out_has 'of city ' "JUnit names it too"
# each group is a case and has gauges; its name is text, never markup or syntax
xml out
ok $? "well formed" "$(cat out)"
dnn evaluate b.dnn d.csv --by city --json --quiet >by.out
below=$(perl -MJSON::PP -0777 -ne "print scalar grep { \$_->{metrics}{auc} <= $auc } @{decode_json(\$_)->{groups}{city}}" by.out)
out_has "tests=\"5\" failures=\"$((1 + below))\" errors=\"0\" skipped=\"0\"" "a case a group, failed where it does not meet the gate"
south=$(perl -MJSON::PP -0777 -ne '($g) = grep { $_->{group} eq "south" } @{decode_json($_)->{groups}{city}};
    printf "%d %.9g %.9g", $g->{rows}, $g->{metrics}{auc}, $g->{intervals}{auc}[0]' by.out)
is "$(sed -n '/name="city &quot;south&quot;"/,/<\/properties>/s/.*name="\(rows\|auc\|auc.low\)" value="\([^"]*\)".*/\2/p' out |
    tr '\n' ' ')" "$south " "the case of a group has its figures"
sed 's/south/"<s>\\""\&"/' d.csv >evil.csv
run dnn evaluate b.dnn evil.csv --by city --format junit
xml out
ok $? "a group whose name is markup" "$(cat out)"
out_has 'name="city &quot;&lt;s&gt;\&quot;&amp;&quot;"' "as text"
run dnn evaluate b.dnn evil.csv --by city --format prom --quiet
prom out
ok $? "gauges of groups" "$(cat out)"
is "$(sed -n 's/^dnn_metric{part="data",metric="auc",by="city",group="<s>\\\\\\"&"} //p' out)" "$(echo "$south" | cut -d' ' -f2)" \
    "the gauge of a group has its value"
is "$(grep -c '^dnn_metric{part="data",metric="auc"' out)" 5 "five gauges of auc: one of all rows, four of groups"
# a group of one label has no auc, and is not the worst
awk -F, 'NR == 1 || !/,north,/ || $6 == "yes"' d.csv >one.csv
run dnn evaluate b.dnn one.csv --by city --require 'auc.worst>=0.01'
is_exit 0 "a group without auc is not the worst"
out_has '1 of 4 groups have no auc, and are not counted as the worst'
run dnn evaluate b.dnn one.csv --by city --require 'auc.worst>=0.01' --format junit
out_has 'tests="5" failures="0" errors="0" skipped="1"' "in JUnit it is skipped"
run dnn evaluate b.dnn d.csv --by note --json --quiet
is "$(perl -MJSON::PP -0777 -ne '$g = decode_json($_)->{groups}{note}; $n += $_->{rows} for @$g; print scalar(@$g), " ", $n, " ",
    scalar(grep { $_->{group} eq "other" } @$g)' out)" "51 800 1" "the 50 largest groups, and the others as one"
run dnn evaluate b.dnn d.csv --by note
out_has 'other: 20 more groups'
# cells that hold the words of dnn: no two groups have one name
awk -F, -v OFS=, 'NR > 1 { n = $(NF - 2);
    $(NF - 2) = n ~ /^n[0-4]$/ ? "other" : n ~ /^n[5-9]$/ ? "(missing)" : n ~ /^n1[0-4]$/ ? "" : n } 1' d.csv >words.csv
run dnn evaluate b.dnn words.csv --by note --json --quiet
is "$(names note | tr '|' '\n' | sort | uniq -d)" "" "names are distinct"
is "$(for n in other '(missing)' '((missing))'; do N=$n perl -MJSON::PP -0777 -ne 'print map { "$_->{rows} " } grep {
    $_->{group} eq $ENV{N} } @{decode_json($_)->{groups}{note}}' out; done)" \
    "$(for n in other '(missing)' ''; do awk -F, -v n="$n" '$(NF - 2) == n { c++ } END { printf "%d ", c }' \
    words.csv; done)" "a cell's word names its rows alone"
head -n 1 words.csv >other.csv
grep ',other,' words.csv >>other.csv
other=$(group note other)
run dnn evaluate b.dnn other.csv --json --quiet
is "$other" "$(group note '*')" "the group of other notes has the metrics of its rows"
run dnn evaluate b.dnn words.csv --by note
out_has '(other): '
run dnn evaluate b.dnn words.csv --by note --format prom --quiet
is "$(sed -n 's/^\(dnn_metric{[^}]*}\).*/\1/p' out | sort | uniq -d)" "" "no gauge is there twice"
# with --better-than a number is the advantage
run dnn evaluate b.dnn d.csv --by city --better-than b.dnn --by 0.01 --json --quiet
is_exit 82 "a model is not better than itself by 0.01"
is "$(names city | tr '|' '\n' | wc -l)" 4 "beside groups"
run dnn evaluate b.dnn d.csv --better-than b.dnn --by 0.01 --by 0.02
is_exit 64 "two advantages"
run dnn evaluate b.dnn d.csv --by citi
is_exit 64 "an unknown column"
err_has 'did you mean "city"?'
run dnn evaluate b.dnn d.csv --require 'auc.worst>=0.5'
is_exit 64 "auc.worst without --by"
run dnn train b.json --require 'auc.worst>=0.5'
is_exit 64 "auc.worst without --by in train"
run dnn evaluate b.dnn d.csv --by city:4 --quiet
is_exit 64 "bins of a column of texts"
err_has 'the column "city" has no numbers or dates to cut' "bins of a column of texts: the reason"
done_testing
