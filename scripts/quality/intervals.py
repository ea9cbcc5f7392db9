#!/usr/bin/env python3
"""intervals.py [--data DIR] [--rows N] [SET...] - the coverage and width of `"intervals": 0.9`.

Optional. Eight sets, generated and real (DIR, default ../shared/data; one that is missing is
skipped, with a line). Each has training, validation and test rows. Rows of the table: one network
and its validation rows; an ensemble of three members and five folds; MAPIE and crepes, split
conformal by the answers of the same network to the same rows; CatBoost's pair of quantiles,
trained on training and validation rows. `same`: crepes and MAPIE have our reach within 1e-6 (they know no
weights and no groups).
The libraries come into build/quality/intervals (python3 -m venv), or PEERS=/path/to/python has
them; without them their columns are left out, with a line.
"""
import csv
import json
import math
import os
import random
import subprocess
import sys

PINNED = ["numpy==2.4.6", "scikit-learn==1.9.1", "mapie==1.6.0", "crepes==0.9.1", "catboost==1.2.10"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "build", "quality", "intervals")
DNN = os.environ.get("DNN", os.path.join(ROOT, "build", "dnn"))
FILES = {"california": ("california-housing/housing.csv", "median_house_value"),
         "wine": ("wine-quality/winequality.csv", "quality"),
         "diamonds": ("diamonds/diamonds.csv", "price")}
MADE = ["heteroscedastic", "skewed", "heavy", "small", "grouped", "weighted"]


def made(kind, rows):
    """Rows as lists of texts: a, b, g (a group of ten), w, y."""
    draw = random.Random(kind)
    of_group = random.Random(kind + " groups")
    at = 0.0
    for i in range(rows):
        a, b, e = draw.gauss(0, 1), draw.random(), draw.gauss(0, 1)
        at = of_group.gauss(0, 1) if i % 10 == 0 else at
        y, w = 2 * a + math.sin(4 * b), 1
        if kind == "heteroscedastic":
            y += (0.1 + 2 * b) * e
        elif kind == "skewed":
            y = math.exp(y / 2 + 0.6 * e)
        elif kind == "heavy":
            y += e / math.sqrt((draw.gauss(0, 1) ** 2 + draw.gauss(0, 1) ** 2) / 2)
        elif kind == "grouped":
            y += at + 0.5 * e
        elif kind == "weighted":
            w = 1 + 3 * (i % 2)
            y += e * (1 if w > 1 else 3)
        else:
            y += e
        yield [f"{a:.5f}", f"{b:.5f}", f"g{i // 10}", str(w), f"{y:.6f}"]


def rows_of(name, data, most):
    """Header, target, rows; None: the data are missing."""
    if name in MADE:
        return ["a", "b", "g", "w", "y"], "y", list(made(name, most))
    path, target = FILES[name]
    if not os.path.exists(os.path.join(data, path)):
        return None
    with open(os.path.join(data, path), newline="") as f:
        header, *rows = csv.reader(f)
    rows = [r for r in rows if r[header.index(target)]]
    random.Random(name).shuffle(rows)
    return header, target, rows[:most]


