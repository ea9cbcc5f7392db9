#!/bin/bash
# effects.sh - `dnn explain --effects`: every figure against answers of `dnn predict` to files in which the column was replaced
# (tests/effects_by_hand.pl); tasks, ensembles, weights, kinds of columns, sequences; the sample, threads, outputs, errors.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN {
    seed = 17
    print "a,b,k,many,one,day,at,note,w,y,z,three"
    for (i = 1; i <= 1200; i++) {
        a = r() - 0.5; b = r() - 0.5; k = int(r() * 4); m = int(r() * r() * 30); d = 1 + int(r() * 28); w = int(r() * 3)
        s = 5 * a + 2 * b * b + (k == 2 ? 2 : 0) + (w == 1 ? 2 : 0) + m / 10 - 2
        printf "%.5f,%s,%s,m%d,7,2024-03-%02d,17%08d,%s,%s,%s,%.4f,%s\n", a, (i % 11 ? sprintf("%.3f", b) : ""), (i % 7 ? "k" k : ""), m, d,
            100000 * int(r() * 30), (w == 1 ? "Red car" : w ? "blue car" : "old bike"), (i % 5 ? 1 : i % 2 ? 0 : 2.5),
            (r() < 1 / (1 + exp(-s)) ? "yes" : "no"), exp(s / 2 + r()), (s > 1 ? "up" : s < -1 ? "down" : "mid")
    }
}
function r() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }' >all.csv
head -n 801 all.csv >train.csv
{ head -n 1 all.csv; tail -n 300 all.csv; } >test.csv
config() { # FILE TASK TARGET [MORE-DATA [MORE]]
    local role columns='' n
    for n in y z three; do [ $n = "$3" ] || columns="$columns, \"$n\": \"ignore\""; done
    cat >"$1" <<JSON
{"task": "$2", "data": {"train": "train.csv", "target": "$3", "missing": [""], "columns": {"a": "numeric",
  "b": "numeric", "k": "categorical",
 "many": "categorical", "one": "numeric", "day": "datetime", "at": {"type": "datetime", "format": "%s"}, "note": "text",
 "w": "ignore"$columns}${4:+, $4}},
 "model": {"preset": "mlp", "hidden": [16]}, "train": {"epochs": 8, "batch_size": 32}, "backend": {"name": "dnn_cpu"}${5:+, $5}}
JSON
}
by_hand() { # MODEL DATA NAME [WEIGHT]
    run dnn explain "$1" "$2" --effects=effects.csv
    is_exit 0 "$3"
    check "$3: each figure is that of predict's answers" perl "$ROOT/tests/effects_by_hand.pl" "$DNN" "$1" "$2" effects.csv ${4:+"$4"}
}
config b.json binary y '"positive": "yes"'
dnn train b.json -o b.dnn --quiet 2>train.err
ok $? "trained" "$(cat train.err)"
by_hand b.dnn test.csv "a binary model"
cp effects.csv first.csv
cp out table
is "$(head -n 1 effects.csv)" "column,kind,value,rows,mean,low,high" "the columns"
is "$(cut -d , -f 1 effects.csv | tail -n +2 | uniq | sort | tr '\n' ' ')" "a at b day k many note one " "all inputs"
is "$(awk -F , '$1 == "a" { n++; s += $4 } END { print n, s }' effects.csv)" "20 300" "20 bins of a number, with all rows"
is "$(awk -F , '$1 == "one"' effects.csv | cut -d , -f 1-4)" "one,value,7,300" "a column of one value has one point"
is "$(awk -F , '$1 == "one" { print $5 }' effects.csv)" "$(dnn predict b.dnn test.csv --quiet |
    awk -F , 'NR > 1 { s += $NF; n++ } END { printf "%.9g", s / n }' |
    awk '{ printf "%.9g", $1 }')" "its mean is that of the answers"
for kind in b,missing, k,missing, many,other, note,word,red; do grep -q "^$kind" effects.csv; ok $? "a point $kind"; done
is "$(awk -F , '$1 == "many" && $2 == "value"' effects.csv | wc -l)" 15 "the 15 largest categories"
is "$(awk -F , '$1 == "note" { v = $5 < 0 ? -$5 : $5; if (n++ && v > last) bad++; last = v } END { print n, bad + 0 }' effects.csv)" "5 0" \
    "words, from the strongest down"
is "$(awk 'NR > 2 && NR < 11 { print $1 }' table | head -n 1)" "$(sed -n 2p effects.csv | cut -d , -f 1)" \
    "the table begins with the column that moves most"
