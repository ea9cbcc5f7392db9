#!/bin/bash
# weights.sh - a row of weight 0 is as if the file did not have it, in every encoder and preset: the same answers, bit for bit. A row
# of weight 2 is as if it stood there twice: the same encoders, and of a solver the same answers.
. "$(dirname "$0")/../tap.sh"
# Rows whose weight is 0 have values, categories, words, dates and labels that no other row has.
awk '
    function next_of(n) { seed = (seed * 16807) % 2147483647; return int(seed / 2147483647 * n) }
    BEGIN {
        seed = 11; print "a,b,c,d,e,f,k,l,m,n,t,u,v,when,w,y,label"
        for (i = 0; i < 360; i++) {
            w = 1 + (next_of(4) == 0)
            for (k = 0; k < 6; k++) x[k] = (next_of(2000) - 1000) / 300
            s = x[0] + (x[1] > 0) * 2 + next_of(100) / 90; c = next_of(6)
            row = ""; for (k = 0; k < 6; k++) row = row (next_of(20) || k ? x[k] : "") ","
            row = row "k" c ",l" next_of(40) ",m" next_of(9) ",n" next_of(7)
            row = row ",the word" next_of(30) " and w" c ",a text w" next_of(50) " of words,tok" next_of(25) " en" c
            printf "%s,2024-%02d-%02d,%d,%g,%s\n", row, 1 + next_of(12), 1 + next_of(28), w, s + c / 3,
            (s + c / 3 > 1 ? "yes" : s > 0 ? "no" : "may be")
            if (i % 9 == 4)
                printf "-9999,9999,1e6,-9999,%d,7777,odd,odd%d,odd,odd,odd words here,odd odd,odd oddest,1912-01-01,0,-99999,odd\n", i, i
        }
    }' >with.csv
grep -v ',0,-99999,odd$' with.csv >without.csv
head -n 60 without.csv >valid.csv
numbers='"a": {"type": "numeric", "scale": "standard"}, "b": {"type": "numeric", "scale": "robust"}, "c": {"type": "numeric",
    "scale": "minmax"}, "d": {"type": "numeric", "scale": "quantile", "impute": "mean"}, "e": {"type": "numeric", "scale": "clip"},
    "f": "numeric"'
bins='"a": {"type": "numeric", "encode": "ple", "edges": "quantile"}, "b": {"type": "numeric", "encode": "ple", "edges": "tree", "bins": 6},
    "c": {"type": "numeric", "encode": "periodic"}, "when": "datetime"'
categories='"a": "numeric", "k": {"type": "categorical", "encode": "onehot"}, "l": {"type": "categorical", "encode": "embedding",
    "min_count": 3}, "m": {"type": "categorical", "encode": "target"}, "n": {"type": "categorical", "encode": "count"}'
texts='"t": "text", "u": {"type": "text", "weight": "count"}'
tokens='"v": {"type": "text", "encode": "tokens"}'
config() { # FILE TASK TARGET COLUMNS PRESET|MODEL [MORE [MORE OF A PRESET]]
    local model="{\"preset\": \"$5\"${7:-}}"
    [ "${5#\{}" = "$5" ] || model=$5
    cat >c.json <<JSON
{"task": "$2", "data": {"train": "$1", "valid": "valid.csv", "target": "$3", "columns": {"w": "weight", $4}}, "model": $model,
 "train": {"epochs": 2, "batch_size": ${batch:-64}}, "backend": {"name": "dnn_cpu"}${6:-}}
JSON
}
answers() { # FILE -> p.FILE; the rest as config
    config "$@"
    rm -f m.dnn "p.$1"
    dnn train c.json -o m.dnn --quiet 2>err && dnn predict m.dnn valid.csv -o "p.$1" --quiet 2>>err
}
unseen() { # NAME, the rest as config without FILE
    local name=$1
    shift
    answers with.csv "$@"
    ok $? "$name: with rows of weight 0" "$(cat err)"
    answers without.csv "$@"
    same p.with.csv p.without.csv "$name: answers are those without them"
}
small=', "hidden": [8]'
unseen "scales" regression y "$numbers" mlp ', "target_transform": "quantile"' "$small"
unseen "bins, waves, dates" regression y "$bins" mlp ', "target_transform": "auto"' "$small"
unseen "bins of labels" multiclass label "$bins" mlp '' "$small"
unseen "categories, and pairs of keys" multiclass label "$categories" mlp ', "encoders": {"target_statistics": {"pairs": 4}}' "$small"
unseen "texts" multiclass label "$texts" linear
unseen "tokens" multiclass label "$tokens" gru
for preset in linear realmlp tabm; do
    unseen "$preset" regression y "$numbers, \"k\": \"categorical\"" $preset
done
unseen "auto" regression y "$numbers, \"k\": \"categorical\"" auto ', "ensemble": {"folds": 2}'
unseen "residual layers" regression y "$numbers, \"k\": \"categorical\"" \
    '{"layers": [{"type": "dense", "units": 8}, {"type": "residual", "layers": [{"type": "batch_norm"}, {"type": "relu"},
    {"type": "dense", "units": 8}]}]}'
series='"k": "ignore"}, "sequence": {"wide": {"x": ["a", "b", "c", "d", "e", "f"]}' # it ends the columns
for model in '{"preset": "rocket", "features": 84}' '{"preset": "transformer", "blocks": 1, "dim": 8}'; do
    unseen "sequences, $model" multiclass label "$series" "$model"
