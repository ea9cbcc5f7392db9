#!/bin/bash
# calibrate.sh - the key `calibrate`: what it does to probabilities and values, that the model holds it, and that every command and
# the metrics of the training agree about it.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 1500
make_leads more.csv 400 5
train() { # train MODEL CALIBRATE [SET...]
    local model=$1 how=$2 sets=()
    shift 2
    for s in "$@"; do sets+=(--set "$s"); done
    make_leads_config c.json leads.csv '"split": {"valid": 0.4, "test": 0.2}' '"epochs": 12, "optimizer": {"learning_rate": 0.01}' \
        "\"calibrate\": \"$how\""
    run dnn train c.json -o "$model" --force --json --progress none "${sets[@]}"
}
metric() { perl -0777 -ne 'print $1 if /"valid":\{[^}]*"'"$1"'":([0-9.e+-]+)/' "$2"; }
weights='train.loss.class_weights={"yes":9}'
train none.dnn none "$weights"
is_exit 0 "trained with a label that counts nine times"
cp out none.out
train auto.dnn auto "$weights"
is_exit 0 "the same, calibrated"
cp out auto.out
err_has "note: probabilities are calibrated" "a note says so"
check "log-loss gains much" perl -e 'exit !($ARGV[0] < 0.9 * $ARGV[1])' "$(metric logloss auto.out)" "$(metric logloss none.out)"
is "$(metric auc auto.out)" "$(metric auc none.out)" "the order of the rows stays"
train prior.dnn prior "$weights"
check "prior undoes the weights" perl -e 'exit !($ARGV[0] < 0.95 * $ARGV[1])' "$(metric logloss out)" "$(metric logloss none.out)"
train plain.dnn auto
ok "$(grep -q calibrated err; [ $? = 1 ]; echo $?)" "auto does nothing where a network needs nothing"
train plain.dnn none
digest plain.dnn >a
# every command applies it
dnn evaluate auto.dnn more.csv --json --quiet >judged
dnn predict auto.dnn more.csv --quiet -o answers.csv
check "evaluate and predict agree" perl -e 'my ($json, $answers, $rows) = @ARGV; open my $j, "<", $json;
    my ($want) = join("", <$j>) =~ /"logloss":([0-9.e-]+)/;
    open my $r, "<", $rows; my $text = join "", <$r>; my %yes;
    $yes{$1} = $2 eq "yes" while $text =~ /^(L\d+),[^\n]*?(?:"(?:[^"]|"")*")?[^\n]*,(yes|no)$/msg;
    open my $a, "<", $answers; <$a>; my ($sum, $n) = (0, 0); while (<$a>) { chomp; my @c = split /,/; next if !exists $yes{$c[0]};
    $sum -= log $c[$yes{$c[0]} ? 3 : 2]; $n++ }
    print "$n rows, ", $sum / $n, " $want\n"; exit !($n > 300 && abs($sum / $n - $want) < 0.05)' judged answers.csv more.csv
run dnn verify auto.dnn
is_exit 0 "verify"
run dnn inspect auto.dnn
out_has "calibrated scale " "inspect shows it"
run dnn inspect auto.dnn --json
out_has '"calibration":{"scale":' "inspect --json shows the scale"
# one of several networks, out of fold; threshold behind it
train e.dnn auto "$weights" 'ensemble={"folds":2}' 'threshold={"maximize":"f1"}'
is_exit 0 "an ensemble"
err_has "rows that the runs did not train on the log-loss" "is calibrated out of fold"
threshold=$(perl -ne 'print $1 if /"threshold":([0-9.e-]+)/' out)
dnn predict e.dnn more.csv --quiet | perl -F, -ane 'BEGIN { $t = shift } next if $. == 1; $bad++ if ($F[3] >= $t) != ($F[1] eq "yes");
    END { exit !!$bad }' "$threshold"
