#!/bin/sh
# spark-gpus.sh - Spark's resource discovery: one line of JSON with the cards that pass gpucheck; without one an empty list. Spark
# starts it without arguments:
#   --conf spark.worker.resource.gpu.discoveryScript=/opt/dnn/spark-gpus.sh --conf spark.worker.resource.gpu.amount=1
# DNN=/opt/dnn/dnn names the program; not needed beside this script, on PATH or in /usr/local/bin.
dnn=${DNN:-dnn} PATH=$PATH:$(dirname "$0"):/usr/local/bin # cron's is short
exec "$dnn" gpucheck --format spark
