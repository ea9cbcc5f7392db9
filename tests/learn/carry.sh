#!/bin/bash
# carry.sh - data.sequence.carry_state: a label that stands in the first row of a group, and windows that end before the group does.
# Only a network that carries its state knows it in later windows. Answers are those of one window over the whole group, bit for bit.
. "$(dirname "$0")/../tap.sh"
make_rows() { # FILE GROUPS SEED LEAST: each row is labelled with the cue of its group's first row
    perl -e 'my ($groups, $s, $least) = @ARGV;
        sub chance { $s = ($s * 1664525 + 1013904223) % 4294967296; return int($s / 4294967296 * $_[0]) }
        print "series,t,cue,noise,y\n";
        for my $g (1 .. $groups) {
            my $cue = (qw(low mid high))[chance(3)];
            printf "g%d,%d,%s,%.3f,%s\n", $g, $_, $_ ? "none" : $cue, chance(1000) / 1000, $cue for 0 .. $least - 1 + chance(25);
        }' "$2" "$3" "$4" >"$1"
}
make_rows train.csv 240 3 12
make_rows test.csv 60 9 12
make_rows long.csv 30 11 150
make_rows one.csv 1 13 9000 # longer than what is read at once
sed '1d; s/^g1,/long,/' one.csv >>long.csv
config() { # MODEL CARRY [MORE of the sequence]
    cat >c.json <<JSON
{"task": "tagging",
 "data": {"train": "train.csv", "test": "test.csv", "target": "y",
          "columns": {"series": "id", "t": "id", "cue": "categorical", "noise": "numeric"},
          "sequence": {"group": "series", "order": "t", "window": 6, "carry_state": $2${3:-}}},
 "model": {"preset": "$1", "hidden": [16], "bidirectional": false}, "train": {"epochs": 25, "batch_size": 16,
 "optimizer": {"learning_rate": 0.01}},
 "backend": {"name": "dnn_cpu"}}
JSON
}
reaches() { # NAME OPERATOR BOUND MODEL-FILE: the accuracy on the rows of the test file
    local got
    got=$(dnn train c.json -o $4 --force --quiet --json 2>err | tee trained | perl -ne 'print $1 if /"test":\{[^}]*"accuracy":([0-9.e-]+)/')
    awk -v a="$got" -v b="$3" -v o="$2" 'BEGIN { exit !(a != "" && (o == ">" ? a > b : a < b)) }'
    ok $? "$1: accuracy $got $2 $3" "$(tail -n 3 err)"
}
for preset in lstm gru; do
    config $preset false; reaches "$preset, each window by itself" '<' 0.7 $preset-apart.dnn
    config $preset true;  reaches "$preset, state carried" '>' 0.95 $preset.dnn
done
for preset in lstm gru; do
    dnn predict $preset.dnn long.csv --quiet -o long-$preset.csv 2>err
    ok $? "$preset answers groups of 150 rows and more" "$(cat err)"
    is "$(wc -l <long-$preset.csv)" "$(wc -l <long.csv)" "a line each row"
    dnn predict $preset.dnn long.csv --quiet --threads 1 -o t1.csv
    same t1.csv long-$preset.csv "$preset: the same answers with one thread"
    dnn predict $preset.dnn - --quiet --batch-size 5 -o b5.csv <long.csv
    same b5.csv long-$preset.csv "$preset: the same answers in batches of five rows, from a pipe"
    perl -ne 'BEGIN { $n = shift } print if $. == 1 || /^g$n,/' 17 long.csv >one.csv
    dnn predict $preset.dnn one.csv --quiet -o one.out
    perl -e 'open my $k, "<", "long.csv"; open my $a, "<", $ARGV[0]; while (<$k>) { my $l = <$a>; print $l if $. == 1 || /^g17,/ }' \
        long-$preset.csv >want.out
    same one.out want.out "neighbours change no answer of a group"
done