is $? 0 "its threshold cuts calibrated probabilities"
train p.dnn prior 'ensemble={"folds":2,"members":[{"name":"a"},{"name":"b","train":{"loss":{"class_weights":"balanced"}}}]}'
is_exit 78 "prior, and members with weights of their own"
out_has "the members differ in train.loss.class_weights" "says why"
run dnn cv c.json --folds 2 --json --progress none --set "$weights" --set calibrate=affine
cp out cv.affine
run dnn cv c.json --folds 2 --json --progress none --set "$weights" --set calibrate=none
check "cv calibrates in each fold" perl -e 'exit !($ARGV[0] < 0.95 * $ARGV[1])' \
    "$(perl -0777 -ne 'print $1 if /"pooled":\{[^}]*"logloss":([0-9.]+)/' cv.affine)" \
    "$(perl -0777 -ne 'print $1 if /"pooled":\{[^}]*"logloss":([0-9.]+)/' out)"
# --- train.sampling ---
awk 'BEGIN {srand(3); print "x,y"; for (i = 0; i < 70; i++) print rand() "," (i < 40 ? "a" : i < 60 ? "b" : "c")}' >classes.csv
cat >s.json <<'JSON'
{"task": "multiclass", "data": {"train": "classes.csv", "target": "y", "columns": {"x": "numeric"}, "split": {"method": "random",
  "valid": 0, "test": 0}},
 "model": {"preset": "mlp", "hidden": [4]}, "train": {"epochs": 2, "batch_size": 1}, "output": {"metrics": "steps"}}
JSON
for how in none:70 over:120 under:30; do
    run dnn train s.json -o s.dnn --force --set train.sampling=${how%:*} --progress none
    is "$(sed -n 's/.*"epoch":1,"step":\([0-9]*\).*/\1/p' steps)" ${how#*:} "sampling ${how%:*}: rows of an epoch"
done
awk 'BEGIN {srand(4); print "u,v,y"; for (i = 0; i < 1500; i++) {u = rand(); v = rand();
    print u "," v "," (rand() < 0.6 * u * v ? "yes" : "no")}}' >rare.csv
cat >r.json <<'JSON'
{"task": "binary", "data": {"train": "rare.csv", "target": "y", "positive": "yes", "columns": {"u": "numeric", "v": "numeric"},
  "split": {"method": "stratified", "valid": 0.4, "test": 0}}, "model": {"preset": "mlp", "hidden": [8]},
  "train": {"epochs": 8, "sampling": "over"}}
JSON
rare() { run dnn train r.json -o "$1" --force --json --progress none "${@:2}"; }
last() { perl -0777 -ne '@all = /"valid":\{[^}]*"logloss":([0-9.e+-]+)/g; print $all[-1]' "$1"; } # behind those of the members
gains() { check "$1" perl -e 'exit !($ARGV[0] < 0.9 * $ARGV[1])' "$(last out)" "$(last before)"; }
for more in '{}' '{"loss":{"class_weights":{"yes":2}}}'; do
    sets=(--set "train=$(echo "$more" | sed 's/^{\(.*\)}$/{"epochs":8,"sampling":"over"\1}/; s/"over""/"over","/')")
    rare none.dnn --set calibrate=none "${sets[@]}"
    is_exit 0 "sampling over, $more"
    err_has "early stopping follows the loss that is trained, cross_entropy" "chosen by the same loss"
    cp out before
    rare prior.dnn --set calibrate=prior "${sets[@]}"
    gains "prior undoes it"
    is "$(metric auc out)" "$(metric auc before)" "the order of the rows stays"
done
digest prior.dnn >one
rare prior2.dnn --set calibrate=prior "${sets[@]}" --threads 1
digest prior2.dnn >two
same one two "the same bytes by one thread"
rare e.dnn --set calibrate=none --set 'ensemble={"folds":3}'
is_exit 0
err_lacks "no better than a constant" "it is judged by the loss that was trained"
cp out before
rare e.dnn --set calibrate=prior --set 'ensemble={"folds":3}'
gains "in an ensemble"
# preset linear chooses its penalty on rows held back: none of their copies is learned from, so chance is not learned
perl -e 'srand 21; print join(",", map { "n$_" } 1 .. 20), ",y\n"; for (1 .. 400) { printf "%.3f,", rand for 1 .. 20;
    print $_ % 10 ? "no" : "yes", "\n" }' >noise.csv
columns=$(for i in {1..20}; do printf ',"n%d":"numeric"' $i; done)
dnn train r.json -o n.dnn --force --quiet --progress none --set data.train=noise.csv --set "data.columns={${columns#,}}" \
    --set data.split.valid=0 --set 'model={"preset":"linear"}' 2>err
