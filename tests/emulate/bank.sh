#!/bin/bash
# bank.sh - 2,000 rows of a real file (bank-marketing: quoted, mixed columns, missing cells) from CSV to probabilities on the emulated
# GPU: after one epoch from equal weights they are within 1e-4 of the CPU's in fp32, with init's network and the benchmark's; in bf16,
# which an emulated card takes for small products too, within 1e-3. The file is no part of the project: DNN_SHARED_DATA names its
# folder, else ../shared/data beside the project; without it, one skip.
. "$(dirname "$0")/../tap.sh"
SHARED=${DNN_SHARED_DATA:-$ROOT/../shared/data}
full=$SHARED/bank-marketing/bank-full.csv
if [ ! -e "$full" ]; then
    skip "2,000 rows of bank-marketing on the emulated GPU" "no $(basename "$full") in DNN_SHARED_DATA"
    done_testing
fi
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE
awk 'NR == 1 || (NR % 22 == 0 && n++ < 2000)' "$full" >bank.csv
is "$(wc -l <bank.csv)" 2001 "2,000 rows of 45,211"
run dnn init bank.csv --target y --set model.preset=mlp -o c.json
is_exit 0 "init"

# farthest FILE FILE: the farthest two probabilities of the same row
farthest() {
    perl -e 'my $far = 0; open my $f, "<", $ARGV[0] or die; open my $g, "<", $ARGV[1] or die;
        while (my $x = <$f>) { my $y = <$g> // die "shorter"; my @x = split /,/, $x; my @y = split /,/, $y; next if $. == 1;
            for (0 .. $#x) { next if $x[$_] !~ /^[0-9.e-]+$/; my $d = abs $x[$_] - $y[$_]; $far = $d if $d > $far } }
        die "longer" if <$g>; printf "%.2e\n", $far' "$1" "$2"
}
for net in init 128-128 bf16; do
    more=(--set backend.precision=fp32)
    bound=1e-4
    [ $net = bf16 ] && more=(--set backend.precision=bf16) && bound=1e-3
    [ $net = 128-128 ] && more+=(--set 'model={"layers": [{"type": "dense", "units": 128}, {"type": "relu"},
        {"type": "dense", "units": 128}, {"type": "relu"}]}')
    for machine in gpu cpu; do
        [ $machine = gpu ] || more+=(--set backend.precision=fp32)
        run dnn train c.json --force -o $net.$machine.dnn --progress none --json --backend dnn_$machine --set train.epochs=1 \
            --set train.batch_size=256 --set backend.fallback=none "${more[@]}"
        is_exit 0 "$net: an epoch, dnn_$machine"
        out_has "\"used\":\"dnn_$machine\"" "$net: which was used"
        run dnn predict $net.$machine.dnn bank.csv --backend dnn_$machine -o $net.$machine.csv
        is_exit 0 "$net: 2,000 answers"
    done
    far=$(farthest $net.gpu.csv $net.cpu.csv)
    is "$(wc -l <$net.gpu.csv)" 2001 "$net: a line for each row"
    awk -v far="$far" -v most=$bound 'BEGIN { exit !(far + 0 <= most) }'
    ok $? "$net: probabilities are within $bound of the CPU's: $far"
done
done_testing
