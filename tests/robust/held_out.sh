#!/bin/bash
# held_out.sh - a model knows its training rows: the warning and its share, and --part: the rows of the training file as its split
# dealt them, with the metrics that train printed.
. "$(dirname "$0")/../tap.sh"
# rows FIRST LAST: lines without a header
rows() { awk -v from="$1" -v to="$2" 'BEGIN { srand(7); for (i = 0; i <= to; i++) { a = rand(); b = rand();
    c = substr("pqrst", 1 + int(5 * rand()), 1)
    y = a + (c < "r") * .3 + .5 * rand() > .9; if (i < from) continue
    printf "%d,%.5f,%s,%s,g%d,%s,%.4f\n", i, a, i % 19 == 3 ? "" : sprintf("%.3f", b), i % 7 == 2 ? "\"" c ",\n\"" : c, i / 4,
    y ? "yes" : "no", 3 * a + b } }'; }
head='id,a,b,c,g,y,v'
{ echo $head; rows 0 1999; } >t.csv
{ echo $head; rows 2000 2999; } >new.csv
# config NAME JSON: JSON laid over a config of one small network
config() { perl -MJSON::PP -e 'sub lay { my ($a, $b) = @_; ref $a eq "HASH" && ref $b eq "HASH" or return $b;
    $a->{$_} = lay($a->{$_}, $b->{$_}) for keys %$b; $a }
    my $c = {task => "binary", data => {train => "t.csv", target => "y", positive => "yes", columns => {id => "id", a => "numeric",
    b => "numeric", c => "categorical"}},
        model => {preset => "linear"}, train => {epochs => 3}, backend => {name => "dnn_cpu"}};
    print JSON::PP->new->canonical->encode(lay($c, decode_json($ARGV[0])))' "$2" >"$1.json"; }
