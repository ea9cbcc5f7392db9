# training.sh - data and configs for test scripts that train: . "$ROOT/tests/training.sh" after tap.sh.
# shellcheck shell=bash

# make_data FILE ROWS [KIND]: columns a, b, c, y; y follows the sign of a * b (binary, the default), three words (multi) or a
# plane (value). A pure function of its arguments.
make_data() {
    awk -v rows="$2" -v kind="${3:-binary}" 'BEGIN {
        srand(7); split("red one blu", word, " "); print "a,b,c,y"
        for (i = 0; i < rows; i++) {
            a = 2 * rand() - 1; b = 2 * rand() - 1; w = word[1 + i % 3]
            y = kind == "value" ? 100 + 30 * a - 20 * b + (i % 3 == 0) * 10 : kind == "multi" ? w (a > 0) : a * b > 0
            printf "%.6f,%.6f,%s,%s\n", a, b, (i % 11 == 0 ? "" : w), y
        }
    }' >"$1"
}
# make_config FILE DATA TASK TRAIN [MORE]: TRAIN are members of "train", MORE members of the whole, both without a comma in front.
make_config() {
    cat >"$1" <<JSON
{"task": "$3", "data": {"train": "$2", "target": "y", "missing": ["", "NA"],
  "columns": {"a": "numeric", "b": "numeric", "c": "categorical"}},
 "model": {"preset": "mlp", "hidden": [16, 8]}, "train": {"batch_size": 64, ${4:-"\"epochs\": 3"}}${5:+, $5}}
JSON
}
digest() { sha256sum -- "$1" | cut -c1-64; }
# no_leftovers MODEL NAME: neither lock nor checkpoint nor temporary file
no_leftovers() {
    local left
    left=$(find . -maxdepth 1 \( -name "*$1.lock" -o -name "*$1.ckpt-*" -o -name ".*$1*dnn-tmp-*" \) | sort)
    [ -z "$left" ]
    ok $? "$2" "$left"
}
# milliseconds since some moment
now_ms() { local t=${EPOCHREALTIME/./}; echo $((t / 1000)); }
nap() { sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"; }
