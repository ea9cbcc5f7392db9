#!/bin/bash
# intervals.sh - the keys `intervals` and `sets`: the columns of predict, what evaluate measures of them, the model file and every
# way to make one, and what is refused. The rank of the scores is tests/unit/measure_conform.c.
. "$(dirname "$0")/../tap.sh"
make_values() { # FILE ROWS SEED [SPAN]: errors grow with b; in a wide span with the value alone
    perl -e 'my ($rows, $seed, $span) = @ARGV; srand $seed; print "id,a,b,w,y\n"; for (1 .. $rows) { my ($a, $b) = (rand(4) - 2, rand);
        my $n = 0; $n += rand for 1 .. 12;
        printf "%d,%.4f,%.4f,%d,%.5f\n", $_, $a, $b, $_ % 3 + 1, exp($a * $span + sin(4 * $b) + ($span > 1 ?
        0.5 : 0.1 + $b) * ($n - 6) / 2) }' "$2" "$3" "${4:-0.5}" >"$1"
}
make_values v.csv 1200 1
make_values more.csv 3000 2
cat >v.json <<'JSON'
{"task": "regression", "data": {"train": "v.csv", "target": "y", "columns": {"id": "id", "a": "numeric", "b": "numeric"},
  "split": {"method": "random", "valid": 0.3, "test": 0.2}},
 "model": {"preset": "mlp", "hidden": [16]}, "train": {"epochs": 20, "optimizer": {"learning_rate": 0.02}}, "intervals": 0.9}
JSON
holds() { # NAME MODEL FILE [LEAST MOST]: coverage of new rows
    dnn evaluate "$2" "$3" -q --json >judged
    check "$1" perl -0777 -e 'my ($json, $least, $most) = @ARGV; open my $in, "<", $json; my ($c) = <$in> =~ /"coverage":([0-9.]+)/;
        print "coverage $c\n"; exit !($c >= $least && $c <= $most)' judged "${4:-0.87}" "${5:-0.93}"
}
# what predict writes is what evaluate measures
agrees() { # NAME MODEL
    dnn predict "$2" more.csv -q >answers.csv
    dnn evaluate "$2" more.csv -q --json >judged
    check "$1" perl -e 'my ($rows, $answers, $json) = @ARGV; open my $j, "<", $json; my $text = join "", <$j>;
        my ($c) = $text =~ /"coverage":([0-9.e-]+)/; my ($w) = $text =~ /"width":([0-9.e-]+)/;
        open my $r, "<", $rows; <$r>; open my $a, "<", $answers; my $head = <$a>; my ($in, $width, $n) = (0, 0, 0);
        while (my $line = <$a>) { chomp $line; my ($id, $p, $low, $high) = split /,/, $line; my $y = (split /,/, <$r>)[4];
        $in += $low <= $y && $y <= $high; $width += $high - $low; $n++; die "$line\n" if $low > $p || $p > $high }
        print "$head $in of $n, width ", $width / $n, "; $c $w\n"; exit !($head =~ /^id,prediction,low,high$/ &&
        abs($in / $n - $c) < 1e-9 && abs($width / $n - $w) < 1e-6 * $w)' more.csv answers.csv judged
}
run dnn train v.json -o one.dnn --progress none --require 'coverage>=0.8'
is_exit 0 "one network with intervals, and a gate on coverage"
err_has "note: intervals of 0.9 are of one width for all rows" "a note says what they are"
agrees "predict and evaluate agree" one.dnn
holds "nine of ten new rows are inside" one.dnn more.csv
run dnn evaluate one.dnn more.csv --require 'coverage>=0.99' --require 'width<=1000'
is_exit 82 "a gate on coverage"
out_has "gate coverage>=0.99: NOT met" "is judged"
out_has "gate width<=1000: met" "beside one on width"
run dnn inspect one.dnn
out_has "intervals  0.9, value" "inspect shows them"
run dnn inspect one.dnn --json
out_has '"intervals":{"level":0.9,"rule":"value","reach":' "inspect --json shows the intervals"
run dnn verify one.dnn
is_exit 0 "verify is as before"
dnn train v.json -o one2.dnn -q --progress none --threads 1
same one.dnn one2.dnn "the same bytes by one thread"
dnn train v.json -o plain.dnn -q --progress none --set intervals=null
is "$(dnn predict plain.dnn more.csv -q | sha256sum)" "$(dnn predict one.dnn more.csv -q | cut -d, -f1,2 | sha256sum)" \
    "the answers are those of a model without"
