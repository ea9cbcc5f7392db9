#!/bin/bash
# model_files.sh - damaged, truncated, foreign and hostile model files: 76 with an id, nothing written, in little time and
# memory, by every command that reads a model. Ids: M01 M02 M03 M04 M05 M06 M07 M08 M09 M10 M12 M13 M14 M15 M16 M18 P2.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
make_leads leads.csv 120
cat >tiny.json <<'JSON'
{"task": "binary", "data": {"train": "leads.csv", "target": "converted", "columns": {"age": "numeric", "city": "categorical"}},
 "model": {"preset": "mlp", "hidden": [2], "activation": "relu"}, "train": {"epochs": 1}, "backend": {"name": "dnn_cpu", "threads": 1}}
JSON
"$DNN" train tiny.json -o m.dnn --quiet --progress none || { echo "Bail out! no model"; exit 1; }
size=$(wc -c <m.dnn)
header=$(perl -e 'open my $f, "<:raw", "m.dnn"; read $f, my $b, 8; print unpack "Q<", $b')
[ "$header" -gt 99 ] && [ "$size" -gt $((header + 8)) ]
ok $? "a model of $size bytes, $header of them its header"
is "$(head -c 99 m.dnn | tail -c 64)" "$(perl -MDigest::SHA=sha256_hex -e 'local $/; open my $f, "<:raw", "m.dnn"; my $b = <$f>;
    substr($b, 35, 64) = "0" x 64; print sha256_hex($b)')" \
    "bytes 35..98 are its SHA-256"
perl "$ROOT/tests/resign.pl" m.dnn again.dnn
same m.dnn again.dnn "the tool of this test writes what dnn wrote"

# refused NAME IDS FILE [CODE]: predict, evaluate, verify and inspect refuse it
refused() {
    local name=$1 ids=$2 file=$3 code=${4:-76} command bad=""
    rm -f x.out
    for command in "predict $file leads.csv -o x.out" "evaluate $file leads.csv" "verify $file" "inspect $file"; do
        # shellcheck disable=SC2086
        run dnn $command
        [ "$STATUS" -eq "$code" ] || bad+="dnn $command: exit $STATUS: $(head -n 2 err); "
        grep -qE "error\[($ids)\]: $file" err || bad+="dnn $command: $(head -n 2 err); "
    done
    [ -z "$bad" ] && [ ! -e x.out ]
    ok $? "$name: $code, $ids" "$bad"
    rm -f x.out
}
# signed NAME IDS HEADER-EXPRESSION [DATA-EXPRESSION]
signed() {
    perl "$ROOT/tests/resign.pl" m.dnn s.dnn "$3" "${4:-}" 2>resign.err || { ok 1 "$1" "$(cat resign.err)"; return; }
    cmp -s m.dnn s.dnn && { ok 1 "$1" "the expression changed nothing"; return; }
    refused "$1" "$2" s.dnn
}

# accepted NAME HEADER-EXPRESSION [DATA-EXPRESSION]: what answers do not need is not looked at
dnn predict m.dnn leads.csv --quiet >want.out
accepted() {
    perl "$ROOT/tests/resign.pl" m.dnn s.dnn "$2" "${3:-}" 2>resign.err || { ok 1 "$1" "$(cat resign.err)"; return; }
    cmp -s m.dnn s.dnn && { ok 1 "$1" "the expression changed nothing"; return; }
    run dnn predict s.dnn leads.csv
    [ "$STATUS" -eq 0 ] && cmp -s out want.out
    ok $? "$1: predict gives the same answers" "exit $STATUS: $(cat err)"
    local command bad=""
    for command in "evaluate s.dnn leads.csv" "verify s.dnn" "inspect s.dnn" "inspect s.dnn --json"; do
        # shellcheck disable=SC2086
        run dnn $command
        [ "$STATUS" -eq 0 ] || bad+="dnn $command: exit $STATUS: $(head -n 2 err); "
    done
    [ -z "$bad" ]
    ok $? "$1: evaluate, verify and inspect too" "$bad"
}

