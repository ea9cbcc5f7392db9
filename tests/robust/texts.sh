#!/bin/bash
# texts.sh - columns of type text through the whole program: init finds them; train, predict, verify; threads, batches and resume;
# an ensemble; cells without a term; keys that cannot be.
. "$(dirname "$0")/../tap.sh"
# The label follows from a word anywhere in the text; the other words tell nothing.
make_rows() { # FILE ROWS SEED
    awk -v rows="$2" -v seed="$3" '
        function next_of(n) { seed = (seed * 16807) % 2147483647; return int(seed / 2147483647 * n) }
        BEGIN {
            split("the a of and to in is it you that he was for on are with as his they at", word, " ")
            print "id,note,n,y"
            for (i = 1; i <= rows; i++) {
                bad = next_of(2); text = ""
                for (k = next_of(9) + 3; k > 0; k--)
                    text = text " " word[1 + next_of(20)]
                hint = bad ? "broken" : "Fine"
                if (next_of(10)) text = next_of(2) ? hint ",  " text : text "; " toupper(hint) "!"
                printf "%d,\"%s\",%d,%s\n", i, next_of(40) ? text : "", next_of(100), bad ? "bad" : "good"
            }
        }' >"$1"
}
make_rows train.csv 1200 5
make_rows ask.csv 300 17
run dnn init train.csv --target y --set data.positive=bad --set 'model={"preset": "mlp", "hidden": [16]}' --set train.epochs=12 \
    --set train.batch_size=64 --set train.optimizer.learning_rate=0.01 -o c.json
is_exit 0 "init"
err_has 'hashed n-grams of it are read; "encode": "tokens" learns its words in order' "init names both ways to read a text"
ok "$(grep -q '"note": "text"' c.json && grep -q 'column "note": text: free text' err; echo $?)" "finds the text" "$(cat c.json err)"
sed -i 's/"output"/"backend": {"name": "dnn_cpu"}, "output"/' c.json
run dnn train c.json -o m.dnn --json --quiet
is_exit 0 "train"
ok "$(perl -0ne 'exit !(/"valid":\{"auc":([0-9.]+)/ && $1 > 0.9)' out; echo $?)" "the word is learned" "$(head -c 600 out)"
run dnn verify m.dnn
is_exit 0 "verify"
for threads in 1 3; do
    dnn train c.json -o t$threads.dnn --threads $threads --quiet
done
ok "$(cmp -s m.dnn t1.dnn && cmp -s t1.dnn t3.dnn; echo $?)" "1, 2 and 3 threads: the same model"
dnn predict m.dnn ask.csv --quiet -o all.csv
dnn predict m.dnn ask.csv --quiet --batch-size 7 --threads 3 -o parts.csv
ok "$(cmp -s all.csv parts.csv; echo $?)" "an answer does not depend on its batch"
(head -n 1 ask.csv; sed -n 31p ask.csv) | dnn predict m.dnn - --quiet | tail -n 1 >one
ok "$(sed -n 31p all.csv | cmp -s - one; echo $?)" "an answer does not depend on other rows"
printf 'id,note,n\n1,,5\n2,?!,5\n3,BROKEN,5\n4,broken,5\n5,"%s",5\n' "$(seq 3000 | tr '\n' ' ')" >odd.csv
run dnn predict m.dnn odd.csv --quiet
is_exit 0 "cells without a term, in capitals, with 3,000 words"
ok "$([ "$(sed -n 2p out | cut -d, -f2-)" = "$(sed -n 3p out | cut -d, -f2-)" ]; echo $?)" "no term is no term" "$(cat out)"
ok "$([ "$(sed -n 4p out | cut -d, -f2-)" = "$(sed -n 5p out | cut -d, -f2-)" ]; echo $?)" "case does not matter" "$(cat out)"
DNN_FAULT=kill:rename:3 "$HOOKED" train c.json -o r.dnn --quiet --set train.checkpoint.every_s=0 >/dev/null 2>&1 &
wait $! 2>/dev/null
dnn train c.json -o r.dnn --resume --quiet --set train.checkpoint.every_s=0
dnn train c.json -o s.dnn --quiet --set train.checkpoint.every_s=0
ok "$(cmp -s s.dnn r.dnn; echo $?)" "killed and resumed: the same model"
run dnn train c.json -o e.dnn --quiet --set 'ensemble={"folds": 2, "select": "mean"}' --set train.epochs=3 \
    --set encoders.target_statistics.pairs=2
