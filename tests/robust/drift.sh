#!/bin/bash
# drift.sh - files that differ from the training file are matched by name and answered row by row, or refused as a whole. Ids:
# D01 D02 D03 D04 D05 D06 D07 D08 D09 D10 D11 D12 D13 C12.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 600
make_leads_model m.dnn
make_leads new.csv 80 2 bare
# flat.csv: the same without line ends in cells, so that awk can cut it
perl -0777 -pe 's/New\nYork/New York/g' new.csv >flat.csv
dnn predict m.dnn new.csv >want.csv 2>err || cat err
dnn predict m.dnn flat.csv >flat.want 2>err
is "$(head -n 1 want.csv)" "lead_id,prediction,probability_no,probability_yes" "the columns of the answers"
is "$(wc -l <want.csv)" 81 "one answer a row"

# columns FILE LIST: the columns of flat.csv in that order (the city cell may hold quoted commas)
columns() {
    perl -e 'my ($file, @order) = @ARGV; open my $f, "<", $file or die; while (<$f>) { chomp;
        my @c; push @c, $1 while /\G((?:"(?:[^"]|"")*"|[^,]*))(?:,|$)/gc && @c < 5; print join(",", @c[@order]), "\n" }' flat.csv "$@"
}
columns 0 2 3 4 >no-age.csv
run dnn predict m.dnn no-age.csv -o x.out
is_exit 65 "D01 a column is missing"
err_has 'error[E1401]' "D01 E1401"
err_has '"age"' "D01 named"
columns 0 4 >few.csv
run dnn predict m.dnn few.csv -o x.out
is_exit 65 "D01 three columns are missing"
for name in age city visits; do err_has "\"$name\"" "D01 all are named: $name"; done
[ ! -e x.out ]
ok $? "D01 nothing was written"
columns 1 2 3 4 >no-id.csv
run dnn predict m.dnn no-id.csv -o x.out
is_exit 0 "D01 the id column, which begins the answers, may be absent"
err_has 'the input lacks the id column "lead_id": left out of the output' "D01 an absent id column: a note"
cut -d, -f2- flat.want >want
same want x.out "D01 the other columns are the same"
run dnn evaluate m.dnn no-id.csv
is_exit 65 "D01 evaluation needs the target"
err_has '"converted"' "D01 evaluation without the target: it is named"

paste -d, <(columns 0 1) <(sed 's/.*/x,y/; 1s/.*/extra,more/' flat.csv) <(columns 2 3 4) >extra.csv
run dnn predict m.dnn extra.csv -o x.out
is_exit 0 "D02 extra columns"
same flat.want x.out "D02 change nothing"
err_has "2 columns" "D02 extra columns are counted in a note"
err_has '"extra"' "D02 extra columns are named in a note"
columns 4 2 0 3 1 >mixed.csv
run dnn predict m.dnn mixed.csv -o x.out
is_exit 0 "D03 columns in another order"
same flat.want x.out "D03 the same bytes"
sed '1s/age/Age/' flat.csv >case.csv
run dnn predict m.dnn case.csv -o x.out
is_exit 65 "D04 a name that differs by case"
err_has 'did you mean "Age" for "age"?' "D04 did you mean"
sed '1s/signed_on/signed on/' flat.csv >space.csv
run dnn predict m.dnn space.csv -o x.out
is_exit 65 "D04 a name that differs by a blank"
err_has 'did you mean "signed on"' "D04 did you mean"
sed '1s/,age,/, age ,/' flat.csv >padded.csv
run dnn predict m.dnn padded.csv -o x.out
is_exit 0 "D04 blanks around an unquoted name do not count"