head -c 5000 /dev/urandom >f.dnn
refused "M01 random bytes" "E1501|E1502|E1504" f.dnn
printf '\x80\x02}q\x00.%0100d' 0 >f.dnn
run dnn verify f.dnn
is_exit 76 "M01 a pickle"
err_has "first bytes 80 02" "M01 its first bytes are told"
printf 'PK\003\004%0100d' 0 >f.dnn
run dnn verify f.dnn
is_exit 76 "M01 a zip"
cp leads.csv f.dnn
for command in "predict f.dnn leads.csv" "verify f.dnn" "evaluate f.dnn leads.csv"; do
    run dnn $command
    is_exit 76 "M01 a CSV file: ${command%% *}"
    err_has E1501 "M01 E1501"
done
: >f.dnn
run dnn verify f.dnn
is_exit 76 "M01 an empty file"
run dnn predict tiny.json leads.csv
is_exit 76 "M01 a config"

# M02: lengths near every border, and a sample of the rest; the unit test of the model file has them all
bad=""
for n in 0 1 7 8 9 33 34 35 97 98 99 $((8 + header - 1)) $((8 + header)) $((8 + header + 1)) $((size - 1)) $(seq 101 397 "$size"); do
    head -c "$n" m.dnn >f.dnn
    run dnn verify f.dnn
    [ $STATUS -eq 76 ] && grep -q 'error\[E15' err || bad+="$n: exit $STATUS; "
done
[ -z "$bad" ]
ok $? "M02 cut off at many lengths: 76" "$bad"
head -c $((size - 1)) m.dnn >f.dnn
refused "M02 one byte short" E1502 f.dnn
{ cat m.dnn; printf x; } >f.dnn
refused "M06 one byte more" E1502 f.dnn
# M03
perl -e 'local $/; open my $f, "<:raw", "m.dnn"; my $b = <$f>; my $seed = 7; my $dir = "flips"; mkdir $dir;
    for my $i (1 .. 150) { $seed = $seed * 16807 % 2147483647; my $at = $i < 40 ? $i * 8 : $seed % (8 * length $b); my $c = $b;
        vec($c, $at, 1) ^= 1; open my $o, ">:raw", "$dir/$at"; print $o $c }'
bad=""
for f in flips/*; do
    run dnn verify "$f"
    [ $STATUS -eq 76 ] || bad+="bit ${f##*/}: exit $STATUS; "
done
[ -z "$bad" ]
ok $? "M03 P2 $(ls flips | wc -l) files with one bit flipped: 76" "$bad"
perl -e 'local $/; open my $f, "<:raw", "m.dnn"; my $b = <$f>; substr($b, -1) ^= "\1"; open my $o, ">:raw", "f.dnn"; print $o $b'
refused "M03 a bit in the weights" E1503 f.dnn

for length in 18446744073709551615 9223372036854775807 9223372036854775800 1048577 $((size + 1)) $((size - 7)) 0 1; do
    perl -e 'local $/; open my $f, "<:raw", "m.dnn"; my $b = <$f>; substr($b, 0, 8) = pack "Q<", shift; open my $o, ">:raw", "f.dnn";
        print $o $b' "$length"
    run bash -c "$(limit 400000) exec timeout 5 '$DNN' verify f.dnn"
    is_exit 76 "M04 a header length of $length"
done
for shape in '[4398046511105]' '[9223372036854775807,2]' '[4611686018427387904,4]' '[18446744073709551615]' '[-1]' '[1e3]' \
    '[1.5]' '["2"]' '[[2]]' 2; do
    signed "M05 a tensor of shape $shape" "E1504|E1505" "s/(\"shape\":)\\[[0-9,]*\\](,\"data_offsets\":\\[0,)/\$1$shape\$2/"
done
signed "M06 tensors that overlap" E1505 's/(data_offsets":\[0,)(\d+)/$1.($2 + 8)/e'
signed "M06 a tensor that begins behind a hole" "E1505|E1502" 's/(data_offsets":\[)0,(\d+)/$1."8,".($2 + 8)/e'
signed "M06 bytes that no tensor covers" "E1502|E1505" '' '$_ .= "\0" x 64'
signed "M07 a tensor that is missing" "E1505|E1502" 's/"encoders\.0\.center"/"encoders.0.centes"/'
signed "M07 golden rows without their offsets" "E1533" 's/"golden\.offsets"/"golden.offsetz"/'
signed "M07 a tensor twice" "E1504|E1505" 's/("encoders\.0\.center":\{[^}]*\},)/$1$1/'
accepted "M07 a tensor that nobody knows" \
    '/.*"data_offsets":\[\d+,(\d+)\]/s; my $end = $1;
    s/\}\z/",\"zzz\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[$end,".($end + 8)."]}}"/e' \
    '$_ .= "12345678"'
