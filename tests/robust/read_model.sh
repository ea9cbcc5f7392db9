#!/bin/bash
# read_model.sh - scripts/read_model.py, the second reader of the model file, answers like `dnn predict` within 1e-5: models of every
# preset, layer, scale and encoding. PYTHON names a Python with numpy; without one all of it is a skip.
. "$(dirname "$0")/../tap.sh"
python=${PYTHON:-python3}
# without numpy: one line
mkdir none
echo 'raise ImportError("none here")' >none/numpy.py
if command -v "$python" >/dev/null; then
    run env PYTHONPATH=none "$python" "$ROOT/scripts/read_model.py" m.dnn rows.csv
    is "$STATUS $(cat out err)" "1 read_model.py needs numpy (python3-numpy)" "without numpy it says so"
fi
if ! "$python" -c 'import numpy' 2>/dev/null; then
    skip "the second reader of the model file" "no $python with numpy"
    done_testing
fi
# rows of KIND: a label of two, of three, or a number; numbers with blanks, ties and far values, dates of many forms, categories
make_rows() { # FILE ROWS SEED [unlabelled]
    awk -v rows="$2" -v seed="$3" -v bare="${4:-}" '
        function next_of(n) { seed = (seed * 16807) % 2147483647; return int(seed / 2147483647 * n) }
        BEGIN {
            split("2024-03-01|1999/12/31|20200229|2024-02-29T23:59:59Z|2021-07-04 12:30|2022-01-01T00:00:30.25+02:00|" \
                "1969-07|9:05:33.5|2021-07-04 9:30 +0530|0044-03-15|2000-12-31T24:00|", date, "|")
            split("Köln|a b|\"x, y\"|\"the \"\"it\"\"\"|NA||z9", word, "|")
            print "id,n,m,tied,when,few,many" (bare ? "" : ",two,three,value")
            for (i = 1; i <= rows; i++) {
                n = next_of(4001) / 1000 - 2; m = next_of(20) ? next_of(1000000) / 7 : ""; t = next_of(3) ? 0 : next_of(9)
                if (next_of(50) == 0) m = "1e9"
                d = 1 + next_of(10); w = 1 + next_of(7 + (bare && next_of(9) == 0)); k = next_of(bare ? 60 : 50)
                two = "no"; three = k % 3 ? "b" : "c"; few = word[w]
                if (n + w % 2 > 0.5) two = "yes"
                if (n > 0.7) three = "a"
                if (w > 7) few = "new"
                printf "%d,%s,%s,%s,%s,%s,k%d", i, n, m, t, date[d], few, k
                print bare ? "" : "," two "," three "," 1000 + 300 * n + 10 * t
            }
        }' >"$1"
}
make_rows train.csv 600 3
make_rows ask.csv 200 11 bare
config() { # FILE TASK TARGET MODEL [COLUMNS]
    cat >"$1" <<JSON
{"task": "$2", "data": {"train": "train.csv", "target": "$3", "missing": ["", "NA"],
  "columns": {${5:-"\"n\": \"numeric\", \"m\": \"numeric\",
  \"tied\": {\"type\": \"numeric\", \"scale\": \"quantile\"}, \"when\": \"datetime\",
  \"few\": \"categorical\", \"many\": \"categorical\""}}},
 "model": $4, "train": {"epochs": 3, "batch_size": 64}, "backend": {"name": "dnn_cpu"}}
JSON
}
# every number of the second within 1e-5 of the first, relative to its size where that is above 1; words are equal, but for answers
# whose two classes are as likely
near() {
    paste -d '\n' "$1" "$2" | perl -ne 'chomp; push @l, [split /,/]; next if @l < 2; my ($a, $b) = splice @l; $rows++;
        $bad ||= "$.: @$a; @$b" if @$a != @$b;
        for my $i (0 .. $#$a) {
            next if $a->[$i] eq $b->[$i];
            if ("$a->[$i]$b->[$i]" !~ /^[-+.0-9e]+$/) { $words++; next }
            my $size = abs $a->[$i]; my $off = abs($a->[$i] - $b->[$i]) / ($size > 1 ? $size : 1); $most = $off if $off > $most; }
        END { $bad ||= "$words words" if $words > 1; $bad ||= "off by $most" if $most > 1e-5; print "$rows rows, $most; $bad\n";
        exit !!$bad || $rows < 3 }'
}
compare() { # NAME CONFIG
    local name=$1
    rm -f m.dnn
    run dnn train "$2" -o m.dnn --progress none
    is_exit 0 "$name: trained"
    dnn predict m.dnn ask.csv --quiet >want.csv
    "$python" "$ROOT/scripts/read_model.py" m.dnn ask.csv >got.csv 2>py.err
    is $? 0 "$name: read_model.py reads it"
    [ ! -s py.err ] || sed 's/^/#   /' py.err | tail -n 5
    near want.csv got.csv >far
    ok $? "$name: the same answers" "$(cat far; head -n 3 want.csv got.csv)"
}
for preset in auto linear mlp; do
    config c.json binary two "{\"preset\": \"$preset\"}"
    compare "$preset, two classes" c.json