sed '3s/,[^,]*,\([^,]*,[^,]*\)$/,Atlantis,\1/; 5s/,[^,]*,\([^,]*,[^,]*\)$/,Lemuria,\1/' flat.csv >unseen.csv
grep -q Atlantis unseen.csv
ok $? "a file with two unseen cities"
run dnn predict m.dnn unseen.csv -o x.out --json
is_exit 0 "D05 unseen categories have an answer by default"
err_has 'column "city": ' "D05 counted in a note"
grep -q '"unknown_categories":{"city":[0-9]*[1-9]' out err
ok $? "D05 unseen categories are counted in the JSON" "$(cat out err)"
for rule in bucket missing error; do
    dnn train leads.json -o $rule.dnn --set "data.columns.city={\"type\": \"categorical\", \"unknown\": \"$rule\"}" --progress none 2>err
    run dnn predict $rule.dnn unseen.csv -o x.out
    if [ $rule = error ]; then
        is_exit 65 "D05 unknown: error"
        err_has 'error[E1221]: unseen.csv:3:' "D05 unknown: error, file and line"
        err_has 'Atlantis' "D05 unknown: error, the text of the category"
    else
        is_exit 0 "D05 unknown: $rule"
    fi
done
sed '3s/,[^,]*,\([^,]*,[^,]*\)$/,,\1/' flat.csv >no-city.csv
dnn predict missing.dnn <(sed -n '1p;3p' no-city.csv) >a.out 2>err
dnn predict missing.dnn <(sed -n '1p;3p' unseen.csv) >b.out 2>err
same a.out b.out "D05 unknown: missing answers as if the cell were empty"

sed '3s/^\([^,]*\),[^,]*,/\1,5000,/; 7s/^\([^,]*\),[^,]*,/\1,-300,/' flat.csv >far.csv
run dnn predict m.dnn far.csv -o x.out
is_exit 0 "D06 numbers far outside the training range"
err_has 'column "age": ' "D06 are counted in a note"
err_has "2" "D06 numbers far outside: how many"
{ cat flat.csv; for _ in $(seq 30); do sed 1d flat.csv; done; sed -n 3p far.csv; } >many.csv
run dnn predict m.dnn many.csv -o x.out
err_has 'column "age": 1 number outside the range of training' "D06 one number among many rows, if it lies far outside"
sed 's/,2024-/,1924-/' flat.csv >past.csv
run dnn predict m.dnn past.csv -o x.out
err_has 'dates outside the range of training' "D06 dates are called dates"

# many columns: one line of notes, and every missing one is named
awk 'BEGIN { for (c = 0; c < 40; c++) printf "feature_%02d,", c; print "y"
    for (r = 0; r < 60; r++) { for (c = 0; c < 40; c++) printf "%d,", r * (c + 7) % 31; print r % 2 ? "no" : "yes" } }' >wide.csv
{ printf '{"task": "binary", "data": {"train": "wide.csv", "target": "y", "columns": {"feature_00": "numeric"'
  for i in $(seq -w 1 39); do printf ', "feature_%s": "numeric"' "$i"; done
  printf '}}, "model": {"preset": "mlp", "hidden": [4]}, "train": {"epochs": 1}, "backend": {"name": "dnn_cpu", "threads": 1}}'
  } >wide.json
