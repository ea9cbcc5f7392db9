#!/bin/sh
# golden.sh - runs every golden case beside this file.
cd "$(dirname "$0")/../.." || exit 1
exec perl tests/golden/golden.pl tests/golden/*.case
