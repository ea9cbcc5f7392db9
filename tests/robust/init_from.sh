#!/bin/bash
# init_from.sh - train --init-from: the weights of a model begin a training on other rows. The metric before the first epoch must be
# what `dnn evaluate` says of that model, though centres, scales and the places of categories have changed.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
export CUDA_VISIBLE_DEVICES=''
rows() { # rows SEED ROWS SHIFT VALUES
    perl -e 'my ($seed, $n, $shift, $values) = @ARGV; srand $seed; print "a,b,c,y,t\n";
        for (1 .. $n) { my ($a, $b, $k) = (10 * rand() + $shift, 1000 + 50 * rand() * (1 + $shift), int($values * rand));
            my $z = sin($a) + ($b - 1025) / 15 + ($k % 3) - 1 + .5 * rand;
            printf "%.3f,%.3f,k%02d,%s,%.3f\n", $a, $b, 20 - $k, $z > 0 ? "yes" : "no", 40 + 5 * $z }' "$@"
}
rows 1 400 0 5 >d.csv
rows 2 100 0 5 >v.csv
rows 3 500 0.7 7 >e.csv
columns='"a": "numeric", "b": "numeric", "c": "categorical"'
config() { # config TASK TARGET MORE
    echo \
        '{"task": "'"$1"'", "calibrate": "none", "data": {"train": "d.csv", "valid": "v.csv", "target": "'"$2"'",
            "columns": {'"$columns"'}'"$3"'},
        "model": {"preset": "mlp", "hidden": [16]}, "train": {"epochs": 6, "early_stopping": {"patience": 0}}}'
}
config binary y ', "positive": "yes"' >b.json
config regression t "" >r.json
still="--progress none"
begin() { sed -n 's/.*--init-from: valid [a-z]* \([0-9.]*\) before.*/\1/p' err; }
for what in b:logloss r:rmse; do
    c=${what%:*} metric=${what#*:}
    for encode in onehot embedding; do
        set="--set encoders.categorical.encode=$encode"
        # shellcheck disable=SC2086
        run dnn train $c.json -o $c.dnn --force $still $set
        is_exit 0 "$c, $encode: a model" "$(cat err)"
        run dnn evaluate $c.dnn v.csv --json
        wanted=$(tr ',' '\n' <out | sed -n "s/.*\"$metric\":\([0-9.]*\).*/\1/p" | head -n 1)
        # shellcheck disable=SC2086
        run dnn train $c.json -o $c.new --init-from $c.dnn --force $still $set --set data.train=e.csv --json
        is_exit 0 "  begins a training on other rows" "$(cat err)"
        check "  as good as it was" awk -v a="$(begin)" -v b="$wanted" \
            'BEGIN { d = a - b; exit !(a > 0 && d < 2e-4 * (1 + b) && -d < 2e-4 * (1 + b)) }'
        [ $encode = onehot ] && { err_has "2 categories, tokens or bins are not in the model" "  new values begin anew"; }
    done
done
# the start is a result too
cp b.dnn before.dnn
dnn train b.json -o b.dnn --force --quiet $still
run dnn train b.json -o b.new --init-from b.dnn --force $still --json --set train.optimizer.learning_rate=10 --set train.clip_norm=0
is_exit 0 "a training that only gets worse" "$(cat err)"
out_has '"best_epoch":null' "  ends with its start"
run dnn train b.json -o b.dnn --init-from b.dnn --force $still
is_exit 0 "the model that is replaced may be the start" "$(cat err)"
# a column of another unit
awk -F, 'BEGIN { OFS = "," } NR > 1 { $2 *= 1000 } { print }' d.csv >unit.csv
run dnn train b.json -o unit.dnn --init-from b.dnn --force $still --set data.train=unit.csv
is_exit 0 "a column in another unit" "$(cat err)"
err_has 'warning: --init-from: column "b" has the centre' "  is told"
err_lacks 'column "a" has' "a column in another unit: no other is named"

other() { # other NAME REASON OPTION...
    local name=$1 reason=$2
    shift 2
    run dnn train "$@" --init-from b.dnn -o other.dnn $still
    is_exit 76 "$name: 76"
    err_has "$reason" "  says why"
}
other "another task" "it has another task" r.json
err_has "error[E1521]" "another task: the error has its id"
other "other layers" "it has other layers" b.json --set 'model.hidden=[16,16]'
other "a wider layer" 'it has another shape of the weights "layers.0.' b.json --set 'model.hidden=[17]'
other "a column less" 'the config lacks its column "c"' b.json --set 'data.columns={"a":"numeric","b":"numeric"}'
other "another type" 'it has another type of the column "b"' b.json --set data.columns.b=categorical
other "members" "it is one network, and the config has members" b.json --set ensemble.folds=3
sed 's/,no,/,maybe,/' d.csv >m.csv
other "other labels" "it has other labels" b.json --set data.train=m.csv --set data.valid=null

# resumed: the same bytes, and only with the same start
slow="--set train.checkpoint.every_s=0"
# shellcheck disable=SC2086
dnn train b.json -o whole.dnn --init-from before.dnn --quiet $still $slow --set encoders.categorical.encode=embedding
# shellcheck disable=SC2086
{
    DNN_FAULT=kill:rename:3 "$HOOKED" train b.json -o cut.dnn --init-from before.dnn $still $slow \
        --set encoders.categorical.encode=embedding
} >/dev/null 2>&1
cp whole.dnn third.dnn
# shellcheck disable=SC2086
run dnn train b.json -o cut.dnn --resume --init-from third.dnn $still $slow --set encoders.categorical.encode=embedding
is_exit 76 "resumed with another start: 76"
err_has "the model of --init-from" "  says so"
# shellcheck disable=SC2086
run dnn train b.json -o cut.dnn --resume --init-from before.dnn $still $slow --set encoders.categorical.encode=embedding
is_exit 0 "resumed with the same start" "$(cat err)"
err_has "resuming at step" "  from a checkpoint"
same cut.dnn whole.dnn "  the same bytes"

# members and folds by name and number
members='--set ensemble.folds=2 --set ensemble.members=[{"name":"m"},{"name":"line","model":{"preset":"linear"}}]'
members+=' --set data.valid=null --set ensemble.select=mean'
# shellcheck disable=SC2086
run dnn train b.json -o e.dnn $still $members
is_exit 0 "an ensemble" "$(cat err)"
# shellcheck disable=SC2086
run dnn train b.json -o e.new --init-from e.dnn $still $members --set train.epochs=2
is_exit 0 "  begins one" "$(cat err)"
# shellcheck disable=SC2086
run dnn train b.json -o e2.new --init-from e.dnn $still ${members/name\":\"m/name\":\"x}
is_exit 76 "a member of another name: 76"
err_has 'it has no member "x"' "  is named"
# shellcheck disable=SC2086
run dnn train b.json -o e2.new --init-from e.dnn $still ${members/folds=2/folds=3}
is_exit 76 "other folds: 76"
run dnn train b.json -o l.dnn --init-from b.dnn --force $still --set 'model={"preset":"linear"}'
is_exit 0 "preset linear is solved for"
err_has "note: --init-from: these weights are solved for" "preset linear: a note says that it begins with nothing"

# an older model cuts the words of other scripts by other rules
perl -e 'srand 5; print "note,y\n"; for (1 .. 200) { my $y = rand() < .5; print $y ? "\xc3\x89T\xc3\x89 good" : "na\xc3\xafve bad",
    " w" x 30, int(9 * rand), ",", $y ? "yes" : "no", "\n" }' >n.csv
echo '{"task": "binary", "data": {"train": "n.csv", "target": "y", "positive": "yes", "columns": {"note": {"type": "text",
    "encode": "tokens", "vocabulary": 200, "dim": 4, "length": 26}}},
    "model": {"layers": [{"type": "pool", "kind": "mean"}, {"type": "dense", "units": 4}, {"type": "tanh"}]},
    "train": {"epochs": 2}}' >n.json