grep -q '^the probability of "yes" on 300 of 300 rows' table
ok $? "it says what is measured, and on what" "$(head -n 3 table)"
# the same bytes, threads, standard input, the summary alone, JSON
run dnn explain b.dnn test.csv --effects again.csv --threads 3 --batch-size 37
same first.csv again.csv "the same with other threads and batches"
same out table "the table is the same with other threads and batches"
dnn explain b.dnn - --effects=stdin.csv <test.csv >out 2>err
same first.csv stdin.csv "the same from standard input"
run dnn explain b.dnn test.csv --effects
same out table "--effects alone prints the table"
run dnn explain b.dnn --effects test.csv
same out table "--effects before the data takes no file for its own"
run dnn explain b.dnn test.csv --effects --json
is "$(perl -0777 -ne 'my @p;
    while (/\{"kind":"(\w+)",(?:"value":"([^"]*)",)?"rows":(\d+),"mean":([-0-9.e]+),"low":([-0-9.e]+),"high":([-0-9.e]+)\}/g) {
    push @p, sprintf "%s,%s,%d,%.9g,%.9g,%.9g", $1, $2 // "", $3, $4, $5, $6 } print join("\n", @p)' out)" \
    "$(tail -n +2 first.csv | cut -d , -f 2-)" "--json has the same points"
out_has '"rows_measured":300' "--json has the number of rows measured"
sed 's/,[^,]*,[^,]*,[^,]*$//' test.csv >bare.csv
run dnn explain b.dnn bare.csv --effects bare-effects.csv
same first.csv bare-effects.csv "no target is needed"
# the sample: 500 of 1200 rows, the same each time
run dnn explain b.dnn all.csv --effects sample.csv
out_has 'on 500 of 1200 rows' "a sample of more rows"
is "$(awk -F , '$1 == "a" { s += $4 } END { print s }' sample.csv)" 500 "its rows"
run dnn explain b.dnn all.csv --effects sample2.csv --threads 2
same sample.csv sample2.csv "the same sample each time"
# weights: of rows that are fewer than the sample, 0 is not there, 2 is twice
config w.json binary y '"positive": "yes"'
sed -i 's/"w": "ignore"/"w": "weight"/' w.json
dnn train w.json -o w.dnn --quiet
by_hand w.dnn test.csv "weights" w
awk -F , -v OFS=, 'NR == 1 || $9 > 0' test.csv >present.csv
run dnn explain w.dnn present.csv --effects present-effects.csv
same effects.csv present-effects.csv "rows of weight 0 are as if they were not there"
awk -F , -v OFS=, 'NR == 1 { print; next } { $9 = 1; print; if (NR % 3 == 0) print }' test.csv | head -n 301 >twice.csv
awk -F , -v OFS=, 'NR > 1 { $9 = NR % 3 ? 1 : 2 } { print }' test.csv >two.csv
n=$(awk 'NR > 1 { n += NR % 3 ? 1 : 2; if (n <= 300) rows = NR } END { print rows }' test.csv)
head -n "$n" two.csv >two-head.csv
head -n "$(awk -v n="$n" 'NR > 1 && NR <= n { s += NR % 3 ? 1 : 2 } END { print s + 1 }' test.csv)" twice.csv >twice-head.csv
run dnn explain w.dnn two-head.csv --effects two-effects.csv
run dnn explain w.dnn twice-head.csv --effects twice-effects.csv
# bins and others are in the order of rows; the columns of few values are equal but for the count of rows
for f in two twice; do
    grep -E '^(k|one),' $f-effects.csv | perl -F, -ane 'printf "%s %s %s %.7g %.7g %.7g\n", @F[0 .. 2], @F[4 .. 6]' >$f.txt
done
ok "$([ "$(wc -l <two.txt)" -ge 6 ]; echo $?)" "points to compare"
same two.txt twice.txt "weight 2 is as twice"
# several classes, an ensemble with encoders of its own; a regression through a logarithm; the preset auto
config m.json multiclass three '' '"ensemble": {"folds": 2}, "encoders": {"target_statistics": {"columns": ["k", "many"], "pairs": 2}}'
dnn train m.json -o m.dnn --quiet --set train.epochs=5
by_hand m.dnn test.csv "an ensemble of three labels with target statistics"
is "$(sed -n '1s/.*,//p; 2,4s/.*,//p' effects.csv | tr '\n' ' ')" "class down mid up " "a line each class"
out_has 'the label that moves most' "the table says which label it shows"
config r.json regression z '' '"target_transform": "log"'
dnn train r.json -o r.dnn --quiet 2>train.err
ok $? "a regression" "$(cat train.err)"
by_hand r.dnn test.csv "a regression through a logarithm"
config l.json regression z
sed -i 's/"preset": "mlp", "hidden": \[16\]/"preset": "linear"/' l.json
dnn train l.json -o l.dnn --quiet
by_hand l.dnn test.csv "a linear regression"
config auto.json binary y '"positive": "yes"'
sed -i 's/"model": {[^}]*}/"model": {"preset": "auto"}/; s/"train": {[^}]*}/"train": {"epochs": 2}/' auto.json
dnn train auto.json -o auto.dnn --quiet --set data.train=test.csv 2>train.err
ok $? "auto" "$(cat train.err)"
head -n 121 test.csv >small.csv
by_hand auto.dnn small.csv "an ensemble of the preset auto"
# sequences: a channel of a wide row has the value in all steps that the row has; a column of rows in all rows of a window
awk 'BEGIN { srand(5); print "a_0,a_1,a_2,a_3,b_0,b_1,b_2,b_3,v"
    for (i = 1; i <= 120; i++) { n = i % 5 ? 4 : 2; a = b = ""; s = 0
        for (t = 0; t < 4; t++) { x = sprintf("%.3f", rand()); y = int(rand() * 3); a = a (t < n ? x : "") ","; b = b (t < n ? y : "") ",";
        if (t < n) s += x * (y + 1) }
        printf "%s%s%.4f\n", a, b, s + rand() / 5 } }' >wide.csv
