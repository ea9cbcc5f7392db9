#!/bin/bash
# files.sh - files as spreadsheets, databases and lead systems write them: each goes from init through train to predict with no hand
# edit but the name of the target. --table prints what is odd in each and how init reads the odd column.
. "$(dirname "$0")/../tap.sh"
TABLE=${1:-}
# file NAME ODD PERL [WANT]: 60 rows of x, an odd cell o made by the expression PERL of $i, z and the target y, with commas; WANT is
# what init must write
file() {
    perl -CS -Mutf8 -we 'my ($cell) = @ARGV; use utf8; utf8::decode($cell); print "x,o,z,y\n"; for my $i (0 .. 59) { my $o = eval $cell;
        die $@ if $@;
        printf "%d,%s,%s,%s\n", $i * 7 % 23, $o, ("red", "green", "blue")[$i % 3], $i * 7 % 23 > 11 ? "yes" : "no" }' "$3" >"$1"
    goes "$1" "$2" "${4:-}"
}
# goes FILE ODD [WANT] [TARGET] [NEW] [ROWS]: from init to predict
goes() {
    local name=$1 odd=$2 want=${3:-} target=${4:-y} new=${5:-$1} rows=${6:-60} seen
    rm -f c.json m.dnn out.csv
    run dnn init "$name" --target "$target" -o c.json --quiet --set 'model={"preset": "mlp", "hidden": [4]}' --set backend.name=dnn_cpu \
        --set train.epochs=1
    [ $STATUS -eq 0 ] && run dnn train c.json -o m.dnn --quiet --progress none --force
    [ $STATUS -eq 0 ] && run dnn predict m.dnn "$new" -o out.csv --quiet
    seen=$(perl -0777 -ne 's/\s+/ /g; print /("(?:o|c2)": (?:"\w+"|\{[^}]*\}))/ ? $1 : "-"' c.json 2>/dev/null)
    [ "$STATUS" -eq 0 ] && [ "$(wc -l <out.csv)" -ge $((rows + 1)) ] && { [ -z "$want" ] || tr -s ' \n' ' ' <c.json | grep -qF -- "$want"; }
    ok $? "$name: $odd" "exit $STATUS, $(wc -l <out.csv 2>/dev/null) lines; $seen; $(head -n 3 err)"
    [ -z "$TABLE" ] || printf '| %s | %s | %s |\n' "$name" "$odd" "$seen" >&2
}
file plain.csv 'nothing' '$i % 13' '"o": "numeric"'
file money.csv '$1,234.50' 'sprintf "\"\$%d,%03d.50\"", 1 + $i % 3, $i * 37 % 1000' '"thousands": ","'
file minus-behind.csv 'a minus behind, as SAP writes it' '$i % 2 ? "$i.50-" : "$i.25"' '"thousands": ","'
file minus-sign.csv 'the minus U+2212' '$i % 2 ? "\x{2212}$i.5" : "$i.5"' '"thousands": ","'
file percent.csv '12.5%' '($i % 40) . ".5%"' '"unit": ["%"]'
file signs.csv '+1 .5 5.' '("+$i", ".5", "5.")[$i % 3]' '"o": "numeric"'
file science.csv '1.5e3' '($i % 7) . ".5e3"' '"o": "numeric"'
file german-date.csv '31.12.2024' 'sprintf "%02d.%02d.2024", 1 + $i % 28, 1 + $i % 12' '"format": "%d.%m.%Y"'
file us-date.csv '12/31/2024' 'sprintf "%d/%d/2024", 1 + $i % 12, 1 + $i % 28' '"format": "%m/%d/%Y"'
file oracle-date.csv '01-Jan-24' 'sprintf "%02d-%s-24", 1 + $i % 28, ("Jan", "Feb", "May")[$i % 3]' '"format": "%d-%b-%y"'
file clock.csv '3:30 PM' 'sprintf "%d:%02d %s", 1 + $i % 12, $i % 60, $i % 2 ? "PM" : "AM"' '"format": "%I:%M %p"'
file clock-seconds.csv '12/31/2024 03:30:00 PM' \
    'sprintf "%02d/%02d/2024 %02d:%02d:00 %s", 1 + $i % 12, 1 + $i % 28, 1 + $i % 12, $i % 60, $i % 2 ? "PM" : "AM"' \
    '"format": "%m/%d/%Y %I:%M:%S %p"'