signed "M08 a layer that is unknown" E1506 '' 's/"type":"relu"/"type":"rolu"/'
run dnn verify s.dnn
err_has "made by a newer version" "M08 says why"
signed "M08 an option of a layer that is unknown" "E1506|E1530" '' 's/"units":2/"unitz":2/'
signed "M08 layers that do not fit the weights" E1531 '' 's/"units":2,/"units":9,/'
signed "M08 layers that are no JSON" E1530 '' 's/\[\{"type":"dense"/[["type":"dense"/'
signed "M08 a last layer that is not dense" "E1530|E1531" '' \
    's/(\{"type":"dense","units":2,"bias":true\})\]/sprintf("%-*s]", length $1, "{\"type\":\"gelu\"}")/e'
signed "M08 a task that is unknown" "E1506" '' 's/"task":"binary"/"task":"binari"/'
signed "M08 a scale that is unknown" "E1506" \
    '' 's/"scales":\["auto","none","standard","robust"/"scales":["auto","none","stondard","robost"/'
accepted "M08 a scale that is unknown and that no column has" '' 's/"minmax"/"monmix"/'
accepted "M08 a config that is no JSON" 's/(\"config\":\")\{/$1!/'
accepted "M08 a key of training that this build does not know" 's/\\"epochs\\"/\\"epochz\\"/'
accepted "M08 a preset that this build does not know" 's/\\"preset\\":\\"mlp\\"/\\"preset\\":\\"mlq\\"/'
accepted "M08 an optimiser that this build does not know" 's/adamw/odamw/'
accepted "M08 a key of the backend that this build does not know" 's/\\"autotune\\"/\\"outotune\\"/'
accepted "M08 no config at all" 's/"config":"(?:[^"\\]|\\.)*",//'
accepted "M08 a plan that cannot be read" 's/\\"shards\\"/\\"shords\\"/'
accepted "M08 metrics that are no JSON" 's/("metrics":")\{/$1!/'
accepted "M08 metadata that nobody knows" 's/"format":"3"/"format":"3","later":"x"/'
signed "M10 a newer format" E1506 's/"format":"3"/"format":"4"/'
run dnn verify s.dnn
err_has "format 4, this build reads formats up to 3" "M10 both versions are told"
signed "M10 an older format" E1507 's/"format":"3"/"format":"2"/'
run dnn verify s.dnn
err_has "format 2, this build reads formats from 3 on" "M10 both versions are told"
signed "M10 a format that is no number" "E1504|E1506" 's/"format":"3"/"format":"x"/'
signed "M01 another kind of file" "E1501|E1504|E1505|E1506" 's/"kind":"model"/"kind":"picture"/'
signed "M12 a dtype that is unknown" "E1504|E1505" 's/"dtype":"F32"/"dtype":"F16"/'
signed "M12 another dtype of the same size" "E1505|E1510|E1531|E1533" 's/"dtype":"F32"/"dtype":"I32"/'
signed "the header is no object" "E1501|E1504" 's/\A.*\z/[]/s'
signed "the header is no strict JSON" "E1504|E1501" 's/"dtype"/dtype/'
signed "a NUL in the header" "E1504" 's/"dtype":"F32"/"dtype":"F\0\0"/'

# the places of the tensors in the data
cat >tensor.pl <<'PERL'
local $/; open my $f, "<:raw", "m.dnn"; my $b = <$f>; my $n = unpack "Q<", $b; my $h = substr $b, 8, $n;
while ($h =~ /"([^"]+)":\{"dtype":"(\w+)","shape":\[([\d,]*)\],"data_offsets":\[(\d+),(\d+)\]/g) { print "$1 $2 $3 $4 $5\n" }
PERL
perl tensor.pl >tensors
place() { awk -v name="$1" '$1 == name { print $(NF - 1); exit }' tensors; }
for tensor in members.0.layers.0.weight golden.logits; do
    weight=$(place $tensor)
    signed "M09 a number of $tensor that is NaN" E1532 '' "substr(\$_, $weight, 4) = pack 'f<', 'NaN'"
    run dnn verify s.dnn
    err_has "$tensor" "M09 the tensor is named"
    signed "M09 one that is infinite" E1532 '' "substr(\$_, $weight + 4, 4) = pack 'f<', 9**9**9"
