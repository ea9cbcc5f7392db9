# shellcheck shell=bash disable=SC2154 # what is used here is set by scripts/gpu_verify.sh
# faults.sh - parts of gpu_verify.sh: faults, memory.

# --- faults that can be had for real ---
fault() { # NAME EXITS WARNINGS COMMAND...: one of these exits, so many warnings (any: that does not matter), a model only with exit 0
    local name=$1 exits=$2 warnings=$3 code
    shift 3
    rm -f x.dnn*
    try "$@" >out 2>err
    code=$?
    echo "$name: exit $code"
    cat err
    case " $exits " in *" $code "*) ;; *) fail "$name: exit $code, not $exits" ;; esac
    [ "$warnings" = any ] || [ "$(grep 'warning:' err | grep -vc 'less than 4 GiB')" -eq "$warnings" ] ||
        fail "$name: $(grep -c 'warning:' err) warnings, not $warnings"
    if [ $code -eq 0 ]; then [ -e x.dnn ] || fail "$name: no model"; else [ ! -e x.dnn ] || fail "$name: a model"; fi
}
# G18: eight processes on one card, which an emulated one cannot show (each process has its own): each does its work, or says 75
at_once() {
    local i code pids=() served=0 all="1 2 3 4 5 6 7 8"
    [ $emulated = no ] || all="1 5"
    try "$dnn" predict x.dnn "$(small).csv" -o at.csv -q --backend dnn_gpu || fail "a prediction"
    for i in $all; do
        if [ $i -le 4 ]; then
            "$dnn" predict x.dnn "$(small).csv" -o at.$i.csv -q --backend dnn_gpu &
        else
            "$dnn" train c.json -o at.$i.dnn -q --set output.metrics=at.$i.lines &
        fi
        pids[i]=$!
    done
    for i in $all; do
        wait "${pids[i]}"
        code=$?
        case $code in 0) served=$((served + 1)) ;; 75) continue ;; *) fail "eight at once: exit $code"; continue ;; esac
        if [ $i -le 4 ]; then
            cmp at.csv at.$i.csv || fail "eight at once: other answers"
        else
            cmp x.dnn at.$i.dnn || fail "eight at once: another model"
        fi
    done
    echo "eight at once: $served served"
    [ $served -gt 0 ] || fail "eight at once: none was served"
}
part_faults() {
    prepare || return
    local fall="--set backend.fallback=cpu" hide="CUDA_VISIBLE_DEVICES="
    [ $emulated = yes ] && hide="DNN_EMULATE=devices:0:0"
    fault "hidden, no fallback" 69 0 env "$hide" "$dnn" train c.json -o x.dnn
    # shellcheck disable=SC2086 # words
    fault "hidden, with a fallback" 0 1 env "$hide" "$dnn" train c.json -o x.dnn $fall
    fault "hidden, the CPU asked for" 0 0 env "$hide" "$dnn" train c.json -o x.dnn --backend dnn_cpu
    for code in 719 214 999; do
        # shellcheck disable=SC2086
        fault "error $code in the middle" 0 1 env DNN_FAULT=cuda.GraphLaunch:2:$code "$hooked" train c.json -o x.dnn $fall
    done
    if command -v strace >/dev/null 2>&1 && [ $emulated = no ]; then
        try strace -f -e trace=open,openat -o trace "$dnn" train c.json -o x.dnn --backend auto -q || fail "auto under strace: exit $?"
        ! grep -q 'libcuda\|libnvidia' trace || fail "auto: small work opens $(grep -o 'lib[a-z-]*\.so[.0-9]*' trace |
            grep -m 1 'libcuda\|libnvidia')"
    fi
    fault "error 719 while it begins, no fallback" 81 0 env DNN_FAULT=cuda:120:719 "$hooked" train c.json -o x.dnn
    if [ $emulated = no ]; then
        exec 8>&- 9<&-
        mkfifo "$work/hold.in" "$work/hold.out" 2>/dev/null
        "$build/gpu_constants" --hold 16 <"$work/hold.in" >"$work/hold.out" 2>&1 &
        local holder=$! line=""
        exec 8>"$work/hold.in" 9<"$work/hold.out"
        read -r -t 60 line <&9
        echo "$line"
        case $line in
        held*)
            fault "no memory left, no fallback" "0 69 75 81" any "$dnn" train c.json -o x.dnn
            # shellcheck disable=SC2086
            fault "no memory left, with a fallback" 0 any "$dnn" train c.json -o x.dnn $fall ;;
        *) fail "the neighbour could not take the memory" ;;
        esac
        exec 8>&- 9<&-
        wait $holder
        rm -f "$work/hold.in" "$work/hold.out"
    fi
    fault "after all that" 0 0 "$dnn" train c.json -o x.dnn
    at_once
    passed
}

