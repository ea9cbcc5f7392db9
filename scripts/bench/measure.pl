#!/usr/bin/perl
# measure.pl RUNS COMMAND... - runs a command so many times and prints `median_seconds best_seconds peak_rss_bytes`. Standard output
# of the command is dropped, its standard error is shown when it fails. Linux on x86-64 and arm64 (getrusage by number).
use strict;
use warnings;
use Time::HiRes qw(time);
my $runs = shift;
my @seconds;
for (1 .. $runs) {
    my $start = time;
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', "/tmp/measure.$$.err";
        exec @ARGV or die "$ARGV[0]: $!\n";
    }
    waitpid $pid, 0;
    my $status = $?;
    push @seconds, time - $start;
    my $log = "/tmp/measure.$pid.err";
    if ($status) { system 'cat', $log; unlink $log; die "measure.pl: @ARGV: status $status\n" }
    unlink $log;
}
my $usage = "\0" x 144;
syscall(`uname -m` =~ /aarch64/ ? 165 : 98, -1, $usage); # getrusage(RUSAGE_CHILDREN)
my $peak = unpack('x32 q', $usage) * 1024;
@seconds = sort { $a <=> $b } @seconds;
printf "%.6f %.6f %d\n", $seconds[$#seconds / 2], $seconds[0], $peak;
