#!/usr/bin/perl
# effects_by_hand.pl - recomputes a file of `dnn explain --effects` from the program's own answers: for each line the cells of the
# column are replaced in the file, all rows are answered by `dnn predict`, and the answers are averaged; of a word, in the rows that
# have it, the text without it. Rows of the data with simple cells (no quotes), at most as many as the sample holds.
#
#     effects_by_hand.pl DNN MODEL DATA.csv EFFECTS.csv [WEIGHT-COLUMN]      prints "LINES largest difference"; exit 1 above 1e-6
use strict; use warnings;
my ($dnn, $model, $data, $effects, $weight_name) = @ARGV;
sub rows { open my $in, '<', shift or die; map { chomp; [split /,/, $_, -1] } <$in> }
my ($head, @rows) = rows($data);
my ($effect_head, @effects) = rows($effects);
my %at = map { $head->[$_] => $_ } 0 .. $#$head;
my $classes = $effect_head->[-1] eq 'class';
@rows = grep { !$weight_name || $_->[$at{$weight_name}] > 0 } @rows;
my @weight = map { $weight_name ? $_->[$at{$weight_name}] : 1 } @rows;
my (@changed, %place, %seen);
sub add { my ($key, $rows) = @_; $place{$key} = [scalar @changed, scalar @$rows]; push @changed, @$rows }
sub set { my ($column, $i, $value) = @_; my @row = @{$rows[$i]}; $row[$at{$column}] = $value; \@row }
sub without { my ($text, $word) = @_; join ' ', grep { lc $_ ne $word } split / /, $text }
my %shown; $shown{"$_->[0] $_->[2]"} = 1 for grep { $_->[1] eq 'value' } @effects;
add('base', \@rows);
my %with; # rows that have a word
for my $e (@effects) {
    my ($column, $kind, $value) = @$e; my $key = "$column $kind $value";
    next if $seen{$key}++;
    my @own = map { $_->[$at{$column}] } @rows;
    my @others = grep { $own[$_] ne '' && !$shown{"$column $own[$_]"} } 0 .. $#rows;
    # in the order of the program: the categories with most weight first, of equal ones the first by bytes; their rows in order
    my %size; $size{$own[$_]} += $weight[$_] for @others;
    @others = sort { $size{$own[$b]} <=> $size{$own[$a]} || $own[$a] cmp $own[$b] || $a <=> $b } @others;
    if ($kind eq 'word') {
        $with{$key} = [grep { grep { lc $_ eq $value } split / /, $own[$_] } 0 .. $#rows];
        add($key, [map { set($column, $_, without($own[$_], $value)) } @{$with{$key}}]);
    } else {
        add($key, [map { set($column, $_, $kind eq 'missing' ? '' : $kind eq 'other' ? $own[$others[$_ % @others]] : $value) } 0 .. $#rows]);
    }
}
open my $out, '>', 'by_hand.csv' or die;
print $out join(',', @$_), "\n" for $head, @changed;
close $out;
system("$dnn predict $model by_hand.csv -o by_hand.out --quiet 2>by_hand.err") == 0 or die "predict";
my ($answer_head, @answers) = rows('by_hand.out');
my $first_positive;
sub answer_column { my ($class) = @_;
    my @found = grep { $classes ? $answer_head->[$_] eq "probability_$class" : $answer_head->[$_] =~ /^(probability_|prediction$|value)/ } 0 .. $#$answer_head;
    return $classes ? $found[0] : (grep { $answer_head->[$_] =~ /^probability_/ } @found)[-1] // $found[-1] }
sub quantile { my ($share, $values, $weights) = @_;
    my @order = sort { $values->[$a] <=> $values->[$b] } 0 .. $#$values; my ($all, $below) = (0, 0); $all += $_ for @$weights;
    for (@order) { $below += $weights->[$_]; return $values->[$_] if $below >= $share * $all * (1 - 1e-12) } }
my ($most, $lines, $wrong) = (0, 0, 0);
for my $e (@effects) {
    my ($column, $kind, $value, $count, $mean, $low, $high, $class) = @$e; my $key = "$column $kind $value";
    my ($from, $n) = @{$place{$key}}; my $c = answer_column($class // '');
    my @row_of = $kind eq 'word' ? @{$with{$key}} : 0 .. $#rows;
    my @v = map { my $v = $answers[$from + $_][$c]; $kind eq 'word' ? $answers[$row_of[$_]][$c] - $v : $v } 0 .. $n - 1;
    my @w = map { $weight[$_] } @row_of; my ($sum, $all) = (0, 0);
    $sum += $w[$_] * $v[$_], $all += $w[$_] for 0 .. $#v;
    my $scale = 1; $scale = abs $_ > $scale ? abs $_ : $scale for @v;
    for my $pair ([$mean, $sum / $all], [$low, quantile(0.1, \@v, \@w)], [$high, quantile(0.9, \@v, \@w)]) {
        my $off = abs($pair->[0] - $pair->[1]) / $scale; $most = $off if $off > $most;
        $off <= 1e-6 or print STDERR "$key: $pair->[0], by hand $pair->[1]\n" and $wrong++;
    }
    $kind ne 'word' || $count == @row_of or print STDERR "$key: $count rows, by hand ", scalar @row_of, "\n" and $wrong++;
    $lines++;
}
printf "%d %.2g\n", $lines, $most;
exit($wrong || !$lines ? 1 : 0);
