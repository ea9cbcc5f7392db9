#!/usr/bin/perl
# run.pl LIST - runs every test program named in LIST (one a line) through TAP::Harness, the engine of prove, two at a time, and
# closes with one line: N passed, N failed, N skipped. A program that dies, runs out of its plan or prints no plan is a
# failure of its own; a skip is counted as a skip and never as a pass.
use strict;
use warnings;
use TAP::Harness;

my $list = shift or die "usage: run.pl LIST\n";
open my $in, '<', $list or die "run.pl: $list: $!\n";
chomp(my @tests = grep { /\S/ } <$in>);
close $in;
$ENV{DNN} ||= do { my $d = `pwd`; chomp $d; "$d/build/dnn" };

my $harness = TAP::Harness->new({
    jobs => $ENV{TEST_JOBS} || 2, verbosity => $ENV{VERBOSE} ? 1 : -1, merge => 0, timer => 1,
    exec => sub {
        my ($h, $file) = @_;
        return [$file =~ m{^/} ? $file : "./$file"];
    },
});
my $all = $harness->runtests(@tests);
my ($passed, $failed, $skipped) = (0, 0, 0);
for my $parser ($all->parsers) {
    my $skips = $parser->skipped;
    my $whole = $parser->skip_all ? 1 : 0;
    $skipped += $skips + $whole;
    $passed += scalar($parser->passed) - $skips;
    my $bad = scalar($parser->failed);
    # broken programs: bad plan, non-zero exit without a failed test, killed
    $bad = 1 if !$bad && ($parser->exit || $parser->wait || scalar($parser->parse_errors)) && !$whole;
    $failed += $bad;
}
if (my @bad = $all->failed) { print "failed: $_\n" for @bad }
$failed ||= 1 if !$passed;
print "$passed passed, $failed failed, $skipped skipped\n";
exit($failed ? 1 : 0);
