#!/bin/bash
# setup.sh - scripts/setup.sh without packages and network, with stand-ins for the package manager.
. "$(dirname "$0")/../tap.sh"

# a PATH of its own: what the script calls, and the packages' programs but those named
mkdir -p copy/scripts
cp "$ROOT/scripts/setup.sh" copy/scripts/
surroundings() { # surroundings LACKING...
    rm -rf bin
    mkdir bin
    for program in sh env dirname grep tail rm cat gcc make perl prove strace; do
        ln -s "$(command -v "$program" || echo /bin/true)" bin/$program
    done
    for program in g++ clang ldconfig; do printf '#!/bin/sh\nexit 0\n' >bin/$program; done
    printf '#!/bin/sh\necho 0\n' >bin/id
    printf '#!/bin/sh\nfor p; do :; done; case " %s " in *" $p "*) exit 1 ;; esac; printf "install ok installed"\n' "$*" >bin/dpkg-query
    printf '#!/bin/sh\necho "$*" >>"%s/calls"\nexit 100\n' "$WORK" >bin/apt-get
    chmod +x bin/id bin/dpkg-query bin/apt-get bin/g++ bin/clang bin/ldconfig
    for program; do rm -f "bin/$program"; done
    rm -f calls
}
setup() { run env -i PATH="$WORK/bin" "$WORK/bin/sh" copy/scripts/setup.sh --no-build "$@"; }

surroundings
setup
is_exit 0 "everything there"
[ ! -e calls ]
ok $? "nothing is asked of the network" "$(cat calls 2>&1)"
surroundings g++
setup
is_exit 0 "to build and use dnn, without a compiler of C++"
[ ! -e calls ]
ok $? "nothing is asked for" "$(cat calls 2>&1)"
setup --tests
is_exit 0 "an optional package that lacks, without a network: 0"
err_has "going on without g++ (optional)"
[ ! -e copy/setup.log ]
ok $? "no log is left"
surroundings g++ clang libclang-rt-14-dev
setup --nightly
is_exit 0 "all of --nightly's optional ones"
err_has "going on without g++ clang libclang-rt-14-dev (optional)"
surroundings libclang-rt-14-dev
setup --nightly
is_exit 0 "the library of a clang with another number"
[ ! -e calls ]
ok $? "is there where clang links with it: nothing is asked for" "$(cat calls 2>&1)"
surroundings libcsv-dev
setup
is_exit 69 "one that is needed: 69"
err_has "the packages could not be installed"
surroundings libcsv-dev
printf '#!/bin/sh\necho 1000\n' >bin/id
setup
is_exit 69 "a user who may not install: 69"
err_has "apt-get update && apt-get install -y libcsv-dev" "the line for an administrator"
done_testing
