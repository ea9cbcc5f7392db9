#!/bin/bash
# check.sh - the prediction of `dnn check` against the training; places that data may come from.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
field() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p" "$2"; }
awk 'BEGIN { srand(5); for (j = 0; j < 20; j++) printf "f%d,", j; print "y"
    for (i = 0; i < 60000; i++) { for (j = 0; j < 20; j++) printf "%.4f,", rand(); print (rand() > 0.5) } }' >long.csv
columns=$(for j in $(seq 0 19); do printf '"f%d": "numeric", ' "$j"; done)
cat >long.json <<JSON
{"task": "binary", "data": {"train": "long.csv", "target": "y", "columns": {${columns%, }}},
 "model": {"preset": "mlp", "hidden": [32]}, "train": {"epochs": 1, "batch_size": 1024}, "backend": {"name": "dnn_cpu", "threads": 2}}
JSON
make_data d.csv 2000
make_config small.json d.csv binary '"epochs": 2' '"backend": {"name": "dnn_cpu", "threads": 2}'
sed 's/\[16, 8\]/[1024, 1024, 512]/' small.json >wide.json
cat >deep.json <<JSON
{"task": "binary", "data": {"train": "long.csv", "target": "y", "columns": {${columns%, }}},
 "model": {"layers": [{"type": "dense", "units": 64}, {"type": "residual", "layers": [{"type": "layer_norm"},
  {"type": "dense", "units": 128}, {"type": "gelu"}]}, {"type": "batch_norm"}, {"type": "dropout"}]},
 "train": {"epochs": 1}, "backend": {"name": "dnn_cpu", "threads": 2}}
