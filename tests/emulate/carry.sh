#!/bin/bash
# carry.sh - data.sequence.carry_state on the emulated GPU: learns and answers as on the CPU, over groups longer than what is read at once;
# resumed inside an epoch, the same bytes; a card that breaks inside a group. DNN is build/emulated/dnn; DNN_EMULATE=break:N.
. "$(dirname "$0")/../tap.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE DNN_GUESTS
make_rows() { # FILE GROUPS SEED LEAST: each row is labelled with the cue of its group's first row
    perl -e 'my ($groups, $s, $least) = @ARGV;
        sub chance { $s = ($s * 1664525 + 1013904223) % 4294967296; return int($s / 4294967296 * $_[0]) }
        print "series,t,cue,y\n";
        for my $g (1 .. $groups) {
            my $cue = (qw(low high))[chance(2)];
            printf "g%d,%d,%s,%s\n", $g, $_, $_ ? "none" : $cue, $cue for 0 .. $least - 1 + chance(6);
        }' "$2" "$3" "$4" >"$1"
}
make_rows train.csv 40 3 6
make_rows ask.csv 6 9 40
config() { # PRESET
    cat >c.json <<JSON
{"task": "tagging",
 "data": {"train": "train.csv", "target": "y", "columns": {"series": "id", "t": "id", "cue": "categorical"},
          "sequence": {"group": "series", "order": "t", "window": 4, "carry_state": true}},
 "model": {"preset": "$1", "hidden": [6], "bidirectional": false},
 "train": {"epochs": 8, "batch_size": 8, "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0},
 "optimizer": {"learning_rate": 0.03}},
 "backend": {"name": "dnn_gpu", "fallback": "none", "precision": "fp32"}}
JSON
}
near() { # A B: each number within 1e-4
    paste -d, "$1" "$2" | awk -F, '
        NR > 1 { n = NF / 2; for (i = 4; i <= n; i++) { d = $i - $(n + i); if (d < 0) d = -d; if (d > most) most = d } }
        END { print NR " lines, " most; exit !(NR > 100 && most <= 1e-4) }'
}
for preset in lstm gru; do
    config $preset
    run dnn train c.json -o m.dnn --progress none
    is_exit 0 "$preset: trained"
    dnn train c.json -o cpu.dnn --quiet --backend dnn_cpu
    for backend in dnn_gpu dnn_cpu; do dnn predict m.dnn ask.csv --quiet --backend $backend -o $backend.csv; done
    near dnn_gpu.csv dnn_cpu.csv >far
    ok $? "$preset: answers as the CPU's" "$(cat far)"
    dnn predict cpu.dnn ask.csv --quiet --backend dnn_cpu -o by_cpu.csv
    near dnn_cpu.csv by_cpu.csv >far
    ok $? "$preset: it has learned what the CPU learns" "$(cat far)"
    GPU_BATCH_SIZE=2 dnn predict m.dnn ask.csv --quiet -o small.csv
    same small.csv dnn_gpu.csv "$preset: the same bytes in batches of two"
done
# micro-batches, and a stop inside an epoch
dnn train c.json -o whole.dnn --quiet --set train.batch_size=4 --set train.grad_accumulation=2
DNN_FAULT=kill:rename:5 dnn train c.json -o cut.dnn --quiet --set train.batch_size=4 --set train.grad_accumulation=2
run dnn train c.json -o cut.dnn --progress none --resume --set train.batch_size=4 --set train.grad_accumulation=2
err_has "resuming at step"
same whole.dnn cut.dnn "resumed: the same bytes"
GPU_BATCH_SIZE=3 dnn train c.json -o split.dnn --quiet
dnn train c.json -o plain.dnn --quiet
for m in split plain; do dnn predict $m.dnn ask.csv --quiet --backend dnn_cpu -o $m.csv; done
near split.csv plain.csv >far
ok $? "micro-batches of three rows: the same mathematics" "$(cat far)"
# a card that breaks
broken=""
dnn train c.json -o m.dnn --quiet --force --set backend.fallback=cpu
dnn predict m.dnn ask.csv --quiet --backend dnn_cpu -o dnn_cpu.csv
for n in 20 60 200; do
    run env DNN_EMULATE=break:$n:719 "$DNN" predict m.dnn ask.csv --quiet --backend dnn_gpu -o broken.csv
    [ "$STATUS" -eq 0 ] && near broken.csv dnn_cpu.csv >far || broken+="break:$n: exit $STATUS, $(cat far err); "
done
is "$broken" "" "a card that breaks before the first answer: the CPU goes on"
perl -e 'print "series,t,cue\n"; printf "long,%d,%s\n", $_, $_ ? "none" : "low" for 0 .. 19999' >long.csv
run env DNN_EMULATE=break:20000:719 "$DNN" predict m.dnn long.csv --quiet --backend dnn_gpu -o broken.csv
is_exit 81 "one that breaks inside a group"
err_has "is lost with the GPU"
done_testing
