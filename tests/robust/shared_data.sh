#!/bin/bash
# shared_data.sh - real files of many kinds pass through init, train and predict, given only the name of the target. They are
# not part of the project: DNN_SHARED_DATA names their folder, else ../shared/data; without it, one skip.
. "$(dirname "$0")/../tap.sh"
SHARED=${DNN_SHARED_DATA:-$ROOT/../shared/data}
if [ ! -d "$SHARED" ]; then
    skip "real files through init, train and predict" "no folder DNN_SHARED_DATA"
    done_testing
fi
# FILE TARGET TASK [ROWS-OF-THE-FILE-TO-PREDICT]
while read -r file target task; do
    [ -e "$SHARED/$file" ] || { skip "$file" "not there"; continue; }
    name=${file//\//-}
    run dnn init "$SHARED/$file" --target "$target" -o "$name.json"
    is_exit 0 "init $file --target $target"
    grep -q "\"task\": \"$task\"" "$name.json"
    ok $? "  is $task" "$(head -n 3 "$name.json")"
    is "$(grep -c '"group":' "$name.json")" "$([ "$file" = "${file/_long/}" ]; echo $?)" "  its rows are steps if the file is long"
    preset=mlp
    ! grep -q '"sequence":' "$name.json" || preset=gru
    run dnn train "$name.json" -o "$name.dnn" --set model.preset=$preset --set train.epochs=2 --set train.batch_size=1024 \
        --time-limit 1 --progress none
    is_exit 0 "  trains"
    head -c 2000000 "$SHARED/$file" | sed '$d' >some.csv
    run dnn predict "$name.dnn" some.csv -o answers.csv --json
    is_exit 0 "  predicts"
    records=$(dnn inspect some.csv --json 2>/dev/null | grep -o '"rows":[0-9]*')
    is "$(grep -o '"rows":[0-9]*' out)" "$records" "  every row of it"
    grep -qiE ',-?(nan|inf)[a-z]*(,|$)' answers.csv
    [ $? -ne 0 ]
    ok $? "$file: every answer is a number"
    rm -f "$name.dnn"
done <<'FILES'
adult/adult_train.csv income binary
adult/adult_test.csv income binary
bank-marketing/bank-full.csv y binary
bank-marketing/bank.csv y binary
california-housing/housing.csv median_house_value regression
covertype/covtype.20k.csv c55 multiclass
covertype/kaggle_train_15120.csv Cover_Type multiclass
credit-g/GermanCredit_named.csv credit_risk binary
credit-g/german.csv c21 binary
diamonds/diamonds.csv price regression
mnist-10k/mnist_t10k.csv label multiclass
otto/train.csv target multiclass
rtdl-splits/california/train.csv y regression
rtdl-splits/california/val.csv y regression
rtdl-splits/california/test.csv y regression
rtdl-splits/higgs-small/val.csv y binary
rtdl-splits/higgs-small/test.csv y binary
telco-churn/Telco-Customer-Churn.csv Churn binary
text-trec/train.csv coarse multiclass
text-trec/test.csv coarse multiclass
titanic/titanic.csv Survived binary
ts-ucr/Crop/train.csv label multiclass
ts-ucr/Crop/test.csv label multiclass
ts-ucr/ECG5000/train.csv label multiclass
ts-ucr/ECG5000/test.csv label multiclass
ts-ucr/ItalyPowerDemand/train.csv label binary
ts-ucr/ItalyPowerDemand/test.csv label binary
ts-ucr/SyntheticControl/train.csv label multiclass
ts-ucr/SyntheticControl/test.csv label multiclass
ts-uea/JapaneseVowels/train.csv label multiclass
ts-uea/JapaneseVowels/test.csv label multiclass
ts-uea/JapaneseVowels/train_long.csv label multiclass
ts-uea/JapaneseVowels/test_long.csv label multiclass
ts-uea/NATOPS/train.csv label multiclass
ts-uea/NATOPS/test.csv label multiclass
wine-quality/winequality.csv quality multiclass
FILES
done_testing
