#!/bin/bash
# metrics.sh - the end of an epoch on the emulated GPU: validation is queued without a wait, the metric that early stopping follows is
# measured there, the best weights stay there; how often the host waits, and what it calls, by the epoch. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE GPU_MEMORY_LIMIT_GB
gpu='"backend": {"name": "dnn_gpu", "fallback": "none"}'
make_data d.csv 2000
make_data more.csv 9000
make_config c.json d.csv binary '"epochs": 3, "early_stopping": {"patience": 0}' "$gpu"
make_config more.json more.csv binary '"epochs": 3, "early_stopping": {"patience": 0}' "$gpu"

# --- host calls of an epoch: a step, nothing learnt, so that no epoch is the best but the first ---
# counts CONFIG EPOCHS SETTING...: waits, other calls, copies
counts() {
    local config=$1 epochs=$2
    shift 2
    DNN_EMULATE=calls dnn train "$config" -o x.dnn --progress none --set train.epochs="$epochs" --set train.batch_size=9000 \
        --set train.optimizer.learning_rate=1e-30 "$@" 2>&1 >/dev/null |
        sed -n 's/^emulated: \([0-9]*\) waits, \([0-9]*\) other calls, .* \([0-9]*\) copies$/\1 \2 \3/p'
}
# each CONFIG SETTING...: the same of one epoch
each() {
    local config=$1 w1 o1 c1 w2 o2 c2
    shift
    read -r w1 o1 c1 <<<"$(counts "$config" 2 "$@")"
    read -r w2 o2 c2 <<<"$(counts "$config" 12 "$@")"
    echo "$(((w2 - w1) / 10)) $(((o2 - o1) / 10)) $(((c2 - c1) / 10))"
}
for name in c more; do # 225 rows of validation, and 900: one batch or two, whatever their number is
    read -r waits others copies <<<"$(each $name.json --set train.early_stopping.metric=logloss --set train.clip_norm=1)"
    [ "$waits" -le 2 ] && [ "$others" -le 28 ] && [ "$copies" -le 8 ]
    ok $? "$name: an epoch is $waits waits, $others other calls, $copies copies"
done
read -r waits others copies <<<"$(each more.json --set train.early_stopping.metric=auc --set train.clip_norm=1)"
[ "$waits" -le 2 ] && [ "$copies" -le 9 ]
ok $? "auc: its scores come in one copy: $waits waits, $copies copies"
read -r waits others copies <<<"$(each c.json)"
[ "$waits" -le 2 ]
ok $? "without clip_norm as well: $waits waits"

# --- a short epoch of many steps is one graph from its third time on (its calls: traffic.sh), with the bits of steps issued one by one ---
make_data few.csv 300 # short epochs: a stretch holds them whole
make_config few.json few.csv binary '"epochs": 12, "early_stopping": {"patience": 0}' "$gpu"
few() { dnn train few.json --force --progress none --set model.hidden='[4]' --set train.batch_size=20 "$@" 2>&1 >/dev/null; }
few -o graphs.dnn >err
CUDA_LAUNCH_BLOCKING=1 few -o plain.dnn >err
same graphs.dnn plain.dnn "the same bytes without graphs"
for n in 1 3 5; do # one of a round, of 8, of a whole epoch
    DNN_EMULATE=GraphInstantiateWithFlags:$n:2 few -o small.dnn >err
    same small.dnn plain.dnn "the same bytes without room for graph $n"
done

