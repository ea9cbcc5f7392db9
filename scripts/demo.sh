#!/bin/sh
# demo.sh - installs, builds and runs the main job on bundled data: init, check, train, evaluate, predict. It shows every command
# before it runs. Files go to build/demo. A step that fails ends the script with the exit code of that step. The program has kernels for
# the visible GPU; CUDA=1 compiles them without a GPU too, which takes minutes.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
PATH=$PWD/build:$PATH
rm -rf build/demo
mkdir -p build/demo
cd build/demo
ln -s ../../data/flights.csv ../../data/flights-new.csv .

step() {
    printf '\n$'
    for word in "$@"; do
        case $word in *[!A-Za-z0-9_./=,-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    "$@"
}
step dnn init flights.csv --target late --set model.preset=mlp --id flight_id -o flights.json
step dnn check flights.json
step dnn train flights.json -o flights.dnn
step dnn evaluate flights.dnn flights-new.csv --require 'auc>=0.70'
step dnn predict flights.dnn flights-new.csv -o answers.csv
step head -n 5 answers.csv
printf '\nAll of it lies in build/demo.\n'
