#!/bin/bash
# profile.sh - `train --profile`: a trace of host and machine that Perfetto opens, and a model with the same bytes.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 3000
make_config c.json d.csv binary '"epochs": 3, "checkpoint": {"every_s": 0, "keep": 2}' '"backend": {"name": "dnn_cpu"}'
# trace FILE: of valid JSON with what the format asks of each event; prints "NAME LANE" of each span, and spans that overlap
trace() {
    perl -MJSON::PP -e 'local $/; open my $f, "<", $ARGV[0] or die; my $t = decode_json(<$f>); my %end; my %lane;
        die "unit" if $t->{displayTimeUnit} ne "ms";
        for (@{$t->{traceEvents}}) {
            die "pid, tid" unless $_->{pid} =~ /^\d+$/ && $_->{tid} =~ /^\d+$/;
            if ($_->{ph} eq "M") { $lane{"$_->{pid}/$_->{tid}"} = $_->{args}{name} if $_->{name} eq "thread_name"; next }
            die "ph $_->{ph}" if $_->{ph} ne "X"; die "ts" if $_->{ts} < 0 || $_->{dur} < 0;
            my $l = $lane{"$_->{pid}/$_->{tid}"} // die "no name of the lane"; print "$_->{name}|$l\n";
            push @{$all{$l}}, [$_->{ts}, $_->{ts} + $_->{dur}, $_->{name}] }
        for my $l (keys %all) { my @open; # spans of a lane lie beside or within each other
            for (sort { $a->[0] <=> $b->[0] || $b->[1] <=> $a->[1] } @{$all{$l}}) {
                pop @open while @open && $open[-1][1] <= $_->[0] + 0.01;
                print "OVERLAP $_->[2] in $open[-1][2] of $l\n" if @open && $_->[1] > $open[-1][1] + 100; push @open, $_ } }' "$1"
}
run dnn train c.json -o m.dnn --progress none --profile trace.json
is_exit 0 "a training with a profile"
cp err told
trace trace.json >spans 2>&1
ok $? "the trace is what Perfetto asks for" "$(head -n 3 spans)"
for span in "reading the data|host" "training|host" "epoch|host" "validation|host" "checkpoint|host" "writing the model|host" \
    "steps|host" "steps|steps" "gather|operations of the first steps" "dense|operations of the first steps" \
    "advance|operations of the first steps" "dense|layers of the first steps" "adam|layers of the first steps"; do
    check "has $span" grep -qxF "$span" spans
done
is "$(grep -cxF 'epoch|host' spans)" 3 "each epoch"
is "$(grep -cxF 'advance|operations of the first steps' spans)" 4 "four steps by operations"
awk '/profile: / && / of a step, / { for (i = 1; i < NF; i++) if ($(i + 1) == "%") sum += $i } END { exit !(sum > 99 && sum < 101) }' told
ok $? "the shares of the layers add up to a step" "$(cat told)"
grep -qE 'profile: dense 1: [0-9.]+ % of a step, [0-9.e-]+ ms' told
ok $? "a layer is named with its number"
! grep OVERLAP spans
ok $? "spans do not cut each other" "$(grep OVERLAP spans)"
run dnn train c.json -o n.dnn --progress none
same m.dnn n.dnn "the same bytes as without"
run dnn train c.json -o m.dnn --progress none --profile trace.json
is_exit 0 "a trace is replaced"
echo "a,b" >mine.csv
run dnn train c.json -o m.dnn --progress none --profile mine.csv
is_exit 73 "anything else is not"
is "$(cat mine.csv)" "a,b" "it stays as it is"
run dnn train c.json -o x.dnn --progress none --profile x.dnn
is_exit 64 "--profile does not take the place of the model"
run dnn train c.json -o x.dnn --progress none --profile x.dnn.lock
is_exit 64 "--profile does not take the place of the model's lock"
run dnn train c.json -o x.dnn --progress none --profile ./x.dnn.ckpt-000000000004
is_exit 64 "--profile does not take the name of a checkpoint"
run dnn train c.json -o x.dnn --progress none --profile x.jsonl --set output.metrics=x.jsonl
is_exit 64 "--profile does not take the place of output.metrics"
run dnn train c.json -o x.dnn --progress none --profile c.json
is_exit 64 "--profile does not replace the config"
run dnn train c.json -o x.dnn --progress none --profile ./d.csv
is_exit 64 "--profile does not replace the data"
[ ! -e x.jsonl ] && [ ! -e x.dnn.lock ] && [ ! -e x.dnn.ckpt-000000000004 ]
ok $? "a refused --profile makes no file" "$(ls)"
run dnn train c.json -o x.dnn --progress none --profile - --json
is_exit 64 "two documents on standard output are refused"
out_has "both write to standard output"
cp trace.json before.json
: >x.jsonl
exec 8>>x.jsonl
flock 8
run dnn train c.json -o x.dnn --progress none --profile trace.json --set output.metrics=x.jsonl
is_exit 75 "a training that is refused, since another one writes its metrics"
exec 8>&-
same trace.json before.json "leaves the trace of before"
printf 'a\n1\n' >short.csv
run dnn train c.json -o x.dnn --progress none --profile trace.json --set data.train=short.csv
is_exit 65 "one that cannot read its data"
same trace.json before.json "does so too"
run dnn train c.json -o x.dnn --progress none --profile none/trace.json
is_exit 73 "a folder that is not there is told before the training"
[ ! -e x.dnn ]
ok $? "nothing was trained"
run dnn train c.json -o x.dnn --progress none --profile all.json --set train.epochs=1500 --set train.early_stopping.patience=0
[ "$(wc -c <all.json)" -lt 4000000 ]
ok $? "a long training leaves a small file" "$(wc -c <all.json)"
done_testing
