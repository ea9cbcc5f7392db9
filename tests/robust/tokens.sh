#!/bin/bash
# tokens.sh - a text as a sequence of tokens through the whole program: every preset of sequences learns the order of words; threads,
# batches, resume, memory, ensembles; long, empty and unknown texts; keys that cannot be.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/adds_up.sh"
# The label follows from which of two words comes first: no bag of words tells it.
make_rows() { # FILE ROWS SEED
    awk -v rows="$2" -v seed="$3" '
        function next_of(n) { seed = (seed * 16807) % 2147483647; return int(seed / 2147483647 * n) }
        function some(n, text) { for (; n > 0; n--) text = text word[1 + next_of(8)] " "; return text }
        BEGIN {
            split("the a Été of and to in 日", word, " ")
            print "id,note,y"
            for (i = 1; i <= rows; i++) {
                first = next_of(2)
                printf "%d,\"%s%s %s%s %s\",%s\n", i, some(next_of(3)), first ? "cat" : "Dog", some(next_of(3)),
                    first ? "DOG!" : "cat", some(next_of(3)), first ? "cat" : "dog"
            }
        }' >"$1"
}
make_rows train.csv 600 5
make_rows ask.csv 120 17
cat >c.json <<'JSON'
{"task": "binary", "data": {"train": "train.csv", "target": "y", "positive": "cat", "columns": {"id": "id",
  "note": {"type": "text", "encode": "tokens", "dim": 8}}}, "model": {"preset": "gru", "hidden": [8]},
 "train": {"epochs": 8}, "backend": {"name": "dnn_cpu"}}
JSON
run dnn train c.json -o m.dnn --json --quiet --threads 1
is_exit 0 "gru"
learned() { perl -0ne 'exit !(/"valid":\{"auc":([0-9.]+)/ && $1 > 0.95)' out; }
ok "$(learned; echo $?)" "it learns the order of words" "$(head -c 600 out)"
dnn train c.json -o t3.dnn --quiet --threads 3
ok "$(cmp -s m.dnn t3.dnn; echo $?)" "1 and 3 threads: the same model"
sed 's/"preset": "gru", "hidden": .8./"preset": "auto"/' c.json >auto.json
run dnn train auto.json -o auto.dnn --quiet --json --time-limit 4
is_exit 0 "preset auto"
ok "$(learned; echo $?)" "preset auto learns the order of words" "$(head -c 600 out)"
dnn check auto.json --resolved >out 2>err
for name in cnn cnn_short gru; do out_has "\"name\": \"$name\"" "auto has the member $name"; done
cp out list.json
run dnn check list.json --resolved
ok "$(cmp -s out list.json; echo $?)" "its list is a config that means the same" "$(diff out list.json | head -5)"
run dnn verify m.dnn
is_exit 0 "verify"
dnn predict m.dnn ask.csv --quiet -o all.csv
dnn predict m.dnn ask.csv --quiet --batch-size 7 --threads 3 -o parts.csv
ok "$(cmp -s all.csv parts.csv; echo $?)" "an answer does not depend on its batch"
(head -n 1 ask.csv; sed -n 31p ask.csv) | dnn predict m.dnn - --quiet | tail -n 1 >one
ok "$(sed -n 31p all.csv | cmp -s - one; echo $?)" "an answer does not depend on other rows"
printf 'id,note\n1,\n2,  \n3,CAT dog\n4,"cat\t DOG"\n5,never seen\n6,unknown words\n7,"%s"\n' "$(seq 3000 | tr '\n' ' ')" >odd.csv
run dnn predict m.dnn odd.csv --quiet
is_exit 0 "empty, unknown and long texts"
same() { [ "$(sed -n "$1p" out | cut -d, -f2-)" = "$(sed -n "$2p" out | cut -d, -f2-)" ]; }
ok "$(same 2 3; echo $?)" "no token is no token" "$(cat out)"
ok "$(same 4 5; echo $?)" "case and blanks do not matter" "$(cat out)"
ok "$(same 6 7; echo $?)" "unknown tokens are alike" "$(cat out)"
DNN_FAULT=kill:rename:3 "$HOOKED" train c.json -o r.dnn --quiet --set train.checkpoint.every_s=0 >/dev/null 2>&1 &
wait $! 2>/dev/null
dnn train c.json -o r.dnn --resume --quiet --set train.checkpoint.every_s=0
dnn train c.json -o s.dnn --quiet --set train.checkpoint.every_s=0
ok "$(cmp -s s.dnn r.dnn; echo $?)" "killed and resumed: the same model"
run dnn inspect m.dnn --json
ok "$(grep -q '"encode":"tokens","vocabulary":11,"length":[0-9]*,"dim":8,"min_count":1' out; echo $?)" "inspect tells the options" \
    "$(cat out)"
