#!/bin/bash
# scripts.sh - scripts/examples work: a step of a pipeline, a nightly job, Spark's discovery, Prometheus.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
export CUDA_VISIBLE_DEVICES='' # with a card too
mkdir bin && ln -s "$DNN" bin/dnn
program=$DNN
unset DNN # it is found on PATH
PATH=$WORK/bin:$PATH
examples=$ROOT/scripts/examples
make_data d.csv 200
make_config c.json d.csv binary '"epochs": 1'
make_config one.json d.csv binary '"epochs": 1, "optimizer": {"learning_rate": 1e-9}'
GATE='auc>=0' MODEL=used.dnn run "$examples/ci-step.sh" c.json d.csv
is_exit 0 "ci-step.sh: a first model" "$(cat err)"
is "$(ls used.dnn*)" used.dnn "is the one in use, and nothing else is left"
cp used.dnn before.dnn
GATE='auc>=0' MODEL=used.dnn run "$examples/ci-step.sh" c.json d.csv
is_exit 0 "the same model again: 0"
GATE='auc>=0' MODEL=used.dnn run "$examples/ci-step.sh" one.json d.csv
is_exit 82 "a model that is no better: 82"
cmp -s used.dnn before.dnn
ok $? "a model that is no better: the one in use stays"
GATE='auc>=1.1' MODEL=none.dnn run "$examples/ci-step.sh" c.json d.csv
[ "$STATUS" -ne 0 ] && ! ls none.dnn* >/dev/null 2>&1
ok $? "a gate that is not met: no model" "$STATUS $(ls)"
is "$(ls used.dnn*)" used.dnn "a model that is no better leaves no file"
# a step that is stopped, the script alone told of it
sed 's/"epochs": 1/"epochs": 100000, "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0}/' c.json >endless.json
MODEL=used.dnn GATE='auc>=0' "$examples/ci-step.sh" endless.json d.csv >out 2>err &
script=$!
for ((i = 0; i < 400; i++)); do ls used.dnn.new.*.ckpt-* >/dev/null 2>&1 && break || sleep 0.05; done
kill -TERM $script
STATUS=0
wait $script || STATUS=$?
is "$STATUS $(ls used.dnn*)" "143 used.dnn" "ci-step.sh: stopped, it leaves neither model nor checkpoint"

MODEL=night.dnn run "$examples/cron.sh" c.json d.csv answers.csv
is_exit 0 "cron.sh: a night"
[ "$(wc -l <answers.csv)" -eq 201 ]
ok $? "answers every row" "$(wc -l <answers.csv)"
cp answers.csv last.csv
# a night that was stopped, and a file that has grown by the next
DNN_FAULT=kill:rename:2 "$HOOKED" train c.json -o night.dnn --set train.checkpoint.every_s=0 --set train.epochs=4 >/dev/null 2>&1
ls night.dnn.ckpt-* >/dev/null 2>&1
ok $? "a night that was broken off left a checkpoint"
sed -n '2,5p' d.csv >>d.csv
MODEL=night.dnn run "$examples/cron.sh" c.json d.csv answers.csv
is_exit 0 "cron.sh: the file has grown since: from the start"
is "$(wc -l <answers.csv) $(ls night.dnn.ckpt-* 2>/dev/null | wc -l)" "205 0" "answers every row, and leaves no checkpoint"
# another one trains: nothing to mend, so no mail, and the model from before answers
printf '#!/bin/sh\n[ "$1" != train ] || { echo "another one trains" >&2; exit 75; }\nexec "%s" "$@"\n' "$program" >bin/busy &&
    chmod +x bin/busy
cp answers.csv before.csv && rm answers.csv
DNN=$WORK/bin/busy MODEL=night.dnn run "$examples/cron.sh" c.json d.csv answers.csv
is "$STATUS $(cat out err)" "0 " "cron.sh: another one trains: 0, without a word"
same answers.csv before.csv "cron.sh: another one trains: the answers of the model before"
DNN=$WORK/bin/busy MODEL=no.dnn run "$examples/cron.sh" c.json d.csv no.csv
is "$STATUS $(cat out err) $(ls no.* 2>/dev/null)" "75 another one trains " "cron.sh: another one trains, and no model before: 75, and said"
# a file that is cut off replaces no good model
cp night.dnn good.dnn && cp d.csv whole.csv && head -n 150 whole.csv >d.csv
MODEL=night.dnn run "$examples/cron.sh" c.json whole.csv answers.csv
is_exit 65 "cron.sh: fewer than 80 % of the last training's rows: 65"
err_has "E1240" "why"
err_has "LEAST=0 cron.sh" "cron.sh: fewer rows: the remedy"
same night.dnn good.dnn "the good model stays"
same answers.csv before.csv "cron.sh: fewer rows: the good answers stay"
sed 's/"target"/"min_rows": 50, "target"/' c.json >own.json
for how in "LEAST=50 c.json" "LEAST=0 c.json" "LEAST=100 own.json"; do
    MODEL=night.dnn run env "${how% *}" "$examples/cron.sh" "${how#* }" whole.csv answers.csv
    is_exit 0 "cron.sh: $how takes it" "$(cat err)"
    cp good.dnn night.dnn
