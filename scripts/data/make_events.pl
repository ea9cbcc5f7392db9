#!/usr/bin/perl
# make_events.pl ROWS - a table for preset auto on many rows, in the manner of HIGGS: 21 measured numbers, 7 computed from them with
# an error, and two classes that depend on products, steps and waves of them, with noise. The same rows in every run.
use strict;
use warnings;
my $rows = shift // 1000000;
srand 11;
my $two_pi = 2 * atan2(0, -1);
sub normal { sqrt(-2 * log(1 - rand)) * cos($two_pi * rand) }
print join(",", (map { "m$_" } 1 .. 21), (map { "c$_" } 1 .. 7), "signal"), "\n";
for (1 .. $rows) {
    # momenta and energies are skewed, angles even, directions normal, tags have three values
    my @m = map { $_ % 4 == 0 ? exp(0.5 * normal()) : $_ % 4 == 1 ? normal() : $_ % 4 == 2 ? 3.4 * rand() - 1.7 : normal() } 0 .. 16;
    push @m, map { (0, 1.09, 2.17)[int rand 3] } 17 .. 20;
    my @c = map { sqrt(abs($m[4 * ($_ % 4)] * $m[4 * (($_ + 1) % 5)]) * (1.2 - cos($m[2 + 4 * ($_ % 4)]))) + 0.1 * normal() } 0 .. 6;
    my $z = 0.9 * $m[1] * $m[5] - 0.8 * abs($m[3]) * $m[7] + ($m[9] > 0.4 ? 1.1 : -0.3) * $m[11] + 0.8 * sin(2 * $m[2]) +
        0.7 * cos($m[6] - $m[10]) + ($m[17] > 1 ? 0.8 : -0.2) * ($m[18] > 2 ? 1 : -0.5) * $m[13] +
        1.2 * ($c[0] - $c[2]) * ($m[4] > 1 ? 1 : -0.4) - 0.9 * ($c[4] > 1.3 ? 1 : 0) * $m[15] + 0.5 * $m[14] * $m[2] * $m[1];
    printf "%s,%d\n", join(",", map { sprintf "%.5g", $_ } @m, @c), 1 / (1 + exp(-$z)) > rand() ? 1 : 0;
}