# metrics FILE KEY: a JSON object of metrics, sorted
digits=17
metrics() { perl -MJSON::PP -e 'local $/; open F, shift; $m = decode_json(<F>)->{+shift}; $d = shift;
    print ref $m ? join(" ", map { "$_=" . (defined $m->{$_} ? sprintf("%.*g", $d, $m->{$_}) : "-") } sort keys %$m) : $m' "$1" \
    "$2" $digits; }
# parts_are NAME MODEL.json MODEL FILE..: the metrics of --part valid and test are those that train gave
parts_are() { local name=$1 trained=$2 part; shift 2
    for part in valid test; do
        run dnn evaluate "$@" --part $part --quiet --json
        is "x$(metrics out metrics)" "x$(metrics "$trained" $part || echo none)" "$name: --part $part gives the metrics of train"
    done; }

# --- the rows that it knows ---
config m '{}'
run dnn train m.json -o m.dnn --quiet --json
is_exit 0 "a model"
cp out m.out
parts_are "two classes" m.out m.dnn t.csv
run dnn evaluate m.dnn t.csv
err_has 'warning: about 70 % of these rows are rows that the model was trained on'
run dnn explain m.dnn t.csv --repeats 1
err_has 'about 70 % of these rows'
run dnn report m.dnn t.csv -o r.html
err_has 'about 70 % of these rows'
is "$(grep -c 'about 70' err)" 1 "once"
for f in "new.csv" "t.csv --part test" "t.csv --part train"; do
    # shellcheck disable=SC2086 # a file and an option
    run dnn evaluate m.dnn $f
    is_exit 0
    err_lacks 'was trained on'
done
{ head -n 1 t.csv; rows 1500 2499; } >half.csv
run dnn evaluate m.dnn half.csv --json
check "half the rows of another file: their share" perl -MJSON::PP -0777 -ne 'exit(abs(decode_json($_)->{rows_known} - .35) > .05)' out
# columns in another order, numbers written otherwise, rows backwards
perl -MText::ParseWords -ne 'chomp; $r .= $r eq "" ? $_ : "\n$_"; next if ($r =~ tr/"//) % 2;
    @c = ($r =~ /("[^"]*"|[^,]*)(?:,|$)/g)[0 .. 6]; $r = "";
    $c[1] = "+0" . $c[1] . "00" if $c[1] =~ /^[01]\./; push @l, join(",", @c[5, 3, 2, 1]) . "\n"; END { print shift @l, reverse @l }' \
    t.csv >other.csv
run dnn evaluate m.dnn other.csv
err_has 'about 70 % of these rows'
run dnn train m.json -o all.dnn --quiet --set data.split.valid=0 --set data.split.test=0
run dnn evaluate all.dnn t.csv
err_has \
    'about 100 % of these rows are rows that the model was trained on: its figures are better here than on new rows; the training left no test rows'
run dnn train m.json -o off.dnn --quiet --set output.fingerprint=false
run dnn evaluate off.dnn t.csv
is_exit 0
err_lacks 'was trained on'
check "9.6 bits a row" [ $(($(wc -c <m.dnn) - $(wc -c <off.dnn))) -lt 2500 ]
parts_are "output.fingerprint false" m.out off.dnn t.csv
run dnn predict m.dnn t.csv --quiet
mv out with
run dnn predict off.dnn t.csv --quiet
same with out "the same answers without it"
# a third of the rows are copies of others
awk 'NR == 1 || NR % 3 { print; keep = $0; next } { print keep }' <(grep -v '"' t.csv) >copies.csv
run dnn train m.json -o copies.dnn --quiet --set data.train=copies.csv --set data.columns.id=ignore
awk 'NR == 1 || NR % 3 { print; keep = $0; next } { print keep }' <(grep -v '"' new.csv) >more.csv
run dnn evaluate copies.dnn more.csv
is_exit 0
err_lacks 'was trained on'

# --- --part ---
run dnn evaluate m.dnn --part test --quiet
same out <(dnn evaluate m.dnn t.csv --part test --quiet) "without DATA: the config beside the model names the file"
mkdir away && cp m.dnn away
run dnn evaluate away/m.dnn --part test
is_exit 64 "no config there"
err_has 'name it: dnn evaluate away/m.dnn TRAIN.csv --part test'
cp m.dnn "away/my m.dnn"
run dnn evaluate "away/my m.dnn" --part test
is_exit 64 "  of a name with a blank"
err_has "name it: dnn evaluate 'away/my m.dnn' TRAIN.csv --part test"
run dnn evaluate m.dnn new.csv --part test
is_exit 65 "another file"
err_has 'E1425' 'is not the training file of this model'
sed '7s/,0\.[0-9]*,/,0.5,/' t.csv >changed.csv
run dnn evaluate m.dnn changed.csv --part test
is_exit 65 "a cell has changed"
err_has 'rows are others'
run dnn evaluate m.dnn - --part test <t.csv
is_exit 64 "standard input cannot be read twice"
run dnn evaluate m.dnn t.csv --part test --delimiter ';'
is_exit 64 "it is read as the training did"
run dnn predict m.dnn t.csv --part test --quiet
is "$(wc -l <out)" 301 "predict --part: a line each"
run dnn predict m.dnn t.csv --part test --limit 5 --quiet
same out <(dnn predict m.dnn t.csv --part test --quiet | head -n 6) "predict --part --limit: the first rows of the part"
run dnn predict m.dnn t.csv --limit 5 --quiet
same out <(dnn predict m.dnn t.csv --quiet | head -n 6) "--limit"
printf 'id,a,b,c\n1,.5,1,p\n2,"x"y,1,p\n3,.25,1,q\n4,.1,1,r\n' >bad.csv
run dnn predict m.dnn bad.csv --limit 3 --on-bad-row null --quiet
is "$(cut -d, -f1 out | tr '\n' ' ')" "id 1  3 " "a row that is no CSV counts"
run dnn evaluate m.dnn t.csv --part test --better-than off.dnn --quiet --json
is "$(metrics out rows)" 300 "--better-than compares these rows"
run dnn explain m.dnn t.csv --part test --rows why.csv --quiet
is "$(wc -l <why.csv)" 301 "explain --rows"
run dnn explain m.dnn t.csv --part test --repeats 1 --quiet
out_has 'on 300 rows'
run dnn report m.dnn t.csv --part test -o r.html --quiet
is_exit 0 "report"

# --- train --split-csv, --limit, gates without a test part ---
run dnn train m.json -o again.dnn --quiet --split-csv parts.csv
same m.dnn again.dnn "--split-csv changes no model"
is "$(head -n 1 parts.csv)" "row,id,part" "its header"
is "$(cut -d, -f3 parts.csv | sort | uniq -c | awk '{ printf "%s %s ", $2, $1 }')" "part 1 test 300 train 1400 valid 300 " "a line each row"
dnn predict m.dnn t.csv --part test --quiet | cut -d, -f1 | tail -n +2 >ids
same <(awk -F, '$3 == "test" { print $2 }' parts.csv) ids "the rows that --part test takes"
awk 'BEGIN { print "id,x,y"; for (i = 0; i < 60; i++) print "\" r " i "\"," i % 7 "," (i % 3 ? "a" : "b") }' >blank.csv
dnn init blank.csv --target y --id id --set model.preset=linear --set train.epochs=1 -o blank.json --quiet
run dnn train blank.json --quiet --split-csv parts.csv
is "$(sed -n '2s/,[a-z]*$//p' parts.csv)" '1," r 0"' "--split-csv keeps the blank that a cell begins with"
run dnn train m.json -o again.dnn --split-csv t.csv
is_exit 64 "--split-csv: an input"
{ echo $head; rows 0 499; } >first.csv
run dnn train m.json -o limit.dnn --quiet --force --limit 500 --split-csv parts.csv
is_exit 0 "--limit"
is "$(wc -l <parts.csv)" 501 "--split-csv of the first rows"
run dnn predict limit.dnn new.csv --quiet
mv out limited
dnn train m.json -o first.dnn --quiet --force --set data.train=first.csv
run dnn predict first.dnn new.csv --quiet
same limited out "--limit: as a file of the first rows"
run dnn inspect limit.dnn --json
out_has '"limit":500'
run dnn evaluate limit.dnn t.csv --part test --quiet
same out <(dnn evaluate first.dnn first.csv --part test --quiet) "--part of a model with --limit"
run dnn train m.json -o gate.dnn --force --set data.split.test=0 --require 'auc>=0.5'
err_has \
    'there is no test part: --require is measured on the validation rows, which also choose the epoch and the calibration: the figures are too good'
run dnn train m.json -o gate.dnn --force --set data.split.test=0
err_has \
    'note: there is no test part: the validation rows choose the epoch and the calibration and also measure the model, so its figures are too good'
run dnn train m.json -o gate.dnn --force --set data.split.test=0 --set calibrate=none --set 'threshold={"maximize": "f1"}'
err_has 'choose the epoch and the threshold and'
run dnn train m.json -o gate.dnn --force --set data.split.test=0 --quiet
is_exit 0
err_lacks 'there is no test part' "--quiet: no note"
run dnn train m.json -o gate.dnn --force --require 'auc>=0.5'
is_exit 0
err_lacks 'there is no test part'

# --- other splits, tasks and shapes ---
config group '{"data": {"columns": {"g": "group"}, "split": {"method": "group"}}}'
config time '{"data": {"columns": {"v": "numeric"}, "split": {"method": "time", "column": "v"}}}'
config hash '{"data": {"split": {"method": "hash"}}}'
config value '{"task": "regression", "data": {"target": "v", "positive": null}}'
config two '{"data": {"train": ["one.csv", "two.csv"]}}'
{ echo $head; rows 0 1200; } >one.csv
{ echo $head; rows 1201 1999; } >two.csv
for name in group time hash value two; do
    run dnn train $name.json -o $name.dnn --quiet --force --json
    cp out $name.out
    parts_are $name $name.out $name.dnn
done
# amounts have no exponent, and columns stand in line
awk -F, -v OFS=, 'NR == 1 { print "a,v"; next } NF == 7 { print $2, $7 * 1e5 }' t.csv >amounts.csv
config amounts '{"task": "regression", "data": {"train": "amounts.csv", "target": "v", "positive": null}, "train": {"epochs": 1}}'
perl -pi -e 's/"c":"categorical",?|"id":"id",?|"b":"numeric",?//g; s/,}/}/g' amounts.json
run dnn train amounts.json -o amounts.dnn --force
is_exit 0 "amounts"
# the columns begin at bytes 20 and 51
check "train: no exponent" \
    awk '/^dnn: (rmse|mae) / { n++; bad += /e[+]/ || substr($0, 20, 1) == " " || substr($0, 50, 2) !~ /^ [0-9]/ }
        END { exit bad || n != 2 }' err
run dnn evaluate amounts.dnn amounts.csv
ok "$(! grep -q 'e+' out && grep -qE '^rmse  *[0-9.]+  *\([0-9.]+ to [0-9.]+\)' out; echo $?)" "evaluate: no exponent" "$(cat out)"
config own '{"data": {"test": "new.csv"}}'
run dnn train own.json -o own.dnn --quiet --json
cp out own.out
run dnn evaluate own.dnn t.csv --part valid --quiet --json
is "$(metrics out metrics)" "$(metrics own.out valid)" "beside a file of its own for the test"
run dnn evaluate own.dnn t.csv --part test
is_exit 65 "a test file of its own: --part test is refused"
err_has 'had a file of its own, data.test'
config none '{"data": {"split": {"test": 0}}}'
run dnn train none.json -o none.dnn --quiet
run dnn evaluate none.dnn --part test
is_exit 65 "a part without rows"
err_has 'left no test rows'
# unlabelled rows are in no part
awk -F, -v OFS=, 'NR > 1 && NR % 5 == 0 && NF == 7 { $6 = "" } { print }' t.csv >gaps.csv
run dnn train m.json -o gaps.dnn --quiet --json --set data.train=gaps.csv
cp out gaps.out
parts_are "rows without a target" gaps.out gaps.dnn gaps.csv
# an ensemble of folds; its parts carry what it knows
config folds '{"ensemble": {"folds": 2}}'
run dnn train folds.json -o folds.dnn --quiet --json
cp out folds.out
run dnn evaluate folds.dnn t.csv --part test --quiet --json
is "$(metrics out metrics)" "$(metrics folds.out test)" "an ensemble: --part test"
run dnn evaluate folds.dnn --part valid
is_exit 65 "all its validation rows are training rows"
err_has 'the model is an ensemble of folds'
run dnn evaluate folds.dnn t.csv
err_has 'about 85 % of these rows'
for i in 0 1; do dnn train folds.json --run $i -o part$i --quiet; done
run dnn merge folds.json part0 part1 -o merged.dnn --quiet
same folds.dnn merged.dnn "merge gives the same bytes"
# a report names the lines of the training files: errors FILE: "LINE ID" of the page's Errors
errors() {
    perl -0777 -ne 'm{<h2>Errors(.*?)</section>}s; $t = $1;
        print "$1 $2\n" while $t =~ m{<tr><td>([^<]*)</td><td class="t">([^<]*)</td>}g' "$1"
}
# lines FILE..: "LINE ID" of each record
lines() {
    perl -e 'for $f (@ARGV) { open F, $f; $q = 0; while (<F>) { print @ARGV > 1 ? "$f:" : "", "$.", " $1\n" if !$q && /^(\d+),/;
        $q ^= tr/"// % 2 } close F }' "$@"
}
in_file() { [ "$(wc -l <got)" -gt 2 ] && ! grep -vxFf <(lines "${@:2}") got; }
for name in m two; do
    dnn report $name.dnn -o $name.html --quiet
    errors $name.html >got
    # shellcheck disable=SC2046 # names of files
    check "$name: the lines of Errors are those of the training files" in_file $([ $name = m ] && echo x t.csv || echo x one.csv two.csv)
done
# sequences of rows, adjacent and sorted
# a label of one row stays in training, whichever part it was dealt to
sed '/^123,/s/,\(yes\|no\),/,rare,/' t.csv >rare.csv
for seed in 1 2 3 4; do for folds in '{}' '{"folds": 3}'; do
    config rare '{"task": "multiclass", "data": {"train": "rare.csv", "split": {"method": "random", "valid": 0.4, "test": 0.4,
        "seed": '$seed'}}, "ensemble": '"$folds"'}'
    sed -i 's/"positive":"yes",//' rare.json
    run dnn train rare.json -o rare.dnn --quiet --force --json
    is_exit 0 "train"; cp out rare.out
    run dnn evaluate rare.dnn rare.csv --part test --quiet --json
    is "x$(metrics out metrics)" "x$(metrics rare.out test)" "a rare label, seed $seed, ensemble $folds: --part test"
