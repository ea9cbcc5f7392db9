# leads.sh - makes a small labelled file with every kind of cell. Use: . "$ROOT/tests/leads.sh" after tap.sh.
# shellcheck shell=bash

# make_leads FILE ROWS [SEED] [unlabelled]: see scripts/data/make_leads.awk
make_leads() { awk -v rows="$2" -v seed="${3:-1}" -v bare="${4:-}" -f "$ROOT/scripts/data/make_leads.awk" >"$1"; }
# make_leads_config FILE DATA [MEMBERS-OF-data] [MEMBERS-OF-train] [MORE]
make_leads_config() {
    cat >"$1" <<JSON
{"task": "binary",
 "data": {"train": "$2", "target": "converted", "positive": "yes",
  "columns": {"lead_id": "id", "age": "numeric", "city": "categorical", "visits": "numeric", "signed_on": "datetime"}${3:+, $3}},
 "model": {"preset": "mlp", "hidden": [16, 8]},
 "train": {"batch_size": 64, ${4:-"\"epochs\": 4"}}${5:+, $5},
 "backend": {"name": "dnn_cpu", "threads": 2}}
JSON
}
# make_leads_model MODEL: trains one on leads.csv, which it makes when it is not there; a failure ends the script.
make_leads_model() {
    [ -e leads.csv ] || make_leads leads.csv 600
    make_leads_config leads.json leads.csv
    "$DNN" train leads.json -o "$1" --progress none --quiet || { echo "Bail out! no model: dnn train leads.json"; exit 1; }
}
digest() { sha256sum -- "$1" | cut -c1-64; }
# with_line N TEXT FILE: FILE with its line N replaced by TEXT (as printf writes it)
with_line() {
    head -n $(($1 - 1)) "$3"
    # shellcheck disable=SC2059
    printf -- "$2\n"
    tail -n +$(($1 + 1)) "$3"
}
# limit KIB: the shell command that limits the address space, nothing in a build with sanitizers
limit() { sanitized || printf 'ulimit -v %d;' "$1"; }
