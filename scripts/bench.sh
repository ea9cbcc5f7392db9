#!/bin/bash
# bench.sh - the benchmark, each row with its peers in the same run. Python peers are optional: `--peers` installs the versions of
# scripts/bench/requirements.txt into build/peers (several GB for PyTorch), or PEERS=/path/to/python names an interpreter that
# has them. Without both the peers say "skipped".
#   scripts/bench.sh [--peers] [ROW...]    rows: train job csv predict threads; default: all of them
#   scripts/bench.sh --memory              peak memory: an 11M x 28 table, a 2 GB prediction, evaluate, what check foretold
# Run nothing else meanwhile. A dated report is written to build/bench/.
set -euo pipefail
cd "$(dirname "$0")/.."
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE OMP_NUM_THREADS OPENBLAS_NUM_THREADS 2>/dev/null || true
export LC_ALL=C
. scripts/bench/peers.sh
make -s -j"$(nproc)" all build/bench/bench_csv
dnn=${DNN:-$PWD/build/dnn}
here=$PWD/scripts/bench
python=${PEERS:-}
rows=""
memory=no
for option in "$@"; do
    case $option in
    --peers)
        python=$(peers_python) ;;
    --memory) memory=yes ;;
    -*) echo "bench.sh: unknown option $option" >&2; exit 64 ;;
    *) rows="$rows $option" ;;
    esac
done
[ -n "$rows" ] || { [ $memory = yes ] || rows="train job csv predict threads"; }
mkdir -p build/bench
cd build/bench
report=report-$(date -u +%Y-%m-%d).txt
: >"$report"
. "$here/common.sh"
say "dnn benchmarks, $(date -u +%Y-%m-%d), $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
"$dnn" --version | tee -a "$report"

train_config() { # THREADS FILE
    cat >"$2" <<END
{"task": "binary", "data": {"train": "numeric.csv", "target": "y",
  "columns": {$(for i in $(seq 14); do printf '"x%d": {"type": "numeric", "scale": "standard"}%s' "$i" "$([ "$i" = 14 ] || echo ,)"; done)},
 "split": {"method": "random", "valid": 0, "test": 0}},
 "model": {"layers": [{"type": "dense", "units": 128}, {"type": "relu"}, {"type": "dense", "units": 128}, {"type": "relu"}]},
 "train": {"epochs": 50, "batch_size": 256, "schedule": {"type": "constant"}},
 "backend": {"name": "dnn_cpu", "threads": $1}, "output": {"model": "numeric.dnn"}}
END
}
one_training() { # CONFIG: seconds of its 50 epochs
    number "%.6f" "$("$dnn" train "$1" -o numeric.dnn --json -q | field seconds.train)"
}
peer_training() { # KIND [THREADS]: the same
    "$python" "$here/peers.py" "$1" numeric.csv 50 "${@:2}"
}

for row in $rows; do
    case $row in
    train)
        say ""; say "training, 45,000 x 14, 128-128-2, batch 256, AdamW, 50 epochs (wanted: 5x PyTorch, 8x scikit-learn)"
        make_data numeric 45000 numeric.csv
        for threads in 1 2; do train_config $threads train$threads.json; done
        turns=("one_training train1.json" "one_training train2.json")
        [ -z "$python" ] || turns+=("peer_training train-torch 1" "peer_training train-torch 2" "peer_training train-sklearn")
        in_turns 5 "${turns[@]}"
        for threads in 1 2; do
            ours=$(turn_median $threads)
            say "    dnn, $threads threads: $ours s, $(number '%.2f' "$ours*20") ms an epoch, $(number '%.1f' "$ours/50/176*1e6") us a step"
        done
        peer "PyTorch, 1 thread" "$ours" turn_median 3
        peer "PyTorch, 2 threads" "$ours" turn_median 4
        peer "scikit-learn" "$ours" turn_median 5 ;;
    job)
        say ""; say "cold process: mixed CSV (36k rows, 9 categorical, 6 numeric) to model (10 epochs) to 9k predictions (wanted: 12x)"
        say "    the same network on both sides: standard scale, one-hot, 128-128-2, relu, no dropout, AdamW at a constant rate, batch 256"
        make_data mixed 36000 mixed.csv
        make_data mixed 9000 mixed-new.csv 7
        "$dnn" init mixed.csv --target y --id id --force --set data.split.valid=0 --set data.split.test=0 --set train.epochs=10 \
            --set train.schedule.type=constant --set train.batch_size=256 \
            --set 'model={"preset":"mlp","hidden":[128,128],"activation":"relu","dropout":0}' -o mixed.json -q
        perl -pi -e 's/: "numeric"/: {"type": "numeric", "scale": "standard"}/g;
            s/: "categorical"/: {"type": "categorical", "encode": "onehot"}/g' mixed.json
        cat >job.sh <<END
