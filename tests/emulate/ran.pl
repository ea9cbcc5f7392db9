#!/usr/bin/env perl
# ran.pl - every kernel, in every form that the sources make of it, was started by some program of tests/emulate: of those that
# are compiled into $EMULATE_LIB none is missing in $EMULATE_RAN, the list that the programs left (known.cc). TAP.
#     ran.pl [FORM...]    but these (regular expressions), which must be missing: whoever starts them strikes them from the list
use strict; use warnings;
my ($ran, $lib) = @ENV{qw(EMULATE_RAN EMULATE_LIB)};
my (%kernel, %all, %at, %started);
for my $file (glob 'kernels/*.cu kernels/*/*.cu') {
    open my $in, '<', $file or die "$file: $!\n";
    my $text = do { local $/; <$in> };
    $kernel{$_} = 1 for $text =~ /\bKERNEL\((\w+)\)/g, $text =~ /\bKERNEL_BOUNDED\((?:[^()]|\([^()]*\))*,\s*(\w+)\)/g,
        $text =~ /\bKERNEL_SHARING\((?:[^()]|\([^()]*\))*,\s*(\w+)\)/g;
}
sub symbols { # of a file: offset and name of each function that is a kernel
    my ($file) = @_;
    my (@found, $start);
    open my $nm, '-|', 'nm', '-C', $file or die "nm: $!\n";
    while (<$nm>) {
        $start = hex $1 if /^([0-9a-f]+) . __executable_start$/;
        next unless /^([0-9a-f]+) [tT] (?:void )?((\w+)(?:<.*>)?)\(/ && $kernel{$3}; # <(product)1, true>
        my ($at, $name) = (hex $1, $2);
        push @found, [$at, $name] unless $name =~ /\[clone/;
    }
    return ($start // 0, @found);
}
my (undef, @compiled) = symbols($lib);
$all{$_->[1]} = 1 for @compiled;
open my $in, '<', $ran or die "$ran: $!\n";
while (<$in>) {
    my ($program, $offset) = /^(\S+) ([0-9a-f]+)$/ or die "$ran: $_";
    if (!$at{$program}) {
        my ($start, @found) = symbols($program);
        $at{$program} = { map { $_->[0] - $start => $_->[1] } @found };
    }
    my $name = $at{$program}{hex $offset};
    $started{$name} = 1 if defined $name;
}
my $but = join '|', @ARGV;
my @missing = grep { !$started{$_} && !($but && /^(?:$but)$/) } sort keys %all;
my @struck = grep { my $b = $_; my @of = grep { /^$b$/ } keys %all; !@of || grep { $started{$_} } @of } @ARGV;
my @absent = grep { my $k = $_; !grep { /^\Q$k\E\b/ } keys %all } sort keys %kernel;
printf "%sok 1 - %d kernels in %d forms, all of them started\n", @missing ? 'not ' : '', scalar keys %kernel, scalar keys %all;
print "#   never started: $_\n" for @missing;
printf "%sok 2 - all are compiled\n", @absent ? 'not ' : '';
print "#   not compiled: $_\n" for @absent;
printf "%sok 3 - those that are never started are not\n", @struck ? 'not ' : '';
print "#   started, or not compiled: $_\n" for @struck;
print "1..3\n";
exit(@missing || @absent || @struck ? 1 : 0);
