#!/bin/bash
# metamorphic.sh - no row is lost, invented or moved: a file written in another way gives the same answers, byte for byte, and a
# model does not depend on threads, locale, time zone, folder or umask. Files are generated from a fixed seed; SEED=n for
# others. Ids: C03 C07 C08 C11 C13 C29 D03 D10 N15.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
SEED=${SEED:-20}
FILES=${FILES:-30}
make_leads leads.csv 800 "$SEED"
make_leads_model m.dnn
want=$(digest m.dnn)
make_leads new.csv 1500 $((SEED + 1)) bare
dnn predict m.dnn new.csv >new.out 2>err || cat err
is "$(wc -l <new.out)" 1501 "rows out == rows in"
awk -F, 'NR > 1 && $1 != sprintf("L%05d", NR - 1) { exit 1 }' new.out
ok $? "in their order"

# rewrite SEED FORM...: writes new.csv in another way; the forms say what may change
cat >rewrite.pl <<'PERL'
use strict; use warnings;
my ($seed, %form) = (shift, map { $_ => 1 } @ARGV);
sub draw { $seed = $seed * 16807 % 2147483647; return $seed % shift }
local $/; my $text = <STDIN>; my @rows; pos($text) = 0;
while (pos($text) < length $text) {
    my @row;
    while ($text =~ /\G("(?:[^"]|"")*"|[^,\n]*)([,\n])/gc) {
        my ($cell, $end) = ($1, $2);
        if ($cell =~ s/^"(.*)"$/$1/s) { $cell =~ s/""/"/g }
        push @row, $cell; last if $end eq "\n";
    }
    push @rows, \@row;
}
my @order = 0 .. $#{$rows[0]};
if ($form{order}) { for (my $i = @order; --$i;) { my $j = draw($i + 1); @order[$i, $j] = @order[$j, $i] } }
my @extra = $form{extra} ? map { draw(@order + 1) } 1 .. 2 : ();
my $crlf = $form{crlf} ? "\r\n" : "\n";
print "\xef\xbb\xbf" if $form{bom};
for my $n (0 .. $#rows) {
    my @row = @{$rows[$n]}[@order];
    my $k = 0; splice @row, $_, 0, $n ? ("", "x,y", "1\n2", "q\"q")[draw(4)] : "extra" . $k++ for @extra;
    for (@row) {
        my $must = /[",\n\r]|^[ \t]|[ \t]$/;
        next unless $must || $form{quotes} && draw(2);
        s/"/""/g; $_ = "\"$_\"";
    }
    for (@row) { $_ = " " x draw(3) . $_ . "\t" x draw(2) if $form{blanks} && !/^"/ }
    print $form{blank} && draw(5) == 0 ? $crlf : "", join(",", @row);
    print $form{mixed} ? ("\n", "\r\n")[draw(2)] : $crlf unless $form{cut} && $n == $#rows;
}
PERL
bad=""
forms=(crlf mixed bom quotes order extra blanks blank cut)
for ((i = 0; i < FILES; i++)); do
    pick=()
    for ((k = 0; k < ${#forms[@]}; k++)); do [ $(((i * 7 + k * k + (i >> k)) % 3)) -ne 0 ] || pick+=("${forms[k]}"); done
    [ $i -ge ${#forms[@]} ] || pick=("${forms[i]}")
    perl rewrite.pl $((SEED + i + 1)) "${pick[@]}" <new.csv >r.csv
    "$DNN" predict m.dnn r.csv >r.out 2>err || bad+="$i ${pick[*]}: $(grep error err) "
    cmp -s new.out r.out || bad+="$i ${pick[*]}: other answers; "
    [ $i -ge ${#forms[@]} ] || { [ -z "$bad" ]; ok $? "C03 C07 C08 C11 C13 D03 form ${pick[*]}: the same answers" "$bad"; }
done
[ -z "$bad" ]
ok $? "$FILES files written in mixtures of these forms: the same answers" "$bad"

# training reads the same rows from every form
dnn predict m.dnn leads.csv >leads.out 2>err
bad=""
for form in crlf mixed bom quotes order extra blank cut; do
    perl rewrite.pl $((SEED + 5)) $form <leads.csv >t.csv
    "$DNN" train leads.json -o t.dnn --set data.train=t.csv --progress none 2>err || bad+="$form: $(grep error err) "
    # the config inside the model names its training file, so the answers are what is compared
    "$DNN" predict t.dnn leads.csv >t.out 2>err
    cmp -s leads.out t.out || bad+="$form: other answers; "
done
[ -z "$bad" ]
ok $? "training on each form gives the same network" "$bad"

# cut at 20 places and put together again (records, not lines: cells hold line ends)
perl -e 'local $/; open my $f, "<", "new.csv"; my $t = <$f>; my $n = 0; $t =~ s/\A([^\n]*\n)//; my $head = $1;
    my @r; push @r, $1 while $t =~ /\G((?:"(?:[^"]|"")*"|[^"\n])*\n)/gc;
    my $seed = shift; my @at = (0, 1, @r - 1, scalar @r); while (@at < 24) { $seed = $seed * 16807 % 2147483647; push @at, $seed % @r }
    @at = sort { $a <=> $b } @at; for my $i (1 .. $#at) { open my $o, ">", sprintf "part%02d.csv", $i;
    print $o $head, @r[$at[$i - 1] .. $at[$i] - 1] }' "$SEED"
bad=""
head -n 1 new.out >joined.out
for part in part*.csv; do
    "$DNN" predict m.dnn "$part" >p.out 2>err || bad+="$part: $(grep error err); "
    tail -n +2 p.out >>joined.out
done
[ -z "$bad" ]
ok $? "D10 $(ls part*.csv | wc -l) pieces are answered" "$bad"
same new.out joined.out "D10 cut and put together: the same bytes"
dnn predict m.dnn part*.csv >all.out 2>err
same new.out all.out "D10 the pieces as one list of files"
for batch in 1 2 7 64 1000; do
    dnn predict m.dnn new.csv --batch-size $batch >b.out 2>err
    same new.out b.out "batches of $batch rows"
done
for threads in 1 2 3 7; do
    dnn predict m.dnn new.csv --threads $threads >b.out 2>err
    same new.out b.out "prediction with $threads threads"
done
dnn predict m.dnn - <new.csv >b.out 2>err
same new.out b.out "from standard input"
{ while IFS= read -r line; do printf '%s\n' "$line"; done <new.csv; } | dnn predict m.dnn - >b.out 2>err
same new.out b.out "from a pipe that gives line by line"

for threads in 1 2 3; do
    dnn train leads.json -o t.dnn --threads $threads --progress none 2>err
    is "$(digest t.dnn)" "$want" "N15 training with $threads threads: the same model"
done
locales=$(locale -a 2>/dev/null | grep -iE 'utf-?8' | head -n 3)
for locale in de_DE.UTF-8 tr_TR.UTF-8 fr_FR.UTF-8 ar_EG.UTF-8 C.UTF-8 POSIX $locales; do
    env LC_ALL="$locale" LANG="$locale" LANGUAGE="$locale" "$DNN" train leads.json -o t.dnn --progress none 2>err
    is "$(digest t.dnn)" "$want" "C29 locale $locale: the same model"
    env LC_ALL="$locale" "$DNN" predict m.dnn new.csv >b.out 2>err
    same new.out b.out "C29 locale $locale: the same answers"
done

# the positive label: folds that choose a penalty in small data do not depend on it
perl -e 'srand 2; print "a,b,y\n"; for (1 .. 60) { my ($a, $b) = (rand, rand); printf "%.4f,%.4f,%s\n", $a, $b, $a + $b + rand > 1.5 ?
    "yes" : "no" }' >few.csv
for positive in yes no; do
    echo '{"task": "binary", "data": {"train": "few.csv", "target": "y",
        "positive": "'$positive'", "columns": {"a": "numeric", "b": "numeric"}}, "model": {"preset": "linear"}}' >few.json
    dnn train few.json -o few.dnn --force --quiet
    dnn predict few.dnn few.csv --quiet | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "probability_yes") k = i } {
        print $k }' >few.$positive
done
same few.yes few.no "the positive label does not matter to a linear model of few rows"

for zone in UTC Asia/Kolkata America/St_Johns Pacific/Apia :nowhere; do
    env TZ="$zone" "$DNN" train leads.json -o t.dnn --progress none 2>err
    is "$(digest t.dnn)" "$want" "C29 time zone $zone: the same model"
done
(umask 000 && dnn train leads.json -o t.dnn --progress none) 2>err
is "$(digest t.dnn)" "$want" "C29 umask 000: the same model"
mkdir -p "another folder/x"
cp leads.csv leads.json "another folder/x"
(cd / && dnn train "$WORK/another folder/x/leads.json" -o "$WORK/t.dnn" --progress none) 2>err
is "$(digest t.dnn)" "$want" "C29 another folder and working folder: the same model"
done_testing
