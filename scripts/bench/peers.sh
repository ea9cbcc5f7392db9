# peers.sh - read by scripts that compare with Python packages. peers_python installs the pinned versions into build/peers once,
# and prints the interpreter that has them; PEERS names another one. xgboost comes without its packages for a GPU.
peers_python() {
    if [ -n "${PEERS:-}" ]; then echo "$PEERS"; return; fi
    local here=$PWD/build/peers list=scripts/bench/requirements.txt
    if ! cmp -s "$list" "$here/requirements.txt"; then
        [ -x "$here/bin/python" ] || python3 -m venv "$here" >&2
        grep -v '^xgboost' "$list" >"$here/most.txt"
        "$here/bin/python" -m pip install -q -r "$here/most.txt" >&2
        "$here/bin/python" -m pip install -q --no-deps "$(grep '^xgboost' "$list")" >&2
        cp "$list" "$here/requirements.txt"
    fi
    echo "$here/bin/python"
}