dnn predict n.dnn noise.csv --quiet | cut -d, -f3 | sort -g | sed -n '2p;$p' | tr '\n' ' ' >ends
check "noise is not learned from copies" perl -e 'exit !($ARGV[1] > 0 && $ARGV[1] - $ARGV[0] < 0.05)' $(cat ends)
# rows with weights: the rarer label weighs as much as the other one, and sampling draws rows
awk -F, 'NR == 1 { print $0 ",w"; next } { print $0 "," ($NF == "yes" ? 4 : 1) }' rare.csv >w.csv
mean_yes() { dnn predict "$1" rare.csv --quiet | awk -F, 'NR > 1 { s += $NF } END { printf "%.3f", s / (NR - 1) }'; }
for how in none over; do
    dnn train r.json -o w.dnn --force --quiet --progress none --set data.train=w.csv --set data.columns.w=weight --set train.sampling=$how \
        --set calibrate=$([ $how = none ] && echo none || echo prior) --set 'ensemble={"folds":3}' --set train.epochs=40 \
        --set train.batch_size=16 --set train.early_stopping.patience=0 2>err
    mean_yes w.dnn >mean.$how
done
check "rows with weights: what sampling moved is moved back" perl -e 'exit !(abs($ARGV[0] - $ARGV[1]) < 0.1 && $ARGV[0] > 0)' \
    "$(cat mean.none)" "$(cat mean.over)"
run dnn check s.json --set train.sampling=over --set task=regression --set data.target=x --set 'data.columns={"y":"categorical"}'
is_exit 78 "sampling of values"
err_has '`train.sampling` is given, but `task` is regression' "says why"
err_has 'in a regression a column of type "weight" says how much each row counts' "sampling of values: a column of weights is named instead"
run dnn check s.json --set train.loss.class_weights=balanced --set task=regression --set data.target=x \
    --set 'data.columns={"y":"categorical"}'
is_exit 78 "class weights of values"
err_has '`train.loss.class_weights` is given, but `task` is regression' "says why"
err_has 'in a regression a column of type "weight" says how much each row counts' \
    "class weights of values: a column of weights is named instead"
run dnn check s.json --set train.sampling=over --set 'data.sequence={"group":"y","order":"x","window":4}'
is_exit 78 "sampling of sequences"
err_has '`train.sampling` is given, but the rows are sequences' "says why"

# values: the range of the target
perl -e 'srand 1; print "x,y\n"; for (1 .. 800) { my $x = rand(4) - 2; my $y = 3 * $x; printf "%.4f,%.4f\n", $x, $y > 1 ?
    1 : $y < -1 ? -1 : $y }' >v.csv
echo '{"task": "regression", "data": {"train": "v.csv", "target": "y", "columns": {"x": "numeric"}}, "model": {"preset": "linear"}}' >v.json
run dnn train v.json -o v.dnn --force --progress none
err_has "note: values are kept not below -1 and not above 1, the range" "values that leave the range of the target are held"
echo x >far.csv
echo 50 >>far.csv
is "$(dnn predict v.dnn far.csv --quiet | tail -n 1)" 1 "in predictions too"
run dnn inspect v.dnn
out_has "range      values are not below -1 and not above 1" "inspect shows it"
# each end by itself: a target that ends above alone
perl -e 'srand 2; print "x,y\n"; for (1 .. 800) { my $x = rand(4) - 2; my $y = 3 * $x + rand;
    printf "%.4f,%.4f\n", $x, $y > 1 ? 1 : $y }' >u.csv
run dnn train v.json -o u.dnn --force --progress none --set data.train=u.csv
err_has "note: values are kept not above 1, the range" "the upper end alone"
printf 'x\n-9\n0\n50\n' >far.csv
run dnn predict u.dnn far.csv -o answers.csv --json
err_has "note: 1 of 3 answers are 1, the most that the training rows had" "predict counts answers that it held"
out_has '"limited":{"low":0,"high":1}' "also in JSON"
check "the lower end goes on" awk -v y="$(sed -n 2p answers.csv)" 'BEGIN { exit !(y < -8) }'
run dnn inspect u.dnn --json
out_has '"range":[null,1]' "inspect: no lower end"
run dnn inspect u.dnn
out_has "range      values are not above 1" "inspect: no lower end, in words"
run dnn check v.json --set calibrate=affine
is_exit 78 "affine, of a regression"
done_testing
