#!/bin/bash
# csv.sh - bad content of a CSV file is an error (65) with file, line, column and a mend; nothing is written. Ids: C01 C02 C04
# C05 C06 C09 C10 C12 C14 C15 C16 C17 C18 C19 C20 C21 C23 C24 C26.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
# one numeric column more than needed and no line ends in cells: line N of the file is record N
make_plain() {
    awk -v rows="$1" 'BEGIN {
        print "age,visits,city,converted"
        for (i = 0; i < rows; i++) printf "%d,%.1f,%s,%s\n", 18 + i * 7 % 50, i % 9 / 2, (i % 3 ? "Oslo" : "Bergen"),
        (i % 5 > 2 ? "yes" : "no")
    }'
}
make_plain 60 >plain.csv
cat >c.json <<'JSON'
{"task": "binary", "data": {"train": "x.csv", "target": "converted", "missing": ["", "NA"],
  "columns": {"age": "numeric", "visits": "numeric", "city": "categorical"}},
 "model": {"preset": "mlp", "hidden": [8]}, "train": {"epochs": 2, "batch_size": 16}, "backend": {"name": "dnn_cpu", "threads": 1}}
JSON
cp plain.csv x.csv
run dnn train c.json --force -o old.dnn
is_exit 0 "the file without faults trains"
before=$(digest old.dnn)
# bad NAME ERROR-ID WHERE: x.csv is refused by train and check with 65, ERROR-ID and WHERE; the model from before is untouched
bad() {
    run dnn train c.json --force -o old.dnn
    is_exit 65 "$1: train ends with 65"
    err_has "error[$2]: x.csv$3" "$1: $2 at x.csv$3"
    [ "$(digest old.dnn)" = "$before" ] && [ -z "$(find . -name '*.ckpt-*' -o -name '*.lock' -o -name '*dnn-tmp*')" ]
    ok $? "$1: nothing was written"
    run dnn check c.json
    is_exit 65 "$1: check ends with 65"
}
# good NAME: it trains
good() {
    run dnn train c.json --force -o new.dnn
    is_exit 0 "$1"
}

: >x.csv
bad "C01 a file of 0 bytes" E1201 ": empty, expected a header line"
printf '\n\r\n\n' >x.csv
bad "C01 blank lines only" E1201 ""
head -n 1 plain.csv >x.csv
bad "C02 a header without rows" E1202 ": 0 data rows"
printf 'age,visits,city,converted' >x.csv
bad "C02 a header without a line end" E1202 ": 0 data rows"

for code in UTF-16LE UTF-16BE UTF-32LE UTF-32BE; do
    iconv -f UTF-8 -t $code plain.csv >x.csv
    bad "C04 $code without a byte-order mark" E1210 ": looks like $code"
    err_lacks $'\x01' "C04 no raw bytes in the message"
    { case $code in
        UTF-16LE) printf '\xff\xfe' ;; UTF-16BE) printf '\xfe\xff' ;;
        UTF-32LE) printf '\xff\xfe\0\0' ;; UTF-32BE) printf '\0\0\xfe\xff' ;;
      esac; iconv -f UTF-8 -t $code plain.csv; } >x.csv
    run dnn train c.json --force -o old.dnn
    is_exit 65 "C04 $code with its mark"
    err_has "iconv -f ${code%?E} -t UTF-8" "C04 $code with its mark: a command that converts it"
done

with_line 7 '31,1\0002,Oslo,no' plain.csv >x.csv
bad "C05 a NUL in a field" E1211 ":7:5: a NUL byte"
grep -qE 'byte [0-9]+' err
ok $? "C05 a NUL in a field: the offset of the byte" "$(cat err)"
err_has '1\x002' "C05 escaped"
with_line 1 'age,vis\000its,city,converted' plain.csv >x.csv
bad "C05 a NUL in the header" E1211 ":1:8:"
with_line 7 '31,1,"Os\000lo",no' plain.csv >x.csv
bad "C05 a NUL in quotes" E1211 ":7:"

