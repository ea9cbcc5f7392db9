#!/bin/bash
# train_outputs.sh - the places that a training may write to, and who else may not. Ids: F05 F06 F07 F11 F14 F15 F16 L06 S05 X01
# X02 X06 F17.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 300
make_config c.json d.csv binary '"epochs": 2' '"backend": {"name": "dnn_cpu"}'
run dnn train c.json -o m.dnn
is_exit 0 "a training"
want=$(digest m.dnn)

# a variable of the environment is no earlier program (tests/unit/base_anew.c)
DNN_FALLBACK='resume: 0 0: why' run dnn train c.json -o w.dnn --json --set train.epochs=1
out_has '"reason":"GPU disabled"' "a stray DNN_FALLBACK hands over nothing"

# a config from standard input counts paths from here, whatever its name
for name in - /dev/stdin /dev/fd/0; do
    dnn check "$name" <c.json >out 2>err
    is $? 0 "a config from $name"
done

mkdir locked
chmod 555 locked
if [ "$(id -u)" -eq 0 ]; then
    skip "F05 a folder that cannot be written to" "root may write everywhere"
else
    run dnn train c.json -o locked/m.dnn
    is_exit 73 "F05 a folder that cannot be written to: 73"
fi
run dnn train c.json -o none/m.dnn
is_exit 73 "F07 a folder that does not exist: 73"
err_has "the folder of the output must exist"
mkdir folder.dnn
run dnn train c.json -o folder.dnn
is_exit 73 "a folder in the model's place: 73"
printf 'precious\n' >notes.txt
run dnn train c.json -o notes.txt
is_exit 73 "F06 a file that is not a dnn model: 73"
is "$(cat notes.txt)" precious "it is untouched"
cp m.dnn old.dnn
run dnn train c.json -o old.dnn --set train.seed=5 --set train.optimizer.learning_rate=0.02
is_exit 0 "F06 a dnn model is replaced"
[ "$(digest old.dnn)" != "$want" ]
ok $? "whole"
head -c 200 m.dnn >torn.dnn
run dnn train c.json -o torn.dnn
is_exit 0 "also a damaged one"

env --default-signal=TERM "$DNN" train c.json -o ways.dnn --set train.epochs=100000 --set output.metrics=ways >/dev/null 2>&1 &
pid=$!
for _ in $(seq 500); do [ -s ways ] && break; sleep 0.01; done
kill -TERM $pid
wait $pid
mv ways.dnn.ckpt-* precious.dnn
before=$(digest precious.dnn)
for job in train check; do
    run dnn $job c.json --set output.model=precious.dnn
    is_exit 73 "F06 a checkpoint is no model: $job 73"
    err_has "a checkpoint, which --resume may continue"
done
run dnn predict m.dnn d.csv -o precious.dnn
is_exit 73 "F06 a checkpoint is not replaced by answers"
err_has "there is a dnn checkpoint"
is "$(digest precious.dnn)" "$before" "it is untouched"
printf '[[package]]\n' >poetry.lock
run dnn train c.json -o poetry
is_exit 73 "F06 a file in the lock's place that is no lock: 73"
err_has "no lock of dnn"
is "$(cat poetry.lock)" "[[package]]" "it is untouched"
[ ! -e poetry ]
ok $? "F06 no lock of dnn: no model is written"

for target in d.csv c.json; do
    before=$(digest $target)
    run dnn train c.json -o $target
    is_exit 64 "L06 the output is the input $target: 64"
    err_has 'error[E1007]'
    is "$(digest $target)" "$before" "$target is untouched"
done
ln d.csv hard.dnn
run dnn train c.json -o hard.dnn
is_exit 64 "L06 the same through a hard link"
rm hard.dnn

ln -s m.dnn link.dnn
run dnn train c.json -o link.dnn
is_exit 0 "F11 through a symbolic link"
[ -L link.dnn ]
ok $? "the link stays"
is "$(digest m.dnn)" "$want" "the file behind it is replaced"

touch .m.dnn.dnn-tmp-3fffff .m.dnn.ckpt-000000000009.dnn-tmp-3fffff .other.dnn.dnn-tmp-3fffff
run dnn train c.json -o m.dnn
err_has "2 temporary files of a run that was killed removed" "F14 what a killed run left aside is removed"
[ -e .other.dnn.dnn-tmp-3fffff ]
ok $? "F14 another output's is not"
mkdir -p elsewhere
touch elsewhere/.new.dnn.dnn-tmp-3fffff
ln -s elsewhere/new.dnn far.dnn
run dnn train c.json -o far.dnn
err_has "1 temporary file of a run that was killed removed" "F14 what was written aside lies behind the link"
[ "$(ls -A elsewhere)" = new.dnn ] && [ -L far.dnn ]
ok $? "F11 the model and nothing else is behind a link that led nowhere" "$(ls -A elsewhere)"
run dnn train c.json -o twice.dnn --set output.metrics=./twice.dnn
is_exit 64 "L06 model and metrics are one file that is not there yet"

