"""spark.py cluster|local - the checks of spark.sh, as lines of TAP without plan. Each is a driver of its own: the settings of Spark's JVM
outlive a session. `dnn` on the executors is often a shell script that tells what it was given."""
import json
import os
import subprocess
import sys

import dnn_spark
from pyspark.sql import SparkSession, functions as F

WORK = os.getcwd()
SQL = open(os.path.join(os.path.dirname(dnn_spark.__file__), "transform.sql")).read()


def ok(good, name, detail=""):
    print(f"{'ok' if good else 'not ok'} - {name}", flush=True)
    if not good:
        print("".join(f"#   {line}\n" for line in str(detail)[:2000].splitlines()), end="", flush=True)


def script(name, text):
    with open(name, "w") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(name, 0o755)
    return os.path.join(WORK, name)


def local(*words):
    p = subprocess.run([os.environ["DNN"], *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.returncode == 0, p.stderr
    return p.stdout


def failure(action):
    try:
        action()
        return "nothing failed"
    except Exception as e:
        return str(e)


def session(master, **conf):
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.sql.shuffle.partitions", "3").config("spark.sql.warehouse.dir", WORK + "/warehouse")
    builder = builder.config("spark.task.maxFailures", "2").config("spark.ui.showConsoleProgress", "false")
    for key, value in conf.items():
        builder = builder.config(key.replace("__", "."), value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def table(rows):
    """Rows as dnn writes them, in the order of their ids."""
    return sorted(",".join("" if v is None else "%.9g" % v if isinstance(v, float) else v for v in row) for row in rows)


ANSWERS = "lead_id string, prediction string, probability_no double, probability_yes double"
TEXTS = ANSWERS.replace("double", "string")
told = WORK + "/told"
real = f'[ "$1" = predict ] || exec {os.environ["DNN"]} "$@"\n'  # the driver inspects models
spy = script("spy", real + f'echo "gpus=$CUDA_VISIBLE_DEVICES omp=$OMP_NUM_THREADS $*" >>{told}\nexec {os.environ["DNN"]} "$@"\n')
fake = script("gpus", """echo '{"name": "gpu", "addresses": ["0", "1", "2"]}'\n""")


def cluster():
    spark = session("local-cluster[2,2,1024]", spark__task__cpus="2", spark__worker__resource__gpu__amount="3",
                    spark__worker__resource__gpu__discoveryScript=fake, spark__executor__resource__gpu__amount="1",
                    spark__task__resource__gpu__amount="1")
    print(f"# Spark {spark.version}, {spark.sparkContext.master}", flush=True)
    df = spark.read.csv("file://" + WORK + "/new.csv", header=True, escape='"', inferSchema=True).repartition(4).cache()
    rows = df.count()
    want = sorted(local("predict", "m.dnn", "new.csv", "-q").splitlines()[1:])
    print(f"# {rows} rows in {df.rdd.getNumPartitions()} partitions; NULL ages: {df.where('age is null').count()}")

    # --- predict ---
    got = dnn_spark.predict(df, "m.dnn", TEXTS, dnn=spy, threads=1, prediction_batch_size=64, verbosity=0)
    ok(table(got.collect()) == want, f"predict: {rows} answers, byte for byte those of one dnn", table(got.collect())[:3] + want[:3])
    seen = open(told).read()
    ok("gpus= omp=1 " in seen and "--backend cpu --threads 1 --verbosity 0" in seen and "--batch-size 64" in seen,
       "no GPU where nobody opted in; threads, batch size and verbosity arrive", seen)
    ok(table(dnn_spark.predict(df, "m.dnn", ANSWERS).collect()) == want, "numbers keep their digits as double")
    os.remove(told)
    with open("driver.err", "w") as f:
        kept, sys.stderr = sys.stderr, f
        for _ in range(2):
            got = dnn_spark.predict(df, "m.dnn", ANSWERS, use_gpu_in_udf=True, dnn=spy, verbosity=2)
        sys.stderr = kept
    ok(table(got.collect()) == want, "opted in, with a gpu resource of each task: the same answers from a host without a card")
    seen = open(told).read()
    ok("gpus=0 omp=2 " in seen and "--backend dnn_gpu --threads 2 --verbosity 2" in seen and "gpus= " not in seen,
       "the task's card and its CPUs are given to dnn", seen)
    seen = open("driver.err").read()
    ok(seen.count("can go wrong") == 1 and "spark.task.resource.gpu.amount" in seen, "what can go wrong is said once, at the driver", seen)
    got = dnn_spark.predict(df, "two.dnn", "probability_yes double, uncertainty float, city string, age int, lead_id string")
    mine = {r.lead_id: r for r in got.collect()}
    ok(all(mine[r.lead_id].city == r.city and mine[r.lead_id].age == r.age for r in df.collect()),
       "columns of df that the schema names are passed through, in its order")
    ok(dnn_spark.predict(df.where("age < 0").repartition(3), "m.dnn", ANSWERS).count() == 0, "no rows, no answers")
    ok(dnn_spark.predict(df.limit(2).repartition(5), "m.dnn", ANSWERS).count() == 2, "partitions without rows")

    steps = spark.createDataFrame([(f"g{i % 7}", str(i)) for i in range(200)], ["series", "t"]).repartition(4)
    parts = [[(r.series, int(r.t)) for r in part] for part in dnn_spark._by_group(steps, "series", "t").rdd.glom().collect()]
    homes = [{g for g, _ in part} for part in parts]
    ok(sum(map(len, homes)) == 7 and all(part == sorted(part) for part in parts),
       "long format: each group in one partition, in the order of its numbers", parts)

    # rows are steps, in any order and any partition: a row has the mean of its windows' answers, so that a group in two tasks would show
    steps = spark.read.csv("file://" + WORK + "/steps.csv", header=True).orderBy(F.rand(3)).repartition(5).cache()
    ordered = [(r.series, int(r.t)) for part in steps.rdd.glom().collect() for r in part]
    ok(ordered != sorted(ordered) and steps.rdd.getNumPartitions() == 5, f"long models: {len(ordered)} rows, out of order, in 5 partitions")
    schema = "series string, t string, prediction string, probability_calm string, probability_rising string, probability_stormy string"
    spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")  # so little data would be one task
    for label, lines in (("row", len(ordered)), ("group", len({g for g, _ in ordered}))):
        whole = sorted(local("predict", label + ".dnn", "steps.csv", "-q").splitlines()[1:])
        if os.path.exists(told):
            os.remove(told)
        got = table(dnn_spark.predict(steps, label + ".dnn", schema, dnn=spy).collect())
        ok(len(whole) == lines and got == whole, f"label {label}: {lines} answers, byte for byte those of one dnn", got[:3] + whole[:3])
        tasks = open(told).read().count(" predict ")
        ok(1 < tasks <= 3, f"label {label}: by {tasks} tasks")
    whole = local("predict", "row.dnn", "steps.csv", "-q").splitlines()[1:]
    bad = steps.withColumn("noise", F.when((F.col("series") == "s3") & (F.col("t") == "2"), "x").otherwise(F.col("noise")))
    got = table(dnn_spark.predict(bad, "row.dnn", schema, on_bad_row="null").collect())
    lost = [g for g in got if g.endswith(",,,,")]
    ok(len(got) == len(whole) and len(lost) == 16 and all(g.startswith("s3,") for g in lost) and set(got) - set(lost) <= set(whole),
       "a bad step: its window has no answers, other rows have theirs", lost[:20])
    spark.conf.unset("spark.sql.adaptive.coalescePartitions.enabled")

    # --- failures ---
    seen = failure(lambda: dnn_spark.predict(df, "m.dnn", "lead_id string, probability_maybe double").collect())
    ok("no column probability_maybe; they have lead_id, prediction" in seen, "a column that the answers lack", seen)
    seen = failure(lambda: dnn_spark.predict(df.withColumn("a", F.array("city")), "m.dnn", ANSWERS))
    ok('column "a" is of type array<string>' in seen, "a column that is no cell", seen)
    seen = failure(lambda: dnn_spark.predict(df.drop("city"), "m.dnn", ANSWERS).collect())
    ok("dnn predict ended with 65" in seen and '"city"' in seen, "a column that the model needs", seen)
    broken = script("broken", real + "sleep 0.2\necho 'the last words' >&2\nexit 70\n")
    seen = failure(lambda: dnn_spark.predict(df, "m.dnn", ANSWERS, dnn=broken).collect())
    ok("dnn predict ended with 70" in seen and "the last words" in seen, "a dnn that fails fails the task, with its messages", seen)
    lost = WORK + "/lost"
    script("java_of", 'p=$1\nwhile [ $p -gt 1 ] && [ "$(cat /proc/$p/comm)" != java ]; do p=$(sed "s/.*) . \\([0-9]*\\) .*/\\1/" /proc/$p/stat); done\necho $p\n')
    deadly = script("deadly", real + f'if mkdir {lost} 2>/dev/null; then sleep 0.2; kill -9 "$({WORK}/java_of $$)"; sleep 60; fi\n'
                              f'exec {os.environ["DNN"]} "$@"\n')
    got = table(dnn_spark.predict(df, "m.dnn", ANSWERS, dnn=deadly).collect())
    ok(os.path.isdir(lost) and got == want, "an executor killed in the middle: its task is tried again, the answers are the same")

    # --- bad rows ---
    bad = df.withColumn("age", F.when(F.col("lead_id") == "L00007", "old").otherwise(F.col("age").cast("string"))).withColumn(
        "city", F.when(F.col("lead_id") == "L00009", "New\nYork").otherwise(F.col("city")))
    got = table(dnn_spark.predict(bad, "m.dnn", ANSWERS, on_bad_row="null").collect())
    empty = [w if w[:6] not in ("L00007", "L00009") else w[:6] + ",,," for w in want]
    ok(got == empty, "bad rows, null: NULL answers at their place; a line end inside a value makes one bad row", got[5:9])
    got = table(dnn_spark.predict(bad, "m.dnn", ANSWERS, on_bad_row="skip").collect())
    ok(got == [e for e in empty if not e.endswith(",,,")], "bad rows, skip: left out")
    seen = failure(lambda: dnn_spark.predict(bad.where("lead_id = 'L00007'"), "m.dnn", ANSWERS).collect())
    ok("dnn predict ended with 65" in seen and 'column "age": "old" is not a number' in seen, "bad rows, stop: the reason in the exception", seen)

    # --- SQL TRANSFORM and rdd.pipe ---
    os.link("m.dnn", "leads.dnn")
    df.createOrReplaceTempView("leads")
    for statement in SQL.replace("/opt/dnn/dnn", os.environ["DNN"]).replace("/srv/models", WORK).split(";\n"):
        statement = "\n".join(line for line in statement.splitlines() if not line.startswith("--"))
        result = spark.sql(statement) if statement.strip() else result
    ok(table(result.collect()) == want, "transform.sql: the same answers")
    columns = df.columns
    lines = df.select([F.coalesce(F.col(c).cast("string"), F.lit("\\N")) for c in columns]).rdd.map("\t".join)
    ok(sorted(dnn_spark.pipe(lines, spark, "m.dnn", columns).collect()) == [w.replace(",", "\t") for w in want], "rdd.pipe: the same lines")
    seen = failure(lambda: dnn_spark.pipe(lines, spark, "m.dnn", ["lead_id", "age"]).collect())
    ok("65" in seen, "rdd.pipe: a dnn that fails is not overlooked", seen)
    line = dnn_spark.command(spark, "m.dnn", columns)
    result = spark.sql(f"""SELECT TRANSFORM ({', '.join(columns)}) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t' NULL DEFINED AS '\\\\N'
        USING "{line.replace(chr(92), chr(92) * 2)}" AS ({ANSWERS}) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t' FROM leads""")
    ok(table(result.collect()) == want, "TRANSFORM by the line that command() writes")

    # --- training ---
    local("train", "leads.json", "-o", "m.dnn", "-q", "--set", "train.seed=5")
    want = sorted(local("predict", "m.dnn", "new.csv", "-q").splitlines()[1:])
    ok(table(dnn_spark.predict(df, "m.dnn", ANSWERS).collect()) == want, "a model trained anew under its old name is the one that answers")
    local("train", "runs.json", "-o", "one.dnn", "-q")
    result = dnn_spark.train(spark, "runs.json", "elsewhere/many.dnn", verbosity=0)
    ok(open("one.dnn", "rb").read() == open("elsewhere/many.dnn", "rb").read(), "four runs of an ensemble as tasks: the same bytes as one machine")
    ok([m["name"] for m in result["members"]] == ["a", "b"], "and its result", result)
    one = json.loads(local("tune", "trials.json", "--trials", "7", "-o", "one.json", "--json", "-q"))
    result = dnn_spark.train(spark, "trials.json", "elsewhere/best.json", trials=7, verbosity=0)
    local("tune", "trials.json", "--trials", "7", "-o", "elsewhere/one.json", "-q")
    ok(open("elsewhere/one.json").read() == open("elsewhere/best.json").read(), "seven trials of a search as tasks: the same best config")
    ok([t["valid"] for t in result["trials"]] == [t["valid"] for t in one["trials"]], "and the same figures of every trial", result)
    seen = failure(lambda: dnn_spark.train(spark, "leads.json"))
    ok("nothing to spread" in seen, "one run of one network is refused", seen)
    spark.stop()


def alone():
    """No cluster, and no gpu resource."""
    spark = session("local[1]", spark__task__cpus="1")
    columns = ["lead_id", "age", "city", "visits", "signed_on"]
    with open("driver.err", "w") as f:
        kept, sys.stderr = sys.stderr, f
        got = [dnn_spark.predict(spark.createDataFrame(df_rows, columns), "m.dnn", ANSWERS, use_gpu_in_udf=True, dnn=spy)
               for df_rows in [[("L1", 30, "Oslo", 3.5, "2024-01-01")]] * 2]
        sys.stderr = kept
    seen = got[0].collect() and open(told).read()
    ok("gpus= " in seen and "--backend cpu" in seen, "opted in without a gpu resource: the CPU", seen)
    seen = open("driver.err").read()
    ok(seen.count("warning") == 1 and "spark.task.resource.gpu.amount is not set" in seen, "with one warning", seen)
    lines = spark.sparkContext.parallelize(["L1\t30\tOslo\t3.5\t2024-01-01"], 1)
    ok(dnn_spark.pipe(lines, spark, "m.dnn", columns).collect()[0].startswith("L1\t"), "rdd.pipe without a cluster")
    spark.stop()


{"cluster": cluster, "local": alone}[sys.argv[1]]()