# --- memory: foretold, kept to, and what passes through has the same bytes; a stop is no hang; the profile has the card's own times ---
held() { grep -o '"memory":{[^}]*}' "$1" | tail -n 1 | sed -n 's/.*"device_peak_bytes":\([0-9]*\).*/\1/p'; }
part_memory() {
    [ $emulated = no ] || (cd "$root" && numeric 6000) || return
    prepare || return
    [ $emulated = no ] || config c.json 6000.csv 1 64 # three parts of 512 rows are less than half of it
    try "$dnn" train c.json -o m.dnn --json -v --progress none >m.out 2>m.err || fail "a training"
    cat m.err
    try "$dnn" check c.json --json >check.out || fail "check"
    local took told data limit kind held
    took=$(held m.out)
    told=$(sed -n 's/.*"device_bytes":\([0-9]*\).*/\1/p' check.out)
    data=$(sed -n 's/.*"device_by_kind":{[^}]*"data":\([0-9]*\).*/\1/p' check.out)
    echo "check: $told bytes on the device, of them $data data; the training held $took"
    [ $((10 * ${told:-0})) -ge $((9 * ${took:-1})) ] && [ $((10 * ${told:-0})) -le $((11 * ${took:-1})) ] ||
        fail "check is more than 10 % off"
    for kind in weights state activations data; do
        told=$(sed -n "s/.*\"device_by_kind\":{[^}]*\"$kind\":\([0-9]*\).*/\1/p" check.out)
        held=$(sed -n "s/.* bytes of GPU .* were taken:.* $kind \([0-9]*\).*/\1/p" m.err)
        echo "check: $told bytes of $kind; the training held ${held:-?}"
        [ $((10 * ${told:-0})) -ge $((9 * ${held:-1})) ] && [ $((10 * ${told:-0})) -le $((11 * ${held:-1})) ] ||
            fail "check is more than 10 % off in $kind"
    done
    limit=$(awk "BEGIN { printf \"%.9f\", (${took:-0} - ${data:-0} / 2) / 1073741824 }")
    try "$dnn" train c.json -o s.dnn --json --set backend.memory_limit_gb="$limit" >s.out 2>err ||
        fail "a training with room for half of its data"
    cat err
    grep -q 'data streamed' err || fail "its data do not stream"
    cmp m.dnn s.dnn || fail "data that stream make another model"
    [ "$(held s.out)" -le $((took - data / 2)) ] || fail "more than the limit: $(held s.out)"
    try "$dnn" train c.json -o p.dnn -q --profile trace.json || fail "a training with a profile"
    cmp m.dnn p.dnn || fail "a profile makes another model"
    perl -MJSON::PP -e 'local $/; open my $f, "<", "trace.json" or die; my %us;
        $us{"$_->{pid}/$_->{tid}"} += $_->{dur} // 0 for @{decode_json(<$f>)->{traceEvents}};
        print "profile, us: host $us{\"1/1\"}, steps $us{\"2/1\"}, operations $us{\"2/2\"}\n";
        exit !($us{"2/1"} > 0 && $us{"2/2"} > 0 && $us{"2/1"} < $us{"1/1"})' || fail "the profile lacks the card's times"
    cp trace.json "$work/profile.json"
    # the driver's start is within its patience: where nobody keeps the card awake, that takes seconds
    local patience=15 runs=3 stands=17 most=30
    [ $emulated = no ] || patience=1 runs=1 stands=2 most=4
    DNN_PATIENCE=$patience "$hooked" train c.json -o w.dnn --set train.epochs=1000000 --set train.early_stopping.patience=0 \
        --set train.time_limit_s=$most >out 2>err &
    local stopped=$!
    sleep $runs
    kill -STOP $stopped || fail "it had ended before the stop"
    sleep $stands
    kill -CONT $stopped
    wait $stopped || fail "stopped for $stands seconds: exit $?"
    grep -q 'hangs' err && fail "a stop was taken for a hang: $(cat err)"
    passed
}
