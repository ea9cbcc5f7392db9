#!/bin/bash
# packaging.sh - what is installed: manual pages, the Debian package, units of systemd, the container's files, the example scripts in the
# README. What needs a tool that is not here is a skip.
. "$(dirname "$0")/../tap.sh"
cd "$ROOT" || exit 1
need() { # need TOOL NAME: a skip where the tool lacks
    command -v "$1" >/dev/null && return 0
    skip "$2" "no $1"
    return 1
}

# --- the README shows the step of a pipeline as it is ---
for script in ci-step.sh; do
    perl -0ne 'BEGIN { local (@ARGV, $/) = shift; $script = <> } exit(index($_, "```\n$script```\n") < 0)' scripts/examples/$script \
        README.md
    ok $? "$script stands in the README as it is"
done
for script in scripts/examples/*.sh scripts/spark/*.sh scripts/build/deb.sh; do check "$script is shell" sh -n "$script"; done

# --- systemd ---
if need systemd-analyze "systemd: the units"; then
    cp scripts/systemd/* "$WORK"
    sed -i "s|/usr/share/dnn/examples|$ROOT/scripts/examples|" "$WORK/dnn@.service"
    for unit in service timer; do
        mv "$WORK/dnn@.$unit" "$WORK/dnn@churn.$unit"
        # what it says of this system's own units is not ours
        said=$(systemd-analyze verify "$WORK/dnn@churn.$unit" 2>&1 | grep 'dnn@')
        is "$said" "" "systemd-analyze verify dnn@.$unit"
    done
fi

# what make install writes stands where systemd looks, and starts the script that it installs
run make -s install DESTDIR="$WORK/tree" PREFIX=/opt/x
is_exit 0 "make install"
grep -q '^ExecStart=/opt/x/share/dnn/examples/cron.sh ' "$WORK/tree/opt/x/lib/systemd/system/dnn@.service" &&
    [ -x "$WORK/tree/opt/x/share/dnn/examples/cron.sh" ]
ok $? "its service starts the script that it installs"
# where another user's umask is strict, all may read it, and nobody else may write it
(umask 077 && make -s install DESTDIR="$WORK/strict" PREFIX=/usr) >"$WORK/out" 2>&1
ok $? "make install under umask 077" "$(cat "$WORK/out")"
is "$(find "$WORK/strict" ! -type l \( ! -perm -444 -o -perm /022 -o -type d ! -perm -111 \))" "" \
    "all may read it, nobody else may write it"
is "$(find "$WORK/strict" -path '*completions/*' -type f -printf '%m ' -o -name _dnn -printf '%m ')" "644 644 " "completions have mode 0644"
# what README and help pages name is there
for path in $("$DNN" help 2>/dev/null | cat - README.md src/cli/pages/*.txt |
    grep -oE '(scripts/[a-z_]+|share/dnn)/[A-Za-z0-9_./-]+\.(py|pl|sh|sql|csv|json)' | sort -u) \
    scripts/read_model.py share/dnn/leads/leads.csv share/dnn/leads/test.csv share/dnn/leads/new.csv share/dnn/leads/leads.json; do
    case $path in share/*) ;; *) path=share/dnn/$path ;; esac
    [ -s "$WORK/strict/usr/$path" ]
    ok $? "$path is installed"
done
# README's line for a crontab, in an installed tree, with cron's PATH
there=$WORK/prefix
make -s install PREFIX="$there" UNITDIR="$there/units" >"$WORK/out" 2>&1
mkdir "$WORK/srv" && cp "$there"/share/dnn/leads/*.csv "$WORK/srv"
sed 's/"leads.dnn"/"churn.dnn"/; s/"preset": "mlp"/"preset": "mlp", "hidden": [8]/; s/"patience": 16/"patience": 2/' \
    configs/leads.json >"$WORK/srv/churn.json"
line=$(sed -n 's/^`15 2 \* \* \* \(.*\)`$/\1/p' README.md | sed "s|/srv/churn|$WORK/srv|; s|/usr/local|$there|")
run env -i HOME="$WORK" PATH=/usr/bin:/bin CUDA_VISIBLE_DEVICES= sh -c "$line"
is "$STATUS $(cat out)" "0 " "README's line for a crontab works in an installed tree: $line" "$(cat err)"
"$DNN" predict "$WORK/srv/model.dnn" "$WORK/srv/new.csv" -q -o "$WORK/want.csv"
same "$WORK/srv/answers.csv" "$WORK/want.csv" "README's line for a crontab answers the new rows"
run make -s uninstall DESTDIR="$WORK/strict" PREFIX=/usr
is "$(find "$WORK/strict" -type f)" "" "make uninstall leaves nothing of it"
run make -s uninstall DESTDIR="$WORK/tree" PREFIX=/opt/x
is "$(find "$WORK/tree" -type f)" "" "make uninstall leaves nothing"

# --- container and workflow ---
yaml() { # yaml FILE CHECKS: Python that looks at the document d
    if python3 -c 'import yaml' 2>/dev/null; then
        check "$1: $2" python3 -c "import sys, yaml; d = yaml.safe_load(open(sys.argv[1])); assert $2" "$1"
    else
        skip "$1 is YAML" "no python3 with yaml"
    fi
}
yaml scripts/docker/compose.yaml "d['services']['backend-gpu']['build']['args']['CUDA'] == '13'"
yaml scripts/docker/compose.yaml "'args' not in d['services']['backend']['build'] and d['services']['backend-gpu']['deploy']"
yaml scripts/examples/github-workflow.yml "len(d['jobs']['train']['steps']) >= 5"
# a word of the Dockerfile's instructions, and its commands are shell
perl -0pe 's/\\\n//g' scripts/docker/Dockerfile | grep -vE '^(#|$)' >"$WORK/lines"
is "$(grep -vcE '^(ARG|FROM|RUN|COPY|WORKDIR|ENV|USER|ENTRYPOINT|CMD) ' "$WORK/lines")" 0 "Dockerfile: instructions"
sed -n 's/^RUN //p' "$WORK/lines" >"$WORK/commands.sh"
check "Dockerfile: commands" sh -n "$WORK/commands.sh"
[ "$(grep -c '^FROM' "$WORK/lines")" -ge 2 ] && grep -A9 '^FROM' "$WORK/lines" | tail -n 7 | grep -q '^USER dnn'
ok $? "Dockerfile: stages; a user without rights"
# the image is made of what the ignore list leaves: its sources are complete, and its tree installs (with the program of this build)
mkdir "$WORK/image"
sed 's|^|./|' scripts/docker/Dockerfile.dockerignore >"$WORK/ignored"
tar -C "$ROOT" --anchored --exclude-from="$WORK/ignored" -cf - . | tar -C "$WORK/image" -xf -
run make -n -C "$WORK/image" BUILD="$WORK/none" LOCAL= NVCC= deb
is_exit 0 "Dockerfile: make deb has all its sources"
mkdir -p "$WORK/image/build/man1" && cp "${DNN%/*}"/man1/*.1 "$WORK/image/build/man1" && cp "$DNN" "$WORK/image/build/dnn"
run make -s -C "$WORK/image" -o all -o build/man1/dnn.1 LOCAL= NVCC= install DESTDIR="$WORK/pack" PREFIX=/usr
is_exit 0 "Dockerfile: the tree that .dockerignore leaves installs"
[ -s "$WORK/pack/usr/share/dnn/data/flights.csv" ] && [ -s "$WORK/pack/usr/share/dnn/leads/new.csv" ]
ok $? "Dockerfile: the installed tree has its data"
# what the workflow and compose call is there
words=$(grep -hoE '(dnn/)?scripts/[a-z/]+\.(sh|yaml)|docker/Dockerfile' scripts/docker/compose.yaml scripts/examples/github-workflow.yml |
    sort -u)
for word in $words; do
    case $word in docker/*) path=scripts/$word ;; *) path=${word#dnn/} ;; esac
    [ -e "$path" ]
    ok $? "$word is there"
done

# --- the Debian package: made, installed and removed ---
build=${DNN%/*}
if [ "$build" != "$ROOT/build" ]; then
    skip "make deb" "another build than that of plain make"
elif need dpkg-shlibdeps "make deb"; then
    run make -s deb
    is_exit 0 "make deb"
    deb=$(tail -n 1 out)
    rm -f out err
    is "$(dpkg-deb -f "$deb" Package)" dnn "a package"
    [[ $(dpkg-deb -f "$deb" Depends) == *libcjson1*libcsv3*libutf8proc* ]]
    ok $? "depends on its libraries" "$(dpkg-deb -f "$deb" Depends)"
    if [ "$(id -u)" -ne 0 ]; then
        skip "dpkg --install" "not root"
    else
        there=$WORK/there
        mkdir -p "$there/var/lib/dpkg/info" "$there/var/lib/dpkg/updates" "$there/var/lib/dpkg/triggers"
        : >"$there/var/lib/dpkg/status"
        # the libraries are those of this system
        run dpkg --root="$there" --force-depends --force-not-root --install "$deb"
        is_exit 0 "it is installed"
        run "$there/usr/bin/dnn" --version
        is_exit 0 "runs"
        missing=""
        for command in $("$DNN" help | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
            gzip -dc "$there/usr/share/man/man1/dnn-$command.1.gz" 2>&1 | grep -q '^\.SH SYNOPSIS' || missing+=" $command"
        done
        is "$missing" "" "a manual page of every command"
        for file in man/man1/dnn.1.gz bash-completion/completions/dnn zsh/vendor-completions/_dnn dnn/examples/cron.sh \
            dnn/spark/dnn_spark.py dnn/configs/leads.json dnn/data/flights.csv ../lib/systemd/system/dnn@.timer; do
            [ -s "$there/usr/share/$file" ]
            ok $? "$file"
        done
        is "$(find "$there/usr" -perm /022 ! -type l)" "" "nobody else may write any of it"
        (cd "$there" && md5sum -c --quiet var/lib/dpkg/info/dnn.md5sums >"$WORK/sums" 2>&1)
        ok $? "its sums" "$(cat "$WORK/sums")"
        run dpkg --root="$there" --force-depends --purge dnn
        is_exit 0 "it is removed"
        rm -f out err
        is "$(find "$there/usr" -type f 2>/dev/null)" "" "purge leaves nothing"
    fi
fi
done_testing
