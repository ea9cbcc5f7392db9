#!/bin/bash
# report.sh - `dnn report`: pages of three tasks are valid HTML with their parts and figures, names are text and never markup, errors.
. "$(dirname "$0")/../tap.sh"
valid() { # FILE NAME
    perl "$ROOT/tests/html.pl" "$1" >why
    ok $? "$2 is valid HTML" "$(cat why)"
}
page_has() { grep -qF -- "$2" "$1"; ok $? "$1 has: ${3:-$2}" "$(grep -F "${2:0:9}" "$1" | head -n 5)"; }
# three NUMBER.. and percent SHARE..: as a page shows them, ranges joined by " to "
three() { perl -e 'print join " to ", map { my $s = abs() >= 999.5 ? sprintf("%.0f", $_) : abs() >= 1e-4 || !$_ ? sprintf("%.3g",
    $_) : sprintf("%.*f", 2 - int(log(abs)/log(10) - 1), $_);
    1 while $s =~ s/^(-?\d+)(\d{3})/$1,$2/; $s =~ s/(\.\d*?)0+$/$1/; $s =~ s/\.$//; $s } @ARGV' -- "$@"; }
percent() { perl -e 'print join(" to ", map { my $s = sprintf("%.3g", 100 * $_); 0 + sprintf("%.2f", $s) } @ARGV), " %"' -- "$@"; }
# metric NAME: of e.json, and its interval
metric() { N=$1 perl -MJSON::PP -0777 -ne 'print decode_json($_)->{metrics}{$ENV{N}}' e.json; }
interval() { N=$1 perl -MJSON::PP -0777 -ne 'print join " ", @{decode_json($_)->{intervals}{$ENV{N}}}' e.json; }
# A column, labels, a category and a file whose names are markup.
evil='<script>alert(1)</script>&amp;"'"'"
awk -v evil="$evil" 'BEGIN {
    seed = 5
    q = evil; gsub(/"/, "\"\"", q)
    printf "\"%s\",b,k,y,z,three\n", q
    for (i = 1; i <= 400; i++) {
        a = r() - 0.5; b = r(); k = int(r() * 3); s = 6 * a + (k == 2) + (r() - 0.5)
        printf "%.5f,%s,%s,%s,%.5f,%s\n", a, (i % 9 ? sprintf("%.5f", b) : ""), (k == 1 ? "\"<b>&\"" : "k" k),
        (s > 0 ? "<yes>" : "no & \x27n"), 100 * s,
            (s > 1 ? "up" : s < -1 ? "down" : "\"</td>\"")
    }
}
function r() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }' >'<i>.csv'
config() { # FILE TASK TARGET IGNORED IGNORED [MORE]
    cat >"$1" <<JSON
{"task": "$2", "data": {"train": "<i>.csv", "target": "$3", "missing": [""],
  "columns": {$(perl -e '$_ = shift; s/"/\\"/g; print "\"$_\": \"numeric\""' "$evil"),
 "b": "numeric", "k": "categorical", "$4": "ignore", "$5": "ignore"}},
 "model": {"preset": "mlp", "hidden": [8]}, "train": {"epochs": 6, "batch_size": 32}, "backend": {"name": "dnn_cpu"}${6:+, $6}}
JSON
}
config b.json binary y z three '"threshold": {"costs": {"fp": 1, "fn": 5}}'
sed -i 's/"target": "y"/"target": "y", "positive": "<yes>"/' b.json
config m.json multiclass three y z '"ensemble": {"folds": 2}'
config r.json regression z y three
for task in b m r; do dnn train $task.json -o $task.dnn --quiet; done
run dnn report b.dnn '<i>.csv' -o b.html
is_exit 0 "a binary model"
is "$(wc -c <out)" 0 "nothing is printed"
valid b.html "the page"
for part in 'ROC curve' 'Precision and recall' 'Gains' 'Top 5, 10 and 20 %' 'Scores by label' '<h2>Calibration' '<h2>Threshold' \
    'Confusion' '<h2>What matters' '<h2>Results' '<h2>Drift' '<h2>Training' '<h2>Model card' 'Training loss' 'Validation logloss' \
    'rows flagged' '>cost<' 'prefers-color-scheme:dark' 'size:A4'; do
    page_has b.html "$part"
