#!/bin/bash
# init.sh - the config of `dnn init` and its notes: paths relative to the config's folder, values fixed by --set, columns set
# aside.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 200
has() { grep -qF -- "$1" "$2"; ok $? "$3" "$(head -n 30 "$2")"; }

# the config lies in another folder: its file names count from there
mkdir -p jobs/night data
cp leads.csv data/in.csv
for place in 'leads.csv c.json "leads.csv"' 'leads.csv jobs/c.json "../leads.csv"' 'data/in.csv jobs/night/c.json "../../data/in.csv"' \
    'data/in.csv data/c.json "in.csv"' "$WORK/data/in.csv jobs/c.json \"$WORK/data/in.csv\"" \
    "data/in.csv $WORK/jobs/c.json \"../data/in.csv\""; do
    read -r data config name <<<"$place"
    run dnn init --force "$data" --target converted -o "$config" --set train.epochs=1
    is_exit 0 "init $data -o $config"
    has "\"train\": $name" "$config" "  names $name"
    run dnn train "$config" -o m.dnn --set model.preset=mlp -q
    is_exit 0 "train takes the config of init $data -o $config"
done
ln -s data/in.csv linked.csv
run dnn init --force linked.csv --target converted -o jobs/c.json --set train.epochs=1
run dnn train jobs/c.json -o m.dnn --set model.preset=mlp -q
is_exit 0 "a linked file is found again"
has '"train": "../linked.csv"' jobs/c.json "  by the name of the link, which may be turned"
ln -s data folder
run dnn init --force folder/in.csv --target converted -o jobs/c.json --set train.epochs=1
run dnn train jobs/c.json -o m.dnn --set model.preset=mlp -q
is_exit 0 "a file in a linked folder is found again"
has '"train": "../folder/in.csv"' jobs/c.json "  by the name of that link"
run dnn init --force jobs/../folder/in.csv --target converted -o jobs/c.json --set train.epochs=1
has '"train": "../data/in.csv"' jobs/c.json "a linked folder is resolved where the path goes up"
awk 'BEGIN { print "north,x,y"; for (i = 0; i < 400; i++) printf "%d,%d,%s\n", 5310000 + i * 100, i % 7, i % 3 ? "a" : "b" }' >map.csv
run dnn init --force map.csv --target y -o map.json --set train.epochs=1
run dnn train map.json -o map.dnn --set model.preset=mlp -q
is_exit 0 "large numbers of a narrow range train"
run dnn predict map.dnn map.csv
is_exit 0 "large numbers of a narrow range are predicted from"

# what --set says of the reading is not guessed
{ echo 'a;b;y'; for i in $(seq 60); do echo "$((i % 7)).5;$((i % 5)),5;$((i % 2))"; echo "-999;n.v.;1"; done; } >odd.csv
run dnn init --force odd.csv --target y
has '"missing": ["", "NA"]' out "texts that usually mean nothing alone are found out, and NA is one"
run dnn init --force odd.csv --target y --set 'data.missing=["-999","n.v."]' --set data.decimal=,
has '"missing": ["-999", "n.v."]' out "a list of data.missing is taken"
has '"b": "numeric"' out "a list of data.missing decides what a column is"
run dnn init --force odd.csv --target y --set data.missing=n.v. --set data.decimal=,
has '"b": "numeric"' out "one text as data.missing decides what a column is"
run dnn init --force odd.csv --target y --set 'data.missing=[1]'
is_exit 64 "a list of others is refused"
tr ';' '\t' <odd.csv >odd.tsv
run dnn init --force odd.tsv --target y --set 'data.delimiter=\t'
is_exit 0 "a tab as a shell gives it"
has '"delimiter": "\t"' out "  is written"
{ echo 'city,n,y'; for i in $(seq 30); do printf 'K\xf6ln,%d,%d\nOslo,2,1\n' "$((i % 9))" "$((i % 2))"; done; } >latin.csv
run dnn init --force latin.csv --target y --set data.encoding=latin1
has '"encoding": "latin1"' out "an encoding that was given is kept"

