#!/usr/bin/env perl
# ptxas_table.pl TOOLKIT FILE... - registers, shared bytes and spills of each kernel and architecture, from what ptxas -v said.
use strict; use warnings;
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