done
ok "$(! grep -qE '<script|<yes>|<i>\.csv|(src|href)="[^d]|https?:' b.html; echo $?)" \
    "nothing of the data is markup, and nothing comes from elsewhere"
page_has b.html '&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&quot;&#39;' "the column's name as text"
page_has b.html '&lt;i&gt;.csv' "the file's name as text"
page_has b.html ">$(dnn evaluate b.dnn '<i>.csv' --quiet --json | perl -ne 'print $1 if /"stability_index":\{.*?"k":([0-9.]+)/' |
    xargs perl -e 'print $ARGV[0]' | xargs -I{} perl -e 'print 0 + sprintf "%.3f", {}')<" "the stability index of evaluate"
# the rows that are answered worst: those of predict, by the probability of the label
dnn predict b.dnn '<i>.csv' --quiet >p.csv
worst() { paste -d '\t' <(perl -MText::ParseWords -ne 'next if $. == 1; chomp; s/\x27/\x01/g; my @c = quotewords(",", 0, $_);
    s/\x01/\x27/g for @c; print "$c[3]\n"' <'<i>.csv') <(tail -n +2 p.csv) |
    perl -ne 'chomp; ($l, $p) = split /\t/; @p = split /,/, $p; $y = $l eq "<yes>" ? $p[-1] : 1 - $p[-1];
        push @r, [$. + 1, $y] if ($p[-1] >= 0.5) != ($l eq "<yes>");
        END { @r = sort { $a->[1] <=> $b->[1] || $a->[0] <=> $b->[0] } @r; printf "%d %.3f\n", $_->[0], $_->[1] for @r[0 .. ($#r > 19 ?
        19 : $#r)] }'; }
dnn train b.json -o half.dnn --quiet --set threshold=0.5
dnn predict half.dnn '<i>.csv' --quiet >p.csv
run dnn report half.dnn '<i>.csv' -o half.html
errors() {
    perl -0777 -ne '/<h2>Errors.*?<tbody>(.*?)<\/tbody>/s or exit; $t = $1;
        while ($t =~ m{<tr><td>(\d+)</td><td class="t">(.*?)</td><td class="t">.*?</td><td class="n">([0-9.]+) %}g) {
        printf "%d %.3f\n", $1, $3 / 100 }' "$1"
}
is "$(errors half.html)" "$(worst)" "the wrong answers of lowest probability, with their lines"
check "there are some" [ "$(worst | wc -l)" -gt 4 ]
page_has b.html "<p>Of 3 columns <b>0</b> changed much and 0 somewhat.</p>" "no column has changed"
# drift: shares of the training and of these rows
page_has b.html 'The columns that changed most'
is "$(perl -0777 -ne \
    'm{The columns that changed most.*?<h3>k<.*?>k2</td>.*?</td><td class="n">(.*?)</td><td class="n">(.*?)</td>}s and print $2' b.html)" \
    "$(percent "$(awk -F, 'NR > 1 { n++; k += / *,k2,/ } END { print k / n }' '<i>.csv')")" "the share of a category now"
is "$(grep -o 'class="even" x1' b.html | wc -l)" 6 "two marks beside each of three indices"
# metrics by group: the figures are those of evaluate --by, in its order
run dnn report b.dnn '<i>.csv' --by k --by b:3 -o by.html
is_exit 0 "metrics by group"
valid by.html "its page"
dnn evaluate b.dnn '<i>.csv' --by k --by b:3 --quiet --json >e.json
rows() { # COLUMN: group, rows, logloss and its interval of each group
    C=$1 perl -MJSON::PP -0777 -ne 'for (@{decode_json($_)->{groups}{$ENV{C}}}) { $n = $_->{group};
        s/&/&amp;/g, s/</&lt;/g, s/>/&gt;/g for $n;
        printf "%s|%d|%.3g|%.3g to %.3g\n", $n, $_->{rows}, $_->{metrics}{logloss}, @{$_->{intervals}{logloss}} }' e.json
}
table() { # COLUMN: the same of the page
    C=$1 perl -0777 -ne '/<h2>By group<.*?<h3>\Q$ENV{C}\E<(.*?)<\/table>/s or exit; $t = $1;
        $td = qr{<td class="n">(.*?)</td>}s;
        while ($t =~ m{<tr><td[^>]*>(.*?)</td><td class="bar">.*?</td>$td$td$td}sg) {
        print "$1|$2|$3|$4\n" }' by.html
}
for column in k b; do is "$(table $column)" "$(rows $column)" "the groups of $column"; done
is "$(table b | wc -l)" 4 "three bins and missing cells"
# without --by: the most important columns, a number in four bins
page_has b.html 'Groups of the columns that matter most'
dnn evaluate b.dnn '<i>.csv' --by "$evil:4" --quiet --json >e.json
cp b.html by.html
is "$(table '&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&quot;&#39;')" "$(rows "$evil")" "the groups of the first column"
is "$(sed -n '/<h2>By group/,/<h2>Threshold/p' b.html | grep -c '<tr><td class="t">-*[0-9.]* to ')" 4 "four bins of the first column"
mkdir away
cp b.dnn q.dnn away 2>/dev/null
run dnn report away/b.dnn --by k -o none.html
is_exit 64 "groups need rows"
run dnn report b.dnn '<i>.csv' --by kk -o none.html
is_exit 64 "an unknown column"
err_has 'did you mean "k"?'
# how the columns act: the figures are those of explain --effects
page_has b.html '<h2>How it acts'
dnn explain b.dnn '<i>.csv' --effects=effects.csv --quiet >table
for kind in 'k,value,k2' 'k,value,<b>&'; do
    mean=$(grep "^$kind," effects.csv | cut -d , -f 5 | xargs printf '%.17g')
    mean=$(percent "$mean")
    ok "$([ -n "$mean" ] && sed -n '/How it acts/,/<h2>Calibration/p' b.html | grep -qF ">$mean<"; echo $?)" "the effect of $kind: $mean"
done
is "$(sed -n '/How it acts/,/<h2>Calibration/p' b.html | grep -c 'class="band s0" d="M[-0-9. ]*Z"')" 2 "a band for each number"
page_has b.html "missing ($(grep '^b,missing' effects.csv | cut -d , \
    -f 4) rows): $(percent "$(grep '^b,missing' effects.csv | cut -d , -f 5)")"
# the figures are those of evaluate, explain and train
dnn evaluate b.dnn '<i>.csv' --quiet --json >e.json
page_has b.html "<b>$(three "$(metric auc)")</b>" "the AUC of evaluate"
# shellcheck disable=SC2046 # two numbers
page_has b.html "$(three $(interval auc))" "the AUC has the interval of evaluate"
for name in precision recall; do page_has b.html "<b>$(percent "$(metric $name)")</b>" "the $name of evaluate, in percent"; done
# shellcheck disable=SC2046 # two numbers
page_has b.html "$(percent $(interval recall) | sed 's/ % to/ to/')" "the recall has the interval of evaluate"
hundred() { printf '<b>%.0f</b>' "$(echo "100 * $1" | perl -ne 'print eval')"; }
page_has b.html "$(hundred "$(metric precision)") are; it finds $(hundred "$(metric recall)") of 100 such rows" "the sentence at the top"
dnn explain b.dnn '<i>.csv' --quiet --json >x.json
page_has b.html ">$(three "$(perl -ne 'print $1 if /"importance":([0-9.]+)/' x.json)")<" "the first importance of explain"
is "$(grep -c 'class="line s0" d="M[0-9.]' b.html)" 8 \
    "eight curves: ROC, precision and recall, gains, calibration, two columns, two of the epochs"
run dnn report b.dnn '<i>.csv' -o again.html --threads 3
same b.html again.html "the same page with other threads"
run dnn report m.dnn '<i>.csv' -o m.html
is_exit 0 "an ensemble of three labels"
valid m.html "its page"
for part in 'How sure it is' 'the mean of 2 networks' 'network 2</span>' '>up</span>' '&lt;/td&gt;'; do page_has m.html "$part"; done
# members of several kinds: a table with the weights and metrics of the training, and no settings of one of them
config e.json binary y z three '"ensemble": {"folds": 2, "members": [{"name": "straight <1>", "model": {"preset": "linear"}},
    {"name": "net", "model": {"preset": "mlp", "hidden": [4]}}]}'
sed -i 's/"target": "y"/"target": "y", "positive": "<yes>"/; s/"preset": "mlp", "hidden": \[8\]/"preset": "mlp"/' e.json
dnn train e.json -o e.dnn --quiet --json >e.out
run dnn report e.dnn '<i>.csv' -o e.html
is_exit 0 "an ensemble of two kinds"
valid e.html "its page"
members() {
    perl -0777 -ne '/<h3>Members.*?<tbody>(.*?)<\/tbody>/s or exit; $t = $1;
        while ($t =~ m{<tr><td class="t">(.*?)</td>.*?<td class="n">(.*?)</td><td class="n">(.*?)</td><td class="n">(.*?)</td>}g) {
        print "$1|$2|$3|$4\n" }' e.html
}
trained() { dnn inspect e.dnn --json | perl -MJSON::PP -0777 -ne 'for (@{decode_json($_)->{metrics}{members}}) { $n = $_->{name};
    s/</&lt;/g, s/>/&gt;/g for $n;
    printf "%s|%s %%|%d|%s\n", $n, 0 + sprintf("%.3g", 100 * $_->{weight}), $_->{folds}, 0 + sprintf("%.3g", $_->{valid}{logloss}) }'; }
is "$(members)" "$(trained)" "its members"
ok "$(! sed -n '/<h2>Training/,/<h3>Members/p' e.html | grep -qE '<td>(preset|learning rate)'; echo $?)" "no settings of one of them"
run dnn report r.dnn '<i>.csv' -o r.html
is_exit 0 "a regression"
valid r.html "its page"
for part in 'Answer and truth' 'Errors by answer' '|error| at most' 'Its typical error is' 'Mean error (bias)' 'Validation rmse'; do
    page_has r.html "$part"
done
ok "$(! grep -q '>ROC curve<' r.html; echo $?)" "without the curves of classes"
config q.json regression z y three
perl -pi -e 's/"batch_size": 32/"batch_size": 32, "loss": {"type": "quantile", "q": 0.8}/' q.json
dnn train q.json -o q.dnn --quiet
run dnn report q.dnn '<i>.csv' -o q.html
is_exit 0 "a model of a quantile"
valid q.html "its page"
dnn evaluate q.dnn '<i>.csv' --quiet --json >e.json
for metric in pinball coverage; do
    page_has q.html "<b>$(if [ $metric = pinball ]; then three "$(metric $metric)"; else percent "$(metric $metric)"; fi)</b>" \
        "the $metric of evaluate"
done
for part in '>pinball<' '>coverage<' 'its 0.8 quantile' 'Coverage by answer' 'about 80 should'; do page_has q.html "$part"; done
ok "$(! grep -qF 'Mean error (bias)' q.html; echo $?)" "without figures of answers in the middle"
run dnn explain q.dnn '<i>.csv' --json
out_has '"metric":"pinball"'
page_has q.html ">$(three "$(perl -ne 'print $1 if /"importance":([0-9.]+)/' out)")<" "the importance by the pinball loss"
cp q.dnn away
run dnn report away/q.dnn -o q-alone.html
page_has q-alone.html '>pinball<' "without rows: those of the training"
# without DATA: the test rows of the training, where the config beside the model names them
run dnn report b.dnn -o held.html
is_exit 0 "a model with its config"
run dnn report b.dnn '<i>.csv' --part test -o part.html
same part.html held.html "the test part"
page_has held.html '(its test part, which the training did not see)'
run dnn report b.dnn --by k --require 'auc>=0.5' -o held.html -q
is_exit 0 "groups and gates of them"
cp b.json away/own.json
cp b.dnn away/own.dnn
sed -i 's/"train": "<i>.csv"/"train": "..\/<i>.csv", "test": "few.csv"/' away/own.json
head -n 60 '<i>.csv' >away/few.csv
run dnn report away/own.dnn
page_has away/own.html '59 rows of <b>few.csv</b> (the test rows of the training)'
sed 's/,k2,/,k0,/' '<i>.csv' >away/changed.csv
sed 's/"train": "<i>.csv"/"train": "changed.csv"/' b.json >away/b.json
run dnn report away/b.dnn -o changed.html
is_exit 0 "the training file has changed: a page without rows"
err_has 'the page is without rows' 'is not the training file'
page_has changed.html 'no rows were given'
run dnn report away/b.dnn -o changed.html --require 'auc>=0.5'
is_exit 65 "gates need them"
rm away/b.json
# rows without labels: scores and drift
cut -d , --complement -f 4 '<i>.csv' >bare.csv
dnn predict b.dnn bare.csv -q >p.csv
for file in bare empty; do
    [ $file = bare ] || awk -F , -v OFS=, 'NR > 1 { $4 = "" } { print }' '<i>.csv' >empty.csv
    run dnn report b.dnn $file.csv
    is_exit 0 "$file.csv: no labels"
    valid b.html "its page"
    flagged=$(grep -c '^<yes>' p.csv)
    page_has b.html "Of 100 of these rows it flags $(hundred "$flagged / 400") as"
    page_has b.html "<td class=\"n\">$flagged</td><td class=\"n\">$(percent "$(perl -e "print $flagged / 400")")</td>" \
        "the share of each answer"
    for part in '<h2>Scores' '<h2>Drift' 'The columns that changed most'; do page_has b.html "$part"; done
    ok "$(! grep -qE '<h2>(Errors|Calibration|Threshold)' b.html; echo $?)" "nothing that needs labels"
done
cut -d , --complement -f 5 '<i>.csv' >bare.csv
run dnn report r.dnn bare.csv
median=$(dnn predict r.dnn bare.csv -q | tail -n +2 | sort -g | sed -n 200p)
page_has r.html ">$(three "$median")<" "the median answer of a regression"
run dnn report b.dnn bare.csv --by k -o none.html
is_exit 0 "groups of rows with labels"
cut -d , --complement -f 3,4 '<i>.csv' >bare.csv
run dnn report b.dnn bare.csv -o none.html
is_exit 65 "a column that the answers need is absent, too"
err_has '"k"'
run dnn report away/b.dnn -o alone.html
is_exit 0 "a model without rows"
valid alone.html "its page"
page_has alone.html 'Training loss'
ok "$(! grep -q '>ROC curve<' alone.html; echo $?)" "tells what the file says"
# many labels: the most frequent mistakes and labels, of evaluate's confusion and of the file
perl -e '$s = 3; sub r { $s = $s * 16807 % 2147483647; $s / 2147483647 } print "a,y\n"; for (1 .. 900) { $k = int(70 * r() * r());
    printf "%.3f,L%d\n", $k + 4 * r(), $k }' >many.csv
cat >many.json <<JSON
{"task": "multiclass", "data": {"train": "many.csv", "target": "y", "columns": {"a": "numeric"}},
  "model": {"preset": "mlp", "hidden": [16]},
 "train": {"epochs": 4}, "backend": {"name": "dnn_cpu"}}
JSON
dnn train many.json -o many.dnn -q
run dnn report many.dnn many.csv -o many.html
is_exit 0 "many labels"
valid many.html "its page"
dnn predict many.dnn many.csv -q >p.csv
mistakes() {
    perl -0777 -ne '/most frequent mistakes.*?<tbody>(.*?)<\/tbody>/s or exit; $t = $1;
        while ($t =~ m{<td class="t">(.*?)</td><td class="t">(.*?)</td><td class="n">(.*?)</td>}g) { push @r, $3; $k{"$1 $2"} = $3 }
        print join(" ", @r), "|", join ",", map { "$_ $k{$_}" } sort keys %k' many.html
}
named=$(mistakes | cut -d '|' -f 2 | tr , '\n')
pairs=$(paste -d ' ' <(tail -n +2 many.csv | cut -d , -f 2) <(tail -n +2 p.csv | cut -d , -f 1) |
    awk '$1 != $2 { k[$0]++ } END { for (p in k) print p, k[p] }')
is "$(mistakes | cut -d '|' -f 1)" "$(echo "$pairs" | cut -d ' ' -f 3 | sort -rn | head -n 12 | paste -sd ' ')" \
    "rows of the most frequent mistakes"
is "$(echo "$named" | while read -r pair; do echo "$pairs" | grep -cx "$pair"; done | sort -u)" 1 "labels of the most frequent mistakes"
is "$(perl -0777 -ne '/<h3>Per class.*?<tbody>(.*?)<\/tbody>/s or exit; $t = $1;
    print join " ", $t =~ m{<td class="n">([^<]*)</td></tr>}g' many.html)" \
    "$(tail -n +2 many.csv | cut -d , -f 2 | sort | uniq -c | awk '{ print $1 }' | sort -rn | head -n 60 |
    paste -sd ' ')" "the labels with the most rows"
