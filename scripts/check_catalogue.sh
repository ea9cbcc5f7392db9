#!/bin/sh
# check_catalogue.sh - tests/CATALOGUE maps every id of the fault catalogue to its test. Fails when an id is missing, its file does
# not exist, or no check in the file names the id. TAP.
# A check names an id: in a shell script by a line with a check of tests/tap.sh or a quoted name; in C by a string, or a comment at
# most three lines above a check or a row of cases; in a golden file by a comment at most three lines above a command.
cd "$(dirname "$0")/.." || exit 1
perl - <<'PERL'
use strict; use warnings;
my %count = (C => 29, J => 17, M => 18, L => 11, F => 17, S => 12, N => 18, D => 13, X => 11);
my @ids = map { my $f = $_; map { sprintf "%s%02d", $f, $_ } 1 .. $count{$f} } sort keys %count;
push @ids, map { sprintf "G%02d", $_ } 1 .. 20;
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
my ($n, $bad, %test) = (0, 0);
open my $in, '<', 'tests/CATALOGUE' or die "tests/CATALOGUE: $!";
while (<$in>) { next if /^\s*(#|$)/; my ($id, @files) = split; push @{$test{$id}}, @files }
for my $id (@ids) {
    my @why;
    push @why, "no test" unless @{$test{$id} || []};
    for my $file (@{$test{$id} || []}) {
        if (!-e $file) { push @why, "$file does not exist"; next }
        open my $t, '<', $file or die; push @why, "no check of $file names $id" unless names($file, $id, <$t>);
    }
    $n++; $bad++ if @why; print @why ? "not " : "", "ok $n - catalogue $id\n"; print "#   $_\n" for @why;
}
for my $id (sort keys %test) { next if grep { $_ eq $id } @ids; $n++; $bad++; print "not ok $n - $id is in no catalogue\n" }
print "1..$n\n"; exit($bad ? 1 : 0);
PERL