run dnn train wide.json -o wide.dnn
is_exit 0 "D06 a wide model"
sed '2,$s/\([0-9]\),/99\1,/g' wide.csv >far.csv
run dnn predict wide.dnn far.csv -o x.out
err_has '40 columns ("feature_00", "feature_01", "feature_02" and 37 more)' "D06 many columns are one note"
is "$(grep -c 'outside the range' err)" 1 "D06 many columns give one note only"
printf 'feature_00,z\n1,2\n' >few.csv
run dnn predict wide.dnn few.csv -o x.out
for i in $(seq -w 1 39); do grep -qF "\"feature_$i\"" err || echo "$i"; done >lacking
is "$(cat lacking)" "" "D01 all of 39 missing columns are named"
sed 's/feature_/feature_with_a_name_as_exports_write_them_/g' wide.csv >long.csv
sed 's/feature_/feature_with_a_name_as_exports_write_them_/g; s/wide.csv/long.csv/' wide.json >long.json
run dnn train long.json -o long.dnn
run dnn predict long.dnn few.csv -o x.out
is "$(grep -o '"feature_with[^"]*"' err | sort -u | wc -l)" 40 "D01 those of long names too, in a list longer than a message"
err_has 'few.csv: the data lack 40 columns' "D01 missing columns of long names: the file is named"
run dnn evaluate long.dnn few.csv --json
is "$(grep -o 'feature_with[a-z_]*[0-9]*' out | sort -u | wc -l)" 40 "D01 evaluate names them, in JSON"
{ printf '{"task": "binary", "data": {"train": "lacks.csv", "target": "y", "columns": {"a": "numeric"'
  for i in $(seq 1000 2999); do printf ', "column_of_no_file_%s": "numeric"' "$i"; done
  echo '}}}'; } >lacks.json
{ echo a,z,y; for i in $(seq 30); do echo "$i,1,$((i % 2))"; done; } >lacks.csv
run dnn train lacks.json -o x.dnn
is "$(grep -o '"column_of_no_file_[0-9]*"' err | sort -u | wc -l)" 2000 "D01 2,000 missing columns are named, every one"
run dnn train lacks.json -o x.dnn --json
is "$(grep -o 'column_of_no_file_[0-9]*' out | sort -u | wc -l)" 2000 "D01 2,000 missing columns are named in the JSON"
# a name that is bound, or that the config ignores, is not the one that was meant
printf 'age,city_,visits,y\n1,2,3,0\n2,3,4,1\n' >bound.csv
echo '{"task": "binary", "data": {"train": "bound.csv", "target": "y", "columns": {"age": "numeric", "ages": "numeric",
 "city": "numeric", "citys": "numeric", "visits": "ignore", "visit": "numeric"}}}' >bound.json
run dnn train bound.json -o x.dnn
err_has '= help: did you mean "city_" for "city"?' "D01 of the names in the file those that are free, each once"
# what is wrong with predict's input is mended by predict's options
tr , '\t' <wide.csv >wide.tsv
run dnn predict wide.dnn wide.tsv
is_exit 65 "D03 another delimiter"
err_has "help: give --delimiter '\\t'" "D03 the option that reads it"
run dnn predict wide.dnn wide.tsv --delimiter '\t'
is_exit 0 "D03 the named option reads another delimiter"
tr , ';' <wide.csv >semi.csv
run dnn predict wide.dnn semi.csv --io tsv
err_has "help: leave --io out, and give --delimiter ';'" "D03 --io is what counts"
sed 1d wide.csv >headless.csv
run dnn predict wide.dnn headless.csv
err_has 'help: if the file has no header line, give --no-header and --columns a,b,c' "D08 two numbers that are equal are no two names"
run dnn evaluate wide.dnn headless.csv
err_has 'help: if the file has no header line, put one in front of it' "D08 evaluate"
run dnn evaluate wide.dnn wide.tsv
is_exit 65
err_has "help: give --delimiter '\\t'" "D03 evaluate"
err_lacks "in data" "D03 evaluate with another delimiter: no key of a config is named"
printf 'feature_00,\xe9\n1,2\n' >latin.csv
run dnn predict wide.dnn latin.csv
err_has 'give --encoding "latin1" or "cp1252" if the file was saved so' "D03 another encoding"

sed '3s/^\([^,]*\),[^,]*,/\1,young,/' flat.csv >text.csv
printf 'before\n' >x.out
run dnn predict m.dnn text.csv -o x.out
is_exit 65 "D07 text in a numeric column"
err_has 'error[E1203]: text.csv:3:8: column "age": "young" is not a number' "D07 text in a numeric column: line and column"
is "$(cat x.out)" before "D10 after an error the earlier output is untouched"

tail -n +2 flat.csv >bare.csv
run dnn predict m.dnn bare.csv -o x.out
is_exit 65 "D08 a file without header"
err_has \
    'help: the first line looks like data, not like names: put a header line in front of it (predict: --no-header and --columns a,b,c)' \
    "D08 the hint says what to do"