# rows that are written otherwise
head -n 40 '<i>.csv' | sed 's/,/;/g' >semicolons.csv
run dnn report r.dnn semicolons.csv --delimiter ';' -o s.html
is_exit 0 "rows with another delimiter"
# a model of an earlier version
old=$ROOT/tests/golden/models/format-3.dnn
run dnn report "$old" -o old.html
is_exit 0 "an earlier model"
valid old.html "its page"
page_has old.html '<h2>Training'
# one row, one label
head -n 2 '<i>.csv' >one.csv
run dnn report b.dnn one.csv -o one.html
is_exit 0 "one row"
valid one.html "its page"
run dnn report r.dnn one.csv -o one.html
valid one.html "that of a regression"
printf 'not a model' >n.dnn
run dnn report n.dnn -o n.html
is_exit 76 "no model"
ok "$([ ! -e n.html ]; echo $?)" "no model: no page"
run dnn report b.dnn '<i>.csv' --require 'auc>=0.5' --require 'f1>0.999'
is_exit 82 "a gate that is not met"
err_has 'gate not met: f1>0.999' 'the page is b.html'
for badge in 'gate met: auc&gt;=0.5' 'gate NOT met: f1&gt;0.999'; do page_has b.html "$badge"; done
run dnn report b.dnn '<i>.csv' --note 'Ask <Ann>: 8 & 9.' -q
page_has b.html 'Ask &lt;Ann&gt;: 8 &amp; 9.' "the note"
for file in b.dnn '<i>.csv'; do page_has b.html "$(sha256sum <"$file" | cut -c 1-64)" "the hash of $file"; done
export SOURCE_DATE_EPOCH=1000000000
run dnn report b.dnn '<i>.csv' -q
page_has b.html 'page of 2001-09-09' "the date"
unset SOURCE_DATE_EPOCH
run dnn report b.dnn one.csv -o one.csv
is_exit 64 "the page would replace the rows"
run dnn report b.dnn -o m.dnn
is_exit 73 "the page would replace a model"
# a page about data: figures counted by hand
run dnn report '<i>.csv' --target y -o data.html
is_exit 0 "a file of data"
valid data.html "its page"
page_has data.html "400 rows, 6 columns"
share() {
    awk -F, "$1"' END { printf "%.17g", k / n }' '<i>.csv' | xargs -I{} perl -e 'my $s = sprintf "%.3g", 100 * {}; print 0 + $s, " %"'
}
column() {
    perl -0777 -ne \
        '/<h2>Columns.*?<tr><td class="t">'"$1"'<\/td><td>(.*?)<\/td><td class="t">(.*?)<\/td><td class="n">(.*?)<\/td><td class="n">(.*?)<\/td>/s and print "$1|$2|$3|$4"' \
        data.html
}
is "$(column b | cut -d '|' -f 1,3)" "numeric|$(share 'NR > 1 { n++; k += $2 == "" }')" "the share of missing cells"
is "$(column b | cut -d '|' -f 2 | cut -d ';' -f 1)" "$(awk -F, 'NR > 1 && $2 != "" { print $2 }' '<i>.csv' | sort -g | sed -n '1p;$p' |
    xargs -n 1 perl -e 'print 0 + sprintf("%.3g", $ARGV[0]), "\n"' | paste -sd ' ' | sed 's/ / to /')" "the range"
