#!/bin/bash
# concurrency.sh - many processes at once, short memory, and a crash. Ids: X03 X04 X07 X08 X09 X10 S11 N13 N18.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
ulimit -c 0
make_leads leads.csv 400
make_leads_model m.dnn
make_leads new.csv 300 2 bare
dnn predict m.dnn new.csv --quiet >want.csv

# X03: training replaces the model all the time while predictions read it
dnn train leads.json -o two.dnn --set train.seed=7 --quiet --progress none
dnn predict two.dnn new.csv --quiet >two.csv
cp m.dnn now.dnn
{
    for i in 1 2 3 4 5 6; do
        "$DNN" train leads.json --force -o now.dnn --set train.seed=$((i % 2 * 7)) --quiet --progress none 2>now.err ||
            echo "train: $?: $(cat now.err)"
    done
} >trainings 2>&1 &
pid=$!
bad="" count=0
while kill -0 $pid 2>/dev/null; do
    run dnn predict now.dnn new.csv --quiet
    count=$((count + 1))
    [ "$STATUS" -eq 0 ] && { cmp -s out want.csv || cmp -s out two.csv; } || bad+="exit $STATUS $(head -n 1 err); "
done
[ -z "$bad" ] && [ ! -s trainings ]
ok $? "X03 $count predictions while training replaces the model: the old or the new one, whole" "$bad $(cat trainings)"

# X04: many predictions from one model, in a folder that nothing else may be written to
mkdir shared
cp m.dnn shared
chmod 555 shared
before=$(ls -lA --time-style=+%s shared)
pids=""
for i in $(seq 40); do
    "$DNN" predict shared/m.dnn new.csv -o "p$i.out" --quiet 2>"p$i.err" &
    pids+=" $!"
    [ $((i % 8)) -ne 0 ] || wait
done
wait
bad=""
for i in $(seq 40); do cmp -s "p$i.out" want.csv || bad+="$i: $(cat "p$i.err"); "; done
[ -z "$bad" ]
ok $? "X04 40 predictions from one model" "$bad"
is "$(ls -lA --time-style=+%s shared)" "$before" "X04 nothing was written beside it"
chmod 755 shared
rm -f p*.out p*.err

# X07: outputs of one name in the same moment; the last one stands, whole
for i in $(seq 16); do
    "$DNN" predict m.dnn new.csv -o same.out --quiet 2>"e$i" &
done
wait
cmp -s same.out want.csv
ok $? "X07 16 writers of one output in the same second: it is whole"
[ -z "$(cat e[0-9]*)" ] && [ -z "$(find . -name '*dnn-tmp*')" ]
ok $? "X07 no writer of one output failed, nothing is left" "$(cat e[0-9]*; find . -name '*dnn-tmp*')"
pids=""
for i in $(seq 6); do
    "$DNN" train leads.json -o locked.dnn --quiet --progress none 2>"t$i" &
    pids+=" $!"
done
codes=""
for pid in $pids; do
    wait "$pid"
    codes+="$? "
done
[[ "$codes" =~ ^((0|75)\ )+$ ]] && [[ "$codes" == *0\ * ]]
ok $? "X07 six trainings to one output: some do it, the others say that it is locked" "$codes $(cat t[0-9])"
run dnn verify locked.dnn
is_exit 0 "X07 the model is whole"

# X08: more threads than can be had
run bash -c "ulimit -u 1 2>/dev/null; exec '$DNN' train leads.json --force -o x.dnn --threads 64 --progress none"
is_exit 0 "X08 fewer threads than asked for, or as many"
same x.dnn m.dnn "X08 the same model"
run env DNN_FAULT=thread:1+ "$HOOKED" train leads.json --force -o x.dnn --threads 8 --progress none
is_exit 0 "X08 no thread can be made"
same x.dnn m.dnn "X08 the same model"

# X09: an address-space limit is an end or an answer within a second, never a hang
if sanitized; then
    skip "X09 runs under ulimit -v" "a build with sanitizers has no limit"