while read -r name model; do
    run dnn train c.json -o p.dnn --force --json --quiet --set "model=$model" --set train.epochs=8
    is_exit 0 "$name"
    [ "$name" = mlp ] || ok "$(learned; echo $?)" "$name: it learns the order of words" "$(head -c 600 out)"
done <<'PRESETS'
lstm {"preset": "lstm", "hidden": [8]}
transformer {"preset": "transformer", "dim": 16, "heads": 2, "feed_forward": 16, "blocks": 1}
tcn {"preset": "tcn", "channels": 16, "dilations": [1, 2, 4]}
cnn {"preset": "cnn", "channels": 64, "input_dropout": 0}
mlp {"layers": [{"type": "pool", "kind": "mean"}, {"type": "dense", "units": 8}, {"type": "relu"}]}
PRESETS
run dnn train c.json -o e.dnn --quiet --set 'ensemble={"folds": 2, "select": "mean"}' --set train.epochs=2
is_exit 0 "an ensemble"
run dnn predict e.dnn ask.csv --quiet --uncertainty
is_exit 0 "its answers"
run dnn explain m.dnn ask.csv --quiet
is_exit 0 "explain"
for model in m auto e; do
    run dnn explain $model.dnn ask.csv --rows why.csv --quiet
    adds_up $model.dnn why.csv ask.csv probability_cat "$model: the attributions of a text add up to answer - base"
done
dnn predict e.dnn --quiet < <(printf 'id,note\n1,\n') >odd
is "$(cut -d, -f3 why.csv | uniq | tail -n +2)" "$(sed -n 2p odd | cut -d, -f4)" "the base is the answer to an empty text"
run dnn check c.json
is_exit 0 "check"
run dnn train c.json -o cut.dnn --set 'data.columns.note={"type": "text", "encode": "tokens", "length": 4, "min_count": 100000}' \
    --set train.epochs=1
is_exit 0 "a short length, no token that is frequent enough"
ok "$(grep -q 'training texts have more than 4 tokens' err && grep -q 'no token stands `min_count` (100000) times' err; echo $?)" \
    "says so" "$(cat err)"
refuse() { # NAME ENTRY PATTERN EXIT
    run dnn check c.json --set "$2"
    is_exit "$4" "$1"
    ok "$(grep -q "$3" err; echo $?)" "$1: says so" "$(cat err)"
}
refuse "a key of terms" 'data.columns.note={"type": "text", "encode": "tokens", "buckets": 10}' \
    '`buckets` has no effect when `encode` is "tokens"' 78
refuse "a key of tokens" 'data.columns.note={"type": "text", "length": 10}' '`length` has no effect when `encode` is "hashed"' 78
refuse "a length of one" 'data.columns.note={"type": "text", "encode": "tokens", "length": 1}' 'out of range' 64
refuse "another input" 'data.columns.id=numeric' 'is an input beside the tokens of "note"' 78
refuse "steps of sequences" 'data.sequence={"group": "id"}' 'its tokens are a sequence' 78
refuse "a preset without steps" 'model={"preset": "mlp"}' 'steps of a sequence' 78
done_testing