page_has data.html "is no &amp; &#39;n in $(share 'NR > 1 { n++; k += $4 != "<yes>" }') of the rows" "the share of the target"
is "$(perl -0777 -ne '/<h3>k<.*?>k2<\/td>.*?<\/td><td class="n">(.*?)<\/td><td class="n">(.*?)<\/td>/s and print "$1|$2"' data.html)" \
    "$(share 'NR > 1 { n++; k += $3 == "k2" }')|$(share 'NR > 1 && $3 == "k2" { n++; k += $4 != "<yes>" }')" \
    "a category: its share, and that of the target there"
page_has data.html '&lt;yes&gt;' "a label as text"
ok "$(! grep -qE '<script|<yes>|<i>\.csv|>three.*</td>"' data.html; echo $?)" "nothing of the data is markup"
run dnn report '<i>.csv' --target z -o data.html --note 'of <May>'
valid data.html "against a number"
page_has data.html 'of &lt;May&gt;' "the note"
run dnn report '<i>.csv' -o data.html
valid data.html "without a target"
# of three labels, dates, texts, two columns that say the same: figures counted by hand
perl -e 'print "day,late,n,twice,note,kind\n"; $s = 7; sub r { $s = $s * 16807 % 2147483647; $s / 2147483647 }
    for $i (0 .. 599) { $m = 1 + int(r() * 5); $x = int(r() * 9000) / 100; $k = $x < 30 ? "low" : r() < .5 ? "mid <b>" : "top";
        printf "2024-%02d-%02d,%s,%s,%s,%s,%s\n", $m, 1 + int(r() * 28), $i == 9 ? "9999-12-31" : sprintf("2023-%02d-01", 1 + $i % 12),
        ($i % 8 ? $x : ""), $x + 1,
            join(" ", map { $_->[1] } sort { $a->[0] <=> $b->[0] } map { [r(), $_] } qw(the case was Ordered by a customer on),
            ($k eq "top" && $i % 4 ? "Fragile" : "plain"), "w" . int(r() * 500)), $k }' >kinds.csv
