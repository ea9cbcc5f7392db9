#!/bin/bash
# same_bytes.sh - the same seed, config and data give the same model with any threads, load and surroundings. Ids: N15 N16 C29
# L10 L11 X11.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 3000
make_data v.csv 3000 value
make_data m.csv 3000 multi
for task in binary:d multiclass:m regression:v; do
    make_config ${task%:*}.json ${task#*:}.csv ${task%:*} '"epochs": 4, "clip_norm": 1.0' '"backend": {"name": "dnn_cpu"}'
    run dnn train ${task%:*}.json -o ${task%:*}.dnn --threads 1 --progress none
    is_exit 0 "${task%:*}"
done
want=$(digest binary.dnn)
for task in binary multiclass regression; do
    for threads in 2 3 8; do
        dnn train $task.json -o t.dnn --threads $threads --progress none 2>err
        is "$(digest t.dnn)" "$(digest $task.dnn)" "N15 $task with $threads threads"
    done
done
# a model with every kind of layer
layers='model={"layers": [{"type": "dense", "units": 24}, {"type": "batch_norm"}, {"type": "gelu"},
  {"type": "dropout", "p": 0.2}, {"type": "residual", "layers": [{"type": "dense", "units": 24}, {"type": "layer_norm"},
  {"type": "silu"}]}]}'
dnn train binary.json --set "$layers" -o l1.dnn --threads 1 --progress none 2>err
ok $? "batch norm, layer norm, dropout, residual" "$(cat err)"
for threads in 2 3; do
    dnn train binary.json --set "$layers" -o l2.dnn --threads $threads --progress none 2>err
    same l1.dnn l2.dnn "the same with $threads threads"
done

# beside busy loops, one for each processor
busy=""
for _ in $(seq "$(nproc)"); do
    while :; do :; done &
    busy+=" $!"
done
dnn train binary.json -o t.dnn --threads 2 --progress none 2>err
is "$(digest t.dnn)" "$want" "beside busy loops"
kill $busy
wait $busy 2>/dev/null

mkdir -p elsewhere/deep
cp d.csv binary.json elsewhere/deep
(cd elsewhere && dnn train deep/binary.json -o ../t.dnn --progress none) 2>err
is "$(digest t.dnn)" "$want" "C29 another folder, another working folder"
for surroundings in TZ=Asia/Tokyo LC_ALL=de_DE.UTF-8 LANG=tr_TR.UTF-8 HOME=/nowhere OPENBLAS_NUM_THREADS=9999 OMP_NUM_THREADS=7; do
    env "$surroundings" "$DNN" train binary.json -o t.dnn --progress none 2>err
    is "$(digest t.dnn)" "$want" "C29 L10 L11 $surroundings: the same bytes"
done
(umask 077 && dnn train binary.json -o u.dnn --progress none) 2>err
is "$(digest u.dnn)" "$want" "L10 umask 077: the same bytes"
is "$(stat -c %a u.dnn)" 600 "L10 umask 077 decides the file's mode"
env -i "$DNN" train binary.json -o t.dnn --progress none 2>err
is "$(digest t.dnn)" "$want" "L10 in an empty environment"
if command -v faketime >/dev/null 2>&1; then
    faketime '2040-01-01' "$DNN" train binary.json -o t.dnn --progress none 2>err
    is "$(digest t.dnn)" "$want" "X11 at another date"
else
    skip "X11 at another date" "no faketime here"
fi
# N16 another vector code gives the same bits; the metadata of the model say which one it was
tensors() { perl -0777 -ne 'print substr $_, 8 + unpack "Q<"' "$1" | sha256sum; }
for core in c avx2 avx512; do
    DNN_BLAS=none DNN_CPU=$core "$HOOKED" train binary.json -o c1.dnn --threads 1 --progress none 2>err ||
        { skip "DNN_CPU=$core" "not here"; continue; }
    DNN_BLAS=none DNN_CPU=$core "$HOOKED" train binary.json -o c2.dnn --threads 2 --progress none 2>err
    same c1.dnn c2.dnn "N16 DNN_CPU=$core with 1 and 2 threads"
    [ "$core" != c ] || all=$(tensors c1.dnn)
    is "$(tensors c1.dnn)" "$all" "N16 DNN_CPU=$core: the tensors of DNN_CPU=c"
    dnn predict c1.dnn d.csv -o "$core.csv" 2>err || ok 1 "DNN_CPU=$core predicts" "$(cat err)"
    [ "$core" = c ] || same c.csv "$core.csv" "N16 DNN_CPU=$core predicts the bytes of DNN_CPU=c"
done
done_testing