done
# --- twice ---
awk -F, 'BEGIN { OFS = FS } NR == 1 { print; next } { n = $15; $15 = 1; for (; n; n--) print }' without.csv >twice.csv
tensors() { # FILE: name and bytes of what is fitted. Sums of a key may be rounded otherwise; what is out of fold follows row numbers
    perl -e 'use strict; local $/; open my $f, "<:raw", $ARGV[0] or die; my $all = <$f>; my $n = unpack "Q<", $all;
        my $head = substr $all, 8, $n;
        while ($head =~ /"((?:encoders|schema)\.[^"]*)":\{"dtype":"(\w+)"[^}]*"data_offsets":\[(\d+),(\d+)\]/g) {
            my ($name, $type, $bytes) = ($1, $2, substr $all, 8 + $n + $3, $4 - $3);
            next if $name =~ /statistics\.(center|factor)$/;
            print "$name ", ($name =~ /entries$/ ? join " ", map { sprintf "%.3f", $_ + 0.00001 } unpack "f<*", $bytes : unpack "H*",
            $bytes), "\n" }' "$1"
}
twice() { # NAME, the rest as config without FILE
    local name=$1 file
    shift
    for file in without twice; do
        config $file.csv "$@"
        rm -f $file.dnn
        dnn train c.json -o $file.dnn --quiet --set data.split.test=0 2>err
        ok $? "$name: trained on $file.csv" "$(cat err)"
        tensors $file.dnn >$file.tensors
    done
    [ "$(wc -l <twice.tensors)" -gt 5 ]
    ok $? "$name: tensors are there"
    same without.tensors twice.tensors "$name: weight 2 is fitted as the row twice"
}
twice "scales" regression y "$numbers" mlp ', "target_transform": "quantile"' "$small"
twice "bins, waves, dates" regression y "$bins" mlp ', "target_transform": "auto"' "$small"
twice "bins of labels" multiclass label "$bins" mlp '' "$small"
twice "categories, keys" multiclass label "$categories" mlp ', "encoders": {"target_statistics": {"pairs": 0}}' "$small"
twice "texts" multiclass label "$texts" linear
twice "tokens" multiclass label "$tokens" gru
alike() { # NAME: the answers of both models
    local file far
    for file in without twice; do
        rm -f p.$file.csv
        dnn predict $file.dnn valid.csv -o p.$file.csv --quiet
    done
    far=$(paste -d, p.without.csv p.twice.csv | perl -F, -ane 'my $n = @F / 2; for my $i (0 .. $n - 1) { my ($x, $y) = @F[$i, $n + $i];
        next unless $y =~ /^[-+.\de]+$/; my $d = abs $x - $y; $most = $d if !defined $most || $d > $most }
        END { print $most // "nothing" }')
    ok "$(awk -v d="$far" 'BEGIN { print !(d ~ /^[0-9]/ && d < 1e-6) }')" "$1: the answers are the same within 1e-6" "$far"
}
for task in "regression y" "multiclass label"; do
    twice "linear, $task" $task "$numbers, \"k\": \"categorical\"" linear
    alike "linear, $task"
done
# by gradient, where all rows are one batch
batch=4096
twice "linear, texts" multiclass label "$texts" linear
alike "linear, texts"
batch=64
config with.csv multiclass label "$numbers" linear
run dnn train c.json -o m.dnn --force
is_exit 0
err_has "with.csv: the weight is 0 in 40 of 400 rows, which count for nothing: left out"
err_lacks odd "their labels are not learned"
# many rows of a small weight count for their sum: 2 of 102 here
awk 'BEGIN { print "x,w,y"; for (i = 0; i < 2000; i++) print 50 + i % 7 ",.001," i % 2;
    for (i = 0; i < 100; i++) print i % 10 ",1," i % 3 % 2 }' >small.csv
cat >small.json <<'JSON'
{"task": "binary", "data": {"train": "small.csv", "target": "y", "positive": "1", "columns": {"x": "numeric", "w": "weight"}},
  "model": {"preset": "linear"}, "backend": {"name": "dnn_cpu"}}
JSON
run dnn train small.json -o small.dnn
is_exit 0 "weights far apart" "$(cat err)"
run dnn inspect small.dnn --json
check "2,000 rows of weight .001 do not move a median" grep -qE '"imputed":[45][,}.]' out
# in a sequence they stay as context, and a label or a number of theirs is not learned
awk 'BEGIN { print "g,t,x,w,y"; for (g = 0; g < 40; g++) for (t = 0; t < 12; t++) {
    x = (g * 7 + t * 13) % 11 - 5; odd = (t % 6 == 2)
    printf "g%d,%d,%s,%d,%s\n", g, t, odd ? 9000 + g : x, !odd, (odd ? "odd" : x > 0 ? "up" : "down") } }' >steps.csv
cat >s.json <<'JSON'
{"task": "multiclass", "data": {"train": "steps.csv", "target": "y", "columns": {"x": "numeric", "w": "weight"}, "missing": [""],
 "sequence": {"group": "g", "order": "t", "window": 4, "label": "last"}}, "model": {"preset": "gru", "hidden": [4]}, "train": {"epochs": 2},
 "backend": {"name": "dnn_cpu"}}
JSON
run dnn train s.json -o s.dnn --json
is_exit 0 "a window reads rows of weight 0"
run dnn inspect s.dnn --json
ok "$(grep -q '"odd"' out; echo $((1 - $?)))" "the label of rows of weight 0 is none of the model's" "$(cat out)"
done_testing
