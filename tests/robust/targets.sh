#!/bin/bash
# targets.sh - rows without a target: train and evaluate leave them out and count them, whatever else stands in them; only where no
# row has one it is an error. Bad rows of evaluate are left out when that is asked for.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 300
perl -0777 -pe 's/New\nYork/New York/g' leads.csv >whole.csv
# every tenth row loses its target; one of them has an age and a city that no model could read
awk 'NR > 1 && NR % 10 == 0 { sub(/[a-z]*$/, NR % 20 ? "" : "NA") } { print }' whole.csv >gaps.csv
awk 'NR == 1 || NR % 10' whole.csv >rest.csv
sed -i '20s/^[^,]*,[0-9]*,/L00019,x1y,/' gaps.csv
make_leads_config gaps.json gaps.csv '"missing": ["", "NA"]' '"epochs": 2'
make_leads_config rest.json rest.csv '"missing": ["", "NA"]' '"epochs": 2'
run dnn train gaps.json -o m.dnn --json
is_exit 0 "C23 train leaves out rows without a target"
out_has '"rows_unlabelled":30' "C23 train counts rows without a target"
err_has 'gaps.csv: target "converted" is missing in 30 of 300 rows (lines 10, 20, 30, 40, 50, ...): left out' "a note says how many"
dnn train rest.json -o rest.dnn --quiet
dnn predict m.dnn whole.csv --quiet >a.csv
dnn predict rest.dnn whole.csv --quiet >b.csv
same a.csv b.csv "the model is that of the other rows"
run dnn check gaps.json
err_has "is missing in 30 of 300 rows" "check says it too"

run dnn evaluate m.dnn gaps.csv --json
is_exit 0 "evaluate leaves them out"
out_has '"rows":270,"rows_unlabelled":30,"rows_bad":0' "C23 evaluate counts rows without a target"
err_has "note: 30 of 300 rows have no target: left out"
json_of() { perl -ne 'print "$1\n" if /("metrics":.*),"backend"/' "$1"; }
json_of out >gaps.metrics
dnn evaluate m.dnn rest.csv --json --quiet >out 2>err
json_of out >rest.metrics
[ -s gaps.metrics ]
ok $? "there are metrics"
same gaps.metrics rest.metrics "metrics of the other rows, to the last bit"
run dnn evaluate m.dnn gaps.csv --better-than rest.dnn --by 0 --json
ok "$([ "$STATUS" = 82 ] && grep -q '"rows_unlabelled":30' out; echo $?)" "C23 a comparison leaves them out" "$(cat err)"
dnn evaluate m.dnn gaps.csv --quiet >text
ok "$(grep -q '^no target *30$' text; echo $?)" "the text counts them"

sed '2,$s/[a-z]*$//' rest.csv >none.csv
make_leads_config none.json none.csv
run dnn train none.json -o x.dnn
is_exit 65 "no row has a target: train"
err_has "error[E1217]: none.csv:2: target \"converted\" is missing in every row, 270 in all"
run dnn evaluate m.dnn none.csv
is_exit 65 "no row has a target: evaluate"
err_has "error[E1217]: none.csv: target \"converted\" is missing in every row, 270 in all"
head -n 1 whole.csv >part.csv
grep ',$' none.csv | head -n 5 >>part.csv
make_leads_config part.json rest.csv '"valid": "part.csv"'
run dnn train part.json -o x.dnn
is_exit 65 "validation rows without a target"
err_has "error[E1217]: part.csv:2:"

# rows that cannot be read: a number that is none, a label that nobody knows, cells too few, and one without target
{ cat rest.csv; printf 'A,1x,Oslo,1,2024-01-01,yes\nB,30,Oslo,1,2024-01-01,perhaps\nC,30\nD,1x,Oslo,1,2024-01-01,\n'; } >bad.csv
run dnn evaluate m.dnn bad.csv
is_exit 65 "a bad row stops evaluate"
err_has "--on-bad-row skip" "a bad row stops evaluate: the option that goes on"
run dnn evaluate m.dnn bad.csv --on-bad-row skip --json
is_exit 0 "evaluate --on-bad-row skip"
out_has '"rows":270,"rows_unlabelled":1,"rows_bad":3' "counts each kind"
json_of out >bad.metrics
same bad.metrics rest.metrics "metrics of the good rows"
{ head -n 1 rest.csv; printf 'A,1x,Oslo,1,2024-01-01,yes\nB,1,Oslo,1,2024-01-01,\n'; } >bad.csv
run dnn evaluate m.dnn bad.csv --on-bad-row skip
is_exit 65 "no row can be measured"
err_has "none of 2 rows can be measured: 1 cannot be read, 1 have no target"
run dnn evaluate m.dnn rest.csv --on-bad-row null
is_exit 64 "evaluate has no use for null"
# a model of loss quantile has two metrics more
awk 'BEGIN { print "x,y"; for (i = 0; i < 300; i++) printf "%d,%.3f\n", i % 13, i % 13 * 2 + (i * 37 % 101) / 10 }' >q.csv
cat >q.json <<'JSON'
{"task": "regression", "data": {"train": "q.csv", "target": "y", "columns": {"x": "numeric"}}, "model": {"preset": "mlp", "hidden": [8]},
 "train": {"epochs": 30, "optimizer": {"learning_rate": 0.02}, "loss": {"type": "quantile", "q": 0.8}}, "backend": {"name": "dnn_cpu"}}
