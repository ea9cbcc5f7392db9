#!/bin/bash
# plan.sh - a checkpoint records the plan of its training, and --resume obeys it: it uses OpenBLAS only where the training did;
# one warning where it did and OpenBLAS is missing.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 600
make_config c.json d.csv binary '"epochs": 8, "checkpoint": {"every_s": 0, "keep": 2}' '"backend": {"name": "dnn_cpu", "threads": 2}'
run env DNN_BLAS=none "$HOOKED" train c.json -o none.dnn --progress none
is_exit 0 "a training without OpenBLAS"
run env DNN_BLAS=always "$HOOKED" train c.json -o always.dnn --progress none --json
is_exit 0 "a training with OpenBLAS, where it is installed"
blas=$(sed -n 's/.*"blas_core":"\([^"]*\)".*/\1/p' out)
"$DNN" inspect always.dnn --json >model
"$DNN" inspect none.dnn --json >plain
grep -q '"blas":"none","blas_core":"none"' plain
ok $? "the model says that none served"

plays=$(DNN_FAULT=count DNN_BLAS=none "$HOOKED" train c.json -o x.dnn --progress none 2>&1 >/dev/null |
    sed -n 's/.* play=\([0-9]*\).*/\1/p')
stopped() { # stopped BLAS: a checkpoint of m.dnn after some epochs
    rm -f m.dnn*
    run env DNN_BLAS="$1" DNN_FAULT=play:$((plays * 2 / 3)) "$HOOKED" train c.json -o m.dnn --progress none
    is_exit 81 "stopped, DNN_BLAS=$1"
    ls m.dnn.ckpt-* >/dev/null 2>&1
    ok $? "stopped, DNN_BLAS=$1: a checkpoint is left"
}
stopped none
run env DNN_BLAS=always "$HOOKED" train c.json -o m.dnn --resume --progress none
is_exit 0 "resumed where OpenBLAS could serve"
is "$(digest m.dnn)" "$(digest none.dnn)" "it does not: the same bytes"
err_lacks "another kind of machine" "nothing is said"
if [ "$blas" = none ]; then
    skip "a training with OpenBLAS, resumed" "OpenBLAS is not installed"
else
    grep -q '"blas":"OpenBLAS [0-9.]*","blas_core":"'"$blas"'"' model
    ok $? "the model says which version served" "$(cat model)"
    stopped always
    run env DNN_BLAS=always "$HOOKED" train c.json -o m.dnn --resume --progress none
    is "$(digest m.dnn)" "$(digest always.dnn)" "resumed with OpenBLAS: the same bytes"
    stopped always
    run env DNN_BLAS=none "$HOOKED" train c.json -o m.dnn --resume --progress none
    is_exit 0 "resumed without it"
    err_has "(blas differs)" "a warning names what differs"
fi

# backend.blas: the key says which products train
run dnn train c.json -o own.dnn --progress none --set backend.blas=own
is_exit 0 "backend.blas own"
run dnn inspect own.dnn --json
out_has '"blas":"none","blas_core":"none"' "our own products"
run dnn train c.json -o open.dnn --progress none --set backend.blas=openblas --json
is_exit 0 "backend.blas openblas"
if grep -q '"blas_core":"none"' out; then
    err_has 'warning: backend.blas "openblas": ' "is not here, which is said"
    err_has "; our own products serve" "OpenBLAS is not here: our own products serve"
    is "$(digest open.dnn)" "$(digest own.dnn)" "as if they were asked for"
else
    run dnn inspect open.dnn --json
    grep -q '"blas":"OpenBLAS [0-9.]*","blas_core":"[A-Za-z]' out
    ok $? "backend.blas openblas: the model says that it served" "$(cat out)"
    run dnn train c.json -o again.dnn --progress none --set backend.blas=openblas
    is_exit 0
    err_lacks warning
    is "$(digest again.dnn)" "$(digest open.dnn)" "the same bytes twice"
fi
run dnn train c.json -o x.dnn --set backend.blas=mkl
is_exit 64 "a word that is none"
# --- the forecast of init: each member is timed, and one on texts takes other time than its operations say ---

perl -e 'srand 1; print "x,note,c,y\n";
    for (1 .. 3000) { my $x = rand; print join(",", $x, join(" ", map { "w" . int rand 900 } 1 .. 10), "k" . $_ % 5, $x > .5 ?
    "a" : "b"), "\n" }' >said.csv
run taskset -c 0 "$DNN" init said.csv --target y -o said.json --set ensemble.folds=2 --set model.preset=mlp --set train.epochs=12 \
    --set train.early_stopping.patience=0 --set 'ensemble.members=[{"name":"a","model":{"preset":"linear"}},{"name":"b"}]'
said=$(sed -n 's/.*training on this machine (CPU, 1 thread): about \(.*\) s with preset mlp.*/\1/p' err)
TIMEFORMAT=%U
took=$({ time "$DNN" train said.json -o said.dnn --threads 1 -q 2>/dev/null; } 2>&1)
perl -e 'exit !($ARGV[0] > $ARGV[1] / 2.5 && $ARGV[0] < 2.5 * $ARGV[1])' "${said:-0}" "$took"
ok $? "init says what a training takes: ${said:-nothing} s, of one thread $took s"
done_testing
