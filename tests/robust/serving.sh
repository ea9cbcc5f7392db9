#!/bin/bash
# serving.sh - use of a model: rows that cannot be read, columns in another order, encodings, weights, comparisons, outputs left
# by a killed run, a progress line that does not fit.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 600
make_config c.json d.csv binary '"epochs": 2' '"backend": {"name": "dnn_cpu"}'
run dnn train c.json -o m.dnn --progress none
is_exit 0 "a model"
run dnn train c.json -o other.dnn --progress none --set train.seed=3

# every parameter is a tensor of its own with its true shape
perl -ne 'BEGIN { $/ = undef } while (/"members\.0\.(embeddings|layers[^"]*)":\{"dtype":"F32","shape":\[([\d,]*)\]/g) { print "$1;$2\n" }' \
    m.dnn >parts
awk -F';' '{ n = split($2, s, ","); sum += s[1] * (n > 1 ? s[2] : 1) } END { print sum }' parts >sum
is "$(cat sum)" "$(dnn inspect m.dnn --json | grep -o '"parameters":[0-9]*' | head -n 1 | cut -d: -f2)" "the model holds all parameters"
grep -q '^layers.0.weight;[0-9]*,16$' parts
ok $? "the model holds names and shapes" "$(cat parts)"

# rows that cannot be read: no advice on a training that is over, but on what goes on
head -n 9 d.csv >bad.csv
sed -i '3s/^[^,]*/abc/; 5s/^[^,]*/"1,5"/; 7s/^[^,]*/x/' bad.csv
run dnn predict m.dnn bad.csv
is_exit 65 "a bad cell stops"
err_has '--on-bad-row skip (or null) goes on without such rows, and --rejects FILE lists them'
err_lacks 'categorical' "nothing about the config"
sed -n '1p;5p' bad.csv >comma.csv
run dnn predict m.dnn comma.csv
err_has 'the model reads numbers with a decimal point'
run dnn evaluate m.dnn bad.csv
is_exit 65
err_has 'or --on-bad-row skip goes on without such rows' "evaluate names the rule that it has"
err_lacks '--rejects' "evaluate names no option that it lacks"
err_lacks 'categorical' "evaluate does not advise on the config"
sed '3d' bad.csv >bad2.csv
run dnn predict m.dnn bad.csv bad2.csv -o a.csv --on-bad-row skip --rejects r.csv
is_exit 0 "two files with bad rows"
is "$(sed 's/^\([0-9a-z]*\),.*,\([^,]*\)$/\1 \2/' r.csv | tr '\n' ' ')" \
    "line file 3 bad.csv 5 bad.csv 7 bad.csv 4 bad2.csv 6 bad2.csv " "their rejects say which file each is of"
# a row above 16 MiB ends the reading, --on-bad-row or not
{ head -n 2 d.csv; head -c 17000000 /dev/zero | tr '\0' x; echo; sed -n '3,4p' d.csv; } >long.csv
rm -f a.csv
run dnn predict m.dnn long.csv -o a.csv --on-bad-row skip --rejects r.csv
is_exit 65 "a row of 17 MB"
err_has 'error[E1214]: long.csv:3: a line is longer than 16 MiB'
[ ! -e a.csv ]
ok $? "nothing is answered"
head -n 4 d.csv >short.csv
dnn predict m.dnn short.csv --quiet >want.csv
{ head -c 17000000 /dev/zero | tr '\0' x; echo; sed -n '3,4p' d.csv; } >long.csv
run dnn predict m.dnn long.csv -o a.csv --on-bad-row skip --rejects r.csv
is_exit 65 "a header of 17 MB stops, whatever --on-bad-row says"
err_has 'tells how many columns there are'
# without a header the first row is one like any other, whatever is wrong with it; from a pipe it is answered as it comes
columns=$(head -n 1 d.csv)
sed -n 3,4p d.csv >rows.csv
dnn predict m.dnn rows.csv --no-header --columns "$columns" --quiet >rows.want
for bad in 'x"y,1,2,3' '"x"y,1,2,3' '\xff,1,2,3' '1,2\0,3,4' 1,2 1,2,3,4,5; do
    { printf '%b\n' "$bad"; cat rows.csv; } >first.csv
    for way in null skip; do
        run dnn predict m.dnn first.csv --no-header --columns "$columns" --on-bad-row $way
        is "$STATUS $(if [ $way = null ]; then sed 1d out; else cat out; fi)" "0 $(cat rows.want)" "the first row is $bad: $way"
        cat first.csv | dnn predict m.dnn --no-header --columns "$columns" --on-bad-row $way >piped 2>err
        same piped out "the first row is $bad, through a pipe: $way"
    done