def write(path, header, rows):
    with open(path, "w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([header] + rows)


def dnn(*words):
    return subprocess.run([DNN, *words, "--quiet"], check=True, stdout=subprocess.PIPE, text=True).stdout


def column(text, name):
    return [float(row[name]) for row in csv.DictReader(text.splitlines())]


def measure(folder, name, header, target, rows, libraries):
    small = 200 if name == "small" else None  # training and validation rows
    part = [i // 10 % 5 for i in range(len(rows))]  # groups stay together
    test = [r for r, p in zip(rows, part) if p == 0]
    rest = [(r, p) for r, p in zip(rows, part) if p][:small]
    files = {"test": test, "valid": [r for r, p in rest if p == 1], "train": [r for r, p in rest if p > 1]}
    for file, kept in files.items():
        write(os.path.join(folder, file + ".csv"), header, kept)
    def kind_of(i):
        return "numeric" if all(r[i] == "" or r[i].replace(".", "", 1).replace("-", "", 1).isdigit()
                                for r in rows) else "categorical"
    types = {h: kind_of(i) for i, h in enumerate(header) if h != target}
    if name in MADE:
        types.update(g="group" if name == "grouped" else "ignore", w="weight" if name == "weighted" else "ignore")
    config = {"task": "regression", "intervals": 0.9, "model": {"preset": "mlp", "hidden": [64, 32]},
              "data": {"train": "train.csv", "valid": "valid.csv", "test": "test.csv", "target": target,
                       "columns": types, "split": {"method": "group" if name == "grouped" else "random",
                                                   "valid": 0, "test": 0}},
              "train": {"epochs": 40, "optimizer": {"learning_rate": 0.003}, "early_stopping": {"patience": 8}}}
    path = os.path.join(folder, "c.json")
    members = [{"name": "mlp"}, {"name": "tanh", "model": {"preset": "mlp", "hidden": [32], "activation": "tanh"}},
               {"name": "linear", "model": {"preset": "linear"}}]
    out = {}
    for how, ensemble in (("one", None), ("ensemble", {"folds": 5, "members": members})):
        with open(path, "w") as f:
            json.dump(dict(config, **({"ensemble": ensemble} if ensemble else {})), f)
        model = os.path.join(folder, how + ".dnn")
        dnn("train", path, "-o", model, "--force", "--progress", "none")
        metrics = json.loads(dnn("evaluate", model, os.path.join(folder, "test.csv"), "--json"))["metrics"]
        out[how] = metrics["coverage"], metrics["width"]
        if ensemble:
            out["rule"] = json.loads(dnn("inspect", model, "--json"))["intervals"]["rule"]
    reach = json.loads(dnn("inspect", os.path.join(folder, "one.dnn"), "--json"))["intervals"]["reach"]
    if libraries:
        peers(folder, files, header, target, types, reach, out)
    return out


def peers(folder, files, header, target, types, reach, out):
    import numpy as np
    from catboost import CatBoostRegressor
    from crepes import ConformalRegressor
    from mapie.regression import SplitConformalRegressor
    from sklearn.base import BaseEstimator, RegressorMixin

    class Answered(RegressorMixin, BaseEstimator):
        """Gives the answers that stand in its only column."""
        def fit(self, x, y):
            self.n_features_in_ = 1
            return self

        def predict(self, x):
            return np.asarray(x)[:, 0]

    at = header.index(target)
    truth = {p: np.array([float(r[at]) for r in rows]) for p, rows in files.items()}
    model = os.path.join(folder, "one.dnn")
    told = {p: np.array(column(dnn("predict", model, os.path.join(folder, p + ".csv")), "prediction"))
            for p in ("valid", "test")}

    def judge(low, high):
        inside = (low <= truth["test"]) & (truth["test"] <= high)
        weight = np.array([float(r[header.index("w")]) for r in files["test"]]) if "weight" in types.values() \
            else np.ones(len(inside))
        return float(np.average(inside, weights=weight)), float(np.average(high - low, weights=weight))

    ends = ConformalRegressor().fit(residuals=truth["valid"] - told["valid"]) \
        .predict_int(told["test"], confidence=0.9)
    out["crepes"] = judge(ends[:, 0], ends[:, 1])
    mapie = SplitConformalRegressor(Answered().fit(None, None), confidence_level=0.9, prefit=True)
    mapie.conformalize(told["valid"][:, None], truth["valid"])
    _, ends = mapie.predict_interval(told["test"][:, None])
    out["mapie"] = judge(ends[:, 0, 0], ends[:, 1, 0])
    wide = float(np.median(ends[:, 1, 0] - ends[:, 0, 0])) / 2
    same = abs(wide - reach) <= 1e-6 * reach and abs(out["crepes"][1] - 2 * wide) <= 1e-6 * wide
    differs = [w + "s" for w in ("weight", "group") if w in types.values()]
    out["same"] = differs[0] if differs else "yes" if same else "no"
    inputs = [i for i, h in enumerate(header) if types.get(h) in ("numeric", "categorical")]
    texts = [k for k, i in enumerate(inputs) if types[header[i]] == "categorical"]

    def table(rows):
        return [[r[i] if types[header[i]] == "categorical" else float(r[i] or "nan") for i in inputs] for r in rows]

    fitted = []
    for q in (0.05, 0.95):
        one = CatBoostRegressor(loss_function=f"Quantile:alpha={q}", iterations=300, thread_count=1, verbose=False,
                                random_seed=0, cat_features=texts, train_dir=folder)
        one.fit(table(files["train"] + files["valid"]), np.concatenate([truth["train"], truth["valid"]]))
        fitted.append(one.predict(table(files["test"])))
    out["catboost"] = judge(*fitted)


def with_libraries():
    """Runs this program by a Python that has the libraries, if it does not have them."""
    try:
        import catboost, crepes, mapie  # noqa: F401
        return True
    except ImportError:
        python = os.environ.get("PEERS")
    if os.environ.get("INTERVALS_PEERS") == "tried":
        return False
    if not python:
        python = os.path.join(FOLDER, "venv", "bin", "python")
        subprocess.run([sys.executable, "-m", "venv", os.path.join(FOLDER, "venv")], check=False)
        subprocess.run([python, "-m", "pip", "-q", "install", *PINNED], check=False)
    if os.path.exists(python):
        os.execve(python, [python, *sys.argv], dict(os.environ, INTERVALS_PEERS="tried"))
    return False


def main(words):
    data, most = os.path.join(ROOT, "..", "shared", "data"), 8000
    while words and words[0] in ("--data", "--rows"):
        data, most = (words[1], most) if words[0] == "--data" else (data, int(words[1]))
        words = words[2:]
    os.makedirs(FOLDER, exist_ok=True)
    libraries = with_libraries()
    if not libraries:
        print("skipped: MAPIE, crepes and CatBoost cannot be installed")
    shown = ["one", "ensemble"] + ["mapie", "crepes", "catboost"] * libraries
    print("set".ljust(16) + "".join(s.ljust(19) for s in shown) + "rule      same")
    for name in words or list(FILES) + MADE:
        found = rows_of(name, data, most)
        if not found:
            print(f"{name:16}skipped: no {FILES[name][0]} in {data}")
            continue
        folder = os.path.join(FOLDER, name)
        os.makedirs(folder, exist_ok=True)
        out = measure(folder, name, *found, libraries)
        print(f"{name:16}" + "".join(f"{out[s][0]:.4f} {out[s][1]:<12.5g}" for s in shown)
              + f"{out['rule']:10}{out.get('same', '')}", flush=True)


if __name__ == "__main__":
    if "--help" in sys.argv:
        sys.exit(__doc__)
    main(sys.argv[1:])
