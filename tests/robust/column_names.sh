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
ok $? "and its --set runs as printed" "$(cat c.json)"

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
done_testing
