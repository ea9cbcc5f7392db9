#!/bin/bash
# checkpoints.sh - a whole, signed checkpoint that dnn did not write: it is skipped with a reason and the one before serves. No
# number in it crashes dnn.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 600
make_config c.json d.csv binary '"epochs": 8, "schedule": {"dropout": "flat_cos"}, "early_stopping": {"patience": 0},
    "checkpoint": {"every_s": 0, "keep": 2}' \
    '"backend": {"name": "dnn_cpu", "threads": 1}, "output": {"model": "m.dnn"}'
run dnn train c.json -o whole.dnn --progress none
want=$(digest whole.dnn)
DNN_FAULT=kill:rename:6 "$HOOKED" train c.json --progress none >/dev/null 2>&1 &
wait $! 2>/dev/null
mkdir kept
mv m.dnn.ckpt-* kept
newest=$(ls kept | tail -n 1)
is "$(ls kept | wc -l)" 2 "a killed training leaves two checkpoints"

# other HEADER DATA: the newest checkpoint as somebody else might have written it
other() {
    rm -f m.dnn m.dnn.ckpt-*
    cp kept/* .
    perl "$ROOT/tests/resign.pl" "kept/$newest" "$newest" "$1" "${2:-}" 2>resign.err
}
passed_over() { # passed_over NAME WORDS HEADER [DATA]
    other "$3" "${4:-}" || { ok 1 "$1" "$(cat resign.err)"; return; }
    run dnn train c.json --resume --progress none
    is_exit 0 "$1: the one before serves"
    err_has "$2" "$1: says $2"
    is "$(digest m.dnn)" "$want" "$1: the same bytes"
}
at() { printf '/"%s":\\{[^}]*"data_offsets":\\[(\\d+),(\\d+)\\]/ and ($main::at, $main::end) = ($1, $2)' "${1//./\\.}"; }
put() { printf 'substr($_, $main::at + 8 * %d, 8) = pack "%s<", %s' "$1" "$2" "$3"; }
# the plan of an earlier build has members that this one does not know
other 's/\\"shards\\":(\d+)/\\"shards\\":$1,\\"strip\\":4000000000/'
run dnn train c.json --resume --progress none
is_exit 0 "a plan with a strip of rows"
err_lacks "another kind of machine" "it is as good as one without"
is "$(digest m.dnn)" "$want" "the same bytes"
passed_over "another kind" "is not a checkpoint of dnn" 's/"kind":"checkpoint"/"kind":"model"/'
passed_over "no format" "its format has no number" 's/"format":"2"/"format":"x"/'
passed_over "a later format" "has format 9; this build reads 1 to" 's/"format":"2"/"format":"9"/'
passed_over "no hash of the data" "its metadata are incomplete" 's/"data":"[0-9a-f]*"/"data":"0"/'
passed_over "a journal before its beginning" "its metadata are incomplete" 's/"journal":"\d+"/"journal":"-1"/'
passed_over "a journal of its best epoch before the beginning" "its metadata contradict each other" \
    's/"best.journal":"\d+"/"best.journal":"-1"/'
passed_over "no plan" "its plan cannot be read" 's/\\"micro\\":1/\\"micra\\":1/'
passed_over "a counter below 0" "its counters contradict each other" "$(at counters)" "$(put 1 q -5)"
passed_over "a time that is none" "its time is not a number" "$(at times)" "$(put 0 d '"NaN"')"
passed_over "a weight that is no number" "a weight or a moment is not a number that a training has" "$(at params)" \
    'substr($_, $main::at, 4) = pack "f<", "NaN"'
passed_over "a second moment below 0" "a weight or a moment is not a number that a training has" \
    "$(at m2)" 'substr($_, $main::at, 4) = pack "f<", -1'
passed_over "a config with a zero byte" "its config holds a zero byte" "$(at config)" 'substr($_, $main::at + 9, 1) = "\0"'
passed_over "no weights" "" 's/"params":/"porams":/'
passed_over "a history of another shape" "its history has another shape" \
    's/("history":\{"dtype":"F64","shape":)\[(\d+),(\d+)\]/"${1}[" . $2 * $3 . ",1]"/e'
other 's/"best\.params":/"bost.params":/'
run dnn train c.json --resume --progress none
is_exit 76 "best weights that are not there"
err_lacks "continues from there" "are not advised to be gone on from"

# a folder that cannot be brought to the disk, file by file: what is told is what lies there
bad="" told=0
for n in $(seq 1 20); do
    rm -f m.dnn*
    run env DNN_FAULT="fsync:$n" "$HOOKED" train c.json --progress none --set train.epochs=3
    case $(cat err) in
    *"m.dnn.ckpt-"*"is in place and whole"*) # the newest is what --resume goes on from
        told=$((told + 1))
        last=$(ls m.dnn.ckpt-* | tail -n 1)
        grep -q "the checkpoint \".*$last\" is whole" err || bad="$bad $n:$(cat err)" ;;
    *"is in place and whole"*) # the model is there: nothing is to be gone on from
        told=$((told + 10))
        ! grep -q 'continues from there' err && [ -e m.dnn ] || bad="$bad $n:$(cat err)" ;;
    esac
done
is "$told$bad" 12 "two checkpoints and a model that may be lost with the power"

# any number anywhere: known exit codes only
bad=""
count=0
for tensor in counters:q history:d sums:d times:d; do
    other "$(at "${tensor%:*}")" '' &&
        words=$(perl -ne 'BEGIN { $/ = undef } print(($2 - $1) / 8) if /"'"${tensor%:*}"'":\{[^}]*"data_offsets":\[(\d+),(\d+)\]/' \
        "kept/$newest")
    [ "$words" -gt 0 ] 2>/dev/null || { bad="$bad $tensor:none"; continue; }
    for ((i = 0; i < words; i += words > 12 ? 5 : 1)); do
        case $tensor in *:q) values='-1 9223372036854775807 3' ;; *) values='"NaN" -1 1e300' ;; esac
        for value in $values; do
            other "$(at "${tensor%:*}")" "$(put "$i" "${tensor#*:}" "$value")"
            "$DNN" train c.json --resume --progress none >/dev/null 2>err
            status=$?
            count=$((count + 1))
            case $status in 0 | 76 | 80) ;; *) bad="$bad $tensor[$i]=$value:$status" ;; esac
        done
    done
done
is "$bad" "" "$count numbers changed: no crash, no code but 0, 76, 80"
done_testing
