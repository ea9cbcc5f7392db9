#!/bin/sh
# check_style.sh - finds banned code: unsafe or locale-bound functions, allocation and printing in the wrong room, tabs, long lines,
# long files without a reason (a line "long: why" in the first comment of the file), comments of src and kernels in other words than
# plain ones, and in shell scripts long lines and names of checks that say nothing without the line before. TAP.
cd "$(dirname "$0")/.." || exit 1
perl - <<'PERL'
use strict; use warnings;
my ($n, $bad) = (0, 0);
sub result {
    my ($name, @why) = @_;
    $n++;
    $bad++ if @why;
    print @why ? "not " : "", "ok $n - $name\n";
    print "#   $_\n" for @why[0 .. ($#why > 19 ? 19 : $#why)];
}
# these files below cli may write to a standard stream or end the process: log, progress, out of memory, injected faults, and signal
# handlers
my $speaks = qr{^src/base/(log|mem|fault|process/(progress|stop))\.c$};
# "so many" (a name or "this number"), "the same of" ("as f, for"), "that is there", "behind" ("after"), "by itself" ("alone", "on its
# own"), "of which"; a comment that begins with "Of" has no subject
my $dialect = qr{
    \b(so\ many|the\ same\ of|that\ (?:is|are)\ there|behind|by\ (?:it|them)sel(?:f|ves)|of\ which|whoever|an\ own)\b|\A((?-i:Of))\ [a-z]}xi;
my $banned = 'atoi|atol|atof|sprintf|vsprintf|strcpy|strcat|strtok|gets|rand|srand|qsort|setlocale|system|popen|alloca';
my $ends = qr/_exit\s*\(|_Exit\s*\(|quick_exit\s*\(|(?:sys_)?write\s*\(\s*(?:[12]|STD(?:OUT|ERR)_FILENO)\b/;
my $numbers = qr{base/text\w*\.c|base/json/\w+\.c|csv/form/number\w*\.c|^tests/};
my %found;
my @files = sort(glob("src/*.c src/*/*.[ch] src/*/*/*.[ch] src/*/*.def kernels/*.c* kernels/*.h kernels/*/*.c* tests/*.h tests/*/*.[ch] tests/*/*.cc"));
for my $file (@files) {
    open my $in, '<', $file or die; my @lines = <$in>; my $text = join '', @lines;
    my ($floor) = $file =~ m{^src/(\w+)/}; $floor //= $file =~ /^src/ ? 'main' : 'tests';
    push @{$found{'files of at most 500 lines'}}, "$file: " . scalar(@lines) if @lines > 500 && $text !~ m{\A/\*.*?long: .*?\*/}s;
    (my $code = $text) =~ s{/\*.*?\*/}{ my $c = $&; $c =~ tr/\n//cd; $c }gse; $code =~ s{//[^\n]*}{}g; $code =~ s{"(?:[^"\\\n]|\\.)*"}{""}g;
    while ($file !~ m{^tests/} && $text =~ m{"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'|/\*\s*(.*?)\*/}gs) {
        my ($line, $words) = (1 + (substr($text, 0, $-[0]) =~ tr/\n//), $1 // next);
        $words =~ s{\n\s*\*?\s*}{ }g;
        push @{$found{'plain words in comments'}}, "$file:$line: " . ($1 // $2) if $words =~ $dialect;
    }
    my $row = 0;
    for (split /\n/, $code, -1) { $row++;
        my $at = "$file:$row";
        my $prints = $floor =~ /^(cli|main|tests)$/;
        push @{$found{'no banned functions'}}, "$at: $1" if /\b($banned)\s*\(/;
        push @{$found{'strtod only where text becomes numbers'}}, $at if /\bstrto(d|f|ld)\s*\(/ && $file !~ $numbers;
        push @{$found{'allocation through base/mem'}}, "$at: $1"
            if /\b(malloc|calloc|realloc|free|strdup|aligned_alloc|posix_memalign)\s*\(/ && $floor ne 'tests' && $file !~ m{base/(mem|arena)\.c};
        push @{$found{'only cli prints and exits'}}, "$at: $1"
            if /\b(printf|puts|putchar|fprintf|perror|exit)\s*\(/ && !$prints && $file !~ m{base/(log|mem|fault)\.c};
        push @{$found{'only cli prints and exits'}}, "$at: $1" if /\b($ends)/ && !$prints && $file !~ $speaks;
        push @{$found{'no -D backend switches in the code'}}, $at if /^\s*#\s*if.*DNN_CUDA/ && $file !~ m{backend/backend\.c};
    }
    $row = 0;
    for (@lines) { $row++; chomp;
        push @{$found{'no tabs'}}, "$file:$row" if /\t/;
        push @{$found{'lines of at most 100 columns'}}, "$file:$row" if length($_) > 100;
        push @{$found{'no promises left in the code'}}, "$file:$row" if /\b(TODO|FIXME|XXX|HACK)\b/;
    }
}
# A shell line may be longer where it is one quoted text alone, or text of a here document that is no JSON.
my $text = qr/"(?:[^"\\]|\\.)*"|'[^']*'/;
my %before = (check => 0, err_empty => 0, is => 2, same => 2); # words in front of a name
my $lone = qr/^\s*(?:which|so|and|not|none|with|nor|but)\b/;
for my $file (sort(glob("tests/*.sh tests/*/*.sh scripts/*.sh scripts/*/*.sh"))) {
    open my $in, '<:encoding(UTF-8)', $file or die;
    my ($row, $here) = (0, '');
    while (<$in>) {
        $row++;
        chomp;
        push @{$found{'shell lines of at most 140 columns'}}, "$file:$row"
            if length > 140 && !/^\s*(?:$text)+(?: \\)?$/ && !($here && !/": /);
        if ($here) { $here = '' if /^\s*$here$/ }
        elsif (/<<-?\s*["'\\]?([A-Za-z]\w*)/) { $here = $1 }
        next unless /^\s*(is_exit|ok|after_exit|err_empty|err_has|err_lacks|out_has|out_lacks|check|is|same)\s+(.*)/;
        my ($check, $rest) = ($1, $2);
        my @words = $rest =~ /((?:$text|[^\s"'])+)/g;
        splice @words, 0, $before{$check} // 1;
        my $name = ($words[0] // '') =~ s/^"(?:[A-Z]\d\d )*//r;
        push @{$found{'names of checks that stand alone'}}, "$file:$row: $words[0]" if @words && $words[0] =~ /^["']/ && $name =~ $lone;
    }
}
result($_, @{$found{$_} || []})
    for 'no banned functions', 'strtod only where text becomes numbers', 'allocation through base/mem', 'only cli prints and exits',
    'no -D backend switches in the code', 'files of at most 500 lines', 'no tabs', 'lines of at most 100 columns',
    'no promises left in the code', 'plain words in comments', 'shell lines of at most 140 columns', 'names of checks that stand alone';
print "1..$n\n"; exit($bad ? 1 : 0);
PERL
