#!/bin/bash
# bench_models.sh - the speed of the large networks, ensembles and searches, each beside its peer in the same run, in turns.
#   scripts/bench_models.sh [--peers] [--quick] [ROW...]
#   rows   realmlp tabm ple runs tune predict lstm gru lstm2 transformer transformer2 conv job tagging memory;
#          default: all of them
# --quick runs once and briefly, to see that all works. Python peers as in bench.sh; without them they say "skipped". PyTorch's
# figure is the best of 1 and 2 threads. Run nothing else meanwhile. A dated report is written to build/bench/.
set -euo pipefail
cd "$(dirname "$0")/.."
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OMP_NUM_THREADS OPENBLAS_NUM_THREADS 2>/dev/null || true
export LC_ALL=C
. scripts/bench/peers.sh
[ -n "${DNN:-}" ] || make -s -j"$(nproc)" all
dnn=${DNN:-$PWD/build/dnn}
here=$PWD/scripts/bench
python=${PEERS:-}
rows="" quick=no turns=5
for option in "$@"; do
    case $option in
    --peers) python=$(peers_python) ;;
    --quick) quick=yes turns=1 ;;
    -*) echo "bench_models.sh: unknown option $option" >&2; exit 64 ;;
    *) rows="$rows $option" ;;
    esac
done
[ -n "$rows" ] || rows="realmlp tabm ple runs tune predict lstm gru lstm2 transformer transformer2 conv job tagging memory"
mkdir -p build/bench
cd build/bench
report=models-$(date -u +%Y-%m-%d).txt
: >"$report"
. "$here/common.sh"
few() { if [ $quick = yes ]; then echo "$1"; else echo "$2"; fi; } # QUICK FULL

