"""dnn_spark - predict and train with dnn inside Spark tasks.

    import dnn_spark
    answers = dnn_spark.predict(df, "leads.dnn", "lead_id string, prediction string, probability_yes double")
    model = dnn_spark.train(spark, "ensemble.json", "leads.dnn")

Each task starts a dnn of its own and talks to it through pipes, in TSV: columns are cast to strings by Spark, NULL is \\N. The program
and the model are sent to the executors with SparkContext.addFile, under names with their digests: a model that was trained anew is never
mistaken for the old one. Tasks compute on the CPU, but where the caller opts in and the task holds a gpu resource. A dnn that
fails fails its task, with the end of its messages in the exception. The guide is `dnn help spark`.
"""
import atexit
import collections
import contextlib
import functools
import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

NULL = "\\N"
TAIL = 2048  # bytes of messages in an exception
RISKS = """dnn: the tasks may compute on GPUs (use_gpu_in_udf=True). What can go wrong:
dnn:   - a driver or a card on a worker that this dnn cannot use
dnn:   - too little GPU memory for the batch, or for the tasks that share a card
dnn:   - two executors on one card, where Spark does not assign the cards
dnn: Verify before you rely on it:
dnn:   - `dnn gpucheck` ends with 0 on every worker
dnn:   - spark.executor.resource.gpu.amount and spark.task.resource.gpu.amount are set, with getGpusResources.sh as discovery script
dnn:   - prediction_batch_size fits the memory of the card
dnn:   - a sample has the same answers, but for rounding, as with use_gpu_in_udf=False"""
_said = set()


# --- the driver ---

def predict(df, model, out_schema, use_gpu_in_udf=False, prediction_batch_size=None, threads=None, verbosity=1, *,
            on_bad_row="stop", dnn=None):
    """The answers to the rows of df as a DataFrame of out_schema (DDL or StructType).

    out_schema picks columns by name: ids, prediction, probability_LABEL, uncertainty, and any column of df, which is passed through. All
    columns of df are sent to dnn, so select what the model reads. Within a partition the order stays; for a model of sequences in the
    long format, rows are put together by group and sorted by order first.
    model: a file of the driver. use_gpu_in_udf: see `dnn help spark`. prediction_batch_size: rows computed at a time; it changes no
    answer. threads: of each dnn; default: the CPUs of the task. verbosity: 0 to 3, as dnn's; messages go to the executor's
    stderr. on_bad_row: stop fails the task, null answers with NULL, skip leaves the row out. dnn: the program; default $DNN, then
    PATH."""
    spark = df.sparkSession
    schema = out_schema if hasattr(out_schema, "fieldNames") else spark.createDataFrame([], out_schema).schema
    names = schema.fieldNames()
    options = ["--io", "tsv", "--null", NULL, "--on-bad-row", on_bad_row]
    if prediction_batch_size:
        options += ["--batch-size", str(prediction_batch_size)]
    if "uncertainty" in names:
        options += ["--uncertainty"]
    passed = [n for n in names if n in df.columns and not re.match("prediction$|uncertainty$|probability_", n)]
    if passed:
        options += ["--passthrough", _list(passed)]
    if use_gpu_in_udf:
        _warn_of_gpus(spark, verbosity)
    job = _job(spark, dnn, use_gpu_in_udf, threads, verbosity)
    series = _driver_json(dnn, ["inspect", model])["config"]["data"].get("sequence") or {}
    if "group" in series:
        if not series.get("order"):
            raise ValueError("the model has no data.sequence.order, and Spark keeps no order of rows: train it with one")
        df = _by_group(df, series["group"], series["order"])
    from pyspark.sql.pandas.types import to_arrow_schema
    job.update(model=_ship(spark, model), options=options, columns=df.columns, names=names, types=to_arrow_schema(schema).types,
               every=on_bad_row != "skip" and ("group" not in series or series.get("label") == "row"))
    return _cells(df).mapInArrow(lambda batches: _answers(job, batches), schema)


def schema_of(model, dnn=None):
    """All answers of a model as DDL: its ids, prediction, probabilities."""
    data = _driver_json(dnn, ["inspect", model])["data"]
    names = [(c["name"], "string") for c in data["columns"] if c["type"] == "id"]
    labels = data.get("labels")
    names += [("prediction", "string" if labels else "double")] + [("probability_" + label, "double") for label in labels or []]
    return ", ".join("`%s` %s" % (name.replace("`", "``"), kind) for name, kind in names)