with_line 7 '31,1,K\xf6ln,no' plain.csv >x.csv
bad "C06 a byte that is not UTF-8 in a category" E1209 ":7:7:"
err_has '\xf6' "C06 the byte is escaped"
err_has "latin1" "C06 a byte that is not UTF-8: the key that helps"
with_line 1 'age,visits,Stra\xdfe,converted' plain.csv >x.csv
bad "C06 in the header" E1209 ":1:16:"
for form in '\xc0\xaf' '\xed\xa0\x80' '\xf4\x90\x80\x80' '\xc3' '\x80' '\xe2\x82' '\xf8\x88\x80\x80\x80'; do
    with_line 9 "31,1,x${form},no" plain.csv >x.csv
    run dnn train c.json --force -o old.dnn
    is_exit 65 "C06 a form that UTF-8 forbids: $form"
done

with_line 7 '31,1,"Oslo,no' plain.csv >x.csv
bad "C09 an unterminated quote names the line where it opened" E1205 ":7:6:"
with_line 61 '31,1,"Oslo,no' plain.csv >x.csv
bad "C09 in the last line" E1205 ":61:6:"
with_line 1 'age,"visits,city,converted' plain.csv >x.csv
bad "C09 in the header" E1205 ":1:5:"
with_line 7 '31,1,Os"lo,no' plain.csv >x.csv
bad "C10 a quote inside an unquoted cell" E1204 ":7:8:"
with_line 7 '31,1,"Os"lo,no' plain.csv >x.csv
bad "C10 text behind the closing quote" E1204 ":7:10:"
with_line 61 '31,1,"Os"lo,no' plain.csv | head -c -1 >x.csv
bad "C10 at the end of the file: no phantom row" E1204 ":61:10:"
with_line 7 '31,1,"Oslo" ,no' plain.csv >x.csv
run dnn train c.json --force -o new.dnn
[ $STATUS -eq 0 ] || [ $STATUS -eq 65 ]
ok $? "C10 a blank behind the closing quote is read or refused, never lost" "exit $STATUS"

with_line 17 '31,1,Oslo' plain.csv >x.csv
bad "C12 a short row" E1206 ":17: 3 fields, header has 4"
with_line 17 '31,1,Oslo,no,7' plain.csv >x.csv
bad "C12 a long row" E1206 ":17: 5 fields, header has 4"
with_line 5 '31,1,"Os\nl\no",no' plain.csv | { head -n 17; echo '31,1'; } >x.csv
bad "C12 the physical line, behind a cell with line ends" E1206 ":18:"

with_line 1 'age,visits,age,converted' plain.csv >x.csv
bad "C14 two columns of one name" E1207 ":1:12: columns 1 and 3 have the same name \"age\""
with_line 1 'age,,city,converted' plain.csv >x.csv
bad "C15 a column without a name" E1208 ":1:5: column 2 has no name"
with_line 1 'age,visits,city,converted,' plain.csv >x.csv
bad "C15 a delimiter at the end of the header" E1208 ":1:27: column 5 has no name"
with_line 1 'age,visits,city,converted,Age' plain.csv | sed '2,$s/$/,1/' >x.csv
good "C15 names that differ only by case are two columns"
run dnn init x.csv --target converted --set model.preset=mlp --force -o i.json
is_exit 0 "C15 init takes them"
err_has "differ only by" "C15 names that differ only by case: a note"
run dnn check c.json
err_has "differ only by" "C15 also in check"
for sign in '\xe2\x80\x8b U[+]200B,_which_cannot_be_seen' '\xc2\xa0 U[+]00A0,_which_is_no_ordinary_blank' \
    '\xef\xbb\xbf U[+]FEFF,_which_cannot_be_seen'; do
    read -r bytes words <<<"$sign"
    with_line 1 "age,visits,city$(printf '%b' "$bytes"),converted" plain.csv >x.csv
    run dnn init x.csv --target converted --set model.preset=mlp --force -o i.json
    grep -qE "^dnn: note: the name of column 3, \"city.+\", has the character ${words//_/ }" err
    ok $? "init tells of ${words%%,*} in a name" "$(head -n 8 err)"
