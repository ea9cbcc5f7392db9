# shellcheck shell=bash disable=SC2154 # what is used here is set by scripts/gpu_verify.sh
# guests.sh - the part guests of gpu_verify.sh.

# --- guests: cuBLASLt and cuDNN, where they are, in the place of our kernels ---
python_libraries() { # FILE: the folder of Python's packages that has it
    [ -z "$python" ] || "$python" -c 'import glob, os, sys
for p in sys.path: print("\n".join(map(os.path.dirname, glob.glob(p + "/nvidia/*/lib/" + sys.argv[1]))))' "$1" 2>/dev/null | grep . | head -n 1
}
find_guests() { # what the loader does not know may stand beside Python's packages, or with the toolkit
    local file folder
    for file in 'libcublasLt.so.1?' 'libcudnn.so.?'; do
        for folder in "$(python_libraries "$file")" ${nvcc:+"${nvcc%/*}/../lib64" "${nvcc%/*}/../lib"}; do
            # shellcheck disable=SC2086 # a pattern
            [ -n "$folder" ] && ls $folder/$file >/dev/null 2>&1 && export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder" && break
        done
    done
}
stand_ins() { # on the emulated card: libraries that compute on the host
    mkdir -p "$work/guests"
    local stub=$root/tests/emulate/guest_stub.c
    gcc -shared -fPIC -O1 -DCUBLASLT -DVERSION=130100 -o "$work/guests/libcublasLt.so.13" "$stub" &&
        gcc -shared -fPIC -O1 -DCUDNN -DVERSION=91900 -o "$work/guests/libcudnn.so.9" "$stub" -lm &&
        export LD_LIBRARY_PATH=$work/guests${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
part_guests() {
    prepare 4 || return
    if [ $emulated = yes ]; then stand_ins || skip "the stand-ins cannot be built" || return; else find_guests; fi
    "$dnn" --version
    for name in cublaslt; do
        "$dnn" --version --json | grep -q "\"$name\":\"[0-9]" || skip "$("$dnn" --version --json | grep -o "\"${name}_reason\":\"[^\"]*\"")" || return
    done
    # every case of the operations they do: against the CPU, twice and recorded; large products in each precision, of factors and to
    # results in 16 bits too, as a training keeps them ("all kept"): against exact sums
    DNN_GUESTS=always "$parity" --cases "$work/guests.cases" 2>"$work/guests.err" || fail "an operation: $(grep 'not ok' "$work/guests.err" | head -n 3)"
    DNN_GUESTS=always "$parity" --precision "$work/guests.precision" 2>>"$work/guests.err" || fail "a product: $(grep 'not ok' "$work/guests.err" | tail -n 3)"
    cat "$work/guests.err"
    ! grep -q 'warning:' "$work/guests.err" || fail "$(grep -m 1 'warning:' "$work/guests.err")"
    grep -o '"guests": "[^"]*"' "$work/guests.cases"
    grep -q '"guests": "cuBLASLt' "$work/guests.cases" || fail "it did not serve"
    # trainings with them and without; wide, with a norm, so that nothing is fused and activations stand alone
    local width=512 batch=4096 precision size set
    [ $emulated = yes ] && width=48 batch=128
    config v.json "$(small).csv" 4 $batch
    sed -i "s/128/$width/g; s/\"batch_size\": [0-9]*/\"batch_size\": $batch/; s/, {\"type\": \"relu\"}\]/, {\"type\": \"layer_norm\"}, {\"type\": \"relu\"}]/" v.json
    for precision in fp32 tf32 bf16 fp16; do
        set="--set backend.precision=$precision"
        # shellcheck disable=SC2086 # words
        try "$dnn" train v.json -o v.own.dnn -q $set || fail "$precision: training"
        # shellcheck disable=SC2086
        for model in v.1.dnn v.2.dnn; do DNN_GUESTS=always try "$hooked" train v.json -o $model -q $set || fail "$precision: training with guests"; done
        "$dnn" inspect v.1.dnn | grep -q '^trained on .*cuBLASLt' || fail "$precision: cuBLASLt did not serve: $("$dnn" inspect v.1.dnn | grep '^trained on')"
        cmp v.1.dnn v.2.dnn || fail "$precision: two trainings with guests, two models"
        for model in own 1; do try "$dnn" predict v.$model.dnn "$(small).csv" -o v.$model.csv -q --backend dnn_cpu || fail "predict"; done
        within v.own.csv v.1.csv "$([ $precision = fp32 ] && echo 1e-2 || echo 0.1)" "$precision: with guests and without"
    done
    passed
}