# output.metrics is held to the same: what dnn did not write stays
{ head -c 32768 /dev/zero; cat d.csv; } >zeros
{ printf '\n%.0s' {1..70}; cat notes.txt; } >late.txt
for file in d.csv notes.txt old.dnn zeros late.txt; do
    cp $file foreign
    run dnn train c.json -o new.dnn --set output.metrics=foreign
    is_exit 73 "output.metrics does not replace $file"
    same foreign $file "it is untouched"
done
err_has 'there is a file that is not a list of metrics by dnn'
[ ! -e new.dnn ]
ok $? "nothing is trained"
run dnn train c.json -o new.dnn --set output.metrics=-
is_exit 64 "output.metrics is no pipe"
for file in new.dnn.lock new.dnn.ckpt-000000000003 new.dnn.ckpt-run-7 ./new.dnn.lock; do
    run dnn train c.json -o new.dnn --set output.metrics=$file
    is_exit 64 "output.metrics is no file that goes with the model: $file"
done
err_has "output.metrics is the model's lock"

# a descriptor that is open already is written where it stands
printf 'of before\n' >behind
for turn in 1 2; do dnn train c.json -o new.dnn --json -q --set output.metrics=/dev/stdout >>behind; done
is "$(cut -c 1-22 behind | tr '\n' ' ')" \
    'of before {"schema":"dnn.epoch/1 {"schema":"dnn.epoch/1 {"schema":"dnn.train/1 {"schema":"dnn.epoch/1 {"schema":"dnn.epoch/1 {"schema":"dnn.train/1 ' \
    "output.metrics=/dev/stdout: behind what the file has, the result behind them"
dnn train c.json -o new.dnn -q --set output.metrics=/dev/stderr 2>told
is "$(grep -c '^{"schema":"dnn.epoch/1",' told) $(tr -d '\000' <told | cmp - told && echo whole)" "2 whole" "/dev/stderr too"
run dnn train c.json -o new.dnn -q --set output.metrics=/dev/fd/77
is_exit 74 "a descriptor that is not open"
run dnn train c.json -o readonly.dnn -q --set output.metrics=/dev/fd/5 5</dev/null
is_exit 74 "a descriptor that is open for reading only"
dnn check c.json -q --set output.metrics=/dev/fd/5 5</dev/null >/dev/null 2>&1
is $? 74 "check refuses a descriptor that is open for reading only"
dnn train c.json -o new.dnn --json --set output.metrics=named >named 2>err
is "$? $(grep -c dnn.epoch named)" "64 0" "--json and the metrics do not write over each other"
for profile in - /dev/stdout /dev/fd/1; do
    dnn train c.json -o new.dnn --json --profile $profile >both 2>err
    is "$? $(grep -c displayTimeUnit both)" "64 0" "--json and --profile $profile are not mixed"
done
printf '"$DNN" train c.json -o new.dnn -q --profile - >trace\necho the next line\n' >s.sh
is "$(bash <s.sh 2>&1)" "the next line" "--profile - reads nothing"
is "$(head -c 16 trace)" '{"displayTimeUni' "--profile - prints the trace"
: >lines
for turn in empty ours; do
    run dnn train c.json -o new.dnn --set output.metrics=lines
    is_exit 0 "output.metrics: $turn"
    is "$(grep -c '^{"schema":"dnn.epoch/1",' lines)" 2 "$turn: a line an epoch, and no other"
done
head -c 9 lines >cut
run dnn train c.json -o new.dnn --set output.metrics=cut
is_exit 0 "output.metrics: a first line that was cut"

# check refuses what train refuses, in the same words, and leaves nothing behind
for setting in output.model=d.csv output.metrics=d.csv output.model=/nope/m.dnn output.metrics=/nope/lines output.model= \
    output.model=notes.txt output.metrics=notes.txt; do
    run dnn train c.json --set "output.model=fine.dnn" --set "$setting"
    grep 'error\[' err >want.err
    want_status=$STATUS
    run dnn check c.json --set "output.model=fine.dnn" --set "$setting"
    is "$STATUS $(grep 'error\[' err)" "$want_status $(cat want.err)" "check refuses $setting as train does"
    [ "$STATUS" -ne 0 ]
    ok $? "check refuses $setting"
done
run dnn check c.json --set output.model=fine.dnn --set output.metrics=fine.lines
is_exit 0 "check of outputs that may be"
[ ! -e fine.dnn ] && [ ! -e fine.lines ]
ok $? "makes none"
# check never has a list that a training could take
if command -v strace >/dev/null 2>&1 && strace -o trace.check -f true 2>/dev/null; then
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -f -o trace.check -e trace=open,openat,unlink,unlinkat "$DNN" check c.json \
        --set output.metrics=race.lines >/dev/null 2>&1
    is "$(grep -c '"c\.json"' trace.check) $(grep -c '[/"]race\.lines"' trace.check)" "1 0" \
        "check, which reads its config, neither makes nor takes away output.metrics"
else
    skip "check beside a training" "no strace here"
fi
cp lines kept
run dnn check c.json --set output.model=fine.dnn --set output.metrics=lines
same lines kept "check leaves the metrics of a training as they are"