done
cp whole.csv d.csv
# as many rows as the last time are never too few
for change in '' '--set model={"preset":"auto"} --time-limit 1' "--set ensemble.folds=2"; do
    # shellcheck disable=SC2086
    "$program" train c.json -o rows.dnn --force -q $change 2>/dev/null
    rows=$("$program" inspect rows.dnn --json | sed 's/.*"rows":{"train":\([0-9]*\).*/\1/')
    # shellcheck disable=SC2086
    run "$program" train c.json -o rows.dnn --force -q $change --set data.min_rows=$((rows * 80 / 100))
    is_exit 0 "80 % of the rows that the model names ($rows): ${change:-one network}"
done
# a model that is not good enough, or no better than the one in use
GATE='auc>=1.1' MODEL=night.dnn run "$examples/cron.sh" nine.json d.csv answers.csv
[ "$STATUS" -ne 0 ]
ok $? "cron.sh: a gate that nothing meets: $STATUS"
GATE='auc>=0.9999' MODEL=night.dnn run "$examples/cron.sh" one.json d.csv answers.csv
is_exit 82 "cron.sh: GATE is not met: 82"
same night.dnn good.dnn "the model in use stays"
same answers.csv before.csv "cron.sh: GATE is not met: the answers stay"
TEST=whole.csv MODEL=night.dnn run "$examples/cron.sh" one.json d.csv answers.csv
is_exit 82 "cron.sh: on TEST it is no better: 82"
same night.dnn good.dnn "the model in use stays"
same answers.csv before.csv "cron.sh: no better on TEST: the answers stay"
is "$(ls night.dnn*)" night.dnn "nothing else is left"
sed 's/"epochs": 1/"epochs": 9/' c.json >nine.json
TEST=whole.csv GATE='auc>=0.5' MODEL=night.dnn run "$examples/cron.sh" nine.json d.csv answers.csv
is "$STATUS $(cat out) $(ls night.dnn*)" "0  night.dnn" "cron.sh: a better one is taken" "$(cat err)"
! cmp -s night.dnn good.dnn
ok $? "cron.sh: a better one replaces the model"
TEST=whole.csv MODEL=night.dnn run "$examples/cron.sh" nine.json d.csv answers.csv
is_exit 0 "cron.sh: the same model again: 0"
cp good.dnn night.dnn
# another thing that ends with 76 is no stale checkpoint: it stays, as do those that were passed over
sed 's/"epochs": 1/"epochs": 9/' c.json >nine.json
DNN_FAULT=kill:rename:5 "$HOOKED" train nine.json -o night.dnn --set train.checkpoint.every_s=0 >/dev/null 2>&1
newest=$(ls night.dnn.ckpt-* | tail -n 1)
perl "$ROOT/tests/resign.pl" "$newest" spoilt 's/"best\.params":/"bost.params":/' && mv spoilt "$newest"
perl "$ROOT/tests/resign.pl" "$newest" night.dnn.ckpt-000000000999 's/"format":"1"/"format":"9"/'
lay=$(ls night.dnn.ckpt-*)
MODEL=night.dnn run "$examples/cron.sh" nine.json d.csv answers.csv
is_exit 76 "cron.sh: a checkpoint that cannot be gone on from: its code"
is "$(ls night.dnn.ckpt-*)" "$lay" "cron.sh: a checkpoint that cannot be gone on from: all checkpoints stay"
MODEL=night.dnn run "$examples/cron.sh" c.json d.csv answers.csv
is "$STATUS $(ls night.dnn.ckpt-* 2>/dev/null)" "0 " "those of another config are removed"
odd='a "quote" and a \n'
mkdir "$odd"
DNN_FAULT=kill:rename:5 "$HOOKED" train nine.json -o "$odd/n.dnn" --set train.checkpoint.every_s=0 >/dev/null 2>&1
MODEL=$odd/n.dnn run sh "$examples/cron.sh" c.json d.csv answers.csv
is "$STATUS $(ls "$odd")" "0 n.dnn" "cron.sh: whatever the folder's name"
cp answers.csv last.csv
sed -i '3s/[^,]*/what/' d.csv
MODEL=night.dnn run "$examples/cron.sh" c.json d.csv answers.csv
is_exit 65 "bad data tonight: its exit code"
cmp -s answers.csv last.csv
ok $? "cron.sh: bad data tonight: the answers of last night stay"

