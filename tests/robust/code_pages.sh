#!/usr/bin/env bash
# Files in encodings that are not read: init, check, train and predict warn, and the command that
# the warning prints makes a file that is read.
. "$(dirname "$0")/../tap.sh"
cd "$WORK"

# table WORDS..: a table with these words as cells, in UTF-8
table() {
    printf 'city,age,y\n'
    for i in {1..60}; do
        set -- "${@:2}" "$1"
        echo "$1,$((20 + i * 7 % 50)),$([ $((i * 7 % 50)) -gt 25 ] && echo yes || echo no)"
    done
}

# pasted LINE: runs the command behind the last ": " of a warning, up to " (or"
pasted() {
    local command="iconv${1##*iconv}"
    bash -c "${command%% (or*}"
}

# is_told PAGE WORDS..: init names the page, and its command gives back the words
is_told() {
    local page="$1" line
    shift
    table "$@" >right.csv
    iconv -f UTF-8 -t "$page" right.csv >"a b.csv"
    rm -f "a b.utf8.csv"
    run dnn init "a b.csv" --target y -o c.json --force
    is_exit 0 "$page: init"
    line=$(grep -a 'warning: the letters beyond ASCII look like' err)
    case $line in *"iconv -f $page "*) ok 0 "$page is named" ;; *) ok 1 "$page is named" "$line" ;; esac
    pasted "$line"
    cmp -s right.csv "a b.utf8.csv"
    ok $? "$page: the command runs as printed" "$line"
}

# is_read WORDS..: text in cp1252, about which init does not warn
is_read() {
    table "$@" | iconv -f UTF-8 -t CP1252 >x.csv
    run dnn init x.csv --target y -o c.json --force
    is_exit 0 "$1: init"
    err_lacks "look like" "$1 and others are cp1252"
}

is_told CP1251 Москва Казань Самара Пермь мужской женский
is_told KOI8-R Москва Казань Самара Пермь мужской женский
is_told CP866 Москва Казань Самара Пермь мужской женский
is_told CP1250 Kraków Łódź Wrocław Gdańsk Śląsk Ząbki
is_told ISO-8859-2 Kraków Łódź Wrocław Gdańsk Śląsk Ząbki
is_told CP1253 Αθήνα Θεσσαλονίκη Πάτρα ναι
is_told CP1254 İstanbul Şanlıurfa Iğdır Çorum Kütahya
is_told CP1257 Šiauliai Klaipėda Panevėžys Šilutė Mažeikiai
is_told CP850 Zürich Genève Äpfel Besançon
is_told CP932 東京都 大阪府 はい いいえ 男 女
is_told EUC-JP さいたま カタカナ 東京 はい いいえ
is_told GB18030 北京市 上海市 深圳 男 女 是 否
is_told BIG5 台北市 高雄市 男 女 是 否
is_told EUC-KR 남자 여자 서울특별시 부산 예 아니오
is_read München Köln Gießen Österreich
is_read Orléans Nîmes Saint-Étienne août Besançon
is_read "São Paulo" Brasília informações Goiânia
is_read Forlì città perché Cefalù
is_read København Århus Næstved Ærø
is_read Ísafjörður Höfn Þórshöfn Húsavík
is_read "20 €" "5 µm" "don’t" "1½" "3 m²"

table Москва Казань Самара Пермь >utf8.csv
iconv -f UTF-8 -t CP1251 utf8.csv >cp1251.csv
table Köln Zürich | iconv -f UTF-8 -t CP1252 >cp1252.csv
dnn init cp1252.csv --target y --set model.preset=mlp --set train.epochs=2 -o c.json --force 2>/dev/null
run dnn train c.json -o m.dnn --force
is_exit 0
err_lacks "look like" "train says nothing of cp1252"
run dnn predict m.dnn cp1251.csv -o p.csv
is_exit 0 "predict"
err_has "warning: the letters beyond ASCII look like CP1251" "predict warns"
run bash -c "'$DNN' predict m.dnn - -o p.csv <cp1251.csv"
err_has "| iconv -f CP1251 -t UTF-8" "predict says what to put in front of a pipe"
sed -i 's/cp1252.csv/cp1251.csv/' c.json
run dnn check c.json
err_has "iconv -f CP1251 -t UTF-8 cp1251.csv > cp1251.utf8.csv" "check warns"
run dnn train c.json -o n.dnn --force
err_has "look like CP1251" "train warns"
gzip -k cp1251.csv
run dnn init cp1251.csv.gz --target y -o d.json --force
err_has "zcat cp1251.csv.gz | iconv -f CP1251 -t UTF-8 > cp1251.utf8.csv" "a packed file"
sed -i '/"encoding"/d' c.json
run dnn check c.json
is_exit 65 "as UTF-8 it is refused"
err_has "help: its letters look like CP1251; iconv -f CP1251 -t UTF-8 cp1251.csv > cp1251.utf8.csv" \
    "with the command"

for code in UTF-16LE UTF-16BE UTF-32LE UTF-32BE; do
    iconv -f UTF-8 -t $code utf8.csv >w.csv
    run dnn init w.csv --target y -o d.json --force
    is_exit 65 "$code"
    bash -c "$(sed -n 's/.*help: //p' err)"
    cmp -s utf8.csv w.utf8.csv
    ok $? "$code: the command runs as printed" "$(cat err)"
done
done_testing
