#!/bin/bash
# quality.sh - preset mlp on real data, three seeds each, beside scikit-learn's default MLP on the same split (PEER below: the
# better of two protocols). The goal: at most 0.002 worse (auc, accuracy) or 1 % (rmse).
#   scripts/quality.sh [--data DIR] [--preset NAME] [--seeds N] [--set K=V]... [SET...]
# DIR holds the data sets (default ../shared/data); a set that is missing is skipped, with a line. In a set of one file, row i
# (from 0) is test if i mod 5 = 0 and validation if i mod 5 = 1.
set -euo pipefail
cd "$(dirname "$0")/.."
data=../shared/data
preset=mlp
seeds=3
extra=()
sets=""
while [ $# -gt 0 ]; do
    case $1 in
    --data) data=$2; shift ;;
    --preset) preset=$2; shift ;;
    --seeds) seeds=$2; shift ;;
    --set) extra+=(--set "$2"); shift ;;
    -*) echo "quality.sh: unknown option $1" >&2; exit 64 ;;
    *) sets="$sets $1" ;;
    esac
    shift
done
[ -n "$sets" ] || sets="bank telco california otto adult credit-g wine diamonds covtype higgs mnist"
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE 2>/dev/null || true
dnn=${DNN:-$PWD/build/dnn}
data=$(cd "$data" 2>/dev/null && pwd) || { echo "quality.sh: no data folder; --data DIR" >&2; exit 66; }
mkdir -p build/quality
cd build/quality

split() { # FILE NAME: NAME-train.csv, NAME-valid.csv, NAME-test.csv by row number
    perl -e 'my ($file, $name) = @ARGV; open my $in, "<", $file or die; my $header = <$in>; my %out;
        for (qw(train valid test)) { open $out{$_}, ">", "$name-$_.csv" or die; print {$out{$_}} $header }
        my $i = 0; while (<$in>) { print {$out{$i % 5 == 0 ? "test" : $i % 5 == 1 ? "valid" : "train"}} $_; $i++ }' "$1" "$2"
}
prepare() { # NAME: files, TARGET, METRIC, PEER, INIT options
    INIT=()
    case $1 in
    bank) need=$data/bank-marketing/bank-full.csv TARGET=y METRIC=auc PEER=0.7870 INIT=(--ignore duration) ;;
    adult) need=$data/adult/adult_train.csv TARGET=income METRIC=auc PEER=0.9107 ;;
    telco) need=$data/telco-churn/Telco-Customer-Churn.csv TARGET=Churn METRIC=auc PEER=0.8331 ;;
    credit-g) need=$data/credit-g/GermanCredit_named.csv TARGET=$(head -n 1 "$data/credit-g/GermanCredit_named.csv" 2>/dev/null | tr -d '"\r' | tr ',;' '\n\n' | tail -n 1) METRIC=auc PEER=0.7161 ;;
    higgs) need=$data/rtdl-splits/higgs-small/val.csv TARGET=y METRIC=auc PEER=0.7330 ;;
    california) need=$data/rtdl-splits/california/train.csv TARGET=y METRIC=rmse PEER=0.5382 ;;
    diamonds) need=$data/diamonds/diamonds.csv TARGET=price METRIC=rmse PEER=587 ;;
    wine) need=$data/wine-quality/winequality.csv TARGET=quality METRIC=rmse PEER=0.6405 INIT=(--set task=regression) ;;
    otto) need=$data/otto/train.csv TARGET=target METRIC=accuracy PEER=0.7926 ;;
    covtype) need=$data/covertype/kaggle_train_15120.csv TARGET=Cover_Type METRIC=accuracy PEER=0.8247 ;;
    mnist) need=$data/mnist-10k/mnist_t10k.csv TARGET=$(head -n 1 "$data/mnist-10k/mnist_t10k.csv" 2>/dev/null | tr -d '"\r' | cut -d, -f1) METRIC=accuracy PEER=0.9405 ;;
    *) echo "quality.sh: no set $1" >&2; exit 64 ;;
    esac
    [ -s "$need" ] || return 1
    [ -s "$1-test.csv" ] && return 0
    case $1 in
    california) cp "$data/rtdl-splits/california/train.csv" california-train.csv
        cp "$data/rtdl-splits/california/val.csv" california-valid.csv; cp "$data/rtdl-splits/california/test.csv" california-test.csv ;;
    higgs) split "$need" higgs; cat higgs-test.csv >higgs-more.csv; tail -n +2 higgs-more.csv >>higgs-train.csv; rm higgs-more.csv
        cp "$data/rtdl-splits/higgs-small/test.csv" higgs-test.csv ;;
    adult) perl -e 'open my $in, "<", $ARGV[0] or die; my $h = <$in>; open my $t, ">", "adult-train.csv"; open my $v, ">", "adult-valid.csv"; print $t $h; print $v $h;
            my $i = 0; while (<$in>) { print {$i % 5 == 0 ? $v : $t} $_; $i++ }' "$need"; cp "$data/adult/adult_test.csv" adult-test.csv ;;
    *) split "$need" "$1" ;;
    esac
}

printf '%-12s %-9s %8s  %-30s %10s %9s %8s\n' set metric mean seeds scikit-mlp better_by seconds
for name in $sets; do
    if ! prepare "$name"; then printf '%-12s skipped: %s is not there\n' "$name" "$need"; continue; fi
    "$dnn" init "$name-train.csv" --target "$TARGET" "${INIT[@]}" -q --force -o "$name.json" \
        --set data.valid="$name-valid.csv" --set data.test="$name-test.csv" --set model='{"preset":"'"$preset"'"}'
    values=""
    start=$(date +%s.%N)
    for seed in $(seq "$seeds"); do
        "$dnn" train "$name.json" -o "$name.dnn" -q --json --set train.seed="$seed" "${extra[@]}" >"$name.result"
        values="$values $(perl -0777 -MJSON::PP -e 'printf "%.6f", decode_json(<STDIN>)->{test}{$ARGV[0]}' "$METRIC" <"$name.result")"
    done
    perl -e 'my ($name, $metric, $peer, $seconds, @v) = @ARGV; my $mean = 0; $mean += $_ / @v for @v; my $by = $metric eq "rmse" ? ($peer - $mean) / $peer : $mean - $peer;
        printf "%-12s %-9s %8.5g  %-30s %10.5g %+9.4f %8.1f%s\n", $name, $metric, $mean, join(" ", map { sprintf "%.5g", $_ } @v), $peer, $by, $seconds / @v,
            $by < ($metric eq "rmse" ? -0.01 : -0.002) ? "  SHORT" : ""' "$name" "$METRIC" "$PEER" "$(perl -e "print $(date +%s.%N)-$start")" $values
done
