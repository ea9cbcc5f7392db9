"""example.py MODEL DATA.csv - three scenarios of predicting in Spark:

    spark-submit --py-files dnn_spark.py example.py leads.dnn new.csv

1. on the CPU: the default, which works on every cluster
2. on GPUs: where tasks hold a gpu resource (`dnn help spark`); elsewhere a warning, and the CPU
3. both compared: seconds, rows a second, and the largest difference between their answers
"""
import sys
import time

import dnn_spark
from pyspark.sql import SparkSession, functions as F


def answers(df, model, schema, **options):
    """All answers by row, and the seconds that they took."""
    began = time.time()
    rows = dnn_spark.predict(df, model, schema, **options).collect()
    return {row[0]: row[1:] for row in rows}, time.time() - began


def main(model, data):
    spark = SparkSession.builder.appName("dnn example").getOrCreate()
    df = spark.read.csv(data, header=True, escape='"').repartition(spark.sparkContext.defaultParallelism)
    df = df.withColumn("row", F.monotonically_increasing_id()).cache()
    rows = df.count()
    schema = "row bigint, " + dnn_spark.schema_of(model)

    print("1. CPU")
    cpu, cpu_s = answers(df, model, schema)
    for key in sorted(cpu)[:3]:
        print("  ", key, *cpu[key])

    print("2. GPU")
    gpu, gpu_s = answers(df, model, schema, use_gpu_in_udf=True, prediction_batch_size=65536)

    print("3. compared")
    print(f"   CPU {cpu_s:.2f} s, {rows / cpu_s:.0f} rows/s; GPU {gpu_s:.2f} s, {rows / gpu_s:.0f} rows/s")
    pairs = ((a, b) for key in cpu for a, b in zip(cpu[key], gpu[key]) if isinstance(a, float))
    print(f"   largest difference of a number {max((abs(a - b) for a, b in pairs), default=0.0):.3g}")
    print(f"   other labels: {sum(1 for key in cpu for a, b in zip(cpu[key], gpu[key]) if isinstance(a, str) and a != b)} of {rows}")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