# config FILE CSV MODEL ENCODERS TRAIN: what dnn init makes of the table, trained on all rows
config() {
    "$dnn" init "$2" --target y -q --force -o "$1" --set "model=$3" --set "encoders=$4" --set data.split.valid=0 --set data.split.test=0 \
        --set "train=$5" --set task=binary 2>/dev/null
}
steps_of() { echo $((($2 * $1 + $3 - 1) / $3)); } # EPOCHS ROWS BATCH: about
step() { # CONFIG THREADS STEPS: seconds of a step
    number %.9f "$("$dnn" train "$1" -o step.dnn --force --threads "$2" --json -q | field seconds.train)/$3"
}
# steady CONFIG THREADS STEPS: seconds of a step without the first tenth of the epochs, as PyTorch is measured: memory is touched there
steady() {
    rm -f step.lines
    "$dnn" train "$1" -o step.dnn --force --threads "$2" -q --set output.metrics=step.lines
    perl -MJSON::PP -e 'my @s = map { decode_json($_)->{seconds} } <STDIN>; my $first = @s > 1 ? int((@s + 9) / 10) : 0; my $sum = 0;
        $sum += $_ for @s[$first .. $#s]; printf "%.9f\n", $sum / ($ARGV[0] * (@s - $first) / @s)' "$3" <step.lines
}
torch() { "$python" -W ignore "$here/peers_models.py" "$@"; } # seconds of a step
# steps NAME WANTED OURS... -- PEER...: a step of dnn on 1 and 2 threads beside PyTorch's best
steps() {
    local wanted=$1 ours=$2 theirs=$3 best
    local -a all=("steady $ours" "steady ${ours/ 2 / 1 }")
    [ -z "$python" ] || all+=("torch $theirs 1" "torch $theirs 2")
    in_turns "$turns" "${all[@]}"
    say "    dnn: $(number %.3f "$(turn_median 1)*1000") ms a step with 2 threads, $(number %.3f "$(turn_median 2)*1000") with 1"
    if [ -z "$python" ]; then say "    PyTorch: skipped (no Python peers; --peers installs them)"; return; fi
    if ! best=$({ turn_median 3 && turn_median 4; } | sort -g | head -n 1) || [ -z "$best" ]; then
        say "    PyTorch: skipped (it failed)"
        return
    fi
    say "    PyTorch: $(number %.3f "$(turn_median 3)*1000") ms with 1 thread, $(number %.3f \
        "$(turn_median 4)*1000") with 2; dnn is $(number %.2f "$best/$(turn_median 1)") times as fast (wanted: $wanted)"
}
numeric() { for n in $(seq "$1"); do printf ', "x%d": "numeric"' "$n"; done; } # COLUMNS: for "columns" of a config
series() { # KIND IN UNITS LAYERS TIME BATCH WANTED
    local kind=$1 in=$2 units=$3 layers=$4 time=$5 batch=$6 rows=$((4 * $6)) epochs
    epochs=$(few 2 20)
    local csv=series-$in-$time-$batch.csv
    [ -s "$csv" ] || perl -e 'my ($in, $time, $rows) = @ARGV; srand 1; print join(",", (map { my $t = $_; map {
        "t${t}_c$_" } 0 .. $in - 1 } 0 .. $time - 1), "y"), "\n";
        for (1 .. $rows) { my @x = map { rand(2) - 1 } 1 .. $in * $time; print join(",", (map { sprintf "%.4f", $_ } @x),
        $x[0] * $x[1] + $x[2] > 0 ? 1 : 0), "\n" }' "$in" "$time" "$rows" >"$csv"
    perl -MJSON::PP -e 'our ($csv, $kind, $in, $units, $layers, $epochs, $batch) = @ARGV;
        our ($what, @n) = split /-/, $kind;
        sub layers {
            return map { {type => $what, units => 0 + $units} } 1 .. $layers if $what =~ /lstm|gru/;
            return map { ({type => "conv1d", units => 0 + $units, kernel => 0 + $n[0]}, {type => "relu"}) } 1 .. $layers if $what eq "conv";
            return ({type => "dense", units => 0 + $units}, {type => "position", kind => "learned"},
                map { ({type => "residual", layers => [{type => "layer_norm"}, {type => "attention", heads => 0 + $n[0]}]},
                    {type => "residual", layers => [{type => "layer_norm"}, {type => "dense", units => 0 + $n[1]}, {type => "gelu"},
                        {type => "dense", units => 0 + $units}]}) } 1 .. $layers);
        }
        print encode_json({task => "binary", data => {train => $csv, target => "y", columns => {}, split => {method => "random",
        valid => 0, test => 0},
                sequence => {wide => {map { ("c$_" => "t*_c$_") } 0 .. $in - 1}}},
            model => {layers => [layers(), {type => "pool", kind => "mean"}]},
            train => {epochs => 0 + $epochs, batch_size => 0 + $batch, optimizer => {learning_rate => 0.001},
            schedule => {type => "constant"}}})' \
        "$csv" "$kind" "$in" "$units" "$layers" "$epochs" "$batch" >"$kind-$units.json"
    steps "$7" "$kind-$units.json 2 $((epochs * 4))" "series $kind $in $units $layers $time $batch $((epochs * 4))"
    rounded "$kind-$units.json" $((epochs * 4))
}
# rounded CONFIG STEPS: products in bf16 beside fp32, where the processor has them
rounded() {
    sed 's/^{/{"backend":{"name":"dnn_cpu","precision":"bf16"},/' "$1" >"bf16-$1"
    if ! "$dnn" train "bf16-$1" -o step.dnn --force 2>&1 | grep -q 'large products in bf16'; then
        say "    bf16: skipped (this processor has none)"
        return
    fi
    in_turns "$turns" "steady bf16-$1 2 $2" "steady $1 2 $2" "steady bf16-$1 1 $2" "steady $1 1 $2"
    say "    bf16: $(number %.3f "$(turn_median 1)*1000") ms with 2 threads, $(number %.2f \
        "$(turn_median 2)/$(turn_median 1)") times as fast as fp32; $(number %.3f "$(turn_median 3)*1000") with 1, $(number %.2f \
        "$(turn_median 4)/$(turn_median 3)") times"
}

