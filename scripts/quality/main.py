"""main.py - the work of scripts/quality.sh: trains on the data sets, collects a line a training, and
writes the table."""
import argparse
import copy
import datetime
import itertools
import json
import os
import statistics
import subprocess
import sys
import time

import sets

DNN = os.environ["DNN"]
ROWS = ("linear", "mlp", "members", "steps", "auto")
HEAD = ("set", "row", "seed", "score", "logloss", "ece", "seconds")


# --- trainings --------------------------------------------------------------------------------------

def run(*words):
    done = subprocess.run([DNN, *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"quality: dnn {' '.join(words)}\n{done.stderr}")
    return done.stdout


def config_of(one, folder, extra):
    """What `dnn init` makes of the training file, with the target and ignored columns named."""
    path = f"{folder}/{one.name}.json"
    words = ["init", f"{one.name}-train.csv", "--target", sets.target_of(one, folder), "-q", "--force",
             "-o", path, "--set", 'model={"preset":"auto"}', "--set", f"task={one.task}",
             "--set", f"data.valid={one.name}-valid.csv", "--set", f"data.test={one.name}-test.csv"]
    for column in one.ignore:
        words += ["--ignore", column]
    cwd = os.getcwd()
    os.chdir(folder)
    try:
        run(*words, *extra)
    finally:
        os.chdir(cwd)
    with open(path) as f:
        return json.load(f)


def members_of(one, folder):
    """The members that preset auto stands for, and how many folds."""
    resolved = json.loads(run("check", f"{folder}/{one.name}.json", "--resolved", "-q"))
    return resolved["ensemble"]["members"], resolved["ensemble"]["folds"]


def single(config, preset):
    return {**config, "model": {"preset": preset}}


def ensemble(config, members, folds):
    """The config of these members alone: what auto takes from its preset stands in them."""
    out = copy.deepcopy(config)
    out["model"] = {"preset": "mlp"}
    out["ensemble"] = {"folds": folds, "members": members, "select": "greedy", "rounds": 30}
    return out


def rows_of(one, folder, config, wanted):
    """(row, config) of everything to train. Steps add up: a bag of an mlp on raw numbers, then
    piecewise-linear numbers, target statistics, RealMLP, and all the rest."""
    if "linear" in wanted:
        yield "linear", single(config, "linear")
    if "mlp" in wanted:
        yield "mlp", single(config, "mlp")
    members, folds = members_of(one, folder) if set(wanted) - {"linear", "mlp", "auto"} else ([], 0)
    if "members" in wanted:
        for m in members:
            yield "member " + m["name"], ensemble(config, [m], folds)
    if "steps" in wanted:
        raw = {"name": "raw", "model": {"preset": "mlp"}, "train": {}}
        kinds = {"bag": [raw]}
        of = lambda test: [m for m in members if test(m)]
        ple = lambda m: "ple" in json.dumps(m["encoders"]) or m["name"] == "wide"
        keys = lambda m: "target_statistics" in m["encoders"]
        real = lambda m: m["model"]["preset"] == "realmlp"
        mlp = lambda m: m["model"]["preset"] == "mlp"
        kinds["+ PLE"] = of(lambda m: mlp(m) and ple(m) and not keys(m))
        kinds["+ TS"] = of(lambda m: mlp(m) and keys(m))
        kinds["+ RealMLP"] = of(real)
        so_far = []
        for name, more in kinds.items():
            so_far = so_far + more
            if more:
                yield "step " + name, ensemble(config, so_far, folds)
    if "auto" in wanted:
        yield "auto", config


def train(one, folder, name, config, seed):
    base = f"{folder}/{one.name}-run"
    with open(base + ".json", "w") as f:
        json.dump({**config, "output": {"model": base + ".dnn"}}, f)
    start = time.monotonic()
    out = json.loads(run("train", base + ".json", "--force", "-q", "--json", "--set", f"train.seed={seed}"))
    seconds = time.monotonic() - start
    test = out["test"]
    return (one.name, name, seed, test[one.metric], test.get("logloss", ""), test.get("ece", ""),
            round(seconds, 2))


def peers(one, folder, names, seed, python):
    """A line for each peer and protocol, as quality/peers.py prints it."""
    done = subprocess.run([python, "-W", "ignore", os.path.join(os.path.dirname(__file__), "peers.py"),
                           folder, one.name, str(seed), *names], capture_output=True, text=True)
    if done.returncode:
        print(f"quality: the peers of {one.name} failed:\n{done.stderr}", file=sys.stderr)
    return [tuple(line.split("\t")) for line in done.stdout.splitlines()]


# --- the table --------------------------------------------------------------------------------------

class Results:
    """Lines of all files; a later one replaces an earlier one of the same set, row and seed."""

    def __init__(self, paths):
        self.lines = {}
        for path in paths:
            with open(path) as f:
                for line in f:
                    values = line.rstrip("\n").split("\t")
                    if values[0] in sets.NAMES:
                        self.lines[tuple(values[:3])] = dict(zip(HEAD, values))

    def values(self, name, row, what):
        found = [v[what] for k, v in self.lines.items() if k[0] == name and k[1] == row]
        return [float(v) for v in found if v != ""]

    def mean(self, name, row, what="score"):
        values = self.values(name, row, what)
        return statistics.mean(values) if values else None

    def rows(self):
        return list(dict.fromkeys(k[1] for k in self.lines))

    def peer(self, one, peer):
        """Its better protocol here, or what was published; and whether it was measured."""
        found = [v for v in (self.mean(one.name, f"peer {peer} {p}") for p in ("e", "t")) if v]
        if found:
            return (min if one.metric == "rmse" else max)(found), True
        return one.published[sets.PEERS.index(peer)], False


def show(value, one=None):
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.4f}"


