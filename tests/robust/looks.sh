#!/bin/bash
# looks.sh - what init says of a file beyond its types: the positive label, labels written in two ways, classes of a handful of rows,
# a footer line, what each column alone says of the target; and what train says of columns that are set aside for their form.
. "$(dirname "$0")/../tap.sh"
positive() { # LABEL LABEL: 30 rows of the first, 70 of the second; the positive label of init
    awk -v a="$1" -v b="$2" 'BEGIN { print "x,y"; for (i = 0; i < 100; i++) printf "%d,%s\n", i % 9, (i % 10 < 3 ? a : b) }' >p.csv
    run dnn init p.csv --target y
    sed -n 's/.*"positive": "\(.*\)",/\1/p' out
}
for pair in "1.0 0.0 1.0" "1 0 1" "yes no yes" "No Yes Yes" "n y y" "true false true" "nein ja ja" "Neg Pos Pos" "f t t" "SÍ NO SÍ" \
    "Да нет Да" "是 否 是" "won lost won" "approved rejected approved"; do
    read -r first second want <<<"$pair"
    is "$(positive "$first" "$second")" "$want" "of $first and $second the affirmative one"
done
is "$(positive good bad)" good "of others the rarer one"
positive good bad >/dev/null
err_has \
    'warning: the positive label is "good", the rarer one (30 rows; "bad": 70), and not by its meaning; for the other one --set data.positive=bad' \
    "a positive label chosen by rarity: a warning"
run dnn init p.csv --target y --set data.positive=bad
is_exit 0
err_lacks 'the positive label is' "data.positive given: no warning"
awk 'BEGIN { print "month,x,z,y"; for (i = 0; i < 3000; i++)
    printf "m%d,%d,%d,%s\n", i % 12, i % 50, i * 7 % 13,
    (i == 3 ? "\" yes\"" : i == 4 ? "YES" : i == 5 ? "maybe" : i % 50 > 20 ? "yes" : "no")
    print "Total,600,7,no" }' >a.csv
awk 'BEGIN { print "g,y"; for (i = 0; i < 400; i++) print (i % 2 ? "u" : "v") "," ((i % 2) != (i % 10 < 3) ? "yes" : "no") }' >two.csv
run dnn init two.csv --target y -o two.json
err_has 'quick estimate): "g" 0.71' "a column of two values has its own AUC"
run dnn init a.csv --target y --set model.preset=mlp -o a.json
is_exit 0 "init"
err_has 'warning: line 3002, the last one, has "Total" in column "month"' "a footer line"
err_has 'target "y": labels " yes" and "YES" (blanks), " yes" and "yes" (blanks) differ in the way they are written alone' \
    "labels that differ by case or blanks"
err_has '"maybe" (1 row): a handful of rows, while another label has ' "classes of a handful of rows"
err_has 'single columns as predictors of the target (share of the errors avoided, a quick estimate): "x" ' "what columns alone say"
run dnn init a.csv --target y --set model.preset=mlp -o a.json
is_exit 73 "a config that is there stays"
sed 's/^Total,600,7/Total,,7/; s/m[0-9]*,/5,/' a.csv >b.csv
run dnn init b.csv --target y --verbose
err_has 'line 3002, the last one, has "Total" in column "month"' "a word below numbers"
err_has 'column "z": numeric, as the only predictor ' "--verbose has every column"
sed 's/^Total,600,7,no/Total,600/' a.csv >b.csv
run dnn init b.csv --target y
is_exit 0 "a footer line of fewer cells"
err_has 'warning: line 3002 has 2 fields, the first line has 4: the file is cut off, or its last line is a sum: take that line out' \
    "is a warning"
sed 's/^Total,600,7,no/Total,600/; 2000s/,.*//' a.csv >b.csv
run dnn init b.csv --target y
is_exit 65 "any other short line"
err_has 'b.csv:2000: line 2000 has 1 field' "has its place"
awk -F, 'NR > 1 { $1 = NR % 9 ".5" } /Total/ { next } { print $1 "," $2 "," $3 "," ($4 == "no" ? "no" : "yes") }
    END { print "Total,600,7," }' a.csv |
    sed 1s/.*/month,x,z,y/ >b.csv