err_has "--no-header" "D08 by this option"
run dnn predict m.dnn bare.csv --no-header --columns lead_id,age,city,visits,signed_on -o x.out
is_exit 0 "D08 --no-header --columns read a file without header"
tail -n +2 flat.want >bare.want
same bare.want x.out "D08 the same answers, without a header"
run dnn predict m.dnn bare.csv --no-header --columns lead_id,age,city,visits -o x.out
is_exit 65 "D08 too few names"
err_has E1412 "D08 E1412"
run dnn predict m.dnn bare.csv --no-header -o x.out
is_exit 65 "D08 without names"
err_has "--columns" "D08 the hint names the option"
perl -0777 -pe 's/New\nYork/New York/g' leads.csv | tail -n +2 >train-bare.csv
cat >bare.json <<'JSON'
{"task": "binary", "data": {"train": "train-bare.csv", "header": false, "target": "c6", "positive": "yes",
  "columns": {"c1": "id", "c2": "numeric", "c3": "categorical", "c4": "numeric", "c5": "datetime"}},
 "model": {"preset": "mlp", "hidden": [16, 8]}, "train": {"batch_size": 64, "epochs": 4}, "backend": {"name": "dnn_cpu", "threads": 2}}
JSON
run dnn train bare.json -o bare.dnn
is_exit 0 "D08 a model of a file without header"
run dnn predict bare.dnn bare.csv -o x.out
is_exit 0 "D08 a file without the target, which stood last"
cut -d, -f1-4 x.out | tail -n +2 >y.out
sed 's/$/,yes/' bare.csv >full.csv
run dnn predict bare.dnn full.csv -o z.out
is_exit 0 "D08 a file of the same width"
same x.out z.out "D08 the same answers"
sed 's/$/,yes,more/' bare.csv >wide.csv
run dnn predict bare.dnn wide.csv -o z.out
is_exit 65 "D08 a file of another width"
err_has E1412 "D08 E1412"

make_leads labelled.csv 80 2
run dnn predict m.dnn labelled.csv -o x.out
is_exit 0 "D09 a label that is present"
run dnn evaluate m.dnn labelled.csv
is_exit 0 "D09 evaluation uses it"
perl -pe 's/,(yes|no)$/,nonsense/' labelled.csv >nonsense.csv
make_leads unlabelled.csv 80 2 bare
dnn predict m.dnn unlabelled.csv >y.out 2>err
dnn predict m.dnn nonsense.csv >z.out 2>err
same y.out z.out "D09 prediction does not look at labels"
same y.out x.out "D09 prediction does not change with labels"
run dnn evaluate m.dnn nonsense.csv
is_exit 65 "D09 evaluation does"
err_has nonsense.csv:2 "D09 evaluation of a bad label names the line"

# D10 a bad row: stop, null, skip
{ head -n 20 flat.csv; echo 'B1,old,Oslo,1.5,2024-01-01'; sed -n 21,40p flat.csv; echo 'B2,30,Oslo'; echo 'B3,30,"Os"lo,1,2024-01-01'
  echo 'B4,30,Oslo,1,yesterday'; sed -n '41,$p' flat.csv; } >bad.csv
run dnn predict m.dnn bad.csv -o stop.out
is_exit 65 "D10 stop: the first bad row ends it"
err_has bad.csv:21 "D10 stop: with its line"
[ ! -e stop.out ]
ok $? "D10 stop: no part of the output"
run dnn predict m.dnn bad.csv -o skip.out --on-bad-row skip --rejects rejects.csv --json
is_exit 0 "C12 D10 skip: goes on"
same flat.want skip.out "D10 skip: the other rows are answered as before"
out_has '"bad_rows":4' "C12 counted"
is "$(head -n 1 rejects.csv)" "line,column,name,id,reason,raw" "C12 the rejects have a header"
is "$(grep -c . rejects.csv)" 5 "C12 the rejects have each bad row"
for row in 21 42 43 44; do
    grep -q "^$row," rejects.csv
    ok $? "C12 line $row" "$(cat rejects.csv)"
