# shellcheck shell=bash disable=SC2154 # what is used here is set by scripts/gpu_verify.sh
# guests.sh - the part guests of gpu_verify.sh.

# --- guests: cuBLASLt and cuDNN, where they are, in the place of our kernels ---
python_libraries() { # FILE: the folder of Python's packages that has it
    [ -z "$python" ] || "$python" -c 'import glob, os, sys
for p in sys.path: print("\n".join(map(os.path.dirname, glob.glob(p + "/nvidia/*/lib/" + sys.argv[1]))))' "$1" 2>/dev/null | grep . |
head -n 1
}
find_guests() { # what the loader does not know may stand beside Python's packages, or with the toolkit
    local file folder
    for file in 'libcublasLt.so.1?' 'libcudnn.so.?'; do
        for folder in "$(python_libraries "$file")" ${nvcc:+"${nvcc%/*}/../lib64" "${nvcc%/*}/../lib"}; do
            # shellcheck disable=SC2086 # a pattern
            [ -n "$folder" ] && ls $folder/$file >/dev/null 2>&1 && export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder" &&
                break
        done
    done
}
stand_ins() { # on the emulated card: libraries that compute on the host
    mkdir -p "$work/guests"
    local stubs=$root/tests/emulate
    gcc -shared -fPIC -O1 -DVERSION=130100 -o "$work/guests/libcublasLt.so.13" "$stubs/guest_stub.c" -lm &&
        gcc -shared -fPIC -O1 -DVERSION=91900 -o "$work/guests/libcudnn.so.9" "$stubs/cudnn_stub.c" -lm &&
        export LD_LIBRARY_PATH=$work/guests${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
have_guest() { # NAME of --version
    "$dnn" --version --json | grep -q "\"$1\":\"[0-9]" || skip "$("$dnn" --version --json | grep -o "\"$1_reason\":\"[^\"]*\"")"
}
open_guests() {
    if [ $emulated = yes ]; then stand_ins || skip "the stand-ins cannot be built" || return; else find_guests; fi
    "$dnn" --version
}
# guests_speed: a long training, cut off after some seconds, by our kernels and by the rule: a row each, and their ratio
guests_speed() {
    local precision who rate_own="" rate_rule="" batch=16384
    config v.json "$(small).csv" 40000 $batch
    sed -i 's/"units": 128}, {"type": "relu"}\]/"units": 512}, {"type": "relu"}, {"type": "dense", "units": 512}, {"type": "relu"}]/;
        s/128/512/g' v.json
    for precision in tf32 bf16; do
        for who in own rule; do
            rm -f v.lines
            DNN_GUESTS=$([ $who = rule ] && echo rule || echo none) try "$hooked" train v.json -o v.$who.dnn --force -q --time-limit 4 \
                --set backend.precision=$precision --set output.metrics=v.lines || { fail "$precision: a long training, $who"; return; }
            printf -v rate_$who %s "$(rate_of v.lines)"
            row "{\"work\": \"14-512-512-512-2, batch $batch\", \"who\": \"$([ $who = rule ] && echo 'with cuBLASLt' ||
                echo dnn_gpu) $precision\", \"rows_per_s\": $(or_null "$(rate_of v.lines)")}"
        done
        "$dnn" inspect v.rule.dnn | grep '^trained on' | tee -a "$work/$part.told" # by which: a card without a row has our own
        echo "cuBLASLt by its rows over our own, $precision: $(or_null "$(quotient "$rate_rule" "$rate_own")") times" |
            tee -a "$work/$part.told"
    done
}
part_guests() {
    prepare 4 && open_guests && have_guest cublaslt || return
    # every case of the operations they do: against the CPU, twice and recorded; large products in each precision, of factors and to
    # results in 16 bits too, as a training keeps them ("all kept"): against exact sums
    DNN_GUESTS=cuBLASLt "$parity" --cases "$work/guests.cases" 2>"$work/guests.err" ||
        fail "an operation: $(grep 'not ok' "$work/guests.err" | head -n 3)"
    DNN_GUESTS=cuBLASLt "$parity" --precision "$work/guests.precision" 2>>"$work/guests.err" ||
        fail "a product: $(grep 'not ok' "$work/guests.err" | tail -n 3)"
    cat "$work/guests.err"
    ! grep -q 'warning:' "$work/guests.err" || fail "$(grep -m 1 'warning:' "$work/guests.err")"
    grep -o '"guests": "[^"]*"' "$work/guests.cases"
    grep -q '"guests": "cuBLASLt' "$work/guests.cases" || fail "it did not serve"
    # trainings with them and without; wide, with a norm, so that nothing is fused and activations stand alone
    local width=512 batch=4096 precision set
    [ $emulated = yes ] && width=48 batch=128
    config v.json "$(small).csv" 4 $batch
    sed -i -e "s/128/$width/g; s/\"batch_size\": [0-9]*/\"batch_size\": $batch/" \
        -e 's/, {"type": "relu"}\]/, {"type": "layer_norm"}, {"type": "relu"}]/' v.json
    for precision in fp32 tf32 bf16 fp16; do
        set="--set backend.precision=$precision"
        # shellcheck disable=SC2086 # words
        try "$dnn" train v.json -o v.own.dnn -q $set || fail "$precision: training"
        # shellcheck disable=SC2086
        for model in v.1.dnn v.2.dnn; do
            DNN_GUESTS=cuBLASLt try "$hooked" train v.json -o $model -q $set || fail "$precision: training with guests"
        done
        "$dnn" inspect v.1.dnn | grep -q '^trained on .*cuBLASLt' ||
            fail "$precision: cuBLASLt did not serve: $("$dnn" inspect v.1.dnn | grep '^trained on')"
        cmp v.1.dnn v.2.dnn || fail "$precision: two trainings with guests, two models"
        for model in own 1; do try "$dnn" predict v.$model.dnn "$(small).csv" -o v.$model.csv -q --backend dnn_cpu || fail "predict"; done
        within v.own.csv v.1.csv "$([ $precision = fp32 ] && echo 1e-2 || echo 0.1)" "$precision: with guests and without"
    done
    [ $emulated = yes ] || guests_speed
    passed
}