done; done
awk 'BEGIN { srand(3); pad = sprintf("%900s", ""); gsub(/ /, ".", pad) # two blocks
    print "s,t,x,y,pad"; for (g = 0; g < 60; g++) for (t = 0; t < 8; t++) { x = rand();
    printf "%d,%d,%.4f,%s,%s\n", g, t, x, (t == 3 ? "" : (x > .5 ? "up" : "down")), pad } }' >s.csv
{ head -n 1 s.csv; tail -n +2 s.csv | sort -t, -k2,2n -k3,3n; } >mixed.csv
for label in row last; do for file in s mixed; do
    [ $file = s ] || digits=11 # the order of groups is another one
    cat >seq.json <<JSON
{"task": "$([ $label = row ] && echo tagging || echo binary)", "data": {"train": "$file.csv", "target": "y", "columns": {"x": "numeric"},
  "sequence": {"group": "s", "order": "t", "window": 8, "stride": 8, "label": "$label", "unordered": "sort"}},
 "model": {"preset": "gru", "hidden": [4]}, "train": {"epochs": 1}, "backend": {"name": "dnn_cpu"}}
JSON
    run dnn train seq.json -o seq.dnn --quiet --force --json
    cp out seq.out
    parts_are "windows, label $label, $file.csv" seq.out seq.dnn $file.csv
    dnn report seq.dnn -o seq.html --quiet
    perl -0777 -ne 'm{<h2>Errors(.*?)</section>}s; $t = $1; print "$1 $2 ", $3 ||
        $4, "\n" while $t =~ m{<tr><td>(\d+)</td><td class="t">(\d+)</td><td class="t">(up|down)}g' seq.html >got
    check "windows, label $label, $file.csv: the report's lines" [ "$(wc -l <got)" -gt 2 \
        -a -z "$(grep -vxFf <(awk -F, 'NR > 1 { print NR, $1, $4 }' $file.csv) got)" ]
    run dnn evaluate seq.dnn $file.csv
    err_has 'of these rows are rows that the model was trained on'
done; done
done_testing
