#!/usr/bin/env perl
# ptxas_table.pl TOOLKIT FILE... - registers, shared bytes and spills of each kernel and architecture, from what ptxas -v said.
# ptxas_table.pl --compare KEPT NEW - two such tables, for the architectures both have. Of one toolkit: the same kernels with
# the same shared memory, no more spilled bytes, and as many registers to an eighth (ptxas itself is not the same twice: one
# source has given 78 and 80). Of another toolkit only more spilled bytes in a hot kernel fail (products, fused steps, updates,
# gather). Other differences are shown.
use strict; use warnings;
compare(@ARGV[1, 2]) if @ARGV && $ARGV[0] eq '--compare';
sub table {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!\n";
    my (%cell, $toolkit);
    while (<$in>) {
        if (/^# toolkit (\S+):/) { $toolkit = $1; next }
        my ($kernel, @archs) = split /  (?=sm_)/, s/\n//r;
        for (@archs) { $cell{"$kernel $1"} = $2 if /^(sm_\w+) (\S+)/ }
    }
    return ($toolkit, \%cell);
}
sub compare {
    my ($kept_toolkit, $kept) = table($_[0]);
    my ($toolkit, $new) = table($_[1]);
    my ($here, $before) = map { my %a = map { (/ (sm_\w+)$/)[0] => 1 } keys %$_; \%a } $new, $kept;
    my $same = $kept_toolkit eq $toolkit;
    my $bad = 0;
    for my $key (sort keys %{{%$kept, %$new}}) {
        my $arch = (split / /, $key)[-1];
        next unless $here->{$arch} && $before->{$arch};
        my ($a, $b) = ($kept->{$key} // '-', $new->{$key} // '-');
        next if $a eq $b;
        my ($registers, $shared, $spilled) = $a eq '-' ? (0, 0, 0) : split m{/}, $a;
        my ($registers_now, $shared_now, $spilled_now) = $b eq '-' ? (0, 0, 0) : split m{/}, $b;
        my $hot = $key =~ /^(?:gemm|mlp|update|gather|dense)/ && $spilled_now > $spilled;
        my $other = $a eq '-' || $b eq '-' || $shared != $shared_now || $spilled_now > $spilled
                    || abs($registers_now - $registers) > $registers / 8;
        my $fails = $same ? $other : $hot;
        $bad++ if $fails;
        print $fails ? "differs: " : $same ? "a little else: " : "another toolkit: ", "$key: $a, now $b\n";
    }
    print "toolkit $kept_toolkit kept, $toolkit here\n" if $bad || !$same;
    print "meant: make kernel-table\n" if $bad;
    exit($bad ? 1 : 0);
}
my $toolkit = shift @ARGV;
my (%row, $name, $arch, $spill);
for my $file (@ARGV) {
    open my $in, '<', $file or die "$file: $!\n";
    while (<$in>) {
        if (/Compiling entry function '(\S+)' for 'sm_(\w+)'/) { ($name, $arch, $spill) = ($1, $2, 0) }
        elsif (/(\d+) bytes spill stores, (\d+) bytes spill loads/) { $spill = $1 + $2 }
        elsif (defined $name && /Used (\d+) registers/) {
            my $registers = $1;
            my ($shared) = /(\d+) bytes smem/;
            $row{$name}{$arch} = [$registers, $shared // 0, $spill];
            undef $name;
        }
    }
}
# as c++filt writes them, without the arguments; the tool is part of binutils
my @names = sort keys %row;
my %plain = map { $_ => $_ } @names;
if (open my $filt, '-|', 'c++filt', '-p', @names) {
    my @lines = <$filt>;
    chomp @lines;
    @plain{@names} = @lines if @lines == @names;
}
print "# toolkit $toolkit: registers / shared bytes / spilled bytes\n";
for my $n (sort { $plain{$a} cmp $plain{$b} } @names) {
    (my $text = $plain{$n}) =~ s/\(product\)//g;
    print $text, join('', map { sprintf "  sm_%s %d/%d/%d", $_, @{$row{$n}{$_}} } sort { $a =~ s/\D//gr <=> $b =~ s/\D//gr } keys %{$row{$n}}), "\n";
}