# --- recurrent: cuDNN in the place of our recurrent layers. Gradients and small trainings against the CPU, then speed beside our own on the
# same card, with answers that agree. Its layers give the same bits each time with this setting alone ---
sequences() { # ROWS STEPS CHANNELS: the class says which of two channels ends larger; every tenth sequence is short
    perl -e 'my ($rows, $steps, $channels) = @ARGV; srand 5;
        print join(",", "y", map { my $c = $_; map { "ch${c}_$_" } 0 .. $steps - 1 } 0 .. $channels - 1), "\n";
        for my $i (1 .. $rows) {
            my $n = $i % 10 ? $steps : 1 + int $steps / 2; my @x = map { [map { sprintf "%.4f", rand() - .5 } 1 .. $n] } 1 .. $channels;
            print join(",", $x[0][-1] > $x[1][-1] ? 1 : 0, map { @$_, ("") x ($steps - $n) } @x), "\n" }' "$@"
}
sequence_config() { # FILE DATA CHANNELS LAYERS BATCH EPOCHS
    local wide c
    wide=$(for c in $(seq 0 $(($3 - 1))); do printf '%s"c%d": "ch%d_*"' "$([ "$c" = 0 ] || echo ', ')" "$c" "$c"; done)
    cat >"$1" <<END
{"task": "binary", "data": {"train": "$2", "target": "y", "columns": {}, "sequence": {"wide": {$wide}}, "split": {"method": "random",
  "valid": 0, "test": 0}},
 "model": {"layers": [$4, {"type": "pool", "kind": "last"}]}, "train": {"epochs": $6, "batch_size": $5},
 "backend": {"name": "dnn_gpu", "fallback": "none"}, "output": {"model": "r.dnn"}}
END
}
# recurrent_speed WORK CONFIG PRECISION: a row for our own, a row for cuDNN, and their ratio
recurrent_speed() {
    local who rate_own="" rate_cudnn=""
    for who in own cudnn; do
        rm -f r.lines
        DNN_GUESTS=$([ $who = cudnn ] && echo cuDNN || echo none) try "$hooked" train "$2" -o r.$who.dnn -q --set backend.precision="$3" \
            --set output.metrics=r.lines ||
            { fail "$1, $3: training, $who"; return; }
        printf -v rate_$who %s "$(rate_of r.lines)"
        row "{\"work\": \"$1\", \"who\": \"$([ $who = cudnn ] && echo cuDNN ||
            echo dnn_gpu) $3\", \"rows_per_s\": $(or_null "$(rate_of r.lines)")}"
    done
    "$dnn" inspect r.cudnn.dnn | grep -q '^trained on .*cuDNN' || fail "$1, $3: cuDNN did not serve"
    echo "cuDNN over our own, $1, $3: $(or_null "$(quotient "$rate_cudnn" "$rate_own")") times" | tee -a "$work/$part.told"
    for who in own cudnn; do try "$dnn" predict r.$who.dnn r.ask.csv -o r.$who.csv -q --backend dnn_cpu || fail "$1, $3: predict"; done
    within r.own.csv r.cudnn.csv "$([ "$3" = fp32 ] && echo 1e-2 || echo 0.1)" "$1, $3: answers of both"
}
part_recurrent() {
    need_gpu && need_program && open_guests && have_guest cudnn || return
    rm -f "$work/recurrent.told"
    mkdir -p "$work/run" && cd "$work/run" || return
    export CUBLAS_WORKSPACE_CONFIG=:4096:2
    local layer kind batch steps=50 channels=16 units=64 rows=20000 epochs=6 batches="64 2048"
    [ $emulated = yes ] && steps=6 channels=2 units=8 rows=300 epochs=5 batches=64
    for layer in lstm gru; do
        DNN_GUESTS=cuDNN "$parity" --training --only "$layer of two directions" "$work/recurrent.$layer.result" 2>"$work/recurrent.err" ||
            fail "$layer: $(grep 'not ok' "$work/recurrent.err" | head -n 3)"
        grep -o '"guests": "[^"]*"' "$work/recurrent.$layer.result"
        grep -q '"guests": "cuDNN' "$work/recurrent.$layer.result" || fail "$layer: cuDNN did not serve"
        ! grep -q 'warning:.*cuDNN' "$work/recurrent.err" || fail "$(grep -m 1 'warning:.*cuDNN' "$work/recurrent.err")"
    done
    sequences $rows $steps $channels >r.csv && head -n 201 r.csv >r.ask.csv
    for layer in lstm gru; do
        for batch in $batches; do
            for kind in fp32 tf32; do
                sequence_config r.json r.csv $channels "{\"type\": \"$layer\", \"units\": $units}" "$batch" $epochs
                recurrent_speed "$layer $channels -> $units, T $steps, batch $batch" r.json $kind
            done
        done
    done
    passed
}
