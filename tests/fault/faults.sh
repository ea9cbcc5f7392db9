#!/bin/bash
# faults.sh - opens, reads, writes, fsyncs, renames, closes, unlinks and threads of a training fail in turn, and a sample of its
# allocations (allocations.sh fails each, of a smaller one): a clean error with a code of the contract, the model from before
# untouched, nothing left beside it, --resume goes on.
# Ids: F01 F02 F03 F04 F08 F09 F10 X08. One line reproduces any of them: the DNN_FAULT=... of a failed check.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
POINTS=${POINTS:-40} # allocations to fail, spread over all
make_data d.csv 600
make_config c.json d.csv binary '"epochs": 4, "checkpoint": {"every_s": 0, "keep": 2}' \
    '"backend": {"name": "dnn_cpu", "threads": 2}, "output": {"metrics": "m.jsonl"}'
run dnn train c.json -o m.dnn --progress none
is_exit 0 "a training without faults"
want=$(digest m.dnn)
# what stands there before is another model: a training that ends well must have replaced it
run dnn train c.json -o m.dnn --progress none --set train.seed=99
is_exit 0 "a training with another seed"
[ "$(digest m.dnn)" != "$want" ]
ok $? "gives another model"
cp m.dnn before.dnn
DNN_FAULT=count "$HOOKED" train c.json -o m.dnn --progress none 2>&1 >/dev/null | grep 'fault counts' >counts
count_of() { sed -n "s/.* $1=\([0-9]*\).*/\1/p" counts; }

# note_is_true FILE BEFORE: what err says of FILE, or of what there is to go on from, and it says so, but where
# memory ran out and the process ends at once; no BEFORE: there was no such file
note_is_true() {
    if grep -qE 'note: .*(nothing was written|was not written|is unchanged)' err; then
        if [ -e "$1" ] || grep -q 'note: .* is unchanged' err; then cmp -s "$1" "$2"; fi
    else
        grep -qE 'in place and whole|checkpoint ".*" (is whole|is written)|good checkpoint is kept|error\[E1701\]' err
    fi
}
# sweep KIND ERRNO CODES STEP LEAST: fails every STEP-th call; CODES are the exits that may follow, LEAST is how many of the
# faults must make the training fail, or "all". A training that ends well all the same leaves the model of one without faults.
sweep() {
    local kind=$1 error=$2 codes=$3 step=$4 least=$5 n bad="" total hit=0 tried=0
    total=$(count_of "$kind")
    [ "${total:-0}" -gt 0 ] || bad="no call of this kind was counted; "
    for ((n = 1; n <= total; n += step)); do
        tried=$((tried + 1))
        cp before.dnn m.dnn
        local fault=$kind:$n${error:+:$error}
        STATUS=0
        DNN_FAULT=$fault "$HOOKED" train c.json -o m.dnn --progress none >out 2>err || STATUS=$?
        if [ $STATUS -ne 0 ]; then
            hit=$((hit + 1))
            case " $codes " in *" $STATUS "*) ;; *) bad+="$fault: exit $STATUS: $(tail -n 3 err); " ;; esac
            cmp -s m.dnn before.dnn || [ "$(digest m.dnn)" = "$want" ] || bad+="$fault: the model changed; "
            note_is_true m.dnn before.dnn || bad+="$fault: $(tail -n 1 err), which is not so; "
            grep -q 'error\[E' err || bad+="$fault: no message; "
            [ -z "$(find . -name '.*dnn-tmp-*')" ] || bad+="$fault: a temporary file is left; "
            [ ! -e m.dnn.lock ] || bad+="$fault: the lock is left; "
            "$DNN" train c.json -o m.dnn --resume --progress none >/dev/null 2>err || bad+="$fault: resume: $(tail -n 2 err); "
        else
            "$DNN" verify m.dnn >out 2>err || bad+="$fault: exit 0, but the model cannot be loaded: $(tail -n 2 err); "
        fi
        [ "$(digest m.dnn)" = "$want" ] || bad+="$fault: other bytes; "
        rm -f m.dnn.ckpt-* m.dnn.lock
    done
    [ -z "$bad" ]
    ok $? "$kind${error:+ ($error)}: $hit of $total calls make a training fail, cleanly" "$bad"
    [ "$least" != all ] || least=$tried
    [ $hit -ge "$least" ]
    ok $? "$kind${error:+ ($error)}: the faults are noticed" "$hit made a training fail, expected at least $least"
}
sweep write ENOSPC "74 73" 1 all # F01
sweep write EFBIG "74 73" 3 all # F04
sweep write EDQUOT "74 73" 3 all
sweep fsync EIO "74" 1 all # F02 F03
sweep fsync ENOSPC "74" 2 all
sweep rename EXDEV "74" 1 all # F08
sweep rename EACCES "73" 2 all
sweep close EIO "74 73" 1 3
sweep open EMFILE "71 73 66" 1 8 # F10
sweep open EACCES "77 73" 1 8
sweep read EIO "74 76" 1 4
sweep unlink EIO "74" 1 0 # what cannot be removed is a warning
sweep thread EAGAIN "71" 1 0 # X08: fewer threads, the same bytes
sweep alloc "" "71" $(($(count_of alloc) / POINTS + 1)) all

