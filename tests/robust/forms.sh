#!/bin/bash
# forms.sh - how cells are written: thousands, units, dates by format. init proposes them where a cell proves the reading, and warns
# where none does; a column that changes its form is a bad row. Ids: C19.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/forms.sh"
awk 'BEGIN { print "price;share;dist;when;us;amb;y"
    for (i = 0; i < 200; i++) printf "$%d,%03d.%02d;%d.5%%;%d km;%02d.%02d.2024;%d/%d/2024 %d:05 PM;%d,%03d;%s\n", 1 + i % 9, i * 37 % 1000,
        i % 100, i % 90, 10 + i % 70, 1 + i % 28, 1 + i % 12, 1 + i % 12, 1 + i % 28, 1 + i % 12, 1 + i % 9, i * 37 % 1000,
        (i % 9 > 4 ? "yes" : "no") }' >a.csv
awk -F';' 'BEGIN { split("0,31,59,90,120,151,181,212,243,273,304,334", before, ",") } NR == 1 { print; next }
    { gsub(/[$,%]| km/, ""); split($4, d, "."); split($5, u, /[ :\/]/)
    printf "%s;%s;%s;2024-%s-%s;2024-%02d-%02dT%02d:05;%s;%s\n", $1, $2, $3, d[2], d[1], u[1], u[2], u[4] % 12 + 12, $6, $7 }' \
    a.csv >plain.csv
run dnn init a.csv --target y --set model.preset=mlp -o a.json
is_exit 0 "init"
written a.json '"thousands": ","' '"unit": ["$"]' '"unit": ["%"]' '"unit": ["km"]' '"format": "%d.%m.%Y"' \
    '"format": "%m/%d/%Y %I:%M %p"' '"amb": "ignore"'
err_has 'numbers such as "$1,000.00" (line 2) in 200 cells: "thousands": ",", "unit": "$"' "a note says what it saw"
err_has 'warning: column "amb": ignore: nothing proves whether the "," in "1,000" groups digits' "what nothing proves gets a warning"
err_has '"thousands": ","}' "a form that nothing proves: the key that would read it"
sed 's/"train": "a.csv"/"train": "plain.csv"/; s/"when": {[^}]*}/"when": "datetime"/; s/"us": {[^}]*}/"us": "datetime"/' a.json |
    sed '/"thousands"/d; s/"type": "numeric",/"type": "numeric"/; /"unit"/d' >plain.json
alike a plain "the same numbers and dates, plainly written: the same answers"
is "$(wc -l <a.out)" 201 "every row has an answer"
sed '5s/ km/ mi/' a.csv >b.csv
run dnn predict a.dnn b.csv -o b.out
is_exit 65 "another unit is a bad row"
err_has 'error[E1203]: b.csv:5:' "another unit: file and line"
err_has 'an amount, unit "km"' "what is expected is the column's own form"
sed '5s/[0-9]*\.[0-9]*\.2024/2024-01-02/' a.csv >b.csv
run dnn predict a.dnn b.csv -o b.out
is_exit 65 "another form of date is a bad row"
err_has 'error[E1223]: b.csv:5:'
err_has 'a date as "%d.%m.%Y", the column'"'"'s format'
err_has 'the model was trained with that "format"'
# the model of plain cells: what is written otherwise is a bad row, whose help names the key
bad() { # COLUMN SED HELP
    sed "5$2" plain.csv >b.csv
    run dnn predict plain.dnn b.csv -o b.out
    is_exit 65 "a plain column $1 that changes its form is a bad row"
    err_has "$3 in the entry of \"$1\" in data.columns reads such cells; this model was trained without it" \
        "a plain column $1 that changes its form: the help names the key"
}
bad share 's/;[0-9.]*;/;12.5%;/' '"unit": ["%"]'
bad share 's/;[0-9.]*;/;$1,234.50;/' '"thousands": ",", "unit": ["$"]'
bad when 's/2024-[0-9]*-[0-9]*;/31.12.2024;/' '"format": "%d.%m.%Y"'
bad when 's/2024-[0-9]*-[0-9]*;/01\/02\/2024;/' '"format": "%d/%m/%Y" (or "%m/%d/%Y")'
run dnn check a.json --set 'data.columns.when={"type": "datetime", "format": "%J"}'
is_exit 64 "a directive that does not exist"
run dnn check a.json --set 'data.columns.dist={"type": "numeric", "thousands": "x"}'
is_exit 64 "what cannot group digits"

