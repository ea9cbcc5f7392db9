#!/bin/bash
# sequence.sh - rows that are sequences in wide format: what they learn, that padding, batches and threads change no answer, what
# init writes, and errors with their place.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/adds_up.sh"
# Two channels of up to 12 steps. The class says where the first of two spikes stands, so that the order of steps counts; a
# sequence ends anywhere from step 6 on, and a few cells inside are missing.
make_rows() { # FILE ROWS SEED [STEPS of the header]
    awk -v rows="$2" -v seed="$3" -v all="${4:-12}" '
        function next_of(n) { seed = (seed * 16807) % 2147483647; return int(seed / 2147483647 * n) }
        BEGIN {
            printf "id,y,v"
            for (c = 0; c < 2; c++) for (t = 0; t < all; t++) printf ",ch%d_%d", c, t
            print ""
            for (i = 1; i <= rows; i++) {
                n = 6 + next_of(7); a = next_of(n - 2); b = a + 1 + next_of(n - a - 1); up = next_of(2)
                for (t = 0; t < 12; t++) for (c = 0; c < 2; c++) x[c, t] = (next_of(1000) - 500) / 1500
                x[0, a] += up ? 3 : -3; x[0, b] += up ? -3 : 3
                printf "%d,%s,%g", i, up ? "up" : "down", (up ? 1 : -1) * (b - a)
                for (c = 0; c < 2; c++) for (t = 0; t < all; t++) printf ",%s", t < n && (t != 2 || i % 5) ? x[c, t] : ""
                print ""
            }
        }' >"$1"
}
make_rows train.csv 400 5
make_rows ask.csv 60 77
config() { # MODEL [MORE of data]
    cat >c.json <<JSON
{"task": "binary",
 "data": {"train": "train.csv", "target": "y", "columns": {"id": "id"},
 ${2:-"\"sequence\": {\"wide\": {\"a\": \"ch0_*\", \"b\": \"ch1_*\"}}"}},
 "model": $1, "train": {"epochs": 12}, "backend": {"name": "dnn_cpu"}}
JSON
}
test_accuracy() { perl -ne 'print $1 if /"test":\{[^}]*"accuracy":([0-9.e-]+)/'; }
for preset in lstm gru rnn transformer tcn rocket auto; do
    config "{\"preset\": \"$preset\"}"
    limit=""; [ $preset = auto ] && limit="--time-limit 0.5"
    dnn train c.json -o $preset.dnn --quiet --json $limit 2>err >out
    got=$(test_accuracy <out)
    ok "$(perl -e 'print $ARGV[0] > 0.85 ? 0 : 1' "${got:-0}")" "$preset learns an order of steps: accuracy $got" "$(cat err)"
done
dnn check c.json --resolved >out 2>err
for name in rocket transformer tcn; do out_has "\"name\": \"$name\"" "auto has the member $name"; done
cp out list.json
run dnn check list.json --resolved
same out list.json "its list is a config that means the same"
run dnn check c.json --resolved --set train.time_limit_s=0.05
ok "$(grep -q '"tcn"' out; [ $? = 1 ]; echo $?)" "auto in little time: without tcn"
dnn predict lstm.dnn ask.csv --quiet -o all.csv
dnn predict rnn.dnn ask.csv --quiet -o rnn.csv
same all.csv rnn.csv "rnn is lstm"
for threads in 1 2 3; do
    dnn train c.json -o t$threads.dnn --threads $threads --quiet --set train.epochs=2
done
ok "$(cmp -s t1.dnn t2.dnn && cmp -s t1.dnn t3.dnn; echo $?)" "1, 2 and 3 threads: the same model"
for model in '{"preset": "transformer", "pool": "cls"}' '{"preset": "tcn", "pool": "attention"}' '{"preset": "rocket", "features": 500}'; do
    config "$model"
    for threads in 1 2 3; do # three shards
        dnn train c.json -o t$threads.dnn --threads $threads --quiet --force --set train.epochs=2 --set train.batch_size=200 2>/dev/null
    done
    ok "$(cmp -s t1.dnn t2.dnn && cmp -s t1.dnn t3.dnn; echo $?)" "$model: the same bytes with 1, 2 and 3 threads"
