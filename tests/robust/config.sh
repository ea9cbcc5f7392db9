#!/bin/bash
# config.sh - a config is strict JSON (RFC 8259) with known keys and values: anything else is an error (78) with file, line, column
# and the nearest known name, before any data are read. Ids: J01 J02 J03 J04 J05 J06 J07 J08 J09 J10 J11 J12 J13 J14 J15 J16 J17.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 300
cat >good.json <<'JSON'
{
  "task": "binary",
  "data": {
    "train": "leads.csv",
    "target": "converted",
    "columns": {"age": "numeric", "city": "categorical"}
  },
  "model": {"preset": "mlp", "hidden": [8]},
  "train": {"epochs": 2, "batch_size": 64},
  "backend": {"name": "dnn_cpu", "threads": 1},
  "output": {"model": "m.dnn"}
}
JSON
run dnn train good.json
is_exit 0 "the config without faults trains"
first=$(digest m.dnn)
# bad NAME ID WHERE [HELP]: c.json is refused by check and by train; WHERE begins with ':' or is empty
bad() {
    before=$(digest m.dnn)
    run dnn check c.json
    is_exit 78 "$1"
    err_has "error[$2]: c.json$3" "$1: $2 at c.json$3"
    [ -z "${4:-}" ] || err_has "$4" "$1: says $4"
    run dnn train c.json
    is_exit 78 "$1: train too"
    [ "$(digest m.dnn)" = "$before" ]
    ok $? "$1: nothing was written"
}
# with FROM TO: good.json with one thing changed
with() { perl -pe "BEGIN { \$f = shift; \$t = shift } s/\\Q\$f\\E/\$t/" -- "$1" "$2" <good.json >c.json; }
# wrong FROM TO NAME ID WHERE [HELP]: the config with that one thing changed is refused
wrong() {
    with "$1" "$2"
    shift 2
    bad "$@"
}

wrong '"task": "binary",' '"task": "binary"' "J01 a comma that is missing" E1101 ":3:3"
wrong '"task": "binary",' '"task": binary,' "J01 a word without quotes" E1101 ":2:11"
wrong '"task": "binary",' "'task': 'binary'," "J01 single quotes" E1101 ":2:3"
wrong '"batch_size": 64}' '"batch_size": 64,}' "J01 a comma too many" E1101 ":9:"
wrong '"task": "binary",' '// what is predicted' "J01 a comment" E1101 ":2:3"
wrong '"task": "binary",' '"task": "binary"; ' "J01 a semicolon" E1101 ":2:19"
for literal in True TRUE nul None undefined NaN Infinity -Infinity; do
    with '"epochs": 2' "\"epochs\": $literal"
    bad "J01 $literal" E1101 ":9:"
done
{ cat good.json; echo '{}'; } >c.json
bad "J02 a second document" E1101 ":13:1"
{ cat good.json; echo x; } >c.json
bad "J02 text behind the end" E1101 ":13:1"
{ cat good.json; printf '\0'; } >c.json
bad "J02 a NUL behind the end" E1101 ":13:1"
{ cat good.json; printf ' \n\t\r\n'; } >c.json
run dnn check c.json
is_exit 0 "J02 white space behind the end"
: >c.json
bad "J03 an empty file" E1101 ":1:1"
printf ' \n\n' >c.json
bad "J03 white space only" E1101 ":3:1"
head -n 6 good.json >c.json
bad "J03 cut off" E1101 ":7:1" "opened at line 3"
fine=0
size=$(wc -c <good.json)
for ((n = 0; n < size - 2; n += 7)); do
    head -c $n good.json >c.json
    run dnn check c.json
    [ $STATUS -eq 78 ] && grep -q 'error\[E110' err || fine=$((fine + 1))
done
is $fine 0 "J03 cut off at every seventh byte: 78"

wrong '"batch_size": 64' '"batch_size": 64, "epochs": 3' "J04 a key twice" E1104 ":9:" "epochs"
wrong '"batch_size": 64}' '"batch_size": 64, "Epochs": 3}' "J04 a key twice but for case" E1104 ":9:"
cat >c.json <<'JSON'
{"task": "binary",
 "data": {"train": "leads.csv", "target": "converted", "columns": {"age": "numeric"}},
 "task": "regression"}
