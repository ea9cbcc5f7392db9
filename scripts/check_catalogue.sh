#!/bin/sh
# check_catalogue.sh - tests/CATALOGUE maps every id of the fault and bad-input catalogue to its test; this fails on a missing
# id, on an id that is mapped to a file that does not exist, and on a test that does not name the id. TAP.
cd "$(dirname "$0")/.." || exit 1
perl - <<'PERL'
use strict; use warnings;
my %count = (C => 29, J => 17, M => 18, L => 11, F => 17, S => 12, N => 18, D => 13, X => 11);
my @ids = map { my $f = $_; map { sprintf "%s%02d", $f, $_ } 1 .. $count{$f} } sort keys %count;
push @ids, qw(G01 G03 G08);
my ($n, $bad, %test) = (0, 0);
open my $in, '<', 'tests/CATALOGUE' or die "tests/CATALOGUE: $!";
while (<$in>) { next if /^\s*(#|$)/; my ($id, @files) = split; push @{$test{$id}}, @files }
for my $id (@ids) {
    my @why;
    push @why, "no test" unless @{$test{$id} || []};
    for my $file (@{$test{$id} || []}) {
        if (!-e $file) { push @why, "$file does not exist"; next }
        open my $t, '<', $file or die; my $text = join '', <$t>;
        push @why, "$file does not name $id" unless $text =~ /\b$id\b/;
    }
    $n++; $bad++ if @why; print @why ? "not " : "", "ok $n - catalogue $id\n"; print "#   $_\n" for @why;
}
for my $id (sort keys %test) { next if grep { $_ eq $id } @ids; $n++; $bad++; print "not ok $n - $id is in no catalogue\n" }
print "1..$n\n"; exit($bad ? 1 : 0);
PERL