# in the learnt scale
mv more.csv all.csv
make_values l.csv 1200 3 1.5
make_values more.csv 3000 4 1.5
dnn train v.json -o log.dnn --progress none --set data.train=l.csv --set target_transform=log 2>err
err_has "of one width in the learnt scale of the target: on the validation rows their mean width is" "ratios for amounts"
agrees "predict and evaluate agree, in the learnt scale" log.dnn
holds "nine of ten, in the learnt scale" log.dnn more.csv
mv more.csv wide.csv
mv all.csv more.csv
# members that differ where the errors are larger
ensemble='ensemble={"folds":3,"select":"mean","members":[{"name":"a"},'
ensemble+='{"name":"b","model":{"preset":"mlp","hidden":[8],"activation":"tanh"}},'
ensemble+='{"name":"l","model":{"preset":"linear"}}]}'
for transform in none quantile; do
    sets=(--set "$ensemble" --set target_transform=$transform --set train.epochs=8)
    run dnn train v.json -o e.dnn --force --progress none "${sets[@]}"
    is_exit 0 "an ensemble, target_transform $transform"
    agrees "predict and evaluate agree, ensemble, $transform" e.dnn
    holds "nine of ten, ensemble, $transform" e.dnn more.csv
done
cp e.dnn whole.dnn
for i in {0..8}; do dnn train v.json --run "$i" -o "part$i" -q --progress none "${sets[@]}"; done
dnn merge v.json part? -o merged.dnn -q "${sets[@]}"
same whole.dnn merged.dnn "merge gives the bytes of train"
# weights count
dnn train v.json -o w.dnn -q --progress none --set data.columns.w=weight
holds "nine of ten of the weight" w.dnn more.csv
# cv fits them in each fold, and measures them on the rows that it left out
run dnn cv v.json --folds 3 --progress none
is_exit 0 "cv of one network, which has validation rows in each fold"
check "coverage of all folds" perl -ne 'print; $c = $1 if /^dnn: pooled .* coverage ([0-9.]+) /; END { exit !($c > 0.86 && $c < 0.94) }' err
run dnn cv v.json --folds 3 --progress none --set 'ensemble={"folds":2}' --set train.epochs=5
is_exit 0 "cv of an ensemble"
err_has " coverage 0." "has coverage too"
oof_agrees() { # NAME COLUMNS TRUTH OPTION..: what cv writes is what it measures
    local name=$1 head=$2 truth=$3; shift 3
    dnn cv "$@" --folds 3 -q --progress none -o oof.csv --json >judged
    check "$name" perl -e 'my ($head, $truth, $json) = @ARGV; open my $j, "<", $json; my ($pooled) = join("", <$j>) =~ /"pooled":\{(.*?)\}/;
        my ($c) = $pooled =~ /"coverage":([0-9.e-]+)/; my ($s) = $pooled =~ /"(?:width|set_size)":([0-9.e-]+)/;
        open my $r, "<", $truth; <$r>; open my $a, "<", "oof.csv"; my $got = <$a>; my ($in, $size, $n) = (0, 0, 0);
        while (my $line = <$a>) { chomp $line; my @f = split /,/, $line; chomp(my $row = <$r>); my $y = (split /,/, $row)[-1]; $n++;
            if ($head =~ /set$/) { my @set = split /\|/, $f[-1]; $in += grep { $_ eq $y } @set; $size += @set; die $line unless grep {
            $_ eq $f[2] } @set }
            else { $in += $f[3] <= $y && $y <= $f[4]; $size += $f[4] - $f[3]; die $line if $f[3] > $f[2] || $f[4] < $f[2] } }
        print "$got $in of $n, ", $size / $n, "; $c $s\n"; exit !($got eq "$head\n" && abs($in / $n - $c) < 1e-9 &&
        abs($size / $n - $s) < 1e-6 * $s)' "$head" "$truth" judged
}
oof_agrees "cv -o has low and high" id,fold,prediction,low,high v.csv v.json
oof_agrees "of an ensemble too" id,fold,prediction,low,high v.csv v.json \
    --set 'ensemble={"folds":2,"members":[{"name":"a"},{"name":"b","model":{"hidden":[4]}}]}' --set train.epochs=5