JSON
bad "J04 both lines are named" E1104 ":3:2" "line 1"
wrong '"age": "numeric"' '"age": "numeric", "age": "ignore"' "J04 a column twice" E1104 ":6:"
wrong '"age": "numeric"' '"\u0061ge": "numeric", "age": "ignore"' "J04 a column twice, once escaped" E1104 ":6:"
with '"age": "numeric"' '"age": "numeric", "Age": "numeric"'
run dnn check c.json
is_exit 65 "J04 columns that differ by case are two columns, of which the file has one"

wrong '"batch_size"' '"batchsize"' "J05 an unknown key" E1301 ":9:26" 'did you mean `batch_size`'
wrong '"train": {' '"trian": {' "J05 an unknown section" E1301 ":9:3" 'did you mean `train`'
wrong '"target"' '"Target"' "J05 a key in another case" E1301 ":5:5" 'did you mean `target`'
wrong '"hidden": [8]' '"hiden": [8]' "J05 an unknown option of the model" E1301 ":8:"
wrong '"age": "numeric"' '"age": {"type": "numeric", "scales": "none"}' "J05 an unknown option of a column" E1301 ":6:" \
    'did you mean `scale`'
wrong '"preset": "mlp", "hidden": [8]' '"layers": [{"type": "dense", "unit": 8}]' "J05 an unknown option of a layer" E1301 ":8:" \
    'did you mean `units`'

wrong '"epochs": 2' '"epochs": "2"' "J06 a string for an integer" E1302 ":9:" "train.epochs"
wrong '"hidden": [8]' '"hidden": 8' "J06 a number for a list" E1302 ":8:" "model.hidden"
wrong '"hidden": [8]' '"hidden": ["8"]' "J06 a string in a list of integers" E1302 ":8:" "model.hidden"
wrong '"target": "converted"' '"target": 5' "J06 a number for a string" E1302 ":5:" "data.target"
wrong '"epochs": 2' '"epochs": 2, "optimizer": "adam"' "J06 a string for an object" E1302 ":9:" "train.optimizer"
wrong '"epochs": 2' '"epochs": null' "J06 null where none is allowed" E1302 ":9:" "train.epochs"
wrong '"preset": "mlp", "hidden": [8]' '"layers": [{"type": "dense", "units": 8}, {"type": "relu"}, {"type": "dense", "units": "8"}]' \
    "J06 inside a list of layers" E1302 ":8:" "model.layers.2.units"
for root in '[]' '"x"' 1 null true; do
    echo "$root" >c.json
    run dnn check c.json
    is_exit 78 "J06 the whole config is $root"
done
wrong '"preset": "mlp"' '"preset": "mpl"' "J06 a word that is not known" E1304 ":8:" 'did you mean `mlp`'
wrong '"epochs": 2' '"epochs": 2, "optimizer": {"type": "adamx"}' "J06 an optimizer that is not known" E1304 ":9:" "adam"

