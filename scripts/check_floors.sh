#!/bin/sh
# check_floors.sh - a folder is a room: a file includes its own room and the rooms that %rooms lists for it. Of backend the rooms
# above include only the headers of %door. A header whose first comment says "Private to LIST." is included by those alone (files
# beside it, stars allowed, or whole rooms with their sub-rooms; tests are free). No circles between files: a .c and its .h are one file.
# Calls as includes: by the symbols of BUILD/obj (default build), if it is built; of kernels by those of nvcc's or the emulator's
# objects. Kernels include by folder: those of operations and products never the card's. TAP.
cd "$(dirname "$0")/.." || exit 1
perl - <<'PERL'
use strict; use warnings;
# room => the rooms it may include beside its own; base always
my %rooms = (base => [], csv => [], table => [qw(csv)], infer => [qw(csv table)], backend => [],
    model => [qw(csv table backend)], measure => [qw(table backend model)], config => [qw(csv table backend model measure)],
    choose => [qw(backend model config)], answer => [qw(csv table backend model measure config choose)],
    train => [qw(csv table backend model measure config choose answer)],
    check => [qw(csv table infer backend model measure config choose answer train)]);
my %below = map { my $r = $_; $r => {map { $_ => 1 } $r, 'base', @{$rooms{$r}}} } keys %rooms;
$below{cli} = {map { $_ => 1 } 'cli', keys %rooms};
my ($n, $bad, %edges) = (0, 0);
sub result { my ($ok, $name, @why) = @_; $n++; $bad++ unless $ok; print $ok ? "" : "not ", "ok $n - $name\n"; print "#   $_\n" for @why }
my (@up, @inside, %of, @breach);
# the list in a header's first comment: "Private to a.c, b*.c and src/floor." as patterns of paths below src
sub owners { my ($header) = @_;
    open my $in, '<', "src/$header" or return; local $/; my $text = <$in>;
    my ($comment) = $text =~ m{\A/\*(.*?)\*/}s or return; $comment =~ s/\n \*?/ /g; $comment =~ s/\s+/ /g; $comment =~ s/\s*\z/ /;
    push @breach, "src/$header: say \"Private to FILES.\" of who includes it" if $comment =~ /\bonly\b[^.]*\.?[ch*][^.]* includes? it\b/i;
    my ($list) = $comment =~ /\bprivate to (.*?)[.:](?= )/i or return;
    $list =~ s/,? and to tests.*//;
    my ($folder) = $header =~ m{^(.*)/};
    return map { my $item = $_; push @breach, "src/$header: \"$item\" is no file or floor" unless $item =~ m{^[\w*/]+(?:\.[ch])?$};
        my $path = $item =~ s{^src/}{} ? $item : "$folder/$item"; my $room = $path !~ /\.[ch]$/; $path .= "/*" if $room;
        push @breach, "src/$header: there is no $item" unless grep { -e } glob("src/$path");
        (my $pattern = quotemeta $path) =~ s{\\\*}{[^/]*}g; $pattern =~ s{\[\^/\]\*$}{.*} if $room;
        $pattern } split /, and |, | and /, $list;
}
for my $file (sort glob("src/*/*.[ch] src/*/*/*.[ch] src/*/*.def src/*.c")) {
    my ($floor) = $file =~ m{^src/(?:(\w+)/)?};
    open my $in, '<', $file or die; 
    while (<$in>) {
        next unless /^\s*#\s*include\s+"([^"]+)"/;
        my ($what, $row) = ($1, $.); my ($to) = $what =~ m{^(\w+)/} or (push @up, "$file:$row: include \"$what\" without its floor"), next;
        my ($one, $two) = ($file =~ s{^src/}{}r, $what); s{\.\w+$}{} for $one, $two;
        $of{$what} //= [owners($what)];
        $edges{$one}{$two} = 1 if $one ne $two && !@{$of{$what}}; # a private header belongs to its files
        my $by = $file =~ s{^src/}{}r;
        push @breach, "$file:$row: $what is private to others" if @{$of{$what}} && !grep { $by =~ /^$_$/ } @{$of{$what}};
        next unless defined $floor;
        push @up, "$file:$row: $floor includes $what" unless $below{$floor}{$to};
        push @inside, "$file:$row: $what is private to src/backend" if $to eq 'backend' && $floor ne 'backend' &&
            $what !~ m{backend/(backend|ops|acts)\.(h|def)|backend/(cases/opcase|peak|card|nvml|guests|toolkit)\.h};
    }
}
# kernels: their dialect (files beside the folders), products, operations, the card
my %kernels = ('' => [''], product => ['', 'product'], ops => ['', qw(product ops)], card => ['', qw(product ops card)]);
for my $file (sort glob("kernels/*.* kernels/*/*.*")) {
    my $by = folder($file);
    open my $in, '<', $file or die;
    while (<$in>) {
        next unless /^\s*#\s*include\s+"([^"]+)"/;
        my ($what, $row) = ($1, $.); my $to = $what =~ m{^(\w+)/} ? $1 : '';
        if (-e "kernels/$what") {
            push @up, "$file:$row: kernels/$by includes $what" unless grep { $_ eq $to } @{$kernels{$by}};
            my ($one, $two) = map { s{\.\w+$}{}r } $file, "kernels/$what";
            $edges{$one}{$two} = 1 if $one ne $two;
        } else { push @up, "$file:$row: kernels include $what" unless $what =~ m{^(?:base|backend)/|^device_emulated} }
    }
}
result(!@up, "includes point down", @up);
result(!@inside, "one door to the backend", @inside);
result(!@breach, "private headers are private", @breach);
my (%state, @circle);
sub visit { my ($f, @path) = @_; return if ($state{$f}||0) == 2; if (($state{$f}||0) == 1) { push @circle, join " > ", @path, $f; return }
    $state{$f} = 1; visit($_, @path, $f) for sort keys %{$edges{$f}||{}}; $state{$f} = 2 }
