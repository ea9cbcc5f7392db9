#!/bin/bash
# long_init.sh - init finds sequences with a row a step where names and cells prove it, and trains and answers from its config
# unchanged; ordinary tables, sorted in any way, stay tables.
. "$(dirname "$0")/../tap.sh"
# Series of 12 to 17 steps. KIND: what is to be learned; PLACE: how a row says its step.
make_long() { # KIND PLACE [SERIES]
    perl -e 'my ($kind, $place, $n) = @ARGV; my $seed = 3;
        sub next_of { $seed = $seed * 16807 % 2147483647; return $seed % $_[0] }
        print "machine,", $place eq "date" ? "visit_date" : "t", ",load,mode,y\n";
        for my $s (1 .. $n) { my ($up, $last) = (next_of(2), 0); for my $t (0 .. 11 + next_of(6)) {
            my $load = ($up ? 1 : -1) * $t + next_of(100) / 50; my $mode = ("low", "mid", "high")[next_of(3)];
            my $step = $place eq "date" ? sprintf("2024-%02d-%02d", 1 + int($t / 28), 1 + $t % 28) : $place eq "tens" ?
            10 * $t : $place eq "own" ? $t + $s * 37 % 11 + $s / 100 : $t;
            my %y = (group => $up ? "rises" : "falls", tagging => (qw(a b c))[$last], flag => $last > 0 ? "yes" : "no",
                value => $load / 2, level => $up * 2.5 + $s % 40 / 100, tail => "");
            print join(",", "m$s", $step, $load, $mode, $y{$kind}), "\n"; $last = {low => 0, mid => 1, high => 2}->{$mode} } }' \
        "$1" "$2" "${3:-40}"
}
long() { # NAME KIND PLACE TASK LABEL
    make_long "$2" "$3" >d.csv
    run dnn init d.csv --target y -o d.json --force
    is_exit 0 "$1: init"
    err_has "rows are steps of 40 sequences" "says what it saw"
    ok "$(grep -qF "\"task\": \"$4\"" d.json && grep -qF "\"label\": \"$5\"" d.json && grep -qF '"window": 17' d.json; echo $?)" \
        "$4, a label a $5, windows of the longest" "$(cat d.json)"
    run dnn train d.json -o d.dnn --set train.epochs=2 --quiet --force
    is_exit 0 "train"
    run dnn predict d.dnn d.csv -o out.csv
    is_exit 0 "predict"
    if [ "$5" = row ]; then cut -d, -f1,2 d.csv; else perl -F, -lane 'print $l if $. > 1 && $F[0] ne $g; ($g, $l) = ($F[0], "$F[0],$F[1]");
        print $l if $. == 1 || eof' d.csv | sed 's/^\(machine\|m[0-9]*\),.*/\1/' | uniq; fi >want
    if [ "$5" = row ]; then cut -d, -f1,2 out.csv; else cut -d, -f1 out.csv; fi >have
    same want have "a line for each $5"
}
long "a label a group" group number binary group
long "a label a row" tagging date tagging row
long "a row is one of two" flag tens binary row
long "numbers by row" value number regression row
long "a number a group" level date regression group
long "each begins at a time of its own" group own binary group
run dnn init d.csv --target y -o d.json --force --set data.sequence=null
ok "$(grep -q '"sequence": {' d.json; [ $? = 1 ]; echo $?)" "--set data.sequence=null: rows of a table" "$(cat d.json)"
run dnn init d.csv --target y -o d.json --force --set data.columns.machine=group
ok "$(grep -q '"sequence"' d.json; [ $? = 1 ]; echo $?)" "a --set says what the column is: a table" "$(cat d.json)"
run dnn init d.csv --target y -o d.json --force --set data.sequence.window=8
ok "$(grep -q '"window": 8' d.json && grep -q '"group": "machine"' d.json; echo $?)" "a --set of the window beside it" "$(cat d.json)"

# tables that look a little like it
table() { # NAME PERL [HINT]: what is said of columns whose names fit
    perl -e 'my $seed = 5; sub next_of { $seed = $seed * 16807 % 2147483647; return $seed % $_[0] }
        sub day { sprintf "20%02d-%02d-%02d", 20 + int($_[0] / 336), 1 + int($_[0] / 28) % 12, 1 + $_[0] % 28 }
        sub line { print join(",", @_, next_of(1000) / 10, next_of(2) ? "yes" : "no"), "\n" } '"$2" >table.csv
    run dnn init table.csv --target y -o t.json --force
    is_exit 0 "$1: init"
    ok "$(grep -q '"sequence"' t.json; [ $? = 1 ]; echo $?)" "is a table" "$(cat t.json)"
    if [ -n "${3:-}" ]; then
        err_has "may be the group and the order of sequences, but $3" "tells what speaks against it"
    else
        err_lacks "read as a table"
    fi
}
table "a customer a row" 'print "customer_id,signup_date,amount,y\n"; line($_, day($_)) for 1 .. 400'
table "sorted by city and customer" 'print "city,customer_id,amount,y\n"; for my $c (1 .. 20) { line("c$c", 100 * $c + $_) for 1 .. 20 }'
table "orders of customers, on any days" 'print "customer_id,order_date,amount,y\n";
    for my $c (1 .. 30) { my $d = next_of(50); line("k$c", day($d += 1 + next_of(60))) for 1 .. 12 }' "the steps of the order are unequal"
table "a time that goes on from one to the next" 'print "session,time,amount,y\n"; line(int($_ / 20), $_) for 0 .. 399'
table "groups that stand apart" 'print "station,step,amount,y\n"; for my $s (0 .. 19) { line("s$_", $s) for 0 .. 19 }' \
    "the rows of a group stand apart"
table "names that speak of no sequence" 'print "city,price,amount,y\n"; for my $s (1 .. 20) { line("c$s", 5 * $_) for 0 .. 19 }'
table "an order that falls" 'print "machine,t,amount,y\n"; for my $s (1 .. 20) { line("c$s", $_ * 7 % 20) for 0 .. 19 }' \
    "the order falls within a group"
run dnn train t.json --set data.sequence.group=machine --set data.sequence.order=t --set data.sequence.unordered=sort --set train.epochs=2 \
    -o t.dnn --quiet --force
is_exit 0 "the config that the note proposes trains"
table "rows of few groups" 'print "machine,t,amount,y\n"; for my $s (1 .. 5) { line("c$s", $_) for 0 .. 19 }'
done_testing
