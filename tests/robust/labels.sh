#!/bin/bash
# labels.sh - labels that are numbers compare as numbers: a model of 0 and 1 takes 0.0 and 1.0, in every file and key, and says so; its
# answers keep the texts of the training file.
. "$(dirname "$0")/../tap.sh"
rows() { # ROWS LABEL LABEL [LABEL]: x and one of the labels, which x tells but for some rows
    awk -v n="$1" -v a="$2" -v b="$3" -v c="${4-}" 'BEGIN { split(a "|" b (c == "" ? "" : "|" c), l, "|"); k = c == "" ? 2 : 3
        print "x,z,y"; for (i = 0; i < n; i++) { j = (i * 7 + int(i / 9)) % 10;
        printf "%d,%d,%s\n", j, i * 13 % 11, l[1 + (i % 8 ? int(j * k / 10) : i % k)] } }'
}
rows 300 0 1 >plain.csv
rows 300 0.0 1.0 >point.csv
rows 300 00 +1 >odd.csv
awk -F, -v OFS=, 'NR > 1 && NR % 4 == 0 { $3 = $3 ".0" } 1' plain.csv >mixed.csv
train() { run dnn train "$@" --force --set train.epochs=3; }
metrics() { perl -ne 'print "$1\n" if /"metrics":(\{.*?\})/' "$1"; }
answers() { dnn predict "$1" plain.csv --quiet >answers.csv; }

run dnn init point.csv --target y --set model.preset=linear -o point.json
err_has 'note: the positive label is "1.0"' "1.0 beside 0.0 is the positive label"
train point.json -o point.dnn
is "$(dnn predict point.dnn plain.csv -q | head -n 1)" "prediction,probability_0.0,probability_1.0" \
    "answers have the texts of the training file"
run dnn evaluate point.dnn point.csv --json
is_exit 0
err_lacks 'not written as in training' "its own labels need no note"
metrics out >want
for file in plain odd mixed; do
    run dnn evaluate point.dnn $file.csv --json
    is_exit 0 "$file.csv: labels are equal as numbers"
    is "$(grep -c 'labels are not written as in training: they count as the equal numbers among "0.0", "1.0"' err)" 1 "  one note"
    metrics out >got
    same want got "$file.csv: the same metrics"
done
sed 's/,1$/,2/' plain.csv >other.csv
run dnn evaluate point.dnn other.csv
is_exit 65 "another number is an unknown label"
err_has 'the label "2" is none of the model'
awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) print i % 7 "," (i % 2 ? "yes" : "no") }' >words.csv
dnn init words.csv --target y --set model.preset=linear -o words.json >/dev/null 2>&1
dnn train words.json -o words.dnn --quiet --force 2>/dev/null
printf 'x,y\n3,YES\n' >capital.csv
run dnn evaluate words.dnn capital.csv
is_exit 65 "a label in capitals is an unknown label"
err_has 'it differs from "yes" in the way it is written alone' "the help names its twin"

# a part with a file of its own, files of several spellings, the positive label and weights by label
rows 100 0 1 >part.csv
answers point.dnn
mv answers.csv alone.csv
for key in valid test; do
    train point.json -o part.dnn --set data.$key=part.csv
    is_exit 0 "data.$key with other spellings"
    err_has 'note: target "y": labels that are equal as numbers are one: "' "  a note"
done
dnn predict part.dnn plain.csv -q | head -n 1 >got
echo "prediction,probability_0.0,probability_1.0" >want
same want got "  the texts are those of the training file"
train point.json -o positive.dnn --set data.positive=1
is_exit 0 "data.positive as another spelling"
is "$(grep -c 'note: data.positive "1" is the label "1.0" of the file, equal as a number' err)" 1 "  one note"
answers positive.dnn
same alone.csv answers.csv "  the same model"
train point.json -o positive.dnn --set data.positive=2
is_exit 65 "data.positive that is another number is refused"
train point.json -o one.dnn --set 'train.loss.class_weights={"1.0": 3, "0.0": 1}'
train point.json -o two.dnn --set 'train.loss.class_weights={"1": 3, "0": 1}'
is_exit 0 "weights by another spelling"
answers one.dnn && mv answers.csv one.csv && answers two.dnn && same one.csv answers.csv "  the same answers"

# one file with both spellings: one label, whose text is that of most rows
run dnn init mixed.csv --target y --set model.preset=linear -o mixed.json
is "$(grep -c '"task": "binary"' mixed.json)$(grep -c '"positive": "1"' mixed.json)" 11 "init finds two labels of four spellings"
err_has 'note: target "y": labels that are equal as numbers are one: "' "a note says that four spellings are two labels"
train mixed.json -o mixed.dnn
err_has 'note: target "y": labels that are equal as numbers are one: "' "train says so too"
dnn init plain.csv --target y --set model.preset=linear -q -o plain.json
train plain.json -o plain.dnn
answers mixed.dnn && mv answers.csv mixed.out
answers plain.dnn
same mixed.out answers.csv "  the answers are those of one spelling"
run dnn evaluate plain.dnn point.csv --better-than point.dnn --on auc
is_exit 82
err_lacks E15 "models with other spellings are compared"
out_has 'gate auc better than point.dnn'
train plain.json -o two.dnn --set ensemble.folds=3 --set data.train=mixed.csv
is_exit 0 "an ensemble of a file with both spellings"

# classes
rows 300 1.0 2.0 3.0 >classes.csv
rows 300 1 2 3 >whole.csv
dnn init classes.csv --target y --set model.preset=linear -q -o classes.json
train classes.json -o classes.dnn
dnn evaluate classes.dnn classes.csv --json -q >out && metrics out >want
run dnn evaluate classes.dnn whole.csv --json
is_exit 0 "several numeric classes"
metrics out >got
same want got "  the same metrics"
awk -F, -v OFS=, 'NR > 1 { $3 = NR % 3 ? "1.1" : NR % 2 ? "1.10" : "2" } 1' whole.csv >versions.csv
dnn init versions.csv --target y --set task=multiclass --set model.preset=linear -q -o versions.json
train versions.json -o versions.dnn
is "$(dnn predict versions.dnn whole.csv -q | head -n 1)" "prediction,probability_1.1,probability_1.10,probability_2" \
    "fractions in two spellings of one file stay two labels"
err_has 'the labels "1.1" and "1.10" are the same number, and count as two classes' "fractions in two spellings: a warning"
done_testing