# a byte that is not UTF-8 among many characters that are: damage; without any, another encoding, and init says by what
{ echo 'city,n,y'; for i in $(seq 60); do echo "Köln,$((i % 9)),nö"; echo "Zürich,$((i % 7)),ja"; done; } >utf8.csv
{ head -n 50 utf8.csv; printf 'Z\xfcrich,3,ja\n'; tail -n 50 utf8.csv; } >damaged.csv
run dnn init --force damaged.csv --target y -o damaged.json
is_exit 65 "one byte that is not UTF-8 among hundreds of characters that are"
err_has 'E1209]: damaged.csv:51:2: the byte \xfc is not valid UTF-8'
err_has '--set data.encoding=cp1252'
run dnn init --force damaged.csv --target y --set data.encoding=cp1252
is_exit 0 "  taken as told"
head -c -5 utf8.csv >cut.csv; printf 'n\xc3' >>cut.csv
run dnn init --force cut.csv --target y
is_exit 65 "a file cut within a character"
run dnn init --force latin.csv --target y
err_has 'note: line 2, byte 2: the byte \xf6 is not valid UTF-8, so the file is read as cp1252'
{
    echo 'city,n,y'
    for i in $(seq 1000); do [ $((i % 250)) -ne 0 ] && printf 'Oslo,%d,%d\n' "$((i % 9))" "$((i % 2))" || printf 'Orl\xe9,1,0\n'; done
} >few.csv
run dnn init --force few.csv --target y
is_exit 0 "four bytes that are not UTF-8 in a thousand lines of ASCII: another encoding"
has '"encoding": "cp1252"' out "  is taken"
{ cat few.csv; printf 'K\xc3\xb6ln,1,0\n%.0s' 1 2 3; } >fewer.csv
run dnn init --force fewer.csv --target y
has '"encoding": "cp1252"' out "three characters of UTF-8 beside them: the other encoding still"
{ cat fewer.csv; printf 'K\xc3\xb6ln,1,0\n'; } >many.csv
run dnn init --force many.csv --target y
is_exit 65 "four characters of UTF-8: a damaged file"
{ printf '\xef\xbb\xbf'; cat few.csv; } >marked.csv
run dnn init --force marked.csv --target y
is_exit 65 "  as behind a byte-order mark"
run dnn inspect damaged.csv
is_exit 65 "inspect does not guess either"

# identifiers by name and number
awk 'BEGIN { print "customer,order_no,CustomerID,y";
    for (i = 0; i < 500; i++) print 100000000 + i * 7919 % 10007 * 8009 "," 1000 + i * 389 % 8999 "," i * 7 % 200 "," i % 2 }' >ids.csv
run dnn init --force ids.csv --target y
err_has 'note: column "customer": id: its name and its whole numbers, all different, are those of an identifier'
err_has 'note: column "order_no": id: its name'
err_has 'warning: column "CustomerID": numeric: its name is that of an identifier, and its 200 values come again'

# what train will refuse is said by check, and init names that command
awk 'BEGIN { print "s,x,w,n,y"; for (i = 0; i < 300; i++) print (i % 3 ? "train" : i % 2 ? "valid" : "test") "," i % 7 ".5," substr("abc",
    i % 3 + 1, 1) "," i * 7 % 149 "," i % 2 }' >s.csv
refuses() { # refuses ERROR args...: check and train refuse the config
    local id=$1; shift
    run dnn init --force "$@" -o told.json
    is_exit 0 "init $*"
    err_has 'note: `dnn check told.json` reads the data with this config'
    run dnn check told.json
    err_has "error[$id]" "  check refuses it"
    run dnn train told.json -o told.dnn --set model.preset=mlp -q
    err_has "error[$id]" "train refuses it"
}
refuses E1401 s.csv --target y --set data.columns.zz=numeric
refuses E1203 s.csv --target w --set task=regression
refuses E1203 s.csv --target y --set data.columns.w=numeric
refuses E1232 s.csv --target n --set task=binary
head -n 3 s.csv >two.csv
refuses E1230 two.csv --target y
awk 'BEGIN { print "x,w,v,t,y";
    for (i = 0; i < 60; i++) print i % 7 "," (i == 50 ? -1 : i % 4 + 1) "," (i == 50 ? "" : 2) ",a," i % 2 }' >weights.csv
for column in w v t; do
    refuses E1220 weights.csv --target y --set data.columns.$column=weight