done
printf '  \r\n' >blank.csv
run dnn predict m.dnn blank.csv --no-header --columns "$columns" --on-bad-row null
is "$STATUS $(wc -c <out)" "0 0" "blank lines alone are no rows"
: >early
{ printf 'x"y,1,2\n'; cat rows.csv; sleep 20; } | dnn predict m.dnn --no-header --columns "$columns" --on-bad-row null --quiet >early &
for _ in $(seq 100); do
    [ "$(grep -c . early)" -lt 3 ] || break
    sleep 0.1
done
is "$(sed 1d early)" "$(cat rows.want)" "a stray quote in the first row keeps nothing waiting"
kill $! 2>/dev/null
sed 1d d.csv >bare.csv
cat >bare.json <<'JSON'
{"task": "binary", "data": {"train": "bare.csv", "header": false, "target": "c4", "columns": {"c1": "numeric",
  "c2": "numeric", "c3": "categorical"}},
 "model": {"preset": "linear"}, "train": {"epochs": 1}, "backend": {"name": "dnn_cpu"}}
JSON
dnn train bare.json -o bare.dnn --quiet 2>err
for cells in 3 4; do # the target, which is last, may be absent
    cut -d, -f1-$cells rows.csv >bare.csv
    dnn predict bare.dnn bare.csv --quiet >rows.want
    { echo '1,"2"3,4,5'; cat bare.csv; } | dnn predict bare.dnn --quiet --on-bad-row skip >piped 2>err
    same piped rows.want "a model without header: a bad first row does not tell how many columns there are ($cells)"
    { printf 'x"y,1,2\n1\n'; cat bare.csv; } >first.csv
    run dnn predict bare.dnn first.csv --on-bad-row null
    check "rows that cannot be read are answered before more come ($cells)" perl "$ROOT/tests/talk.pl" \
        talk.out "$DNN" predict bare.dnn - --on-bad-row null -- $'x"y,1,2\n' 2 $'1\n' 3 "$(cat bare.csv)"$'\n' 5
    same out talk.out "as those of a file are"
    run dnn predict bare.dnn first.csv --on-bad-row skip --passthrough all
    is "$(sed 1d out | cut -d, -f1-$cells)" "$(cat bare.csv)" "the header of --passthrough all knows of the target ($cells)"
done
for known in "bare.dnn" "m.dnn --no-header --columns $columns"; do
    for way in stop null skip; do
        run dnn predict $known --on-bad-row $way </dev/null
        is_exit 0 "an input of nothing, whose columns are known: $known, $way"
    done
done
# where no row at all is answered it is said why, and by --quiet, too: a job by night must not be green and empty
tr , ';' <rows.csv >first.csv
for given in "bare.dnn" "m.dnn --no-header --columns $columns"; do
    for way in null skip; do
        run dnn predict $given first.csv --quiet --on-bad-row $way
        is_exit 0 "another delimiter: $given, $way"
        err_has "as the first: first.csv:1: found 1 column; did you mean delimiter \";\"? (E1215); give --delimiter ';'"
    done
