#!/bin/bash
# tagging.sh - sequences in long format, a row a step: a label a row, a window or a group; what windows, blocks, batches and
# neighbours must not change; rows that are not in order, bad rows, folds, resume, and what init writes.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/adds_up.sh"
make=$ROOT/scripts/data/make_tagging.pl
[ -e "$make" ] || make=$ROOT/../scripts/data/make_tagging.pl
perl "$make" 200 1 >train.csv
perl "$make" 12 7 >ask.csv
config() { # SEQUENCE [TASK [MODEL [TRAIN]]]
    cat >c.json <<JSON
{"task": "${2:-tagging}",
 "data": {"train": "train.csv", "target": "y", "columns": {"series": "id", "t": "id", "cue": "categorical", "noise": "numeric"},
          "sequence": {"group": "series", "order": "t", $1}},
 "model": ${3:-"{\"preset\": \"gru\", \"hidden\": [8]}"}, "train": {${4:-"\"epochs\": 3"}}, "backend": {"name": "dnn_cpu"}}
JSON
}
accuracy() { perl -ne 'print $1 if /"test":\{[^}]*"accuracy":([0-9.e-]+)/'; }
# what is to be learned stands 20 rows back and more
steps='"epochs": 30, "batch_size": 8, "optimizer": {"learning_rate": 0.02}'
config '"window": 130' tagging '{"preset": "gru", "hidden": [32], "bidirectional": false, "dropout": 0}' "$steps"
got=$(dnn train c.json -o row.dnn --quiet --json 2>err | accuracy)
ok "$(perl -e 'print $ARGV[0] > 0.95 ? 0 : 1' "${got:-0}")" "gru knows what stood 20 rows back: accuracy $got" "$(cat err)"
config '"window": 130' tagging '{"preset": "mlp", "hidden": [32]}' "$steps"
got=$(dnn train c.json -o mlp.dnn --quiet --json 2>err | accuracy)
ok "$(perl -e 'print $ARGV[0] > 0.2 && $ARGV[0] < 0.6 ? 0 : 1' "${got:-0}")" "a network of single rows does not: accuracy $got" "$(cat err)"
# a line a row, in their order
run dnn predict row.dnn ask.csv -o out.csv
is_exit 0 "predict"
cut -d, -f1,2 ask.csv >want
cut -d, -f1,2 out.csv >have
same want have "one line a row, in their order"
dnn evaluate row.dnn ask.csv --json --quiet >eval.json
ok "$(perl -ne 'print $1 > 0.95 ? 0 : 1 if /"accuracy":([0-9.e-]+)/' eval.json)" "evaluate agrees" "$(cat eval.json)"
grep -q '"stormy":{"precision"' eval.json
ok $? "evaluate has metrics of each label"
check "verify" "$DNN" verify row.dnn --quiet

