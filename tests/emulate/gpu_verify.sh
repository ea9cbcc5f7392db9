#!/bin/bash
# gpu_verify.sh - the script that tries everything on a real card, tried itself: its cheap parts by --emulated, what a report says, and
# that nothing passes that failed or was left out. DNN is build/emulated/dnn, with build/parity/emulated beside it; make is not run again:
# one of that name stands in its place, says with -n that what it is asked for can be made, and leaves these two.
. "$(dirname "$0")/../tap.sh"
build=$(cd "$(dirname "$DNN")/.." && pwd)
[ -x "$build/parity/emulated" ] || { echo "1..0 # SKIP no parity program of the emulated card"; exit; }
export BUILD=$WORK/build OUT=$WORK/report
export real_make made=$WORK/made broken=no
real_make=$(command -v make)
unset MAKEFLAGS MFLAGS MAKELEVEL PEERS COMMIT CUDA_ARCHS GPU_VERIFY_SECONDS GPU_VERIFY_PART_SECONDS
mkdir -p bin "$BUILD/emulated" "$BUILD/parity"
cat >bin/make <<'SH'
#!/bin/sh
echo "$*" >"$made"
[ "$broken" = no ] || exit 2
"$real_make" -n "$@" >/dev/null
SH
ln -s "$DNN" "$BUILD/emulated/dnn"
chmod +x bin/make
ln -s "$build/parity/emulated" "$BUILD/parity/emulated"
PATH=$WORK/bin:$PATH
verify() { run "$ROOT/scripts/gpu_verify.sh" "$@"; }
# told KEY...: of verify.json, which must be JSON; {parts}{NAME}{state}: of a part
told() {
    perl -MJSON::PP -e 'local $/; open my $in, "<", "$ENV{OUT}/verify.json" or die; my $at = decode_json(<$in>);
        $at->{parts} = {map { $_->{part} => $_ } @{$at->{parts}}}; $at = $at->{$_} // die "no $_" for @ARGV;
        print JSON::PP::is_bool($at) ? $at ? "yes" : "no" : ref $at ? join " ", sort keys %$at : $at' "$@" 2>&1
}
state() { is "$(told parts "$1" state)" "$2" "$3" "$(told parts "$1" why)"; }
is_json() {
    perl -MJSON::PP -e 'local $/; open my $in, "<", $ARGV[0] or die; decode_json(<$in>)' "$1" 2>err
    ok $? "$2 is JSON" "$(cat err)"
}

# --- what is asked for ---
verify --part nonsense
is_exit 64 "a part that is none: 64"
err_has "no part nonsense; there are: build first" "a part that is none: those that are"
verify --stage nonsense
is_exit 64 "a stage that is none: 64"
err_has "there are: right fast trust rare" "a stage that is none: those that are"
verify --list
is_exit 0 "--list"
for stage in right fast trust rare; do
    seconds=$(awk -v s=$stage '$1 == s { n += $3 + 0 } END { print n + 0 }' out)
    [ "$seconds" -ge 200 ] && [ "$seconds" -le 620 ]
    ok $? "stage $stage: its parts have limits" "$seconds s"
done
verify --part
is_exit 64 "a part without a name: 64"
verify --emulated=yes
is_exit 64 "an unknown option: 64"
verify --help
is_exit 0 "--help"
out_has "a part was skipped, which is no pass" "says what counts"
[ ! -e "$OUT" ]
ok $? "a wrong command line and --help write no report"

# --- a row of the bench says what was measured, and what follows from it ---
row() {
    ( number() { awk "BEGIN { printf \"$1\", $2 }"; }
      . "$ROOT/scripts/gpu/bench.sh"
      large_row "$@" )
}
row 1100000 512 4096 bf16 1e8 3206144 >row.json
large='{"work": "1.1M x 28, 512x3, batch 4096", "who": "dnn_gpu bf16", "rows": 1100000, "rows_per_s": 1e8, "epoch_ms": 11.0, '
large+='"extrapolated": {"rows": 11000000, "epoch_ms": 110.0}, "tflops": 321}'
is "$(cat row.json)" "$large" "a tenth of the table is called a tenth, the whole one extrapolated"
row 1000 32 256 fp32 0 12096 >row.json
is_json row.json "a row without a rate"
grep -q '^{"work": "1000 x 28, 32x3, batch 256",.*"epoch_ms": 0.0, "extrapolated": ' row.json
ok $? "a row without a rate has its label" "$(cat row.json)"

# --- parts that pass ---
mkdir -p "$OUT"
echo stale >"$OUT/logs.tar.gz"
parts="first opens repeat" # the others take minutes: of a night
[ "${NIGHTLY:-no}" = no ] || parts+=" learning recurrent faults memory gpucheck"
# shellcheck disable=SC2046,SC2086 # words
verify --emulated $(printf -- '--part %s ' $parts sanitizer constants kernels)
is_exit 69 "an emulated card is never green"
for part in build $parts; do state $part passed "$part passes"; done
for part in sanitizer constants; do
    state $part skipped "$part is skipped"
    is "$(told parts $part why)" "not on an emulated device" "$part is skipped: the reason"
done
is "$(grep -c "^$(date -u +%Y-%m-%d)\|^gpu_verify, 20[0-9-]* [0-9:]* UTC, commit" "$OUT/report.txt")" 1 \
    "the report is dated, and names the commit"
