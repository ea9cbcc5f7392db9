# common.sh - what bench.sh and bench_models.sh share. They set report (a file), here (this folder), dnn and python (empty: no peers).
say() { printf '%s\n' "$*" | tee -a "$report"; }
make_data() { [ -s "$3" ] || "$here/make_data.pl" "$1" "$2" "${4:-1}" >"$3"; } # KIND ROWS FILE [SEED]
measure() { "$here/measure.pl" "$@"; }
number() { perl -e 'my ($f, @a) = @ARGV; printf "$f\n", eval $a[0]' "$1" "$2"; }
peer() { # NAME ours COMMAND...: prints its seconds and the ratio; the command prints seconds
    local name=$1 ours=$2 seconds
    shift 2
    if [ -z "$python" ]; then say "    $name: skipped (no Python peers; --peers installs them)"; return; fi
    if ! seconds=$("$@"); then say "    $name: skipped (it failed)"; return; fi
    say "    $name: $(number '%.4f' "$seconds") s, dnn is $(number '%.1f' "$seconds/$ours") times as fast"
}
median() { # RUNS COMMAND...: median of so many runs of a command that prints seconds
    local runs=$1
    shift
    for _ in $(seq "$runs"); do "$@" || return; done | sort -g | sed -n "$(((runs + 1) / 2))p"
}
# in_turns RUNS COMMAND...: so many runs of each, in turns, for a machine's speed may change while they go on; the seconds that
# COMMAND number N printed, a line a run, are in turns.N
in_turns() {
    local runs=$1 n
    shift
    rm -f turns.*
    for _ in $(seq "$runs"); do
        for n in $(seq $#); do ${!n} >>"turns.$n" || echo failed >>"turns.$n"; done
    done
}
turn_median() { # N: of the seconds in turns.N
    ! grep -q failed "turns.$1" && sort -g "turns.$1" | sed -n "$((($(wc -l <"turns.$1") + 1) / 2))p"
}
field() {
    perl -0777 -MJSON::PP -e 'my ($p) = @ARGV; my $v = decode_json(<STDIN>); $v = ref $v eq "ARRAY" ? $v->[$_] : $v->{$_} for split /\./,
        $p; print "$v\n"' "$1"
}