def command(spark, model, columns, *, on_bad_row="stop", dnn=None):
    """The command line that answers TSV lines of these columns, for TRANSFORM and rdd.pipe; program and model are sent to the
    executors. Neither way tells the child which GPU is its task's, so it computes on the CPU."""
    sc = spark.sparkContext
    shipped = [_ship(spark, _program(dnn)), _ship(spark, model)]
    if sc.master.startswith("local") and not sc.master.startswith("local-cluster"):
        from pyspark import SparkFiles
        shipped = [SparkFiles.get(name) for name in shipped]
    else:  # a task runs in the folder of these files
        shipped = ["./" + name for name in shipped]
    return (f"{shipped[0]} predict {shipped[1]} - --backend cpu --threads {sc.getConf().get('spark.task.cpus', '1')} --io tsv "
            f"--null '{NULL}' --on-bad-row {on_bad_row} --no-header --columns '{_list(columns)}' --progress none")


def pipe(rdd, spark, model, columns, **more):
    """The answer lines to an RDD of TSV lines. RDD.pipe by itself overlooks a program that fails; this one does not."""
    return rdd.pipe(command(spark, model, columns, **more), checkCode=True)


def train(spark, config, output=None, trials=None, use_gpu=False, threads=None, verbosity=1, *, dnn=None):
    """Trains with one Spark task for each run of the config's ensemble, and merges the runs at the driver: the model file has the same
    bytes as that of `dnn train`. A config without an ensemble but with "tune", or trials=N, is a search: its trials are tasks, stage by stage;
    then the driver trains the best one once more, and writes the same config as `dnn tune --trials N`.
    output: the model file (default: output.model of the config), of a search the best config. use_gpu: as use_gpu_in_udf. Returns
    the result as `dnn merge --json` or `dnn tune --json` has it."""
    dnn = _program(dnn)
    plan = _driver_json(dnn, ["check", config])
    resolved = json.loads(_driver(dnn, ["check", config, "--resolved", "-q"]))
    if use_gpu:
        _warn_of_gpus(spark, verbosity)
    job = _job(spark, dnn, use_gpu, threads, verbosity)
    job.update(config=_ship(spark, config), sets={})
    for key in ("train", "valid", "test"):
        files = resolved["data"].get(key)
        if files:
            files = [files] if isinstance(files, str) else files
            job["sets"]["data." + key] = [_ship(spark, os.path.join(os.path.dirname(config), f)) for f in files]
    runs = plan.get("runs") or []
    if trials is None and len(runs) > 1:
        return _train_runs(spark, job, dnn, config, output, len(runs))
    with open(config, encoding="utf-8") as f:
        searches = bool(json.load(f).get("tune"))
    if trials is None and not searches:
        raise ValueError(f"{config}: one run of one network; nothing to spread: give an ensemble, trials=N, or use `dnn train`")
    if not output:
        raise ValueError("a search needs output, the name of the best config")
    return _search(spark, job, dnn, config, output, trials or 30, resolved["train"]["epochs"])


def _train_runs(spark, job, dnn, config, output, count):
    tasks = spark.sparkContext.parallelize(range(count), count)
    parts = tasks.map(lambda run: _task(job, ["train"], ["--run", str(run)], "part")).collect()
    with tempfile.TemporaryDirectory(prefix="dnn-spark-") as folder:
        names = [os.path.join(folder, f"part{i}") for i in range(count)]
        for name, (_, data) in zip(names, parts):
            with open(name, "wb") as f:
                f.write(data)
        return _driver_json(dnn, ["merge", config, *names, *(["-o", output] if output else [])])