visit($_) for sort keys %edges;
result(!@circle, "no circles between files", @circle);
# the same of calls, by the symbols of the objects of this build
my $build = $ENV{BUILD} || 'build';
my (%def, %use, %calls, @above, @across);
my ($cards) = grep { -d } map { "$build/$_" } qw(kernels/card emulate/plain/obj/kernels/card emulate/shadow/obj/kernels/card);
my @roots = ("$build/obj", $cards ? $cards =~ s{/card$}{}r : ());
for (`find @roots -name '*.o' -print0 2>/dev/null | xargs -0 nm -A 2>/dev/null`) {
    my ($object, $unit, $kind, $name) = m{^((?:.*/obj/(?!kernels/)|.*/(?=kernels/))(.*)\.o):[0-9a-f ]* ([A-Za-z]) (\S+)} or next;
    if ($unit =~ /^kernels/) { next if !-e "$unit.cu" || -M "$unit.cu" < -M $object } # it went, or the object is older
    elsif (!-e "src/$unit.c") { next }
    if ($kind =~ /[TDBRVW]/) { $def{$name} = $unit } elsif ($kind =~ /[Uwv]/) { $use{$unit}{$name} = 1 }
}
for my $unit (sort keys %use) { for my $name (sort keys %{$use{$unit}}) {
    my $to = $def{$name}; next if !defined $to || $to eq $unit;
    $calls{$unit}{$to} = 1;
    my ($from_room, $room) = map { m{^(\w+)/} } $unit, $to;
    push @above, "$unit takes $name of $to" if $from_room && $room && ($from_room ne $room || $room ne 'kernels'
        ? $room ne 'kernels' && !($below{$from_room} || $below{backend})->{$room}
        : $name !~ /^_Z\d+device_/ && !grep { $_ eq folder($to) } @{$kernels{folder($unit)}}); # device_*: what a card answers
} }
sub folder { $_[0] =~ m{^kernels/(\w+)/} ? $1 : '' }
my ($count, %number, %lowest, %open, @open) = 0;
no warnings 'recursion';
sub walk { my $v = shift; # Tarjan, 1972: the parts of a graph in which each reaches each
    $number{$v} = $lowest{$v} = $count++; push @open, $v; $open{$v} = 1;
    for my $w (sort keys %{$calls{$v}||{}}) {
        if (!defined $number{$w}) { walk($w); $lowest{$v} = $lowest{$w} if $lowest{$w} < $lowest{$v} }
        elsif ($open{$w}) { $lowest{$v} = $number{$w} if $number{$w} < $lowest{$v} }
    }
    return if $lowest{$v} != $number{$v};
    my (@part, %folder);
    while (1) { my $w = pop @open; $open{$w} = 0; push @part, $w; $folder{$w =~ m{^(.*)/} ? $1 : ''} = 1; last if $w eq $v }
    push @across, join ' ', sort @part if keys %folder > 1 }
walk($_) for grep { !defined $number{$_} } sort keys %use;
if (%use) { result(!@above, "calls point down", @above); result(!@across, "no circle of calls crosses two folders", @across) }
else { $n += 2; print "ok ", $n - 1, " # SKIP no objects\nok $n # SKIP no objects\n" }
print "1..$n\n"; exit($bad ? 1 : 0);
PERL
