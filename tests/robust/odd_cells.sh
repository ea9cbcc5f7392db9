#!/usr/bin/env bash
# What init makes of cells that programs write in their own way, and of codes that look like numbers.
. "$(dirname "$0")/../tap.sh"
cd "$WORK"

# column NAME CELL..: a table with a column of these cells in turn, a number for %d; then init
column() {
    local name=$1 cell
    shift
    {
        printf '%s;x;y\n' "$name"
        for i in {1..120}; do
            cell=${*:$((1 + i % $#)):1}
            echo "${cell//%d/$((i * 37 % 1009))};$((i * 7 % 50));$([ $((i % 3)) = 0 ] && echo yes || echo no)"
        done
    } >t.csv
    run dnn init t.csv --target y -o t.json --force
}

for form in '#%d' '%d-A' 'No. %d' 'A-%d' '§%d' 'Order #%d' 'T%d-7' '[%d]'; do
    column code "$form"
    is_exit 0 "codes $form"
    err_lacks "warning" "codes such as $form bring no warning"
done
column code '%dA' '%dB' '%dC'
is_exit 0
err_lacks "warning" "seats bring no warning"
column size '%dKB' '%dMB'
err_has 'warning: column "size": ignore: numbers in a form that no key reads' "sizes of two units do"
column amount 'CHF %d’000.-'
err_has 'warning: column "amount": ignore' "amounts that are not read do"

printf 'price;x;y\n' >t.csv
for i in {1..120}; do
    printf '"¥%d,%03d";%d;%s\n' $((i % 9 + 1)) $((i * 37 % 1000)) $((i % 7)) "$([ $((i % 3)) = 0 ] && echo yes || echo no)"
done >>t.csv
run dnn init t.csv --target y -o t.json --force
line=$(grep -a 'if it groups them, --set' err)
bash -c "'$DNN' init t.csv --target y -o t.json --force --set ${line##*--set }" 2>/dev/null
run dnn train t.json -o t.dnn --force --set model.preset=mlp --set train.epochs=1
is_exit 0 "the key that is proposed for grouped digits has the unit" "$(cat t.json)"
grep -q '"unit"' t.json
ok $? "the config has the proposed unit" "$line"

{
    echo 'a;b;c;d;e;y'
    for i in {1..120}; do echo "$i/2$i;${i}x$((i % 7));$i-1$i;$i:9$i:$i;$i/1$i;$([ $((i % 3)) = 0 ] && echo yes || echo no)"; done
} >t.csv
run dnn init t.csv --target y -o t.json --force
is "$(grep -c 'in a form that no key reads' err)" 1 "warnings of one kind are one line"
err_has '"b" (1x1), "c" (1-11)' "the one line names the first cell of each column"

column temp '%d.5' '%d' '%d' '%d' '%d' '%d' '%d' '%d' '%d' '%d' '%d' 'inf'
err_has 'warning: column "temp": "inf" in 10 of 120 cells' "a few infinite cells drop no column"
grep -q '"missing": \["inf"\]' t.json
ok $? "they are missing" "$(cat t.json)"
day=(); for i in {10..28}; do day+=("$i/03/2024"); done
column day "${day[@]}" '99/99/9999' '14/04/2024' '15/05/2024'
err_has '"99/99/9999" in' "a date of nines is told"
grep -q '"missing": \["99/99/9999"\]' t.json
ok $? "a date of nines is missing" "$(cat t.json err)"
day=(); for i in {10..30}; do day+=("2024年03月${i}日"); done
column day "${day[@]}"
grep -q '"format": "%Y年%m月%d日"' t.json
ok $? "dates with the signs of year, month and day" "$(cat t.json err)"
day=(); for i in {10..30}; do day+=("2024년 3월 ${i}일"); done
column day "${day[@]}"
grep -q '"format": "%Y년 %m월 %d일"' t.json
ok $? "in Korean too" "$(cat t.json err)"
run dnn train t.json -o t.dnn --force --set model.preset=mlp --set train.epochs=1
is_exit 0 "they are read"

printf '"len" "grp" "y"\n"1" 1.5 "a" "yes"\n"2" 2.5 "b" "no"\n' >r.txt
run dnn init r.txt --target y
err_has "makes commas of them: sed" "blanks between quoted cells"
done_testing