done
# the output layer of rocket is solved for, or trained in steps
config '{"preset": "rocket", "features": 500}'
run dnn train c.json -o ridge.dnn --force
err_has "loss by leave-one-out" "rocket: a penalty chosen by leave-one-out"
err_has "1 epoch (all)" "in one epoch"
err_has "with data.split.valid 0 it learns from these" "rocket leaves validation rows unused, and says so"
run dnn train c.json -o ridge.dnn --force --set data.split.valid=0
is_exit 0
err_lacks "it learns from these" "rocket without validation rows: no word of unused ones"
# patience in steps
config '{"preset": "gru", "hidden": [4]}'
run dnn check c.json --resolved
out_has '"min_steps": 128' "an epoch of few steps does not end a recurrent network early"
for least in 0:2 5:6; do
    run dnn train c.json -o few.dnn --force --set train.batch_size=65536 --set train.epochs=12 --set train.early_stopping.patience=1 \
        --set train.early_stopping.min_delta=9 --set train.early_stopping.min_steps=${least%:*}
    err_has "${least#*:} epochs (early stopping)" "patience of 1 epoch and ${least%:*} steps"
done
config '{"preset": "rocket", "features": 500}'
run dnn check c.json --resolved
out_has '"solver": "ridge"' "check says how"
run dnn check c.json
out_has "solved by ridge regression, without epochs" "rocket: check says that it has no epochs"
run dnn check c.json --set model.solver=gradient --set train.epochs=7
out_has "(7 epochs" "rocket, solver gradient: check says how many epochs"
run dnn tune c.json --trials 3 -o best.json --json
is_exit 0 "tune searches the ridge"
ok "$(perl -ne '@f = /"model.features":(\d+)/g; exit !(@f >= 2 && !/learning_rate/)' out; echo $?)" "by its features, not by steps" \
    "$(cat out err)"
grep -q '"solver": *"ridge"' best.json || dnn check best.json --resolved --quiet | grep -q '"solver": "ridge"'
ok $? "the best config is solved for"
err_lacks "solved for by ridge"
run dnn tune c.json --trials 2 --force -o best.json --set train.epochs=2 \
    --set 'tune.space={"train.optimizer.learning_rate": [0.001, 0.002]}'
err_has 'trial 0 is solved for by ridge regression; the others draw `train.optimizer.learning_rate`' \
    "a space of steps: says that they are not alike"
run dnn tune c.json --trials 2 --force -o best.json --set train.epochs=2 --set model.solver=gradient --json
out_has '"train.optimizer.learning_rate":' "solver gradient: a search space of layers works"
for more in model.solver=gradient train.optimizer.learning_rate=0.001 train.loss.type=focal; do
    run dnn train c.json -o steps.dnn --force --set $more --set train.epochs=2
    err_has "2 epochs (all)" "in steps with $more"
done
sed 's/"binary"/"regression"/; s/"target": "y"/"target": "v"/' c.json >v.json
run dnn train v.json -o ridge.dnn --force --json
ok "$(perl -ne 'print $1 > 0.5 ? 0 : 1 if /"test":\{[^}]*"r2":([0-9.e-]+)/' out)" "rocket: a regression" "$(cat out)"
config '{"layers": [{"type": "residual", "layers": [{"type": "conv1d", "units": 2, "stride": 2}]}, {"type": "pool"}]}'
run dnn check c.json
is_exit 78 "a stride inside a block"
err_has "stands inside a residual block" "a stride inside a block: the reason"
config '{"layers": [{"type": "attention", "heads": 3}, {"type": "pool"}]}'
run dnn check c.json
is_exit 78 "heads that do not divide the width"
err_has "do not divide" "heads that do not divide the width: the reason"
run dnn verify lstm.dnn
is_exit 0 "verify"
for model in lstm gru transformer tcn rocket; do
    dnn predict $model.dnn ask.csv --quiet -o all.csv
    dnn predict $model.dnn ask.csv --quiet --batch-size 7 --threads 3 -o parts.csv
    same all.csv parts.csv "$model: an answer does not depend on its batch"
    (head -n 1 ask.csv; sed -n 31p ask.csv) >one.csv
    dnn predict $model.dnn one.csv --quiet | tail -n 1 >one
    ok "$(sed -n 31p all.csv | cmp -s - one; echo $?)" "$model: nor on other rows"
    ok "$(dnn evaluate $model.dnn ask.csv --json 2>/dev/null | perl -ne '/"accuracy":([0-9.e-]+)/ && print $1 > 0.9 ? 0 : 1')" \
        "$model: other rows are answered well"
    run dnn explain $model.dnn ask.csv --rows why.$model.csv
    is_exit 0 "$model: attributions"
    adds_up $model.dnn why.$model.csv ask.csv probability_up "$model: those of its channels add up to answer - base"
