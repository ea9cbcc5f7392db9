#!/bin/bash
# clock_forms.sh - times of the day, durations, and counts since 1970: init writes how they are read, and a model gives the answers of one
# that was trained on the same seconds, plainly written.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/forms.sh"
awk 'BEGIN { print "dep;took;iso;words;delta;us_time;ns_time;ts;log;tweet;stamp;y"
    for (i = 0; i < 200; i++) { a = i * 7919 % 100000; m = i * 37 % 1440; u = 1700000000 + i * 5003
        printf "%d:%02d;%d:%02d:%02d;PT%dH%dM;%dh %dm;%d days %02d:%02d:%02d;%d%06d;%d%06d000;%d.0;" \
            "2024-%02d-%02d 9:%02d:30,%03d +0200;Mon %s %02d 09:%02d:30 +0200 2024;2024%02d%02d07%02d30;%s\n",
        m / 60, m % 60,
            a / 3600, a / 60 % 60, a % 60, m / 60, m % 60, m / 60, m % 60, a / 86400, a / 3600 % 24, a / 60 % 60, a % 60,
            u, i * 4999, u, i * 4999, u, 1 + i % 12, 1 + i % 28, i % 60, i * 5 % 1000, substr("JanFebMarAprMayJunJulAugSepOctNovDec",
            i % 12 * 3 + 1, 3), 1 + i % 28, i % 60,
            1 + i % 12, 1 + i % 28, i % 60, (m > 700 ? "yes" : "no") } }' >a.csv
awk 'BEGIN { print "dep;took;iso;words;delta;us_time;ns_time;ts;log;tweet;stamp;y"
    for (i = 0; i < 200; i++) { a = i * 7919 % 100000; m = i * 37 % 1440; u = 1700000000 + i * 5003
        printf "%02d:%02d;%d;%d;%d;%d;%d.%06d;%d.%06d;%d;" \
            "2024-%02d-%02dT07:%02d:30.%03dZ;2024-%02d-%02dT07:%02d:30Z;2024-%02d-%02d 07:%02d:30;%s\n",
        m / 60, m % 60, a, m * 60, m * 60, a, u, i * 4999, u, i * 4999, u,
            1 + i % 12, 1 + i % 28, i % 60, i * 5 % 1000, 1 + i % 12, 1 + i % 28, i % 60, 1 + i % 12, 1 + i % 28, i % 60,
            (m > 700 ? "yes" : "no") } }' >plain.csv
run dnn init a.csv --target y --set model.preset=mlp -o a.json
is_exit 0 "init"
written a.json '"dep": "datetime"' '"took": {"type": "numeric", "format": "duration"}' '"iso": {"type": "numeric", "format": "duration"}' \
    '"words": {"type": "numeric", "format": "duration"}' '"delta": {"type": "numeric", "format": "duration"}' \
    '"us_time": {"type": "datetime", "format": "%q"}' '"ns_time": {"type": "datetime", "format": "%N"}' \
    '"ts": {"type": "datetime", "format": "%s"}' '"log": "datetime"' \
    '"tweet": {"type": "datetime", "format": "%a %b %d %H:%M:%S %z %Y"}' '"stamp": {"type": "datetime", "format": "%Y%m%d%H%M%S"}'
err_has 'durations such as "0:00:00" (line 2) in 200 cells, as seconds: "format": "duration"' "a note says what it saw"
sed 's/"train": "a.csv"/"train": "plain.csv"/; s/{"type": "numeric", "format": "duration"}/"numeric"/; s/%[qN]"/%s"/;
    s/{"type": "datetime", "format": "%[aY][^}]*}/"datetime"/' a.json >plain.json
alike a plain "the same seconds, plainly written: the same answers"
is "$(wc -l <a.out)" 201 "every row has an answer"
sed '5s/;PT[^;]*;/;soon;/' a.csv >b.csv
run dnn predict a.dnn b.csv -o b.out
is_exit 65 "what is no duration is a bad row"
err_has 'expected: a duration such as 1:20:00, PT1H20M or 1h 20m' "a bad duration: the error says which forms are read"
run dnn check a.json --set 'data.columns.dep={"type": "datetime", "format": "duration"}'
is_exit 64 "a date is no duration"
run dnn check a.json --set 'data.columns.took={"type": "numeric", "format": "%H:%M"}'
is_exit 64 "a number has no format of dates"
# minutes and seconds beside hours: nothing says which; a target in h:mm:ss is a number
perl -e 'print "lap,finish\n"; for my $i (0 .. 199) { my $a = $i * 7919 % 9000; my $t = $a < 3600 ? sprintf("%d:%02d", $a / 60,
    $a % 60) : sprintf("%d:%02d:%02d", $a / 3600, $a / 60 % 60, $a % 60); print "$t,0:", 10 + $i % 49, ":", 10 + $i % 50, "\n" }' >lap.csv
run dnn init lap.csv --target finish -o lap.json
err_has 'warning: column "lap": ignore: durations such as "0:00" (line 2)' "two forms of durations get a warning"
grep -q '"task": "regression"' lap.json && grep -qF '"finish": {"type": "numeric", "format": "duration"}' lap.json
ok $? "a target of durations is a regression" "$(cat lap.json)"
run dnn check lap.json --set 'data.columns.lap=categorical'
is_exit 0 "that training takes"
# words among dates and durations: missing in that column; too many of them, or numbers: a warning whose command reads the column
awk 'BEGIN { print "until;due;seen;run;open;y"
    for (i = 0; i < 300; i++) { d = sprintf("%02d", 1 + i % 28); m = sprintf("%02d", 1 + i % 12)
        printf "%s;%s;%s;%s;%s;%s\n", (i % 3 ? "ongoing" : "2024-" m "-" d), (i % 9 ? "2024-" m "-" d : "see " substr("abcdefgh", i % 8 + 1,
        1)),
            (i % 9 ? "2024-" m "-" d : 0), (i % 19 ? 20 + i % 9 ":" d ":" m : "DNF"), (i % 4 ? d "." m ".2024" : "offen"),
            (i % 2 ? "yes" : "no") } }' >words.csv
run dnn init words.csv --target y -o words.json
written words.json '"until": {"type": "datetime", "missing": ["ongoing"]}' \
    '"run": {"type": "numeric", "missing": ["DNF"], "format": "duration"}' \
    '"open": {"type": "datetime", "missing": ["offen"], "format": "%d.%m.%Y"}' '"due": "ignore"' '"seen": "ignore"'
err_has 'column "until": "ongoing" in 200 of 300 cells (the first at line 3) is no date: taken as missing' \
    "a word of dates is told with count and line"
err_has 'warning: column "due": ignore: dates but for 34 of 300 cells, the first "see a" at line 2' "many words are told"
err_has 'warning: column "seen": ignore: dates but for 34 of 300 cells, such as "0"' "numbers among dates are told"
eval "run dnn init words.csv --target y -o words.json $(grep -o -- "--set 'data.columns.seen=[^']*'" err)"
run dnn train words.json --progress none --quiet --set model.preset=mlp --set train.epochs=1 --set backend.name=dnn_cpu \
    --set output.model=words.dnn
is_exit 0 "the command of the warning makes a config that trains"
done_testing
