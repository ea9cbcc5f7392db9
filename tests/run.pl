#!/usr/bin/perl
# run.pl LIST [LOG] - runs the test programs of LIST by TAP::Harness, four at a time (some wait for a clock), and ends with one
# line: N passed, N failed, N skipped; before it, the tests that took 30 s or more. LIST: one program a line; NAME=VALUE before it
# sets its environment (DNN= may be relative). Counts of runs in LOG, the output of make, are added. A program that dies, exits with
# another code than 0, or has no plan or a wrong one, is a failure; so is a test marked TODO. A skip is never a pass.
# A program that fails runs once more, alone, after all others. If it passes then, the run passes, and `# flaky: NAME` names it: mend
# it at once. More than FLAKY_MOST failures are no chance, and nothing runs again.
use strict;
use warnings;
use Cwd qw(getcwd);
use TAP::Harness;

use constant FLAKY_MOST => 5;
my ($list, $log) = @ARGV;
die "usage: run.pl LIST [LOG]\n" unless defined $list;
open my $in, '<', $list or die "run.pl: $list: $!\n";
chomp(my @tests = grep { /\S/ } <$in>);
close $in;
my $here = getcwd();
$ENV{DNN} ||= "$here/build/dnn";
$SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT); # under nohup, or behind a shell's &, they are ignored: programs would inherit that

my %skips; # of each program: which, and why: a number alone tells nobody what was not tried
# Runs programs, so many at a time. Returns the aggregator; undef: one gave up for all, or cannot be started.
sub run_tests {
    my ($jobs, @programs) = @_;
    my $harness = TAP::Harness->new({
        jobs => $jobs, verbosity => $ENV{VERBOSE} ? 1 : -1, merge => 0, timer => 1,
        exec => sub {
            my ($h, $line) = @_;
            my @words = split ' ', $line;
            my $file = pop @words;
            s{^DNN=(?!/)}{DNN=$here/} for @words;
            return [@words ? ('env', @words) : (), $file =~ m{^/} ? $file : "./$file"];
        },
    });
    $harness->callback(
        made_parser => sub {
            my ($parser, $job) = @_;
            my $file = ref $job eq 'ARRAY' ? $job->[1] // $job->[0] : $job;
            $skips{$file} = [];
            $parser->callback(
                test => sub {
                    my $test = shift;
                    push @{$skips{$file}}, $test->description =~ s/^- //r . ' (' . $test->explanation . ')' if $test->has_skip;
                });
            $parser->callback(plan => sub { push @{$skips{$file}}, $_[0]->explanation if $_[0]->has_skip });
        });
    return eval { $harness->runtests(@programs) };
}
my $all = run_tests($ENV{TEST_JOBS} || 4, @tests);
if (!$all) { print $@, "0 passed, 1 failed, 0 skipped\n"; exit 1 }
my %parser = map { $_ => ($all->parsers($_))[0] } $all->descriptions;
my %seconds = map { $_ => $parser{$_}->end_time - $parser{$_}->start_time } keys %parser;
my (@flaky, @bad);
my @again = $all->failed;
for my $name (@again) {
    my $once = @again <= FLAKY_MOST ? run_tests(1, $name) : undef;
    if ($once && !$once->failed) {
        push @flaky, $name;
        ($parser{$name}) = $once->parsers;
    } else {
        push @bad, $name;
    }
}
my ($passed, $failed, $skipped) = (0, 0, 0);
for my $parser (values %parser) {
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
        push @flaky, $1 if /^# flaky: (.*) passed when run again alone$/;
        $broken = 1 if /^make.* \*\*\* /;
    }
    $failed += $bad || $broken;
    print "failed: see $log\n" if $bad || $broken;
}
print "failed: $_\n" for @bad;
if (my @todo = $all->todo) { print "TODO, which counts as failed: $_\n" for @todo }
for my $file (sort keys %skips) { print "skipped: $file: $_\n" for @{$skips{$file}} }
printf "slow: %4.0f s %s\n", $seconds{$_}, $_ for grep { $seconds{$_} >= 30 } sort { $seconds{$b} <=> $seconds{$a} } keys %seconds;
print "# flaky: $_ passed when run again alone\n" for @flaky;
printf "flaky: %d\n", scalar @flaky if @flaky;
$failed ||= 1 if !$passed && !$skipped;
print "$passed passed, $failed failed, $skipped skipped\n";
exit($failed ? 1 : 0);
