#!/bin/bash
# readme.sh - the README says what is so: its key reference is the program's, its exit codes are those of the code, its commands exist.
. "$(dirname "$0")/../tap.sh"
cd "$ROOT" || exit 1
check "the key reference is that of \`dnn help keys\`" scripts/readme_keys.sh --check
for command in $(sed -n 's/^| `\([a-z]*\)` |.*/\1/p' README.md); do
    check "command $command has a page" "$DNN" help "$command"
done
for code in $(grep -o 'EXIT_[A-Z]* = [0-9]*' src/base/exitcode.h | sed 's/.*= //'); do
    grep -qE "\| $code \||^\| .*\b$code\b" README.md
    ok $? "exit code $code stands in the README"
done
for path in $(grep -oE '\((HACKING\.md)\)|`(scripts|tests|data|configs)/[A-Za-z0-9_./-]*`' README.md HACKING.md | sed 's/^[^:]*://; s/[()`]//g' | grep -v '\.h$' | sort -u); do
    [ -e "$path" ]
    ok $? "$path exists"
done
done_testing
