#!/bin/bash
# decisions.sh - what means against imbalance ask for reaches the labels, and the probabilities are honest all the same: class
# weights, sampling, focal, soft_f1, in binary tasks, of several labels and in tagging, of one network and of an ensemble. And a
# threshold that is a number.
. "$(dirname "$0")/../tap.sh"
perl -e 'srand 5; sub g { sqrt(-2 * log(1 - rand)) * cos(6.2831853 * rand) }
    for my $f (qw(rows more)) { open my $o, ">", "$f.csv"; print $o "a,b,two,three,s\n";
        for my $i (0 .. 1199) { my ($a, $b) = (g(), g()); my $z = rand;
            printf $o "%.3f,%.3f,%s,%s,%d\n", $a, $b, rand() < 1 / (1 + exp(3 - $a - $b)) ? "yes" : "no",
                $z < 0.4 / (1 + exp(3 - 2 * $a)) ? "red" : $z < 0.4 / (1 + exp(3 - 2 * $a)) + 0.4 / (1 + exp(3 - 2 * $b)) ? "tan" : "any",
                $i / 20 } }'
columns='"columns": {"s": "id", "a": "numeric", "b": "numeric"}'
cat >binary.json <<JSON
{"task": "binary", "data": {"train": "rows.csv", "target": "two", "positive": "yes", $columns}, "model": {"preset": "mlp", "hidden": [8]},
 "train": {"epochs": 6, "optimizer": {"learning_rate": 0.01}}}
JSON
sed 's/"binary"/"multiclass"/; s/"two", "positive": "yes"/"three"/' binary.json >multiclass.json
cat >tagging.json <<JSON
{"task": "tagging", "data": {"train": "rows.csv", "target": "three", $columns, "sequence": {"group": "s", "window": 20}},
 "model": {"preset": "gru", "hidden": [6]}, "train": {"epochs": 4, "batch_size": 8, "optimizer": {"learning_rate": 0.02}}}
JSON
metric() { dnn evaluate "$1" more.csv --quiet --json | perl -ne '/"metrics":\{[^}]*"'"$2"'":([0-9.e+-]+)/ and print $1'; }
recall() {
    dnn evaluate "$1" more.csv --quiet --json | perl -0777 -ne '/"per_label":\{.*?"(?:yes|red)":\{[^}]*"recall":([0-9.e+-]+)/s and print $1'
}
labels() { dnn predict "$1" more.csv --quiet | cut -d, -f2 >"$2"; }
mean() { # mean CONFIG SETS...: with and without calibration: the same labels, honest probabilities
    local sets=() name="$*" s
    for s in "${@:2}"; do sets+=(--set "$s"); done
    dnn train "$1.json" -o auto.dnn --force --progress none "${sets[@]}" 2>auto.err
    is $? 0 "$name" || cat auto.err
    dnn train "$1.json" -o none.dnn --force --quiet "${sets[@]}" --set calibrate=none 2>none.err
    labels auto.dnn a
    labels none.dnn b
    same a b "$name: the labels are those before the calibration"
    check "$name: no log-loss is lost" perl -e 'exit !($ARGV[0] <= $ARGV[1] + 0.004)' "$(metric auto.dnn logloss)" \
        "$(metric none.dnn logloss)"
}
for task in binary multiclass tagging; do
    mean $task
    plain=$(recall auto.dnn) loss=$(metric auto.dnn logloss)
    means='train.loss.class_weights=balanced train.loss.type=focal train.loss.type=soft_f1 train.sampling=over train.sampling=under'
    for one in $means; do
        [ "$task/${one#train.sampling}" != "tagging/$one" ] && [ $task = tagging ] && continue
        mean $task "$one"
        case $one in
        *=balanced | *sampling*)
            check "$task $one: more rare rows are found" perl -e 'exit !($ARGV[1] > $ARGV[0] + 0.2)' "$plain" "$(recall auto.dnn)"
            check "$task $one: log-loss near that of a plain training" perl -e 'exit !($ARGV[1] < $ARGV[0] + 0.06)' "$loss" \
                "$(metric auto.dnn logloss)"
            check "$task $one: a note says so" grep -q "note: the label is decided as before the calibration, because .${one%=*}. asks" \
                auto.err ;;
        esac
    done
done
mean binary train.loss.class_weights=balanced 'model={"preset":"linear"}'
mean binary train.loss.class_weights=balanced 'ensemble={"folds":2}'
mean multiclass train.loss.class_weights=balanced \
    'ensemble={"folds":2,"select":"mean","members":[{"name":"a"},{"name":"b","train":{"loss":{"type":"focal"}}}]}'
run dnn inspect auto.dnn --json
out_has '"decision":[0,' "inspect shows the offsets"
run dnn inspect auto.dnn
out_has "decision   by the probability, and an offset for each label" "in words"
dnn cv multiclass.json --folds 2 -o oof.csv --quiet --json --set train.loss.class_weights=balanced >cv.out 2>err
is $? 0 "cv"
check "cv answers the same labels" perl -e '@ARGV = "oof.csv"; <>; while (<>) { chomp; my @c = split /,/; my $best = $c[3] >= $c[4] &&
    $c[3] >= $c[5] ? "any" : $c[4] >= $c[5] ? "red" : "tan"; $other++ if $best ne $c[2] } exit !($other > 20)'