run dnn report kinds.csv --target kind -o data.html
is_exit 0 "three labels"
valid data.html "its page"
ok "$(! grep -q 'mid <b>' data.html; echo $?)" "a label is no markup"
low() {
    awk -F, "$1"' { n++; k[$6]++ } END { for (l in k) if (k[l] > k[m]) m = l; printf "%s %.17g", m, k[m] / n }' kinds.csv |
        perl -ne '($l, $v) = split; print "$l, ", 0 + sprintf("%.3g", 100 * $v), " %"'
}
page_has data.html "missing in $(awk -F, 'NR > 1 { n++; k += $3 == "" } END { printf "%.3g", 100 * k / n }' \
    kinds.csv) % of the rows, and there: $(low 'NR > 1 && $3 == ""' | sed 's/, /, <span class="one">/')" \
    "the labels where a number is missing"
is "$(perl -0777 -ne '/<h3>note<.*?>fragile<\/td><td class="n">(.*?)<\/td>.*?<td class="t">(.*?)<\/td>/s and print "$1|",
    $2 =~ s/<.*?>//gr' data.html)" \
    "$(awk -F, 'NR > 1 { n++; k += $5 ~ /Fragile/ } END { printf "%.17g", k / n }' kinds.csv | xargs -I{} perl \
    -e 'print 0 + sprintf("%.3g", 100 * {})') %|$(low 'NR > 1 && $5 ~ /Fragile/')" "a word: its share, and the labels there"