done
{ printf '\xef\xbb\xbf\xef\xbb\xbf'; cat plain.csv; } >x.csv
run dnn init x.csv --target converted --set model.preset=mlp --force -o i.json
err_has "the name of column 1, " "a second mark of the byte order belongs to the first name"
err_has "U+FEFF" "the second mark is named"
run dnn init plain.csv --target converted --set model.preset=mlp --force -o i.json
is_exit 0
err_lacks "has the character" "ordinary names have none"

tail -n +2 plain.csv | sed 's/Oslo/1/; s/Bergen/2/; s/yes/1/; s/no/0/' >numbers.csv
cp numbers.csv x.csv
run dnn train c.json --force -o old.dnn
is_exit 65 "C16 a first row of numbers in the header's place"
err_has '"header"' "C16 the hint names the key"
sed 's/"target": "converted"/"target": "0"/;
    s/"age": "numeric", "visits": "numeric", "city": "categorical"/"18": "numeric", "0.0": "numeric"/' c.json >n.json
run dnn check n.json
is_exit 0 "C16 names that are numbers are names"
err_has "header" "C16 names that are numbers: a note names the key"
run dnn init x.csv --target c4 --set model.preset=mlp --set data.header=true --force -o i.json
is_exit 65 "C16 init with data.header set to true lacks c4"
sed 's/"missing"/"header": false, "missing"/; s/"age"/"c1"/; s/"visits"/"c2"/; s/"city"/"c3"/; s/"converted"/"c4"/' c.json >h.json
cp plain.csv x.csv
run dnn train h.json --force -o old.dnn
is_exit 65 "C16 header false, and the first cell alone is text"
err_has 'x.csv:1:1: column "c1": "age" is not a number' "C16 at line 1"
err_has '"header": true' "C16 the hint names the key"
cp numbers.csv x.csv
run dnn train h.json --force -o new.dnn
is_exit 0 "C16 header false with numbers throughout"

for delimiter in ';' '\t' '|'; do
    tr ',' "$(printf "$delimiter")" <plain.csv >x.csv
    bad "C17 the delimiter is $delimiter" E1215 ":1"
    err_has "found 1 column; did you mean delimiter \"$delimiter\"?" "C17 it is named"
    sed "1s/[a-z]\{1,\}/\"&\"/g" x.csv >quoted.csv && mv quoted.csv x.csv
    bad "C17 the delimiter is $delimiter, the names are quoted" E1215 ":1"
    err_has "found 1 column; did you mean delimiter \"$delimiter\"?" "C17 it is named"
done
tr ',' ';' <plain.csv >x.csv
run dnn train c.json --force -o new.dnn --set 'data.delimiter=;'
is_exit 0 "C17 the right delimiter can be set"

number() { # number NAME CELL [HELP]
    with_line 17 "$2,1,Oslo,no" plain.csv >x.csv
    run dnn train c.json --force -o old.dnn
    is_exit 65 "$1: $2"
    err_has 'error[E1203]: x.csv:17:1: column "age": ' "$1: line 17, column 1"
    [ -z "${3:-}" ] || err_has "$3" "$1: help"
}
number "C18 a decimal comma" '"12,5"' 'if the file uses a decimal comma, set "decimal": ","'
number "C18 a comma before three digits" '"93,094"' 'if it separates thousands, --set '
number "C18 a comma before three digits behind a zero" '"0,094"' 'if the file uses a decimal comma'
number "C18 German thousands" '"1.234,5"' '"decimal": ","'
number "C18 English thousands" '"1,234.5"' '"thousands": "," in the entry of "age" in data.columns'
err_lacks '"decimal": ","' "C18 the point is the decimal sign already"
number "C18 an underscore" 1_000 '"thousands": "_" in the entry of "age" in data.columns'
with_line 17 '1.234,5,1,Oslo,no' plain.csv >x.csv
bad "C18 a comma that is not quoted" E1206 ":17: 5 fields"
tr ',.' ';,' <plain.csv >x.csv
run dnn train c.json --force -o new.dnn --set 'data.delimiter=;' --set data.decimal=,
is_exit 0 "C18 a file with decimal commas that says so"