def table(results, out):
    say = lambda *words: print(*words, file=out)
    here = [s for s in sets.SETS if results.mean(s.name, "auto") is not None]
    measured = any(results.peer(s, p)[1] for s in here for p in sets.PEERS)
    say(f"dnn beside others on {len(here)} of {len(sets.SETS)} sets, {datetime.date.today()}: test rows, mean of the seeds")
    say("Peers:", "measured in this run where marked with *, else" if measured else "",
        "figures of earlier runs on the same splits (scripts/quality/sets.py); the better of two protocols each")
    say("")
    head = f"{'set':12s}{'metric':9s}{'seeds':>6s}{'auto':>9s}{'spread':>9s}"
    say(head + "".join(f"{p:>11s}" for p in sets.PEERS) + "   level with or better than")
    good_cat = good_best = 0
    below = []
    for one in here:
        ours = results.mean(one.name, "auto")
        seeds = results.values(one.name, "auto", "score")
        their = {p: results.peer(one, p) for p in sets.PEERS}
        best = (min if one.metric == "rmse" else max)(their[p][0] for p in ("histgb", "lgbm", "xgb", "mlp"))
        cat, rest = sets.level(one, ours, their["catboost"][0]), sets.level(one, ours, best)
        good_cat, good_best = good_cat + cat, good_best + rest
        if not sets.level(one, ours, their["logreg"][0]):
            below.append(one.name)
        verdict = ("CatBoost, " if cat else "") + ("the best of four" if rest else "")
        spread = f"{max(seeds) - min(seeds):.4f}" if max(seeds) < 100 else f"{max(seeds) - min(seeds):.0f}"
        say(f"{one.name:12s}{one.metric:9s}{len(seeds):6d}{show(ours):>9s}{spread:>9s}"
            + "".join(f"{show(v) + ('*' if m else ' '):>11s}" for v, m in their.values())
            + f"   {verdict.rstrip(', ') or 'neither'}")
    say("")
    say(f"level with or better than CatBoost on {good_cat} of {len(here)}, than the best of HistGradientBoosting, "
        f"LightGBM, XGBoost and MLP on {good_best} of {len(here)};",
        "below logistic or ridge regression on " + (", ".join(below) or "none"))
    say("level: at most 0.001 below (AUC, accuracy), at most 0.5 % above (RMSE)")
    say("")
    others = [r for r in results.rows() if r != "auto" and not r.startswith("peer")]
    if others:
        say("steps and members (a member is a bag of its folds)")
        width = max(len(r) for r in others + ["auto"]) + 2
        say(f"{'':{width}s}" + "".join(f"{s.name:>12s}" for s in here))
        for row in others + ["auto"]:
            say(f"{row:{width}s}" + "".join(f"{show(results.mean(s.name, row)):>12s}" for s in here))
        say("")
    errors = {n: results.mean(n, "auto", "ece") for n in sets.CALIBRATED}
    say("expected calibration error (limit 0.015):",
        ", ".join(f"{n} {show(v)}" for n, v in errors.items() if v is not None))
    say("")
    say("seconds of the whole command `dnn train` (auto), and of CatBoost's default fit with early stopping")
    total = [0.0, 0.0]
    for one in here:
        ours = results.mean(one.name, "auto", "seconds")
        theirs = results.mean(one.name, "peer catboost e", "seconds")
        if theirs and one.name != "mnist":
            total[0], total[1] = total[0] + ours, total[1] + theirs
        say(f"    {one.name:12s}{ours:8.1f}{f'{theirs:10.1f}' if theirs else '         -'}")
    say(f"    all{sum(results.mean(s.name, 'auto', 'seconds') for s in here):17.1f}")
    if total[1]:
        say(f"    without mnist: {total[0]:.1f} s beside {total[1]:.1f} s, {total[0] / total[1]:.2f} times CatBoost's")


def main():
    p = argparse.ArgumentParser(prog="quality.sh")
    p.add_argument("--data", default="../shared/data")
    p.add_argument("--folder", required=True)
    p.add_argument("--seeds", default="1,2,3")
    p.add_argument("--rows", default="auto")
    p.add_argument("--peers", default="")
    p.add_argument("--python", default="")
    p.add_argument("--set", action="append", default=[])
    p.add_argument("--out", default="")
    p.add_argument("--table", action="store_true")
    p.add_argument("names", nargs="*")
    everyone = "--peers=" + ",".join(sets.PEERS)
    a = p.parse_args([everyone if w == "--peers" else w for w in sys.argv[1:]])
    a.folder = os.path.abspath(a.folder)
    out = a.out or f"{a.folder}/results.tsv"
    if a.table:
        table(Results(a.names or [out]), sys.stdout)
        return
    wanted = [w for w in a.rows.split(",") if w]
    for word in wanted + a.names:
        if word not in ROWS + tuple(sets.NAMES):
            raise SystemExit(f"quality: no row or set {word}; rows: {' '.join(ROWS)}; sets: {' '.join(sets.NAMES)}")
    extra = [w for s in a.set for w in ("--set", s)]
    with open(out, "a") as f:
        for name in a.names or sets.NAMES:
            one = sets.find(name)
            if not sets.prepare(one, a.data, a.folder):
                print(f"{name}: skipped, {one.file} is not there", flush=True)
                continue
            config = config_of(one, a.folder, extra)
            for seed in a.seeds.split(","):
                lines = [] if not a.peers else peers(one, a.folder, a.peers.split(","), seed, a.python)
                jobs = rows_of(one, a.folder, config, wanted)
                trained = (train(one, a.folder, row, what, int(seed)) for row, what in jobs)
                for line in itertools.chain(lines, trained):
                    f.write("\t".join(map(str, line)) + "\n")
                    f.flush()
                    print(*line, flush=True)


main()
