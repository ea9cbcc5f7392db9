#!/bin/bash
# dated.sh - tables of customers and of days: init warns of columns whose values come again and notes the order of a date, each with the
# key that splits by it; train tells a target that changes with a date. No word about categories and dates of birth.
. "$(dirname "$0")/../tap.sh"
table() { # NAME EXPRESSION: a file of a column and y; i is the row, v = i * 7 % 100 a value that ten rows have
    awk -v name="$1" \
        "BEGIN { srand(3); print name \",x,y\"; for (i = 0; i < 1000; i++) { v = i * 7 % 100
            print $2 \",\" i % 13 \",\" (rand() > 0.5 ? \"yes\" : \"no\") } }" >t.csv
    run dnn init t.csv --target y --set model.preset=linear "${@:3}" -o t.json --force
}
repeats() {
    table "$@"
    is "$(grep -c "warning: column \"$1\": .*values come again, in .* rows: .*--set data.columns.$1=group --set data.split.method=group" \
        err)" 1 "rows of one $1 in both parts: $2"
}
silent() { table "$@"; is_exit 0; err_lacks "come again" "no word about $1: $2"; }
repeats customer_id '"C" (1000 + v)'
repeats id 'sprintf("%06d", v * 37)'
repeats patient 'v + 1000'
repeats client '(v % 2 ? "K" : "") (1000 + v)'
repeats hash 'sprintf("%08x%08x", v * 92821 + 1, v * 31337 + 7)'
repeats code9 'sprintf("%08x-0000-4000-8000-%012x", v * 92821 + 1, v)'
repeats contact '"user" v "@mail.example.com"'
repeats userId '"U" int(i / 2)'
repeats AccountNo '"A-" int(i / 3) % 300'
silent city 'sprintf("%c%c-ville", 97 + v % 26, 97 + int(v / 26))'
silent product '"P" v'
silent segment_id '"S" v % 9'
silent zip 'sprintf("%05d", v * 97)'
silent customer_id '"C" i'
silent customer_age '18 + v % 60'
table customer_id '"C" (1000 + v)' --set data.columns.customer_id=group
is_exit 0
err_lacks "come again" "a column of type group: no word of values that come again"
is "$(grep -c '"method": "group"' t.json)" 1 "  by which the rows are split"

# dates: days from 2020-01-01
dates() { # NAME EXPRESSION
    perl -MPOSIX=strftime -e 'my ($name, $of) = @ARGV; print "$name,x,y\n"; for my $i (0 .. 999) { my $d = eval $of;
        print((defined $d ? strftime("%Y-%m-%d", gmtime(1577836800 + 86400 * $d)) : ""), ",", $i % 13, ",", ($i * 31 % 97 > 50 ?
        "yes" : "no"), "\n") }' "$1" "$2" >d.csv
    run dnn init d.csv --target y --set model.preset=linear "${@:3}" -o d.json --force
}
told='judge it on the latest ones: --set data.split.method=time'
dates date '$i'
err_has "note: the rows are in the order of column \"date\": if the model answers rows that come later than these, $told" \
    "the order of the only date"
dates date '1000 - $i'
err_has "note: the rows are in the order of column \"date\"" "  the latest first"
dates day '$i % 20 ? int($i / 5) : undef'
err_has "note: the rows are in the order of column \"day\"" "the order of a date with missing cells"
dates date '$i * 7 % 200'
err_has "note: several rows have the same day in column \"date\": if the model answers" "days that come again"
dates date '$i' --set data.split.method=time
is_exit 0
err_lacks 'in the order of' "data.split.method given: no word of the order"
is "$(grep -c '"method": "time"' d.json)" 1 "data.split.method given: the config has it"
for name in date_of_birth dob birthday; do
    dates $name '$i * 7919 % 15000 - 20000'
    is_exit 0
    err_lacks data.split.method=time "no word about $name"
done
dates date '$i * 7919 % 15000 - 15000'
is_exit 0
err_lacks data.split.method=time "dates over a life: no split by time"
dates date '$i'
perl -pe 's/^/$. == 1 ? "birth," : "1980-01-" . sprintf("%02d,", 1 + $. * 17 % 28)/e' d.csv >both.csv
run dnn init both.csv --target y
err_has '--set data.split.method=time --set data.split.column=date' "of two dates the one in order"

# a target that changes with the date
shares() { # NAME: the share of yes goes from 0.1 to 0.4
    perl -pe 'BEGIN { srand(7) } s/(yes|no)$/rand() < 0.1 + 0.3 * $. \/ 1000 ? "yes" : "no"/e' d.csv | sed "1s/date/$1/" >c.csv
}
train() { run dnn train d.json -o d.dnn --force --set data.train=c.csv --set train.epochs=1 "$@"; }
dates date '$i * 7919 % 1000'
train --set data.train=d.csv
is_exit 0
err_lacks 'the target changes with' "a target that does not change"
dates date '$i'
shares date
train
err_has 'warning: the target changes with "date" (share of "yes" 0.' "one that does is told by train"
err_has 'the latest rows with --set data.split.method=time --set data.split.column=date' "a target that changes: the warning names the key"
run dnn check d.json --set data.train=c.csv
err_has 'the target changes with "date"' "a target that changes is told by check"
train --set data.split.method=time
is_exit 0
err_lacks 'the target changes with' "a split by time: no word of a target that changes"
shares dob
run dnn init c.csv --target y --set model.preset=linear -o d.json --force -q
train
is_exit 0
err_lacks 'the target changes with' "a date of birth: no word of a target that changes"
done_testing