done
config c.json binary two '{"preset": "linear"}'
perl -pi -e 's/"backend"/"threshold": {"costs": {"fp": 1, "fn": 1.5}}, "backend"/' c.json
compare "a threshold" c.json
config c.json multiclass three '{"preset": "mlp", "hidden": [12]}'
perl -pi -e 's/"backend"/"calibrate": "affine", "backend"/' c.json
compare "calibrated probabilities" c.json
config c.json multiclass three '{"preset": "mlp", "hidden": [12]}'
perl -pi -e 's/"train": \{/"train": {"loss": {"class_weights": "balanced"}, /' c.json
compare "offsets of labels" c.json
ok "$(grep -aq '"decision":' m.dnn; echo $?)" "the model has some"
config c.json binary two '{"preset": "realmlp", "hidden": [12, 8]}, "encoders": {"numeric": {"encode": ["plain", "ple"], "bins": 5}}'
compare "realmlp with bins" c.json
config c.json multiclass three '{"preset": "mlp", "hidden": [12, 8], "norm": "batch", "dropout": 0.2}'
compare "three classes, batch_norm" c.json
config c.json regression value '{"preset": "mlp", "hidden": [16], "norm": "layer"}'
compare "a regression, layer_norm" c.json
for transform in log cbrt quantile; do
    config c.json regression value '{"preset": "linear"}'
    perl -pi -e "s/\"backend\"/\"target_transform\": \"$transform\", \"backend\"/" c.json
    compare "a regression of the target's $transform" c.json
done
for variant in mini full; do # wide bins: narrow ones magnify the last digit of a normal quantile
    tabm="{\"preset\": \"tabm\", \"variant\": \"$variant\", \"k\": 5, \"hidden\": [12, 8]}, \"encoders\": {\"numeric\": {\"bins\": 5}}"
    config c.json multiclass three "$tabm"
    compare "tabm $variant, three classes" c.json
    config c.json regression value "$tabm"
    compare "tabm $variant, a regression" c.json
done
config c.json binary two '{"preset": "tabm", "k": 3, "hidden": [8], "embedding": 3}' \
    '"n": {"type": "numeric", "encode": ["plain", "ple"], "bins": 5},
    "tied": {"type": "numeric", "encode": "ple"}, "m": {"type": "numeric", "encode": "plain"}, "few": "categorical"'
compare "tabm with embedded and plain numbers" c.json
for variant in td td-s; do
    config c.json binary two "{\"preset\": \"realmlp\", \"variant\": \"$variant\", \"hidden\": [12, 8]}"
    compare "realmlp $variant, two classes" c.json
done
config c.json regression value '{"preset": "realmlp", "hidden": [9]}'
compare "realmlp, a regression" c.json
for scale in none standard robust minmax quantile clip; do
    column="{\"type\": \"numeric\", \"scale\": \"$scale\", \"impute\": \"mean\"}"
    [ $scale = none ] && column='{"type": "numeric", "scale": "robust", "impute": "zero"}'
    config c.json binary two '{"preset": "linear"}' \
        "\"n\": {\"type\": \"numeric\", \"scale\": \"$scale\"}, \"m\": $column, \"tied\": {\"type\": \"numeric\", \"scale\": \"$scale\"}"
    compare "scale $scale" c.json
done
config c.json binary two '{"preset": "mlp", "hidden": [8]}' '"few": {"type": "categorical", "encode": "embedding", "dim": 3,
    "unknown": "missing"},
    "many": {"type": "categorical", "encode": "onehot", "min_count": 9}, "n": "numeric", "when": "datetime"'
compare "embeddings before one-hot columns" c.json
config c.json binary two '{"preset": "mlp", "hidden": [8]}' '"n": {"type": "numeric", "encode": ["periodic", "ple"], "bins": 5},
    "m": {"type": "numeric", "encode": "periodic"},
    "tied": {"type": "numeric", "encode": "ple"}, "few": "categorical", "many": {"type": "categorical", "encode": "embedding",
    "init": "normal"}'
