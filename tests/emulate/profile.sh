#!/bin/bash
# profile.sh - `train --profile` on a GPU: how long it worked, by its own events, beside the host's lane; the bytes of the model are
# those without, and a GPU that fails meanwhile changes nothing of what follows. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
make_data d.csv 600
make_config c.json d.csv binary '"epochs": 2' '"backend": {"name": "dnn_gpu"}'
run env DNN_EMULATE=report "$DNN" train c.json --force -o m.dnn --progress none --profile trace.json
is_exit 0 "a training with a profile"
err_has " 0 findings, 0 left" "a training with a profile leaves no event behind"
perl -MJSON::PP -e 'local $/; open my $f, "<", "trace.json" or die; my $t = decode_json(<$f>); my (%n, %us);
    for (@{$t->{traceEvents}}) { if ($_->{ph} eq "M") { print "lane $_->{args}{name}\n"; next }
        die "ph" if $_->{ph} ne "X"; my $l = "$_->{pid}/$_->{tid}"; $n{$l}++; $us{$l} += $_->{dur} if $_->{dur} > 0 }
    print "$_ ", $us{$_} > 0 ? "some" : "none", "\n" for sort keys %us' >lanes 2>err
ok $? "the trace is JSON" "$(cat err)"
for lane in "lane host" "lane emulated" "lane steps" "lane operations of the first steps" "1/1 some" "2/1 some" "2/2 some"; do
    check "$lane" grep -qxF "$lane" lanes
done
dnn train c.json --force -o n.dnn --progress none --quiet
same m.dnn n.dnn "the same bytes as without"
calls=$(DNN_EMULATE=report dnn train c.json --force -o m.dnn --progress none --profile trace.json 2>&1 >/dev/null |
    sed -n 's/^emulated: \([0-9]*\) calls.*/\1/p')
bad=""
for ((n = calls / 8; n < calls * 7 / 8; n += calls / 16)); do
    run env DNN_EMULATE=any:$n:719,report "$DNN" train c.json --force -o x.dnn --progress none --profile trace.json
    [ $STATUS -eq 0 ] && [ "$(grep 'warning:' err | grep -vc 'less than 4 GiB')" -eq 1 ] && [ -s trace.json ] ||
        bad+="any:$n: exit $STATUS: $(tail -n 2 err); "
done
[ -z "$bad" ]
ok $? "G09 it fails while it is measured: the CPU, with one warning, and a trace of that" "$bad"
! ls .*dnn-tmp* >/dev/null 2>&1
ok $? "nothing is left beside it"
done_testing
