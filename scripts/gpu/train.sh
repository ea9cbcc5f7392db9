# shellcheck shell=bash disable=SC2154 # what is used here is set by scripts/gpu_verify.sh
# train.sh - parts of gpu_verify.sh: first, warpgroups, repeat, learning, precision, wgmma: trainings by the program.

# --- trainings by the program ---
config() { # FILE DATA EPOCHS BATCH: 14 numbers, 128-128-2
    local columns
    columns=$(for i in $(seq 14); do printf '"x%d": {"type": "numeric", "scale": "standard"}%s' "$i" "$([ "$i" = 14 ] || echo ,)"; done)
    cat >"$1" <<END
{"task": "binary", "data": {"train": "$2", "target": "y", "columns": {$columns}, "split": {"method": "random", "valid": 0, "test": 0}},
 "model": {"layers": [{"type": "dense", "units": 128}, {"type": "relu"}, {"type": "dense", "units": 128}, {"type": "relu"}]},
 "train": {"epochs": $3, "batch_size": $4, "schedule": {"type": "constant"}},
 "backend": {"name": "dnn_gpu", "fallback": "none"}, "output": {"model": "m.dnn"}}
END
}
numeric() { [ -s "$work/run/$1.csv" ] || scripts/bench/make_data.pl numeric "$1" >"$work/run/$1.csv"; }
small() { [ $emulated = yes ] && echo 1000 || echo 20000; }
prepare() { need_gpu && need_program && numeric "$(small)" && cd "$work/run" && config c.json "$(small).csv" "${1:-3}" 256; }
try() { echo "\$ $*"; timeout 120 "$@"; }
furthest() { # the largest difference of two files of answers
    perl -e 'my ($x, $y) = @ARGV; open my $f, "<", $x or die; open my $g, "<", $y or die; my $far = 0;
        while (my $a = <$f>) { my $b = <$g> // die "shorter"; my @a = split /,/, $a; my @b = split /,/, $b; die "cells" if @a != @b;
            next if $. == 1; for (1 .. $#a) { my $d = abs($a[$_] - $b[$_]); $far = $d if $d > $far } }
        die "longer" if <$g>; print $far' "$1" "$2"
}
within() { # FILE FILE BOUND WHAT
    local far
    far=$(furthest "$1" "$2" 2>&1)
    echo "$4: $far, at most $3"
    awk -v a="$far" -v b="$3" 'BEGIN { exit !(a + 0 == a && a <= b) }' || fail "$4: $far"
}

# --- first: one training of a config, its answers on the GPU and on the CPU ---
part_first() {
    prepare || return
    try "$dnn" train c.json -o f.dnn --json >f.out || { fail "a training"; return; }
    cat f.out
    grep -q '"used":"dnn_gpu"' f.out || fail "it did not use the GPU"
    for where in gpu cpu; do
        try "$dnn" predict f.dnn "$(small).csv" -o f.$where.csv -q --backend dnn_$where || fail "predict on $where"
    done
    within f.gpu.csv f.cpu.csv 1e-4 "answers of both"
    passed
}
# --- warpgroups: the Hopper products serve in each precision ---
part_warpgroups() {
    prepare 2 || return
    local precision
    for precision in bf16 fp16; do
        DNN_WGMMA=always try "$hooked" check c.json -v --set backend.precision=$precision 2>wgmma.err || fail "$precision: check"
        cat wgmma.err
        grep -q 'products are those of warpgroups' wgmma.err || skip "not a card of 9.0, or a toolkit without 90a" ||
            return
    done
    passed
}

part_repeat() {
    prepare || return
    for i in 1 2; do try "$dnn" train c.json -o r$i.dnn -q || fail "training $i"; done
    cmp r1.dnn r2.dnn || fail "two trainings, two models"
    for rows in 0 7 999; do
        # shellcheck disable=SC2046 # words
        try "$dnn" predict r1.dnn "$(small).csv" -o p$rows.csv -q --backend dnn_gpu $([ $rows = 0 ] || echo --batch-size $rows) ||
            fail "predict by $rows"
        cmp p0.csv p$rows.csv || fail "answers in batches of $rows have other bytes"
    done
    passed
}

part_learning() {
    prepare "$([ $emulated = yes ] && echo 5 || echo 10)" || return
    try "$dnn" train c.json -o g.dnn --json -q >g.out || fail "training on the GPU"
    try "$dnn" train c.json -o c.dnn --json -q --backend dnn_cpu >c.out || fail "training on the CPU"
    grep -q '"used":"dnn_gpu"' g.out || fail "it did not use the GPU: $(grep -o '"backend":{[^}]*}' g.out)"
    local data auc=()
    data=$(small).csv
    for model in g c; do for where in gpu cpu; do
        try "$dnn" predict $model.dnn "$data" -o $model.$where.csv -q --backend dnn_$where || fail "predict $model on $where"
    done; done
    within g.gpu.csv g.cpu.csv 1e-4 "trained on the GPU, applied on both"
    within c.gpu.csv c.cpu.csv 1e-4 "trained on the CPU, applied on both"
    for model in g c; do
        try "$dnn" evaluate $model.dnn "$data" --json -q >e.$model || fail "evaluate $model"
        auc[${#auc[@]}]=$(grep -o '"auc":[0-9.]*' e.$model | head -n 1 | cut -d: -f2)
    done
    echo "auc: GPU ${auc[0]:-?}, CPU ${auc[1]:-?}"
    awk -v a="${auc[0]:-0}" -v b="${auc[1]:-0}" -v least="$([ $emulated = yes ] && echo 0.6 || echo 0.85)" \
        'BEGIN { exit !(a >= least && a - b < 0.02 && b - a < 0.02) }' || fail "auc ${auc[0]:-?} on the GPU, ${auc[1]:-?} on the CPU"
    try "$dnn" verify g.dnn --backend dnn_gpu || fail "verify on the GPU"
    try "$dnn" verify g.dnn --backend dnn_cpu || fail "verify on the CPU"
    passed
}

# --- precision: each learns, repeats, goes on after a break with the same bytes; fp16's gradients run over ---
part_precision() {
    prepare 4 || return
    local precision width=512 batch=4096 calls auc="" fp32="" saves='"optimizer": {"type": "adamw", "learning_rate": 0.003}'
    saves+=', "checkpoint": {"every_s": 0, "keep": 2}'
    [ $emulated = yes ] && width=48 batch=128
    config w.json "$(small).csv" 4 $batch
    sed -i "s/128/$width/g; s/\"epochs\"/$saves, \"epochs\"/; s/\"batch_size\": [0-9]*/\"batch_size\": $batch/" w.json
    for precision in fp32 tf32 bf16 fp16; do
        local set="--set backend.precision=$precision"
        rm -f w.$precision.dnn* w2.dnn* w3.dnn*
        # shellcheck disable=SC2086 # words
        try "$dnn" train w.json -o w.$precision.dnn --json -q $set >w.out || { fail "$precision: training"; continue; }
        grep -q "\"precision\":\"$precision\"" w.out || fail "$precision: it computed in $(grep -o '"precision":"[^"]*"' w.out)"
        # shellcheck disable=SC2086
        DNN_FAULT=count try "$hooked" train w.json -o w2.dnn -q $set 2>w.calls || fail "$precision: training again"
        calls=$(sed -n 's/.* cuda=\([0-9]*\).*/\1/p' w.calls)
        [ -n "$calls" ] || fail "$precision: the calls of CUDA were not counted"
        cmp w.$precision.dnn w2.dnn || fail "$precision: two trainings, two models"
        # shellcheck disable=SC2086
        DNN_FAULT=cuda:$((${calls:-300} * 7 / 10)):719 try "$hooked" train w.json -o w3.dnn -q $set
        [ ! -e w3.dnn ] || fail "$precision: no fault came, the training ended well"
        ls w3.dnn.ckpt-* >/dev/null 2>&1 || fail "$precision: the fault came before the first checkpoint"
        # shellcheck disable=SC2086
        try "$dnn" train w.json -o w3.dnn -q --resume $set || fail "$precision: going on"
        cmp w.$precision.dnn w3.dnn || fail "$precision: other bytes after a break"
        try "$dnn" evaluate w.$precision.dnn "$(small).csv" --json -q >w.e || fail "$precision: evaluate"
        auc=$(grep -o '"auc":[0-9.]*' w.e | head -n 1 | cut -d: -f2)
        echo "$precision: auc ${auc:-?}"
        fp32=${fp32:-${auc:-0}}
        awk -v a="${auc:-0}" -v b="$fp32" 'BEGIN { exit !(a > 0.5 && b - a < 0.02) }' || fail "$precision: auc ${auc:-?}, fp32 has $fp32"
    done
    try "$dnn" train w.json -o over.dnn -q --set backend.precision=fp16 --set output.metrics=over.lines \
        --set 'train.loss.class_weights={"0":1e6,"1":1e6}' || fail "fp16: gradients that run over"
    grep -o '"loss_scale":[^,]*,"skipped_steps":[0-9]*' over.lines
    grep -q '"skipped_steps":[1-9]' over.lines || fail "fp16: nothing ran over"
    try "$dnn" train w.json -o auto.dnn -q --json >auto.out || fail "auto"
    echo "auto: $(grep -o '"precision":"[^"]*"' auto.out)"
    passed
}

# --- wgmma: products of warpgroups beside their twin: equal within rounding, equal in bits to themselves; what both take is among
# the constants ("wide", "wgmma") ---
part_wgmma() {
    prepare 2 || return
    local way width=512 batch=4096 precision
    [ "$emulated" = yes ] && width=48 batch=128
    DNN_WGMMA=always "$hooked" check c.json -v --set backend.precision=bf16 >check.out 2>&1 || fail "check: exit $?"
    grep -q 'products are those of warpgroups' check.out || skip "warpgroups do not serve here" || return
    for way in always none; do
        DNN_WGMMA=$way "$parity" --precision "$work/wgmma.$way" 2>"$work/wgmma.err" ||
            fail "$way: a product: $(grep 'not ok' "$work/wgmma.err" | head -n 3)"
        cat "$work/wgmma.err"
    done
    config g.json "$(small).csv" 2 $batch
    sed -i "s/128/$width/g; s/\"batch_size\": [0-9]*/\"batch_size\": $batch/" g.json
    for precision in bf16 fp16; do
        for way in always none; do
            DNN_WGMMA=$way try "$hooked" train g.json -o g.$way.dnn --json -q --set backend.precision=$precision >g.$way.out ||
                fail "$precision, $way: training"
            try "$dnn" predict g.$way.dnn "$(small).csv" -o g.$way.csv -q --backend dnn_cpu || fail "predict"
            echo "$precision, $way: $(grep -o '"train":[0-9.e-]*' g.$way.out | tail -n 1) seconds"
        done
        DNN_WGMMA=always try "$hooked" train g.json -o g.again.dnn -q --set backend.precision=$precision ||
            fail "$precision: training again"
        cmp g.always.dnn g.again.dnn || fail "$precision: two trainings, two models"
        within g.none.csv g.always.csv 0.05 "$precision: products of warpgroups and their twin's"
    done
    passed
}