done
run dnn predict m.dnn rows.csv --no-header --columns "$columns,more" --on-bad-row skip --quiet
err_has 'the first row has 4 fields, and --columns names 5 (E1412); name every column'
sed 's/$/,1,2/' rows.csv >first.csv
run dnn predict bare.dnn first.csv --on-bad-row null --quiet
err_has 'the first row has 6 fields, and the model was trained on 4 without header (E1412); give a file with'
sed 's/^/x/' rows.csv >first.csv
run dnn predict bare.dnn first.csv --on-bad-row null
err_has '2 of 2 rows cannot be read: no answer; all for one reason, as the first: first.csv:1: column "c1"'
err_has '; --max-bad-rows N makes more than N an error (65)' "no row can be read: the way to make it an error"
cat rows.csv >>first.csv
run dnn predict bare.dnn first.csv --on-bad-row null
is_exit 0
err_has '2 of 4 rows cannot be read'
err_lacks 'as the first' "where some are answered, the list of them is enough"
run dnn evaluate bare.dnn /dev/null
is_exit 65 "nothing to measure, though"
err_has 'dev/null'
run dnn predict m.dnn /dev/null
is_exit 65 "where the columns are not known, nothing is not enough"
# with line ends in quotes too, from a file and from a pipe
rm -f a.csv
lines() { yes 'a line, with ""quotes"" in it' | head -n 700000; }
{ head -n 2 d.csv; printf '"'; lines; echo '"'; sed -n '3,4p' d.csv; } >long.csv
run dnn predict m.dnn long.csv -o a.csv --on-bad-row skip
is_exit 65 "a record of 20 MB and 700,000 lines"
err_has "error[E1214]: long.csv:3: a record, with the lines in its quotes, is longer than 16 MiB"
err_has "is a quote wrong?"
[ ! -e a.csv ]
ok $? "nothing is answered"
cat long.csv | "$DNN" predict m.dnn - -o a.csv --on-bad-row null 2>err
is $? 65 "the same through a pipe"
err_has "error[E1214]: standard input:3: a record, with the lines in its quotes, is longer than 16 MiB"
rm -f a.csv r.csv long.csv
run dnn predict m.dnn bad.csv -o a.csv --on-bad-row skip --max-bad-rows 1 --rejects r.csv
is_exit 65 "--max-bad-rows stops"
err_has 'mend the rows listed in "r.csv"'
is "$(cut -d, -f1,3 r.csv)" "$(printf 'line,name\n3,a\n5,a')" "--max-bad-rows: the list of bad rows is there"
[ ! -e a.csv ]
ok $? "the answers are not"
run dnn predict m.dnn bad.csv -o a.csv --on-bad-row skip --max-bad-rows 1
err_has 'mend the rows that --rejects FILE lists'
{ head -c 4096 /dev/zero; cat d.csv; } >zeros
for file in m.dnn c.json d.csv zeros; do
    cp $file foreign
    run dnn predict m.dnn d.csv -o a.csv --on-bad-row skip --rejects foreign
    is_exit 73 "--rejects does not replace $file"
    same foreign $file "it is untouched"
done

# a field beyond 1 MiB over many lines is told where it begins
{ head -n 3 d.csv; printf '"'; yes 'a' | head -n 600000; printf '",%s\n' "$(sed -n 3p d.csv | cut -d, -f2-)"; sed -n 4p d.csv; } >field.csv
run dnn predict m.dnn field.csv -o a.csv --on-bad-row skip --rejects r.csv
is "$STATUS $(sed 1d r.csv | cut -d, -f1,2 | head -n 1) $(wc -l <a.csv)" "0 4,1 4" \
    "a long field: the place of its row, the rows around it answered"
run dnn evaluate m.dnn field.csv
err_has 'field.csv:4:1: a field is longer' "a long field: evaluate says so in words"

# --json beside answers: whatever ends them, its object is the last line of standard error, and standard output has rows alone
told() { # NAME ID: of the run that was
    tail -n 1 err | grep -q '^{"schema":"dnn.error/1","id":"'"$2"'",.*}$'
    ok $? "$1: the object is last on standard error" "$(tail -n 2 err)"
    ! grep -q '[{}]' out
    after_exit $? "$1: nothing but rows on standard output" "$(tail -n 2 out)"
}
for ((i = 0; i < 40; i++)); do sed 1d d.csv; done | cat d.csv - <(sed 1d bad.csv) >late.csv
run dnn predict m.dnn late.csv --json
is_exit 65 "a bad row behind thousands of good ones, with --json"
[ "$(wc -l <out)" -gt 1000 ]
ok $? "answers were written before it" "$(wc -l <out)"
told "a bad row" E1203
run dnn predict none.dnn d.csv --json -o -
is_exit 66 "no model: 66"
told "no model" E1601
run dnn predict m.dnn d.csv --json --max-bad-rows 1
is_exit 64 "options that contradict each other: 64"
told "options that contradict each other" E1005
run env DNN_FAULT=alloc:300 "$HOOKED" predict m.dnn d.csv --json
is_exit 71 "no memory"
told "no memory" E1701
run dnn predict m.dnn late.csv --json -o a.csv
tail -n 1 out | grep -q '^{"schema":"dnn.error/1","id":"E1203",.*}$' && ! grep -q '[{]' err
ok $? "answers in a file leave standard output to the object" "$(tail -n 1 out)"