file zone.csv 'a time with an offset' 'sprintf "2024-05-%02dT10:00:00+02:00", 1 + $i % 28' '"o": "datetime"'
file utc.csv 'a time in UTC, as databases write it' 'sprintf "2024-05-%02d 10:00:00 UTC", 1 + $i % 28' '"o": "datetime"'
file dump.csv '\N for missing' '$i % 7 ? $i % 13 : "\\N"' '"o": "numeric"'
file millis.csv 'epoch milliseconds' '1700000000000 + $i * 86400017'
file bools.csv 'TRUE and FALSE' '$i % 2 ? "TRUE" : "FALSE"' '"o": "categorical"'
file zip.csv 'codes with leading zeros' 'sprintf "%05d", 1000 + $i % 9' '"o": "categorical"'
file missing.csv 'N/A, ?, -' '$i % 5 ? $i % 11 : ("N/A", "?", "-")[$i % 3]' '"o": "numeric"'
file constant.csv 'one value' '"same"' '"o": "ignore"'
file count.csv 'the number of the row' '$i + 1' '"o": "id"'
file uuid.csv 'an identifier' 'sprintf "%08x-%04x", $i * 2654435761 % 4294967296, $i' '"o": "i'
file names.csv 'many surnames' '("Ng", "Silva", "Khan")[$i % 3] . chr(97 + $i % 20)'
file lines.csv 'line ends in cells' '"\"a\nb" . ($i % 3) . "\""' '"o": "categorical"'
file quotes.csv 'doubled quotes and commas in cells' '"\"a \"\"b\"\", " . ($i % 3) . "\""' '"o": "categorical"'
file text.csv 'sentences' 'join " ", map { ("the", "good", "bad", "service", "was", "slow", "quick", "meal")[($i * $_ + $_) % 8] } 1 .. 9'
file accounts.csv 'negative sums in brackets' '$i % 2 ? "($i.50)" : "$i.50"'
# the same rows in other dialects
perl -pe 'tr/,/;/; s/(\d)\.(\d)/$1,$2/' percent.csv >semicolon.csv
goes semicolon.csv 'semicolons and decimal commas' '"decimal": ","'
awk -F, 'NR == 1 { print "x;o;z;y"; next } { printf "%s;%d.%03d,%02d EUR;%s;%s\n", $1, 1 + NR % 3, NR * 37 % 1000, NR % 100, $3, $4 }' \
    plain.csv >euro.csv
goes euro.csv '1.161,12 EUR' '"unit": ["EUR"]'
tr , '\t' <plain.csv >tabs.tsv
goes tabs.tsv 'tabs' '"delimiter": "\t"'
tr , '|' <plain.csv >pipes.txt
goes pipes.txt 'pipes' '"delimiter": "|"'
awk -F, -v OFS='\t' '{ $2 = NR == 1 ? "o" : NR % 4 ? NR % 7 "'"'"'" NR % 12 "\"" : "the \"cave\""; print }' plain.csv >raw-quotes.tsv
goes raw-quotes.tsv "5'10\" in a TSV" '"quote": "lenient"'
perl -pe 's/red/röt/; s/blue/blaü/' plain.csv | iconv -f UTF-8 -t LATIN1 >latin1.csv
goes latin1.csv 'latin1' '"encoding": "cp1252"'
perl -pe 's/red/€/' plain.csv | iconv -f UTF-8 -t CP1252 >cp1252.csv
goes cp1252.csv 'cp1252 with a euro sign' '"encoding": "cp1252"'
{ printf '\xef\xbb\xbf'; cat plain.csv; } >bom.csv
goes bom.csv 'a byte-order mark'
sed 's/$/\r/' plain.csv >crlf.csv
goes crlf.csv 'CRLF'
tr '\n' '\r' <plain.csv >cr.csv
goes cr.csv 'CR alone'
gzip -c plain.csv >plain.csv.gz
goes plain.csv.gz 'gzip'
{ head -n 30 plain.csv | gzip; tail -n +31 plain.csv | gzip; } >members.csv.gz
goes members.csv.gz 'gzip of two members'
sed 1d plain.csv >headless.csv
goes headless.csv 'no header' '"header": false' c4
awk -F, -v OFS=, 'NR > 1 && NR % 6 == 0 { $4 = "" } { print }' plain.csv >unlabelled.csv
goes unlabelled.csv 'rows without a target'
awk -F, -v OFS=, '{ print NR == 1 ? "lead_id" : "L" 1000 + NR * 7 % 61, $0 }' plain.csv >ids.csv
goes ids.csv 'an id that the new rows lack' '"lead_id": "id"' y plain.csv
awk '{ print (NR == 1 ? "" : NR - 2) "," $0 }' plain.csv >pandas.csv
goes pandas.csv 'an index without a name' '"c1": "id"'
{ cat plain.csv; printf '\n\n'; } >blank.csv
goes blank.csv 'blank lines at the end'
{ cat plain.csv; echo 'Total,600,,no'; } >footer.csv
goes footer.csv 'a footer line'
sed 's/,yes$/,Yes /; s/,no$/,No/' plain.csv >labels.csv
goes labels.csv 'labels with a blank behind' '"positive": "Yes"'
awk -F, -v OFS=, '{ $4 = NR == 1 ? "y" : "class " NR % 12; print }' plain.csv >classes.csv
goes classes.csv 'twelve classes' '"task": "multiclass"'
awk -F, -v OFS=, '{ $4 = NR == 1 ? "y" : "$" $1 * 1000 + NR ".50"; print }' plain.csv >price.csv
goes price.csv 'a target that is money'
done_testing
