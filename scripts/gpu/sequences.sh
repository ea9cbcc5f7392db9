# shellcheck shell=bash disable=SC2154 # what is used here is set by scripts/gpu_verify.sh
# sequences.sh - the part sequences of gpu_verify.sh: training steps of sequence models beside PyTorch on the same card.

# series_layers KIND UNITS LAYERS HEADS FORWARD: the layers as JSON; LAYERS of them
series_layers() {
    local i list=""
    for i in $(seq "$3"); do
        case $1 in
        transformer)
            list+=', {"type": "residual", "layers": [{"type": "layer_norm"}, {"type": "attention", "heads": '"$4"'}]}'
            list+=', {"type": "residual", "layers": [{"type": "layer_norm"}, {"type": "dense", "units": '"$5"'}, {"type": "gelu"},'
            list+=' {"type": "dense", "units": '"$2"'}]}'
            ;;
        *) list="$list, {\"type\": \"$1\", \"units\": $2}" ;;
        esac
    done
    [ "$1" != transformer ] || list=", {\"type\": \"dense\", \"units\": $2}, {\"type\": \"position\", \"kind\": \"learned\"}$list"
    echo "${list#, }"
}
# series_row OF ROWS KIND IN UNITS LAYERS STEPS BATCH HEADS FORWARD PRECISION...: ours, then PyTorch's; the last ours is $series_rate
series_row() {
    local of=$1 rows=$2 kind=$3 in=$4 units=$5 layers=$6 steps=$7 batch=$8 heads=$9 forward=${10} precision how told
    shift 10
    [ -s series-"$in"-"$steps"-"$rows".csv ] || sequences "$rows" "$steps" "$in" >series-"$in"-"$steps"-"$rows".csv
    sequence_config series.json series-"$in"-"$steps"-"$rows".csv "$in" "$(series_layers "$kind" "$units" "$layers" "$heads" "$forward")" \
        "$batch" \
        "$([ $emulated = yes ] && echo 4 || echo 8)"
    sed -i 's/"kind": "last"/"kind": "mean"/' series.json
    for precision in "$@"; do
        rm -f series.lines
        try "$dnn" train series.json -o series.dnn -q --set backend.precision="$precision" --set output.metrics=series.lines ||
            { fail "$of, $precision"; continue; }
        series_rate=$(rate_of series.lines)
        row "{\"work\": \"$of\", \"who\": \"dnn_gpu $precision\", \"rows_per_s\": $(or_null "$series_rate"), \"step_ms\": $(or_null \
            "$(number %.4f "1e3 * $batch / ($series_rate + 1e-9)")")}"
    done
    [ $emulated = no ] && [ -n "$python" ] || return 0
    for how in eager graph $([ "$kind" != transformer ] || echo bf16-graph); do
        told=$(timeout 60 "$python" "$root/scripts/bench/peers_gpu.py" series "$kind-$heads-$forward" "$in" "$units" "$layers" "$steps" \
            "$batch" $how 2>peer.err | tail -n 1)
        row "${told:-{\"peer\": \"PyTorch $how, $of\", \"skipped\": $(quoted "$(tail -n 1 peer.err)")\}}"
    done
}
part_sequences() {
    need_gpu && need_program || return
    rm -f "$work/sequences.told" "$work/sequences.rows"
    mkdir -p "$work/run" && cd "$work/run" || return
    local batch samples=640 series_rate=""
    if [ $emulated = yes ]; then
        series_row "lstm 2 -> 8" 300 lstm 2 8 1 6 64 0 0 fp32
        series_row "transformer" 300 transformer 2 8 1 6 64 2 16 fp32
        return
    fi
    series_row "transformer, 2 layers of 128, 4 heads, 64 steps of 16, batch 256" 5000 transformer 16 128 2 64 256 4 256 fp32 bf16
    for batch in 64 2048; do series_row "lstm 16 -> 64, 50 steps, batch $batch" 20000 lstm 16 64 1 50 $batch 0 0 fp32; done
    # a job: 10,000 samples, 50 epochs, reading included, from its rates on few samples
    "$root/scripts/data/make_signs.pl" $samples >signs.csv || { fail "make_signs.pl"; return; }
    printf \
        '{"task": "multiclass", "data": {"train": "signs.csv", "target": "sign", "columns": {},
        "split": {"method": "random", "valid": 0, "test": 0}, "sequence": {"wide": {%s}}},
        "model": {"preset": "transformer", "blocks": 4, "dim": 256, "heads": 8, "feed_forward": 1024},
        "train": {"epochs": 12, "batch_size": 32},
        "backend": {"name": "dnn_gpu", "fallback": "none"}, "output": {"model": "signs.dnn", "metrics": "signs.lines"}}' \
        "$(for p in $(seq 0 468); do printf '"p%d": "p%d_*", ' "$p" "$p"; done | sed 's/, $//')" >signs.json
    rm -f signs.lines
    try "$dnn" train signs.json -q --json >signs.out || { fail "the job of 10,000 samples"; return; }
    series_rate=$(rate_of signs.lines)
    local what='10,000 samples of 64 steps of 469, 100 labels, 4 layers of 256, 50 epochs' load seconds
    load=$(grep -o '"load":[0-9.]*' signs.out | cut -d: -f2)
    seconds=$(number %.1f "500000 / ($series_rate + 1e-9) + $load * 10000 / $samples")
    row "{\"work\": \"$what\", \"who\": \"dnn_gpu\", \"extrapolated\": true, \"rows_per_s\": $(or_null "$series_rate"), \"s\": $seconds}"
    try "$dnn" train signs.json -q --profile "$work/profile.signs.json" --set train.epochs=2 || fail "the profile"
    profile_told "$work/profile.signs.json" "4 layers of 256" >>"$work/sequences.told"
    passed
}
