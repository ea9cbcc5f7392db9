#!/bin/bash
# thresholds.sh - the config's rule for a threshold: chosen on validation rows, stored, applied by predict and evaluate and
# overridden by --threshold; what evaluate prints about it.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 600
make_leads more.csv 200 5
train() { # train MODEL RULE [SET]
    make_leads_config c.json leads.csv '"split": {"valid": 0.4, "test": 0.2}' '"epochs": 3' "\"threshold\": $2"
    run dnn train c.json -o "$1" --force --json --progress none ${3:+--set "$3"}
}
value() { perl -ne "print \$1 if /\"$1\":([0-9.e+-]+)/" "$2"; }
# the predictions are those of the threshold: by the probabilities of the same rows
cuts() { # cuts MODEL THRESHOLD [OPTION...]
    dnn predict "$1" more.csv --quiet "${@:3}" >answers.csv
    perl -F, -ane 'BEGIN { $t = shift } next if $. == 1; $bad++ if ($F[3] >= $t) != ($F[1] eq "yes"); $n++; $yes += $F[1] eq "yes";
        END { print "$n rows, $bad wrong, $yes yes\n"; exit !($n == 200 && !$bad) }' "$2" answers.csv
}
train costs.dnn '{"costs": {"fp": 1, "fn": 30}}'
is_exit 0 "train with costs"
err_has "note: threshold " "a note says the threshold"
low=$(value threshold out)
ok "$(perl -e 'exit !($ARGV[0] > 0 && $ARGV[0] < 0.5)' "${low:-1}"; echo $?)" "misses that cost 30 make it low: $low"
check "predict cuts there" cuts costs.dnn "$low"
check "--threshold overrides it" cuts costs.dnn 0.8 --threshold 0.8
train high.dnn '{"costs": {"fp": 30, "fn": 1}}'
high=$(value threshold out)
ok "$(perl -e 'exit !($ARGV[0] > 0.5)' "${high:-0}"; echo $?)" "alarms that cost 30 make it high: $high"
train plain.dnn null
ok "$(grep -q '"threshold"' out; [ $? = 1 ]; echo $?)" "null: none"
check "without a rule one half cuts" cuts plain.dnn 0.5
cut -d, -f3- answers.csv >a
dnn predict costs.dnn more.csv --quiet | cut -d, -f3- >b
same a b "probabilities are those without a threshold"
train recall.dnn '{"precision_at_recall": 0.9}'
t=$(value threshold out)
ok "$(perl -0777 -ne '/"valid":\{[^}]*"recall":([0-9.]+)/; exit !($1 >= 0.9 && $1 < 1)' out; echo $?)" \
    "recall of 0.9 on the validation rows" "$(cat out)"
run dnn inspect recall.dnn
out_has "threshold  " "inspect shows it"
dnn inspect recall.dnn --json >shown
is "$(value threshold shown)" "$t" "the same number"
run dnn evaluate recall.dnn more.csv --json
ok "$(T=$t perl -MJSON::PP -0777 -ne '$j = decode_json($_); ($r) = grep { $_->{threshold} == $j->{threshold} } @{$j->{thresholds}};
    $m = $j->{metrics};
    exit !($r && abs($r->{recall} - $m->{recall}) < 1e-12 && abs($r->{precision} - $m->{precision}) < 1e-12 &&
    abs($r->{f1} - $m->{f1}) < 1e-12
    && !defined $r->{cost} && @{$j->{thresholds}} > 5 && $j->{threshold} == $ENV{T})' out 2>/dev/null || perl -e 'exit 1'; echo $?)" \
    "evaluate: the table's own row is the metrics" "$(cat out)"
out_has '"lift":[{"top":0.05,"precision":' "evaluate: the top of the rows"
run dnn evaluate costs.dnn more.csv
for word in "^label  " "^label . answer  *no  *yes$" "^threshold  .* flagged  *cost$" "^0[.0-9]* *\\*"; do
    ok "$(grep -q -- "$word" out; echo $?)" "the text has $word" "$(cat out)"
done
run dnn evaluate costs.dnn more.csv --threshold 0.9 --json
out_has '"threshold":0.9,' "evaluate --threshold"
run dnn train c.json -o e.dnn --set 'ensemble={"folds": 2}' --set 'threshold={"maximize": "f1"}' --quiet --json
is_exit 0 "an ensemble: out of fold"
check "predict cuts there" cuts e.dnn "$(value threshold out)"
run dnn predict costs.dnn more.csv --threshold 1.5
is_exit 64 "--threshold 1.5"
run dnn evaluate costs.dnn more.csv --threshold x
is_exit 64 "--threshold x"
train never.dnn '{"recall_at_precision": 1}'
is_exit 0 "a precision of 1"
make_leads_config bad.json leads.csv '' '"epochs": 1' '"threshold": {"maximise": "f1"}'
run dnn check bad.json
is_exit 78 "an unknown rule"
err_has '"maximize": "f1"' "an unknown rule: the known one is named"
make_leads_config bad.json leads.csv '"split": {"valid": 0}' '"epochs": 1' '"threshold": {"maximize": "f1"}'
run dnn train bad.json -o x.dnn
is_exit 78 "no validation rows to choose by"
sed -i 's/"task": "binary"/"task": "multiclass"/; s/"positive": "yes",//' bad.json
run dnn check bad.json
is_exit 78 "no binary task"
done_testing