gpus=$ROOT/scripts/spark/getGpusResources.sh
run "$gpus"
is_exit 0 "getGpusResources.sh without a GPU: 0"
[ "$(cat out)" = '{"name":"gpu","addresses":[]}' ]
ok $? "getGpusResources.sh without a GPU: an empty list, and nothing else" "$(cat out)"
mkdir text && run "$examples/prometheus.sh" text
is_exit 0 "prometheus.sh without a GPU: 0"
grep -q '^dnn_gpucheck_exit 69$' text/dnn.prom && [ "$(find text -type f | wc -l)" -eq 1 ]
ok $? "says 69 in the one file" "$(cat text/dnn.prom)"

# a check that did not come to an end
told() { # told NAME CODE
    [ "$STATUS" -eq "$2" ] && grep -qx "dnn_gpucheck_exit $2" text/dnn.prom && [ "$(find text -type f | wc -l)" -eq 1 ] && [ -s err ]
    ok $? "prometheus.sh, $1: $2 stands in the place of what was there, and why is said" "$STATUS: $(cat text/dnn.prom err)"
}
ready() { echo 'dnn_gpucheck_exit 0' >text/dnn.prom; }
ready && MODEL_BACKEND=bad run "$examples/prometheus.sh" text
told "a bad variable" 64
ready && DNN=/nowhere/dnn run "$examples/prometheus.sh" text
told "no dnn" 127
printf '#!/bin/sh\nexit 0\n' >bin/silent && chmod +x bin/silent
ready && DNN=$WORK/bin/silent run "$examples/prometheus.sh" text
[ "$STATUS" -eq 70 ] && grep -qx 'dnn_gpucheck_exit 70' text/dnn.prom
ok $? "prometheus.sh: silence is not ready" "$STATUS: $(cat text/dnn.prom)"
# a signal to the script alone ends the check
cat >bin/slow <<'EOF'
#!/bin/sh
trap 'kill $!; echo "stopped" >&2; exit 75' TERM
touch begun
sleep 60 &
wait
EOF
chmod +x bin/slow
DNN=$WORK/bin/slow "$examples/prometheus.sh" text >out 2>err &
script=$!
for ((i = 0; i < 200; i++)); do [ -e begun ] && break || sleep 0.05; done
began=$(now_ms)
kill -TERM $script
STATUS=0
wait $script || STATUS=$?
[ $(($(now_ms) - began)) -lt 30000 ]
ok $? "prometheus.sh: dnn is told of a signal"
told "a signal to it alone" 75
# also one that comes before the script knows whom to tell: the check would go on, for a minute here
sed 's/^pid=\$!$/kill -TERM $$; pid=$!/' "$examples/prometheus.sh" >bin/hasty
chmod +x bin/hasty
sed -i 's/^touch begun$/sleep 0/' bin/slow
began=$(now_ms)
DNN=$WORK/bin/slow run bin/hasty text
[ $(($(now_ms) - began)) -lt 30000 ] && [ $STATUS -ne 0 ]
ok $? "prometheus.sh: nor is a signal lost that comes before it knows dnn's number" "$STATUS"

# cron has another PATH
cron() { run env -i PATH=/usr/bin:/bin CUDA_VISIBLE_DEVICES= MODEL=night2.dnn "$@"; }
make_data e.csv 200
make_config e.json e.csv binary '"epochs": 1'
for script in "cron.sh e.json e.csv e.out" ../spark/getGpusResources.sh "prometheus.sh text" "ci-step.sh e.json e.csv"; do
    # shellcheck disable=SC2086
    cron DNN="$program" GATE='auc>=0' sh "$examples"/$script
    is_exit 0 "\$DNN under cron: $script" "$(cat err)"
    rm -f night2.dnn