is "$(perl -0777 -ne '/<h3>note<.*?<tbody>.*?<td class="t">(.*?)<\/td>/s and print $1' data.html)" fragile "it tells most"
is "$(perl -0777 -ne '/<h2>Associations.*?<tr>(.*?)<\/tr>.*?<tr>(.*?)<\/tr>/s and print $2 =~ s/<svg.*//sr =~ s/<.*?>/ /gr' data.html |
    tr -s ' ')" " n twice 1 " "the columns that say the same"
for period in 'rows a month' 'the middle 98 % of the dates' 'share of the label'; do page_has data.html "$period"; done
is "$(perl -0777 -ne '/<h3>day<.*?<svg(.*?)<\/svg>/s or exit; print join ",", map { sprintf "%.2f", $_ } map { $_ / 226 }
    $1 =~ /<rect[^>]*height="([0-9.]+)"/g' data.html)" \
    "$(awk -F '[,-]' \
    'NR > 1 { k[$2 + 0]++ } END { for (m = 1; m <= 5; m++) { if (k[m] > most) most = k[m] }
        top = 20 * int((most + 19) / 20); for (m = 1; m <= 5; m++) printf "%s%.2f", (m > 1 ? "," : ""), k[m] / top }' \
    kinds.csv)" "the rows of each month"
