#!/bin/bash
# progress.sh - what takes over two seconds says how far it is: reading, fitting encoders, explaining. The test hook PROGRESS takes
# the two seconds away; without it nothing is said of small files.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
make_data d.csv 400 value
make_config c.json d.csv regression
hooked() { run env DNN_PROGRESS=1 "$HOOKED" "$@"; }
says() { grep -qE "^dnn: $1\$" err; ok $? "$2" "$(head -n 12 err)"; }
silent() { is_exit 0; ! grep -qE '^dnn: (reading|fitting|explaining) ' err; after_exit $? "$1" "$(head -n 12 err)"; }
hooked train c.json -o m.dnn --progress plain
says 'fitting [0-9]+ %' "train: the encoder"
says 'reading [0-9]+ of [0-9]+ MiB.*' "train: the file"
hooked train c.json -o m.dnn --progress plain --set ensemble.folds=3
says 'fitting 0 of 3 encoders' "an ensemble: its encoders"
hooked cv c.json --folds 2 --progress plain
says 'fitting [0-9] of [0-9] encoders' "cv: those of the folds"
hooked explain m.dnn d.csv --progress plain
says 'explaining [0-9]+ of 3 columns.*' "explain: the columns"
hooked explain m.dnn d.csv --rows w.csv --progress plain
says 'explaining [0-9]+ rows' "explain --rows: the rows"
hooked evaluate m.dnn d.csv --progress plain
says 'reading [0-9]+ of [0-9]+ MiB.*' "evaluate: the file"
hooked check c.json --progress plain
says 'reading [0-9]+ of [0-9]+ MiB.*' "check: the file"
hooked init d.csv --target y -o i.json --progress plain
says 'reading [0-9]+ of [0-9]+ MiB.*' "init: the file"
for what in 'train c.json -o m.dnn' 'explain m.dnn d.csv' 'explain m.dnn d.csv --rows w.csv' 'evaluate m.dnn d.csv' 'check c.json'; do
    # shellcheck disable=SC2086
    hooked $what --progress none
    silent "${what%% *}: nothing with --progress none"
    # shellcheck disable=SC2086
    hooked $what -q
    silent "${what%% *}: nothing with -q"
    # shellcheck disable=SC2086
    run dnn $what --progress plain
    silent "${what%% *}: nothing of work that is quick"
done
done_testing