cat >wide.json <<'JSON'
{"task": "regression", "data": {"train": "wide.csv", "target": "v", "columns": {}, "missing": [""],
  "sequence": {"wide": {"a": "a_*", "b": "b_*"}}},
 "model": {"preset": "gru"}, "train": {"epochs": 4, "batch_size": 16}, "backend": {"name": "dnn_cpu"}}
JSON
dnn train wide.json -o wide.dnn --quiet 2>train.err
ok $? "a model of wide sequences" "$(cat train.err)"
run dnn explain wide.dnn wide.csv --effects effects-wide.csv
is_exit 0 "its effects"
is "$(cut -d , -f 1-3 effects-wide.csv | grep '^b')" "$(printf 'b,value,0\nb,value,1\nb,value,2')" "a channel's values"
mean_of() { # MODEL FILE
    dnn predict "$1" "$2" --quiet | awk -F , 'NR > 1 && $NF != "" { s += $NF; n++ } END { printf "%.9f", s / n }'
}
near() { perl -e 'exit !(abs($ARGV[0] - $ARGV[1]) < 1e-6 * (1 + abs $ARGV[1]))' -- "$1" "$2"; }
for channel in a:1:3 b:5:2; do
    IFS=: read -r name first row <<<"$channel"
    value=$(grep "^$name," effects-wide.csv | sed -n "${row}p" | cut -d , -f 3)
    awk -F , -v OFS=, -v f="$first" -v v="$value" 'NR > 1 { for (i = f; i < f + 4; i++) if ($i != "") $i = v } { print }' \
        wide.csv >level.csv
    near "$(grep "^$name," effects-wide.csv | sed -n "${row}p" | cut -d , -f 5)" "$(mean_of wide.dnn level.csv)"
    ok $? "channel $name at $value: the mean of predict's answers"
done
awk 'BEGIN { srand(7); print "g,t,x,k,v"
    for (g = 1; g <= 30; g++) { s = 0; for (t = 1; t <= 6; t++) { x = int(rand() * 9); k = "k" int(rand() * 3);
    s = x + s / 2 + (k == "k1") * 3; printf "%d,%d,%d,%s,%.4f\n", g, t, x, k, s } } }' >long.csv
cat >long.json <<'JSON'
{"task": "regression", "data": {"train": "long.csv", "target": "v", "columns": {"x": "numeric", "k": "categorical", "t": "ignore"},
 "sequence": {"group": "g", "order": "t", "window": 4, "stride": 2, "label": "row"}},
 "model": {"preset": "gru"}, "train": {"epochs": 4, "batch_size": 8}, "backend": {"name": "dnn_cpu"}}
