#!/bin/sh
# prometheus.sh FOLDER [MODEL DATA.csv] - the state of the GPU, and the metrics of a model on labelled rows (dnn evaluate --format
# prom), for the text-file collector of Prometheus' node exporter, replaced in one go:
#   */10 * * * *  /opt/dnn/prometheus.sh /var/lib/prometheus/node-exporter
# A machine without a GPU is shown (dnn_gpucheck_exit 69) and is no failure of this job. A check that did not finish is shown with its
# code (75 stopped, 127 no dnn, 64 a bad variable), and the job ends with that code: the old figures are no longer true.
# DNN=/opt/dnn/dnn names the program; not needed beside this script or in /usr/local/bin.
set -eu
[ $# -eq 1 ] || [ $# -eq 3 ] || { echo "usage: prometheus.sh FOLDER [MODEL DATA.csv]" >&2; exit 64; }
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):$(dirname "$0")/../../../bin:/usr/local/bin # cron's is short
new=$1/.dnn.prom.$$
code=0 failed=0
trap 'rm -f "$new"' EXIT
pid='' told=
tell() { # dnn is told, and what it says is still to be shown; in its first moments it is still this shell, which would not pass it on
    told=yes
    [ -z "$pid" ] || { sleep 1; kill -TERM "$pid" || :; }
}
trap tell HUP INT TERM
"$dnn" gpucheck --format prom >"$new" &
pid=$!
[ -z "$told" ] || tell # it came between the two lines above
wait "$pid" || code=$?
[ -z "$told" ] || [ "$code" -le 128 ] || { # that was this script's signal
    code=0
    wait "$pid" || code=$?
}
[ -z "$told" ] || failed=$code
grep -q '^dnn_gpucheck_exit ' "$new" || {
    failed=$code
    [ "$failed" -ne 0 ] || failed=70
    printf '# TYPE dnn_gpucheck_exit gauge\ndnn_gpucheck_exit %d\n' "$failed" >"$new"
}
[ $# -eq 1 ] || [ "$failed" -ne 0 ] || "$dnn" evaluate "$2" "$3" --format prom --quiet >>"$new" || failed=$?
chmod 644 "$new"
mv "$new" "$1/dnn.prom"
exit "$failed"
