#!/bin/bash
# looks.sh - what init says of a file beyond its types: the positive label, labels written in two ways, classes of a handful of rows,
# a footer line, what each column alone says of the target; and what train says of columns that are set aside for their form.
. "$(dirname "$0")/../tap.sh"
positive() { # LABEL LABEL: 30 rows of the first, 70 of the second; the positive label of init
    awk -v a="$1" -v b="$2" 'BEGIN { print "x,y"; for (i = 0; i < 100; i++) printf "%d,%s\n", i % 9, (i % 10 < 3 ? a : b) }' >p.csv
    run dnn init p.csv --target y
    sed -n 's/.*"positive": "\(.*\)",/\1/p' out
}
for pair in "1 0 1" "yes no yes" "No Yes Yes" "n y y" "true false true" "nein ja ja" "Neg Pos Pos" "f t t"; do
    read -r first second want <<<"$pair"
    is "$(positive "$first" "$second")" "$want" "of $first and $second the affirmative one"
done
is "$(positive good bad)" good "of others the rarer one"
positive good bad >/dev/null
err_has 'the positive label is "good", the rarer one (30 of 100 rows); for the other one --set '"'data.positive=bad'" "with a note"
run dnn init p.csv --target y --set data.positive=bad
err_lacks 'the positive label is' "none where it is given"
awk 'BEGIN { print "month,x,z,y"; for (i = 0; i < 3000; i++)
    printf "m%d,%d,%d,%s\n", i % 12, i % 50, i * 7 % 13, (i == 3 ? "\" yes\"" : i == 4 ? "YES" : i == 5 ? "maybe" : i % 50 > 20 ? "yes" : "no")
    print "Total,600,7,no" }' >a.csv
awk 'BEGIN { print "g,y"; for (i = 0; i < 400; i++) print (i % 2 ? "u" : "v") "," ((i % 2) != (i % 10 < 3) ? "yes" : "no") }' >two.csv
run dnn init two.csv --target y -o two.json
err_has 'quick estimate): "g" 0.71' "a column of two values has its own AUC"
run dnn init a.csv --target y --set model.preset=mlp -o a.json
is_exit 0 "init"
err_has 'warning: line 3002, the last one, has "Total" in column "month"' "a footer line"
err_has '" yes" and "YES", " yes" and "yes" differ by case or blanks alone' "labels that differ by case or blanks"
err_has '"maybe" (1) have a handful of rows' "classes of a handful of rows"
err_has 'single columns as predictors of the target (share of the errors avoided, a quick estimate): "x" ' "what columns alone say"
run dnn init a.csv --target y --set model.preset=mlp -o a.json
is_exit 73 "a config that is there stays"
sed 's/^Total,600,7/Total,,7/; s/m[0-9]*,/5,/' a.csv >b.csv
run dnn init b.csv --target y --verbose
err_has 'line 3002, the last one, has "Total" in column "month"' "a word below numbers"
err_has 'column "z": numeric, as the only predictor ' "--verbose has every column"
sed 's/^Total,600,7,no/Total,600/' a.csv >b.csv
run dnn init b.csv --target y
is_exit 65 "a footer line of fewer cells"
err_has 'a line below the table, such as a sum? Take it out' "says what it may be"
head -n 1200 a.csv | sed 's/" yes"\|YES\|maybe/no/' >c.csv
run dnn init c.csv --target y
err_lacks 'the last one, has' "no footer line"
err_lacks 'differ by case' "nothing wrong with the labels"
err_has 'the positive label is "yes" (' "a known pair"
awk 'BEGIN { print "price,x,y"; for (i = 0; i < 100; i++) printf "%d/%d/2024,%d,%d\n", 1 + i % 9, 1 + i % 9, i % 9, i % 2 }' >d.csv
run dnn init d.csv --target y --set model.preset=mlp -o d.json
run dnn train d.json -o d.dnn --progress none --set train.epochs=1 --force
err_has 'column "price": set aside (ignore), though the cells are numbers or dates in a form of their own' "train repeats what init set aside"
done_testing