else
    # with the kernels of seven architectures in it, the program alone is larger than the least of these
    has_kernels && own=$(($(stat -Lc %s "$DNN") / 1000000)) || own=0
    bad="" fine=0 last=0
    for megabytes in 20 40 60 80 100 150 200 250 300 350 400 450 500 600 700 800; do
        for command in "train leads.json --force -o x.dnn --progress none" "predict m.dnn new.csv"; do
            STATUS=0
            # shellcheck disable=SC2086
            (ulimit -v $(((megabytes + own) * 1000)); exec timeout -k 1 10 "$DNN" $command) >out 2>err || STATUS=$?
            case $STATUS in
            0) fine=$((fine + 1)) last=$megabytes ;;
            71) ;;
            127) [ "$megabytes" -le 40 ] || bad+="$megabytes MB: the program does not start; " ;; # the loader's own failure
            *) bad+="$megabytes MB, ${command%% *}: exit $STATUS $(head -n 2 err); " ;;
            esac
        done
    done
    [ -z "$bad" ] && [ $fine -ge 8 ] && [ $last -eq 800 ]
    ok $? "X09 32 runs under ulimit -v: 71 or an answer, in time ($fine answers)" "$bad"
    run bash -c "ulimit -v 800000; exec '$DNN' predict m.dnn new.csv --quiet"
    same out want.csv "X09 the answers are the same bytes"
fi

# X10: many logs in one file
: >log
for i in $(seq 8); do
    "$DNN" train leads.json --force -o "x$i.dnn" --progress plain --set train.epochs=12 2>>log &
done
wait
is "$(grep -vcE '^dnn: ' log)" 0 "X10 every line of eight logs in one file is whole"
is "$(grep -cE '^dnn: epoch [0-9]+/12 loss [0-9.]+, .*s$' log)" 96 "X10 no line of eight logs is lost"
for i in $(seq 8); do "$DNN" train leads.json --force -o "x$i.dnn" --progress plain --log-format json 2>>json.log & done
wait
perl -MJSON::PP -ne 'decode_json($_)' <json.log 2>err
ok $? "X10 as JSON: every line is one object" "$(cat err)"

# S11: a crash says what it was doing and leaves no half-written file; no core is asked for
if sanitized; then
    skip "S11 a crash" "the sanitizer takes the signal"
else
    "$DNN" train leads.json -o crash.dnn --set train.epochs=100000 --set train.early_stopping.patience=0 --progress none 2>err &
    pid=$!
    for _ in $(seq 200); do [ -e crash.dnn.lock ] && break; sleep 0.01; done
    sleep 0.1
    kill -SEGV $pid
    wait $pid 2>/dev/null
    is $? 139 "S11 SIGSEGV ends it by that signal"
    grep -qE '^dnn: .*SIGSEGV.*' err
    ok $? "S11 SIGSEGV leaves one line" "$(cat err)"
    grep -q "$("$DNN" --version | head -n 1 | cut -d' ' -f2)" err
    ok $? "S11 that names the version" "$(cat err)"
    [ ! -e crash.dnn ] && [ -z "$(find . -name '*crash*dnn-tmp*')" ]
    ok $? "S11 nothing half-written"
fi

# N13: half precision is a matter of GPUs; the CPU says so and computes in fp32
run dnn train leads.json -o x.dnn --set backend.precision=fp16 --progress none
is_exit 0 "N13 precision fp16 on the CPU"
err_has "fp32" "N13 a note says what is computed in"
dnn predict x.dnn new.csv --quiet >x.csv
same want.csv x.csv "N13 the answers of fp32"
# N18: a NaN is found by our own look at the inputs, whatever a library makes of it
perl "$ROOT/tests/resign.pl" m.dnn nan.dnn '/"members.0.layers.0.weight".*?\[(\d+),\d+\]\}/ and $main::at = $1' \
    'substr($_, $main::at, 4) = pack("f<", "NaN")'
run dnn predict nan.dnn new.csv
is_exit 76 "N18 a NaN among the weights is found before anything is computed"
perl -pe 's/^(L00005),[^,]*/$1,nan/' new.csv >nan.csv
run dnn predict m.dnn nan.csv
is_exit 65 "N18 a NaN among the cells as well"
done_testing