compare "periodic and piecewise-linear numbers" c.json
ple='"n": {"type": "numeric", "encode": ["plain", "ple"], "bins": 5}, "m": {"type": "numeric", "encode": "ple", "transform": "log1p"},
    "tied": {"type": "numeric", "encode": ["ple"], "edges": "tree", "scale": "clip"}, "few": "categorical", "many": {"type": "categorical",
    "encode": "embedding"}'
config c.json binary two '{"preset": "mlp", "hidden": [9]}' "$ple"
compare "piecewise-linear numbers" c.json
config c.json regression value '{"preset": "linear"}' "$ple"
compare "piecewise-linear numbers of a linear model" c.json
config c.json multiclass three '{"layers": [{"type": "batch_norm"}, {"type": "dense", "units": 6}, {"type": "gelu"}]}' "$ple"
compare "piecewise-linear numbers below batch_norm" c.json
texts='"n": "numeric", "few": {"type": "text", "buckets": 50}, "many": {"type": "text", "buckets": 30, "ngram": null,
    "char_ngram": [1, 3], "weight": "count"}'
config c.json binary two '{"preset": "mlp", "hidden": [9]}' "$texts, \"tied\": {\"type\": \"numeric\", \"encode\": [\"plain\", \"ple\"]}"
compare "texts beside piecewise-linear numbers" c.json
config c.json multiclass three '{"layers": [{"type": "batch_norm"}, {"type": "dense", "units": 6}, {"type": "gelu"}]}' \
    "$texts, \"when\": \"datetime\", \"m\": \"categorical\""
compare "texts below batch_norm" c.json
config c.json multiclass three '{"preset": "gru", "hidden": [5]}' "\"few\": {\"type\": \"text\", \"encode\": \"tokens\", \"dim\": 6}"
compare "a text as tokens" c.json
# texts beyond ASCII: case, accents, quotes, dashes, blanks, scripts without blanks, pictures; by the rule of today, and by the one of
# older models
cp train.csv train.keep && cp ask.csv ask.keep
awk \
    'BEGIN {
    n = split("ÖL öl Straße STRASSE кофе КОФЕ «чай» 我喜欢 天气不好 ภาษาที่ l’eau e\xCC\x81te\xCC\x81 ÉTÉ don\x27t naïve… " \
        "“x” a–b 😀👍🏽 ΣΊΣΥΦΟΣ नमस्ते 한국어 ½ co\xC2\xADop x\xC2\xA0y İz", w, " ")
    print "note,two"; for (i = 1; i <= 300; i++) { t = "";
    for (k = i % 5 + 2; k > 0; k--) t = t (k % 2 ? " " : "") w[1 + (i * 7 + k * k * 11) % n]; print "\"" t "\"," (i % 3 ? "yes" : "no") }
    }' >train.csv
head -n 120 train.csv | cut -d, -f1 >ask.csv
config c.json binary two '{"preset": "mlp", "hidden": [9]}' '"note": {"type": "text", "buckets": 200, "char_ngram": [1, 3]}'
compare "texts of many scripts" c.json
config c.json binary two '{"layers": [{"type": "pool"}, {"type": "dense", "units": 5}, {"type": "tanh"}]}' \
    '"note": {"type": "text", "encode": "tokens", "dim": 6}'
compare "texts of many scripts as tokens" c.json
mv train.keep train.csv && mv ask.keep ask.csv
statistics() { perl -pi -e 's/"backend"/"encoders": {"target_statistics": {"pairs": 3}}, "backend"/' c.json; }
config c.json binary two '{"preset": "mlp", "hidden": [9]}'
statistics
compare "target statistics, two classes" c.json
config c.json multiclass three '{"preset": "mlp", "hidden": [9]}' '"n": "numeric", "m": "numeric", "tied": {"type": "numeric",
    "transform": "log1p"},
    "when": "datetime", "few": {"type": "categorical", "encode": "target"}, "many": {"type": "categorical", "encode": "count"}'
statistics
compare "target statistics of three classes in place of categories" c.json
config c.json regression value '{"preset": "linear"}' "$ple"
statistics
compare "target statistics of a regression behind piecewise-linear numbers" c.json
list=""
for layer in '"relu"' '"leaky_relu", "slope": 0.2' '"gelu"' '"silu"' '"elu", "alpha": 0.7' '"selu"' '"tanh"' '"sigmoid"' '"mish"'; do
    list+="{\"type\": \"dense\", \"units\": 7, \"bias\": false}, {\"type\": $layer}, {\"type\": \"batch_norm\", \"epsilon\": 0.01}, "