# the folder is synced when the metrics' file is made
fsyncs() { DNN_FAULT=count "$HOOKED" train c.json -o m.dnn --progress none 2>&1 >/dev/null | sed -n 's/.* fsync=\([0-9]*\).*/\1/p'; }
rm -f m.jsonl
is "$(fsyncs)" $(($(fsyncs) + 1)) "F03 a file of metrics that is made is durable, and so is its name"
# what is in place may be another file than the model
for before in none before.dnn; do
    rm -f m.jsonl m.dnn
    [ $before = none ] || cp $before m.dnn
    run env DNN_FAULT=fsync:1 "$HOOKED" train c.json -o m.dnn --progress none
    is_exit 74 "F03 the folder of the metrics cannot be synced"
    err_has 'm.jsonl: the folder' "F03 the folder of the metrics cannot be synced: the error names it"
    note_is_true m.dnn $before && grep -q 'note: m.dnn' err
    ok $? "F03 the folder of the metrics cannot be synced: what became of the model" "$(cat err)"
done
cp before.dnn m.dnn
run env DNN_FAULT=fsync:"$(fsyncs)" "$HOOKED" train c.json -o m.dnn --progress none
err_has 'm.dnn: the folder' "F03 the model's folder cannot be synced"
kept=$(sed -n 's/.*the checkpoint "\(.*\)" stays beside it.*/\1/p' err)
[ -e "${kept:-none}" ] && [ "$(digest m.dnn)" = "$want" ]
ok $? "F03 the model is there, and its checkpoint stays, which is said" "$(cat err)"
rm -f m.dnn.ckpt-*

# answers and rejects: neither is put in place before both are on the disk
run dnn train c.json -o m.dnn --progress none
awk -F, -v OFS=, 'NR == 3 { $1 = "x" } { print }' d.csv >bad.csv
for n in 1 2; do
    rm -f a.out r.out
    run env DNN_FAULT=fsync:$n "$HOOKED" predict m.dnn bad.csv -o a.out --on-bad-row skip --rejects r.out
    is_exit 74 "F03 predict: fsync $n fails"
    [ ! -e a.out ] && [ ! -e r.out ]
    ok $? "F03 neither answers nor rejects are there" "$(ls -A)"
done
# what is said of an output that was not there
bad=""
for fault in fsync:{1,2,3} write:{1,2} rename:1 open:{1,2,3,4}; do
    for what in "a.out predict m.dnn d.csv" "i.json init d.csv --target y"; do
        rm -f a.out i.json
        # shellcheck disable=SC2086 # an output, and words
        set -- $what
        output=$1
        shift
        run env DNN_FAULT=$fault:EIO "$HOOKED" "$@" -o "$output"
        [ $STATUS -eq 0 ] || note_is_true "$output" none || bad+="$fault $1: $(cat err); "
    done
done
[ -z "$bad" ]
ok $? "F02 what predict and init say of the disk is so" "$bad"
run dnn predict m.dnn bad.csv -o a.out --on-bad-row skip --rejects r.out
[ -s a.out ] && [ "$(wc -l <r.out)" -eq 2 ]
ok $? "both come with a disk that works"

# F09 interrupted and short calls are repeated: EINTR through the wrappers is invisible
if sanitized; then
    skip "F09 every third call is interrupted" "the search for leaks cannot run under strace"
elif command -v strace >/dev/null 2>&1 && strace -o /dev/null true 2>/dev/null; then
    cp before.dnn m.dnn
    # the first reads are the loader's
    strace -f -o /dev/null -e inject=read:error=EINTR:when=16+3 -e inject=write,fsync:error=EINTR:when=1+3 \
        "$DNN" train c.json -o m.dnn --progress none >out 2>err
    ok $? "F09 every third call is interrupted: repeated" "$(cat err)"
    is "$(digest m.dnn)" "$want" "F09 every third call is interrupted: the same bytes"
else
    skip "F09 every third call is interrupted" "no strace here"
fi
# F04 a real limit on the size of files
(
    ulimit -f 4
    "$DNN" train c.json -o l.dnn --progress none >out 2>err
)
is $? 74 "F04 ulimit -f: 74, not a signal"
no_leftovers l.dnn "nothing is left"
# F01 a real full disk
if mkdir -p full && mount -t tmpfs -o size=64k none full 2>/dev/null; then
    head -c 60000 /dev/zero >full/ballast 2>/dev/null
    run dnn train c.json -o full/m.dnn --progress none
    is_exit 74 "F01 a full disk: 74"
    err_has "free" "F01 a full disk: the bytes that are free"
    ls full | grep -v ballast >left
    [ ! -s left ]
    ok $? "nothing is left on it" "$(cat left)"
    umount full
else
    skip "F01 a real full disk" "mounting is not permitted here"
fi
done_testing