$dnn train mixed.json -o mixed.dnn -q && exec $dnn predict mixed.dnn mixed-new.csv -o mixed-answers.csv -q
END
        read -r ours best peak < <(measure 5 sh job.sh)
        say "    dnn: $ours s (best $best), peak $((peak >> 20)) MiB"
        peer_job() { measure 3 "$python" "$here/peers.py" job mixed.csv mixed-new.csv peer-answers.csv | cut -d' ' -f1; }
        peer "Python, pandas and PyTorch" "$ours" peer_job ;;
    csv)
        say ""; say "CSV, 400k x 28 decimals, to the float matrix (wanted: 2x the faster of pandas and pyarrow)"
        make_data higgs 400000 higgs.csv
        ours=$(median 9 ./bench_csv higgs.csv)
        say "    dnn: $ours s, $(number '%.0f' "$(stat -c %s higgs.csv)/1e6/$ours") MB/s"
        peer_csv() { median 5 "$python" "$here/peers.py" csv "$1" higgs.csv; }
        peer "pandas, C engine" "$ours" peer_csv pandas
        peer "pyarrow" "$ours" peer_csv pyarrow
        say "    the same with a class, to encoded rows, as train does it (wanted: 2x pandas with scale none, 1.5x with the default)"
        make_data table 400000 rows.csv
        "$dnn" init rows.csv --target y --force -q -o rows.json --set train.epochs=1 --set train.batch_size=4096 \
            --set 'model={"preset":"mlp","hidden":[8]}'
        one_load() {
            number "%.6f" "$("$dnn" train rows.json -o rows.dnn --force --json -q --set "encoders.numeric.scale=$1" 2>load.err |
                field seconds.load)"
        }
        peer_rows() { "$python" "$here/peers.py" csv "$1" rows.csv; }
        turns=("one_load none" "one_load auto")
        [ -z "$python" ] || turns+=("peer_rows pandas" "peer_rows pyarrow")
        in_turns 9 "${turns[@]}"
        for n in 1 2; do
            ours=$(turn_median $n)
            say "    dnn, scale $([ $n = 1 ] && echo none || echo auto): $ours s"
            peer "pandas, C engine" "$ours" turn_median 3
            peer "pyarrow" "$ours" turn_median 4
        done ;;
    predict)
        say ""; say "predict 1,000 rows, cold process (wanted: 15 ms, 100x Python with PyTorch)"
        make_data numeric 45000 numeric.csv
        [ -s numeric.dnn ] || { train_config 0 train0.json; one_training train0.json >/dev/null; }
        head -n 1001 numeric.csv >thousand.csv
        read -r ours best peak < <(measure 41 "$dnn" predict numeric.dnn thousand.csv -o thousand-answers.csv -q)
        say "    dnn: $(number '%.2f' "$ours*1000") ms (best $(number '%.2f' "$best*1000")), peak $((peak >> 20)) MiB"
        [ -z "$python" ] || [ -s peer.pt ] || "$python" "$here/peers.py" save-torch numeric.csv peer.pt
        peer_answer() { measure 3 "$python" "$here/peers.py" answer peer.pt thousand.csv peer-thousand.csv | cut -d' ' -f1; }
        peer "Python with PyTorch" "$ours" peer_answer ;;
    threads)
        say ""; say "a busy second core: 2 threads beside a busy loop against 1 thread alone (at most a quarter slower)"
        make_data numeric 45000 numeric.csv
        train_config 1 train1.json; train_config 2 train2.json
        alone=$(median 3 one_training train1.json)
        busy=()
        for _ in $(seq $(($(nproc) - 1))); do (while :; do :; done) & busy+=($!); done
        beside=$(median 3 one_training train2.json)
        kill "${busy[@]}"; wait "${busy[@]}" 2>/dev/null || true
        say "    1 thread alone $alone s; 2 threads with $(($(nproc) - 1)) busy loops $beside s; ratio $(number '%.2f' "$beside/$alone")" ;;
    *) echo "bench.sh: no row $row" >&2; exit 64 ;;
    esac
done

if [ $memory = yes ]; then
    say ""; say "memory"
    [ -s table.csv ] || "$here/make_data.pl" table 11000000 | perl -pe 's/(\.\d{4})\d+/$1/g' >table.csv
    "$dnn" init table.csv --target y --force -o table.json -q --set data.split.valid=0.05 --set data.split.test=0 \
        --set 'model={"preset":"mlp","hidden":[64]}' \
        --set train.batch_size=4096 --set train.epochs=1
    foretold=$("$dnn" check table.json --json -q | field memory.host_bytes)
    read -r seconds _ peak < <(measure 1 "$dnn" train table.json -o table.dnn -q)
    encoded=$((11000000 * 4 * 31)) # 28 numbers, a word of missing bits, target, weight
    limit=$((encoded * 5 / 4 + (64 << 20)))
    say \
        "    train 11M x 28: peak $((peak >> 20)) MiB in $seconds s; encoded table $((encoded >> 20)) MiB, limit $((limit >> 20)) MiB;" \
        "check foretold $((foretold >> 20)) MiB ($(number '%+.0f' "($foretold-$peak)*100/$peak") %)"
    read -r seconds _ peak < <(measure 1 "$dnn" predict table.dnn table.csv -o /dev/null -q)
    size=$(stat -c %s table.csv)
    say "    predict $((size >> 20)) MiB: peak $((peak >> 20)) MiB in $seconds s (limit: 64 MiB and the model)"
    head -n 1000001 table.csv >million.csv
    read -r seconds _ small < <(measure 1 "$dnn" predict table.dnn million.csv -o /dev/null -q)
    say "    predict its first million rows: peak $((small >> 20)) MiB (flat: the same)"
    read -r seconds _ peak < <(measure 1 "$dnn" evaluate table.dnn table.csv -q)
    say "    evaluate: peak $((peak >> 20)) MiB in $seconds s (limit: predict and $((11000000 * 8 >> 20)) MiB)"
fi
say ""; say "written to build/bench/$report"
