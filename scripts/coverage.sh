#!/bin/sh
# coverage.sh BUILD - line coverage of src by floor and by file, from the .gcda files of a build made with --coverage.
set -eu
cd "$(dirname "$0")/.."
find "$1/obj" -name '*.gcda' | while read -r data; do
    gcov -n "$data" 2>/dev/null
done | perl -ne '
    if (/^File .(.*?)\x27$/) { $file = $1 } elsif (/^Lines executed:([\d.]+)% of (\d+)/ && $file =~ m{^(?:\./)?src/((\w+)/\S+\.[ch])$}) {
        my ($name, $floor, $lines, $hit) = ($1, $2, $2, 0); $floor = $1 =~ s{/.*}{}r; ($p, $n) = ($_ =~ /:([\d.]+)% of (\d+)/);
        next if $seen{$name}++; $total{$floor}[0] += $p * $n / 100; $total{$floor}[1] += $n; push @low, sprintf "  %5.1f %% of %4d  %s", $p, $n, $name if $p < 80; $file = "" }
    END { for (sort keys %total) { printf "%-8s %5.1f %% of %d lines\n", $_, 100 * $total{$_}[0] / $total{$_}[1], $total{$_}[1]; $a += $total{$_}[0]; $b += $total{$_}[1] }
        printf "%-8s %5.1f %% of %d lines\n", "all", 100 * $a / $b, $b if $b; print "files below 80 %:\n", map { "$_\n" } sort @low if @low }'