def _search(spark, job, dnn, config, output, trials, epochs):
    """Successive halving, as in `dnn help tuning`."""
    stages, left, rest = 1, trials, epochs
    while stages < 3 and left >= 3 and rest >= 3:
        stages, left, rest = stages + 1, left // 3, rest // 3
    alive, last, metric, tried = list(range(trials)), {}, None, []
    rows = [line.split() for line in _driver(dnn, ["help", "metrics"]).decode().splitlines()]
    lower = {words[0] for words in rows if words[1:2] == ["lower"]}  # metrics of which less is better

    def score(r):
        value = r["valid"].get(metric) if r else None
        return float("inf") if value is None else value if metric in lower else -value

    for stage in range(stages):
        if stage:  # the best third goes on; of equal ones the first
            alive = sorted(sorted(alive, key=lambda i: score(last[i]))[:(len(alive) + 2) // 3])
        given = epochs
        for _ in range(stage + 1, stages):
            given = (given + 2) // 3
        more = [] if given == epochs else ["--set", f"train.epochs={given}"]
        done = spark.sparkContext.parallelize(alive, len(alive)).map(
            lambda i, m=more: _task(job, ["tune"], ["--trial", str(i), "--json", *m], None, fails=(80,))).collect()
        for i, (told, _) in zip(alive, done):
            result = json.loads(told)
            if result["schema"] == "dnn.error/1":  # this one diverged
                last[i] = last.get(i)
                continue
            metric, result = result["metric"], dict(result["trials"][0], stage=stage)
            if result["epochs"] != given:
                raise ValueError("trials that choose their own epochs cannot be compared by stages here: use `dnn tune`")
            last[i] = result
            tried.append(result)
    if not tried:
        raise RuntimeError("every trial diverged")
    best = min(tried, key=lambda r: (score(r), -r["stage"], r["trial"]))
    more = [] if best["epochs"] == epochs else ["--set", f"train.epochs={best['epochs']}"]
    _driver(dnn, ["tune", config, "--trial", str(best["trial"]), "-o", output, "-q", *more])
    return {"schema": "dnn.tune/1", "metric": metric, "best": dict(best, config=output), "trials": [last[i] for i in sorted(last) if last[i]]}


def _warn_of_gpus(spark, verbosity):
    amount = spark.sparkContext.getConf().get("spark.task.resource.gpu.amount", "")
    text = RISKS
    if not amount:
        text = "dnn: warning: GPUs are asked for, but spark.task.resource.gpu.amount is not set: tasks hold no GPU and use the CPU"
    if text not in _said and (verbosity >= 1 or not amount):
        _said.add(text)
        print(text, file=sys.stderr, flush=True)


def _job(spark, dnn, gpu, threads, verbosity):
    """What the tasks know."""
    spark.sparkContext.addPyFile(os.path.abspath(__file__))
    return {"dnn": _ship(spark, _program(dnn)), "gpu": gpu, "threads": threads, "verbosity": verbosity}


def _program(dnn):
    dnn = dnn or os.environ.get("DNN") or shutil.which("dnn")
    if not dnn:
        raise FileNotFoundError("no dnn: set DNN, or give dnn=, the path of the program")
    return dnn


@functools.lru_cache(None)
def _folder():
    folder = tempfile.mkdtemp(prefix="dnn-spark-")
    atexit.register(shutil.rmtree, folder, True)
    return folder


def _ship(spark, path):
    """Sends a file of the driver to the executors; returns its name there."""
    digest = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            digest.update(block)
    name = "dnn-%s-%s" % (digest.hexdigest()[:16], re.sub("[^A-Za-z0-9._-]", "_", os.path.basename(path)))
    copy = os.path.join(_folder(), name)
    if not os.path.exists(copy):
        shutil.copy2(path, copy)
    spark.sparkContext.addFile(copy)
    return name


def _by_group(df, group, order):
    """A group's rows in one partition, in order: a sequence never straddles two tasks. An order that is text is read as a number where it
    is one."""
    from pyspark.sql import functions as F
    quoted = "`%s`" % order.replace("`", "``")
    number = [F.expr(f"try_cast({quoted} AS double)")] if df.schema[order].dataType.typeName() == "string" else []
    group = df["`%s`" % group.replace("`", "``")]
    return df.repartition(group).sortWithinPartitions(group, *number, df[quoted])


def _cells(df):
    """All columns as Spark casts them to strings: what TRANSFORM would send."""
    for field in df.schema.fields:
        if field.dataType.typeName() in ("array", "map", "struct", "binary", "variant"):
            raise TypeError(f'column "{field.name}" is of type {field.dataType.simpleString()}, which is no cell: select the others')
        if re.search("[\t\r\n]", field.name):
            raise ValueError(f"column {field.name!r}: no tab or line end can be in a name")
    return df.select([df["`%s`" % n.replace("`", "``")].cast("string").alias(n) for n in df.columns])


def _list(names):
    """Names as --columns and --passthrough take them."""
    return ",".join('"%s"' % n.replace('"', '""') if re.search('[",]', n) else n for n in names)


def _driver(dnn, words):
    p = subprocess.run([dnn, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise RuntimeError(_reason(words[0], p.returncode, p.stderr or p.stdout))
    return p.stdout


def _driver_json(dnn, words):
    return json.loads(_driver(_program(dnn), [*words, "--json", "-q"]))


# --- the tasks ---

def _reason(what, code, messages):
    return f"dnn {what} ended with {code} (dnn help exit-codes): " + messages[-TAIL:].decode("utf-8", "replace").strip()


def _surroundings(job, gpu):
    """Environment and options of a dnn in this task; gpu: the backend of a task that holds a card."""
    from pyspark import SparkFiles, TaskContext
    task = TaskContext.get()
    env, backend = dict(os.environ), "cpu"
    gpus = task.resources().get("gpu") if job["gpu"] else None
    if gpus and gpus.addresses:
        seen = env.get("CUDA_VISIBLE_DEVICES")
        seen = seen.split(",") if seen else None
        env["CUDA_VISIBLE_DEVICES"] = ",".join(seen[int(a)] if seen else a for a in gpus.addresses)
        backend = gpu
    else:  # a cluster manager hides no card from those that hold none
        env["CUDA_VISIBLE_DEVICES"] = ""
    threads = str(job["threads"] or task.cpus())
    env["OMP_NUM_THREADS"] = env["OPENBLAS_NUM_THREADS"] = threads
    options = ["--backend", backend, "--threads", threads, "--verbosity", str(job["verbosity"]), "--progress", "none"]
    return env, options, SparkFiles.get


def _task(job, command, words, output, fails=()):
    """Runs `dnn COMMAND CONFIG WORDS` in a task; (standard output, the bytes of its -o)."""
    env, options, at = _surroundings(job, "auto")
    for key, files in job["sets"].items():
        options += ["--set", key + "=" + json.dumps([at(f) for f in files])]
    with tempfile.TemporaryDirectory(prefix="dnn-spark-") as folder:
        path = os.path.join(folder, output or "none")
        options += ["-o", path] if output else []
        p = subprocess.run([at(job["dnn"]), *command, at(job["config"]), *words, *options], env=env, cwd=folder, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        sys.stderr.write(p.stderr.decode("utf-8", "replace"))
        if p.returncode and p.returncode not in fails:
            raise RuntimeError(_reason(command[0], p.returncode, p.stderr or p.stdout))
        data = b""
        if output:
            with open(path, "rb") as f:
                data = f.read()
        return p.stdout, data


def _lines(batch):
    """A batch of strings as TSV. A line end inside a value becomes a tab: that makes one bad row of it, not two rows."""
    import pyarrow as pa
    import pyarrow.compute as pc
    columns = [pc.fill_null(c, NULL) for c in batch.columns]
    for _ in range(2):
        lines = pc.binary_join_element_wise(pc.binary_join_element_wise(*columns, "\t"), "", "\n")
        text = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), "")[0].as_py().encode()
        if text.count(b"\n") == len(lines) and b"\r" not in text:
            break
        columns = [pc.replace_substring_regex(c, "[\r\n]", "\t") for c in columns]
    return text


def _answers(job, batches):
    """The answers to a partition: one dnn, fed by a thread, read by the caller. An empty partition starts none."""
    batches = (b for b in batches if b.num_rows)
    first = next(batches, None)
    if first is None:
        return
    env, options, at = _surroundings(job, "dnn_gpu")  # of a pipe, auto takes the CPU
    p = subprocess.Popen([at(job["dnn"]), "predict", at(job["model"]), "-", *job["options"], *options], env=env, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    rows, failures, tail = [0, 0], [], collections.deque(maxlen=64)

    def feed():
        try:
            with p.stdin as to:
                to.write(("\t".join(job["columns"]) + "\n").encode())
                for batch in itertools.chain([first], batches):
                    to.write(_lines(batch))
                    rows[0] += batch.num_rows
        except BrokenPipeError:  # dnn has ended; its exit code says why
            pass
        except BaseException as failure:
            failures.append(failure)
            p.kill()

    def listen():
        for line in p.stderr:
            tail.append(line)
            sys.stderr.write(line.decode("utf-8", "replace"))

    helpers = [threading.Thread(target=f, daemon=True) for f in (feed, listen)]
    for h in helpers:
        h.start()
    try:
        for batch in _read(p.stdout, job):
            rows[1] += batch.num_rows
            yield batch
        code = p.wait()
        for h in helpers:
            h.join()
        if failures:
            raise failures[0]
        if code:
            raise RuntimeError(_reason("predict", code, b"".join(tail)))
        if job["every"] and rows[0] != rows[1]:
            raise RuntimeError(f"dnn predict: {rows[0]} rows in, {rows[1]} answers out")
    finally:
        with contextlib.suppress(ProcessLookupError):
            p.kill()
        p.wait()


def _read(stream, job):
    """The answers as record batches. Nothing, where dnn ended before any."""
    import pyarrow as pa
    import pyarrow.csv as csv
    header = stream.readline().decode().rstrip("\n")
    if not header:
        return
    names = header.split("\t")
    lacking = [n for n in job["names"] if n not in names]
    if lacking:
        raise ValueError(f"the answers have no column {', '.join(lacking)}; they have {', '.join(names)}")
    if not stream.peek(1):
        return
    reader = csv.open_csv(
        stream, read_options=csv.ReadOptions(column_names=names),
        parse_options=csv.ParseOptions(delimiter="\t", quote_char=False, double_quote=False),
        convert_options=csv.ConvertOptions(column_types=dict(zip(job["names"], job["types"])), include_columns=job["names"],
                                           null_values=[NULL], strings_can_be_null=True))
    for batch in reader:
        yield pa.RecordBatch.from_arrays(batch.columns, names=job["names"])
