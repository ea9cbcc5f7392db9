#!/bin/bash
# losses.sh - the loss that is trained is the loss that counts: a second training over the first, tune, --better-than, early stopping,
# gates and cv, for each loss. The figures are computed again from the answers.
. "$(dirname "$0")/../tap.sh"
perl -e 'srand(7); for (["train.csv", 900], ["test.csv", 600]) { my ($f, $n) = @$_; open my $o, ">", $f; print $o "x,z,y,c\n";
    for (1 .. $n) { my ($x, $z) = (rand(4) - 2, rand()); my $y = $x + (0.2 + abs $x) * -log(1 - rand() * 0.9999) * 2;
        printf $o "%.4f,%.4f,%.4f,%s\n", $x, $z, $y, rand() < 1 / (1 + exp(3.5 - 2 * $x)) ? "yes" : "no" } }'
columns='"columns": {"x": "numeric", "z": "numeric"}'
train='"train": {"epochs": 12, "batch_size": 64, "optimizer": {"learning_rate": 0.01}}, "model": {"preset": "mlp", "hidden": [16]}'
echo "{\"task\": \"regression\", \"data\": {\"train\": \"train.csv\", \"target\": \"y\", $columns}, $train}" >values.json
echo \
    "{\"task\": \"binary\", \"data\": {\"train\": \"train.csv\", \"target\": \"c\", \"positive\": \"yes\", $columns}, $train}" >classes.json
value() { awk -v k="$1" '$1 == k { print $2 }' out; }
# LOSS METRIC CONFIG: the metric that must judge it
each() {
    local loss=$1 metric=$2 config=$3 night
    rm -f n.dnn
    for night in first second; do
        run dnn train "$config" -o n.dnn --progress none --set "train.loss=$loss" --set ensemble.folds=2
        is_exit 0 "$loss, an ensemble, $night night"
    done
    check "$loss: the line of the member begins with $metric" grep -Eq "^dnn: member   .*: weight 1, $metric [0-9.]+ \(" err
    run dnn train "$config" -o m.dnn --quiet --set "train.loss=$loss" --require "$metric<1e9"
    is_exit 0 "$loss: train takes a gate on $metric"
    run dnn evaluate n.dnn test.csv --quiet --better-than m.dnn
    out_has "gate $metric better than m.dnn" "$loss: --better-than follows $metric"
    run dnn evaluate n.dnn test.csv --quiet --better-than m.dnn --on "$metric" --by -1e9
    is_exit 0 "$loss: --on $metric"
    run dnn train "$config" -o m.dnn --quiet --force --set "train.loss=$loss" --set "train.early_stopping.metric=$metric"
    is_exit 0 "$loss: early stopping by $metric"
    run dnn cv "$config" --folds 2 --quiet --json --set "train.loss=$loss"
    out_has "\"$metric\":" "$loss: cv shows $metric"
}
each '{"type":"quantile","q":0.9}' pinball values.json
cp n.dnn quantile.dnn
each '{"type":"mae"}' mae values.json
each '{"type":"huber","delta":0.5}' loss values.json
each '{"type":"focal"}' loss classes.json
each '{"type":"soft_f1"}' loss classes.json
each '{"class_weights":{"yes":5}}' loss classes.json
# losses before calibration of differently trained models are not alike
run dnn train classes.json -o focal.dnn --quiet --set 'train.loss={"type":"focal"}'
run dnn train classes.json -o plain.dnn --quiet
run dnn evaluate focal.dnn test.csv --better-than plain.dnn
out_has "gate logloss better than plain.dnn" "models of two losses are compared by logloss"
err_has "the two models were trained by different losses: logloss compares their probabilities" \
    "models of two losses: the comparison is told"
