#!/bin/bash
# error_ids.sh - some test provokes every id of src/base/errors.def: those that need a machine in trouble here; then a count
# over all tests. An id counts in the output of a golden case, in a script outside comments, or by its name in a unit test. Ids:
# F01 F04 F08 F10 F17 C20 C27 S05.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 200
make_leads_model m.dnn

says() { # says CODE ID NAME: what the last run ended with
    is_exit "$1" "$3: $1"
    err_has "error[$2]" "$3: $2"
}
# E1233: more categories than a column may have, all kept
awk 'BEGIN { print "c,y"; for (i = 0; i < 1048580; i++) print i ",", i % 2 }' | tr -d ' ' | sed '2,$s/,/k,/' >many.csv
cat >many.json <<'JSON'
{"task": "binary", "data": {"train": "many.csv", "target": "y", "columns": {"c": {"type": "categorical", "min_count": 1}},
  "split": {"valid": 0, "test": 0}},
 "model": {"preset": "linear"}, "train": {"epochs": 1}, "backend": {"name": "dnn_cpu"}}
JSON
run dnn check many.json
says 65 E1233 "1,048,577 categories"
rm many.csv
# E1421: the weights are as large as float32 allows (what is 0 may be none)
perl "$ROOT/tests/resign.pl" m.dnn huge.dnn '/"members.0.layers.0.weight".*?\[(\d+),\d+\]\}/ and $main::at = $1;
    /.*"members.0.layers.\d+.weight":.*?\[\d+,(\d+)\]\}/s and $main::end = $1' \
    'substr($_, $main::at, $main::end - $main::at) =~ s/(.{4})/$1 eq "\0\0\0\0" ? $1 : pack("f<", 3e38)/gse'
run dnn predict huge.dnn leads.csv -o x.out
says 65 E1421 "an answer that is not a number"
run dnn predict huge.dnn leads.csv -o x.out --on-bad-row null --null NA
is_exit 0 "such rows can be left without an answer"
# E1603: a file whose reading fails
run dnn predict m.dnn /proc/self/mem -o x.out
says 74 E1603 "reading fails"
run dnn predict m.dnn leads.csv -o /dev/full
says 74 E1604 "F17 writing to a full device"
dnn predict m.dnn leads.csv >/dev/full 2>err
STATUS=$?
says 74 E1604 "F17 standard output is a full device"
dnn help >/dev/full 2>err
is $? 74 "F17 a page of help on a full device"
dnn schema >/dev/full 2>err
is $? 74 "F17 the schema on a full device"
rm -f x.out
run bash -c "ulimit -f 1; exec '$DNN' predict m.dnn leads.csv -o x.out"
says 74 E1604 "F04 a limit on the size of files"
[ ! -e x.out ] && [ -z "$(find . -name '*dnn-tmp*')" ]
ok $? "F04 nothing is left"
run env DNN_FAULT=rename:1:EXDEV "$HOOKED" predict m.dnn leads.csv -o x.out
says 74 E1606 "F08 the rename fails"
run env DNN_FAULT=write:1:ENOSPC "$HOOKED" predict m.dnn leads.csv -o x.out
says 74 E1604 "F01 no space"
run bash -c "ulimit -n 4; exec '$DNN' predict m.dnn leads.csv -o x.out"
says 71 E1607 "F10 no descriptors"
run dnn predict m.dnn leads.csv -o none/x.out
says 73 E1605 "no folder"
# S05, E1608: nobody reads on; quiet, and nothing on the disk
make_leads long.csv 20000 4 bare
dnn predict m.dnn long.csv 2>err | head -n 1 >/dev/null
is "${PIPESTATUS[0]}" 141 "S05 the reader goes away: 141"
err_lacks "error[E1608]" "S05 quietly"
if [ "$(id -u)" -eq 0 ] && tables=$(dirname "$(ls -d /usr/lib*/*/gconv/CP1252.so /usr/lib*/gconv/CP1252.so 2>/dev/null | head -n 1)") &&
    [ "$tables" != . ] &&
    unshare -m mount -t tmpfs none "$tables" 2>/dev/null; then
    run unshare -m sh -c "mount -t tmpfs none '$tables' && exec '$DNN' train leads.json -o x.dnn --set data.encoding=cp1252"
    says 69 E1609 "a system without conversions"
else
    skip "E1609 a system without conversions" "mounting is not permitted here"
fi
run env DNN_FAULT=alloc:5 "$HOOKED" predict m.dnn leads.csv
says 71 E1701 "no memory"
run dnn predict m.dnn leads.csv --backend dnn_gpu --device 99
[ $STATUS -eq 0 ] || [ $STATUS -eq 69 ]
ok $? "a GPU that is not there: the CPU with a warning, or 69" "exit $STATUS"

# the count
perl - "$ROOT" >ids <<'PERL'
use strict; use warnings;
my $root = shift; my (@ids, %name, %seen);
open my $def, '<', "$root/src/base/errors.def" or die;
while (<$def>) { if (/^ERROR\((\d+),\s*(\w+)/) { push @ids, $1; $name{$2} = $1 } }
for my $file (glob("$root/tests/*/*.sh $root/tests/*/*.case $root/tests/*/*.c")) {
    open my $in, '<', $file or next;
    while (<$in>) {
        if ($file =~ /\.case$/) { $seen{$1} = 1 while /^[!>].*(?:error\[|"id":")E(\d{4})/g }
        elsif ($file =~ /\.sh$/) { next if /^\s*#/; $seen{$1} = 1 while /E(\d{4})/g }
        else { while (/ERR_(\w+)/g) { $seen{$name{$1}} = 1 if $name{$1} } }
    }
}
print "E$_ ", $seen{$_} ? "seen" : "missing", "\n" for @ids;
PERL
[ "$(wc -l <ids)" -gt 60 ]
ok $? "$(wc -l <ids) ids"
[ -z "$(grep missing ids)" ]
ok $? "every one is provoked by a test" "$(grep missing ids)"
# every code of the contract that a CPU can reach stands in a golden case or a script
for code in 64 65 66 69 71 73 74 75 76 77 78 80 82 130 141 143; do
    grep -qE "(^\? $code\$)|(\b(is_exit|says|refused|is [^ ]+|expect) $code\b)|\b$code\b" "$ROOT"/tests/golden/*.case \
        "$ROOT"/tests/robust/*.sh "$ROOT"/tests/fault/*.sh
    ok $? "exit code $code is in a test"
done
done_testing
