#!/bin/sh
# sources.sh - fetches the pinned sources of cJSON, libcsv and utf8proc (Debian's own archives, checked by SHA-256) into build/sources, for
# fuzzing with coverage. Exit 1, with a word why, where they cannot be had.
set -eu
cd "$(dirname "$0")/../.."
work=$PWD/build/sources
[ -f "$work/cjson-1.7.15/cJSON.c" ] && [ -f "$work/libcsv-3.0.3/libcsv.c" ] && [ -f "$work/utf8proc-2.8.0/utf8proc.c" ] && exit 0
command -v apt-get >/dev/null || { echo "no apt-get"; exit 1; }
mkdir -p "$work/parts" "$work/lists/partial"
cd "$work"
for f in /etc/apt/sources.list.d/*.sources; do
    [ -f "$f" ] && sed 's/^Types:.*/Types: deb-src/' "$f" >"parts/$(basename "$f")"
done
[ -f /etc/apt/sources.list ] && sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >parts/main.list
options="-qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$work/parts -o Dir::State::Lists=$work/lists"
# shellcheck disable=SC2086 # a list of options
{
    apt-get $options update && apt-get $options source --download-only cjson libcsv utf8proc
} >log 2>&1 || { echo "the archive did not answer"; exit 1; }
sha256sum -c --quiet - >>log 2>&1 <<END || { echo "other sources than the pinned ones"; exit 1; }
5308fd4bd90cef7aa060558514de6a1a4a0819974a26e6ed13973c5f624c24b2  cjson_1.7.15.orig.tar.gz
06fddfaca720a4be7603bad63eb1833bca5b6c5a69b42b1c518a02cda2a73aef  libcsv_3.0.3+dfsg.orig.tar.gz
a0a60a79fe6f6d54e7d411facbfcc867a6e198608f2cd992490e46f04b1bcecc  utf8proc_2.8.0.orig.tar.gz
END
mkdir -p cjson-1.7.15 libcsv-3.0.3 utf8proc-2.8.0
tar xzf cjson_1.7.15.orig.tar.gz -C cjson-1.7.15 --strip-components=1
tar xzf libcsv_3.0.3+dfsg.orig.tar.gz -C libcsv-3.0.3 --strip-components=1
tar xzf utf8proc_2.8.0.orig.tar.gz -C utf8proc-2.8.0 --strip-components=1