# --- what the device measures is what the host would, and does not depend on who writes it down ---
value() { tail -n 1 j.jsonl | sed -n "s/.*\"valid\":{[^}]*\"$1\":\([-0-9.e+]*\).*/\1/p"; }
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && d <= 2e-6 * (b < 0 ? -b : b) + 1e-12) }'; }
# measured CONFIG METRIC OTHER SETTING...: followed, and beside OTHER, which the host measures
measured() {
    local config=$1 metric=$2 other=$3 there
    shift 3
    rm -f j.jsonl
    run dnn train "$config" -o a.dnn --progress none --set train.early_stopping.metric="$metric" --set output.metrics=j.jsonl "$@"
    is_exit 0 "$config by $metric"
    there=$(value "$metric")
    run dnn train "$config" -o b.dnn --progress none --set train.early_stopping.metric="$metric" "$@"
    cmp -s <(dnn predict a.dnn d.csv --quiet 2>&1) <(dnn predict b.dnn d.csv --quiet 2>&1)
    ok $? "$metric: the same model without a journal"
    rm -f j.jsonl
    dnn train "$config" -o b.dnn --progress none --set train.early_stopping.metric="$other" --set output.metrics=j.jsonl "$@" 2>/dev/null
    near "$there" "$(value "$metric")"
    ok $? "$metric is $there on the device, $(value "$metric") on the host"
    rm -f j.jsonl
}
make_data multi.csv 600 multi
make_data value.csv 600 value
make_config multi.json multi.csv multiclass '"epochs": 3' "$gpu"
make_config value.json value.csv regression '"epochs": 3' "$gpu"
measured c.json logloss auc
measured c.json accuracy auc
measured multi.json logloss macro_auc
measured multi.json accuracy macro_auc
measured value.json rmse r2
measured value.json mae r2
for loss in '{"type":"focal","gamma":1.5}' '{"type":"cross_entropy","label_smoothing":0.1}' \
    '{"type":"cross_entropy","class_weights":"balanced"}'; do
    run dnn train multi.json --force -o a.dnn --progress none --set train.loss="$loss" --set output.metrics=j.jsonl
    is_exit 0 "$loss"
    there=$(value loss)
    rm -f j.jsonl
    dnn train multi.json --force -o b.dnn --progress none --set train.loss="$loss" --set train.early_stopping.metric=macro_auc \
        --set output.metrics=j.jsonl 2>/dev/null
    near "$there" "$(value loss)"
    ok $? "followed by itself: $there on the device, $(value loss) on the host"
    rm -f j.jsonl
done

# --- the best weights ---
hot='--set train.optimizer.learning_rate=0.3 --set train.schedule.type=constant --set train.early_stopping.metric=logloss'
# shellcheck disable=SC2086
run dnn train c.json --force -o best.dnn --progress none --json $hot --set train.epochs=9
best=$(sed -n 's/.*"best_epoch":\([0-9]*\).*/\1/p' out)
[ "$best" -lt 9 ]
ok $? "epoch $best of 9 was the best" "$(cat out)"
# shellcheck disable=SC2086
run dnn train c.json --force -o short.dnn --progress none --json $hot --set train.epochs="$best"
out_has "\"best_epoch\":$best" "the best epoch is the same without the epochs after it"
dnn predict best.dnn d.csv --quiet >best.csv
run dnn predict short.dnn d.csv --quiet
same out best.csv "the model is what it was then"
calls=$(DNN_EMULATE=report dnn train c.json --force -o x.dnn --progress none $hot --set train.epochs=9 2>&1 >/dev/null |
    sed -n 's/^emulated: \([0-9]*\) calls.*/\1/p')
breaks="3 9" orders="1 3" # of a night all
[ "${NIGHTLY:-no}" = no ] || { breaks="3 5 7 9" && orders="0 1 2 3"; }
for n in $breaks; do # how often it asks whether something is done is chance
    rm -f s.dnn*
    # shellcheck disable=SC2086
    run env DNN_EMULATE=any:$((calls * n / 14)):719 "$DNN" train c.json --force -o s.dnn --progress none $hot --set train.epochs=9 \
        --set train.checkpoint.every_s=0
    is_exit 81 "a card that breaks at call $((calls * n / 14))"
    # shellcheck disable=SC2086
    run dnn train c.json --force -o s.dnn --progress none $hot --set train.epochs=9 --set train.checkpoint.every_s=0 --resume
    dnn predict s.dnn d.csv --quiet >s.csv
    same s.csv best.csv "gone on: the same best weights"
done
for order in $orders; do
    # shellcheck disable=SC2086
    run env DNN_EMULATE=hide,report,order:$order "$DNN" train c.json --force -o s.dnn --progress none $hot --set train.epochs=9
    err_has " 0 findings, 0 left" "nothing wrong in order $order"
    same s.dnn best.dnn "the same bytes"
done
done_testing