done
config c.json binary two \
    "{\"layers\": [{\"type\": \"layer_norm\"}, $list {\"type\": \"residual\",
        \"layers\": [{\"type\": \"dense\", \"units\": 5}, {\"type\": \"gelu\"},
    {\"type\": \"residual\", \"layers\": [{\"type\": \"layer_norm\"}, {\"type\": \"dense\", \"units\": 5}]}]},
    {\"type\": \"ntk_dense\", \"units\": 6},
    {\"type\": \"scale\"}, {\"type\": \"blend\", \"activation\": \"mish\"}, {\"type\": \"dropout\", \"p\": 0.2}]}"
compare "every layer" c.json
# sequences of up to 6 steps of two channels, some without a step, with a few missing cells inside
cp ask.csv table.csv
awk 'BEGIN { seed = 9; print "y,a_0,a_1,a_2,a_3,a_4,a_5,b_0,b_1,b_2,b_3,b_4,b_5"
    for (i = 0; i < 260; i++) { seed = (seed * 16807) % 2147483647; n = i % 7; line = int(seed / 1000) % 3 ? "no" : "yes"
        for (c = 0; c < 2; c++) for (t = 0; t < 6; t++) { seed = (seed * 16807) % 2147483647; line = line "," (t < n &&
        seed % 11 ? seed / 1e9 - c : "") }
        print line } }' >series.csv
(head -n 1 series.csv; tail -n 60 series.csv) >ask.csv
block='{"preset": "transformer", "blocks": 1, "dim": 8, "heads": 2, "feed_forward": 8'
for model in '{"preset": "lstm", "hidden": [5, 4], "norm": "layer"}' "$block, \"position\": \"learned\"}" \
    '{"preset": "rocket", "features": 84}' \
    '{"layers": [{"type": "conv1d", "units": 4, "stride": 2}, {"type": "residual", "layers": [{"type": "conv1d", "units": 3, "kernel": 2,
    "dilation": 2, "causal": true}]}, {"type": "pool"}]}'  "$block, \"pool\": \"attention\", \"causal\": true}" \
    "$block, \"position\": \"sinusoidal\", \"pool\": \"cls\"}" '{"preset": "gru", "hidden": [5], "pool": "last"}' \
    '{"layers": [{"type": "dense", "units": 4}, {"type": "layer_norm"}, {"type": "gru", "units": 3}, {"type": "residual",
    "layers": [{"type": "lstm", "units": 3}]}, {"type": "pool", "kind": "max"}]}'; do
    config c.json binary y "$model" " "
    sed -i 's/"train": "train.csv"/"train": "series.csv", "sequence": {"wide": {"a": "a_*", "b": "b_*"}}/' c.json
    compare "sequences, $model" c.json
done
# windows of long sequences: groups of 1 to 11 rows, so that some windows are short, and rows are in two windows
awk 'BEGIN { seed = 5; print "s,t,n,few,y,v"
    for (g = 0; g < 90; g++) for (t = 0; t < 1 + g % 11; t++) { seed = (seed * 16807) % 2147483647; n = seed % 9
        print "s" g "," t "," (n ? seed / 1e9 : "") ",w" n % 4 "," (n > 4 ? "a" : t % 2 ? "b" : "c") "," n + t } }' >long.csv
(head -n 1 long.csv; tail -n 190 long.csv) >ask.csv
windows() { # NAME TASK TARGET LABEL MODEL [MORE of the sequence]
    config c.json "$2" "$3" "$5" '"n": "numeric", "few": "categorical"'
    local steps='"group": "s", "order": "t", "window": 4, '"${6:-"\"stride\": 3"}"', "label": "'"$4"'"'
    sed -i 's/"train": "train.csv"/"train": "long.csv", "sequence": {'"$steps"'}/' c.json
    compare "$1" c.json
}
windows "tagging: a row of two windows" tagging y row '{"preset": "gru", "hidden": [5]}'
for preset in lstm gru; do
    windows "$preset, state carried" tagging y row "{\"preset\": \"$preset\", \"hidden\": [5], \"bidirectional\": false}" \
        '"carry_state": true'
