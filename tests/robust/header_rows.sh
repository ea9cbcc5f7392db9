#!/bin/bash
# header_rows.sh - files put together with cat: the header stands in them once more, also behind a byte-order mark, and is no row;
# a file with header for a model without; text in another encoding than data.encoding says. Ids: C03, C04.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN { print "plan,region,churn"
    for (i = 0; i < 80; i++) printf "%s,%s,%s\n", i % 3 ? "pro" : "basic", i % 2 ? "north" : "south", i % 5 ? "yes" : "no" }' >a.csv
cat a.csv a.csv >twice.csv
{ cat a.csv; printf '\xef\xbb\xbf'; cat a.csv; } >marked.csv
mlp="--set model.preset=mlp --set train.epochs=1 --set backend.name=dnn_cpu"
dnn init a.csv --target churn $mlp -o a.json 2>/dev/null
dnn train a.json -o a.dnn --progress none --quiet 2>/dev/null
for file in twice marked; do
    run dnn init $file.csv --target churn -o no.json
    is_exit 65 "init: $file.csv"
    err_has "error[E1228]: $file.csv:82: the row is the header again" "it names the line"
    run dnn check a.json --set data.train=$file.csv
    is_exit 65 "check: $file.csv"
    err_has "sed 82d $file.csv > $file.mended.csv" "check: $file.csv: the remedy"
    run dnn predict a.dnn $file.csv
    is_exit 65 "predict: $file.csv"
    run dnn predict a.dnn $file.csv --on-bad-row skip --quiet
    is "$STATUS $(wc -l <out)" "0 161" "left out, the others are answered"
    run dnn predict a.dnn $file.csv --on-bad-row skip --rejects bad.csv
    err_has "1 of 161 rows cannot be read: left out" "predict: $file.csv: rows left out are counted"
    run dnn evaluate a.dnn $file.csv
    is_exit 65 "evaluate: $file.csv"
done
sed 82d twice.csv >mended.csv
run dnn check a.json --set data.train=mended.csv
is_exit 0 "the remedy mends the file"
run dnn predict a.dnn a.csv --no-header --columns plan,region,churn
is_exit 65 "a header where --no-header says there is none"
err_has "leave out --no-header" "the help says so"
sed 's/[^,]*/"&"/g' a.csv >quoted.csv
{ cat quoted.csv; printf '\xef\xbb\xbf'; cat quoted.csv; } >marked.csv
run dnn check a.json --set data.train=marked.csv
is_exit 65 "a mark before a quote"
err_has "marked.csv:82:1: a byte-order mark stands before the cell" "is told as such"
printf 'word\nword\nother\n' >word.csv
{ echo word,y; awk 'BEGIN { for (i = 0; i < 60; i++) print (i % 3 ? "word" : "other") "," (i % 5 ? "yes" : "no") }'; } >w.csv
dnn init w.csv --target y $mlp -o w.json 2>/dev/null
dnn train w.json -o w.dnn --progress none --quiet 2>/dev/null
run dnn predict w.dnn word.csv --quiet
is "$STATUS $(wc -l <out)" "0 3" "in a file of one column the name may be a value"

# without header
tail -n +2 a.csv >bare.csv
dnn init bare.csv --target c3 $mlp -o b.json 2>/dev/null
dnn train b.json -o b.dnn --progress none --quiet 2>/dev/null
run dnn predict b.dnn a.csv
is_exit 65 "a header for a model without"
err_has "a.csv:1: the first line looks like names: training saw none of its categories"
err_has "tail -n +2 a.csv > a.mended.csv" "the remedy"
{ echo new,north,yes; cat bare.csv; } >new.csv
run dnn predict b.dnn new.csv --quiet
is "$STATUS $(wc -l <out)" "0 82" "one new category is a row"

# another encoding
sed 's/north/Nîmes/;s/south/Besançon/' a.csv >utf8.csv
iconv -f utf-8 -t cp1252 utf8.csv >cp1252.csv
dnn init cp1252.csv --target churn $mlp -o e.json 2>/dev/null
run dnn check e.json --set data.train=utf8.csv
err_has 'warning: all text beyond ASCII in "utf8.csv" is valid UTF-8, and it is read as cp1252' "check warns"
run dnn train e.json --set data.train=utf8.csv -o e.dnn --progress none --quiet
err_has 'set data.encoding to "utf-8"' "train warns, and names the key"
run dnn check e.json
is_exit 0
err_lacks "valid UTF-8" "the right one brings no warning"

# files of one list, the second one with its columns in another order
awk 'BEGIN { print "age,note,plan,churn"
    for (i = 0; i < 80; i++) printf "%d,\"n, %d\",%s,%s\n", i % 37, i % 4, i % 3 ? "pro" : "basic", i % 5 ? "yes" : "no" }' >one.csv
sed 's/^\([^,]*\),\("[^"]*"\|note\),\([^,]*\),\([^,]*\)$/\4,\1,\2,\3/' one.csv >other.csv
is "$(sed -n 2p other.csv)" 'no,0,"n, 0",basic' "another order"
dnn init one.csv --target churn $mlp -o l.json 2>/dev/null
for second in one other; do
    run dnn train l.json -o $second.dnn --set "data.train=[\"one.csv\",\"$second.csv\"]" --progress none --quiet
    is_exit 0 "one.csv and $second.csv"
done
dnn predict one.dnn one.csv --quiet >one.out
dnn predict other.dnn other.csv --quiet >other.out
same one.out other.out "columns are matched by name"
sed '5s/[^,]*,/no,x/' other.csv >wrong.csv
run dnn check l.json --set 'data.train=["one.csv","wrong.csv"]'
err_has 'wrong.csv:5:4: column "age": "x3" is not a number' "a message names the place in its own file"
sed 's/note/remark/' other.csv >wrong.csv
run dnn check l.json --set 'data.train=["one.csv","wrong.csv"]'
is_exit 65 "another name"
err_has "files of one list need the same columns, in any order"
sed '3s/^[^,]*,/it is not known,/' one.csv >free.csv
run dnn check l.json --set data.train=free.csv
err_has 'the type "text"' "free text among numbers is text"
done_testing
