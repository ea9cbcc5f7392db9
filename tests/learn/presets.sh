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
for loss in mae huber quantile; do
    reaches "loss $loss" regression.json r2 '>' 0.95 --set train.loss.type=$loss --set train.optimizer.learning_rate=0.01
done
reaches "loss focal" binary.json auc '>' 0.95 --set train.loss.type=focal --set train.optimizer.learning_rate=0.01
reaches "label smoothing" binary.json auc '>' 0.95 --set train.loss.label_smoothing=0.1 --set train.optimizer.learning_rate=0.01
for optimizer in sgd rmsprop adam adamw; do
    rate=0.01
    [ $optimizer = sgd ] && rate=0.1
    reaches "optimizer $optimizer" multiclass.json accuracy '>' 0.9 --set "train.optimizer={\"type\":\"$optimizer\",\"learning_rate\":$rate}"
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
done_testing