JSON
sed -i 's/, "t": "ignore"/, "t": "numeric"/' long.json
dnn train long.json -o long.dnn --quiet 2>train.err
ok $? "a model of sequences of rows" "$(cat train.err)"
run dnn explain long.dnn long.csv --effects effects-long.csv
is_exit 0 "its effects" "$(cat err)"
for column in x:3:4 k:4:k1; do
    IFS=: read -r name at value <<<"$column"
    awk -F , -v OFS=, -v at="$at" -v v="$value" 'NR > 1 { $at = v } { print }' long.csv >level.csv
    near "$(grep "^$name,value,$value," effects-long.csv | cut -d , -f 5)" "$(mean_of long.dnn level.csv)"
    ok $? "$name at $value in all rows: the mean of predict's answers" "$(grep "^$name," effects-long.csv; mean_of long.dnn level.csv)"
done
# names and values with commas and quotes
{ echo '"a,""b""",y'; for i in 1 2 3 4 5 6 7 8 9 10; do echo "\"v,$((i % 2))\",$((i % 3))"; done; } >q.csv
cat >q.json <<'JSON'
{"task": "regression", "data": {"train": "q.csv", "target": "y", "columns": {"a,\"b\"": "categorical"}}, "model": {"preset": "linear"},
  "backend": {"name": "dnn_cpu"}}
JSON
dnn train q.json -o q.dnn --quiet 2>err || cat err
run dnn explain q.dnn q.csv --effects q-effects.csv
is "$(sed 's/,[0-9]*,[^,]*,[^,]*,[^,]*$//' q-effects.csv | tail -n +2 | tr '\n' ' ')" '"a,""b""",value,"v,0" "a,""b""",value,"v,1" ' \
    "CSV quotes"
# answers that are large against what moves them: digits that tell the rows apart
awk 'BEGIN { print "x,y"; for (i = 0; i < 200; i++) printf "%d,%d\n", i % 5, 1700000000 + 100 * (i % 5) }' >far.csv
cat >far.json <<'JSON'
{"task": "regression", "data": {"train": "far.csv", "target": "y", "columns": {"x": "numeric"}}, "model": {"preset": "linear"},
  "backend": {"name": "dnn_cpu"}}
JSON
dnn train far.json -o far.dnn --quiet 2>err || cat err
run dnn explain far.dnn far.csv --effects far-effects.csv
is "$(awk '$1 == "value" { on = 1; next } on { print substr($3, 1, 8) }' out | sort -u | wc -l)" 5 "rows of the table differ near 1.7e9" \
    "$(cat out)"
is "$(tail -n +2 far-effects.csv | cut -d , -f 5 | sort -u | awk '{ d = $1 - 1700000000 - 100 * (NR - 1); if (d < 25 && d > -25) n++ }
    END { print n + 0 }')" 5 \
    "and those of the CSV" "$(cat far-effects.csv)"
# with --part FILE stands behind MODEL
run dnn explain far.dnn --part train --effects part.csv
is_exit 0 "--part and --effects FILE" "$(cat err)"
is "$(head -n 1 part.csv)" "column,kind,value,rows,mean,low,high" "  write FILE"
run dnn explain far.dnn --effects part2.csv --part train
same part.csv part2.csv "  in any order"
# outputs and errors
cp test.csv precious.csv
run dnn explain b.dnn test.csv --effects precious.csv
is_exit 73 "a file that is no file of effects is not replaced"
same test.csv precious.csv "it is as it was"
run dnn explain b.dnn test.csv --effects b.dnn
is_exit 64 "the model is an input"
run dnn explain b.dnn test.csv --effects --rows x.csv
is_exit 64 "--effects with --rows"
run dnn explain b.dnn test.csv --effects --repeats 2
is_exit 64 "--effects with --repeats"
run dnn explain b.dnn test.csv --effects=/dev/stdout
is_exit 64 "standard output"
run dnn explain b.dnn test.csv --effects /nowhere/x.csv
is_exit 73 "a folder that is not there"
head -n 1 test.csv >none.csv
run dnn explain b.dnn none.csv --effects
is_exit 65 "no rows"
sed '2s/\(.*\),[0-9.]*,\([^,]*,[^,]*,[^,]*\)$/\1,-1,\2/' test.csv >minus.csv
run dnn explain w.dnn minus.csv --effects
is_exit 65 "a weight below 0"
awk -F , -v OFS=, 'NR > 1 { $9 = 0 } { print }' test.csv >zero.csv
run dnn explain w.dnn zero.csv --effects
is_exit 65 "all weights are 0"
done_testing
