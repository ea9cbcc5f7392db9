#!/usr/bin/perl
# make_tagging.pl GROUPS [SEED]: sequences with a label for each row, as CSV on standard output.
#
# Every 20 rows a cue comes, one of three kinds. A row is labelled with the kind of the cue before
# the last one, which stands 20 to 39 rows back; before there were two cues the label is empty.
# Noise stands beside it. So a network that sees one row at a time can only guess (one third), and
# one that reads the rows in their order can know each label.
use strict;
use warnings;
my ($groups, $seed) = @ARGV;
die "usage: make_tagging.pl GROUPS [SEED]\n" unless $groups && $groups =~ /^\d+$/;
my $state = ($seed // 1) * 2654435761 % 4294967296;

sub chance { # a whole number below n: the same on every machine
    my ($n) = @_;
    $state = ($state * 1664525 + 1013904223) % 4294967296;
    return int($state / 4294967296 * $n);
}
my @kinds = qw(calm rising stormy);
print "series,t,cue,noise,y\n";
for my $g (1 .. $groups) {
    my @cues;
    my $rows = 70 + chance(60);
    for my $t (0 .. $rows - 1) {
        push @cues, $kinds[chance(3)] if $t % 20 == 0;
        printf "s%d,%d,%s,%.3f,%s\n", $g, $t, $t % 20 == 0 ? $cues[-1] : 'none',
            chance(1000) / 1000, @cues > 1 ? $cues[-2] : '';
    }
}
