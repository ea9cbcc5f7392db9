#!/usr/bin/env bash
# Names of columns that a key or an option cannot hold as they are: = and . and quotes in --set, other forms of Unicode.
. "$(dirname "$0")/../tap.sh"
cd "$WORK"

{
    printf 'k=v,sepal.length,"a ""q"" b",y.t,size.x=y\n'
    for i in {1..80}; do
        printf '%d,%d.5,%s,%d,X%d\n' $((i * 7 % 23)) $((i * 13 % 31)) "$(echo u v w | cut -d' ' -f$((i % 3 + 1)))" $((i % 2)) $((1000 + i))
    done
} >d.csv
run dnn init d.csv --target y.t -o c.json --force
is_exit 0 "init"
pasted=$(sed -n 's/.*to learn from it, --set //p' err)
is "$pasted" "'data.columns.\"size.x=y\"=categorical'" "the note prints the name in quotes"
bash -c "'$DNN' init d.csv --target y.t -o c.json --force --set $pasted" 2>/dev/null
grep -q '"size.x=y": "categorical"' c.json
ok $? "the printed --set with a quoted name works" "$(cat c.json)"

run dnn init d.csv --target y.t -o c.json --force --set 'data.columns."k=v".type=categorical' \
    --set 'data.columns."sepal.length"=ignore' --set 'data.columns."a \"q\" b".missing=["u"]'
is_exit 0 "init with names in quotes"
tr -d ' \n' <c.json >flat
grep -q '"k=v":{"type":"categorical"}' flat
ok $? "a name with =" "$(cat flat)"
grep -q '"sepal.length":"ignore"' flat
ok $? "a name with a dot" "$(cat flat)"
grep -q '"a\\"q\\"b":{"type":"categorical","missing":\["u"\]}' flat
ok $? "a name with quotes" "$(cat flat)"
run dnn check c.json --set 'data.columns."k=v"=numeric'
is_exit 0 "check takes it too"
run dnn check c.json --set 'data.columns."k=v"=numberic'
is_exit 64 "a wrong type is an error of --set"
err_has 'column "k=v": unknown type "numberic"' "that names the column"
run dnn check c.json --set 'data.columns."new.one"=numeric'
err_has '"new.one"' "a name that the file lacks is one name"

# The file writes e and an accent, the command line one letter.
sed '1s/.*/caf\xc3\xa9,a\xcc\x81,b,e\xcc\x81tat,d/' d.csv >nfd.csv
run dnn init nfd.csv --target $'\xc3\xa9tat' --ignore $'\xc3\xa1' --id $'cafe\xcc\x81' -o c.json --force
is_exit 0 "names in another form of Unicode are found"
err_has '--target "état": the file has this name in another form of Unicode' "the note says that the file has another form of Unicode"
grep -q $'"a\xcc\x81": "ignore"' c.json && grep -q $'"caf\xc3\xa9": "id"' c.json && grep -q $'"target": "e\xcc\x81tat"' c.json
ok $? "the config has the names of the file" "$(cat c.json)"
run dnn check c.json
is_exit 0 "check reads it"

# Several files
head -41 d.csv >a.csv
{ head -1 d.csv; tail -n 40 d.csv; } >b.csv
run dnn init d.csv --target y.t -o one.json --force
run dnn init a.csv b.csv --target y.t -o two.json --force --set model.preset=mlp
is_exit 0 "init of two files"
grep -q '"train": \["a.csv", "b.csv"\]' two.json
ok $? "data.train lists them" "$(cat two.json)"
diff <(sed -n '/"columns"/,/}/p' one.json) <(sed -n '/"columns"/,/}/p' two.json) >diff
ok $? "init of two files finds the columns of the whole" "$(cat diff)"
run dnn train two.json -o m.dnn --force --set train.epochs=2
is_exit 0 "train takes them"
awk -F, -v OFS=, '{ print $3, $1, $4, $5, $2 }' b.csv >c.csv
run dnn init a.csv c.csv --target y.t -o three.json --force
is_exit 0 "another order of the columns"
diff two.json three.json | grep -q '^[<>].*"columns"'
ok $((1 - $?)) "gives the same columns"
mkdir -p sub
run dnn init a.csv b.csv --target y.t -o sub/c.json --force
grep -q '"train": \["../a.csv", "../b.csv"\]' sub/c.json
ok $? "paths count from the config's folder" "$(cat sub/c.json)"
cut -d, -f1-4 b.csv >few.csv
run dnn init a.csv few.csv --target y.t -o four.json --force
is_exit 65 "fewer columns"
err_has 'few.csv:1:1: has 4 columns, "a.csv" has 5' "are told with the file"
sed '1s/sepal.length/petal.length/' b.csv >other.csv
run dnn init a.csv other.csv --target y.t -o four.json --force
is_exit 65 "another column"
err_has 'other.csv:1:5: column 2 is "petal.length", in "a.csv" it is "sepal.length"' "is told with its place"
printf '%s\n' 'n,v,y' >p.csv; cp p.csv q.csv
for i in {1..30}; do echo "K$((i % 3)),$i,$((i % 2))" >>p.csv; printf 'M\xfcn%d,%d,%d\n' $((i % 3)) "$i" $((i % 2)) >>q.csv; done
run dnn init p.csv q.csv --target y -o five.json --force
is_exit 0 "the second file is not UTF-8"
grep -q '"encoding": "cp1252"' five.json
ok $? "the encoding is that of all" "$(cat five.json err)"
done_testing
