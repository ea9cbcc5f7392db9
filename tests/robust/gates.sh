#!/bin/bash
# gates.sh - gates on a metric, on an end of its interval and on a point of the curve, in evaluate and train; --better-than with the
# interval of the difference.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 600
make_leads more.csv 400 5
make_leads_config c.json leads.csv '' '"epochs": 12, "seed": 1'
dnn train c.json -o m.dnn --quiet
dnn train c.json -o weak.dnn --quiet --set train.epochs=1 --set train.optimizer.learning_rate=0.0001
dnn train c.json -o twin.dnn --quiet --set train.seed=4
dnn evaluate m.dnn more.csv --quiet --json >m.json
low=$(perl -ne 'print $1 if /"intervals":\{"auc":\[([0-9.]+),/' m.json)
high=$(perl -ne 'print $1 if /"intervals":\{"auc":\[[0-9.]+,([0-9.]+)\]/' m.json)
gate() { run dnn evaluate m.dnn more.csv --quiet --json --require "$1"; }
gate "auc.low>=$low"
is_exit 0 "auc.low at its value"
gate "auc.high<=$high"
is_exit 0 "auc.high at its value"
gate "auc.low>$low"
is_exit 82 "auc.low above it"
out_has "\"value\":$low,\"pass\":false" "auc.low above it: the value is told"
# the best precision where recall is at least 0.8, from the answers themselves
dnn predict m.dnn more.csv --quiet >answers.csv
best() { # best RECALL|PRECISION AT: the best of the other one
    paste -d, answers.csv more.flat | perl -F, -ane 'next if $. == 1; chomp @F; push @r, [$F[3], $F[-1] eq "yes"]; END {
        my ($at, $what) = (pop @ARGV, 0); my ($all, $hit, $n, $best) = (scalar(grep { $_->[1] } @r), 0, 0, 0);
        @r = sort { $b->[0] <=> $a->[0] } @r;
        for my $i (0 .. $#r) { $n++; $hit += $r[$i][1]; next if $i < $#r && $r[$i + 1][0] == $r[$i][0];
            my ($recall, $precision) = ($hit / $all, $hit / $n);
            if ("'"$1"'" eq "recall") { $best = $precision if $recall >= '"$2"' && $precision > $best } elsif ($precision >= '"$2"' &&
            $recall > $best) { $best = $recall } }
        printf "%.12g", $best }'
}
perl -0777 -pe 's/New\nYork/New York/g' more.csv >more.flat
precision=$(best recall 0.8)
recall=$(best precision 0.7)
about() { perl -e 'printf "%.9g", $ARGV[0] + $ARGV[1]' "$1" "$2"; }
gate "precision@recall=0.8>=$(about "$precision" -0.000001)"
is_exit 0 "precision@recall=0.8 is $precision"
gate "precision@recall=0.8>=$(about "$precision" 0.000001)"
is_exit 82 "precision@recall=0.8 is not above $precision"
gate " recall@precision=0.7 > $(about "$recall" -0.000001)"
is_exit 0 "recall@precision=0.7 is $recall"
gate "recall@precision=0.7>$(about "$recall" 0.000001)"
is_exit 82 "recall@precision=0.7 is not above $recall"
for wrong in 'auc@recall=0.8>=0.5' 'precision@recall=1.5>=0.5' 'precision@recall>=0.5' 'auc.middle>=0.5' 'auc.>=0.5' \
    'recall@recall=0.8>=0.5' '.low>=0.5'; do
    gate "$wrong"
    is_exit 64 "$wrong"