# sixty forms that strtod or a lenient reader might take; the whole cell must be one of dnn's numbers
while IFS= read -r form; do
    number "C19 not a number" "$form"
done <<'FORMS'
nan
NaN
-nan
inf
-inf
INF
Infinity
0x1p3
0x10
0X1F
1.5f
1.5F
1d5
1e
1e+
1e-
e5
.e5
--1
+-1
-+1
-
+
.
-.
1.2.3
1..2
1e5.5
1e5e5
1ee5
1-
1+1
1/2
1%%
$1
€1
1 000
1'000
"1,000"
１
١
−1
" 1"
"1 "
"	1"
1L
1u
0b101
#N/A
null
true
(1)
1e+-5
½
FORMS
for form in 0 -0 1 -1 +1 .5 5. -.5 007 1.0 -1.50 1e5 1E5 1e+5 1e-5 1.25e10 0.000001 123456789 '"12.5"' ' 1' '1 '; do
    with_line 17 "$form,1,Oslo,no" plain.csv >x.csv
    good "C19 a number: $form"
done
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 200; i++) printf ".%03d,+%d,%d\n", i + 1, i * 7 % 90, i % 7 + 1 }' >near.csv
run dnn init near.csv --target y --set model.preset=mlp -o near.json
grep -q '"a": "numeric"' near.json && grep -q '"b": "numeric"' near.json
ok $? "C19 .001 and +7 are numbers" "$(grep -A5 columns near.json)"
err_has 'column "y": 7 classes; for numbers as such use --set task=regression' "init says that numbers are taken as classes"
run dnn init near.csv --target y --set model.preset=mlp --set task=multiclass -o near.json --force
is_exit 0
err_lacks "7 classes" "a task that was chosen: nothing is said of classes"
number "C19 a blank in front, in quotes: the hint is to take it out" '" 1"' blank
with_line 17 '?,1,Oslo,no' plain.csv >x.csv
run dnn train c.json --force -o new.dnn --set 'data.missing=["","?"]'
is_exit 0 "C19 what data.missing lists is no number and no error"

for form in 1e39 -1e39 1e400 3.5e38 "$(printf '9%.0s' $(seq 400))"; do
    with_line 17 "$form,1,Oslo,no" plain.csv >x.csv
    run dnn train c.json --force -o old.dnn
    is_exit 65 "C20 beyond float32: ${form:0:20}"
    err_has "error[E1216]: x.csv:17:1:" "C20 beyond float32: file, line and column"
    err_has "outside float32 range" "C20 beyond float32: the reason"
done
for form in 1e-46 -1e-46 1e-400 "0.$(printf '0%.0s' $(seq 400))1"; do
    with_line 17 "$form,1,Oslo,no" plain.csv >x.csv
    good "C20 below float32 becomes 0: ${form:0:20}"
    run dnn check c.json
    err_has "1 number is too small for float32" "C20 below float32: the note"
    run dnn predict old.dnn x.csv
    err_has "1 number is too small for float32" "C20 in prediction too"
done
with_line 17 '3.4028234e38,1,Oslo,no' plain.csv >x.csv
run dnn check c.json
is_exit 0 "C20 the largest float32 is a number"

# C21 limits, each at its last good and its first bad value
cell() { head -c "$1" /dev/zero | tr '\0' x; }
{ head -n 8 plain.csv; printf '31,1,%s,no\n' "$(cell $((1 << 20)))"; tail -n +9 plain.csv; } >x.csv
good "C21 a field of 1 MiB"
{ head -n 8 plain.csv; printf '31,1,%s,no\n' "$(cell $(((1 << 20) + 1)))"; tail -n +9 plain.csv; } >x.csv
bad "C21 a field of one byte more" E1214 ":9"
{ head -n 8 plain.csv; printf '31,1,"%s",no\n' "$(cell $(((1 << 20) + 1)))"; tail -n +9 plain.csv; } >x.csv
bad "C21 in quotes" E1214 ":9"
{ printf 'age,visits,city,converted'; for i in $(seq 20); do printf ',x%d' "$i"; done; echo
  printf '31,1,Oslo,no'; for i in $(seq 20); do printf ',%s' "$(cell 900000)"; done; echo; } >x.csv
