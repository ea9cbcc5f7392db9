#!/bin/sh
# prometheus.sh FOLDER - the state of the GPU for the text-file collector of Prometheus' node exporter, replaced in one go:
#   */10 * * * *  /opt/dnn/prometheus.sh /var/lib/prometheus/node-exporter
# A machine without a GPU is a fact to be shown (dnn_gpucheck_exit 69) and not a failure of this job.
set -eu
folder=${1:?usage: prometheus.sh FOLDER}
new=$folder/.dnn.prom.$$
trap 'rm -f "$new"' EXIT
dnn gpucheck --format prom >"$new" 2>/dev/null || :
[ -s "$new" ] || { echo "prometheus.sh: dnn gpucheck wrote nothing" >&2; exit 70; }
chmod 644 "$new"
mv "$new" "$folder/dnn.prom"
