#!/usr/bin/perl
# talk.pl OUT COMMAND... -- (PIECE LINES)... - writes the pieces to a command one by one. After each it waits until exactly LINES
# lines came back, and a moment for more. OUT gets all output. Exits with the code of the command.
use strict;
use warnings;
use IPC::Open2;

my ($out, @command) = shift @ARGV;
push @command, shift @ARGV while @ARGV && $ARGV[0] ne '--';
shift @ARGV;
local $SIG{ALRM} = sub { die "talk.pl: no answer came\n" };
local $SIG{PIPE} = 'IGNORE';
alarm 120;
my $pid = open2(my $from, my $to, @command);
my $got = '';
while (my ($piece, $lines) = splice @ARGV, 0, 2) {
    my $written = syswrite $to, $piece;
    die "talk.pl: a piece was not taken\n" if ($written // -1) != length $piece;
    while (($got =~ tr/\n//) < $lines) {
        sysread $from, $got, 65536, length $got or die "talk.pl: the command ended\n";
    }
    vec(my $watched = '', fileno $from, 1) = 1;
    sysread $from, $got, 65536, length $got if select $watched, undef, undef, 0.03;
    my $came = $got =~ tr/\n//;
    die "talk.pl: $came lines, expected $lines\n" if $came != $lines;
}
close $to;
1 while sysread $from, $got, 65536, length $got;
waitpid $pid, 0;
my $status = $? >> 8;
open my $file, '>', $out or die "talk.pl: $out: $!\n";
print $file $got;
close $file or die "talk.pl: $out: $!\n";
exit $status;