is_exit 0 "an ensemble with target statistics"
run dnn predict e.dnn ask.csv --quiet --uncertainty
is_exit 0 "its answers"
run dnn evaluate m.dnn ask.csv --require 'auc>=0.9'
is_exit 0 "evaluate"
run dnn inspect m.dnn --json
ok "$(grep -q '"buckets":2000,"ngram":\[1,2\],"char_ngram":null,"weight":"tfidf"' out; echo $?)" "inspect tells the options" "$(cat out)"
# words are those of Unicode: the same answer for a text in capitals, with its accents apart, or with other quotes and blanks
awk 'BEGIN { split("кофе чай сахар молоко вода лимон", w, " "); print "отзыв,y"
    for (i = 1; i <= 300; i++) printf "\"«%s»%s %s — %s номер %d\",%s\n", w[1 + i % 5], i % 2 ? " été" : "", w[1 + i % 4], w[1 + i % 3], i,
    i % 2 ? "да" : "нет" }' >script.csv
run dnn init script.csv --target y --set 'model={"preset": "linear"}' --set train.epochs=10 -o script.json
err_has 'column "отзыв": text' "a text in Cyrillic letters"
run dnn train script.json -o script.dnn --quiet
is_exit 0 "learns of it"
printf \
    'отзыв\n"«кофе» été — чай"\n"КОФЕ\xc2\xa0ÉTÉ, ЧАЙ"\n"кофе e\xcc\x81te\xcc\x81 “чай”"\n"\xef\xbb\xbfко\xc2\xadфе été: чай"\nвода\n' \
    >ask.txt
dnn predict script.dnn ask.txt --quiet -o - >out
is "$(sed -n 2,5p out | sort -u | wc -l)" 1 "case, accents, quotes, dashes, blanks and marks without a width do not matter"
is "$(sort -u out | wc -l)" 3 "words do"
run dnn explain script.dnn script.csv --effects
ok "$(grep -q 'été' out && ! grep -q '«' out; echo $?)" "explain tells the same words" "$(head -n 20 out)"
# scripts without blanks
printf '评论,y\n' >han.csv
awk 'BEGIN { split("这个 东西 我 昨天 买 的 手机 电影 服务 今天", w, " "); for (i = 1; i <= 400; i++) { t = "";
    for (k = 0; k < 9; k++) t = t w[1 + (i * 7 + k * i) % 10]
    print t (i % 2 ? "很好" : "太差") i % 97 "，" t "," i % 2 } }' >>han.csv
run dnn init han.csv --target y --set 'model={"preset": "linear"}' --set train.epochs=30 -o han.json
err_has "free text in a script without blanks between words" "init sees a text without blanks"
run dnn train han.json -o han.dnn --quiet --json
ok "$(perl -0ne 'exit !(/"valid":\{"auc":([0-9.]+)/ && $1 > 0.95)' out; echo $?)" "a pair of characters is learned" "$(head -c 600 out)"
refuse() { # NAME ENTRY PATTERN [EXIT]
    run dnn check c.json --set "data.columns.note=$2"
    is_exit "${4:-64}" "$1"
    ok "$(grep -q "$3" err; echo $?)" "$1: says so" "$(cat err)"
}
refuse "three numbers for ngram" '{"type": "text", "ngram": [1, 2, 3]}' 'ngram` is not the shortest and the longest run'
refuse "runs in the wrong order" '{"type": "text", "char_ngram": [5, 3]}' 'char_ngram` is not the shortest'
refuse "no terms at all" '{"type": "text", "ngram": null}' 'are both null' 78
refuse "too many buckets" '{"type": "text", "buckets": 2000000}' 'out of range'
refuse "a key of numbers" '{"type": "text", "scale": "none"}' 'scale'
perl -0pe 's/,\s*"optimizer": *\{[^}]*\}//' c.json >d.json
small='{"preset": "tabm", "k": 4, "hidden": [32, 32]}'
for preset in linear realmlp tabm; do
    [ $preset = tabm ] && model=$small || model="{\"preset\": \"$preset\"}"
    run dnn train d.json -o p.dnn --force --json --quiet --set "model=$model" --set 'data.columns.note={"type": "text", "buckets": 400}' \
        --set train.epochs=10 --set train.batch_size=64
    is_exit 0 "preset $preset"
    ok "$(perl -0ne 'exit !(/"valid":\{"auc":([0-9.]+)/ && $1 > 0.85)' out; echo $?)" "preset $preset learns the word" "$(head -c 600 out)"
done
run dnn train c.json -o x.dnn --set 'model={"preset": "linear", "solver": "path"}'
is_exit 78 "a path with a text"
ok "$(grep -q 'takes no texts' err; echo $?)" "says so" "$(cat err)"
awk 'NR == 1 { print; next } { print NR ",," NR ",good" NR % 2 }' train.csv >empty.csv
run dnn train c.json -o x.dnn --set data.train=empty.csv --set data.positive=good1
is_exit 65 "a column of texts without any"
ok "$(grep -q 'column "note" has no value' err; echo $?)" "says so" "$(cat err)"
done_testing