done
sed -i 's/,-1,/,0,/' weights.csv
run dnn init --force weights.csv --target y --set data.columns.w=weight
is_exit 0 "a weight of 0 is one"
run dnn init --force s.csv --target y --set data.split.method=column --set data.split.column=s -o told.json
is_exit 0 "the column that says the part is no feature"
grep -qE '"(valid|test)": 0' told.json
is $? 1 "a split by column has no shares in the config"
run dnn train told.json -o told.dnn --set model.preset=mlp -q --set train.epochs=1
is_exit 0 "train takes a split by column"
awk 'BEGIN { print "id,x,v,y"; for (i = 0; i < 100; i++) print "k" i "," i % 7 "," i % 2 "," i % 2 }' >ids.csv
run dnn init --force ids.csv --target y -o ids.json
err_has 'note: column "id": id: ' "a column that is set aside is told of"
err_has 'column "v": it alone gives the target away' "a column that gives the target away is told of"
run dnn init --force ids.csv --target y --set 'data.columns={"x":"numeric"}' -o ids.json
is "$(grep -vc 'dnn check ids.json\|the positive label is' err)" 0 "a config without the columns: nothing is said of them"
run dnn init --force ids.csv --target y --set data.columns.v=ignore -o ids.json
is_exit 0
err_lacks 'gives the target away' "an ignored column: nothing is said of it"

# groups keep together what would be on both sides: a column of that type is for the split, and for nothing else
awk 'BEGIN { print "x,g,y"; for (i = 0; i < 400; i++) print i % 7 "," int(i / 20) "," int(i / 20) % 2 }' >groups.csv
for set in data.columns.g=group 'data.columns.g={"type":"group"}' data.columns.g.type=group 'data.columns={"x":"numeric","g":"group"}'; do
    run dnn init --force groups.csv --target y --set "$set"
    has '"split": {"method": "group"' out "$set: split by it"
    is_exit 0
    err_lacks 'gives the target away' "$set: the groups are not learned from"
done
run dnn init --force groups.csv --target y --set data.columns.g=group --set data.split.method=random -o groups.json
has '"split": {"method": "random"' groups.json "another method that was asked for is kept"
run dnn train groups.json -o m.dnn --set model.preset=mlp --set train.epochs=1
err_has 'column "g" of type group has no effect on the parts, as data.split.method is random' \
    "groups without a split by group: train says that they have no effect"
run dnn init --force groups.csv --target y --set data.columns.g=group --set data.columns.g=numeric
has '"method": "stratified"' out "a type that a later --set replaces"

printf 'a,b\n1,2\n3\n' >short.csv
run dnn inspect short.csv
err_has 'line 3 has 1 field, the first line has 2'

# an id of a name that the answers have themselves
awk 'BEGIN { print "probability_b,x,y"; for (i = 1; i < 100; i++) print i "," i * 7919 % 100 "," (i % 3 ? "a" : "b") }' >own.csv
run dnn init --force own.csv --target y -o own.json
run dnn check own.json
is_exit 78 "an id column with the name of a column of the answers"
sed '1s/_b/_c/' own.csv >other.csv
run dnn init --force other.csv --target y -o own.json
run dnn check own.json
is_exit 0 "probability_ of no label"

# numbers in another form as the target
awk 'BEGIN { print "x,y"; for (i = 0; i < 300; i++) printf "%d.5,\"%d,%03d\"\n", i % 7, i % 90 + 1, i * 7919 % 1000 }' >amounts.csv
run dnn init --force amounts.csv --target y
has '"task": "regression"' out "a target of numbers with thousands separators"
err_has 'note: target "y": numeric: numbers such as "1,000" (line 2) in 300 cells: "thousands": ","'
awk 'BEGIN { print "x,y"; for (i = 0; i < 300; i++) print i % 7 ".5," substr("NA yesno ", i % 3 * 3 + 1, 3) }' >na.csv
run dnn init --force na.csv --target y
err_has "100 of 300 rows have no target: training leaves them out; they say \"NA\": if that is a class, --set 'data.missing=[\"\"]'"
awk 'BEGIN { print "x,y"; for (i = 0; i < 300; i++) print i % 7 ".5," substr("NA yes   no ", i % 4 * 3 + 1, 3) }' >na.csv
run dnn init --force na.csv --target y
err_has '150 of 300 rows have no target: training leaves them out; they are empty or say "NA": if that is a class'
printf '{\n"task": "binary"\n}\n' >table.json
run dnn init --force table.json --target y
err_has 'is not CSV but JSON'

