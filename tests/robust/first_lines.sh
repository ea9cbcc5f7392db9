#!/bin/bash
# first_lines.sh - files that lack their header at its place, or are no tables: init, check and predict name the remedy, and the
# command in it mends the file. Ids: C15, C26.
. "$(dirname "$0")/../tap.sh"
awk 'BEGIN { print "age,income,city,y"
    for (i = 0; i < 60; i++) printf "%d,%d.5,%s,%s\n", 20 + i % 41, 7 * i % 59, i % 3 ? "Rome" : "Oslo", i % 2 ? "yes" : "no" }' >a.csv
dnn init a.csv --target y --set model.preset=mlp --set train.epochs=1 --set backend.name=dnn_cpu -o a.json 2>/dev/null
dnn train a.json -o a.dnn --progress none --quiet 2>/dev/null
# mends FILE NAME: each command refuses the file, and the command in its help makes one that init reads
mends() {
    for command in "init $1 --target y -o no.json" "check a.json --set data.train=$1" "predict a.dnn $1"; do
        run dnn $command
        is_exit 65 "$2: ${command%% *}"
        fix=$(grep -o -m 1 -E "(tail -n|sed ')[^;]*(;[^;]*)*> ${1%.csv}.mended.csv" err)
        rm -f "${1%.csv}.mended.csv"
        eval "$fix"
        run dnn init "${1%.csv}.mended.csv" --target y -o new.json --force
        is_exit 0 "$fix"
    done
}
{ echo "Sales report, 2024"; echo; cat a.csv; } >title.csv
mends title.csv "a title above the header"
{ echo "# made by x"; echo "# on monday, at 5"; cat a.csv; } >hash.csv
mends hash.csv "comments above the header"
{ echo "Sales report,,,"; echo; cat a.csv; } >empty.csv
mends empty.csv "a title with nameless cells"
tr ',' ' ' <a.csv >blanks.csv
mends blanks.csv "blanks between the cells"
sed 's/,/   /g;s/^/  /' a.csv >wide.csv
mends wide.csv "many of them"
awk 'NR == 1 { print; next } { print "\"" NR - 1 "\"," $0 }' a.csv >r.csv
mends r.csv "R's row names"
awk 'NR == 1 { print; next } { print "\"" NR - 1 "\" " $0 }' blanks.csv >table.csv
mends table.csv "R's row names between blanks"
# is_not FORMAT TEXT: no table
is_not() {
    printf '%b' "$2" >other.csv
    run dnn init other.csv --target y -o no.json
    is_exit 65 "$1"
    err_has "error[E1212]: other.csv: is not CSV but $1"
}
is_not JSON '[{"age":1,"y":"no"},{"age":2,"y":"yes"}]\n'
is_not JSON '[\n  {"age":1,"y":"no"}\n]\n'
is_not JSON '{"age":1,"y":"no"}\n{"age":2,"y":"yes"}\n'
is_not HTML '\n<!DOCTYPE html>\n<html><body>404</body></html>\n'
is_not XML '<?xml version="1.0"?>\n<rows><r/></rows>\n'
is_not "a pointer of git-lfs" 'version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 123\n'
is_not ARFF '@relation x\n@attribute age numeric\n@data\n1,2\n'
{ printf '[a],{b\n'; tail -n +2 a.csv | cut -d, -f 1,4; } >bracket.csv
run dnn init bracket.csv --target '{b' -o b.json
is_exit 0 "a name may begin with a bracket"
done_testing