# The same model with windows as long as a group: sizes rewritten in place, the hash made anew.
for preset in lstm gru; do
    perl -MDigest::SHA=sha256_hex -e 'binmode STDIN; binmode STDOUT; local $/; my $f = <STDIN>;
        $f =~ s/"window":6,"stride":6,([^}]*),"carry_state":true/"\"window\":9999,\"stride\":9999,$1" . " " x 13/e or die "no windows";
        substr($f, 35, 64) = "0" x 64; substr($f, 35, 64) = sha256_hex($f); print $f' <$preset.dnn >whole.dnn
    dnn predict whole.dnn long.csv --quiet -o whole.csv 2>err
    ok $? "windows as long as a group" "$(cat err)"
    same whole.csv long-$preset.csv "$preset: one window over each group answers the same, bit for bit"
done
dnn evaluate gru.dnn test.csv --json >evaluated 2>err
is "$(perl -ne 'print $1 if /"accuracy":([0-9.e-]+)/' evaluated)" \
    "$(perl -ne 'print $1 if /"test":\{[^}]*"accuracy":([0-9.e-]+)/' trained)" \
    "dnn evaluate says what training said of the test rows"
dnn verify gru.dnn --quiet
ok $? "dnn verify"
# a row that cannot be read: its group has no answers from its window on, the others have theirs
awk -F, -v OFS=, '$1 == "g7" && $2 == 20 { $4 = "?" } { print }' long.csv >bad.csv
dnn predict gru.dnn bad.csv --on-bad-row null --quiet -o bad.out 2>err
paste -d '\n' long-gru.csv bad.out | perl -ne '
    if ($. % 2) { $want = $_; next }
    my ($group, $t) = split /,/; my $none = $group eq "g7" && $t >= 18;
    $wrong .= "$group,$t " if $. > 2 && ($none ? $_ !~ /^g7,$t,,/ : $_ ne $want); END { print $wrong }' >wrong
is "$(cat wrong)" "" "a bad row makes its group bad from its window on" "$(cat err; head -n 3 bad.out)"
run dnn explain gru.dnn test.csv
is_exit 78 "explain does not take it"
err_has carry_state

# stopped inside epochs again and again, with further micro-batches too
for more in "" "--set train.batch_size=6 --set train.grad_accumulation=3"; do
    long="--set train.epochs=800 --set train.early_stopping.patience=0 --set output.metrics=m.jsonl $more"
    dnn train c.json -o full.dnn --quiet --force $long
    rm -f m.jsonl cut.dnn
    stopped=""
    for lines in 20 90 300; do
        env --default-signal=TERM "$DNN" train c.json -o cut.dnn --progress none --resume $long >out 2>err &
        job=$!
        while kill -0 $job 2>/dev/null && [ "$(cat m.jsonl 2>/dev/null | wc -l)" -lt $lines ]; do sleep 0.01; done
        kill -TERM $job 2>/dev/null
        wait $job
        stopped+="$? "
    done
    is "$stopped" "75 75 75 " "stopped three times"
    run dnn train c.json -o cut.dnn --progress none --resume $long
    err_has "resuming at step"
    same full.dnn cut.dnn "resumed: the same bytes${more:+, with micro-batches}"
done
dnn train c.json -o micro.dnn --force --quiet --json --set train.batch_size=8 --set train.grad_accumulation=2 >out 2>err
accuracy=$(perl -ne 'print $1 if /"test":\{[^}]*"accuracy":([0-9.e-]+)/' out)
check "it learns with micro-batches: accuracy $accuracy" awk -v a="$accuracy" 'BEGIN { exit !(a > 0.95) }'
for threads in 1 2; do dnn train c.json -o b$threads.dnn --quiet --threads $threads --set train.epochs=3; done
same b1.dnn b2.dnn "the same model with 1 and 2 threads"
refused() { # WHAT
    run dnn check c.json
    is_exit 78 "refused: $1"
    err_has carry_state
}
for wrong in '"stride": 3' '"label": "last"'; do
    config gru true ", $wrong"; sed -i 's/"tagging"/"multiclass"/' c.json
    refused "$wrong"
done
config gru true; sed -i 's/"bidirectional": false/"bidirectional": true/' c.json; refused "two directions"
config transformer true; sed -i 's/, "hidden": .16., "bidirectional": false//' c.json; refused "attention"
config tcn true; sed -i 's/, "hidden": .16., "bidirectional": false//' c.json; refused "convolution"
config gru true
dnn check c.json --resolved 2>err >resolved
check "check --resolved shows it" grep -q '"carry_state": *true' resolved
done_testing