# overlapping windows: the answers of a row are averaged, as of windows that are groups of their own
config '"window": 16, "stride": 5'
dnn train c.json -o lap.dnn --quiet
config '"window": 16'
dnn train c.json -o tile.dnn --quiet --set model.hidden=[8]
perl -F, -lane 'if ($. == 1) { print; next } push @{$g{$F[0]}}, $_; push @o, $F[0] if @{$g{$F[0]}} == 1;
    END { for $s (@o) { @r = @{$g{$s}}; for ($b = 0; ; $b += 5) { for $i ($b .. $b + 15) { next if $i > $#r;
    ($x = $r[$i]) =~ s/^[^,]*/$s.$b/;
    print $x } last if $b + 16 > $#r } } }' ask.csv >apart.csv
dnn predict lap.dnn ask.csv -o lap.csv --quiet
dnn predict lap.dnn apart.csv -o apart.out --quiet
perl -F, -lane 'BEGIN { open F, "apart.out"; <F>; while (<F>) { chomp; ($s, $t, $p, @p) = split /,/; $s =~ s/\.\d+$//; $n{"$s,$t"}++;
    $l{"$s,$t"}[$_] += log $p[$_] for 0 .. $#p } } next if $. == 1; $k = "$F[0],$F[1]"; @m = map { exp($_ / $n{$k}) } @{$l{$k}}; $z = 0;
    $z += $_ for @m; for (0 .. $#m) { $d = abs($m[$_] / $z - $F[3 + $_]); $worst = $d if $d > $worst } $twice++ if $n{$k} > 1;
    END { printf "%s %s\n", $worst < 1e-5 ? "equal" : "worst $worst", $twice > 100 ? "overlapping" : $twice }' lap.csv >out
is "$(cat out)" "equal overlapping" "a row has the mean of its windows, each by itself"
# blocks, batches, threads, neighbours
(head -c 1000 ask.csv; sleep 0.2; tail -c +1001 ask.csv) | dnn predict lap.dnn --quiet >pipe.csv
same lap.csv pipe.csv "rows that come in pieces"
dnn predict lap.dnn ask.csv -o batch.csv --quiet --batch-size 3 --threads 1
same lap.csv batch.csv "other batches, one thread"
grep -E '^(series|s5),' ask.csv | dnn predict lap.dnn --quiet >alone.csv
grep -E '^(series|s5),' lap.csv >five.csv
same five.csv alone.csv "a group alone"
# a group that is longer than what is held: its windows are answered as they come
awk 'BEGIN { print "series,t,cue,noise"; for (t = 0; t < 30000; t++) printf "long,%d,%s,%.2f\n", t, t % 20 ? "none" : "calm",
    t % 7 / 7 }' >long.csv
awk -F, 'NR == 1 { print; next } { printf "w%d,%d,%s,%s\n", ($2 - $2 % 16) / 16, $2, $3, $4 }' long.csv >windows.csv
dnn predict tile.dnn long.csv --quiet | cut -d, -f2- >long.out
dnn predict tile.dnn windows.csv --quiet | cut -d, -f2- >windows.out
same windows.out long.out "a group of 30,000 rows: window by window"
dnn predict lap.dnn long.csv -o one.csv --quiet
dnn predict lap.dnn --quiet <long.csv >two.csv
same one.csv two.csv "windows that overlap: the same answers from a file and a pipe"
is "$(wc -l <one.csv)" 30001 "a line for each"

# a line a window, a line a group
config '"window": 16, "stride": 8, "label": "last"' multiclass
run dnn train c.json -o last.dnn --quiet
is_exit 0 "label last"
dnn predict last.dnn ask.csv --quiet | cut -d, -f1,2 >have
perl -F, -lane 'print "series,t" if $. == 1; next if $. == 1; push @o, $F[0] unless $n{$F[0]}++;
    END { for $s (@o) { for ($b = 0; ; $b += 8) { $e = $b + 16 < $n{$s} ? $b + 16 : $n{$s}; print "$s,", $e - 1; last if $b + 16 >= $n{$s} }
    } }' ask.csv >want
same want have "one line a window, with the ids of its last row"
config '"window": 16, "label": "group"' multiclass
run dnn train c.json -o group.dnn
is_exit 0 "label group"
err_has 'groups have rows of several labels' "says that they do not have one label"
dnn predict group.dnn ask.csv --quiet | cut -d, -f1 >have
(echo series; cut -d, -f1 ask.csv | sed 1d | uniq) >want
same want have "one line a group"
run dnn evaluate group.dnn ask.csv --json
out_has '"rows":12,' "evaluate counts groups"

# explain deals the cells of a column between windows, all steps together: as by hand
value() { perl -ne 'print $1 if /"'"$2"'":([0-9.e-]+)/' "$1"; }
importance() { perl -ne 'print $1 if /"name":"'"$1"'","importance":([-0-9.e+]+)/' out; }
for model in row lap last group; do
    run dnn explain $model.dnn ask.csv --json --repeats 1
    dnn evaluate $model.dnn ask.csv --json --quiet >eval.json
    ok "$(perl -e 'exit !($ARGV[0] && abs($ARGV[0] - $ARGV[1]) < 1e-6)' "$(value out value)" "$(value eval.json logloss)"; echo $?)" \
        "$model: explain measures what evaluate does: $(value out value)" "$(value eval.json logloss) $(cat err)"
done
dnn evaluate row.dnn ask.csv --json --quiet >eval.json
run dnn explain row.dnn ask.csv --json --repeats 8
cp out whole
for column in cue noise; do
    sum=0
    for i in 1 2 3 4 5 6 7 8; do
        perl -e 'my ($c, $s) = splice @ARGV, 0, 2; srand $s; my @n = split /,/, ($h = <>) =~ s/\n//r;
            ($at) = grep { $n[$_] eq $c } 0 .. $#n;
            for (<>) { chomp; my @f = split /,/, $_, -1; push @o, $f[0] unless $g{$f[0]}; push @{$g{$f[0]}}, \@f }
            my @v = map { [map { $_->[$at] } @{$g{$_}}] } @o; for my $k (reverse 1 .. $#v) { my $j = int rand $k + 1;
            @v[$k, $j] = @v[$j, $k] } print $h;
            for (@o) { my ($r, $d) = ($g{$_}, shift @v); for (0 .. $#$r) { $r->[$_][$at] = $d->[$_ % @$d];
            print join(",", @{$r->[$_]}), "\n" } }' \
            $column $i ask.csv >dealt.csv
        dnn evaluate row.dnn dealt.csv --json --quiet >dealt.json
        sum=$(perl -e 'print $ARGV[0] + $ARGV[1]' "$sum" "$(value dealt.json logloss)")
    done
    by_hand=$(perl -e 'print $ARGV[0] / 8 - $ARGV[1]' "$sum" "$(value eval.json logloss)")
    ok "$(perl -e 'exit !(abs($ARGV[0] - $ARGV[1]) < 0.02 + 0.15 * abs $ARGV[0])' -- "$by_hand" "$(importance $column)"; echo $?)" \
        "column $column: $(importance $column), by hand $by_hand"
done
run dnn explain row.dnn ask.csv --json --repeats 8 --threads 3 --batch-size 5
is "$(perl -ne 'print $1 if /("columns".*?\])/' out)" "$(perl -ne 'print $1 if /("columns".*?\])/' whole)" \
    "the same with other threads and batches"
# --rows: a line as predict gives it, of a row, a window or a group
for model in row lap last group; do
    run dnn explain $model.dnn ask.csv --rows $model.csv
    is_exit 0 "$model: attributions"
    adds_up $model.dnn $model.csv ask.csv best "$model: they add up to answer - base, line by line as predict has them"
done
is "$(head -n 1 row.csv)" "series,t,cue,noise,prediction,base,answer" "a column each, of all its steps"
run dnn explain lap.dnn ask.csv --rows why.csv --threads 3 --batch-size 5
same lap.csv why.csv "the same with other threads and batches"
sed 's/^s/z/' ask.csv | awk -F, -v OFS=, '{ print $4, $3, $2, (NR == 1 ? "series" : $1) }' >other.csv
dnn explain lap.dnn ask.csv other.csv --rows why.csv --quiet >/dev/null
(cat lap.csv; sed '1d; s/^s/z/' lap.csv) >two.csv
same two.csv why.csv "of two files, with columns in another order"
run dnn explain row.dnn ask.csv --rows why.csv --json
ok "$(perl -ne '%v = /"name":"([^"]*)","mean_absolute":([0-9.e-]+)/g; exit !($v{cue} > 20 * $v{noise})' out; echo $?)" \
    "cue carries the answers, noise does not" "$(cat out)"
perl -F, -lane 'next if $. == 1; print $F[2] if $F[0] eq "s2"' row.csv >attributed
awk -F, -v OFS=, '$1 == "s2" && ++n == 10 { $3 = "calm" } { print }' ask.csv >changed.csv
dnn explain row.dnn changed.csv --rows why.csv --quiet >/dev/null
perl -F, -lane 'next if $. == 1; print $F[2] if $F[0] eq "s2"' why.csv | paste -d' ' - attributed |
    perl -ane '$first ||= $. if $F[0] ne $F[1]; END { print $first // "none"; exit !($first >= 10) }' >first
ok $? "a step counts for no answer before it; first difference at row $(cat first) of 10 and later"
check "a report of sequences" "$DNN" report row.dnn ask.csv -o report.html --quiet
grep -q 'cue' report.html
ok $? "has their importance"

# bad rows
perl -pe 's/,[^,]*(,[^,]*)$/,x$1/ if $. == 30' ask.csv >bad.csv
run dnn predict tile.dnn bad.csv -o out.csv
is_exit 65 "a bad row ends it"
err_has 'bad.csv:30:'
run dnn predict tile.dnn bad.csv -o out.csv --on-bad-row null
is_exit 0 "null"
is "$(grep -c ',,' out.csv) $(wc -l <out.csv)" "16 $(wc -l <ask.csv)" "its window has no answers"
dnn predict tile.dnn bad.csv -o out.csv --on-bad-row skip --quiet
is "$(wc -l <out.csv)" "$(($(wc -l <ask.csv) - 16))" "skip leaves out the window"
dnn predict group.dnn bad.csv -o out.csv --on-bad-row skip --quiet
is "$(wc -l <out.csv)" 12 "or the group"
perl -lne 'print $. == 30 ? "$_,more" : $_' ask.csv >bad.csv
dnn predict tile.dnn bad.csv -o out.csv --on-bad-row null --quiet
is "$(grep -c ',,' out.csv) $(wc -l <out.csv)" "16 $(wc -l <ask.csv)" "a row with too many cells, too"

# rows that are not in order
config '"window": 16'
(head -n 1 train.csv; sed 1d train.csv | sort -t, -k2,2n -k1,1) >mixed.csv
sed 's/train.csv/mixed.csv/' c.json >m.json
run dnn check m.json
is_exit 65 "groups that stand apart"
err_has 'mixed.csv:'
err_has 'stand apart'
err_has 'data.sequence.unordered'
(head -n 1 train.csv; sed 1d train.csv | sort -t, -k1,1 -k2,2nr) >falling.csv
sed 's/train.csv/falling.csv/' c.json >m.json
run dnn check m.json
is_exit 65 "an order that falls"
err_has '"t" is less than in the row before'
sed 's/train.csv/mixed.csv/; s/"window"/"unordered": "sort", "window"/' c.json >m.json
run dnn train m.json -o sorted.dnn
is_exit 0 "sort"
err_has 'rows were put in order by "series" and "t": all'
check "verify, of sorted rows" "$DNN" verify sorted.dnn --quiet
sed -i 's/mixed.csv/falling.csv/; s/"epochs": 3/"epochs": 1/' m.json
run dnn train m.json -o moved.dnn
err_has 'the model keeps no golden rows' "the first row of the file moved"
run dnn verify moved.dnn
is_exit 69 "nothing to verify is no success"
err_has 'error[E1534]'
run dnn predict tile.dnn falling.csv
is_exit 65 "predict refuses them"
err_has 'E1239'
# sorted to predict, answered in the order of the input: each row as in the sorted file
(head -n 1 ask.csv; sed 1d ask.csv | sort -t, -k2,2nr -k1,1) >upset.csv
for label in row last group; do
    config '"window": 16, "stride": 8, "unordered": "sort", "label": "'$label'"' multiclass
    dnn train c.json -o upset.dnn --quiet --force --set train.epochs=1
    dnn predict upset.dnn ask.csv --quiet >straight.out
    dnn predict upset.dnn upset.csv -o upset.out 2>err
    err_has 'all '$(($(wc -l <ask.csv) - 1))' are held in memory for it; the answers are in the order of the input' \
        "label $label: says that it sorts"
    # a line stands where its row does: of a group, and of a window, its last row by t
    perl -F, -lane 'BEGIN { open F, shift; $head = <F>; while (<F>) { chomp; /^([^,]*,[^,]*),/; $of{$1} = $_ } print $head =~ s/\n//r }
        $k = "$F[0],$F[1]"; print $of{$k} if $. > 1 && $of{$k}' straight.out upset.csv >want
    dnn explain upset.dnn ask.csv --json --quiet --repeats 2 | perl -ne 'print $1 if /"value":([0-9.e-]+)/' >a
    dnn explain upset.dnn upset.csv --json --quiet --repeats 2 | perl -ne 'print $1 if /"value":([0-9.e-]+)/' >b
    ok "$(perl -e 'exit !($ARGV[0] && abs($ARGV[0] - $ARGV[1]) < 1e-9)' "$(cat a)" "$(cat b)"; echo $?)" \
        "label $label: explain sorts, too" "$(cat a b)"
    same want upset.out "label $label: rows in any order, the same answers in the order of the input"
    dnn evaluate upset.dnn ask.csv --json --quiet | sed 's/"backend".*//' >a.json
    dnn evaluate upset.dnn upset.csv --json --quiet | sed 's/"backend".*//' >b.json
    ok "$(perl -0 -e '@n = map { open F, $_; local $/; [<F> =~ /"accuracy":([0-9.e-]+)/] } @ARGV;
        exit !($n[0][0] && abs($n[0][0] - $n[1][0]) < 1e-9)' a.json b.json
        echo $?)" "label $label: evaluate measures the same" "$(cat a.json b.json)"
done
(head -c 900 upset.csv; sleep 0.1; tail -c +901 upset.csv) | dnn predict upset.dnn --quiet >pipe.csv
same upset.out pipe.csv "from a pipe"
perl -pe 's/,[^,]*(,[^,]*)$/,x$1/ if $. == 30; $_ = "s3,\n" if $. == 40; s/^([^,]*),[^,]*/$1,?/ if $. == 50' upset.csv >bad.csv
run dnn predict upset.dnn bad.csv -o out.csv --on-bad-row null --rejects rejects.csv
is_exit 0 "bad rows among them"
is "$(wc -l <out.csv) $(wc -l <rejects.csv)" "13 4" "a line for each group, and three rows are listed"
is "$(cut -d, -f1 rejects.csv | xargs)" "line 30 40 50" "in the order of the input"
printf '"s1,5,none\n' >>bad.csv
run dnn predict upset.dnn bad.csv -o out.csv --on-bad-row null
is_exit 65 "what is not CSV cannot be sorted"
err_has 'write it twice if it is part of the text; a file whose rows are sorted must be CSV from start to end, whatever --on-bad-row says' \
    "the help says both"
# a group that is cut over files is one group
part() { head -n 1 "$1"; sed -n "$2,$3p" "$1"; } # FILE FROM TO
cut_up() { part "$1" 2 40 >p1.csv; part "$1" 41 41 >p2.csv; head -n 1 "$1" >p3.csv; part "$1" 42 9999 >p4.csv; } # FILE
cut_up ask.csv
is "$(sed -n '40p;41p;42p' ask.csv | cut -d, -f1 | uniq | wc -l)" 1 "files that are cut inside a group"
values() { perl -ne 'print "$1 " while /"(?:rows|logloss|value)":([-0-9.e]+)/g' "$1"; }
for model in tile lap last group upset; do
    [ $model = upset ] && cut_up upset.csv
    cat p1.csv <(sed 1d p2.csv) <(sed 1d p4.csv) >whole.csv
    dnn predict $model.dnn whole.csv -o whole.out --quiet
    dnn predict $model.dnn p1.csv p2.csv p3.csv p4.csv -o parts.out --quiet
    same whole.out parts.out "$model: the files of a cut group have the answers of the whole"
    dnn predict $model.dnn p1.csv p2.csv - p3.csv -o parts.out --quiet <p4.csv
    same whole.out parts.out "$model: also from standard input"
    for command in evaluate explain; do
        more=; [ $command = explain ] && more="--repeats 2"
        dnn $command $model.dnn whole.csv --json --quiet $more >a.json
        dnn $command $model.dnn p1.csv p2.csv p3.csv p4.csv --json --quiet $more >b.json
        is "$(values b.json)" "$(values a.json)" "$model: $command counts and measures the same"
    done
done
dnn explain group.dnn ask.csv --rows a.csv --quiet >/dev/null
cut_up ask.csv
dnn explain group.dnn p1.csv p2.csv p3.csv p4.csv --rows b.csv --quiet >/dev/null
same a.csv b.csv "attributions of a cut group, too"
printf '%s' "$(cat p1.csv)" >p1
sed 's/$/\r/' p2.csv >p2
tr '\n' '\r' <p4.csv >p4
dnn predict lap.dnn ask.csv -o whole.out --quiet
dnn predict lap.dnn p1 p2 p4 -o parts.out --quiet
same whole.out parts.out "no line end at the end of a file, CRLF and CR in the next ones"
sed -i '38s/,[^,]*\(,[^,]*\)$/,x\1/' p1.csv # of a window that ends in p4.csv
sed -i '4s/,[^,]*,[^,]*$//' p4.csv # the next one
for model in tile upset; do
    run dnn predict $model.dnn p1.csv p2.csv p4.csv -o out.csv --on-bad-row null --rejects rejects.csv
    is "$(sed 's/^\([a-z0-9]*\),.*,/\1,/' rejects.csv | xargs)" "line,file 38,p1.csv 4,p4.csv" \
        "$model: rejects name each row's file and line"
done
run dnn predict tile.dnn p1.csv p2.csv p4.csv -o out.csv
is_exit 65 "a bad row of the file before"
err_has 'p1.csv:38:'
head -n 1 p1.csv >head.csv
run dnn predict tile.dnn p1.csv head.csv -o out.csv
is_exit 65 "a bad row that waits, and a file without rows behind it"
err_has 'p1.csv:38:'
for model in tile upset; do
    run dnn predict $model.dnn p2.csv p4.csv -o out.csv
    is_exit 65 "$model: a bad row of the last file"
    err_has 'p4.csv:4: 3 fields'
done
cut_up ask.csv
awk -F, -v OFS=, '{ t = $1; $1 = $2; $2 = t; print }' p4.csv >turned.csv
for model in tile upset; do
    run dnn predict $model.dnn p1.csv turned.csv -o out.csv
    is_exit 65 "$model: it does not go on in a file with other columns"
    err_has 'turned.csv:2:'
    err_has 'rows of this group ("series") stand in an earlier file, too, whose columns are not known to be the same'
done
run dnn predict tile.dnn <(grep -E '^(series|s1),' ask.csv) <(grep -E '^(t|[0-9]*,s2),' turned.csv) -o out.csv
is_exit 0 "another group does"
config '"window": 16'
# gaps and equal places
perl -ne 'print if $. != 40; print if $. == 50' train.csv >gaps.csv
sed 's/train.csv/gaps.csv/' c.json >m.json
group() { sed -n "$1p" gaps.csv | cut -d, -f1; }
twice="\"t\" is as in the row before in 1 row of the same group; the first one: gaps.csv:50, group \"$(group 50)\""
gap="\"t\" has 1 gap: steps of more than 1 inside a group; the first one ends at gaps.csv:40, group \"$(group 40)\""
for command in check "train -o m.dnn"; do
    run dnn $command m.json
    err_has "$twice" "${command%% *} counts equal places, and says where"
    err_has "$gap" "${command%% *} counts gaps, and says where"
done
run dnn predict tile.dnn gaps.csv
err_has "$twice" "predict counts equal places, and says where"
err_has "$gap" "predict counts gaps, and says where"
(head -c 1000 gaps.csv; sleep 0.2; tail -c +1001 gaps.csv) | dnn predict lap.dnn 2>&1 >out |
    sed 's/<stdin>\|standard input\|-:/gaps.csv:/' >err
err_has 'has 1 gap: steps' "predict counts a gap once, from rows that come in pieces"

# folds, members, threads, resume
run dnn cv c.json --folds 2 -o oof.csv --json
is_exit 0 "cv"
cut -d, -f1 oof.csv | uniq | sort | uniq -d >twice
ok "$([ -s twice ]; [ $? = 1 ]; echo $?)" "no group twice among the answers" "$(head -n 3 twice)"
is "$(wc -l <oof.csv)" "$(wc -l <train.csv)" "cv has a line a row"
sed 's/,$/,calm/' train.csv >labelled.csv
for label in last group row; do # the answers of a fold are those of predict by a model of the other rows
    config '"window": 16, "stride": 5, "label": "'$label'"' multiclass
    sed -i 's/train.csv/labelled.csv/' c.json
    run dnn cv c.json --folds 2 -o oof.csv --set train.epochs=1 --set data.split.valid=0
    is_exit 0 "cv, label $label"
    awk -F, 'NR == FNR { if (FNR > 1) fold[$1] = $3; next } FNR == 1 { print $0 ",part"; next } {
        print $0 "," (fold[$1] == 1 ? "test" : "train") }' \
        oof.csv labelled.csv >parts.csv
    sed 's/"labelled.csv"/"parts.csv"/; s/"columns": {/"split": {"method": "column", "column": "part"}, &/' c.json >m.json
    dnn train m.json -o m.dnn --quiet --force --set train.epochs=1 2>/dev/null
    dnn predict m.dnn parts.csv --quiet >out.csv
    is "$(wc -l <oof.csv)" "$(wc -l <out.csv)" "as many lines as predict"
    word=windows; [ $label = group ] && word=sequences; [ $label = row ] && word=rows
    err_has "2 folds, $(sed 1d oof.csv | wc -l) $word answered" "cv says how many $word are answered"
    perl -F, -lane 'BEGIN { open F, "oof.csv"; <F>; while (<F>) { chomp; @o = split /,/; next if $o[2] != 1;
        $of{"$o[0],$o[1]"} = [@o[4 .. $#o]] } }
        next unless $p = $of{"$F[0],$F[1]"}; $n++; for (0 .. $#$p) { $d = abs($p->[$_] - $F[3 + $_]); $worst = $d if $d > $worst }
        END { print $n == keys %of && $n >= 100 && $worst < 1e-5 ? "same" : "$n, off by $worst" }' out.csv >got
    is "$(cat got)" same "label $label: the answers of a fold, windows put together"
done
dnn cv c.json --folds 2 -o oof.csv --quiet --set data.train=train.csv --set data.sequence.label=last --set train.epochs=1
ok "$(grep -qE '^[^,]+,[^,]+,,+$' oof.csv; echo $?)" "a window whose last row has no label: a line without an answer"
config '"window": 16'
sed 's/"backend"/"ensemble": {"folds": 2}, "backend"/' c.json >m.json
run dnn train m.json -o e.dnn --quiet
is_exit 0 "an ensemble of folds"
check "verify it" "$DNN" verify e.dnn --quiet
run dnn predict e.dnn ask.csv -o out.csv
is_exit 0 "an ensemble of folds answers"
sed 's/"epochs": 3/"epochs": 4, "checkpoint": {"every_s": 0}/' c.json >m.json
dnn train m.json -o whole.dnn --quiet --threads 1
dnn train m.json -o two.dnn --quiet --threads 2
same whole.dnn two.dnn "one thread and two: the same bytes"
DNN_FAULT=kill:rename:2 "$HOOKED" train m.json -o part.dnn --quiet >/dev/null 2>&1 &
wait $! 2>/dev/null
dnn train m.json -o part.dnn --resume --quiet
same whole.dnn part.dnn "killed and resumed: the same bytes"
run dnn check c.json --json
is_exit 0 "check"

# other tasks, weights, losses
config '"window": 16, "label": "row"' regression '{"preset": "lstm", "hidden": [8]}'
sed -i 's/"target": "y"/"target": "noise"/; s/, "noise": "numeric"//' c.json
run dnn train c.json -o v.dnn --quiet --set data.columns.noise=ignore
config '"window": 16' tagging '{"preset": "gru", "hidden": [8]}' '"epochs": 3, "loss": {"type": "focal", "class_weights": {"calm": 3}}'
run dnn train c.json -o focal.dnn --quiet
is_exit 0 "focal, with weights of labels"
config '"window": 16' tagging '{"preset": "gru", "hidden": [8]}' '"epochs": 6, "loss": {"type": "soft_f1", "labels": ["calm", "stormy"]}'
for threads in 1 3; do dnn train c.json -o f1.$threads.dnn --quiet --threads $threads; done
same f1.1.dnn f1.3.dnn "soft_f1 of two labels: 1 and 3 threads, the same bytes"
dnn evaluate f1.1.dnn ask.csv --json --quiet >eval.json
ok "$(grep -q '"confusion":{"labels"' eval.json && grep -q '"macro_f1"' eval.json; echo $?)" \
    "evaluate has the table of confusion, and macro figures"
sed -i 's/"calm", "stormy"/"clam"/' c.json
run dnn train c.json -o none.dnn
is_exit 78 "a label that no row has"
err_has 'did you mean "calm"'
run dnn train c.json -o none.dnn --set 'train.loss.labels=["quite other"]'
err_has 'the labels are "' "or the labels are named"
sed -i 's/\["clam"\]/"calm"/' c.json
run dnn check c.json
is_exit 78 "labels is no list"
err_has 'expected a list of labels'
perl -e 'my $s = 7; sub r { $s = $s * 16807 % 2147483647; $s / 2147483647 } print "x,z,y\n"; for (1 .. 1200) {
    my ($x, $z) = (4 * r() - 2, r());
    printf "%.3f,%.3f,%s\n", $x, $z, r() < 1 / (1 + exp(4.5 - 2.5 * $x)) ? "yes" : "no" }' >rare.csv
dnn init rare.csv --target y --set model.preset=mlp -o rare.json --quiet --set train.epochs=40 --set calibrate=none
dnn train rare.json -o plain.dnn --quiet --json >plain
dnn train rare.json -o f1.dnn --quiet --json --set train.loss.type=soft_f1 --set 'train.loss.labels=["yes"]' >f1
f1_of() { perl -ne 'print $1 if /"test":\{[^}]*"f1":([0-9.e-]+)/' "$1"; }
ok "$(perl -e 'exit !($ARGV[1] > $ARGV[0] + 0.1)' "$(f1_of plain)" "$(f1_of f1)"; echo $?)" \
    "soft_f1 of the rarer label of a table: F1 $(f1_of f1), of cross_entropy $(f1_of plain)"

# errors
bad() { # NAME EXIT TEXT
    run dnn check c.json
    is_exit "$2" "$1"
    err_has "$3"
}
config '"window": 16, "stride": 17'
bad "a stride beyond the window" 78 'and a window has 16 rows'
config '"window": 1'
bad "a window of one row" 78 'window'
config '"window": 16, "label": "last"'
bad "tagging without a label a row" 78 'but `task` is tagging'
config '"windw": 16'
bad "another key" 78 'did you mean `window`'
config '"window": 16, "label": "row"' tagging '{"preset": "rocket"}'
run dnn check c.json
is_exit 78 "rocket for a label a row"
err_has "preset rocket makes one answer from all steps" "is named"
config '"window": 16, "label": "row"' tagging '{"layers": [{"type": "gru", "units": 4}, {"type": "pool"}]}'
bad "one step left of all" 78 'leave out the pool layer'
config '"window": 16'
sed -i 's/"group": "series", "order": "t", "window": 16/"group": "y"/' c.json
bad "the target is the group" 78 'is the target'
sed -i 's/"sequence": {[^}]*}/"sequence": null/' c.json
bad "tagging of a table" 78 'does not say which rows make a sequence'
config '"window": 16, "unordered": "sort"'
sed -i 's/"order": "t", //' c.json
bad "nothing to sort by" 78 'names no column to sort by'
config '"window": 16'
cut -d, -f1,3- ask.csv >short.csv
run dnn predict tile.dnn short.csv
is_exit 65 "rows without their order"
err_has '"t"'
sed '5s/^\([^,]*\),[^,]*/\1,x/' train.csv >placeless.csv
sed -i 's/train.csv/placeless.csv/' c.json
bad "a row without a place" 65 'does not say where the row stands'
done_testing