say "dnn, large networks, $(date -u +%Y-%m-%d), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
"$dnn" --version | tee -a "$report"
for row in $rows; do
    say ""
    case $row in
    realmlp)
        say "realmlp, a step: 27,000 rows, 9 categories, 6 numbers, batch 256, 3 x 256"
        make_data mixed 27000 mixed27.csv
        epochs=$(few 1 5)
        config realmlp.json mixed27.csv '{"preset":"realmlp"}' '{}' "{\"epochs\":$epochs}"
        steps "2.5; aim 3.5" "realmlp.json 2 $(steps_of "$epochs" 27000 256)" "realmlp mixed27.csv $(few 30 300)" ;;
    tabm)
        say "tabm-mini, a step: k 32, 2 x 512, 14 numbers of 48 bins, batch 256"
        make_data numeric 10000 numeric10.csv
        epochs=$(few 1 1)
        config tabm.json numeric10.csv '{"preset":"tabm"}' '{}' "{\"epochs\":$epochs,\"batch_size\":256}"
        steps "1.5; aim 2" "tabm.json 2 $(steps_of "$epochs" 10000 256)" "tabm numeric10.csv $(few 4 20)" ;;
    ple)
        say "piecewise-linear numbers, a step: 20 numbers of 48 bins before 256, 128, batch 256, beside the plain numbers"
        make_data table 20000 table20.csv
        [ -s twenty.csv ] || cut -d, -f1-20,29 table20.csv >twenty.csv
        epochs=$(few 2 10)
        for kind in plain ple; do
            config $kind.json twenty.csv '{"preset":"mlp","hidden":[256,128]}' "{\"numeric\":{\"encode\":\"$kind\"$([ $kind = plain ] ||
                echo ',"bins":48')}}" "{\"epochs\":$epochs,\"batch_size\":256}"
        done
        count=$(steps_of "$epochs" 20000 256)
        in_turns $turns "step ple.json 2 $count" "step plain.json 2 $count" "step ple.json 1 $count" "step plain.json 1 $count"
        for threads in 2 1; do
            at=$((threads == 2 ? 1 : 3))
            say "    $threads threads: $(number %.3f "$(turn_median $at)*1000") ms beside $(number %.3f \
                "$(turn_median $((at + 1)))*1000") ms, $(number %.2f \
                "$(turn_median $at)/$(turn_median $((at + 1)))") times the time (wanted: at most 2; aim 1.5)"
        done ;;
    runs)
        say "runs side by side: 8 networks (2 members, 4 folds) of 20,000 rows with 2 threads, against 1 thread"
        make_data table 20000 table20.csv
        "$dnn" init table20.csv --target y -q --force -o runs.json --set 'model={"preset":"mlp"}' --set data.split.test=0 \
            --set train.epochs="$(few 2 8)" --set task=binary \
            --set 'ensemble={"folds":4,"members":[{"name":"a"},{"name":"b","model":{"dropout":0.2}}],"select":"mean"}'
        in_turns $turns "step runs.json 2 1" "step runs.json 1 1"
        say "    $(turn_median 1) s beside $(turn_median 2) s, $(number %.2f \
            "$(turn_median 2)/$(turn_median 1)") times as fast (wanted: 1.8; aim 1.95)" ;;
    tune)
        trials=$(few 6 30) epochs=$(few 9 27)
        say "tune: $trials trials of 10,000 rows, 14 numbers, at most $epochs epochs, successive halving"
        make_data numeric 10000 numeric10.csv
        "$dnn" init numeric10.csv --target y -q --force -o tune.json --set 'model={"preset":"mlp"}' --set data.split.test=0 \
            --set data.split.valid=0.2 --set train.epochs="$epochs" --set task=binary
        # the peer's space, and the preset's own, which has piecewise-linear numbers and class weights as well
        space='{"model.hidden": [[128], [256], [128, 64], [256, 128], [512, 256]], "model.dropout": {"low": 0, "high": 0.5},
            "model.activation": ["gelu", "relu", "silu"], "train.batch_size": [64, 128, 256, 512],
            "train.optimizer.learning_rate": {"low": 3e-4, "high": 1e-2, "log": true},
            "train.optimizer.weight_decay": {"low": 1e-4, "high": 1e-1, "log": true}}'
        search() { # SPACE: seconds of a search
            rm -f best.json*
            measure 1 "$dnn" tune tune.json --trials "$trials" -o best.json --force -q --set tune.space="$1" | cut -d' ' -f1
        }
        same() { search "$space"; }
        own() { search null; }
        all=(same own)
        [ -z "$python" ] || all+=("torch tune numeric10.csv $epochs $trials 2 1" "torch tune numeric10.csv $epochs $trials 1 2")
        in_turns "$(few 1 3)" "${all[@]}"
        say "    dnn: $(turn_median 1) s, $(number %.1f \
            "60*$trials/$(turn_median 1)") trials a minute; of the preset's own space, with piecewise-linear numbers: $(turn_median 2) s"
        if [ -z "$python" ]; then say "    Optuna and PyTorch: skipped (no Python peers; --peers installs them)"
        else
            best=$({ turn_median 3 && turn_median 4; } | sort -g | head -n 1)
            say "    Optuna and PyTorch: $(turn_median 3) s with 2 jobs, $(turn_median 4) s with 2 threads; dnn makes $(number %.1f \
                "$best/$(turn_median 1)") times the trials a minute (wanted: 3; aim 10)"
        fi ;;
    predict)
        say "predict 1,000 rows, cold process, an auto model of 5 folds: all its members, and five of them (wanted of five: 60 ms; aim 25)"
        make_data mixed 9000 mixed9.csv
        "$dnn" init mixed9.csv --target y -q --force -o auto9.json --set 'model={"preset":"auto"}' --set task=binary
        head -n 1001 mixed9.csv >mixed1.csv
        for most in 99 5; do
            # one epoch for each network, equal weights: the answers take the same time
            "$dnn" check auto9.json --resolved -q | perl -0777 -MJSON::PP -e 'my $c = decode_json(<STDIN>); $c->{ensemble}{select} = "mean";
                my $m = $c->{ensemble}{members}; splice @$m, $ARGV[0] if @$m > $ARGV[0]; print STDERR scalar @$m;
                for (@$m) { $_->{train}{epochs} = 1 if $_->{model}{preset} ne "linear" } print JSON::PP->new->encode($c)' \
                "$most" 2>auto9-count >auto9-short.json
            "$dnn" train auto9-short.json -o auto9.dnn --force -q
            read -r ours best peak < <(measure "$(few 5 41)" "$dnn" predict auto9.dnn mixed1.csv -o mixed1-answers.csv -q)
            say "    $(cat auto9-count) members: $(number '%.2f' "$ours*1000") ms (best $(number '%.2f' \
                "$best*1000")), peak $((peak >> 20)) MiB, model $(($(stat -c %s auto9.dnn) >> 10)) KiB"
        done ;;
    lstm) say "lstm, a step: 16 -> 64, 50 steps of time, batch 64"; series lstm 16 64 1 50 64 "1.8; aim 2.5" ;;
    gru) say "gru, a step: 16 -> 64, 50 steps of time, batch 64"; series gru 16 64 1 50 64 "4; aim 7" ;;
    lstm2) say "lstm, a step: 2 layers of 128 on 64 inputs, 50 steps of time, batch 128"; series lstm 64 128 2 50 128 "1.4; aim 1.9" ;;
    transformer) say "transformer, a step: 2 layers of 128, 4 heads, feed-forward 256, 64 steps of time, batch 64"
        series transformer-4-256 16 128 2 64 64 "2; aim 3.3" ;;
    transformer2) say "transformer, a step: 2 layers of 256, 8 heads, feed-forward 1,024, 64 steps of 469, batch 32"
        series transformer-8-1024 469 256 2 64 32 "1.5; aim 2.1" ;;
    conv) say "conv1d, a step: 64 -> 64 -> 64, 9 taps, 128 steps of time, batch 64"; series conv-9 64 64 2 128 64 "0.9; aim 1.1" ;;
    job)
        samples=$(few 96 640)
        say \
            "a job: 10,000 samples of 64 steps x 469 numbers, 100 labels, batch 32, 50 epochs, a transformer of 2 layers of 256; by 2 epochs of $samples"
        [ -s signs-"$samples".csv ] || ../../scripts/data/make_signs.pl "$samples" >signs-"$samples".csv
        echo '{"task": "multiclass",
            "data": {"train": "signs-'"$samples"'.csv", "target": "sign", "columns": {}, "split": {"method": "random",
            "valid": 0, "test": 0}, "sequence": {"wide": {'"$(for p in $(seq 0 468); do printf '"p%d": "p%d_*", ' "$p" "$p"; done |
            sed 's/, $//')"'}}},
            "model": {"preset": "transformer", "dim": 256, "heads": 8, "feed_forward": 1024}, "train": {"epochs": 2,
            "batch_size": 32}}' >signs.json
        job() { # minutes of reading and training
            "$dnn" train signs.json -o signs.dnn --force --threads "$1" --json -q >signs.out
            number %.6f "10000/$samples*($(field seconds.load <signs.out)+25*$(field seconds.train <signs.out))/60"
        }
        all=("job 2" "job 1")
        [ -z "$python" ] ||
            all+=("torch series transformer-8-1024 469 256 2 64 32 10 1" "torch series transformer-8-1024 469 256 2 64 32 10 2")
        in_turns "$(few 1 3)" "${all[@]}"
        say "    dnn: $(number %.1f "$(turn_median 1)") minutes with 2 threads, $(number %.1f \
            "$(turn_median 2)") with 1 (wanted: 45; aim 30)"
        if [ -z "$python" ]; then say "    PyTorch: skipped (no Python peers; --peers installs them)"
        else
            best=$({ turn_median 3 && turn_median 4; } | sort -g | head -n 1)
            say "    PyTorch: $(number %.1f "$best*313*50/60") minutes for the steps alone, without dropout; dnn is $(number %.2f \
                "$best*313*50/60/$(turn_median 1)") times as fast"
        fi
        read -r ours _ _ < <(measure "$(few 1 5)" "$dnn" predict signs.dnn signs-"$samples".csv -o signs-answers.csv -q)
        say "    1,000 predictions, reading included: $(number %.2f "$ours*1000/$samples") s (wanted: 5.2; aim 2)" ;;
    tagging)
        rows=$(few 20000 1000000)
        say "predict, tagging: $rows rows of 16 numbers in windows of 50, an lstm of 64, the whole command"
        make_data tagging "$rows" tagging-"$rows".csv
        make_data tagging 4000 tagging-4000.csv
        columns=$(numeric 16)
        echo '{"task": "tagging", "data": {"train": "tagging-4000.csv", "target": "y", "columns": {"series": "id", "t": "id"'"$columns"'},
            "split": {"method": "random",
            "valid": 0, "test": 0}, "sequence": {"group": "series", "order": "t", "window": 50}}, "model": {"layers": [{"type": "lstm",
            "units": 64}]},
            "train": {"epochs": 1}}' >tagging.json
        "$dnn" train tagging.json -o tagging.dnn --force -q
        tag() { measure 1 "$dnn" predict tagging.dnn tagging-"$rows".csv -o tagging-answers.csv --threads "$1" -q | cut -d' ' -f1; }
        tag_torch() {
            measure 1 "$python" -W ignore "$here/peers_models.py" tagging tagging-"$rows".csv tagging-torch.csv "$1" | cut -d' ' -f1
        }
        all=("tag 2" "tag 1")
        [ -z "$python" ] || all+=("tag_torch 1" "tag_torch 2")
        in_turns "$(few 1 5)" "${all[@]}"
        say "    dnn: $(number %.2f "$(turn_median 1)") s with 2 threads, $(number %.2f "$(turn_median 2)") with 1"
        if [ -z "$python" ]; then say "    Python and PyTorch: skipped (no Python peers; --peers installs them)"
        else
            best=$({ turn_median 3 && turn_median 4; } | sort -g | head -n 1)
            say "    Python and PyTorch: $(number %.2f "$best") s; dnn is $(number %.1f \
                "$best/$(turn_median 1)") times as fast (wanted: 5; aim 10)"
        fi ;;
    memory)
        rows=$(few 6600 13200)
        say "memory foretold: 2,000 numbers a row, 3 layers of lstm of 256, windows of 50, batch 128, $rows rows"
        make_data lines "$rows" lines-"$rows".csv
        columns=$(numeric 2000)
        echo '{"task": "tagging",
            "data": {"train": "lines-'"$rows"'.csv", "target": "y", "columns": {"series": "id", "t": "id"'"$columns"'},
            "split": {"method": "random",
            "valid": 0, "test": 0}, "sequence": {"group": "series", "order": "t", "window": 50}}, "model": {"layers": [{"type": "lstm",
            "units": 256},
            {"type": "lstm", "units": 256}, {"type": "lstm", "units": 256}]}, "train": {"epochs": 1, "batch_size": 128}}' >lines.json
        foretold=$("$dnn" check lines.json --json -q | field memory.host_bytes)
        read -r _ _ peak < <(measure 1 "$dnn" train lines.json -o lines.dnn --force -q)
        say "    $((foretold >> 20)) MiB foretold, $((peak >> 20)) MiB taken: $(number %.2f \
            "$foretold/$peak") of it (wanted: within 25 %; aim 10)" ;;
    *) echo "bench_models.sh: no row $row" >&2; exit 64 ;;
    esac
done
say ""
echo "written to build/bench/$report"