done
is "$(head -n 1 why.lstm.csv)" "id,a,b,base,answer" "a column a channel"
run dnn explain auto.dnn ask.csv --rows why.csv --json
is_exit 0 "an ensemble: attributions"
adds_up auto.dnn why.csv ask.csv probability_up "an ensemble: they add up"
ok "$(perl -ne 'exit !(/"largest_difference":([-0-9.e+]+)/ && $1 < 1e-6)' out; echo $?)" "as its summary says" "$(cat out)"
run dnn explain lstm.dnn ask.csv --rows why.csv --threads 3 --batch-size 7
same why.lstm.csv why.csv "attributions: the same with other threads and batches"
(head -n 1 ask.csv; sed -n 31p ask.csv) >one.csv
dnn explain lstm.dnn one.csv --rows why.csv --quiet >/dev/null
is "$(tail -n 1 why.csv)" "$(sed -n 31p why.lstm.csv)" "attributions do not depend on other rows"
# by hand: the gradients of predict, by central differences, at 50 points between the mean and the row
means=$(dnn inspect lstm.dnn --json | perl -ne 'print join " ", map { /"name":"${_}_0".*?"center":([-0-9.e]+)/ } "ch0", "ch1"')
perl -e 'my %m; @m{"ch0", "ch1"} = split / /, shift; print $_ = <>; chomp; my @ch = map { /^(ch\d)_/ ? $1 : "" } split /,/;
    while (<>) { chomp; my @r = split /,/, $_, -1; for my $k (0 .. 49) { for my $c ("ch0", "ch1") { for my $h (0.002, -0.002) {
        print join(",", map { my ($v, $m, $t) = ($r[$_], $m{$ch[$_]}, ($k + 0.5) / 50 + ($ch[$_] eq $c && $h));
            $ch[$_] && length $v ? $m + $t * ($v - $m) : $v } 0 .. $#r), "\n" } } } }' \
    "$means" ask.csv >moved.csv
dnn predict lstm.dnn moved.csv --quiet >moved.out
perl -e 'open F, "moved.out"; <F>; my @y = map { /([^,]*)$/ } <F>; <>; my ($worst, $sum, $n, @g) = (0, 0, 0);
    while (<>) { my ($id, @v) = split /,/; @g = (0, 0);
        for (1 .. 50) { for my $c (0, 1) { my ($up, $down) = splice @y, 0, 2; $g[$c] += ($up - $down) / 0.004 / 50 } }
        for (0, 1) { my $d = abs($g[$_] - $v[$_]); $worst = $d if $d > $worst; $sum += $d; $n++ } }
    printf "worst %.4f, mean %.4f\n", $worst, $sum / $n; exit !($n == 120 && $worst < 0.08 && $sum / $n < 0.02)' why.lstm.csv >by_hand
ok $? "attributions are the integrals of gradients by finite differences: $(cat by_hand)"
# explain deals channels, all steps together: as by hand in the file
importance() { perl -ne 'print $1 if /"name":"'"$1"'","importance":([-0-9.e+]+)/' out; }
logloss() { dnn evaluate lstm.dnn "$1" --quiet --json | perl -ne 'print $1 if /"logloss":([0-9.e-]+)/'; }
run dnn explain lstm.dnn ask.csv --json --repeats 8
is_exit 0 "explain of channels"
is "$(perl -ne 'print join " ", sort /"name":"([^"]*)"/g' out)" "a b" "an entry a channel"
is "$(perl -ne 'print $1 if /"value":([0-9.e-]+)/' out)" "$(logloss ask.csv)" "the value is that of evaluate"
for channel in 0 1; do
    sum=0
    for i in 1 2 3 4 5 6 7 8; do
        perl -e 'my ($c, $s) = splice @ARGV, 0, 2; srand $s; my @n = split /,/, ($h = <>) =~ s/\n//r; my @r = map { chomp;
            [split /,/, $_, -1] } <>;
            my @at = grep { $n[$_] =~ /^ch${c}_/ } 0 .. $#n; my @v = map { [@$_[@at]] } @r;
            for my $k (reverse 1 .. $#v) { my $j = int rand $k + 1; @v[$k, $j] = @v[$j, $k] } print $h;
            for (@r) { @$_[@at] = @{shift @v}; print join(",", @$_), "\n" }' $channel $i ask.csv >dealt.csv
        sum=$(perl -e 'print $ARGV[0] + $ARGV[1]' "$sum" "$(logloss dealt.csv)")
    done
    name=$(echo ab | cut -c$((channel + 1)))
    ok "$(perl -e '($s, $v, $i) = @ARGV; $h = $s / 8 - $v; exit !(abs($h - $i) < 0.02 + 0.15 * abs $h)' "$sum" "$(logloss ask.csv)" \
        "$(importance $name)"
        echo $?)" "channel $name: $(importance $name), by hand a sum of $sum"
done
run dnn explain lstm.dnn ask.csv --json --group b,a
is "$(perl -ne 'print join " ", /"name":"([^"]*)"/g' out)" "b, a" "channels dealt together"
run dnn explain lstm.dnn ask.csv --group ch0_1
is_exit 64 "a step is no channel"
err_has 'no input channel "ch0_1"'
(head -n 1 ask.csv; echo "1,up,1$(printf ',%.0s' $(seq 24))") >empty.csv
run dnn predict lstm.dnn empty.csv --quiet
is_exit 0 "a sequence without a step"
ok "$(grep -qi nan out; [ $? = 1 ]; echo $?)" "has an answer"
is "$(grep -c . out)" 2 "a sequence without a step has its line"
err_has '1 of 1 rows have no step' "a warning says so, with --quiet as well"
(cat ask.csv; sed 1d empty.csv; sed 1d empty.csv) >some.csv
run dnn evaluate lstm.dnn some.csv
is "$(grep -c '2 of 62 rows have no step, as every cell of the sequence is missing' err)" 1 "evaluate counts them, once"
# a list of columns is what its pattern says
config '{"preset": "lstm"}' "\"sequence\": {\"wide\": {\"a\": [$(seq -f '"ch0_%g"' -s ', ' 0 11)], \"b\": \"ch1_*\"}}"
dnn train c.json -o list.dnn --quiet
dnn predict list.dnn ask.csv --quiet -o list.csv
dnn predict lstm.dnn ask.csv --quiet -o all.csv
same list.csv all.csv "a list and a pattern: the same answers"
# columns that are sorted as text: steps follow the numbers of a pattern, or the order of a list
by_text() { # FILE: the columns behind the first three in the order of their names
    perl -F, -lane 'if ($. == 1) { @at = (0 .. 2, sort { $F[$a] cmp $F[$b] } 3 .. $#F) } print join ",", map { $_ // "" } @F[@at]' "$1"
}
by_text train.csv >text.csv
is "$(head -n 1 text.csv | cut -d, -f4-7)" "ch0_0,ch0_1,ch0_10,ch0_11" "columns in the order of text"
config '{"preset": "lstm"}'
sed -i 's/train.csv/text.csv/' c.json
run dnn train c.json -o text.dnn
is "$(grep -c 'neither rise nor fall by their numbers' err)" 1 "train says once that steps follow the numbers"
dnn predict text.dnn ask.csv --quiet -o text.out
same text.out all.csv "the answers are those of the file in order"
by_text ask.csv >text_ask.csv
dnn predict text.dnn text_ask.csv --quiet -o text.out
same text.out all.csv "whatever the order in the file to predict"
config '{"preset": "lstm"}' "\"sequence\": {\"wide\": {\"a\": [$(seq -f '"ch0_%g"' -s ', ' 11 -1 0)], \"b\": \"ch1_*\"}}"
run dnn check c.json --json
is_exit 0
err_lacks "neither rise nor fall"
dnn train c.json -o list.dnn --quiet
lags=$(head -n 1 train.csv | perl -F, -lane 'print join ",", @F[0 .. 2, reverse 3 .. $#F]')
{ echo "$lags"; sed 1d train.csv; } >lags.csv
config '{"preset": "lstm"}'
sed -i 's/train.csv/lags.csv/' c.json
run dnn train c.json -o lags.dnn
is_exit 0
err_lacks "neither rise nor fall"
is "$(dnn inspect lags.dnn --json | perl -ne 'print join " ", (/"name":"(ch0_\d+)"/g)[0, 1, 11]')" "ch0_11 ch0_10 ch0_0" \
    "lags that fall keep the order of the file"
is "$(dnn inspect list.dnn --json | perl -ne 'print join " ", (/"name":"(ch0_\d+)"/g)[0, 1, 11]')" "ch0_11 ch0_10 ch0_0" \
    "a list keeps its own order"
# a linear model of one channel: the other has no part in any answer
awk 'BEGIN { seed = 9; print "a_0,a_1,a_2,b_0,b_1,b_2,v"; for (i = 0; i < 400; i++) { for (k = 0; k < 6; k++) x[k] = r(); n = i % 2 ? 3 : 2
    print x[0] "," x[1] "," (n > 2 ? x[2] : "") "," x[3] "," x[4] "," (n > 2 ? x[5] : "") "," (x[0] + x[1] + (n > 2 ? x[2] : 0)) / n } }
function r() { seed = (seed * 16807) % 2147483647; return int(seed / 2147483.647) / 1000 }' >mean.csv
cat >mean.json <<'JSON'
{"task": "regression", "data": {"train": "mean.csv", "target": "v", "columns": {}, "sequence": {"wide": {"a": "a_*", "b": "b_*"}}},
 "model": {"layers": [{"type": "pool", "kind": "mean"}]}, "train": {"epochs": 150, "optimizer": {"learning_rate": 0.02, "weight_decay": 0}},
 "backend": {"name": "dnn_cpu"}}
JSON
dnn train mean.json -o mean.dnn --quiet 2>err
run dnn explain mean.dnn mean.csv --rows why.csv
adds_up mean.dnn why.csv mean.csv prediction "a linear model: attributions add up"
mean=$(dnn inspect mean.dnn --json | perl -ne 'print $1 if /"name":"a_0".*?"center":([-0-9.e]+)/')
paste -d, why.csv mean.csv | perl -F, -lane 'BEGIN { $m = shift } next if $. == 1; $b = abs $F[1] if abs $F[1] > $b;
    $d = abs($F[0] - ($F[10] - $m)); $worst = $d if $d > $worst;
    END { print "$worst $b"; exit !($. == 401 && $worst < 0.03 && $b < 0.01) }' "$mean" >by_hand
ok $? "the channel that counts has what its mean differs from the training mean; the other one has nothing: off by $(cat by_hand)"
# a regression, layers spelled out
config '{"layers": [{"type": "dense", "units": 8}, {"type": "lstm", "units": 12}, {"type": "dropout"}, {"type": "gru", "units": 12,
    "bidirectional": true}, {"type": "layer_norm"}, {"type": "pool", "kind": "max"}, {"type": "dense", "units": 8}, {"type": "relu"}]}'
sed -i 's/"binary"/"regression"/; s/"target": "y"/"target": "v"/' c.json
run dnn train c.json -o v.dnn --quiet
is_exit 0 "a regression on lstm, gru and pool"
run dnn check c.json
is_exit 0 "check of it"
# stopped by its time, and resumed from a checkpoint
config '{"preset": "gru"}'
sed -i 's/"epochs": 12/"epochs": 4, "checkpoint": {"every_s": 0}/' c.json
dnn train c.json -o whole.dnn --quiet
DNN_FAULT=kill:rename:2 "$HOOKED" train c.json -o part.dnn --quiet >/dev/null 2>&1 &
wait $! 2>/dev/null
ls part.dnn.ckpt-* >/dev/null 2>&1
ok $? "killed behind a checkpoint"
dnn train c.json -o part.dnn --resume --quiet
same whole.dnn part.dnn "stopped and resumed: the same model"
# init
run dnn init train.csv --target y --id id --ignore v -o i.json
is_exit 0 "init"
err_has "sequences of 2 channels and 12 steps" "init says that rows are sequences"
grep -q '"ch0": "ch0_\*"' i.json
ok $? "init writes the patterns of the channels" "$(cat i.json)"
run dnn check i.json
is_exit 0 "check takes what init wrote"
run dnn init text.csv --target y --id id --ignore v -o text.json
err_has "sequences of 2 channels and 12 steps" "init finds sequences in columns that are sorted as text"
# the last steps have a value in few rows, or equal ones, and the last one has none
perl -F, -lane '@F = map { $_ // "" } @F[0 .. 26]; $n = $. - 1;
    @m = $. == 1 ? map { my $c = $_; [map { "ch${c}_$_" } 12 .. 16] } 0, 1 : map { [$n < 8 ? $n * .1 : "", $n < 4 ? $n * .2 : "", $n < 3 ?
    .5 : "", $n < 2 ? .25 : "", ""] } 0, 1;
    print join ",", @F[0 .. 14], @{$m[0]}, @F[15 .. 26], @{$m[1]}' train.csv >ragged.csv
run dnn init ragged.csv --target y --id id --ignore v -o ragged.json
is_exit 0
err_has "sequences of 2 channels and 17 steps" "few values in the last steps: every step is kept"
err_lacks "have a value"
ok "$(grep -qE '"ch[01]_[0-9]+": "' ragged.json; [ $? = 1 ]; echo $?)" "no step of few values is set aside" "$(cat ragged.json)"
run dnn check ragged.json
is_exit 0 "check takes the config of ragged sequences"
ok "$(grep -qE '"(train|batch_size|learning_rate)": [^"]' i.json; [ $? = 1 ]; echo $?)" "a preset's own defaults are not written" \
    "$(cat i.json)"
run dnn check i.json --resolved --set model.preset=rocket
out_has '"learning_rate": 0.0001' "another preset has its own defaults"
run dnn init train.csv --target y --id id --ignore v -o l.json --set train.batch_size=8
ok "$(grep -q '"batch_size": 8' l.json; echo $?)" "what a --set gives is written" "$(cat l.json)"
run dnn init train.csv --target y --id id -o j.json
ok "$(grep -q '"sequence"' j.json; [ $? = 1 ]; echo $?)" "a number beside them: rows of a table"
run dnn init train.csv --target y --id id --ignore v --set data.sequence=null -o k.json
ok "$(grep -q 'wide' k.json; [ $? = 1 ]; echo $?)" "--set data.sequence=null: rows of a table"
# errors
bad() { # NAME EXIT TEXT
    run dnn check c.json
    is_exit "$2" "$1"
    err_has "$3"
}
config '{"preset": "lstm"}' '"sequence": {"wide": {"a": "none_*"}}'
bad "a pattern without a column" 78 'no column of the training file is named as "none_*" says'
config '{"preset": "lstm"}' '"sequence": {"wide": {"a": "ch0_*", "b": ["ch1_0", "ch1_1"]}}'
bad "channels of different lengths" 78 'the channel "b" has 2 columns, and "a" has 12'
config '{"preset": "lstm"}' '"sequence": {"wide": {"a": ["ch0_1"]}}'
bad "one step" 78 'needs 2 columns or more'
config '{"preset": "lstm"}' '"sequence": {"wide": {"a": "ch0_*", "b": "ch*"}}'
bad "a column of two channels" 78 'has 24 columns'
config '{"preset": "lstm"}' '"sequence": {"wide": {"a": "ch0_*", "b": "ch0_*"}}'
bad "a channel twice" 78 'stands twice'
config '{"preset": "lstm"}' '"sequence": {"wide": 3}'
bad "wide is no object" 78 'expected an object of channels'
config '{"preset": "lstm"}' '"sequence": {"wide": {"a": 3}}'
bad "a channel is a number" 78 'expected a pattern or a list'
config '{"preset": "lstm"}' '"sequence": {"wide": {"a": "ch0_*"}, "group": "id"}'
bad "another key" 78 'group'
config '{"preset": "lstm"}' '"sequence": {"wide": {"a": "ch0_*"}}'
sed -i 's/"id": "id"/"id": "id", "v": "numeric"/' c.json
bad "a number beside the sequence" 78 'input beside the sequence'
config '{"preset": "lstm"}' '"sequence": null'
sed -i 's/"id": "id"/"id": "id", "v": "numeric"/' c.json
bad "lstm on a table" 78 'reads the steps of a sequence, and there are none'
config '{"preset": "mlp"}'
bad "mlp on sequences" 78 'steps of a sequence, and a row has one answer'
config '{"layers": [{"type": "batch_norm"}, {"type": "pool"}]}'
bad "batch_norm on steps" 78 'does not work on steps'
config '{"layers": [{"type": "pool"}, {"type": "gru", "units": 3}]}'
bad "gru behind pool" 78 'there is one step here'
config '{"layers": [{"type": "residual", "layers": [{"type": "pool"}]}]}'
bad "pool inside a residual block" 78 'inside a residual block'
for inside in '{"type": "dense", "units": 3}' '{"type": "residual", "layers": [{"type": "dense", "units": 3}]}'; do
    config '{"layers": [{"type": "residual", "layers": ['"$inside"', {"type": "pool"}]}]}'
    bad "pool behind ${inside:9:8} inside a residual block" 78 'inside a residual block'
done
config '{"preset": "lstm"}'
sed -i 's/"model"/"encoders": {"target_statistics": {}}, "model"/' c.json
bad "target statistics beside it" 78 'does not work with `data.sequence`'
perl -F, -ane 'chomp @F; $F[$_] = "" for $. > 1 ? 15 .. 26 : (); print join(",", @F), "\n"' train.csv >empty.csv
config '{"preset": "lstm"}'
sed -i 's/train.csv/empty.csv/' c.json
bad "a channel without a value" 65 'the channel "b" has no value'
done_testing