done
for name in $(awk '$2 == "F64" { print $1 }' tensors); do
    perl "$ROOT/tests/resign.pl" m.dnn s.dnn '' "substr(\$_, $(place "$name"), 8) = pack 'd<', 'NaN'"
    run dnn predict s.dnn leads.csv -o x.out
    is $STATUS 76 "M09 $name that is NaN: refused"
    rm -f x.out
done
for name in $(awk '$1 ~ /offsets$|first$/ { print $1 }' tensors); do
    at=$(place "$name")
    for value in -1 9223372036854775807 1000000; do
        signed "M15 M16 $name begins with $value" "E1505|E1510|E1533" '' "substr(\$_, $at + 8, 8) = pack 'q<', $value"
    done
done
bad=""
for name in schema.types encoders.0.impute encoders.0.unknown encoders.0.encode encoders.0.scale encoders.0.indicator; do
    for value in 0 1 2 7 9 200 254 255; do
        perl "$ROOT/tests/resign.pl" m.dnn s.dnn '' \
            "substr(\$_, $(place $name), 1) = chr $value; substr(\$_, $(place $name) + 1, 1) = chr $value" 2>/dev/null
        run dnn predict s.dnn leads.csv -o x.out
        case $STATUS in 0 | 65 | 76) ;; *) bad+="$name $value: exit $STATUS; " ;; esac
    done
done
for name in encoders.0.dim encoders.0.min_count encoders.0.missing; do
    for value in -1 0 99 4294967295 9223372036854775807; do
        perl "$ROOT/tests/resign.pl" m.dnn s.dnn '' "substr(\$_, $(place $name) + 8, 8) = pack 'q<', $value" 2>/dev/null
        run dnn predict s.dnn leads.csv -o x.out
        case $STATUS in 0 | 65 | 76) ;; *) bad+="$name $value: exit $STATUS; " ;; esac
    done
done
[ -z "$bad" ]
ok $? "M16 codes and counts out of range: no crash" "$bad"
rm -f x.out

truncate -s 1T sparse.dnn 2>/dev/null || truncate -s 100G sparse.dnn
run bash -c "$(limit 400000) exec timeout 5 '$DNN' verify sparse.dnn"
is_exit 76 "M13 a sparse file of 1 TiB: at once"
{ cat m.dnn; } >sparse.dnn && truncate -s 1T sparse.dnn
run bash -c "$(limit 400000) exec timeout 5 '$DNN' predict sparse.dnn leads.csv"
is_exit 76 "M13 a sparse file of 1 TiB after a whole model: at once"
rm -f sparse.dnn
mkfifo pipe.dnn
mkdir folder.dnn
for file in pipe.dnn folder.dnn /dev/null /dev/zero none.dnn; do
    run timeout 5 "$DNN" verify $file
    is_exit 66 "M14 $file: 66"
done
err_has E1601 "M14 E1601"
signed "M15 a name of 900,000 bytes" "E1504|E1505|E1501" 's/"golden\.offsets"/"\"".("x" x 900000)."\""/e'
signed "M15 control bytes in a name" "E1504|E1505" 's/"golden\.offsets"/"golden\\u0007offsets"/'

# M18: a model that is replaced while it is read is one or the other
"$DNN" train tiny.json -o two.dnn --set train.seed=9 --quiet --progress none
dnn predict m.dnn leads.csv --quiet >one.out
dnn predict two.dnn leads.csv --quiet >two.out
cp m.dnn now.dnn
{ for _ in $(seq 60); do cp two.dnn t.dnn && mv t.dnn now.dnn; cp m.dnn t.dnn && mv t.dnn now.dnn; done; } &
pid=$!
bad=""
while kill -0 $pid 2>/dev/null; do
    run dnn predict now.dnn leads.csv
    [ $STATUS -eq 0 ] && { cmp -s out one.out || cmp -s out two.out; } || bad+="exit $STATUS; "
done
[ -z "$bad" ]
ok $? "M18 a model that is replaced all the time: always a whole one" "$bad"
done_testing