# what cells prove, and what they do not: rows of column x; $i counts them
column() {
    awk "BEGIN { print \"x,n,y\"; for (i = 0; i < 120; i++)
        print (($1) \",\" i % 7 \".5,\" (i % 3 ? \"a\" : \"b\")) }" >column.csv; run dnn init --force column.csv --target y
}
column 'i % 60 ? i % 31 + i / 200 : "unknown"'
err_has 'note: taken as missing: "unknown" in column "x" (2 cells); data.missing lists them'
column 'i % 60 ? i % 31 + i / 200 : "NA"'
is_exit 0
err_lacks 'taken as missing' "NA is one by default"
column 'sprintf("2024-02-%02d", i % 30 + 1)'
is_exit 0
err_has 'warning: column "x": ignore: dates, and 4 of the cells are days that do not exist, the first "2024-02-30": mend them'
err_lacks '%d.%m.%Y' "no other format is named"
column 'i == 50 ? "2024-02-31" : sprintf("2024-02-%02d", i % 28 + 1)'
err_has '1 of 120 cells is no day that exists, the first "2024-02-31" at line 52'
column 'i % 2 ? sprintf("%d/%02d/2024", i % 28 + 1, i % 12 + 1) : sprintf("%02d/%d/2024", i % 12 + 1, i % 28 + 1)'
is_exit 0
err_has 'dates of a mixed order, which no one format reads'
err_lacks '"format"' "dates of a mixed order: no format is named"
column 'sprintf("2024-%02d-%02d %d:30 %sM", i % 12 + 1, i % 28 + 1, i % 12 + 1, i % 2 ? "P" : "A")'
has '"format": "%Y-%m-%d %I:%M %p"' out "an ISO date with a clock of twelve hours"
column 'i % 2 ? sprintf("2024-%d-%02d", i % 12 + 1, i % 28 + 1) : sprintf("2024/%d/%02d", i % 12 + 1, i % 28 + 1)'
err_has '"format": "%Y/%m/%d"}' "an example is the format of a cell"
for mark in k K M m bn Mio; do
    column "i % 31 + 1 \"$mark\""
    err_has "numbers such as \"1$mark\" (line 2) in 120 cells, whose letters may multiply them"
    has '"x": "ignore"' out "numbers such as 1$mark are ignored, not taken as a unit"
done
column '"$" i % 31 + 1 ".5k"'
err_has 'whose letters may multiply them'
column '(i % 2 ? "$" : "€") i % 31 + 1'
err_has 'warning: column "x": numeric: numbers such as "€1" (line 2) in 120 cells: "unit": "€", "$"; amounts of different units'
column '(i % 2 ? "$" : "") i % 31 + 1 (i % 2 ? "" : "USD")'
err_has 'note: column "x": numeric: numbers such as "1USD"'
column 'i % 2 ? i % 31 / 4 : "(0.0" i % 9 + 1 ")"'
err_has '"thousands": "," (brackets are a minus, and this key reads them)'
column 'sprintf("2024-%02d-%02d %02d:00", i % 12 + 1, i % 28 + 1, i % 3)'
is_exit 0
err_has '"x" 1.00' "a date is scored by the best of its parts"
err_lacks 'the best 5'
{ echo "t,x,y"; for i in $(seq 60); do echo "c$((i % 5)),$((i % 9)),$((i % 2))"; done; echo '"c1,3,1'; } >open.csv
run dnn init --force open.csv --target y
err_has \
    'line 62: the cell that opens here with a quote does not end: likely a fault there; if it is, mend it and run init again; all 61 rows'
awk 'BEGIN { print "a,b,c,d,e,f,y"; for (i = 0; i < 300; i++) { for (k = 1; k < 7; k++) printf "%g,", i * k % 11 + (i % 3) / k;
    print i % 3 ? "yes" : "no" } }' >six.csv
run dnn init --force six.csv --target y
err_has 'a quick estimate), the best 5 of 6: "'

# columns set aside
{ echo a,b,y; for i in $(seq 60); do echo "k,r$i,$((i % 2))"; done; } >aside.csv
run dnn init --force aside.csv --target y -o aside.json
is_exit 0 "nothing to learn from: the config is written, to be mended"
err_has 'warning: no column is left to learn from'
err_has 'note: column "b": id: every cell is different'
run dnn train aside.json -o aside.dnn --set model.preset=mlp
is_exit 78 "  train refuses it"
err_has 'error[E1312]: aside.json:13:'
err_has 'the notes of `dnn init DATA.csv --target COL` say why it takes none' "train: the help does not send back to init"
run dnn init --force aside.csv --target y --set data.columns.b=categorical -o aside.json
is_exit 0
err_lacks 'warning: no column'
err_lacks 'column "b"' "of a column that was given no reason is told"
run dnn train aside.json -o aside.dnn --set model.preset=mlp --set train.epochs=1 -q
is_exit 0 "a column given its type is trained on"
awk 'BEGIN { print "customer_id,story,short,code,half,y"
    for (i = 0; i < 300; i++) printf "%d,the %dth of many words told here,w%d tail,%d,.%d,%d\n", i * 7 % 160 + 1000, i % 170, i % 170,
    i * 31 % 211, i % 9 + 1, i % 2 }' >story.csv