# what is said by name wins
sets=(--force --quiet --set train.loss.class_weights=balanced)
dnn train binary.json -o auto.dnn "${sets[@]}"
dnn train binary.json -o affine.dnn "${sets[@]}" --set calibrate=affine
check "affine answers the likeliest label" perl -e 'exit !($ARGV[0] < $ARGV[1] - 0.2)' "$(recall affine.dnn)" "$(recall auto.dnn)"
dnn train binary.json -o own.dnn "${sets[@]}" --set threshold=0.3
is $? 0 "a threshold that is a number"
run dnn inspect own.dnn --json
out_has '"threshold":0.3,' "the model keeps it"
dnn predict own.dnn more.csv --quiet | perl -F, -ane 'next if $. == 1; $bad++ if ($F[3] >= 0.3) != ($F[1] eq "yes"); END { exit !!$bad }'
is $? 0 "it is used as it is"
dnn train binary.json -o own.dnn "${sets[@]}" --set threshold=0.3 --set data.split.valid=0
is $? 0 "no validation rows are needed"
run dnn train binary.json -o own.dnn --force --json --progress none --set threshold=0.2 --set 'ensemble={"folds":2}'
out_has '"threshold":0.2,' "in an ensemble"
for bad in 0 1 1.5 -0.1; do
    sed "s/\"task\"/\"threshold\": $bad, \"task\"/" binary.json >bad.json
    run dnn check bad.json
    is_exit 78 "a threshold of $bad"
    err_has "\`threshold\`: $bad is not a number between 0 and 1" "says why"
done
run dnn check multiclass.json --set threshold=0.3
is_exit 78 "a threshold of several labels"
# a search by f1 sees them: its trials are not calibrated, and answer the labels that a model would
run dnn tune binary.json --trials 4 -o best.json --trials-csv trials.csv --quiet --set train.early_stopping.metric=f1 \
    --set 'tune={"space":{"train.loss.class_weights":[null,"balanced"]}}'
is_exit 0 "a search among class weights"
check "it takes the weights, and no trial answers one label alone" perl -e 'my ($best, $trials) = @ARGV; open my $b, "<", $best;
    my $text = join "", <$b>; open my $t, "<", $trials;
    my @names = split /,/, <$t>; my ($at) = grep { $names[$_] eq "accuracy" } 0 .. $#names;
    while (<$t>) { $low++ if (split /,/)[$at] < 0.3 }
    exit !($text =~ /"loss": \{"class_weights": "balanced"\}|"class_weights": "balanced"/ && !$low)' best.json trials.csv

# --- preset auto, which init writes, takes every loss, and every line of `help bad-model` works on its config ---
head -121 rows.csv | cut -d, -f1-3 >few.csv
head -121 rows.csv | cut -d, -f1,4 >labels.csv
head -121 rows.csv | cut -d, -f1,2 >values.csv
dnn init few.csv --target two -o few.json --quiet
dnn init labels.csv --target three -o labels.json --quiet
dnn init values.csv --target b -o values.json --quiet
for loss in cross_entropy focal soft_f1; do
    for c in few labels; do
        run dnn check $c.json --quiet --set train.loss.type=$loss
        is_exit 0 "auto, $loss, $c"
    done
done
for loss in mse mae huber quantile; do
    run dnn check values.json --quiet --set train.loss.type=$loss
    is_exit 0 "auto, $loss"
done
for c in few:focal values:quantile; do
    run dnn train ${c%:*}.json -o x.dnn --force --json --progress none --set train.loss.type=${c#*:} --set ensemble.folds=2 --time-limit 20
    is_exit 0 "auto is trained by ${c#*:}"
    out_has '"name":"linear"' "auto by ${c#*:} has a linear member"
done
sed 's/.*"sequence".*/&/' tagging.json | sed 's/"tagging"/"multiclass"/; s/"window": 20/"window": 20, "label": "group"/;
    s/"model": .*/"model": {"preset": "auto"}}/; /^ "train"/d' >series.json
run dnn check series.json --quiet --set train.loss.type=focal
is_exit 0 "auto, focal, sequences"
{ dnn help bad-model; dnn help imbalance; } | grep '^ *--set' | sed 's/^ *//; s/  .*//' >lines
check "the page has lines" test "$(wc -l <lines)" -ge 12
while read -r line; do
    eval "run dnn check few.json --quiet $line"
    is_exit 0 "bad-model: $line"
    err_lacks "is not used" "bad-model: $line: it is used"
done <lines
run dnn check few.json --set train.epochs=9
err_has \
    "preset auto has its own train.epochs for its members: what the config says is not used; one network that uses it: --set model.preset=mlp" \
    "a key without effect is told"
run dnn check few.json --set model.dropout=0.3
is_exit 64 "an option that auto does not have"
err_has "add --set model.preset=mlp" "names the way"
run dnn check few.json --quiet --set model.dropout=0.3 --set model.preset=mlp
is_exit 0 "the way that was named works"
done_testing
