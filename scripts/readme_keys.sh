#!/bin/sh
# readme_keys.sh [--check] - writes the config keys (`dnn help keys`) between the markers of README.md; --check only compares
# (a test does). The tables of the program are the one source.
set -eu
cd "$(dirname "$0")/.."
dnn=${DNN:-build/dnn}
{
    sed '/^<!-- keys:/q' README.md
    printf '\n```\n'
    "$dnn" help keys | sed 's/^  //; s/ *$//'
    printf '```\n\n'
    sed -n '/^<!-- \/keys -->/,$p' README.md
} >build/README.new
if [ "${1:-}" = --check ]; then
    diff README.md build/README.new
else
    cp build/README.new README.md
fi