run dnn init --force story.csv --target y
is_exit 0
err_has 'warning: column "customer_id": id: its name is that of an identifier, and its 160 values come again, in 300 rows'
err_has 'column "story": text: free text'
err_has 'column "short": ignore: 170 different values in 300 cells: hardly one is met again'
err_lacks 'column "half"' "numbers without a digit before the point are numbers"

# many columns set aside for one reason share a line
{
    printf 'k%s,' $(seq 40)
    echo x,y
    for i in $(seq 60); do printf '1,%.0s' $(seq 40); echo "$((i * 37 % 53)).5,$((i % 2))"; done
} >same.csv
run dnn init --force same.csv --target y
err_has 'note: columns "k1", "k2", "k3", "k4", "k5" and 35 more: ignore: the same value in every row'
is "$(grep -vc 'dnn check CONFIG\|the positive label is\|single columns as predictors' err)" 1 "  in one line"
awk 'BEGIN { for (c = 1; c < 9; c++) printf "k%d,", c; print "y"; for (i = 0; i < 60; i++) { for (c = 1; c < 9; c++) printf "%s,",
    i < c ? i : ""; print i % 2 } }' >few.csv
run dnn init --force few.csv --target y
err_has ' and 3 more: ignore: the first: only 1 of 60 rows have a value' "  of which the figures are those of the first"
{ printf 'k%s,' $(seq 40); echo y; for i in $(seq 60); do printf "$((i % 2)),%.0s" $(seq 40); echo "$((i % 2))"; done; } >leak.csv
run dnn init --force leak.csv --target y
err_has 'warning: columns "k1", "k2", "k3", "k4", "k5" and 35 more: each alone gives the target away'

# one bad cell costs no column: the place is told, and training stops there
{ echo x,y; for i in $(seq 300); do echo "$((i * 7919 % 1000)).5,$((i % 2))"; done; } | sed '250s/.*/12O,1/' >bad.csv
run dnn init --force bad.csv --target y -o bad.json
err_has 'warning: column "x": numeric: 1 of 300 cells is no number, the first "12O" at line 250'
run dnn train bad.json -o bad.dnn --set model.preset=mlp
is_exit 65 "  train names it"
err_has 'bad.csv:250:1: column "x": "12O" is not a number'
# so is that of a cell that would mean missing, were it in the list
for list in '[]' '["zz"]'; do
    for empty in '' NA; do
        sed "250s/.*/$empty,1/; 270s/.*/12O,1/" bad.csv >listed.csv
        run dnn init --force listed.csv --target y -o listed.json --set "data.missing=$list"
        err_has "2 of 300 cells are no number, the first \"$empty\" at line 250" "\"$empty\", where data.missing is $list"
    done
done
run dnn train bad.json -o bad.dnn --set model.preset=mlp -q --set train.epochs=1 --set 'data.missing=["12O"]'
is_exit 0 "train takes the text as a missing value"

# a table written with the numbers of its rows: that column has no name
{ echo ,x,y; for i in $(seq 0 99); do echo "$i,$((i * 7919 % 100)).5,$((i % 2))"; done; } >index.csv
run dnn init --force index.csv --target y -o index.json
is_exit 0 "a first column without a name"
has '"c1": "id"' index.json "  is called c1"
err_has 'note: the first column has no name in the header: it is called "c1"'
run dnn train index.json -o index.dnn --set model.preset=mlp -q --set train.epochs=1
is_exit 0 "  trains"
run dnn predict index.dnn index.csv index.csv -q
is_exit 0 "  predicts"
is "$(sed -n 2p out | cut -d, -f1)" 0 "predict repeats the index column"

