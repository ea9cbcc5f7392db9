#!/bin/sh
# getGpusResources.sh - Spark's resource discovery: one line of JSON with the cards that pass gpucheck; without one an empty list. Spark
# starts it without arguments:
#   spark.worker.resource.gpu.discoveryScript    standalone workers
#   spark.executor.resource.gpu.discoveryScript  YARN, Kubernetes
# DNN=/opt/dnn/dnn names the program; not needed beside this script, on PATH or in /usr/local/bin.
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):$(dirname "$0")/../../../bin:/usr/local/bin # a daemon's is short
exec "$dnn" gpucheck --format spark