# standard output is nobody's input
for words in "evaluate m.dnn own.csv" "inspect m.dnn" "check c.json --json" "init own.csv"; do
    cp d.csv own.csv
    input=$(printf '%s\n' $words | grep '\.' | tail -n 1)
    cp "$input" before
    dnn $words >>"$input" 2>err
    is "$?" 64 "dnn $words >>$input"
    same "$input" before "it is as it was"
done

shares() { # NAME INPUT WORDS..: refused, and the input is as it was
    cp "$2" before
    dnn "${@:3}" <"$2" >>"$2" 2>err
    is "$?" 64 "$1"
    err_has 'standard output is' "says why"
    same "$2" before "it is as it was"
}
cp m.dnn own.dnn
cp d.csv own.csv
shares "an input that an option names" own.dnn evaluate m.dnn d.csv --better-than own.dnn
shares "an input through standard input" own.csv evaluate m.dnn -
sed 's/d.csv/own.csv/' c.json >own.json
for words in "train own.json" "train own.json --json" "check own.json --json" "train c.json --json --set data.valid=own.csv" \
    "train c.json --json --set data.train=-"; do
    shares "data of a config: $words" own.csv $words --set output.model=new.dnn
done
[ ! -e new.dnn ]
ok $? "data of a config that cannot be shared: nothing is trained"

# --null: a missing value, in and out, in TSV as SQL writes it
printf 'a\tb\tc\n0.5\t\\N\tred\n\\N\t0.1\t\\N\nx\t0.1\tred\n' >sql.tsv
sed 's/\\N//g; s/\t/,/g' sql.tsv >plain.csv
run dnn predict m.dnn plain.csv --on-bad-row null -o plain.out
run dnn predict m.dnn sql.tsv --io tsv --null '\N' --on-bad-row null
is_exit 0 "--null: cells that are missing"
is "$(tr '\t' , <out)" "$(sed 's/^,.*$/N,N,N/; s/N/\\N/g' plain.out)" "have the answers of empty ones, and so are answers that are missing"
run dnn predict m.dnn sql.tsv --io tsv --null '\N'
is_exit 65 "--null makes no bad row good"
err_has '"x" is not a number'

# two outputs that would be one, and an output that is an input
run dnn predict m.dnn bad.csv --on-bad-row skip --rejects - <c.json
is_exit 64 "answers and --rejects - are one output"
run dnn predict m.dnn bad.csv --on-bad-row skip --rejects /dev/stdout
is_exit 64 "--rejects /dev/stdout too"
run dnn predict m.dnn bad.csv -o a.csv --on-bad-row skip --rejects - --json
is_exit 64 "--rejects - and --json"
rm -f a.csv
run dnn predict m.dnn bad.csv -o a.csv --on-bad-row skip --rejects - <c.json
is_exit 0 "--rejects - alone, whatever standard input is"
is "$(cut -d, -f1,3 out)" "$(printf 'line,name\n3,a\n5,a\n7,a')" "--rejects - prints the bad rows"
cp d.csv own.csv
dnn predict m.dnn own.csv >>own.csv 2>err
is "$?" 64 "answers do not go behind the rows that they answer"
dnn predict m.dnn - <own.csv >>own.csv 2>err
is "$?" 64 "answers of standard input do not go behind the rows that they answer"
same own.csv d.csv "the rows are as they were"

# a further thread takes its scratch and no blocks of its own: 64 MiB and the model, by any number of threads
awk 'NR == 1; NR > 1 { row[NR] = $0 } END { for (n = 0; n < 24000000; n += length(row[i]) + 1) { i = i > NR - 1 || i < 2 ? 2 : i + 1;
    print row[i] } }' \
    d.csv >long.csv
