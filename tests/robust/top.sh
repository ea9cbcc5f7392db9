#!/bin/bash
# top.sh - predict --top K: the likeliest labels in place of a column for each.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN { print "id,x,z,y"; for (i = 0; i < 300; i++) printf "%d,%d,%d,%s\n", i, i % 13, i * 7 % 11, substr("abcde",
    1 + (i % 13 + i * 7 % 11) % 5, 1) }' >a.csv
cat >c.json <<'JSON'
{"task": "multiclass", "data": {"train": "a.csv", "target": "y", "columns": {"id": "id", "x": "numeric", "z": "categorical"}},
 "model": {"preset": "mlp", "hidden": [8]}, "train": {"epochs": 3}, "backend": {"name": "dnn_cpu"}}
JSON
run dnn train c.json -o m.dnn --progress none --quiet --force
is_exit 0 "a model of five labels"
sed '8s/,[0-9]*,/,x,/' a.csv >b.csv
dnn predict m.dnn b.csv --quiet --on-bad-row null >all
# sorted LINE: the labels and probabilities of the full output, the likeliest first
perl -F, -lane 'if ($. == 1) { @l = map { s/probability_//r } @F[2 .. $#F];
    print "id,prediction,probability,prediction_2,probability_2,prediction_3,probability_3"; next }
    if ($F[1] eq "") { print "$F[0],,,,,,"; next }
    my @o = sort { $F[$b + 2] <=> $F[$a + 2] || $a <=> $b } 0 .. $#l; print join ",", $F[0], map { ($l[$_], $F[$_ + 2]) } @o[0 .. 2]' \
    all >want
run dnn predict m.dnn b.csv --quiet --on-bad-row null --top 3
is_exit 0 "--top 3"
same want out "the three likeliest of all"
dnn train c.json -o two.dnn --progress none --quiet --force --set ensemble.folds=2 --set train.epochs=1
run dnn predict two.dnn b.csv --quiet --on-bad-row null --top 1 --uncertainty
is "$(sed -n '1p;8p' out | tr '\n' ' ')" "id,prediction,probability,uncertainty 6,,, " "--top 1, and the uncertainty behind it"
run dnn predict m.dnn a.csv --top 6
is_exit 64 "more than there are"
err_has '--top: this model has 5 labels: K is at most 5'
sed '1s/z/probability_2/' a.csv >clash.csv
sed 's/"z"/"probability_2"/; s/a.csv/clash.csv/' c.json >clash.json
dnn train clash.json -o clash.dnn --progress none --quiet --force
run dnn predict clash.dnn clash.csv --top 2 --passthrough probability_2
is_exit 64 "two columns of one name"
sed 's/multiclass/regression/; s/"y"/"x"/; s/"x": "numeric", //' c.json >r.json
dnn train r.json -o r.dnn --progress none --quiet --force
run dnn predict r.dnn a.csv --top 2
is_exit 64 "a number has no likeliest labels"
# the predicted label is first, also where it is not the likeliest
awk 'BEGIN { print "x,y"; for (i = 0; i < 200; i++) printf "%d,%s\n", i % 10, i * 7 % 10 < i % 10 ? "yes" : "no" }' >t.csv
sed 's/multiclass/binary/; s/a.csv/t.csv/; s/"id": "id", //; s/, "z": "categorical"/}, "positive": "yes"/;
    s/"categorical"}}/"categorical"}/; s/"positive": "yes"}}/"positive": "yes"}/' c.json >t.json
run dnn train t.json -o t.dnn --progress none --quiet --force
is_exit 0 "a model of two labels" "$(cat err; cat t.json)"
dnn predict t.dnn t.csv --quiet --threshold 0.05 | cut -d , -f 1 >plain
run dnn predict t.dnn t.csv --quiet --threshold 0.05 --top 2
same plain <(cut -d , -f 1 out) "--top keeps the predicted label"
check "the predicted label is not always the likeliest" awk -F , 'NR > 1 && $4 > $2 { n++ } END { exit !n }' out
done_testing
