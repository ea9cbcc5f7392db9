#!/bin/bash
# quality.sh - scripts/quality.sh: the split by row, a line a training, pieces put together in the table, data that are not there.
. "$(dirname "$0")/../tap.sh"
if ! command -v python3 >/dev/null; then
    skip "scripts/quality.sh" "no python3"
    done_testing
fi
mkdir -p data/wine-quality out
perl -e 'srand 5; print "a,b,quality\n"; for (0 .. 99) { my ($a, $b) = (rand, rand);
    printf "%.4f,%.4f,%.4f\n", $a, $b, $a - $b + rand(.01) }' >data/wine-quality/winequality.csv
quality() { python3 "$ROOT/scripts/quality/main.py" --data data --folder out "$@"; }
export DNN PYTHONDONTWRITEBYTECODE=1
quality --rows linear --seeds 1,2 wine telco >lines 2>err
is "$?" 0 "two seeds of one row, and a set whose data are missing" "$(cat err)"
is "$(wc -l <out/wine-test.csv) $(wc -l <out/wine-valid.csv) $(wc -l <out/wine-train.csv)" "21 21 61" \
    "a fifth of the rows each are test and validation rows"
is "$(sed -n 2p out/wine-test.csv) $(sed -n 2p out/wine-valid.csv)" "$(sed -n '2p;3p' data/wine-quality/winequality.csv | paste -sd' ')" \
    "from row 0 and row 1 on"
is "$(cut -f1,2,3 out/results.tsv | paste -sd'|')" "wine	linear	1|wine	linear	2" "a line a training"
is "$(tail -n 1 lines)" "telco: skipped, telco-churn/Telco-Customer-Churn.csv is not there" "the missing set is named"
printf 'wine\tauto\t1\t0.601\t\t\t2.5\nwine\tpeer catboost e\t1\t0.60\t\t\t1.0\n' >more.tsv
quality --table out/results.tsv more.tsv >table 2>err
is "$?" 0 "the table of two files" "$(cat err)"
grep -q '^wine .* 0\.6010 .* 0\.6000\* .*CatBoost, the best of four$' table
ok $? "0.5 % above is level" "$(cat table)"
grep -q 'without mnist: 2.5 s beside 1.0 s, 2.50 times' table
ok $? "times beside CatBoost's" "$(cat table)"
quality --rows nothing wine >/dev/null 2>err
is "$?" 1 "an unknown row is refused"
done_testing