# more columns than a config can list
wide() {
    awk -v columns="$1" -v rows="$2" 'BEGIN { for (i = 0; i < columns; i++) printf "c%d,", i; print "y"; for (r = 0; r < rows; r++) {
        for (i = 0; i < columns; i++) printf "%d,", (i + r) % 3; print r % 2 } }'
}
wide 40050 3 >wide.csv
run dnn init --force wide.csv --target y -o wide.json
is_exit 65 "too many columns for a config"
err_has '40051 columns are more than a config can list'
wide 39970 3 >wide.csv
run dnn init --force wide.csv --target y -o wide.json
is_exit 65 "a config that would be longer than one may be"
err_has '39971 columns are more than a config can list'
# less: the config is read, and so is what it becomes in the model, with its other keys
wide 30000 20 >wide.csv
run dnn init --force wide.csv --target y -o wide.json
is_exit 0 "as many columns as a config can list"
run dnn train wide.json --set model.preset=mlp --progress none --set train.epochs=1
is_exit 0 "are trained on"
run dnn predict wide.dnn wide.csv -q
is_exit 0 "the model of as many columns as a config can list answers"

# names and options that contradict each other, or do nothing
run dnn init --force leads.csv --target converted --id lead_id --ignore lead_id
is_exit 64 "one column under --id and --ignore"
run dnn init --force leads.csv --target ' converted '
is_exit 0 "blanks around a name are dropped, as around the names of the file"
run dnn init --force leads.csv --target converted --set data.split.method=column -o split.json
run dnn check split.json
is_exit 78 "a split by a column that is not named"
run dnn init --force leads.csv --target converted --set train.epochs=7
is "$(grep -nE '"(train|output)": \{' out | cut -d'"' -f2 | xargs)" "train output" "train stands before output"

# a config that is there
run dnn init leads.csv --target converted -o split.json
is_exit 73 "a config is not replaced"
err_has 'split.json: there is a config already: it is not replaced'
err_has 'help: --force replaces it'
run dnn init leads.csv --target converted -o split.json --force
is_exit 0 "--force replaces a config"
: >empty.json
run dnn init leads.csv --target converted -o empty.json
is_exit 0 "an empty file is"
printf 'notes\n' >notes.txt
run dnn init leads.csv --target converted -o notes.txt --force
is_exit 73 "a file that is no config never is"

# what is no data file
printf '{"task": "binary"}' >own.json
run dnn init --force own.json --target y
is_exit 65 "a config is no data file"
for word in - ''; do
    run dnn init --force "$word" --target y
    is_exit 64 "init '$word' is a mistake of the command line"
done

# what stands at the output's name
run dnn init --force leads.csv --target converted -o leads.csv
is_exit 64 "the data file is not replaced"
printf '\n  {"task": "binary"}' >own.json
run dnn init --force leads.csv --target converted -o own.json
is_exit 0 "a config is"
printf '{"schema":"dnn.epoch/1","epoch":1}\n' >lines.jsonl
cp lines.jsonl before.jsonl
run dnn init --force leads.csv --target converted -o lines.jsonl
is_exit 73 "another JSON is not replaced by a config"
same lines.jsonl before.jsonl "it stays"
for text in '{"data": [{"id": 1, "name": "precious"}], "next": null}' '{"model": "gpt", "messages": []}' '{"model": "gpt"}' \
    '{"task": "binary", "done": false}' '{"task": "binary",' '{"task": 3}'; do
    printf '%s' "$text" >theirs.json
    run dnn init --force leads.csv --target converted -o theirs.json
    is_exit 73 "--force keeps a JSON with some keys of a config: $text"
    is "$(cat theirs.json)" "$text" "it stays"
done
for bytes in '\0\0\0\030ftyp' '{\0"task"' '\n\0'; do
    printf "$bytes" >film.mp4
    run dnn init --force leads.csv --target converted -o film.mp4
    is_exit 73 "--force keeps a file with a NUL byte among the first ($bytes)"
done
printf ' {\n' >cut.json
run dnn init --force leads.csv --target converted -o cut.json
is_exit 0 "a config that was cut at its begin is"
run dnn init --force leads.csv --target converted -o m.dnn
is_exit 73 "a model is not"

# a pipe is written to, and one that nobody holds at the other end is waited for no longer than one likes
mkfifo pipe
run dnn init --force leads.csv --target converted
cp out direct.json
timeout -s KILL 60 cat pipe >through.json &
run timeout -s KILL 60 "$DNN" init --force leads.csv --target converted -o pipe
is_exit 0 "a config goes through a pipe"
wait
same direct.json through.json "  as it would be written to a file"
for words in 'init leads.csv --target converted -o pipe' 'init pipe --target converted' 'check pipe'; do
    run env --default-signal=TERM timeout -k 20 1 "$DNN" $words
    is_exit 124 "dnn $words ends when it is asked to"