awk -F, 'NR > 1 { $5 = $5 > 1.5 ? "high" : $5 > 0.8 ? "mid" : "low" } { print $1 "," $2 "," $3 "," $4 "," $5 }' v.csv >c.csv
oof_agrees "cv -o has sets" id,fold,prediction,probability_high,probability_low,probability_mid,set c.csv v.json --set task=multiclass \
    --set data.train=c.csv --set intervals=null --set sets=0.9 --set train.epochs=5
# --better-than by the width: the mean of high - low, of intervals of one level
dnn train v.json -o short.dnn -q --progress none --set train.epochs=1
mean_width() { dnn predict "$1" more.csv -q | awk -F, 'NR > 1 { s += $4 - $3; n++ } END { printf "%.6g", s / n }'; }
run dnn evaluate one.dnn more.csv -q --better-than short.dnn --on width
is_exit 0 "one is better than another by the width of its intervals"
check "the widths are those of predict" awk -v a="$(mean_width one.dnn)" -v b="$(mean_width short.dnn)" '/^gate width/ {
    sub(/.*[(]/, "", $7); n++; bad += ($7 / a - 1) ^ 2 > 1e-10 || ($9 / b - 1) ^ 2 > 1e-10 } END { exit !(n == 1 && !bad) }' out
run dnn evaluate short.dnn more.csv -q --better-than one.dnn --on width
is_exit 82 "the model of wider intervals is not better"
dnn train v.json -o none.dnn -q --progress none --set intervals=null
run dnn evaluate one.dnn more.csv -q --better-than none.dnn --on width
is_exit 65 "a model without intervals has no width (E1422)"
err_has "none.dnn: it has no intervals, so that it has no width" "says why"
dnn train v.json -o half.dnn -q --progress none --set intervals=0.5
run dnn evaluate half.dnn more.csv -q --better-than one.dnn --on width
is_exit 65 "intervals of another level are narrower for that alone"
err_has "its intervals are of the level 0.9, and those of half.dnn of 0.5" "says why"
run dnn evaluate none.dnn more.csv -q --better-than one.dnn --on width
is_exit 64 "the model itself has no width"
# few groups: the level + 1 / n of it, and a note
awk -F, 'NR == 1 { print $0 ",g"; next } { print $0 ",g" int(NR / 30) }' v.csv >groups.csv
run dnn train v.json -o g.dnn --progress none --set data.train=groups.csv --set data.columns.g=group --set data.split.method=group \
    --set train.epochs=3
is_exit 0 "intervals of few groups" "$(cat err)"
check "train says what they hold" perl \
    -ne '$hit = 1 if /the validation rows are of about (\d+) groups or sequences.* made to hold ([0-9.]+) %/ &&
    abs($2 - 90 * (1 + 1 / $1)) < 1; END { exit !$hit }' err
# beside other columns
is "$(dnn predict whole.dnn more.csv -q --uncertainty --passthrough b | head -n 1)" "id,b,prediction,low,high,uncertainty" \
    "columns of an ensemble"
