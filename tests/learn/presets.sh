#!/bin/bash
# presets.sh - small problems with a score to reach: what a preset, a loss, an optimiser or a schedule must be able to learn.
# One cell of c in eleven is missing, so that no model can name more than 94 of 100 of the six classes.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 3000
make_data v.csv 3000 value
make_data m.csv 3000 multi
base='"epochs": 30, "early_stopping": {"patience": 8}'
cpu='"backend": {"name": "dnn_cpu"}'
make_config binary.json d.csv binary "$base" "$cpu"
make_config multiclass.json m.csv multiclass "$base" "$cpu"
make_config regression.json v.csv regression "$base" "$cpu"

# reaches NAME CONFIG METRIC OPERATOR BOUND [--set ...]: a metric of the test rows
reaches() {
    local name=$1 config=$2 metric=$3 operator=$4 bound=$5 value
    shift 5
    dnn train "$config" -o m.dnn --json --progress none "$@" >out 2>err || { ok 1 "$name" "$(tail -n 3 err)"; return; }
    value=$(sed -n "s/.*\"test\":{[^}]*\"$metric\":\([-0-9.e+]*\).*/\1/p" out)
    awk -v a="$value" -v b="$bound" -v o="$operator" 'BEGIN { exit !(a != "" && (o == ">" ? a > b : a < b)) }'
    ok $? "$name: $metric $value $operator $bound"
}
reaches "mlp, a product of two numbers" binary.json auc '>' 0.97 --set train.optimizer.learning_rate=0.01
reaches "mlp, six classes" multiclass.json accuracy '>' 0.92 --set train.optimizer.learning_rate=0.01
reaches "mlp, a plane" regression.json r2 '>' 0.97 --set train.optimizer.learning_rate=0.01
reaches "linear, a plane" regression.json r2 '>' 0.97 --set 'data.columns.a={"type":"numeric","scale":"standard"}' \
    --set 'data.columns.b={"type":"numeric","scale":"standard"}' --set 'model={"preset":"linear"}' --set train.optimizer.learning_rate=0.01
reaches "linear, six classes" multiclass.json accuracy '>' 0.9 --set 'model={"preset":"linear"}' --set train.optimizer.learning_rate=0.02
# few rows are few steps: the rate that the preset brings must be enough for them
{ head -n 1 v.csv; sed -n 2,301p v.csv; } >few.csv
make_config few.json few.csv regression
reaches "linear, a plane, 300 rows" few.json r2 '>' 0.9 --set 'data.columns.a={"type":"numeric","scale":"standard"}' \
    --set 'data.columns.b={"type":"numeric","scale":"standard"}' --set 'model={"preset":"linear"}' --set train.epochs=200
# an elastic net finds the few columns that matter among many
awk 'BEGIN { srand(5); for (k = 0; k < 400; k++) printf "x%d,", k; print "y"; for (i = 0; i < 500; i++) { s = 0
    for (k = 0; k < 400; k++) { v = rand() - 0.5; if (k < 5) s += v; printf "%.3f,", v }
    print (s + 0.1 * (rand() - 0.5) > 0) ? "yes" : "no" } }' >wide.csv
dnn init wide.csv --target y --set model.preset=mlp -q -o wide.json
reaches "linear, 5 of 400 columns matter" wide.json auc '>' 0.97 --set 'model={"preset":"linear"}'
dnn train wide.json -o one.dnn -q --set 'model={"preset":"linear"}' --threads 1 && dnn train wide.json -o two.dnn \
    -q --set 'model={"preset":"linear"}' --threads 2
cmp -s one.dnn two.dnn
ok $? "the same bytes with one thread and with two"
reaches "linear, without validation rows" wide.json auc '>' 0.9 --set 'model={"preset":"linear"}' --set data.split.valid=0
err_has "linear: penalty" "the penalty is named"
run dnn train wide.json -o m.dnn --set 'model={"preset":"linear","solver":"path"}' --set train.loss.type=focal
is_exit 78 "a path has no solution for another loss"
err_has '`model.solver` "path" has no solution for `train.loss.type` "focal"'
run dnn check wide.json --set 'model={"preset":"linear","solver":"path"}' --set encoders.categorical.encode=embedding
is_exit 78 "a path takes no embeddings"
err_has '`model.solver` "path" takes no embeddings'

for loss in mae huber quantile; do
    reaches "loss $loss" regression.json r2 '>' 0.95 --set train.loss.type=$loss --set train.optimizer.learning_rate=0.01