run dnn report '<i>.csv' --target zz -o none.html
is_exit 65 "no such target"
run dnn report '<i>.csv' --part test -o none.html
is_exit 64 "a part of data"
err_has '--part needs a model'
run dnn report '<i>.csv' bare.csv -o none.html
is_exit 64 "two files of data"
run dnn report b.dnn --target y -o none.html
is_exit 64 "a target of a model"
# Drift of few rows: the sentence, the verdicts and the table say the same
head -n 31 '<i>.csv' >few.csv
run dnn report b.dnn few.csv -o few.html
drift() { perl -0777 -ne 'm{<h2>Drift.*?<b>(\d+)</b> changed much and (\d+) somewhat(.*?)</table>}s; print "said $1 $2\n"; $t = $3;
    while ($t =~ m{<tr><td[^>]*>(.*?)</td><td>(.*?)</td><td[^>]*>([0-9.]+)</td><td[^>]*>([0-9.]+)</td>}g) { $n++;
    $want = $3 <= 3 * $4 ? "" : $3 >= .25 ? "changed" : $3 >= .1 ? "changed somewhat" : "";
        $k{$want}++; $chance++ if $3 >= .1 && !$want; print "$1: $2, not $want\n" if $want ne $2 }
    print "said ", $k{changed} + 0, " ", $k{"changed somewhat"} + 0, "\n", $n > 2 && $chance ? "chance\n" : "" ' few.html; }
is "$(drift | sort -u | grep -c said)$(drift | grep -c 'chance$')$(drift | grep -c not)" 110 "Drift: the sentence and the table"
page_has few.html 'above 3 times the index by chance'
# default names: of the model and of its data; no file of another kind is replaced
mkdir names
cp b.dnn b.json '<i>.csv' names
cp '<i>.csv' names/b.csv
for turn in first second; do
    run dnn report names/b.dnn
    is_exit 0 "names/b.dnn, the $turn time"
    err_has 'the page is names/b.html'
    run dnn report names/b.csv
    is_exit 0 "names/b.csv, the $turn time"
    err_has 'the page is names/b.data.html'
done
page_has names/b.html '<title>b.dnn: report'
page_has names/b.data.html '<title>b.csv: data'
cp names/b.data.html names/b.html
cp names/b.csv names/b.tsv
echo '<p>mine</p>' >names/x.html
cp b.dnn names/x.dnn
for pair in 'b.dnn b.html' 'b.tsv b.data.html' 'x.dnn x.html'; do
    set -- $pair
    before=$(sha256sum <names/"$2")
    run dnn report names/"$1"
    is_exit 73 "names/$2 is not the page of $1"
    err_has 'it is not replaced' '-o FILE'
    is "$(sha256sum <names/"$2")" "$before" "it is as it was"
done
run dnn report names/x.dnn -o names/x.html
is_exit 0 "-o replaces it"
err_has 'the page is without rows: no config stands beside the model as "names/x.json"' 'dnn report names/x.dnn DATA.csv'
echo '{"task": "binary", "data": {"train": "away.csv", "target": "y", "columns": {}}}' >names/x.json
run dnn report names/x.dnn -o names/x.html
err_has 'names "names/away.csv", which is not there'
head -n 1 '<i>.csv' >empty.csv
run dnn report empty.csv -o data.html
is_exit 0 "a header alone"
valid data.html "its page"
done_testing
