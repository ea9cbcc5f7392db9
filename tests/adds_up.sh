# adds_up.sh - for tests of `explain --rows`, behind tap.sh: the attributions of every line add up to answer - base, and ids and answers
# are those of predict.
#
#     adds_up MODEL WHY DATA COLUMN NAME  # COLUMN of predict that is explained; best: the largest probability
#
# shellcheck shell=bash
adds_up() {
    dnn predict "$1" "$3" --quiet >p
    perl -e 'open my $p, "<", "p"; open my $w, "<", shift; my $name = shift;
        my @n = split /,/, scalar(<$p>) =~ s/\n//r; my @c = split /,/, scalar(<$w>) =~ s/\n//r;
        my ($at) = grep { $n[$_] eq $name } 0 .. $#n; my ($ids) = grep { $n[$_] eq "prediction" } 0 .. $#n; my $rows = 0;
        while (<$w>) { chomp; my @v = split /,/; my @a = split /,/, scalar(<$p>) =~ s/\n//r; my ($answer, $base) = (pop @v, pop @v);
        my $sum = 0;
            for my $i (0 .. $ids - 1) { $v[$i] eq $a[$i] or die "row $rows: $v[$i] is not $a[$i]\n" }
            for my $i ($ids .. $#v) { $sum += $v[$i] if $c[$i] ne "prediction" }
            my $want = $name eq "best" ? (sort { $b <=> $a } @a[$ids + 1 .. $#a])[0] : $a[$at];
            die "row $rows: $sum is not $answer - $base\n" if abs($sum - $answer + $base) > 1e-6 * (1 + abs $answer);
            die "row $rows: $answer, predict says $want\n" if abs($answer - $want) > 1e-6 * (1 + abs $want); $rows++ }
        die "predict has more\n" if <$p>; print "$rows rows\n"; exit !$rows' "$2" "$4" >why 2>&1
    ok $? "$5" "$(cat why)"
}
