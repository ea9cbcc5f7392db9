# forms.sh - for tests of how cells are written: what init writes, and whether two configs read the same values.
written() { # written CONFIG PART...: lines of the config are joined, and a no-break blank is \u00a0
    local config=$1 part
    shift
    for part in "$@"; do
        perl -0777 -pe 's/\s*\n\s*/ /g; s/\{ /{/g; s/ \}/}/g; s/\xc2\xa0/\\u00a0/g' "$config" | grep -qF -- "$part"
        ok $? "init writes $part" "$(grep -A20 columns "$config")"
    done
}
alike() { # alike ONE OTHER WHAT: models of both configs, each trained on its own file, answer alike
    local f
    for f in "$1" "$2"; do
        run dnn train "$f.json" -o "$f.dnn" --progress none --quiet --set train.epochs=2 --set backend.name=dnn_cpu --force
        is_exit 0 "train $f"
        dnn predict "$f.dnn" "$f.csv" --quiet >"$f.out"
    done
    same "$1.out" "$2.out" "$3"
}
