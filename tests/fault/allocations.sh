#!/bin/bash
# allocations.sh - allocations of a small training, of a prediction and of an evaluation fail in their turn, and a sample of those of
# a check, which repeats them for as long as it tries steps: 71 with a message (an object, where --json asks for it), what stood there
# before untouched, nothing left beside it. DNN_FAULT=alloc:N reproduces the N-th.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
WORKERS=2
STEP=${STEP:-$([ "${NIGHTLY:-no}" = yes ] && echo 1 || echo 4)} # by day every fourth one
if sanitized; then STEP=20; fi # each run takes tens of times as long there
make_data d.csv 40
make_config c.json d.csv binary '"epochs": 1' '"backend": {"name": "dnn_cpu", "threads": 1}'
sed -i 's/\[16, 8\]/[2]/' c.json
run dnn train c.json -o m.dnn --progress none
is_exit 0 "a small training"

# fail_some FIRST TOTAL COMMAND...: every WORKERS * STEP-th allocation from FIRST on, in a folder of its own
fail_some() {
    local n=$1 total=$2 status
    mkdir "worker$n" && cd "worker$n" || {
        echo "no folder to work in"
        return
    }
    cp ../c.json ../d.csv ../m.dnn .
    cp m.dnn before
    ls -A >files
    for (( ; n <= total; n += WORKERS * STEP)); do
        status=0
        DNN_FAULT=alloc:$n "$HOOKED" "${@:3}" >out 2>err || status=$?
        [ $status -eq 71 ] || echo "alloc:$n: exit $status: $(tail -n 2 err)"
        case "$*" in # with --json an object, the last line of where the command's own would stand
        *--json*) tail -n 1 out | grep -q '^{"schema":"dnn.error/1","id":"E1701","exit":71,.*}$' || echo "alloc:$n: no object" ;;
        *) grep -q E1701 err || echo "alloc:$n: no message" ;;
        esac
        cmp -s m.dnn before || echo "alloc:$n: the model changed"
        rm -f out err
        cmp -s a.csv ../want.csv && rm -f a.csv # the last ones come when it is written, whole
        ls -A | cmp -s - files || echo "alloc:$n: left: $(ls -A | tr '\n' ' ')"
    done
}
each() { # NAME COMMAND...
    local name=$1 total w
    shift
    total=$(DNN_FAULT=count "$HOOKED" "$@" 2>&1 >/dev/null | sed -n 's/.*fault counts.* alloc=\([0-9]*\).*/\1/p')
    [ "${total:-0}" -gt 50 ]
    ok $? "$name: ${total:-0} allocations"
    for ((w = 1; w <= WORKERS; w++)); do (fail_some $w "${total:-0}" "$@") >"bad$w" 2>&1 & done
    wait
    [ ! -s bad1 ] && [ ! -s bad2 ]
    ok $? "$name: each $([ $STEP -gt 1 ] && echo "${STEP}th ")of them fails in its turn, cleanly" "$(cat bad1 bad2)"
    rm -rf worker*
}
each train train c.json -o m.dnn --progress none
STEP=$((STEP * 20)) each check check c.json --json
dnn predict m.dnn d.csv -o want.csv --quiet
each predict predict m.dnn d.csv -o a.csv
each evaluate evaluate m.dnn d.csv --json
done_testing
