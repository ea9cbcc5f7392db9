#!/usr/bin/perl
# run.pl LIST [LOG] - runs the test programs of LIST by TAP::Harness, three at a time (some wait for a clock), and ends with one line: N passed, N failed, N
# skipped; before it, the tests that took 30 s or more. LIST: one program a line; NAME=VALUE before it sets its environment (DNN= may be relative). Counts of runs in LOG, the
# output of make, are added. A program that dies, exits with another code than 0, or has no plan or a wrong one, is a failure; so is
# a test marked TODO. A skip is never a pass.
use strict;
use warnings;
use Cwd qw(getcwd);
use TAP::Harness;

my ($list, $log) = @ARGV;
die "usage: run.pl LIST [LOG]\n" unless defined $list;
open my $in, '<', $list or die "run.pl: $list: $!\n";
chomp(my @tests = grep { /\S/ } <$in>);
close $in;
my $here = getcwd();
$ENV{DNN} ||= "$here/build/dnn";
$SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT); # under nohup, or behind a shell's &, they are ignored: programs would inherit that

my $harness = TAP::Harness->new({
    jobs => $ENV{TEST_JOBS} || 3, verbosity => $ENV{VERBOSE} ? 1 : -1, merge => 0, timer => 1,
    exec => sub {
        my ($h, $line) = @_;
        my @words = split ' ', $line;
        my $file = pop @words;
        s{^DNN=(?!/)}{DNN=$here/} for @words;
        return [@words ? ('env', @words) : (), $file =~ m{^/} ? $file : "./$file"];
    },
});
my @skips; # which, and why: a number alone tells nobody what was not tried
$harness->callback(
    made_parser => sub {
        my ($parser, $job) = @_;
        my $file = ref $job eq 'ARRAY' ? $job->[1] // $job->[0] : $job;
        $parser->callback(
            test => sub {
                my $test = shift;
                push @skips, "$file: " . $test->description =~ s/^- //r . ' (' . $test->explanation . ')' if $test->has_skip;
            });
        $parser->callback(plan => sub { push @skips, "$file: " . $_[0]->explanation if $_[0]->has_skip });
    });
my $all = eval { $harness->runtests(@tests) };
if (!$all) { print $@, "0 passed, 1 failed, 0 skipped\n"; exit 1 } # one gave up for all, or cannot be started
my ($passed, $failed, $skipped) = (0, 0, 0);
for my $parser ($all->parsers) {
    my %skip = map { $_ => 1 } $parser->skipped;
    my %todo = map { $_ => 1 } $parser->todo;
    $skipped += keys(%skip) + ($parser->skip_all ? 1 : 0);
    $passed += grep { !$skip{$_} && !$todo{$_} } $parser->actual_passed;
    my %bad = map { $_ => 1 } $parser->actual_failed, keys %todo;
    my $broken = $parser->exit || $parser->wait || $parser->parse_errors || (!$parser->skip_all && !$parser->tests_run);
    $failed += %bad ? keys %bad : $broken ? 1 : 0;
}
if (defined $log) {
    open my $told, '<', $log or die "run.pl: $log: $!\n";
    my ($bad, $broken) = (0, 0);
    while (<$told>) {
        if (/^(\d+) passed, (\d+) failed, (\d+) skipped$/) { $passed += $1; $bad += $2; $skipped += $3 }
        $skipped++ if /^1\.\.0 # SKIP/;
        $broken = 1 if /^make.* \*\*\* /;
    }
    $failed += $bad || $broken;
    print "failed: see $log\n" if $bad || $broken;
}
if (my @bad = $all->failed) { print "failed: $_\n" for @bad }
if (my @todo = $all->todo) { print "TODO, which counts as failed: $_\n" for @todo }
print "skipped: $_\n" for @skips;
my %seconds = map { my ($p) = $all->parsers($_); $_ => $p->end_time - $p->start_time } $all->descriptions;
printf "slow: %4.0f s %s\n", $seconds{$_}, $_ for grep { $seconds{$_} >= 30 } sort { $seconds{$b} <=> $seconds{$a} } keys %seconds;
$failed ||= 1 if !$passed && !$skipped;
print "$passed passed, $failed failed, $skipped skipped\n";
exit($failed ? 1 : 0);