done
grep -q ',E1203,' rejects.csv && grep -q ',E1206,' rejects.csv && grep -q ',E1204,' rejects.csv && grep -q ',E1223,' rejects.csv
ok $? "C12 the rejects have the ids of the errors" "$(cat rejects.csv)"
grep -qF '"B3,30,""Os""lo,1,2024-01-01"' rejects.csv
ok $? "C12 the rejects have the raw text"
run dnn predict m.dnn bad.csv -o null.out --on-bad-row null --null '?'
is_exit 0 "D10 null: goes on"
is "$(wc -l <null.out)" "$((81 + 4))" "D10 null: every row keeps its place"
is "$(sed -n 21p null.out)" "B1,?,?,?" "D10 null: with its id and nothing else"
sed '21d;42,44d' null.out >rest.out
same flat.want rest.out "D10 null: the other rows are answered as before"
run dnn predict m.dnn bad.csv -o skip.out --on-bad-row skip --max-bad-rows 3
is_exit 65 "C12 more bad rows than --max-bad-rows"
err_has E1420 "C12 E1420"
run dnn predict m.dnn bad.csv -o skip.out --on-bad-row skip --max-bad-rows 4
is_exit 0 "C12 as many as allowed"
{ head -n 1 flat.csv; echo 'B2,30,Oslo'; echo 'B4,30,Oslo,1'; } >all.csv
for way in skip null; do
    run dnn predict m.dnn all.csv -o x.out --on-bad-row $way
    is_exit 0 "D10 $way: no row that can be read"
    err_has 'warning: 2 of 2 rows cannot be read' "D10 $way: is warned of"
    err_has 'all for one reason, as the first: all.csv:2: ' "D10 $way: with the reason"
    err_has '(E1206)' "D10 $way: and its id"
done
echo 'B5,old,Oslo,1.5,2024-01-01' >>all.csv
run dnn predict m.dnn all.csv -o x.out --on-bad-row skip
err_has 'left out; the first one: all.csv:2: ' "D10 of several reasons the first is told"
awk 'NR == 1 { print "id,note" } { printf "%s,%s\n", NR, "x" }' flat.csv >/dev/null
dnn predict m.dnn new.csv new.csv -o twice.out 2>err
is "$(wc -l <twice.out)" 161 "D10 two files: all rows, one header"
tail -n 80 twice.out >second.out
tail -n 80 want.csv | cmp -s - second.out
ok $? "D10 in their order"

: >empty.csv
run dnn predict m.dnn empty.csv -o x.out
is_exit 65 "D11 a file of 0 bytes lacks its header"
head -n 1 flat.csv >header.csv
run dnn predict m.dnn header.csv
is_exit 0 "D11 a header without rows"
is "$(cat out)" "$(head -n 1 want.csv)" "D11 a header"
run dnn predict m.dnn --no-header --columns lead_id,age,city,visits,signed_on /dev/null
is_exit 0 "D11 no header and no rows"
[ ! -s out ]
after_exit $? "D11 no output"

# D12 a model of one backend answers on another: here the only other one is the CPU by another name or other vector code
run dnn predict m.dnn new.csv -o x.out --backend cpu
is_exit 0 "D12 --backend cpu"
same want.csv x.out "D12 the same bytes"
run dnn predict m.dnn new.csv -o x.out --backend dnn_gpu
[ $STATUS -eq 0 ] || [ $STATUS -eq 69 ]
ok $? "D12 --backend dnn_gpu: an answer or 69" "exit $STATUS"
within() { # within FILE FILE BOUND: every number of the two differs by at most BOUND
    paste -d, "$1" "$2" | awk -F, -v bound="$3" 'NR > 1 { n = NF / 2; for (i = 1; i <= n; i++) { d = $i - $(i + n); if (d < 0) d = -d
        if (d > bound) { print NR ": " $0; bad = 1 } } } END { exit bad }'
}
for core in c avx2; do
    if DNN_CPU=$core "$HOOKED" predict m.dnn new.csv >x.out 2>err; then
        check "D12 vector code $core: the answers within 1e-5" within want.csv x.out 1e-5
    else
        skip "D12 vector code $core" "not on this processor"
    fi