# the figures, from the answers
dnn predict quantile.dnn test.csv --quiet --passthrough y >answers.csv
run dnn evaluate quantile.dnn test.csv --quiet
pinball=$(perl -F, -ane 'next if $. == 1; my $d = $F[1] - $F[0]; $s += $d < 0 ? -0.9 * $d : 0.1 * $d; $n++;
    END { printf "%.6g", $s / $n }' answers.csv)
[ "$(value pinball)" = "$pinball" ]
ok $? "pinball $(value pinball) is $pinball by the answers"
dnn train classes.json -o w.dnn --quiet --force --set 'train.loss={"class_weights":{"yes":5}}' --set calibrate=none
dnn predict w.dnn test.csv --quiet --passthrough c >answers.csv
run dnn evaluate w.dnn test.csv --quiet
loss=$(perl -F, -ane 'next if $. == 1; chomp @F; my ($w, $p) = $F[0] eq "yes" ? (5, $F[3]) : (1, $F[2]); $s -= $w * log $p; $n += $w;
    END { printf "%.4g", $s / $n }' answers.csv)
[ "$(value loss | perl -ne 'printf "%.4g", $_')" = "$loss" ]
ok $? "the loss with class weights, $(value loss), is $loss by the answers"
dnn train classes.json -o f.dnn --quiet --force --set train.loss.type=focal
dnn train classes.json -o g.dnn --quiet --force --set train.loss.type=focal --set calibrate=none
[ "$(dnn evaluate f.dnn test.csv --quiet | awk '$1 == "loss" { print $2 }')" = \
    "$(dnn evaluate g.dnn test.csv --quiet | awk '$1 == "loss" { print $2 }')" ]
ok $? "the loss of a focal model is that of its answers before calibration"
# tune compares by the loss
run dnn tune values.json -o best.json --trials 4 --quiet --json --set train.optimizer.learning_rate=0.0001 \
    --set 'train.loss={"type":"quantile","q":0.9}' --set 'tune={"space":{"train.optimizer.learning_rate":[1e-5,0.01]}}'
is_exit 0 "tune of a quantile"
out_has '"metric":"pinball"' "tune compares by pinball"
grep -q '"learning_rate": 0.01' best.json
ok $? "tune of a quantile takes the rate that learns"
perl -ne 'exit !(/"gain":\{"metric":"pinball","value":[0-9.]+,"standard_error":[0-9.]+\}/)' out
ok $? "tune of a quantile tells its gain by pinball, with an error"
run dnn tune classes.json -o best.json --force --trials 3 --quiet --json --set train.early_stopping.metric=f1 \
    --set 'tune={"space":{"train.loss.class_weights":[null,"balanced"]}}'
perl -MJSON::PP -ne 'my $j = decode_json($_); my ($best) = $j->{best}; my ($plain) = grep { $_->{trial} == 0 } @{$j->{trials}};
    exit !($j->{metric} eq "f1" && (!$j->{gain} || ($j->{gain}{metric} eq "f1" &&
    abs($j->{gain}{value} - ($best->{valid}{f1} - $plain->{valid}{f1})) < 1e-9)))' out
ok $? "a search by f1 tells its gain by f1"
# constants: a network that learns nothing is not better than the quantile of the training rows
run dnn train values.json -o u.dnn --quiet --set 'train.loss={"type":"quantile","q":0.9}' --set train.optimizer.learning_rate=1e-7
err_has "no better than a constant answer" "the constant answer of a quantile is the quantile"
dnn train classes.json -o w.dnn --quiet --force --json --set 'train.loss={"class_weights":"balanced"}' --set model.preset=mlp >w.json
perl -MJSON::PP -ne 'my $j = decode_json($_); exit !(abs($j->{baseline}{loss} - log 2) < 0.05 && $j->{test}{loss} < $j->{baseline}{loss})' \
    w.json
ok $? "the baseline of balanced classes is a constant of one half"
run dnn train values.json -o u.dnn --quiet --force --set 'train.loss={"type":"quantile","q":0.9}' --set train.early_stopping.metric=coverage
is_exit 78 "coverage orders no epochs"
run dnn evaluate quantile.dnn test.csv --quiet --better-than quantile.dnn --on coverage
is_exit 64 "coverage compares no models"
run dnn train classes.json -o u.dnn --quiet --set train.early_stopping.metric=pinball
is_exit 78 "a metric of another loss"
err_has 'is not a metric of `task` "binary"' "a metric of another loss: the reason"
awk -F, 'NR == 1 { print "x,z,c"; next } { print $1 "," $2 "," ($1 < -1 ? "low" : $1 < 1 ? "middle" : "high") }' train.csv >three.csv
sed 's/train.csv/three.csv/; s/"binary"/"multiclass"/; s/"positive": "yes", //' classes.json >three.json
run dnn train three.json -o f1.dnn --progress none --set train.epochs=1 --set 'train.loss={"type":"soft_f1","labels":["low"]}'
is_exit 0 "soft_f1 of one label of three" "$(cat err)"
err_has "train.loss.labels leaves out two labels or more" "  warns of the others"
done_testing
