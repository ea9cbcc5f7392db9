#!/usr/bin/perl
# make_signs.pl SAMPLES [SEED]: movements as CSV on standard output, a line each: 469 numbers at 64
# steps of time and one of 100 labels.
#
# Columns p0_0 .. p0_63, p1_0 .. p468_63, then `sign`. Noise stands everywhere; in 24 of the numbers
# a wave as well, whose places and frequency are those of the label. It begins somewhere.
use strict;
use warnings;
my ($samples, $seed) = @ARGV;
die "usage: make_signs.pl SAMPLES [SEED]\n" unless $samples && $samples =~ /^\d+$/;
my ($numbers, $steps, $labels, $waves) = (469, 64, 100, 24);
my $state = ($seed // 1) * 2654435761 % 4294967296;

sub chance { # a whole number below n: the same on every machine
    my ($n) = @_;
    $state = ($state * 1664525 + 1013904223) % 4294967296;
    return int($state / 4294967296 * $n);
}
my @noise = map { [map { (chance(201) - 100) / 100 } 1 .. $steps] } 1 .. 1000;
my @texts = map { join ',', map { sprintf '%.2f', $_ } @$_ } @noise;
my @names;
for my $p (0 .. $numbers - 1) { push @names, map { "p${p}_$_" } 0 .. $steps - 1 }
print join(',', @names, 'sign'), "\n";
for (1 .. $samples) {
    my $label = chance($labels);
    my $turns = (1 + $label % 10) * 2 * 3.14159265358979 / $steps;
    my $begin = chance($steps);
    my @cells = map { $texts[chance(1000)] } 1 .. $numbers;
    for my $wave (0 .. $waves - 1) {
        my $of = $noise[chance(1000)];
        $cells[($label * 7 + $wave * 19) % $numbers] =
            join ',', map { sprintf '%.2f', $of->[$_] + 0.8 * sin($turns * ($_ + $begin) + $wave) } 0 .. $steps - 1;
    }
    print join(',', @cells, "sign_$label"), "\n";
}