done

cat >ids.csv <<'CSV'
lead_id,age,city,visits,signed_on
"a,b",30,Oslo,1,2024-01-01
"say ""x""",30,Oslo,1,2024-01-01
"two
lines",30,Oslo,1,2024-01-01
=1+1,30,Oslo,1,2024-01-01
+1,30,Oslo,1,2024-01-01
-1,30,Oslo,1,2024-01-01
@x,30,Oslo,1,2024-01-01
" padded ",30,Oslo,1,2024-01-01
"",30,Oslo,1,2024-01-01
CSV
run dnn predict m.dnn ids.csv
is_exit 0 "D13 ids with quotes, delimiters, line ends, leading = + - @"
sed 's/,\(yes\|no\),.*//' out | tail -n +2 >ids.out
cat >ids.want <<'CSV'
"a,b"
"say ""x"""
"two
lines"
=1+1
+1
-1
@x
CSV
head -n 8 ids.out | cmp -s - ids.want
ok $? "D13 come out as RFC 4180 has them" "$(diff ids.out ids.want)"
sed -n 9p ids.out | grep -Eq '^"? padded "?$'
ok $? "D13 blanks in quotes are kept" "$(sed -n 9p ids.out)"
run dnn predict m.dnn ids.csv --passthrough city,age -o x.out
is_exit 0 "D13 passthrough columns"
is "$(head -n 1 x.out)" "lead_id,city,age,prediction,probability_no,probability_yes" "D13 stand behind the ids"
cp out answers.csv
run dnn predict m.dnn answers.csv
is_exit 65 "D13 the answers are no input"
run dnn predict m.dnn ids.csv --io tsv
is_exit 65 "D13 a file with commas is no TSV"
tr ',' '\t' <header.csv >t.tsv
printf 'a\t30\tOslo\t1\t2024-01-01\nb"c\t30\t"Oslo"\t1\t2024-01-01\n' >>t.tsv
run dnn predict m.dnn t.tsv --io tsv
is_exit 0 "D13 TSV in and out"
is "$(sed -n 3p out | cut -f1)" 'b"c' "D13 without quoting"
printf 'a\t30\tOslo\t1\t2024-01-01\tmore\n' >>t.tsv
run dnn predict m.dnn t.tsv --io tsv
err_has 'help: --io tsv knows no quoting: a cell cannot hold a tab' "D13 --io tsv: no advice to quote"
# what a row without an answer holds is not counted: nothing was answered by it
head -n 1 flat.csv >rejects.csv
awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next} NR == 2 {OFS = ","
    $at["city"] = "Atlantis"; $at["age"] = 1e9; print; $at["signed_on"] = "2024-13-01"; print; print; $at["visits"] = "many"; print;
    exit}' \
    <(columns 0 1 2 3 4 | sed 's/"[^"]*"/x/') >>rejects.csv
run dnn predict m.dnn rejects.csv --on-bad-row skip --json -o x.out
out_has '"rows":4,"bad_rows":3' "of four rows one is answered"
out_has '"unknown_categories":{"city":1},"rare_categories":{},"outside_range":{"age":1}' "drift counts no cell of rows that were skipped"
sed -i 2d rejects.csv
run dnn predict m.dnn rejects.csv --on-bad-row null --json -o x.out --threads 3
is_exit 0
out_has '"unknown_categories":{},"rare_categories":{},"outside_range":{}' "drift counts nothing where no row is answered"
err_lacks "category that training did not see"

done_testing