"$DNN" predict m.dnn long.csv -o two.csv --threads 2 --quiet
run dnn predict m.dnn long.csv -o a.csv --threads 64 --json
is_exit 0 "24 MB by 64 threads"
took=$(sed -n 's/.*"host_peak_bytes":\([0-9]*\).*/\1/p' out) size=$(wc -c <m.dnn)
if sanitized; then
    skip "memory of 64 threads" "a sanitizer takes its own"
else
    [ "${took:-0}" -gt 0 ] && [ "$took" -lt $(((64 << 20) + size)) ]
    ok $? "in 64 MiB and the model: $took" "$(cat err)"
fi
same a.csv two.csv "the answers are those of two threads"
rm -f long.csv two.csv a.csv

# weights
awk -F, -v OFS=, '{ print $0, NR == 1 ? "w" : NR % 3 + 1 }' d.csv >w.csv
sed 's/d.csv/w.csv/; s/"c": "categorical"/"c": "categorical", "w": "weight"/' c.json >w.json
run dnn train w.json -o w.dnn --progress none
run dnn evaluate w.dnn w.csv
is_exit 0
err_lacks 'lacks the column of weights'
run dnn evaluate w.dnn d.csv
is_exit 0 "rows without their weights are measured"
err_has '"d.csv" lacks the column of weights "w": every row weighs 1'
run dnn predict w.dnn d.csv -o a.csv
is_exit 0
err_lacks 'lacks the column of weights' "predict needs none"
sed '2,$s/[^,]*$/0/' w.csv >idle.csv
run dnn evaluate w.dnn idle.csv
is_exit 65 "N14 rows that all weigh 0 are nothing to measure"
err_has 'error[E1235]'
sed '2,$s/[^,]*$/0.1/' w.csv >tenths.csv
run dnn evaluate w.dnn tenths.csv --json
is_exit 0 "rows that weigh a tenth each"
supports=$(grep -o '"support": *[0-9.]*' out | sed 's/.*: *//')
[ -n "$supports" ] && ! grep -q '\....' <<<"$supports"
ok $? "sums of weights have the digits of weights" "$supports"
sed '2,$s/[^,]*$/1e-30/' w.csv >tiny.csv
run dnn evaluate w.dnn tiny.csv --json
supports=$(grep -o '"support": *[0-9.e-]*' out | sed 's/.*: *//')
[[ $supports = *e-2* ]] && ! grep -qE '[0-9.]{9}' <<<"$supports"
ok $? "tiny weights are printed with their digits and no more" "$supports"

# a model of another encoding
awk -F, -v OFS=, '{ if (NR > 1) $3 = NR % 2 ? "M\374nchen" : "K\366ln"; print }' d.csv >latin.csv
iconv -f latin1 -t utf-8 latin.csv >utf8.csv
sed 's/d.csv/latin.csv/; s/"target"/"encoding": "latin1", "target"/' c.json >latin.json
run dnn train latin.json -o latin.dnn --progress none
run dnn predict latin.dnn latin.csv -o a.csv
is_exit 0
err_lacks 'valid UTF-8'
run dnn predict latin.dnn utf8.csv -o a.csv
is_exit 0 "a file in UTF-8 for a model in latin1"
err_has 'all text beyond ASCII in the input is valid UTF-8, and it is read as latin1' "is warned of"
run dnn predict latin.dnn d.csv -o a.csv
is_exit 0
err_lacks 'valid UTF-8' "ASCII is both"

# a byte that the encoding does not have spoils its row, as one that is no UTF-8 does
sed 's/latin1/cp1252/' latin.json >cp.json
dnn train cp.json -o cp.dnn --quiet 2>err
sed -n 1,6p latin.csv >ways.csv
dnn predict cp.dnn ways.csv --quiet >rows.want
sed '4s/^/\x81/' ways.csv >hole.csv
run dnn predict cp.dnn hole.csv --on-bad-row null --rejects r.csv
is "$STATUS $(sed -n '4p' out) $(sed 4d out | cksum)" "0 ,, $(sed 4d rows.want | cksum)" "a byte that cp1252 does not have"
is "$(sed -n 2p r.csv | cut -c1-66)" "4,1,,E1209,the byte 81 (hexadecimal) stands for nothing in cp1252," "is told with its place"
cat hole.csv | dnn predict cp.dnn --on-bad-row null --quiet >piped
same piped out "a byte that cp1252 does not have: the same through a pipe"
run dnn predict cp.dnn hole.csv
is_exit 65 "or stops"
err_has 'hole.csv:4:1: the byte 81 (hexadecimal) stands for nothing in cp1252'
err_has '= expected: text in cp1252, which is what the model or --encoding says'
err_has 'give --encoding "latin1" or "utf-8"'