JSON
near() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > 0.9 * b && a < 1.25 * b) }'; }
median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
within() { # within NAME CONFIG [OPTION...]: the peak that check tells is that of the training, and its parts are all of it
    local name=$1 said took sum i threads=2
    shift
    if sanitized && [ $# -gt 1 ]; then # a minute of what the first ones have shown
        skip "memory of the $name one" "a sanitizer takes its own"
        return
    fi
    for ((i = 1; i < $#; i++)); do [ "${!i}" != --threads ] || threads=${*:i+1:1}; done
    run dnn check "$@" --json
    is_exit 0 "check of the $name one"
    cp out check.json
    run dnn train "$@" --force -o m.dnn --json
    said=$(field host_bytes check.json) took=$(field host_peak_bytes out)
    # which of more threads than processors find work is chance: what most of five trainings take
    if ! sanitized && [ "$threads" -gt "$(nproc)" ] && ! near "$said" "$took"; then
        for i in 2 3 4 5; do
            run dnn train "$@" --force -o m.dnn --json
            took="$took $(field host_peak_bytes out)"
        done
        # shellcheck disable=SC2086
        took=$(median $took)
    fi
    sum=$(sed 's/.*"by_kind":{\([^}]*\)}.*/\1/; s/[^0-9]\+/+/g; s/^+//' check.json)
    is $((sum)) "$said" "the kinds of memory of the $name one add up"
    if sanitized; then
        skip "memory of the $name one" "a sanitizer takes its own"
        return
    fi
    near "$said" "$took"
    ok $? "memory of the $name one: $said predicted, $took taken, at least 0.9 and at most 1.25 of it"
}
for name in long small wide; do within $name $name.json; done
# more threads than processors, of which a short training gives work to a few
for threads in 4 16 64; do
    within "long ($threads threads)" long.json --threads $threads
    within "small ($threads threads)" small.json --threads $threads
done
within "small (64 threads, an epoch)" small.json --threads 64 --set train.epochs=1
within "wide (16 threads)" wide.json --threads 16
# what a further thread takes is its scratch: neither a pool of blocks nor large pages of its own
if sanitized; then
    skip "memory of 64 threads" "a sanitizer takes its own"
else
    run dnn train small.json --force -o m.dnn --json --threads 64
    took=$(field host_peak_bytes out)
    [ "$took" -gt 0 ] && [ "$took" -lt $((24 << 20)) ]
    ok $? "memory of 64 threads: $took, less than 24 MiB"
fi
# layers between wide ones: what a thread needs on the way back is the most that it can be
within "narrow and wide (64 threads)" small.json --threads 64 --set 'model.hidden=[16, 1024, 16]'
within "residual" deep.json --set train.batch_size=256
within "residual, of a large batch" deep.json --set train.batch_size=16384
within "residual, of a batch of more rows than there are" deep.json --set train.batch_size=65536
# beside the network (weights, a gradient for each 64 rows of a batch, their sum, two moments) stand the best weights alone,
# also while checkpoints are written, and while the best weights are measured and saved
if sanitized; then
    skip "memory of a large network" "a sanitizer takes its own"
else
    sed 's/\[1024, 1024, 512\]/[2048, 2048]/' wide.json >huge.json
    run dnn train huge.json --force -o huge.dnn --json --set train.epochs=2 --set train.checkpoint.every_s=0
    is_exit 0 "a large network"
    took=$(field host_peak_bytes out) size=$(wc -c <huge.dnn)
    [ "$took" -lt $((size * 13 / 2 + (16 << 20))) ]
    ok $? "memory of a large network: $took, of weights that take $size"
fi
# sequences: rows of groups in windows that overlap, with an answer a row or a group; a line each
make=$ROOT/scripts/data/make_tagging.pl
[ -e "$make" ] || make=$ROOT/../scripts/data/make_tagging.pl
perl "$make" 200 >rows.csv
cat >windows.json <<JSON
{"task": "tagging", "data": {"train": "rows.csv", "target": "y", "columns": {"series": "id", "t": "id",
  "cue": "categorical", "noise": "numeric"},
  "sequence": {"group": "series", "order": "t", "window": 40, "stride": 20}},
 "model": {"preset": "lstm"}, "train": {"epochs": 1, "batch_size": 64}, "backend": {"name": "dnn_cpu", "threads": 2}}
JSON
within "windows" windows.json
sed 's/tagging/multiclass/; s/"stride": 20/"label": "group"/; s/lstm/transformer/' windows.json >groups.json
within "groups" groups.json
awk 'BEGIN { srand(9); for (t = 0; t < 64; t++) printf "a_%d,b_%d,", t, t; print "y"
    for (i = 0; i < 300; i++) { for (t = 0; t < 128; t++) printf "%.2f,", rand(); print (rand() > 0.5) } }' >lines.csv
cat >lines.json <<JSON
{"task": "binary", "data": {"train": "lines.csv", "target": "y", "columns": {}, "sequence": {"wide": {"a": "a_*", "b": "b_*"}}},
 "model": {"preset": "gru"}, "train": {"epochs": 1, "batch_size": 64}, "backend": {"name": "dnn_cpu", "threads": 2}}
JSON
within "lines of sequences" lines.json
# many labels: their scores are kept, or counted in bins
for labels in 400 2000; do
    awk -v labels=$labels 'BEGIN { srand(7); print "x,y"; for (i = 0; i < 20000; i++) printf "%.4f,k%d\n", rand(), i % labels }' >many.csv
    cat >many.json <<JSON
{"task": "multiclass", "data": {"train": "many.csv", "target": "y", "columns": {"x": "numeric"}},
 "model": {"preset": "mlp", "hidden": [32]}, "train": {"epochs": 1}, "backend": {"name": "dnn_cpu", "threads": 2}}
JSON
    within "$labels labels" many.json
done
for key in '"schema":"dnn.check/1"' '"rows":{"train":' '"columns":{"numeric":' '"largest_batch":{"train":' '"settings":{' '"warnings":['; do
    grep -qF -- "$key" check.json
    ok $? "check --json has $key"
done
run dnn check small.json --find-batch-size --min 24 --max 600 --json
is_exit 0 "check --find-batch-size"
is "$(grep -o '"batch_size":[0-9]*' out | tr -dc '0-9\n' | tr '\n' ' ')" "24 32 64 128 256 512 600 " "it tries powers of two and both ends"
best=$(field best out)
grep -qF "{\"batch_size\":$best,\"step_ms\":" out
ok $? "the best one is one of them: $best"
grep -qF '"network":{"inputs":' out && grep -qE '"type":"dense","in":[0-9]+,"out":16,"parameters":[1-9][0-9]*,"activation_bytes":[1-9]' out
ok $? "memory and parameters of each layer"
run dnn train small.json --force -o found.dnn --set "train.batch_size=$best"
is_exit 0 "train takes the batch size that was found"
run dnn check small.json --find-batch-size --max 100000
is_exit 64 "more rows than a batch may have"
run dnn check small.json --find-batch-size --set 'model={"preset":"auto"}'
is_exit 78 "a network that is solved has no batches"
grep -qF -- "--set model.preset=mlp" err
ok $? "no batches: a network that has them is named" "$(cat err)"
run dnn check small.json --min 8
is_exit 64 "--min alone"
run dnn check small.json --find-batch-size --min 4000 --max 5000
is_exit 71 "more rows than there are"
[ ! -e small.dnn ] && ! ls ./*.lock >/dev/null 2>&1
ok $? "check writes nothing"
run dnn check small.json --resolved
cp out resolved.json
run dnn check resolved.json --resolved
same out resolved.json "a resolved config resolves to itself"
run dnn train small.json -o a.dnn
run dnn train resolved.json -o b.dnn --set data.train=d.csv
same a.dnn b.dnn "a resolved config trains the same model"
# as many columns as a config may list: what is printed can be read, or a warning says that it cannot
broad() { # broad COLUMNS DIGITS-OF-A-NAME
    perl -e 'my ($n, $digits) = @ARGV; my @c = map { sprintf "c%0*d", $digits, $_ } 1 .. $n;
        open F, ">", "broad.csv"; print F join(",", @c, "x", "y"), "\n"; print F "," x $n, "$_,", $_ % 2, "\n" for 1 .. 30; close F;
        print "{\"task\":\"binary\",\"data\":{\"train\":\"broad.csv\",\"target\":\"y\",\"columns\":{", (map { "\"$_\":\"ignore\"," } @c),
            "\"x\":\"numeric\"}},\"backend\":{\"name\":\"dnn_cpu\"}}"' "$@" >broad.json
    run dnn check broad.json --resolved
    is_exit 0 "check --resolved of $1 columns"
    cp out resolved.json
}
broad 34000 12
err_lacks "more than a command reads" "34,000 columns: the resolved config is short enough to read"
run dnn check resolved.json --resolved
same out resolved.json "34,000 columns resolve to themselves: without blanks"
broad 39985 5
err_has "more than a command reads (E1105)" "39,985 columns: check says that the resolved config is too long to read"
run dnn check resolved.json
is_exit 78 "39,985 columns: the resolved config is refused"

run dnn train small.json --force -o w.dnn --set data.workers=1
same a.dnn w.dnn "one thread that reads: the same model"
mkfifo pipe
cat d.csv >pipe &
run dnn train small.json --force -o p.dnn --set data.train=pipe
same a.dnn p.dnn "data from a pipe: the same model"
"$DNN" train small.json --force -o s.dnn --set data.train=- <d.csv 2>err
same a.dnn s.dnn "data from standard input: the same model"
run dnn train small.json --force -o a.dnn --time-limit 0.000001 --json
is_exit 0 "no time at all: the weights after the first batch, exit 0"
out_has '"epochs":0,"best_epoch":null,"stopped":"time_limit"'
out_has '"valid":{"' "what they reach is measured"
err_has "the model has seen 64 of " "how far it came"
run dnn verify a.dnn
is_exit 0 "the model can be used"
run dnn train small.json --force -o a.dnn --time-limit 0.000001
err_has "no whole epoch (time limit)" "the summary says that no epoch was whole"
done_testing