echo 'id,a,b
1,x,1' >bad.csv
is "$(dnn predict whole.dnn bad.csv -q --on-bad-row null --null NA --uncertainty | tail -n 1)" "1,NA,NA,NA,NA" "a row without an answer"
run dnn predict one.dnn more.csv --uncertainty
is_exit 65 "--uncertainty of one network (E1424)"
err_has "this model is one network" "says why"
sed '1s/b/low/' more.csv >low.csv
run dnn predict one.dnn low.csv --passthrough low
is_exit 65 "a column is missing"
sed '1s/w/low/' more.csv >low.csv
run dnn predict one.dnn low.csv --passthrough low
is_exit 64 "a column of the input named low"
run dnn train v.json -o x.dnn --set data.train=low.csv --set data.columns.low=id --progress none
is_exit 78 "an id column named low"
# labels
perl -e 'for my $f (["c.csv", 1500, 1], ["c_more.csv", 3000, 2]) { my ($file, $rows, $seed) = @$f; srand $seed; open my $out, ">", $file;
    print $out "a,b,y\n"; for (1 .. $rows) { my ($u, $v) = (rand(4) - 2, rand(4) - 2);
    my @z = ($u, $v, -$u - $v); $_ += rand(3) for @z; my ($best) = sort { $z[$b] <=> $z[$a] } 0 .. 2;
    printf $out "%.4f,%.4f,%s\n", $u, $v, ("x|1", "y\\2", "\"z,3\"")[$best] } }'
cat >c.json <<'JSON'
{"task": "multiclass", "data": {"train": "c.csv", "target": "y", "columns": {"a": "numeric", "b": "numeric"}, "split": {"method": "random",
  "valid": 0.3, "test": 0.2}},
 "model": {"preset": "mlp", "hidden": [16]}, "train": {"epochs": 12, "optimizer": {"learning_rate": 0.01}}, "sets": 0.9}
JSON
for how in one folds; do
    dnn train c.json -o c.dnn -q --force --progress none $([ $how = folds ] && echo --set 'ensemble={"folds":3}')
    holds "nine of ten labels are in their set, $how" c.dnn c_more.csv
    dnn predict c.dnn c_more.csv -q >answers.csv
    check "sets as evaluate measures them, $how" perl -e 'my ($rows, $answers, $json) = @ARGV; open my $j, "<", $json;
        my $text = join "", <$j>; my ($c) = $text =~ /"coverage":([0-9.e-]+)/; my ($size) = $text =~ /"set_size":([0-9.e-]+)/;
        open my $r, "<", $rows; <$r>; open my $a, "<", $answers; my $head = <$a>; my ($in, $all, $n) = (0, 0, 0);
        my $field = qr/"([^"]*)"|([^,\n]*)/;
        while (my $line = <$a>) { my ($set) = $line =~ /,$field\n/ ? $1 // $2 : die; my ($label) = $line =~ /^$field/ ? $1 // $2 : die;
        my ($y) = <$r> =~ /,$field\n/ ? $1 // $2 : die; my @set = map { s{\\(.)}{$1}gr } $set =~ /((?:[^|\\]|\\.)+)/g;
            $in += grep { $_ eq $y } @set; $all += @set; $n++; die "$line without its answer\n" unless grep { $_ eq $label } @set }
        print "$head$in of $n, size ", $all / $n, "; $c $size\n"; exit !($head =~ /,set$/ && abs($in / $n - $c) < 1e-9 &&
        abs($all / $n - $size) < 1e-9)' c_more.csv answers.csv judged
done
is "$(dnn predict c.dnn c_more.csv -q --top 1 --uncertainty | head -n 1)" "prediction,probability,set,uncertainty" "behind --top"
run dnn inspect c.dnn
out_has "sets       0.9, labels of at least 0." "inspect shows them"
run dnn evaluate c.dnn c_more.csv -q --require 'set_size<=2.5' --require 'coverage.low>=0.8'
is_exit 0 "gates on sets"
# the report: tenths of the answers, labels
dnn report one.dnn more.csv -o r.html -q
check "the report has a row for each tenth, and the rows are all there" perl -0777 -ne '($t) = /<h2>Intervals.*?<tbody>(.*?)<\/tbody>/s;
    @rows = $t =~ /<tr>/g; $n += $_ for $t =~ m{</td><td class="n">([0-9]+)</td>}g; print scalar(@rows), " of $n";
    exit !(@rows == 10 && $n == 3000)' r.html
dnn report c.dnn c_more.csv -o r.html -q
check "the report has a row for each label" perl -0777 -ne '($t) = /<h2>Intervals.*?<tbody>(.*?)<\/tbody>/s; @rows = $t =~ /<tr>/g;
    exit !(@rows == 3 && /Size of the sets/)' r.html
