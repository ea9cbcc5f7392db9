#!/bin/sh
# check_catalogue.sh - tests/CATALOGUE has an id, a fault in words and its tests on each line. Fails when the ids of a family have a
# gap, a line has no words or no test, a file does not exist, no check in it names the id, or a test names an id without a line. TAP.
# A check names an id: in a shell script by a line with a check of tests/tap.sh or a quoted name; in C by a string, or a comment at
# most three lines above a check or a row of cases; in a golden file by a comment at most three lines above a command.
cd "$(dirname "$0")/.." || exit 1
perl - <<'PERL'
use strict; use warnings;
my $shell = qr/\b(is_exit|err_has|err_lacks|out_has|ok|check|same|is|skip|no_leftovers)\b|["']/;
my $c = qr/^\s*(\{|"|refused?\(|fault\(|(ok|is_int|is_string|is_near|tap_skip)\()|\b(ok|is_int|is_string|is_near)\(/;
sub names { # does a check of the file name the id?
    my ($file, $id, @lines) = @_;
    for my $i (0 .. $#lines) {
        next unless $lines[$i] =~ /\b$id\b/;
        my @below = grep { defined } @lines[$i + 1 .. $i + 3];
        if ($file =~ /\.case$/) { return 1 if $lines[$i] =~ /^#/ && grep { /^\$ / } @below }
        elsif ($file =~ /\.c$/) {
            return 1 if $lines[$i] =~ /"(?:[^"\\]|\\.)*\b$id\b/ || $lines[$i] =~ m{^\s+/\*} && grep { /$c/ } @below;
        } else { return 1 if $lines[$i] !~ /^\s*#/ && $lines[$i] =~ $shell }
    }
    return 0;
}
my ($n, $bad, %test, %words, %why, %last) = (0, 0);
sub told { my ($name, @why) = @_; $n++; $bad++ if @why; print @why ? "not " : "", "ok $n - $name\n"; print "#   $_\n" for @why }
open my $in, '<', 'tests/CATALOGUE' or die "tests/CATALOGUE: $!";
while (<$in>) {
    next if /^\s*(#|$)/;
    my ($id, $words, $files) = /^([A-Z]\d\d) (\S.*?) \| (\S.*)$/;
    if (!defined $id) { told("line $. of tests/CATALOGUE", 'is not: ID words | tests'); next }
    my ($family, $number) = $id =~ /(.)(..)/;
    push @{$why{$id}}, 'stands here twice' if $test{$id};
    push @{$why{$id}}, 'the id before it is missing' if $number != ($last{$family} // 0) + 1;
    $last{$family} = $number;
    $words{$id} = $words;
    $test{$id} = [split ' ', $files];
}
for my $id (sort keys %test) {
    my @why = @{$why{$id} || []};
    for my $file (@{$test{$id}}) {
        if (!-e $file) { push @why, "$file does not exist"; next }
        open my $t, '<', $file or die; push @why, "no check of $file names $id" unless names($file, $id, <$t>);
    }
    told("catalogue $id: $words{$id}", @why);
}
my %unknown;
for my $file (sort glob 'tests/*/*.sh tests/*/*.c tests/*/*.cc') {
    open my $t, '<', $file or die;
    while (<$t>) { for my $id (/["']([CDFGJLMNSX]\d\d) /g) { $unknown{$id} //= "$file:$." unless $test{$id} } }
}
told('every id that a check begins with has a line', map { "$_, $unknown{$_}" } sort keys %unknown);
print "1..$n\n"; exit($bad ? 1 : 0);
PERL