done
windows "a value for each row" regression v row '{"preset": "tcn", "channels": 4}'
windows "a label for each window" multiclass y last "$block}"
windows "a value for each group" regression v group '{"preset": "lstm", "hidden": [4]}'
mv table.csv ask.csv
# two models of the same columns as the members of one, weighted 3 to 1
cat >join.py <<'PY'
import hashlib, json, struct, sys
sys.path.insert(0, sys.argv[1])
from read_model import read_file
import numpy as np
(meta, first), (_, second) = read_file(sys.argv[2]), read_file(sys.argv[3])
tensors = {k: v for k, v in first.items() if not k.startswith("golden.")}
tensors.update({"members.1." + k[10:]: v for k, v in second.items() if k.startswith("members.0.")})
tensors["ensemble.weights"] = np.array([0.75, 0.25])
names, data = {"f8": "F64", "f4": "F32", "i8": "I64", "i4": "I32", "u1": "U8"}, b""
header = {"__metadata__": {"sha256": "0" * 64, **{k: v for k, v in meta.items() if k != "sha256"}}}
for name in sorted(tensors, key=lambda n: (-tensors[n].dtype.itemsize, n)):
    t = tensors[name]
    header[name] = {"dtype": names[t.dtype.str[1:]], "shape": list(t.shape), "data_offsets": [len(data), len(data) + t.nbytes]}
    data += t.tobytes()
text = json.dumps(header, separators=(",", ":")).encode()
text += b" " * (-(8 + len(text)) % 64)
whole = struct.pack("<Q", len(text)) + text + data
open(sys.argv[4], "wb").write(whole[:35] + hashlib.sha256(whole).hexdigest().encode() + whole[99:])
PY
for task in "binary two" "multiclass three" "regression value"; do
    name="two members, $task"
    for hidden in 12 "8, 6"; do
        rm -f "m${#hidden}.dnn"
        config c.json $task "{\"preset\": \"mlp\", \"hidden\": [$hidden]}"
        run dnn train c.json -o "m${#hidden}.dnn" --progress none
        is_exit 0 "$name: trained"
    done
    run "$python" join.py "$ROOT/scripts" m2.dnn m4.dnn m.dnn
    is_exit 0 "$name: joined"
    run dnn predict m.dnn ask.csv --quiet -o want.csv
    is_exit 0 "$name: answered"
    "$python" "$ROOT/scripts/read_model.py" m.dnn ask.csv >got.csv 2>py.err
    near want.csv got.csv >far
    ok $? "$name: the same answers of read_model.py" "$(cat far py.err; head -n 3 want.csv got.csv)"
done
for task in "binary two" "multiclass three" "regression value"; do # an encoder for each fold
    config c.json $task '{"preset": "mlp", "hidden": [8]}'
    sed -i \
        '1s/{/{"ensemble": {"folds": 3, "members": [{"name": "A"}, {"name": "B", "model": {"hidden": [6, 4]}, "encoders": {"numeric": {"encode": ["plain", "ple"], "bins": 5}}}], "select": "mean"}, /' \
        c.json
    compare "six runs, six encoders, $task" c.json
done
for format in 2 3 3-terms 3-tokens; do
    golden=$ROOT/tests/golden/models/format-$format
    run "$python" "$ROOT/scripts/read_model.py" "$golden.dnn" "$golden.csv"
    is_exit 0 "the golden model of format $format"
    cut -d, -f2- "$golden.answers.csv" >want.csv
    near want.csv out >far
    ok $? "its answers" "$(cat far)"
done
if "$python" -c 'import safetensors' 2>/dev/null; then
    run "$python" -c 'import safetensors; f = safetensors.safe_open("m.dnn", "np"); print(len([f.get_tensor(k) for k in f.keys()]))'
    is_exit 0 "any safetensors reader reads it: $(cat out) tensors"
else
    skip "any safetensors reader reads it" "no safetensors"
fi
for preset in mlp tabm; do
    config c.json regression value "{\"preset\": \"$preset\"}" '"n": "numeric", "tied": "numeric", "few": "categorical"'
    perl -pi -e 's/"epochs"/"loss": {"type": "quantile", "q": [0.05, 0.5, 0.95]}, "epochs"/;
        s/"backend"/"target_transform": "log", "backend"/ if "'$preset'" eq "mlp"' c.json
    compare "several quantiles, $preset" c.json
done
config c.json regression value '{"preset": "mlp", "hidden": [8]}'
perl -pi -e 's/"epochs"/"loss": {"type": "quantile", "q": [0.1, 0.9]}, "epochs"/; s/"backend"/"ensemble": {"folds": 2}, "backend"/' c.json
compare "several quantiles, an ensemble" c.json
done_testing