while read -r key value; do
    run dnn check good.json --set "$key=$value"
    [ $STATUS -eq 64 ] || [ $STATUS -eq 78 ]
    ok $? "J07 $key = $value is refused" "exit $STATUS: $(head -n 3 err)"
    err_has "${key##*.}" "J07 the key is named"
    # the same in the file
    perl -e 'my ($key, $value) = @ARGV; local $/; open my $f, "<", "good.json"; my $t = <$f>; my @p = split /\./, $key;
        if (@p == 2) { $t =~ s/"\Q$p[1]\E": [^,}]*(?=[,}])/"$p[1]": $value/ or $t =~ s/"\Q$p[0]\E": \{/"$p[0]": {"$p[1]": $value, / }
        else { $t =~ s/"\Q$p[0]\E": \{/"$p[0]": {"$p[1]": {"$p[2]": $value}, / }
        print $t' "$key" "$value" >c.json
    run dnn check c.json
    is_exit 78 "J07 $key: $value in the file"
    case $value in
    1e309) err_has "$value" "J07 the number is quoted" ;;
    *) err_has "$key" "J07 $key: $value: its path is named" ;;
    esac
done <<'VALUES'
train.epochs 0
train.epochs -1
train.epochs 1e309
train.batch_size 0
train.batch_size 1e300
train.optimizer.learning_rate 0
train.optimizer.learning_rate -0.1
train.optimizer.learning_rate 1e309
train.optimizer.weight_decay -1
train.schedule.warmup 1.5
train.loss.label_smoothing 1
train.loss.gamma -1
train.clip_norm -1
train.checkpoint.keep 0
train.time_limit_s -5
data.split.valid 1
data.split.valid -0.1
data.split.test 1.5
backend.threads -1
backend.memory_fraction 2
VALUES
run dnn check good.json --set train.optimizer.betas='[0.9,1]'
is_exit 64 "J07 inside a list"
wrong '"epochs": 2' '"epochs": 0' "J07 the allowed range is named" E1303 ":9:" "1"
wrong '"epochs": 2' '"epochs": 1e309' "J07 a number beyond a double" E1103 ":9:"

wrong '"epochs": 2' '"epochs": 3.5' "J08 a fraction for an integer" E1302 ":9:" "train.epochs"
with '"epochs": 2' '"epochs": 2.0'
run dnn check c.json
is_exit 0 "J08 2.0 is an integer"
with '"epochs": 2' '"epochs": 9007199254740993'
run dnn check c.json
is_exit 78 "J08 beyond 2^53"
wrong '"epochs": 2' '"epochs": 2, "seed": 9007199254740993' "J08 a seed that a double cannot hold" E1303 ":9:" "train.seed"
for seed in 0 9007199254740991 '"9007199254740993"' '"18446744073709551615"'; do
    with '"epochs": 2' "\"epochs\": 2, \"seed\": $seed"
    run dnn check c.json
    is_exit 0 "J08 seed $seed"
done
for seed in '"18446744073709551616"' '"-1"' -1 '"1e3"' '""' '"12x"' 1.5 true; do
    with '"epochs": 2' "\"epochs\": 2, \"seed\": $seed"
    run dnn check c.json
    is_exit 78 "J08 seed $seed"
done
for seed in '"18446744073709551615"' '"18446744073709551614"'; do
    with '"epochs": 2' "\"epochs\": 2, \"seed\": $seed"
    dnn train c.json -o s$seed.dnn 2>/dev/null
done
[ "$(digest 's"18446744073709551615".dnn')" != "$(digest 's"18446744073709551614".dnn')" ]
ok $? "J08 no digit of a large seed is lost"

for number in 01 1. .5 +1 0x10 1e 1e+ -; do
    with '"epochs": 2' "\"epochs\": $number"
    bad "J09 the number $number" E1101 ":9:"
done
string() { # string NAME ID PRINTF-TEXT
    { head -n 4 good.json; printf "    \"target\": \"$3\",\n"; tail -n +6 good.json; } >c.json
    bad "J09 $1" "$2" ":5:"
}
string "a raw control byte" E1102 'con\x01verted'
string "a raw line end" E1102 'con\nverted'
string "a raw tab" E1102 'con\tverted'
string "invalid UTF-8" E1102 'con\xffverted'
string "an overlong form" E1102 'con\xc0\xafverted'
string "a surrogate in UTF-8" E1102 'con\xed\xa0\x80verted'
string "\\u0000" E1102 'con\\u0000verted'
string "half a surrogate pair" E1102 'con\\ud800verted'
string "the other half" E1102 'con\\udc00verted'
string "two first halves" E1102 'con\\ud800\\ud800verted'
string "\\u with three digits" E1101 'con\\u12g4verted'
string "an unknown escape" E1101 'con\\xverted'
with '"converted"' '"\u0063onverted"'
run dnn check c.json
is_exit 0 "J09 an escape that is allowed"
err_lacks $'\x01' "J09 no raw bytes in messages"

perl -e 'print "{\"task\": \"binary\"", " " x (1 << 20), "}"' >c.json
bad "J10 more than 1 MiB" E1105 "" 1048576
perl -e 'print "{\"model\": ", "[" x 33, "]" x 33, "}"' >c.json
bad "J10 deeper than 32" E1105 ":1:" "32"
perl -e 'print "[" x 500000' >c.json
bad "J10 half a million brackets" E1105 ":1:"
perl -e 'print "{\"model\": {\"layers\": [0", ",0" x 520000, "]}}"' >c.json
run bash -c "$(limit 200000) exec timeout 10 '$DNN' check c.json"
is_exit 78 "J11 1 MiB of [0,0,..: refused, in little memory"
{ printf '\xef\xbb\xbf'; cat good.json; } >c.json
run dnn train c.json --force
is_exit 0 "J12 a byte-order mark"
is "$(digest m.dnn)" "$first" "J12 the same model"

contradiction() { # contradiction NAME KEY1 KEY2
    run dnn check c.json
    is_exit 78 "J13 $1"
    err_has "$2" "J13 $1: names $2"
    err_has "$3" "J13 $1: names $3"
}
with '"epochs": 2' '"epochs": 2, "loss": {"type": "mse"}'
contradiction "mse for classes" train.loss.type task
with '"epochs": 2' '"epochs": 2, "early_stopping": {"metric": "rmse"}'
contradiction "the metric of another task" train.early_stopping.metric task
with '"preset": "mlp", "hidden": [8]' '"preset": "mlp", "hidden": [8], "dropout": 1.0'
run dnn check c.json
is_exit 78 "J13 dropout 1.0"
err_has "model.dropout" "J13 it is named"
with '"columns"' '"split": {"valid": 0.6, "test": 0.5}, "columns"'
contradiction "shares that add up to more than 1" '"valid"' '"test"'
with '"columns"' '"split": {"valid": 0.5, "test": 0.5}, "columns"'
contradiction "shares that leave no training rows" '"valid"' '"test"'
wrong '"columns"' '"split": {"method": "time"}, "columns"' "J13 a split by time without a time" E1313 ":6:" time
wrong '"city": "categorical"' '"city": "categorical", "converted": "datetime"' "J13 the target as an input" E1312 ":6:" converted
wrong '{"age": "numeric", "city": "categorical"}' '{"lead_id": "id"}' "J13 no column to learn from" E1312 ":6:"
wrong '"age": "numeric"' '"age": "weight", "visits": "weight"' "J13 two weights" E1312 ":6:"
with '"task": "binary"' '"task": "regression"'
with '"epochs": 2' '"epochs": 2, "loss": {"class_weights": {"maybe": 2}}'
run dnn check c.json
is_exit 78 "J13 a weight for a label that the data lack"
err_has E1321 "J13 E1321"
wrong '"age": "numeric"' '"age": "numeric", "converted": "numeric"' "J13 the target as a feature" E1312 ":6:" converted

# who gave the value is named, and not the file
given() { # given NAME EXIT ID TEXT ARGUMENT...
    local name=$1 code=$2 id=$3 text=$4
    shift 4
    run dnn check good.json "$@"
    is_exit $code "J13 $name"
    err_has "error[$id]: --set $text" "J13 $name: the --set is named"
    err_lacks "good.json" "J13 $name: the file is not"
}
given "a --set of a number for an object" 64 E1008 'train: expected an object, got number' --set train=3
given "a --set of layers that are not the preset's" 78 E1311 \
    'model.layers: `model.layers` is not what `model.preset` "auto" gives, which is "mlp" here' --set 'model={"preset": "auto"}' \
    --set 'model.layers=[]'
given "a --set that the task contradicts" 78 E1311 'train.loss.type:' --set train.loss.type=mse
given "a --set without effect" 78 E1311 'train.optimizer.momentum:' --set train.optimizer.momentum=0.5
given "a --set that leaves no rows" 78 E1311 'data.split.valid:' --set data.split.valid=0.9
given "a --set of an object without its quotes" 64 E1008 'train.loss: character 2 of the value: unexpected "t"' \
    --set 'train.loss={type:focal}'
given "a --set of an object with .5" 64 E1008 'train.loss: character 26 of the value' --set 'train.loss={"type": "quantile", "q":.5}'
given "a --set of a list that does not end" 64 E1008 'model.layers: character' --set 'model.layers=[{"type":"relu"}'
given "a --set of a column's object without its quotes" 64 E1008 'data.columns.age: character 2' --set 'data.columns.age={type:numeric}'
given "a --set out of range" 64 E1008 'train.epochs: 0 is out of range' --set train.seed=1 --set train.epochs=0
given "a --set of an unknown device" 64 E1008 'backend.device:' --set backend.device=xx
given "a --set of an unknown type" 64 E1008 'data.columns.age.type:' --set data.columns.age.type=foo
given "a --set of another type" 64 E1008 'data.columns.lead_id:' --set data.columns.lead_id=foo
given "a --set of a column that is not listed" 64 E1008 'data.columns.agee.impute: `data.columns.agee` has no "type"' \
    --set data.columns.agee.impute=mean
err_has 'did you mean the column "age"?' "J13 a --set of a column that is not listed: the nearest is named"
given "a --set of no file" 64 E1008 'data.train:' --set data.train=
given "a --set of a split without its column" 78 E1313 'data.split.method:' --set data.split.method=group
given "a --set of a label that the data lack" 78 E1321 'train.loss.class_weights:' --set 'train.loss.class_weights={"maybe":2}'
given "a --set that makes the target a feature" 78 E1312 'data.columns.converted:' --set data.columns.converted=numeric
# the column's name may be that of a key, or have a quote in it
with '"target": "converted"' '"target": "task"'
sed -i 's/"city": "categorical"/"task": "numeric"/' c.json
run dnn check c.json --set task=binary
is_exit 78
err_has 'error[E1312]: c.json:6:' "J13 a column with the name of a key: the file is named"
err_lacks "--set" "J13 a column with the name of a key: and no --set"
with '"target": "converted"' '"target": "converted", "positive": "maybe"'
run dnn check c.json --set task=regression
err_has 'set "positive" to null (--set task)' "J13 a task of --set"
with '"age": "numeric"' '"ages": "numeric"'
run dnn check c.json
is_exit 65 "J13 a column that the data lack"
err_has 'leads.csv: the data lack the column "ages"' "J13 a column that the data lack: the file is named"
err_has 'did you mean "age" for "ages"' "J13 a column that the data lack: the nearest name"
run dnn check good.json --set data.target=Converted
is_exit 65 "J13 a target that the data lack"
err_has 'the data lack the column "Converted"' "J13 the column is named"
err_has 'did you mean "converted"' "J13 a target that the data lack: the nearest name"
run dnn check good.json --set data.columns.zzzzzz=numeric
err_has 'the file has "lead_id", "age"' "J13 no name is near: the names of the file"
wrong '"task": "binary",' '' "J13 no task" E1305 "" task
wrong '"target": "converted",' '' "J13 no target" E1305 "" target
with '"train": "leads.csv"' '"train": ""'
run dnn check c.json
is_exit 78 "J13 no file"
err_has E1310 "J13 E1310"

with '"hidden": [8]' '"hidden": [16777216, 16777216, 16777216]'
run dnn check c.json
[ $STATUS -eq 78 ] || [ $STATUS -eq 71 ]
ok $? "J14 more parameters than fit" "exit $STATUS $(cat err)"
with '"hidden": [8]' '"hidden": [16777217]'
run dnn check c.json
is_exit 78 "J14 a layer beyond the limit"
with '"hidden": [8]' "\"hidden\": [$(printf '8,%.0s' $(seq 4200))8]"
run dnn check c.json
is_exit 78 "J14 more than 4,096 layers"

mkdir inner
perl -pe 's/leads.csv/..\/leads.csv/' good.json >inner/c.json
run dnn train inner/c.json
is_exit 0 "J15 paths of a config count from its folder"
[ -e inner/m.dnn ]
ok $? "J15 output.model of a config counts from its folder"
perl -pe "s#leads.csv#$WORK/leads.csv#" good.json >inner/c.json
run dnn train inner/c.json -o abs.dnn
is_exit 0 "J15 an absolute path"
grep -q "$WORK" abs.dnn
[ $? -ne 0 ]
ok $? "J15 the model holds no path"

# J16 memory that runs out inside the JSON library is no syntax error: every allocation of a check fails in turn
DNN_FAULT=count "$HOOKED" check good.json >/dev/null 2>err
total=$(sed -n 's/.* alloc=\([0-9]*\).*/\1/p' err)
other=""
for ((n = 1; n <= ${total:-0} && n <= 60; n++)); do
    run env DNN_FAULT=alloc:$n "$HOOKED" check good.json
    [ $STATUS -eq 71 ] && grep -q E1701 err || other+="alloc:$n exit $STATUS; "
done
[ "${total:-0}" -gt 20 ] && [ -z "$other" ]
ok $? "J16 each of the first 60 of ${total:-no} allocations fails: 71" "$other"

perl -e 'print "{"; print "\"k$_\": 0, " for 1 .. 60000; print "\"task\": \"binary\"}"' >c.json
run timeout 5 "$DNN" check c.json
is_exit 78 "J17 60,000 keys, quickly"
err_has E1105 "J17 by the limit of keys"
perl -e 'print "{\"data\": {\"columns\": {"; print "\"k$_\": 0, " for 1 .. 9000; print "\"k\": \"id\"}}}"' >c.json
run timeout 5 "$DNN" check c.json
is_exit 78 "J17 9,000 keys, quickly"
perl -e 'print "{\"data\": {\"columns\": {"; print "\"k$_\": 0, " for 1 .. 39000; print "\"k\": \"id\"}}}"' >c.json
run timeout 5 "$DNN" check c.json
is_exit 78 "J17 39,000 keys, quickly"
err_lacks E1105 "J17 39,000 keys are not refused by the limit of keys"
run dnn check none.json
is_exit 66 "a config that is not there"
# rows of a part that stand in the training rows too: a few meet by chance
seq 300 | awk 'BEGIN { print "a,b,y" } { print $1 ",k" $1 % 5 "," $1 % 2 }' >meet.csv
for copies in 1 2; do
    {
        echo a,b,y
        seq 400 $((599 - copies)) | awk '{ print $1 ",k" $1 % 5 "," $1 % 2 }'
        seq $copies | awk '{ print $1 ",k" $1 % 5 "," $1 % 2 }'
    } >meet$copies.csv
    echo '{"task": "binary", "data": {"train": "meet.csv",
        "test": "meet'$copies'.csv", "target": "y", "columns": {"a": "numeric", "b": "categorical"}},
        "backend": {"name": "dnn_cpu"}}' >meet.json
    run dnn check meet.json
    is_exit 0
    if [ $copies = 1 ]; then
        err_lacks "equal a training row" "1 of 200 test rows is no warning"
    else
        err_has "note: 2 of 200 test rows equal a training row" "2 of 200 are a note"
    fi
