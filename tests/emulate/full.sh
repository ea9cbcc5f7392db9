#!/bin/bash
# full.sh - a card without room, whichever call says so: the micro-batch is halved, or 75, or the CPU; gpucheck: busy. Never a fault,
# and all that was taken is given back. Ids: G06. DNN is build/emulated/dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
unset DNN_EMULATE DNN_PATIENCE CUDA_VISIBLE_DEVICES GPU_BATCH_SIZE DNN_WGMMA
mkdir tmp
export TMPDIR=$WORK/tmp
make_data d.csv 400
make_config n.json d.csv binary '"epochs": 2' '"backend": {"name": "dnn_gpu", "fallback": "none"}'
sed 's/"none"/"cpu"/' n.json >f.json
dnn train n.json --force -o w.dnn --progress none --quiet
clean() { grep -q ' 0 after a fault, 0 findings, 0 left' "${1:-err}"; }

# --- while it opens ---
for call in StreamCreateWithFlags:2 EventCreateWithFlags:1; do
    run env DNN_EMULATE=$call:2,report "$DNN" train n.json --force -o m.dnn --progress none
    is_exit 75 "$call, no fallback: 75"
    err_has "error[E1804]: dnn_gpu: requested (config) but unavailable (GPU 0 (emulated): no room for what cuda" \
        "$call: says what found no room"
    clean
    ok $? "$call: and leaves nothing on the card" "$(cat err)"
    run env DNN_EMULATE=$call:2 "$DNN" train f.json --force -o m.dnn --progress none
    is_exit 0 "$call, with one: 0"
    run env DNN_EMULATE=$call:2 "$DNN" train n.json --force -o m.dnn --progress none --backend auto --set backend.deterministic=false \
        --set train.epochs=1000000 --time-limit 1
    [ "$STATUS" -ne 81 ]
    ok $? "$call, where nobody asked for a GPU: no fault" "exit $STATUS: $(cat err)"
done

# --- kernels are loaded when they are first used ---
run env DNN_EMULATE=Malloc:5:2,report "$DNN" train n.json --force -o m.dnn --progress none
is_exit 0 "an allocation finds no room"
err_has "dnn_gpu: out of memory; micro-batch 64 -> 32" "the micro-batch is halved"
run env DNN_EMULATE=MemsetAsync:5:2,report "$DNN" train n.json --force -o m.dnn --progress none
is_exit 0 "what clears it finds none"
err_has "dnn_gpu: out of memory; micro-batch 64 -> 32" "the micro-batch is halved as well"
clean
ok $? "what clears memory finds none: nothing is left" "$(cat err)"
run env DNN_EMULATE=GraphLaunch:1:2,report "$DNN" train n.json --force -o m.dnn --progress none
is_exit 0 "a graph finds none"
err_has "no CUDA graphs (cudaErrorMemoryAllocation from cudaGraphLaunch)" "its operations are issued"
same m.dnn w.dnn "to the same bytes"
run env DNN_EMULATE=StreamEndCapture:1:2,report "$DNN" train n.json --force -o m.dnn --progress none
is_exit 0 "the end of a recording finds none"
err_has "no CUDA graphs (cudaErrorMemoryAllocation from cudaStreamEndCapture)" "its operations are issued"
same m.dnn w.dnn "to the same bytes"
run env DNN_EMULATE=LaunchKernelExC:1:2,report "$DNN" train n.json --force -o m.dnn --progress none
is_exit 75 "G06 a kernel finds none: 75"
err_has "error[E1804]: GPU 0 (emulated): no room for what cudaLaunchKernelExC needs" "says what found none"
err_has "; last given to it: " "G06 a kernel finds none: in which work"
clean
ok $? "G06 a kernel finds none: nothing is left" "$(cat err)"
rm -f m.dnn*
run env DNN_EMULATE=LaunchKernelExC:20:2 "$DNN" train f.json --force -o m.dnn --progress none
is_exit 0 "or the CPU"
err_has "; starting again on the CPU" "a kernel finds none, the CPU serves: a warning"
run env DNN_EMULATE=LaunchKernelExC:2:2,report "$DNN" predict w.dnn d.csv --backend dnn_gpu
is_exit 75 "an answer's kernel finds none: 75"
clean
ok $? "an answer's kernel finds none: nothing is left" "$(cat err)"

# --- any call of all ---
bad=""
calls=$(DNN_FAULT=count dnn train n.json --force -o m.dnn --progress none 2>&1 >/dev/null | sed -n 's/.* cuda=\([0-9]*\).*/\1/p')
for ((n = 2; n <= calls; n += 1 + n / 3)); do
    rm -f m.dnn*
    DNN_EMULATE=report DNN_FAULT=cuda:$n:2 dnn train n.json --force -o m.dnn --progress none >out 2>err
    code=$?
    case $code in 0) ;; 75) clean || bad+="cuda:$n:2: $(tail -n 3 err); " ;; *) bad+="cuda:$n:2: exit $code: $(tail -n 3 err); " ;; esac
done
[ -z "$bad" ]
ok $? "any of the $calls calls finds no room: 0 or 75, and nothing is left" "$bad"

# --- gpucheck ---
told() { # told PLAN CHECK: busy, in that check
    run env DNN_EMULATE="$1":2 "$DNN" gpucheck
    [ "$STATUS" -eq 75 ] && grep -q "^$2  *fail  .*no room for" out && [ "$(grep -cE '^[a-z_.]+ +fail ' out)" -eq 1 ] && [ ! -s err ]
    ok $? "gpucheck, $1: busy, in $2" "exit $STATUS: $(grep -A2 ' fail ' out; tail -n 1 out; cat err)"
}
told StreamCreateWithFlags:2 context
told EventCreateWithFlags:1 context
told LaunchKernelExC:1 'kernel\.gather'
told MemcpyAsync:1 copy
run env DNN_EMULATE=GraphLaunch:1:2 "$DNN" gpucheck
is_exit 69 "gpucheck, GraphLaunch:1: goes on without graphs"
bad=""
calls=$(DNN_FAULT=count dnn gpucheck 2>&1 >/dev/null | sed -n 's/.* cuda=\([0-9]*\).*/\1/p')
for n in 20 $((calls / 3)) $((2 * calls / 3)); do
    DNN_FAULT=cuda:$n:2 dnn gpucheck >out 2>err
    code=$?
    case $code in 69 | 75) ;; *) bad+="cuda:$n:2: exit $code: $(grep ' fail ' out; cat err); " ;; esac
done
[ -z "$bad" ]
ok $? "gpucheck, any call: busy, never faulty" "$bad"
[ -z "$(ls -A tmp)" ]
ok $? "nothing is left" "$(ls -A tmp)"
done_testing
