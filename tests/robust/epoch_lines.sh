#!/bin/bash
# epoch_lines.sh - output.metrics of ensembles, of single runs of one, and of cv: whole lines with the number of the run, and after
# --resume each epoch once.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
export CUDA_VISIBLE_DEVICES=''
make_data d.csv 300
make_config c.json d.csv binary '"epochs": 3, "early_stopping": {"patience": 0}'
still="--progress none --force"
lines='--set output.metrics=lines.jsonl'
ensemble='--set ensemble.folds=3 --set ensemble.members=[{"name":"a"},{"name":"b"}]'
# each run of COUNT, epochs 1..3, once; $2: what a line begins with
whole() {
    perl -e 'my ($runs, $begin) = @ARGV; my %seen; open my $f, "<", "lines.jsonl" or die; my $n = 0;
        while (<$f>) { $n++;
        /^\{"schema":"dnn.epoch\/1",$begin"epoch":(\d+),.*"train":\{"loss":[\d.e-]+\},"valid":\{.*"logloss".*\}\n$/ or die "line: $_";
            $seen{join "/", map { $_ // "" } $1, $2, $3}++ }
        $n == 3 * $runs && keys %seen == $n or die "$n lines of " . keys(%seen)' "$1" "$2"
}
# shellcheck disable=SC2086
run dnn train c.json -o m.dnn $still $lines $ensemble --threads 2
is_exit 0 "an ensemble with output.metrics"
check "a line for each epoch of each run" whole 6 '"run":(\d+),'
# shellcheck disable=SC2086
run dnn train c.json -o m.dnn $still $lines $ensemble --threads 2
check "a new training empties the file" whole 6 '"run":(\d+),'
# one run is finished, then all stop; what is left of the others goes
# shellcheck disable=SC2086
{ DNN_FAULT=kill:rename:3 "$HOOKED" train c.json -o k.dnn $still $lines $ensemble --threads 1; } >/dev/null 2>&1
[ -s lines.jsonl ] && [ ! -e k.dnn ]
ok $? "a training that is killed"
echo '{"schema":"dnn.epoch/1","run":5,"epoch":2,"step":9}' >>lines.jsonl
# shellcheck disable=SC2086
run dnn train c.json -o k.dnn --progress none --resume $lines $ensemble --threads 1
is_exit 0 "a killed training is resumed"
check "each epoch is there once" whole 6 '"run":(\d+),'
rm lines.jsonl
# shellcheck disable=SC2086
for i in 0 3; do
    dnn train c.json -o "part$i" --run $i --progress none $lines $ensemble 2>err &
done
wait
check "runs of two programs append to one file" whole 2 '"run":(\d+),'
# shellcheck disable=SC2086
run dnn cv c.json --folds 2 $lines --progress none
is_exit 0 "cv"
check "a line for each epoch of each fold" whole 2 '"fold":(\d+),"run":(\d+),'
done_testing