counts="$(wc -w <<<"build $parts") passed; failed: none; skipped, which is not a pass: sanitizer constants"
tail -n 1 "$OUT/report.txt" | grep -q "^$counts; an optional tool is missing: kernels; [0-9]* s; exit 69$"
ok $? "the report closes with what passed and what did not" "$(tail -n 1 "$OUT/report.txt")"
same out "$OUT/report.txt" "it is what was shown"
is "$(ls "$OUT" | tr '\n' ' ')" "logs.tar.gz report.txt verify.json " "three files, and nothing of an earlier run"
mkdir logs && tar -xzf "$OUT/logs.tar.gz" -C logs
ok $? "the logs unpack"
is "$(told | tr ' ' '\n' | sort | tr '\n' ' ')" "commit constants date emulated exit gpu musts parts program rows seconds " \
    "verify.json: its keys"
is "$(told emulated) $(told exit) $(told gpu)" "yes 69 the emulated device" "that the card is emulated, and the verdict"
told date | grep -qE '^20[0-9]{2}-[01][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9]$'
ok $? "when it was" "$(told date)"
for part in build $parts sanitizer; do
    is "$(told parts "$part")" "exit part seconds state why" "$part: state, exit, seconds and why"
    is_json "$BUILD/verify/$part.state" "$part: its state"
done
[ "${NIGHTLY:-no}" = no ] || is_json logs/profile.json "the profile"
[ "${NIGHTLY:-no}" = no ] || is_json "$BUILD/verify/gpucheck.result" "what gpucheck measured"
is "$(ls logs/*.log | wc -l)" "$(wc -w <<<"build $parts sanitizer constants kernels")" "each part has its log"
for name in emulated parity-emulated NVCC= BUILD=; do
    grep -q -- "$name" "$made"
    ok $? "make is asked for $name" "$(cat "$made")"
done

# --- parts that fail ---
mv "$BUILD/emulated/dnn" sound
cat >"$BUILD/emulated/dnn" <<SH
#!/bin/sh
case "\$*" in *"--batch-size 7 "* | *"--batch-size 7") export DNN_EMULATE=wrong:1 ;; esac
exec "$DNN" "\$@"
SH
chmod +x "$BUILD/emulated/dnn"
rm "$BUILD/parity/emulated" # one that finds nothing wrong, on a card without graphs
cat >"$BUILD/parity/emulated" <<'SH'
#!/bin/sh
for result; do :; done
echo '{"program": "parity", "passed": 1}' >"$result"
echo "dnn: note: dnn_gpu: no CUDA graphs (cudaErrorNotSupported from cudaStreamBeginCapture)" >&2
SH
chmod +x "$BUILD/parity/emulated"
verify --emulated --part parity --part repeat --part constants
is_exit 1 "a part that fails: 1, whatever was skipped"
state repeat failed "a card that is wrong in one command: repeat"
told parts repeat why | grep -q "answers in batches of 7 have other bytes"
ok $? "a card that is wrong in one command: the reason says in what" "$(told parts repeat why)"
state parity failed "a card that makes no graphs: parity, whose recorded half was none"
told parts parity why | grep -q "nothing was recorded: .*no CUDA graphs"
ok $? "a card that makes no graphs: the reason" "$(told parts parity why)"
grep -q '^1 passed; failed: parity repeat; skipped, which is not a pass: constants; .* exit 1$' "$OUT/report.txt"
ok $? "the closing verdict names them" "$(cat "$OUT/report.txt")"
is "$(told exit)" 1 "as verify.json does"
mv sound "$BUILD/emulated/dnn"
broken=yes verify --emulated --part constants
is_exit 1 "what does not build: 1"
told parts build why | grep -q "it does not build"
ok $? "what does not build: the reason" "$(told parts build why)"

# --- a part that hangs is ended, and the next one has its turn ---
printf '#!/bin/sh\nsleep 1000\n' >"$BUILD/parity/emulated"
GPU_VERIFY_PART_SECONDS=10 verify --emulated --part parity --part first
state parity failed "a part that hangs fails"
told parts parity why | grep -q "ended after its limit"
ok $? "a part that hangs: the reason" "$(told parts parity why)"
state first passed "the part behind it has its turn"
rm "$BUILD/parity/emulated"
ln -s "$build/parity/emulated" "$BUILD/parity/emulated"

# --- parts that are skipped: the time is up, the program is missing, there is no card ---
GPU_VERIFY_SECONDS=0 verify --emulated --part repeat
is_exit 69 "no time left: 69"
grep -q '^0 passed; failed: none; skipped, which is not a pass: build repeat; ' out
ok $? "nothing that was not tried has passed" "$(cat out)"
mv "$BUILD/emulated" gone
verify --emulated --part repeat
is_exit 1 "no program: 1"
state build failed "it was not built"
state repeat skipped "no program: no part is tried"
is "$(told parts repeat why)" "the program was not built" "no program: the reason"
mv gone "$BUILD/emulated"
if [ -e /dev/nvidiactl ] || command -v nvidia-smi >/dev/null 2>&1; then
    skip "no card" "there may be one"
else
    ln -s "$DNN" "$BUILD/dnn"
    verify --part repeat
    is_exit 69 "no card: 69"
    is "$(told parts repeat why)" "no GPU is seen here" "no card: the reason"
    is "$(told emulated)" no "no card: the report does not say emulated"
fi
done_testing