done
run timeout -s KILL 60 "$DNN" inspect pipe
is_exit 66 "inspect does not wait for a pipe"
# what a --set spoils is no place in a file that nobody has
printf 'a,b,y\n1,2,0\n3,4,1\n5,6,0\n7,8,1\n' >sets.csv
run dnn init --force sets.csv --target y --set data.target=a
is_exit 78 "another target by --set"
err_has "(--set data.target)" "the --set is named"
err_lacks "config:1:" "another target by --set: no place of a config is named"
# data.positive is a label as training reads it: whole, and with the blanks that quotes keep
awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) print i % 7 "," (i % 3 ? "\" no\"" : " yes ") }' >labels.csv
for word in o no 'yes ' ' no' 'yes'; do
    run dnn init --force labels.csv --target y --set data.positive="\"$word\"" -o labels.json
    run dnn check labels.json
    want=78
    case $word in ' no' | yes) want=0 ;; esac
    [ "$want" -eq 0 ] && is_exit 0 "data.positive \"$word\" is a label" ||
        { grep -q E1411 err; ok $? "data.positive \"$word\" is no label: check says so" "$(cat err)"; }
    rm labels.json
done
# texts of many words get as many buckets as they have different terms; few words need no key
awk 'BEGIN { print "t,y"; for (i = 0; i < 400; i++) { s = ""; for (k = 0; k < 10; k++) s = s " w" (i * 7 + k * k * 13 + i * k) % 1500;
    print s "," i % 2 } }' >words.csv
awk 'BEGIN { print "t,y"; for (i = 0; i < 400; i++) print "w" i % 20 " v" i % 19 " u" i % 17 "," i % 2 }' >few.csv
dnn init words.csv --target y -q -o words.json && dnn init few.csv --target y -q -o few.json
terms=$(tail -n +2 words.csv | cut -d, -f1 | awk '{ for (i = 1; i <= NF; i++) { t[$i]; if (i > 1) t[$(i - 1) " " $i] } } END { n = 0;
    for (k in t) n++; print n }')
buckets=$(grep -oE '"buckets": [0-9]+' words.json | tr -dc 0-9)
{ [ "$terms" -gt 2100 ] && [ "$buckets" -ge "$terms" ] && [ "$buckets" -lt $((terms * 21 / 10)) ]; }
ok $? "buckets for $terms terms: $buckets" "$(cat words.json)"
has '"t": "text"' few.json "few terms: the usual number"
awk 'NR == 1 { print "n," $0; next } { print NR * 37 % 101 / 7 "," $0 }' words.csv >beside.csv
dnn init beside.csv --target y -q -o beside.json
has '"t": "text"' beside.json "few terms beside a number: the usual number, as each network would be large"
run dnn check words.json
is_exit 0 "check takes the config with more buckets"

# the target has the keys of a feature; one rule that reads all cells stands in the config
target() { # target CELL TASK ENTRY WHAT [WORDS..]: CELL is an awk expression of i
    awk "BEGIN { print \"x,z,y\"; for (i = 1; i <= 300; i++) printf \"%d,%d.5,\\\"%s\\\"\\n\", i * 37 % 101, i * 13 % 97, $1 }" >t.csv
    run "$DNN" init t.csv --target y -o t.json --force "${@:5}"
    is_exit 0 "init: $4"
    is "$(perl -MJSON::PP -e 'local $/; my $c = decode_json(<STDIN>); my $y = $c->{data}{columns}{y};
        print "$c->{task} ", $y ? JSON::PP->new->canonical->encode($y) : "none"' <t.json)" "$2 $3" "$4"
    "$DNN" check t.json -q --set model.preset=linear >check 2>&1
    is "$?" 0 "the cells are read: $4" "$(cat check)"
}
thousands='{"thousands":",","type":"numeric"}'
target 'sprintf("%d,%03d", 10 + i % 90, i * 37 % 1000)' regression "$thousands" "41,295 in every cell"
target '(i == 150 ? "1,200" : sprintf("%.2f", i * 1.5))' regression "$thousands" "1,200 in one cell"
target '(i == 150 ? "12 000" : i * 31 % 8999)' regression '{"thousands":" ","type":"numeric"}' "12 000 in one cell"
target 'sprintf("%d,000", 10 + i % 25)' multiclass none "25 different ones"
err_has 'note: column "y": 25 classes; for numbers as such use --set task=regression' "25 thousands are told as plain numbers"
target 'sprintf("%d,000", 10 + i % 25)' regression "$thousands" "25 different ones, for regression" --set task=regression
target 'sprintf("%d,%03d", 10 + i % 90, i * 37 % 1000)' regression "$thousands" "the key is given" \
    --set "data.columns.y=$thousands"