# a comparison
run dnn evaluate m.dnn d.csv --better-than none.dnn
is_exit 66 "no other model"
err_lacks 'rows/s' "noticed at once"
sed 's/,one,/,unseen,/' d.csv >unseen.csv
mkfifo once.csv
run dnn evaluate m.dnn once.csv --better-than other.dnn
is_exit 64 "--better-than with a pipe, which can be read once"
err_has 'E1005' "  says so before it waits for the pipe"
run dnn evaluate m.dnn unseen.csv --better-than other.dnn --on auc
is "$(grep -c 'training did not see' err)" 1 "what there is to note about rows is said once"
grep -Eq '^gate auc better than other.dnn: (NOT )?met \([0-9.]+ against [0-9.]+, better by -?[0-9.e-]+ \(-?[0-9.e-]+ to -?[0-9.e-]+\)\)$' \
    out
ok $? "both values, and their difference" "$(cat out)"

# several files: each is matched by name on its own
awk -F, -v OFS=, '{ print NR == 1 ? "more" : NR, $4, $2, $3, $1 }' d.csv >turned.csv
run dnn predict m.dnn d.csv d.csv -o twice.csv --passthrough a,y
run dnn predict m.dnn d.csv turned.csv -o turned.out --passthrough a,y
is_exit 0 "a second file with its columns in another order"
same twice.csv turned.out "has the same answers"
err_has '1 column of the input that the model does not know is ignored: "more"'
sed 's/"b": "numeric"/"b": "ignore"/' c.json >ignores.json
dnn train ignores.json -o ignores.dnn -q
run dnn predict ignores.dnn turned.csv -o ignores.csv
err_has 'the model does not know is ignored: "more"' "a column of type ignore is known to the model"
run dnn predict m.dnn turned.csv d.csv -o all.csv --passthrough all
is_exit 65 "--passthrough all: a later file lacks a column of the first"
err_has 'd.csv: a later input lacks the column "more"'
# names with commas and quotes, as in CSV
sed '1s/.*/"a,x","b ""q""",c,y/' d.csv >odd.csv
sed 's/"a": "numeric", "b": "numeric"/"a,x": "numeric", "b \\"q\\"": "numeric"/; s/d\.csv/odd.csv/' c.json >odd.json
run dnn train odd.json -o odd.dnn --progress none
is_exit 0 "columns with a comma and quotes in their names"
run dnn predict odd.dnn odd.csv -o want.odd --passthrough all
run dnn predict odd.dnn odd.csv -o got.odd --passthrough '"a,x",b "q",c,"y"'
is_exit 0 "--passthrough names them as CSV does"
same want.odd got.odd "all of them"
run dnn predict odd.dnn odd.csv -o got.odd --passthrough '"b ""q"""'
is "$(head -n 1 got.odd | cut -d, -f1)" '"b ""q"""' "a quote stands twice"
for list in '"a,x' '"a,x"c' '"a,x"",c'; do
    run dnn predict odd.dnn odd.csv --passthrough "$list"
    is_exit 64 "--passthrough $list: 64"
    err_has "as in CSV"
done
run dnn predict odd.dnn odd.csv --passthrough a,x
is_exit 64 "without the quotes: 64"
err_has 'did you mean "a,x"? A name with a comma stands in double quotes'
tail -n +2 odd.csv >bare.csv
run dnn predict odd.dnn bare.csv -o got.odd --no-header --columns '"a,x",b "q",c,y' --passthrough all
is_exit 0 "--columns names them as well"
tail -n +2 want.odd >want.bare
same want.bare got.odd "--columns with quoted names: the same answers"
head -n 1 d.csv | cut -d, -f1,2 >short.csv
run dnn predict m.dnn d.csv short.csv -o short.out
is_exit 65 "a later file lacks a column of the model"
err_has 'short.csv: the data lack the column "c"'
dnn evaluate m.dnn d.csv d.csv 2>/dev/null >want
dnn evaluate m.dnn turned.csv d.csv 2>err >out
same out want "evaluate, too"