done
reaches "loss focal" binary.json auc '>' 0.95 --set train.loss.type=focal --set train.optimizer.learning_rate=0.01
reaches "label smoothing" binary.json auc '>' 0.95 --set train.loss.label_smoothing=0.1 --set train.optimizer.learning_rate=0.01
for optimizer in sgd rmsprop adam adamw; do
    rate=0.01
    [ $optimizer = sgd ] && rate=0.1
    reaches "optimizer $optimizer" multiclass.json accuracy '>' 0.9 \
        --set "train.optimizer={\"type\":\"$optimizer\",\"learning_rate\":$rate}"
done
for schedule in constant step cosine one_cycle; do
    reaches "schedule $schedule with warm-up" regression.json r2 '>' 0.97 \
        --set "train.schedule={\"type\":\"$schedule\",\"warmup\":0.1}" --set train.optimizer.learning_rate=0.01
done
reaches "accumulated gradients" regression.json r2 '>' 0.97 --set train.grad_accumulation=4 --set train.optimizer.learning_rate=0.02
reaches "clipped gradients" regression.json r2 '>' 0.97 --set train.clip_norm=0.5 --set train.optimizer.learning_rate=0.02
reaches "embeddings" multiclass.json accuracy '>' 0.92 --set 'data.columns.c={"type":"categorical","encode":"embedding"}' \
    --set train.optimizer.learning_rate=0.01
reaches "batch norm, dropout" multiclass.json accuracy '>' 0.9 --set train.optimizer.learning_rate=0.01 --set \
    'model={"layers":[{"type":"dense","units":32},{"type":"batch_norm"},{"type":"relu"},{"type":"dropout","p":0.1}]}'

# The epoch that is kept is the best one by what is trained: a line of metrics tells the loss of the validation rows, and where
# these are the training rows and nothing moves, it is the loss that the steps report.
still='"epochs": 1, "optimizer": {"type": "sgd", "learning_rate": 1e-30}'
same='"backend": {"name": "dnn_cpu"}, "output": {"metrics": "lines"}'
for task in multiclass regression; do
    data=m.csv
    [ $task = regression ] && data=v.csv
    make_config still.json $data $task "$still" "$same"
    sed -i "s/\"target\"/\"valid\": \"$data\", \"split\": {\"method\": \"random\", \"valid\": 0, \"test\": 0}, \"target\"/" still.json
    losses='{"type":"focal"} {"class_weights":"balanced"} {"label_smoothing":0.2} {"type":"focal","gamma":3,"class_weights":{"red1":4}}'
    [ $task = regression ] && losses='{"type":"mae"} {"type":"huber","delta":0.5} {"type":"quantile","q":0.9}'
    for loss in $losses; do
        run dnn train still.json -o still.dnn --progress none --set train.loss="$loss" --set 'model={"preset":"linear"}'
        awk -F'"loss":' '{ a = $2 + 0; b = $3 + 0; d = a - b; exit !(NF == 3 && a > 0 && d * d < 1e-10 * a * a) }' lines
        ok $? "the validation loss is the trained one: $loss" "$(cat err lines)"
        err_has "early stopping follows the loss that is trained"
    done
done
run dnn train binary.json -o m.dnn --progress none --set train.epochs=1
is_exit 0
err_lacks "early stopping follows" "logloss rates epochs as cross-entropy does"

# a skewed target: the best epoch by rmse answers with means, and nine tenths of the rows would not lie below a ninth decile
awk 'BEGIN { srand(3); print "a,b,c,y"; for (i = 0; i < 4000; i++) { a = rand(); e = -log(1 - rand())
    printf "%.5f,%.5f,x,%.5f\n", a, rand(), a + 3 * e * e } }' >skew.csv
make_config skew.json skew.csv regression '"epochs": 60, "early_stopping": {"patience": 8}' "$cpu"
dnn train skew.json -o skew.dnn --progress none --set 'train.loss={"type":"quantile","q":0.9}' \
    --set train.optimizer.learning_rate=0.005 2>err
dnn predict skew.dnn skew.csv --passthrough y 2>>err | awk -F, 'NR > 1 { n++; below += $1 <= $2 }
    END { print below / n; exit !(below / n > 0.87 && below / n < 0.93) }' >out
ok $? "a ninth decile lies above nine tenths of the rows: $(cat out)" "$(cat err)"
done_testing