bad "C21 a line of more than 16 MiB" E1214 ":2"
name=$(cell 4096)
with_line 1 "age,visits,city,converted,$name" plain.csv | sed '2,$s/$/,1/' >x.csv
good "C21 a name of 4096 bytes"
with_line 1 "age,visits,city,converted,${name}x" plain.csv | sed '2,$s/$/,1/' >x.csv
bad "C21 a longer name" E1208 ":1:27:"
err_has 4 "C21 a longer name: the limit"
awk 'BEGIN { printf "age,visits,city,converted"; for (i = 5; i <= 65536; i++) printf ",x%d", i; print ""
    for (r = 0; r < 20; r++) { printf "%d,1,Oslo,%s", r, r % 2 ? "no" : "yes"; for (i = 5; i <= 65536; i++) printf ","; print "" } }' >x.csv
good "C21 65,536 columns"
awk 'BEGIN { printf "age,visits,city,converted"; for (i = 5; i <= 65537; i++) printf ",x%d", i; print "" }' >x.csv
bad "C21 65,537 columns" E1214 ":1"
err_has 65536 "C21 the limit is named"
(
    eval "$(limit 700000)"
    yes 'an endless line ' | tr -d '\n' | "$DNN" predict old.dnn - -o out.csv 2>err
    [ $? -eq 65 ] && grep -q E1214 err
)
ok $? "C21 an endless line from a pipe: 65, in little memory" "$(cat err)"
run dnn predict old.dnn /dev/zero -o out.csv
is_exit 65 "C21 /dev/zero"
[ ! -e out.csv ]
ok $? "C21 no output"

cp plain.csv x.csv
run dnn train c.json --force -o old.dnn --set data.split.method=hash --set data.split.column=city --set data.split.valid=0.000001 \
    --set data.split.test=0
err_has "error[E1230]: x.csv: " "a split without rows names the file"
sed '2,$s/^[0-9]*//' plain.csv >x.csv
run dnn train c.json --force -o old.dnn
err_has "error[E1231]: x.csv: " "a column without values names the file"
{ sed '17s/[a-z]*$//; 30s/[a-z]*$/NA/' plain.csv; for i in 1 2 3 4 5 6; do echo "$i,1,Oslo,"; done; } >x.csv
good "C23 rows without a label are left out"
err_has "8 of " "C23 their number"
err_has "17, 30, 62, 63, 64" "C23 the first five lines"
{ head -n 1 plain.csv; for i in 1 2 3 4 5 6; do echo "$i,1,Oslo,"; done; } >x.csv
bad "C23 no row has a label" E1217 ":2"
with_line 17 ',1,Oslo,no' plain.csv >x.csv
run dnn train c.json --force -o old.dnn --set 'data.columns.age={"type": "numeric", "impute": "error"}'
is_exit 65 "C24 a missing value where none may be"
err_has 'error[E1222]: x.csv:17:1: column "age"' "C24 a missing value where none may be: file, line and column"
err_has '"impute"' "C24 a missing value where none may be: the key to set"

binary() { # binary NAME PRINTF-BYTES
    { printf "$2"; head -c 200 plain.csv; } >x.csv
    bad "C26 $1" E1212 ""
    err_has "$1" "C26 it is called $1"
}
binary zip 'PK\003\004'
binary Parquet 'PAR1'
binary SQLite 'SQLite format 3\000'
binary PDF '%%PDF-1.4\n'
binary bzip2 'BZh91AY'
binary xz '\xfd7zXZ\000'
binary zstd '\x28\xb5\x2f\xfd'
binary HDF5 '\x89HDF\r\n\x1a\n'
binary Arrow 'ARROW1\000\000'
cp old.dnn x.csv
run dnn check c.json
is_exit 65 "C26 a model in the data's place"
done_testing