done
run dnn train c.json -o x.dnn --quiet --require 'auc.low>=0.99' --require 'precision@recall=0.8>=1'
is_exit 82 "train: an interval and a curve not met"
err_has "auc.low>=0.99, measured"
err_has "precision@recall=0.8>=1, measured"
err_lacks "gates    " "--quiet: nothing but the error"
run dnn train c.json -o x.dnn --require 'AUC>=0.01' --require 'auc<=1'
is_exit 0 "the name of a metric in capitals"
err_has 'dnn: gates    AUC>=0.01: met (0.' "met gates are said too"
{ head -n 1 more.flat; grep ',yes' more.flat; } >yes.csv
run dnn evaluate m.dnn yes.csv --require 'auc>=0.5'
is_exit 82 "rows of one label"
out_has "gate auc>=0.5: NOT met (undefined: auc needs rows of two labels)" "why a gate has no value"
err_has "gate not met: auc>=0.5, measured undefined: auc needs rows of two labels" "in the warning too"
run dnn evaluate m.dnn yes.csv --threshold 0.999999 --require 'precision>=0.5' --require 'auc.low>=0.5' --require 'precision@recall=0.5>=0'
out_has "precision>=0.5: NOT met (undefined: precision needs rows answered with the positive label)" "precision without answers"
out_has "auc.low>=0.5: NOT met (undefined: auc's interval needs enough rows of two labels)" "an interval"
run dnn evaluate m.dnn yes.csv --require 'auc>=0.5' --format junit
out_has 'message="measured undefined: auc needs rows of two labels"' "an undefined metric in JUnit"
run dnn evaluate m.dnn more.csv --require 'auc>=0.99' --require 'logloss<9' --quiet
out_has "gate logloss<9: met" "--quiet keeps results on standard output"
run dnn train c.json -o x.dnn --quiet --require 'auc.low>=0.01' --require 'precision@recall=0.8>=0.01' --set 'ensemble={"folds": 2}' \
    --set train.epochs=2
is_exit 0 "train of an ensemble: met" "$(cat err)"
run dnn train c.json -o x.dnn --force --quiet --require 'auc.low>=0.99' --set 'ensemble={"folds": 2}' --set train.epochs=2
is_exit 82 "train of an ensemble: not met"

better() { run dnn evaluate m.dnn more.csv --better-than "$@"; }
better weak.dnn --on auc --json
is_exit 0 "better than a weak one"
interval='"interval":\[([-0-9.e]+),([-0-9.e]+)\]'
perl -ne "/\"value\":([-0-9.e]+),\"pass\":true,\"own\":([-0-9.e]+),\"other\":([-0-9.e]+),$interval/ or exit 1;
    exit !(abs(\$1 - (\$2 - \$3)) < 1e-12 && \$4 > 0 && \$4 < \$1 && \$1 < \$5)" out
ok $? "the difference, its interval above 0" "$(cat out)"
cp out first
better weak.dnn --on auc --json --threads 3
is "$(perl -ne 'print $1 if /("gates".*?\]\})/' first)" "$(perl -ne 'print $1 if /("gates".*?\]\})/' out)" "the same with other threads"
better twin.dnn --on logloss --json
perl -ne "/$interval/ or exit 1; exit !(\$1 < 0 && \$2 > 0)" out
ok $? "a twin: the interval holds 0" "$(cat out)"
better twin.dnn --on logloss --by -1
is_exit 0 "a twin is not much worse"
err_has "reaches below 0" "a twin: a note that the difference may be chance"
out_has " to " "the text has the interval"
better weak.dnn --on accuracy --by 0.9
is_exit 82 "a weak model is not better by 0.9"
# rows that one of the models cannot read count for neither
perl -0777 -pe 's/New\nYork/New York/g' leads.csv | perl -ne 'print if $. == 1 || !/^[^,]*,,/' >whole.csv
dnn train c.json -o strict.dnn --quiet --set 'data.columns.age={"type": "numeric", "impute": "error"}' --set data.train=whole.csv
better strict.dnn --on auc --by -1 --on-bad-row skip --json
is_exit 0 "rows without an age, which the other model cannot read"
perl -ne 'print if $. == 1 || !/^[^,]*,,/' more.flat >full.csv
[ "$(wc -l <full.csv)" -lt 395 ] && [ "$(wc -l <full.csv)" -gt 100 ]
ok $? "some rows have no age"
run dnn evaluate m.dnn full.csv --better-than strict.dnn --on auc --by -1 --json
cp out full.json
run dnn evaluate m.dnn more.flat --better-than strict.dnn --on auc --by -1 --on-bad-row skip --json
is "own $(perl -ne 'print $1 if /"own":([0-9.]+)/' out)" "own $(perl -ne 'print $1 if /"own":([0-9.]+)/' full.json)" "are left out of both"
done_testing
