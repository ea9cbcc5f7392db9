#!/bin/bash
# models.sh - a model of a released format that this build reads gives the answers of its day, within the bound for another build (id M11).
# In models/: NAME.dnn, its input NAME.csv and its answers NAME.answers.csv, computed by the plain C code (DNN_CPU=c), which is the same
# everywhere.
#
#     models.sh --make NAME      trains one; once a format, and never again after its release
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
models=$ROOT/tests/golden/models
export DNN_CPU=c
DNN=$HOOKED
if [ "${1:-}" = --make ]; then
    make_leads leads.csv 200
    make_leads "$models/$2.csv" 25 9 bare
    make_leads_config leads.json leads.csv '"split": {"method": "hash"}' '"epochs": 6' \
        '"model": {"layers": [{"type": "dense", "units": 6}, {"type": "batch_norm"}, {"type": "gelu"}, {"type": "residual", "layers": [
         {"type": "layer_norm"}, {"type": "dense", "units": 6}, {"type": "tanh"}]}, {"type": "dropout", "p": 0.1}]}'
    # embeddings between one-hot columns
    sed -i -e '/"preset": "mlp"/d' -e 's/"age": "numeric"/"age": {"type": "categorical", "encode": "onehot"}/' \
        -e 's/"city": "categorical"/"city": {"type": "categorical", "encode": "embedding"}/' \
        -e 's/"visits": "numeric"/"visits": {"type": "numeric", "scale": "quantile"}/' leads.json
    "$DNN" train leads.json -o "$models/$2.dnn" --progress none &&
        "$DNN" predict "$models/$2.dnn" "$models/$2.csv" -o "$models/$2.answers.csv"
    exit
fi
# The same words, and numbers that differ by at most 1e-5.
near() {
    paste -d '\n' "$1" "$2" | perl -ne 'push @l, [split /,|\n/]; next if @l < 2; my ($a, $b) = splice @l;
        $bad ||= @$a != @$b; for my $i (0 .. $#$a) { $bad ||= $a->[$i] ne $b->[$i] && !("$a->[$i]$b->[$i]" =~ /^[-.0-9e]+$/ &&
        abs($a->[$i] - $b->[$i]) <= 1e-5) }
        END { exit !!$bad }'
}
count=0
for model in "$models"/*.dnn; do
    [ -e "$model" ] || continue
    name=$(basename "$model" .dnn)
    count=$((count + 1))
    run dnn predict "$model" "$models/$name.csv" -o "$name.out"
    is_exit 0 "M11 $name is read"
    near "$models/$name.answers.csv" "$name.out"
    ok $? "M11 $name: the answers of its day, within the bound for another build" "$(diff "$models/$name.answers.csv" "$name.out")"
    run dnn verify "$model"
    is_exit 0 "M11 $name: its golden rows, in plain C code"
    run env -u DNN_CPU "$DNN" verify "$model"
    is_exit 0 "M11 $name: and in the fastest code of this machine"
    run dnn inspect "$model"
    is_exit 0 "M11 $name is described"
done
[ $count -gt 0 ]
ok $? "M11 $count models"
done_testing