run dnn train n.json -o n.dnn $still --init-from "$ROOT/tests/golden/models/format-3-tokens.dnn"
is_exit 0 "a model of an older version, of texts" "$(cat err)"
err_has 'warning: --init-from: the model is of an older version, which cuts the words of column "note" at other places' "  it is told"
run dnn train n.json -o n.new $still --init-from n.dnn
is_exit 0 "  of this version" "$(cat err)"
err_lacks "of an older version" "  it is not"

# rows that the start was trained on
rows 9 1000 0 5 >first.csv
{ cat first.csv; rows 10 1000 0 5 | tail -n +2; } >more.csv
random='--set data.valid=null --set data.train=more.csv --set data.split.method=random'
# shellcheck disable=SC2086
run dnn train b.json -o first.dnn $still ${random/more/first} --set data.split.seed=1
# shellcheck disable=SC2086
run dnn train b.json -o second.dnn $still $random --init-from first.dnn
is_exit 0 "the file has grown, and a random split deals its rows anew" "$(cat err)"
err_has '% of the validation rows: their figures are too good; data.split by hash or time, or a data.valid,' \
    "  the validation rows are told"
err_has '% of the test rows: their figures are too good' "  the test rows, too"
check "the shares of rows trained on are told: .35" awk '/its model was trained on about/ { n++; sub(/.*about /, "");
    bad += $1 < 24 || $1 > 46 } END { exit !(n == 2 && !bad) }' err
run dnn evaluate second.dnn more.csv --part test
err_has 'of these rows are rows that the model was trained on' "  evaluate knows them"
err_has 'the weights of its start knew held-out rows too' "evaluate says that --part test is no way out"
# shellcheck disable=SC2086
dnn train b.json -o hash.dnn --quiet $still ${random/more/first} --set data.split.method=hash
# shellcheck disable=SC2086
run dnn train b.json -o hash2.dnn $still $random --set data.split.method=hash --init-from hash.dnn
is_exit 0 "by hash a row keeps its part" "$(cat err)"
err_lacks "was trained on" "  no warning"
run dnn train b.json -o third.dnn --init-from first.dnn --force $still
is_exit 0
err_lacks "was trained on" "rows that it does not have"
is_exit 0 "  another file" "$(cat err)"
run dnn evaluate third.dnn first.csv
err_has 'warning: about 70 % of these rows are rows that the model was trained on' "  evaluate knows the rows of the start"

# a signal while the first weights answer the validation rows, which takes seconds
wide='--threads 1 --set model.hidden=[2048,2048] --set train.epochs=1'
rows 11 20000 0 5 | sed 's/$/,1/; 1s/1$/left/' >many.csv
# shellcheck disable=SC2086
dnn train b.json -o wide.dnn --quiet $still $wide
# shellcheck disable=SC2086
env --default-signal=TERM "$DNN" train b.json -o stopped.dnn $still $wide --set data.valid=many.csv --set data.train=many.csv \
    --init-from wide.dnn >out 2>err &
for _ in {1..200}; do grep -q 'not in the config' err && break; sleep 0.1; done
sleep 0.5
kill -TERM $!
wait $!
STATUS=$?
is_exit 75 "SIGTERM while the first weights answer" "$(cat err)"
err_has 'error[E1902]: stopped by SIGTERM before the first step' "  says so"
check "SIGTERM while the first weights answer: no model" test ! -e stopped.dnn
done_testing
