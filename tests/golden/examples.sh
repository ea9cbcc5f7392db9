#!/bin/bash
# examples.sh - the examples on the page of every command run as they stand, in one folder, in the order of the main job, on
# files made here. A wrong example fails.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/leads.sh"
awk 'BEGIN { split("Oslo Bergen Paris", city, " "); print "lead_id,age,city,visits,note,converted"; s = 3
    for (i = 1; i <= 600; i++) { s = s * 16807 % 2147483647; a = 18 + s % 60; s = s * 16807 % 2147483647; v = s % 40
        printf "L%04d,%d.%03d,%s,%d,wrote %d times,%d\n", i, a, s % 997, city[1 + i % 3], v, v, ((a > 40) + (v > 20) > 1) } }' >all.csv
head -n 501 all.csv >leads.csv
{ head -n 1 all.csv; tail -n 100 all.csv; } >test.csv
cut -d, -f1-5 test.csv >new.csv
mkdir bin
ln -s "$DNN" bin/dnn
unset -f dnn
export PATH="$WORK/bin:$PATH"
cat >old.json <<'JSON'
{"task": "binary", "data": {"train": "leads.csv", "target": "converted", "columns": {"city": "categorical"}},
 "model": {"preset": "linear"}, "train": {"epochs": 2}, "output": {"model": "old.dnn"}}
JSON
dnn train old.json --progress none 2>err || cat err

# run_line LINE: `dnn init` replaces no config, and many examples write the same one
run_line() {
    case $1 in "dnn init "*" -o "*) rm -f "$(sed 's/.* -o \([^ ]*\).*/\1/' <<<"$1")" ;; esac
    bash -c "$1"
}
commands=$(dnn help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 10 ]
ok $? "the overview lists the commands" "$commands"
seen=0
for command in $commands; do
    dnn help "$command" | sed -n '/^examples:/,/^$/s/^  //p' >lines
    [ -s lines ]
    ok $? "dnn help $command has examples"
    while IFS= read -r line; do
        seen=$((seen + 1))
        STATUS=0
        case $line in *soak*) continue ;; esac # a matter of minutes
        run_line "$line" >out 2>err </dev/null || STATUS=$?
        # a verdict on this machine, which may have no GPU
        [ "$command" = gpucheck ] && [ $STATUS -eq 69 ] && STATUS=0
        is_exit 0 "$line"
        # what a training says of its model follows from how far a search came
        case $line in "dnn train"*) ;; *) err_lacks "warning:" "  without a warning" ;; esac
    done <lines
    # the options of the table, as a page shows them, are known to the parser
    dnn help "$command" | grep -oE '^  (-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' >options
    bad=""
    while IFS= read -r option; do
        dnn "$command" "$option=" >out 2>err </dev/null
        ! grep -q "has no option" err || bad+="$option "
    done <options
    [ -z "$bad" ]
    ok $? "  every option on its page exists" "$bad"
done
[ $seen -ge 20 ]
ok $? "$seen examples ran"
for file in leads.json leads.dnn answers.csv resolved.json bad.csv dnn.schema.json; do
    [ -s $file ]
    ok $? "they left $file"
done
run dnn check resolved.json
is_exit 0 "a config with every default filled in is a config"
dnn check leads.json --resolved >again.json 2>err
same resolved.json again.json "a resolved config is a pure function of the config"

# the overview's own three lines
dnn help | sed -n 's/^  \(dnn .*[^ ]\)   *.*/\1/p' | sed 's/   .*//' >lines
while IFS= read -r line; do
    STATUS=0
    run_line "$line" >out 2>err </dev/null || STATUS=$?
    is_exit 0 "overview: $line"
done <lines
# the README's main job, with its gate
sed -n '/^## The main job/,/^```$/p' "$ROOT/README.md" | sed -n 's/^\(dnn .*[^ ]\)  *#.*/\1/p' >lines
[ "$(wc -l <lines)" -ge 5 ]
ok $? "the README shows the main job"
while IFS= read -r line; do
    STATUS=0
    run_line "$line" >out 2>err </dev/null || STATUS=$?
    is_exit 0 "README: $line"
done <lines
# pages of every key and every error
bad=""
for topic in $(dnn help keys | awk '{ print $1 }') $(dnn help errors | awk '{ print $1 }'); do
    [ "$(dnn help "$topic" 2>&1 | wc -c)" -gt 40 ] || bad+="$topic "
done
[ -z "$bad" ]
ok $? "every key and every error has a page" "$bad"
dnn schema | perl -MJSON::PP -e 'local $/; decode_json(<STDIN>)' 2>err
ok $? "the schema is JSON" "$(cat err)"
dnn completion bash | bash -n
ok $? "the completion of bash is bash"
done_testing