# two labels: a threshold of one's own is in the set
sed 's/y\\2/x|1/' c.csv >two.csv
dnn train c.json -o two.dnn -q --progress none --set data.train=two.csv --set task=binary --set 'data.positive="x|1"' --set sets=0.5
check "the answer is in every set" perl -e 'my $all = 0; while (<STDIN>) { next if $. == 1; my ($answer) = /^("[^"]*"|[^,]*)/;
    my ($set) = /("[^"]*"|[^,]*)\n/; $answer =~ s/"//g; $set =~ s/"//g; $answer =~ s/\|/\\|/; exit 1 if index($set, $answer) < 0; $all++ }
    exit !$all' \
    < <(dnn predict two.dnn c_more.csv -q --threshold 0.95)
# windows of series, and rows of them
perl -e 'srand 4; print "s,t,x,y\n"; for my $s (1 .. 150) { my $m = rand(4) - 2; for my $t (1 .. 6) { my $x = $m + rand() - 0.5;
    printf "s%d,%d,%.4f,%.4f\n", $s, $t, $x, $m + rand() - 0.5 } }' >series.csv
cat >series.json <<'JSON'
{"task": "regression", "data": {"train": "series.csv", "target": "y", "columns": {"s": "group", "t": "ignore", "x": "numeric"},
  "split": {"method": "group", "valid": 0.4, "test": 0.2},
 "sequence": {"group": "s", "order": "t", "window": 3, "stride": 3, "label": "row"}}, "model": {"preset": "gru", "hidden": [8]},
 "train": {"epochs": 6, "optimizer": {"learning_rate": 0.02}}, "intervals": 0.8}
JSON
for label in row last group; do
    run dnn train series.json -o s.dnn --force --progress none --set data.sequence.label=$label
    is_exit 0 "sequences, label $label"
    holds "their coverage, label $label" s.dnn series.csv 0.66 0.92
done
# refused
run dnn check v.json --set sets=0.9 --set intervals=null
is_exit 78 "sets of values"
run dnn check c.json --set intervals=0.9 --set sets=null
is_exit 78 "intervals of labels"
err_has "set \`sets\` instead" "names the other key"
run dnn check v.json --set 'train.loss={"type":"quantile","q":0.9}'
is_exit 78 "intervals around a quantile"
run dnn check v.json --set intervals=1
is_exit 64 "a level of 1"
run dnn check v.json --set data.split.valid=0
is_exit 78 "no rows to measure by"
err_has '`intervals` 0.9 needs at least 9 validation rows, and there are 0' "says how many"
run dnn check v.json --set intervals=0.999 --set 'ensemble={"folds":2}'
is_exit 78 "a level that asks for more rows than there are"
run dnn evaluate plain.dnn more.csv --require 'coverage>=0.9'
is_exit 64 "a gate on coverage of a model without intervals"
# a second reader, where there is one
if ${PYTHON:-python3} -c 'import numpy' 2>/dev/null; then
    for m in one log whole c; do
        data=more.csv; [ $m = c ] && data=c_more.csv
        dnn predict $m.dnn $data -q >mine.csv
        ${PYTHON:-python3} "$ROOT/scripts/read_model.py" $m.dnn $data >theirs.csv
        check "read_model.py: $m" perl -e 'open my $a, "<", $ARGV[0]; open my $b, "<", $ARGV[1]; my $ids = $ARGV[2]; my $n = 0;
            while (my $x = <$a>) { my $y = <$b>; $x =~ s/^[^,]*,// if $ids; my @x = split /,/, $x; my @y = split /,/, $y;
            @x == @y or die "$x$y";
            for (0 .. $#x) { next if $x[$_] eq $y[$_]; my $d = abs($x[$_] - $y[$_]); $d <= 2e-5 * (1 + abs $x[$_]) or die "$x$y" } $n++ }
            exit !($n > 100)' mine.csv theirs.csv "$([ $m = c ] || echo 1)"
    done
else
    skip "read_model.py of intervals and sets" "no numpy"
fi
done_testing