run dnn init b.csv --target y
is_exit 0
err_has 'it has no target, and training leaves it out' "a footer without a target"
err_lacks 'training will stop there' "stops nothing"
head -n 1200 a.csv | sed 's/" yes"\|YES\|maybe/no/' >c.csv
run dnn init c.csv --target y
is_exit 0
err_lacks 'the last one, has' "no footer line"
err_lacks 'in the way they are written' "nothing wrong with the labels"
err_has 'the positive label is "yes" (' "a known pair"
# what columns alone say is read as training reads it; rows without a target are left out
awk 'BEGIN { print "amount,us,iso,temp,noise,y"; for (i = 0; i < 400; i++) { v = i * 37 % 400 + 0.5; d = 1 + i * 37 % 400 / 15
    printf "\"$%d,%03d.25\",%02d/%02d/2024,2024-%02d-%02d,%.1f°C,%d,%s\n", 1 + v / 100, v, 3, d, 3, d, v / 10, i * 71 % 97,
        (i % 40 == 7 ? "" : v > 200 ? "yes" : "no") } }' >f.csv
run dnn init f.csv --target y -o f.json
is_exit 0 "init of formatted columns with missing targets"
err_has 'quick estimate): "amount" 1.00, "temp" 1.00, "us" 1.00, "iso" 1.00' "each has its score"
err_has 'warning: columns "amount", "us", "iso", "temp": each alone gives the target away' \
    "formatted columns that give the target away: a warning"
grep -qF '"unit": ["°C"]' f.json
ok $? "a degree sign is part of a unit"
awk -F'"' 'NR == 1 { print "m,x,p"; next } { split($2, a, "[$]"); printf "\"$%s\",%d,\"$%s\"\n", a[2], NR % 7, a[2] }' f.csv >g.csv
run dnn init g.csv --target p -o g.json
err_has 'note: target "p": numeric: numbers such as "$1,000.25" (line 2) in 400 cells: "thousands": ",", "unit": "$"' \
    "a target has its form too"
err_has '(R2, a quick estimate): "m" 1.00' "a formatted target: the scores of its columns"
sed 's/,[a-z]*$/,/; 1s/.*/amount,us,iso,temp,noise,y/' f.csv >n.csv
run dnn init n.csv --target y
is_exit 65 "a target that is missing in every row"
err_has 'error[E1217]: n.csv: target "y" is missing in every row, 400 in all' "says so"
# dates of more forms; a note for each form
awk 'BEGIN { print "a,b,c,d,y"; split("Jan Feb Mar Apr May June", m, " "); for (i = 0; i < 200; i++) { k = i % 28 + 1; o = i * 7 % 5 + 1
    printf "%s %d %d,%02d.%02d.2024 %02d:%02d +0200,%02d/%02d/2024,%02d/%02d/2024,%d\n", m[o], k, 2020 + i % 4, k, o, i % 24, i * 7 % 60, o,
    k, k, o, (i * i % 7 > 2) } }' >d.csv
run dnn init d.csv --target y -o d0.json
for f in '%b %d %Y' '%d.%m.%Y %H:%M %z' '%m/%d/%Y' '%d/%m/%Y'; do
    grep -qF "\"format\": \"$f\"" d0.json && grep -qF "in 200 cells: \"format\": \"$f\"" err
    ok $? "$f: proposed, with a note of its own" "$(cat err)"
done
# rows that come again
awk 'BEGIN { print "x,z,y"; for (i = 0; i < 600; i++) printf "%d.5,%d,%d\n", i % 200 * 37 % 101, i % 200 * 71 % 97,
    (i % 200 % 3 > 0) }' >k.csv
run dnn init k.csv --target y -o k.json
err_has 'warning: 600 of 600 sampled rows are duplicates in all columns used' "copies get a warning"
err_has 'take them out, or split by a group' "copies of rows: the warning says how to go on"
awk 'BEGIN { print "x,z,y"; for (i = 0; i < 600; i++) printf "%d,%d,%d\n", i % 7, i % 5, (i * 16807 % 2147 % 10 > i % 7) }' >chance.csv
run dnn init chance.csv --target y -o chance.json
is_exit 0
err_lacks 'rows looked at' "rows that are equal by chance get none"
run dnn init k.csv --target y --set data.split.method=hash --set model.preset=linear -o h.json
is_exit 0
err_lacks 'rows looked at' "data.split.method=hash: no warning of copies"
run dnn check h.json
is_exit 0
err_lacks 'equal a training row' "data.split.method=hash: check does not warn of copies"
run dnn init f.csv --target y --set data.split.valid=.2 -o s.json
is_exit 0 "a share without a zero before its point"
grep -qF '"valid": 0.2' s.json
ok $? "the config has a share without a zero as JSON"
awk 'BEGIN { print "price,x,y"; for (i = 0; i < 100; i++) printf "%d/%d/2024,%d,%d\n", 1 + i % 9, 1 + i % 9, i % 9, i % 2 }' >d.csv
run dnn init d.csv --target y --set model.preset=mlp -o d.json
run dnn train d.json -o d.dnn --progress none --set train.epochs=1 --force
err_has 'column "price": set aside (ignore), though the cells are numbers or dates in a form of their own' \
    "train repeats what init set aside"
done_testing
