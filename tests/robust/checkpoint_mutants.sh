#!/bin/bash
# checkpoint_mutants.sh - checkpoints with changes and a correct digest go into `train --resume`: each tensor empty, halved or doubled;
# plans that ask for much memory; CASES files with random bytes (the same ones each time). Each case ends with 0, 76 or 80, within 1 GB
# of address space and 20 s; the slowest case is printed. And --resume=or-restart.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
cases=${CASES:-60}
make_data d.csv 600
make_config c.json d.csv binary '"epochs": 6, "early_stopping": {"patience": 0}, "checkpoint": {"every_s": 0, "keep": 2}' \
    '"backend": {"name": "dnn_cpu", "threads": 1}, "output": {"model": "m.dnn"}'
sed -i 's/"hidden": \[16, 8\]/"hidden": [8], "norm": "batch"/' c.json
env --default-signal=TERM "$DNN" train c.json --set train.epochs=100000 --progress none >/dev/null 2>&1 &
pid=$!
for _ in $(seq 500); do ls m.dnn.ckpt-* >/dev/null 2>&1 && break; sleep 0.01; done
kill -TERM $pid
wait $pid
mkdir kept
mv m.dnn.ckpt-* kept
newest=$(ls kept | tail -n 1)
# every tensor of a checkpoint with another number of entries: data and offsets fit again, and the hash
cat >count.pl <<'PERL'
use Digest::SHA qw(sha256_hex);
my ($from, $to, $change, $which) = @ARGV;
local $/; open my $in, '<:raw', $from or die; my $b = <$in>;
my $n = unpack 'Q<', $b; my ($h, $d) = (substr($b, 8, $n), substr($b, 8 + $n)); $h =~ s/ +\z//;
my (@all, $at);
while ($h =~ /"([^"]+)":\{"dtype":"(\w+)","shape":\[([\d,]*)\],"data_offsets":\[(\d+),(\d+)\]\}/g) {
    push @all, [$1, $2, $3, substr($d, $4, $5 - $4)] }
if ($change eq 'names') { print map { "$_->[0]\n" } @all; exit }
my ($meta) = $h =~ /\A(\{"__metadata__":\{.*?"\}),"/s or die; my $data = '';
for my $t (@all) {
    if ($t->[0] eq $which) {
        my @s = split /,/, $t->[2];
        if ($change eq 'none') { $s[0] = 0; $t->[3] = '' }
        elsif ($change eq 'half') {
            next if $s[0] < 2;
            my $row = length($t->[3]) / $s[0];
            $s[0] = int($s[0] / 2); $t->[3] = substr $t->[3], 0, $row * $s[0] }
        else { $s[0] *= 2; $t->[3] x= 2 }
        $t->[2] = join ',', @s;
    }
    my $end = length($data) + length $t->[3];
    $meta .= sprintf ',"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}', @$t[0 .. 2], length $data, $end;
    $data .= $t->[3];
}
$h = "$meta}"; $h .= ' ' while (8 + length $h) % 64;
my $w = pack('Q<', length $h) . $h . $data; substr($w, 35, 64) = '0' x 64; substr($w, 35, 64) = sha256_hex($w);
open my $out, '>:raw', $to or die; print $out $w;
PERL
bad="" count=0 met=0
slowest=0
resume() { # NAME: the checkpoint in this folder
    local began
    began=$(now_ms)
    count=$((count + 1))
    rm -f m.dnn
    local limits=""
    sanitized || limits="ulimit -v 1000000;"
    bash -c \
        "$limits exec timeout 20 '$DNN' train c.json --set train.epochs=100000 --time-limit 0.05 --resume --progress none" \
        >out 2>err </dev/null
    local status=$?
    began=$(($(now_ms) - began))
    [ $began -le $slowest ] || slowest=$began
    case $status in 0 | 76 | 80) ;; *) bad+="$1: exit $status: $(head -n 1 err); " ;; esac
    grep -q "$newest\|resuming at step" err && met=$((met + 1)) # it was read: refused by name, or gone on from
    rm -f m.dnn.ckpt-* m.dnn.lock
}
tensors=$(perl count.pl "kept/$newest" x names)
[ "$(wc -l <<<"$tensors")" -ge 8 ]
ok $? "a checkpoint of $(wc -l <<<"$tensors") tensors"
for tensor in $tensors; do
    for change in none half twice; do
        perl count.pl "kept/$newest" "$newest" $change "$tensor" && resume "$tensor $change"
    done
done
[ "$count" -gt 20 ] && [ "$met" -eq "$count" ]
ok $? "each of $count changed tensors was read by --resume" "$met"
is "$bad" "" "$count tensors without numbers, cut or doubled: no crash"
bad="" count=0 met=0
for change in 's/(\\"batch\\":)\d+/${1}16777216/' 's/(\\"micro\\":)\d+/${1}4294967295/' 's/(\\"shards\\":)\d+/${1}4294967295/' \
    's/(\\"batch\\":)\d+/${1}0/' 's/(\\"batch\\":)\d+/${1}4294967295/' 's/(\\"core\\":\\")\w+/${1}zzz/' \
    's/(\\"precision\\":\\")\w+/${1}fp16/' \
    's/(\\"backend\\":\\")\w+/${1}cuda/'; do
    perl "$ROOT/tests/resign.pl" "kept/$newest" "$newest" "$change" && resume "$change"
done
is "$count $met" "8 8" "each of 8 changed plans was read by --resume"
is "$bad" "" "$count plans that cannot be: no crash, no memory beyond what the config needs"
bad="" count=0 met=0
for ((i = 0; i < cases; i++)); do
    perl "$ROOT/tests/resign.pl" "kept/$newest" "$newest" '' \
        "my \$s = $i + 1; for my \$k (0 .. \$s % 4) { \$s = \$s * 16807 % 2147483647; my \$at = \$s % length;
        \$s = \$s * 16807 % 2147483647;
        substr(\$_, \$at, 1) = chr(\$s % 3 ? \$s >> 8 & 255 : (0, 255, 127, 128)[\$s % 4]) }"
    resume "bytes at random, case $i"
done
is "$count $met" "$cases $cases" "each of $cases files was read by --resume"
is "$bad" "" "$count files with bytes at random: no crash"

echo "# the slowest case took $slowest ms"

# --resume=or-restart
cp "kept/$newest" .
run dnn train c.json --resume --set train.seed=9 --progress none
is_exit 76 "another config with --resume: 76"
echo "a letter" >m.dnn.ckpt-000000000001
run dnn train c.json --resume=or-restart --set train.seed=9 --set train.epochs=2 --progress none
is_exit 0 "another config with --resume=or-restart: a new start"
is "$(cat m.dnn.ckpt-000000000001)" "a letter" "a file of that name that is no checkpoint stays"
rm m.dnn.ckpt-000000000001
err_has "the config differs in" "it says what differs"
run dnn train c.json -o n.dnn --set train.seed=9 --set train.epochs=2 --progress none
same m.dnn n.dnn "the bytes of a training that began so"
run dnn train c.json --resume=never
is_exit 64 "--resume=never: 64"
err_has "or-restart"
done_testing