done
mkdir beside && cp "$gpus" beside && ln -s "$program" beside/dnn
cron sh beside/getGpusResources.sh
is_exit 0 "dnn beside the script" "$(cat err)"
[ -x /usr/local/bin/dnn ] || {
    cron sh "$gpus"
    is_exit 127 "without either: 127"
    err_has "not found"
}
for usage in cron.sh:e.json ci-step.sh:e.json prometheus.sh:; do
    run "$examples/${usage%%:*}" ${usage#*:}
    is_exit 64 "${usage%%:*} with too few words: 64"
    err_has "usage: ${usage%%:*} "
done
# the tests of another build are those of that build, all of them
mkdir -p tree/scripts tools && ln -s "$ROOT/tests" tree/tests && cp "$ROOT/scripts/test.sh" tree/scripts/
printf '#!/bin/sh\n' >tree/scripts/setup.sh
printf '#!/bin/sh\nfor word; do case $word in BUILD=*) BUILD=${word#*=} ;; esac; done\nmkdir -p "${BUILD:-build}"\n' >tools/make
printf '#!/bin/sh\ncat "$2"; echo "with $DNN"\n' >tools/perl
chmod +x tree/scripts/setup.sh tools/make tools/perl
for BUILD in '' build/cpu "$WORK/elsewhere"; do
    (
        unset DNN
        export BUILD PATH="$WORK/tools:$PATH"
        [ -n "$BUILD" ] || unset BUILD
        tree/scripts/test.sh --full >list 2>err
    )
    here=${BUILD:-build}
    whole=$here
    [ "${here#/}" != "$here" ] || whole=$WORK/tree/$here
    grep -qx "$here/unit/base_text" list && grep -qx "$here/double/grad/layers" list && grep -qx "$here/asan/unit/base_text" list &&
        grep -qx "$here/tsan/unit/train_train" list && grep -qx "DNN=$here/asan/dnn tests/robust/cv.sh" list &&
        grep -q " $here/asan/replay/fuzz_csv$" list && grep -qx "with $whole/dnn" list &&
        ! grep -v -e "^$here/" -e "^ASAN_OPTIONS=[^ ]* $here/asan/replay/" -e '^scripts/' -e '^tests/' -e "^DNN=$here/" -e '^with' list |
            grep -q .
    ok $? "test.sh with BUILD=$BUILD" "$(cat err; grep -v "$here/" list | head -5)"
done
# a program that fails by chance runs once more, alone, after all others; one that fails again fails the run
cat >chance <<'EOF'
#!/bin/sh
echo x >>chance.runs
echo 1..2
[ "$(wc -l <chance.runs)" -gt 1 ] || printf 'not '
echo "ok 1 - chance"
echo "ok 2 - sure # SKIP no card"
EOF
printf '#!/bin/sh\necho "ok 1 - good"; echo 1..1\n' >good
printf '#!/bin/sh\necho x >>never.runs\necho "not ok 1 - never"; echo "ok 2 - often"; echo 1..2\n' >never
chmod +x chance good never
printf './%s\n' chance good >list.chance
run perl "$ROOT/tests/run.pl" list.chance
is_exit 0 "run.pl: a failure by chance does not fail the run"
grep -qx '# flaky: ./chance passed when run again alone' out && grep -qx 'flaky: 1' out
ok $? "it is named and counted" "$(cat out)"
is "$(tail -n 1 out)" "2 passed, 0 failed, 1 skipped" "its second run counts, once"
cp out flaky.log
printf './%s\n' never good >list.never
run perl "$ROOT/tests/run.pl" list.never
is_exit 1 "run.pl: one that fails twice fails the run"
is "$(tail -n 1 out)|$(wc -l <never.runs)|$(grep -c flaky out)" "2 passed, 1 failed, 0 skipped|2|0" "after one more try"
printf './good\n' >list.good
run perl "$ROOT/tests/run.pl" list.good flaky.log
is "$STATUS|$(tail -n 1 out)|$(grep -c '^# flaky: ./chance ' out)" "0|3 passed, 0 failed, 1 skipped|1" \
    "run.pl: what make ran tells of its own"
for i in 1 2 3 4 5 6; do cp never "never$i"; echo "./never$i"; done >list.many
: >never.runs
run perl "$ROOT/tests/run.pl" list.many
is "$STATUS|$(wc -l <never.runs)" "1|6" "run.pl: many failures are no chance: nothing runs again"
done_testing
