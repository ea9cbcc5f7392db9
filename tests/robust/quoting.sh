#!/bin/bash
# quoting.sh - data.quote: init finds the quoting that reads every line to the same width, and writes it; both readers read the same
# cells; predict and the model keep it. Ids: C01.
. "$(dirname "$0")/../tap.sh"
# heights such as 5'10", words in quotes; the third file has cells that begin with a quote and go on behind it
awk 'BEGIN { print "id\theight\tnote\ty"
    for (i = 0; i < 200; i++) printf "N%d\t%d'\''%d\"\t%s\t%s\n", i, 4 + i % 3, i % 12,
        i % 7 == 0 ? "the \"cave\" is dark" : i % 11 == 0 ? "\"a\tb\"" : "5\" or so", i % 3 ? "yes" : "no" }' >lenient.tsv
sed 's/"a	b"/"the cave" inside/' lenient.tsv >none.tsv
sed "s/\"//g" none.tsv >strict.tsv
awk 'BEGIN { print "id\theight\tnote\ty"
    for (i = 0; i < 200; i++) printf "\"N%d\"\t%d\t\"%s\"\t\"%s\"\n", i, 4 + i % 3,
        i % 7 == 0 ? "the \\\"best\\\"\tone" : i % 11 == 0 ? "C:\\\\" : "C:\\dir", i % 3 ? "yes" : "no" }' >backslash.tsv
for quote in strict lenient none backslash; do
    run dnn init $quote.tsv --target y --set model.preset=mlp --id id --force -o $quote.json --set data.columns.note=categorical
    is_exit 0 "$quote: init"
    grep -qF "\"quote\": \"$quote\"" $quote.json
    ok $? "$quote: it is written down" "$(grep quote $quote.json)"
    run dnn train $quote.json -o $quote.dnn --set train.epochs=1 --progress none --quiet --set backend.name=dnn_cpu
    is_exit 0 "$quote: train"
    run dnn train $quote.json -o libcsv.dnn --force --set train.epochs=1 --progress none --quiet --set backend.name=dnn_cpu \
        --set data.reader=libcsv
    same $quote.dnn libcsv.dnn "$quote: both readers make the same model"
    run dnn predict $quote.dnn $quote.tsv --quiet --passthrough height,note
    is_exit 0 "$quote: predict"
    is "$(wc -l <out)" 201 "$quote: every row has an answer"
done
dnn init none.tsv --target y --set model.preset=mlp -o n.json --force 2>err
err_has 'cells with "quote": "none", which is written down' "init says what it saw"
dnn predict lenient.dnn lenient.tsv --quiet --passthrough height,note >out
is "$(sed -n 2p out | cut -d, -f1-3)" 'N0,"4'\''0""","the ""cave"" is dark"' "quotes are part of the cell"
is "$(sed -n 13p out | cut -d, -f3)" "a	b" "a quoted cell may hold the delimiter"
dnn predict backslash.dnn backslash.tsv --quiet --passthrough note >out
is "$(sed -n 2p out | cut -d, -f2)" '"the ""best""	one"' "a backslash makes a quote a character"
is "$(sed -n 3p out | cut -d, -f2),$(sed -n 13p out | cut -d, -f2)" 'C:\dir,C:\' "alone it is a character, two are one"
run dnn predict strict.dnn backslash.tsv
is_exit 65 "text after the closing quote is an error by RFC 4180"
err_has "give --quote backslash" "the help names the rule"
run dnn predict strict.dnn backslash.tsv --quote backslash --quiet
is "$STATUS $(wc -l <out)" "0 201" "--quote backslash reads it"
for odd in '"N1"	5	"an "odd" one"	"no"' '"N1"	5	"odd	"no"'; do
    { grep -v '\\"' backslash.tsv; printf '%s\n' "$odd"; } >odd.tsv
    run dnn init odd.tsv --target y --set model.preset=mlp -o n.json --force
    is_exit 65 "one odd quote turns no quoting off: $odd"
    err_has "error[E1204]: odd.tsv:157:" "init names its place"
done
sed "2,\$s/[a-z]*$/'&'/" strict.tsv >prime.tsv
run dnn init prime.tsv --target y -o n.json --force
is_exit 0 "single quotes are characters"
err_has "warning: column \"y\": single quotes stand around the cells, as in 'no', and are read as characters" "init says so"
sed "s/[a-z]*$/'&'/;s/^[A-Za-z0-9]*/'&'/" strict.tsv >prime.tsv
run dnn init prime.tsv --target y -o n.json --force
is_exit 65 "around names, too"
err_has "tr \"'\" '\"' < prime.tsv > prime.mended.csv" "the help makes double ones"
run dnn check strict.json --set data.train=lenient.tsv
is_exit 65 "a quote in a cell is an error under strict"
err_has E1204
run dnn check lenient.json --set data.train=none.tsv --set data.test=null
is_exit 65 "text behind the closing quote is one under lenient"
err_has "text follows the closing quote"
run dnn init none.tsv --target y --set model.preset=mlp --set data.quote=lenient -o n.json --force
is_exit 65 "what --set says is not guessed"
done_testing