JSON
sed 's/, "loss".*}},/},/' q.json >mean.json
dnn train q.json -o q.dnn --progress none --quiet
dnn train mean.json -o mean.dnn --progress none --quiet
dnn predict q.dnn q.csv --quiet >q.out
paste -d, q.csv q.out >both.csv
want=$(awk -F, 'NR == 1 { for (i = 3; i <= NF; i++) if ($i == "prediction") p = i; next } { d = $2 - $p; loss += d > 0 ? 0.8 * d : -0.2 * d;
    n += d <= 0 }
    END { printf "%.5f %.5f", loss / (NR - 1), n / (NR - 1) }' both.csv)
run dnn evaluate q.dnn q.csv --json --require 'coverage>=0.6' --require 'coverage.high<=1' --require 'pinball<=5'
is_exit 0 "gates on coverage and pinball"
is "$(perl -ne 'printf "%.5f %.5f", /"pinball":([^,}]+)/, /"coverage":([^,}]+)/' out)" \
    "$want" "both are those of the predictions, in the file's units"
run dnn evaluate q.dnn q.csv
out_has "quantile   0.8 (coverage should be near it)"
run dnn train q.json -o g.dnn --progress none --json --require 'coverage>=0.5' --require 'pinball<=5'
is_exit 0 "train: gates on them"
out_has '"coverage":' "they are metrics of its parts"
run dnn train q.json -o g2.dnn --progress none --set ensemble.folds=2 --require 'pinball<=0.001'
is_exit 82 "those of an ensemble"
err_has 'pinball<=0.001'
run dnn train mean.json -o g2.dnn --require 'pinball<=5'
is_exit 64 "a training of the mean has none"
run dnn cv q.json --folds 2 --json --set train.epochs=5
is_exit 0 "cv"
out_has '"coverage":' "has them too"
run dnn evaluate mean.dnn q.csv --require 'coverage>=0.6'
is_exit 64 "another model has no coverage"
run dnn check q.json --set train.early_stopping.metric=pinball
is_exit 0 "a training may follow it"
run dnn check mean.json --set train.early_stopping.metric=pinball
is_exit 78 "that of another loss may not"
# amounts: every digit before the point, and columns in line
perl -e 'print "x,city,price\n"; 
    printf "%d,%s,%.2f\n", $_ * 37 % 101, ("Oslo", "Bergen")[$_ % 2], 9e9 + 3e7 * ($_ * 37 % 101) + 1e8 * ($_ * 7919 % 97)
    for 1 .. 300' >amounts.csv
"$DNN" init amounts.csv --target price --set model.preset=linear --set ensemble.folds=2 --set intervals=0.9 -q -o amounts.json
run "$DNN" train amounts.json
is_exit 0 "a target of amounts"
cp err table
run "$DNN" evaluate amounts.dnn amounts.csv --by city --require 'rmse<=1e8'
is_exit 82 "  evaluate"
cat out err >>table
run "$DNN" explain amounts.dnn amounts.csv
cat out >>table
run "$DNN" cv amounts.json --folds 2
cat err >>table
is "$(grep -c 'e+' table)" 0 "  no figure has an exponent" "$(grep 'e+' table)"
is "$(grep -cE '^dnn: rmse( +[0-9]{10} \([0-9]{10} to [0-9]{10}\)){2} +[0-9]{10}$' table)" 1 "  rmse in the table of train" "$(cat table)"
is "$(perl -ne 'if (/^dnn: metric/) { ($t, $b) = (index($_, "test"), index($_, "baseline")) }
    elsif (/^dnn: (rmse|mae|r2|coverage|width) /) { 
        print((substr($_, $t - 1, 2) . substr($_, $b - 1, 2)) =~ /^ \S \S$/ ? "in\n" : "out\n") }' table | sort | uniq -c | xargs)" \
    "5 in" "  its columns are in line" "$(cat table)"
done_testing