# brackets, no-break blanks, seconds and milliseconds since 1970
awk 'BEGIN { print "bal;paid;fr;ts;slot;ms;code;y"
    for (i = 0; i < 200; i++) { a = i % 3 ? i * 7 % 90 ".25" : "(" i * 7 % 90 ".25)"
        printf "%s;%s$%d,%03d.50%s;%d\302\240%03d.75\302\240\342\202\254;%d;%d;%d000;%d;%s\n", a, i % 4 ? "" : "(", 1 + i % 9,
        i * 37 % 1000, i % 4 ? "" : ")",
            1 + i % 9, i * 37 % 1000, 1700000000 + i * 5003, 1700000040 + i * 3600, 1700000040 + i * 7260, 1700000000 + i * 37 % 83,
            (i % 9 > 4 ? "yes" : "no") } }' >e.csv
awk -F';' -v OFS=';' 'NR > 1 { gsub(/\302\240|\342\202\254/, "", $3); gsub(/[$,]/, "", $2); for (i = 1; i < 3; i++) if (sub(/^\(/, "-",
    $i)) sub(/\)/, "", $i) } { print }' e.csv >e.plain.csv
run dnn init e.csv --target y -o e.json
is_exit 0 "init of brackets and epochs"
written e.json '"bal": {"type": "numeric", "thousands": ","}' '"unit": ["$"]' '"thousands": "\u00a0"' \
    '"ts": {"type": "datetime", "format": "%s"}' '"slot": {"type": "datetime", "format": "%s"}' \
    '"ms": {"type": "datetime", "format": "%Q"}' '"code": "numeric"'
err_has 'column "ts": datetime: seconds since 1970, from 1700000000 to 1700995597, in 200 cells: "format": "%s"' "a note says what it saw"
perl -pe 's/"train": "e.csv"/"train": "e.plain.csv"/; s/, "thousands": "[^"]*"//g; s/, "unit": \[[^]]*\]//g' e.json >e.plain.json
alike e e.plain "brackets are negative numbers"
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 40; i++) print (i % 3 ? i ".5" : "(" i ".5") "," i % 7 "," i % 2 }' >open.csv
run dnn init open.csv --target y -o open.json
! grep -q thousands open.json
ok $? "a bracket that is not closed is no number"
awk 'BEGIN { print "t,b,y"; for (i = 0; i < 400; i++) print (i % 3 ? 1000 + i * 37 : "A/5 " i) "," i % 7 "," (i * i % 7 > 2) }' >most.csv
run dnn init most.csv --target y -o most.json
err_has 'note: column "t": ignore: 266 of 400 cells are numbers, 134 are not'
sed 's/A\/5 .*,\(.*\),/999999,\1,/; 5,40s/^[0-9]*,/call 112,/' most.csv >few.csv
run dnn init few.csv --target y -o few.json
err_has 'warning: column "t": ignore: 364 of 400 cells are numbers, 36 are not, the first "call 112" at line 5' \
    "a good column that few cells spoil: a warning"
err_has 'add a text that means missing ("call 112") to data.missing' "few cells that spoil a column: the key"
run dnn init few.csv --target y --set 'data.missing=["", "NA", "call 112"]' -o few.json --force
grep -qF '"t": "numeric"' few.json
ok $? "the key reads the column as numbers"
run dnn check most.json
err_has 'note: column "t": set aside (ignore), though most cells are numbers or dates; `dnn init` says which are not' \
    "reading repeats it in one line"
done_testing
