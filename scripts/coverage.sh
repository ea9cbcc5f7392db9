#!/bin/sh
# coverage.sh BUILD - the lines and branches of src that tests reach, by room, from a build made with --coverage; then the files
# below 80 % of lines.
set -eu
cd "$(dirname "$0")/.."
find "$1/obj" -name '*.gcda' | while read -r data; do
    gcov -b -n "$data" 2>/dev/null
done | perl -ne '
    if (/^File .(.*?)\x27$/) { $name = $1 =~ m{^(?:\./)?src/(\w+/\S+\.[ch])$} && !$seen{$1}++ ? $1 : ""; ($floor) = $name =~ m{^(\w+)/} }
    next unless $name;
    if (/^Lines executed:([\d.]+)% of (\d+)/ && !$told{$name}++) { # once: the sum of the object follows
        $lines{$floor}[0] += $1 * $2 / 100; $lines{$floor}[1] += $2; push @low, sprintf "  %5.1f %% of %4d  %s", $1, $2, $name if $1 < 80 }
    if (/^Taken at least once:([\d.]+)% of (\d+)/ && !$split{$name}++) { $ways{$floor}[0] += $1 * $2 / 100; $ways{$floor}[1] += $2 }
    sub row { my ($name, $l, $w) = @_;
        printf "%-8s lines %5.1f %% of %5d, branches %5.1f %% of %5d\n", $name, 100 * $l->[0] / ($l->[1] ||
        1), $l->[1], 100 * $w->[0] / ($w->[1] || 1), $w->[1] }
    END { for my $f (sort keys %lines) { row $f, $lines{$f}, $ways{$f} || [0, 0]; for (0, 1) { $l[$_] += $lines{$f}[$_];
    $w[$_] += ($ways{$f} || [0, 0])->[$_] } }
        row "all", \@l, \@w; print "files below 80 % of lines:\n", map { "$_\n" } sort @low if @low }'