# X01: the second one is refused while the first one runs
make_config long.json d.csv binary '"epochs": 100000, "early_stopping": {"patience": 0}' '"backend": {"name": "dnn_cpu", "threads": 1}'
"$DNN" train long.json -o x.dnn --set output.metrics=x.jsonl --progress none >/dev/null 2>first &
pid=$!
for _ in $(seq 300); do [ -s x.dnn.lock ] && break; sleep 0.01; done
run dnn train c.json -o x.dnn
is_exit 75 "X01 a second training to the same output: 75"
err_has 'error[E1620]'
err_has "held by pid $pid on $(hostname)" "X06 pid and host are named"
run dnn train c.json -o y.dnn
is_exit 0 "another output is free"
for _ in $(seq 300); do [ -s x.jsonl ] && break; sleep 0.01; done
run dnn train c.json -o y.dnn --set output.metrics=x.jsonl
is_exit 75 "X01 the metrics of a training that runs are its own: 75"
err_has 'another training writes its metrics to this file'
run dnn check c.json --set output.metrics=x.jsonl
is_exit 0 "check writes nothing there"
kill -9 $pid
wait $pid 2>/dev/null
run dnn train c.json -o x.dnn
is_exit 0 "X02 the lock of a killed run is free"
is "$(head -n 3 x.jsonl | sed 's/.*"epoch":\([0-9]*\),.*/\1/' | tr '\n' ' ')" "1 2 3 " "X01 its metrics are whole"
run dnn train c.json -o y.dnn --set output.metrics=x.jsonl
is_exit 0 "X02 the metrics of a killed run are free"
no_leftovers x.dnn "and gone"

run dnn train c.json -o m.dnn --json
is_exit 0 "--json"
out_has '"schema":"dnn.train/1"'
out_has '"stopped":"epochs"'
[ "$(grep -oE '"(valid|test)_intervals":\{.*' out | grep -oE '"(logloss|rmse)":\[[0-9.e-]+,[0-9.e-]+\]' | wc -l)" -ge 1 ]
ok $? "each score has its interval" "$(cat out)"
out_has "\"model_sha256\":\"$want\"" "the summary has the hash that sha256sum prints"
dnn train c.json -o m.dnn --json 2>/dev/null | true
is "$(digest m.dnn)" "$want" "S05 nobody reads the answer: the model is there"
dnn train c.json -o m.dnn --json >/dev/full 2>err
is $? 74 "F17 the answer cannot be written: 74"

if [ "$(id -u)" -eq 0 ] && mkdir -p small && mount -t tmpfs -o size=100k none small 2>/dev/null; then
    make_config wide.json ../d.csv binary '"epochs": 1' '"backend": {"name": "dnn_cpu"}, "output": {"model": "m.dnn"}'
    sed 's/\[16, 8\]/[200, 100]/' wide.json >small/c.json
    run dnn train small/c.json
    err_has "free; two checkpoints take" "F16 little room: a warning with numbers"
    umount small
else
    skip "F16 little room" "mounting is not permitted here"
fi
# F15 a file system without locks cannot be had everywhere: the unit test of the lock covers the answer to EWOULDBLOCK, and
# here a lock file that is a folder
mkdir z.dnn.lock
run dnn train c.json -o z.dnn
[ "$STATUS" -eq 73 ]
ok $? "F15 a lock that cannot be had: 73"

# how progress is shown: a bar that is taken away before the next line, a line an epoch, nothing
run dnn train c.json -o bar.dnn --progress bar
is_exit 0 "a bar, on demand"
LC_ALL=C grep -q $'\repoch 1/2 \\[#*-*\\] .*rows/s.*left' err
ok $? "a bar has loss, rows a second and the time that is left" "$(cat -v err)"
LC_ALL=C grep -q $'\r\x1b\\[Kdnn: metric' err
ok $? "a bar is removed before the next line" "$(cat -v err)"
run dnn train c.json -o bar.dnn --progress plain
is "$(grep -c '^dnn: epoch [12]/2 loss ' err)" 2 "plain: a line an epoch"
run dnn train c.json -o bar.dnn --progress none
is "$(grep -c 'epoch 1/2' err)" 0 "--progress none: no epoch"
run dnn train c.json -o bar.dnn
is "$(grep -c $'\r' err)" 0 "auto: no bar where there is no terminal"
is "$(grep -c 'epoch [12]/2' err)" 1 "auto without a terminal: a line at most each 10 seconds"
run dnn train c.json -o bar.dnn --json
is "$(grep -c 'epoch [12]/2' err)" 1 "--json changes nothing of it"
run dnn train c.json -o bar.dnn --log-format json
is "$(grep -c '"message":"epoch [12]/2' err)" 2 "a log for programs has each epoch"
# a config that comes through a descriptor lies in no folder: its files are looked for here, as with -
run dnn train <(cat c.json) --set output.model=here.dnn
is_exit 0 "a config of a process substitution"
same here.dnn m.dnn "trains to the same model"
done_testing