# a co-process: whole rows are answered while their writer waits, wherever it stops in between (pieces, and lines that are back)
pieces=($'a,b,c\n0.1,0.' 1 $'2,red\n-0.5,' 2 $'0.25,"bl\nu' 2 $'"\n0.75,0.5,one\r' 3 $'\n\n0.5,1,"re' 4 $'d"\n0.5,2,"r"' 5 $'"d"\n' 6
    '1,2,red' 6)
for ((i = 0; i < ${#pieces[@]}; i += 2)); do printf '%s' "${pieces[i]}"; done >talk.csv
run dnn predict m.dnn talk.csv -o talk.want
is_exit 0 "rows of a file"
check "the same rows, bit by bit" perl "$ROOT/tests/talk.pl" talk.out "$DNN" predict m.dnn - -- "${pieces[@]}"
same talk.want talk.out "have the same answers"
awk -F, -v OFS=, 'NR % 50 == 3 { $1 = "abc" } NR % 70 == 4 { $3 = "\"o\"ne" } NR % 90 == 5 { $3 = "\"x" NR "\n\"" } { print }' \
    d.csv >talk.csv
for mode in null skip; do
    dnn predict m.dnn talk.csv --on-bad-row $mode --rejects want.rejects >talk.want 2>want.err
    lines=$(wc -l <talk.want)
    check "rows that cannot be read, through a pipe: $mode" perl "$ROOT/tests/talk.pl" talk.out "$DNN" predict m.dnn - \
        --on-bad-row $mode --rejects talk.rejects -- "$(head -n 2 talk.csv)" 1 \
        "$(echo && tail -n +3 talk.csv)"$'\n' "$lines"
    same talk.want talk.out "the same answers"
    sed 's/standard input/talk.csv/' talk.rejects >pipe.rejects
    same want.rejects pipe.rejects "the same list of bad rows"
done

# what a killed run left beside its output goes, what others are writing stays
touch .a.csv.dnn-tmp-3fffff .a.csv.dnn-tmp-3ffffe-1 .b.csv.dnn-tmp-3fffff
living=".a.csv.dnn-tmp-$(printf %x $$)"
touch "$living" .r.csv.dnn-tmp-3fffff
run dnn predict m.dnn d.csv -o a.csv --on-bad-row skip --rejects r.csv
err_has '3 temporary files of a run that was killed removed'
is "$(ls -d .*dnn-tmp* | LC_ALL=C sort | tr '\n' ' ')" "$(printf '%s\n' "$living" .b.csv.dnn-tmp-3fffff | LC_ALL=C sort | tr '\n' ' ')" \
    "and nothing else"

# a device that fails is not a disk that is full
for fault in fsync:1:EIO write:1:EIO; do
    DNN_FAULT=$fault run "$HOOKED" predict m.dnn d.csv -o a.csv
    is_exit 74 "$fault"
    err_has 'the device failed'
    err_lacks 'free some space' "room is not what it lacks"
done
DNN_FAULT=write:1:ENOSPC run "$HOOKED" predict m.dnn d.csv -o a.csv
err_has 'free some space' "a full disk is told so"

# a terminal of 80 columns: the bar gives way, no number does
if command -v stty >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    for width in 80 60 40; do
        TERM=xterm script -qec "stty cols $width; '$DNN' train c.json -o bar.dnn --progress bar --set train.epochs=300 \
            --set train.early_stopping.patience=0 --set train.early_stopping.metric=accuracy" typescript >/dev/null 2>&1 </dev/null
        tr '\r' '\n' <typescript | grep '^epoch' | sed 's/\x1b\[K.*//' >lines
        awk -v most=$width 'length > most - 1 || $0 !~ /^epoch [0-9]+\/300.*, [0-9.:]+( s)? left$/ { bad = 1 } END { exit bad || !NR }' \
            lines
        ok $? "a bar in $width columns keeps the time that is left" "$(tail -n 3 lines)"
    done
else
    skip "a bar in a narrow terminal" "no script(1), or no terminal to be had"
fi
done_testing