done
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 300; i++) print i % 7 ",k" i % 3 "," (i * 16807 % 2147 % 10 > i % 7) }' >meet.csv
cp meet.csv meet2.csv
run dnn check meet.json
err_has "note: 300 of 300 test rows equal a training row in every column used: the columns have few values" "by chance: a note"
run dnn check meet.json --quiet
is_exit 0
err_lacks "equal a training row" "--quiet leaves out the note of equal rows"
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 300; i++) print i ",k" i % 3 "," i % 2 }' >meet.csv
cp meet.csv meet2.csv
run dnn check meet.json --quiet
err_has "warning: 255 of 300 test rows equal a training row in every column used; if they are copies" "copies: a warning"
sed 's/"test": "[^"]*"/"split": {"valid": 0, "test": 0}/' meet.json >alone.json
run dnn train alone.json -o alone.dnn --set train.epochs=1
is_exit 0
err_lacks "early_stopping" "without validation rows nothing is said of early stopping by default"
run dnn train alone.json -o alone.dnn --set train.epochs=1 --set train.early_stopping.patience=1
is_exit 0 "without validation rows, train.early_stopping.patience given: trained"
err_has "there are no validation rows: \`train.early_stopping\` has no effect" "  that it has no effect is said"
# model.preset is mlp where nothing else is said
printf 'a,b,y\n1,2,0\n3,4,1\n5,6,0\n7,8,1\n2,2,0\n3,3,1\n4,6,0\n7,9,1\n' >preset.csv
cat >preset.json <<'JSON'
{"task": "binary", "data": {"train": "preset.csv", "target": "y", "columns": {"a": "numeric", "b": "numeric"},
  "split": {"valid": 0, "test": 0}},
 "backend": {"name": "dnn_cpu"}}
JSON
dnn check preset.json --resolved --set model.preset=mlp >want 2>/dev/null
[ -s want ]
ok $? "the preset mlp"
for model in '{}' '{"layers":null}'; do
    run dnn check preset.json --resolved --set model="$model"
    same out want "model $model is that"
done
run dnn check preset.json --set 'model.hidden=[4]'
is_exit 64 "an option of a preset that is not named"
err_has 'add --set model.preset=mlp'
done_testing