err_lacks 'target "y"' "a key that is given brings no warning"
# without a number with a point nothing proves which sign it is
sed -i 's/\.5,/,/' t.csv
run "$DNN" init t.csv --target y -o t.json --force
line=$(sed -n "s/.*if it groups them, \(--set '.*'\)$/\1/p" err)
bash -c "dnn init t.csv --target y -o t.json --force -q $line" && run "$DNN" check t.json -q --set model.preset=linear
is_exit 0 "the key of the warning: $line"
run "$DNN" init t.csv --target y --set task=regression
is_exit 0 "init: two readings of a target"
err_lacks 'not all in one form' "numbers with thousands in every cell are all in one form"
awk 'BEGIN { print "x,y"; for (i = 1; i <= 300; i++) print i * 7 % 101 "," (i % 20 ? i % 90 + .5 : "?") }' >t.csv
run "$DNN" init t.csv --target y
is_exit 0 "init: a target of numbers and marks of missing"
err_lacks 'if that is a class' "a target of numbers has no classes"

# every column that is changed is named, the changed ones first; a zip code of 99999 is none of them
awk 'BEGIN { printf "zip2,"; for (k = 0; k < 14; k++) printf "c%d,", k; print "y"; for (i = 1; i <= 400; i++) {
    printf "%d,", i % 3 ? 10000 + i * 7919 % 60000 : 99999
    for (k = 0; k < 14; k++) printf "%s,", i % 9 == k % 9 ? (k % 2 ? -999 : 50000) : 20 + i * (k + 3) % 61
    print i % 2 ? "a" : "b" } }' >far.csv
run "$DNN" init far.csv --target y -o far.json --force
grep -qF '"zip2": "numeric"' far.json
ok $? "99999 among zip codes is one" "$(cat far.json)"
err_has 'so have columns "c11" ("-999"), "c13" ("-999"): taken as missing' "each changed column is named"
is "$(grep -nE 'far from|so have' err | head -n 5 | grep -c taken)" 5 "changed columns are named before those that are asked about"

# cells of digits and signs in one pattern
awk 'BEGIN { print "week,phone,day,arabic,y"; for (i = 0; i < 400; i++) { k = int(i * .7)
    printf "%d-W%02d,+49 %d %d,%d. Februar %d,\xd9%c\xd9%c,%s\n", 1990 + k % 30, 1 + k * 7 % 52, 150 + k % 30, 1000000 + k * 77777,
        1 + k % 28, 1990 + k % 30, 160 + k % 10, 160 + k % 7, i % 3 ? "a" : "b" } }' | LC_ALL=C cat >t.csv
run "$DNN" init t.csv --target y
is_exit 0 "init: cells of digits in one pattern"
err_lacks 'hardly one is met again' "weeks have a word of their own"
err_lacks 'free text' "numbers of phones are no text"
err_has 'such as "+49 150 1000000"' "numbers of phones are named"
err_has '"day": ignore: dates in no one form' "months of another language are dates"
err_has '"arabic": categorical: numbers in a form that no key reads' "digits of another script are numbers"

# one name in two forms of Unicode
printf 'sta\xcc\x88dt,x,y\n' >nfd.csv
printf 'st\xc3\xa4dt,x,y\n' >nfc.csv
for i in $(seq 40); do echo "$((i % 3)),$((i * 7 % 31)),$((i % 2))"; done | tee -a nfd.csv >>nfc.csv
run "$DNN" init nfc.csv nfd.csv --target y -o two.json --force
is_exit 0 "files whose names differ in the form of Unicode"
run "$DNN" check two.json -q
is_exit 0 "they are one list"
cat nfc.csv nfd.csv >cat.csv
run "$DNN" init cat.csv --target y
err_has 'cat.csv:42: the row is the header again' "the header in another form of Unicode is seen"
done_testing
