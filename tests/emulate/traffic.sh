#!/bin/bash
# traffic.sh - what a step costs the host and the device beside its bytes: kernels (nodes of the routine's graph), calls of the runtime,
# and how large the program is; tests/traffic.table keeps it, and nothing may get worse. Calls are counted, kernels not run
# (DNN_EMULATE=dry): shapes are those of the benchmark. --print writes the table's lines (make traffic-table).
print=no
[ "${1:-}" != --print ] || print=yes
. "$(dirname "$0")/../tap.sh" >/dev/null
table=$ROOT/tests/traffic.table
parity=${DNN%/emulated/dnn}/parity/emulated
plain=${DNN%/emulated/dnn}/dnn
unset DNN_PATIENCE CUDA_VISIBLE_DEVICES

# counted NET STEPS [EPOCHS]: calls and kernels of so many steps, and all that is beside them
counted() {
    DNN_FAULT=count DNN_EMULATE=dry,report,devices:1:150000000 "$parity" --only "$1" --steps "$2" --epochs "${3:-1}" 2>&1 >/dev/null |
        sed -n 's/.* cuda=\([0-9]*\).*/calls \1/p; s/.* \([0-9]*\) kernels$/kernels \1/p; s/.*the device failed/failed/p'
}
of() { awk -v what="$2" '$1 == what { print $2 }' <<<"$1"; }
kept() { awk -v name="$1" -F' *: *' '$1 == name { print $2 }' "$table"; }
line() { # line NAME VALUE [ALLOWED]: printed, or held against the kept one, ALLOWED more at most
    local most
    if [ $print = yes ]; then printf '%s: %s\n' "$1" "$2"; return; fi
    most=$(kept "$1")
    awk -v now="${2:-none}" -v most="${most:-none}" -v more="${3:-0}" \
        'BEGIN { exit !(now ~ /^[0-9.]+$/ && most ~ /^[0-9.]+$/ && now + 0 <= most + more) }'
    ok $? "$1: $2, kept ${most:-nothing}"
}
[ $print = no ] ||
    echo "# steps of the benchmark's networks, as they are recorded; calls of the host in an epoch are those of whole graphs: one"
[ $print = no ] || echo "# launches an epoch that is like the one before, and the others ask for its end: none stands between its steps"
for net in small preset large; do
    few=$(counted $net 640)
    many=$(counted $net 1280)
    line "kernels in a step, $net" $((($(of "$many" kernels) - $(of "$few" kernels)) / 640))
    line "calls of the runtime in 640 more steps, $net" $(($(of "$many" calls) - $(of "$few" calls)))
    few=$(counted $net 177 12)
    many=$(counted $net 177 22)
    line "calls of the runtime for an epoch of 177 steps, $net" $((($(of "$many" calls) - $(of "$few" calls)) / 10))
done
[ $print = yes ] || {
    few=$(counted small 64)
    same=$(counted small 64)
    is "$few" "$same" "a count is the same each time"
}
size=$(size "$plain" 2>/dev/null | awk 'NR == 2 { print $1 + $2 }')
if [ -z "$size" ] || "$plain" --version --json 2>/dev/null | grep -q '"backends":\["cuda"' || grep -qaE '__(asan|tsan)_init' "$plain"; then
    [ $print = yes ] || skip "size of the program" "no such program, or no size(1)"
else
    line "bytes of code and data, without kernels" "$size" $((size / 10))
fi
[ $print = yes ] || done_testing
