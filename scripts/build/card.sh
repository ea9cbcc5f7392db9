#!/bin/sh
# card.sh - for which architectures make compiles kernels here: those of the NVIDIA cards of this machine, as "86" or "90 90a"; "unknown"
# where a card is here that nvidia-smi does not describe; nothing where none is visible, or none from 7.5 on.
set -eu
case ${CUDA_VISIBLE_DEVICES-0} in '' | -1) exit 0 ;; esac
caps=$(timeout 10 nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null) || caps=""
archs=$(printf '%s\n' "$caps" | sed -n 's/^ *\([0-9][0-9]*\)\.\([0-9]\) *$/\1\2/p' | sort -un)
if [ -z "$archs" ]; then
    [ ! -e "${DEVICE:-/dev/nvidia0}" ] || echo unknown
    exit 0
fi
for arch in $archs; do
    [ "$arch" -lt 75 ] || echo "$arch"
    [ "$arch" -ne 90 ] || echo 90a
done
