#!/usr/bin/perl
# make_data.pl KIND ROWS [SEED] - generated benchmark files, the same bytes everywhere.
#   numeric   14 decimals and a class y (0, 1)        mixed   9 categories, 6 numbers with missing cells, y yes/no
#   higgs     28 decimals, no target                  table   28 decimals and y (0, 1), as train data
#   tagging   sequences of 200 rows, 16 decimals and y (up, down) of each row; lines: the same with 2,000 decimals
use strict;
use warnings;
my ($kind, $rows, $seed) = @ARGV;
die "make_data.pl numeric|mixed|higgs|table|tagging|lines ROWS [SEED]\n" unless $kind && $rows;
my $x = ($seed // 1) * 2654435761 % 4294967296;
sub uniform { $x ^= $x << 13 & 0xffffffff; $x ^= $x >> 17; $x ^= $x << 5 & 0xffffffff; return $x / 4294967296 }
sub normal { return uniform() + uniform() + uniform() + uniform() - 2 }
my $numbers = {numeric => 14, higgs => 28, table => 28}->{$kind};
my @cities = map { "city_$_" } 1 .. 40;
if ($kind eq 'mixed') {
    print join(',', 'id', (map { "c$_" } 1 .. 9), (map { "x$_" } 1 .. 6), 'y'), "\n";
    for my $i (1 .. $rows) {
        my @c = map { int(uniform() * (3 + 4 * $_)) } 1 .. 9;
        my @n = map { normal() * $_ } 1 .. 6;
        my $score = $n[0] + 0.3 * $n[1] * ($c[0] - 1) + ($c[1] > 4 ? 0.8 : -0.4) + 0.5 * normal();
        my @cells = ((map { uniform() < 0.02 ? '' : $cities[$c[$_] % 40] } 0 .. 8), map { uniform() < 0.03 ? '' : sprintf '%.4f', $_ } @n);
        print join(',', $i, @cells, $score > 0.2 ? 'yes' : 'no'), "\n";
    }
} elsif (my $width = {tagging => 16, lines => 2000}->{$kind}) {
    print join(',', 'series', 't', (map { "x$_" } 1 .. $width), 'y'), "\n";
    my $most = $kind eq 'tagging' ? 40000 : 2000; # rows that are made; further ones repeat them
    $most = $rows if $rows < $most;
    my ($before, @rows) = (0);
    for my $i (0 .. $most - 1) { # a label is the sign of the row before
        my @n = map { normal() } 1 .. $width;
        push @rows, join(',', $i % 200, (map { sprintf '%.4f', $_ } @n), $i % 200 && $before > 0 ? 'up' : 'down');
        $before = $n[0];
    }
    print 's', int($_ / 200), ',', $rows[$_ % $most], "\n" for 0 .. $rows - 1;
} elsif ($numbers) {
    print join(',', (map { "x$_" } 1 .. $numbers), $kind eq 'higgs' ? () : 'y'), "\n";
    # a block of rows is made once and repeated with another last digit where millions are wanted
    my $most = $rows < 50000 ? $rows : 50000;
    my @lines;
    for my $i (1 .. $most) {
        my @n = map { normal() } 1 .. $numbers;
        my $score = $n[0] * $n[1] + abs($n[2]) - 0.6 + 0.3 * $n[3] + 0.3 * normal();
        push @lines, join(',', (map { sprintf $kind eq 'numeric' ? '%.6f' : '%.9f', $_ } @n), $kind eq 'higgs' ? () : $score > 0 ? 1 : 0);
    }
    for (my $done = 0; $done < $rows; $done += $most) {
        my $now = $rows - $done < $most ? $rows - $done : $most;
        print join("\n", @lines[0 .. $now - 1]), "\n";
    }
} else { die "make_data.pl: no kind $kind\n" }
