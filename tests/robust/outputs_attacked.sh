#!/bin/bash
# outputs_attacked.sh - what stands at the names of a training's outputs is replaced or an error, never followed: links, foreign files
# and folders at the names of checkpoint, model and lock while it runs; and names of 200 to 255 bytes.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
EPOCHS=300 # with so many rows the first checkpoint is seen before the last epoch
make_data d.csv 20000
make_config c.json d.csv binary '"epochs": '"$EPOCHS"', "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0, "keep": 2}' \
    '"backend": {"name": "dnn_cpu", "threads": 1}'
printf 'precious\n' >precious
# begin MODEL: a training in the background, stopped (SIGSTOP) after a checkpoint. NEXT: the epoch it is in.
begin() {
    local newest
    "$DNN" train c.json -o "$1" --progress none >out 2>err &
    pid=$!
    for _ in $(seq 1000); do ls "$1".ckpt-* >/dev/null 2>&1 && break; sleep 0.01; done
    kill -STOP $pid
    # shellcheck disable=SC2012 # names of our own
    newest=$(ls "$1".ckpt-* | tail -n 1)
    NEXT=$((10#${newest##*-} / STEP + 1))
}
end() { STATUS=0; kill -CONT $pid; wait $pid || STATUS=$?; is "$(cat precious)" precious "$1: the user's file is untouched"; }
# plant MODEL COMMAND...: at the name of every checkpoint to come
plant() {
    local epoch planted=0
    for ((epoch = NEXT + 1; epoch < EPOCHS; epoch++)); do
        "${@:2}" "$(printf '%s.ckpt-%012d' "$1" $((epoch * STEP)))" && planted=$((planted + 1))
    done
    [ $planted -ge 10 ]
    ok $? "the training stands at epoch $NEXT; $planted names are attacked: ${*:2}" "$(ls)"
}
# the steps of an epoch: in its line of output.metrics
"$DNN" train c.json -o steps.dnn -q --set train.epochs=1 --set output.metrics=lines
STEP=$(sed -n 's/.*"step":\([0-9]*\).*/\1/p' lines)
begin a.dnn; plant a.dnn ln -s precious; end "links at the names of checkpoints"
is_exit 0 "the training ends well"
is "$(find . -name 'a.dnn.ckpt-*' | wc -l)" 0 "every link was replaced"
begin b.dnn; plant b.dnn ln -s nowhere; end "links to names without a file"
is_exit 0 "the training ends well"
[ ! -e nowhere ]
ok $? "no file appears behind them"
is "$(find . -name 'b.dnn.ckpt-*' | wc -l)" 0 "every link was replaced"
begin c.dnn; plant c.dnn mkdir; end "folders"
is_exit 0 "the training ends well"
is "$(find . -name 'c.dnn.ckpt-*' -type d | wc -l)" $((EPOCHS - NEXT - 1)) "the folders stay"
begin d.dnn; plant d.dnn cp precious; end "foreign files"
is_exit 0 "the training ends well"
is "$(cat d.dnn.ckpt-* | sort -u) $(find . -name 'd.dnn.ckpt-*' | wc -l)" "precious $((EPOCHS - NEXT - 1))" "the files stay"
rm -rf ./*.ckpt-*

begin e.dnn; ln -s precious e.dnn; end "a link at the model's name"
is_exit 73 "a link to a foreign file: 73"
err_has 'the model is written to "'
[ -L e.dnn ] && dnn verify e.dnn.new >/dev/null 2>&1
ok $? "a link to a foreign file: the model is beside it" "$(ls)"
begin f.dnn; cp precious f.dnn; end "a foreign file at the model's name"
is_exit 73 "73"
is "$(cat f.dnn)" precious "it is untouched"
dnn verify f.dnn.new >/dev/null 2>&1
ok $? "the model is beside it"
begin g.dnn; mkdir g.dnn; end "a folder at the model's name"
is_exit 73 "73"
dnn verify g.dnn.new >/dev/null 2>&1
ok $? "the model is beside it"
begin h.dnn; ln -s nowhere h.dnn; end "a link that leads nowhere"
is_exit 0 "is replaced"
[ ! -L h.dnn ] && [ ! -e nowhere ]
ok $? "a link that leads nowhere is not followed"
begin i.dnn; rm i.dnn.lock; cp precious i.dnn.lock; end "a foreign file at the lock's name"
is "$(cat i.dnn.lock)" precious "it is untouched"
begin j.dnn; rm j.dnn.lock; ln -s precious j.dnn.lock; end "a link at the lock's name"
[ -L j.dnn.lock ]
ok $? "it stays"
ln -s precious k.dnn.lock
run dnn train c.json -o k.dnn --set train.epochs=1
is_exit 73 "a link at the lock's name before the training: 73"
err_has 'this name is a symbolic link: remove it' "a link at the lock's name: the help says to remove it"

# a name that some file of the training would not have room for is refused at once
bad=""
for length in $(seq 200 255); do
    name=$(head -c $((length - 4)) /dev/zero | tr '\0' n).dnn
    run dnn train c.json -o "$name" --set train.epochs=1 --progress none
    case $STATUS in
    0) [ "$length" -le 237 ] && [ -e "$name" ] || bad+="$length: 0; " ;;
    73) [ "$length" -gt 237 ] && ! ls nnn* >/dev/null 2>&1 && ! grep -q 'epoch' err || bad+="$length: 73; " ;;
    *) bad+="$length: $STATUS; " ;;
    esac
    rm -f nnn*
done
[ -z "$bad" ]
ok $? "names of 200 to 237 bytes serve, longer ones are 73 before anything is trained" "$bad"
rm -rf ./.nnn* ; ls -A | grep -q dnn-tmp
is $? 1 "nothing is left that was written aside"
done_testing
