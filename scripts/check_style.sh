#!/bin/sh
# check_style.sh - finds banned code: unsafe or locale-bound functions, allocation and printing in the wrong room, tabs, long lines,
# long files without a reason (a line "long: why" in the first comment of the file), comments of src and kernels in other words than
# plain ones. TAP.
cd "$(dirname "$0")/.." || exit 1
perl - <<'PERL'
use strict; use warnings;
my ($n, $bad) = (0, 0);
sub result { my ($name, @why) = @_; $n++; $bad++ if @why; print @why ? "not " : "", "ok $n - $name\n"; print "#   $_\n" for @why[0 .. ($#why > 19 ? 19 : $#why)] }
# these files below cli may write to a standard stream or end the process: log, progress, out of memory, injected faults, and signal
# handlers
my $speaks = qr{^src/(base/(log|mem|fault|progress|stop))\.c$};
# "so many" (a name or "this number"), "the same of" ("as f, for"), "that is there", "behind" ("after"), "by itself" ("alone", "on its
# own"), "of which"; a comment that begins with "Of" has no subject
my $dialect = qr{\b(so many|the same of|that (?:is|are) there|behind|by (?:it|them)sel(?:f|ves)|of which|whoever|an own)\b|\A((?-i:Of)) [a-z]}i;
my (%found); my @files = sort(glob("src/*.c src/*/*.[ch] src/*/*/*.[ch] src/*/*.def kernels/*.c* kernels/*.h tests/*.h tests/*/*.[ch] tests/*/*.cc"));
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
        push @{$found{'no banned functions'}}, "$file:$row: $1" if /\b(atoi|atol|atof|sprintf|vsprintf|strcpy|strcat|strtok|gets|rand|srand|qsort|setlocale|system|popen|alloca)\s*\(/;
        push @{$found{'strtod only where text becomes numbers'}}, "$file:$row" if /\bstrto(d|f|ld)\s*\(/ && $file !~ m{base/text\w*\.c|base/json\w*\.c|csv/number\w*\.c|^tests/};
        push @{$found{'allocation through base/mem'}}, "$file:$row: $1" if /\b(malloc|calloc|realloc|free|strdup|aligned_alloc|posix_memalign)\s*\(/ && $floor ne 'tests' && $file !~ m{base/(mem|arena)\.c};
        push @{$found{'only cli prints and exits'}}, "$file:$row: $1" if /\b(printf|puts|putchar|fprintf|perror|exit)\s*\(/ && $floor !~ /^(cli|main|tests)$/ && $file !~ m{base/(log|mem|fault)\.c};
        push @{$found{'only cli prints and exits'}}, "$file:$row: $1" if /\b(_exit\s*\(|_Exit\s*\(|quick_exit\s*\(|(?:sys_)?write\s*\(\s*(?:[12]|STD(?:OUT|ERR)_FILENO)\b)/ && $floor !~ /^(cli|main|tests)$/ && $file !~ $speaks;
        push @{$found{'no -D backend switches in the code'}}, "$file:$row" if /^\s*#\s*if.*DNN_CUDA/ && $file !~ m{backend/backend\.c};
    }
    $row = 0;
    for (@lines) { $row++; chomp;
        push @{$found{'no tabs'}}, "$file:$row" if /\t/;
        push @{$found{'lines of at most 100 columns'}}, "$file:$row" if length($_) > 100;
        push @{$found{'no promises left in the code'}}, "$file:$row" if /\b(TODO|FIXME|XXX|HACK)\b/;
    }
}
result($_, @{$found{$_} || []}) for 'no banned functions', 'strtod only where text becomes numbers', 'allocation through base/mem', 'only cli prints and exits', 'no -D backend switches in the code', 'files of at most 500 lines', 'no tabs', 'lines of at most 100 columns', 'no promises left in the code', 'plain words in comments';
print "1..$n\n"; exit($bad ? 1 : 0);
PERL
