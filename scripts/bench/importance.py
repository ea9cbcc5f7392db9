#!/usr/bin/env python3
"""importance.py - `dnn explain` beside scikit-learn's permutation_importance.

    scripts/bench/importance.py DNN ADULT_TRAIN.csv HOUSING.csv COVERTYPE.csv

Ranks: on three sets, the same model's answers: scikit-learn deals the columns and asks `dnn predict`. Prints Spearman's rank
correlation. Speed: 9,000 rows of adult, 14 columns, 5 repeats, against an MLPClassifier of the same hidden layers in a pipeline on
the raw columns; one thread each. Needs the packages of requirements.txt."""
import json
import os
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.inspection import permutation_importance
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

REPEATS, RANK_ROWS = 5, 3000


def dnn(*arguments):
    return subprocess.run([DNN, *arguments, "--quiet"], check=True, capture_output=True, text=True).stdout


class Model(BaseEstimator):
    """A model file as an estimator: each question is one `dnn predict`."""

    def __init__(self, path="", column=""):
        self.path, self.column = path, column

    def fit(self, x, y):
        return self

    def predict(self, x):
        x.to_csv("asked.csv", index=False)
        dnn("predict", self.path, "asked.csv", "-o", "answers.csv")
        return pd.read_csv("answers.csv", dtype={"prediction": str})


def minus_logloss(model, x, y):
    answers = model.predict(x)
    p = [row["probability_" + label] for label, (_, row) in zip(y, answers.iterrows())]
    return np.mean(np.log(np.clip(p, 1e-15, 1)))


def minus_rmse(model, x, y):
    return -np.sqrt(np.mean((model.predict(x)["prediction"].astype(float).to_numpy() - y.astype(float).to_numpy()) ** 2))


def ranks(name, data, target, epochs):
    """Trains on the rows but every fifth, explains those."""
    rows = pd.read_csv(data, dtype=str, keep_default_na=False)
    test = rows.iloc[::5].iloc[:RANK_ROWS]
    rows.drop(rows.index[::5]).to_csv("train.csv", index=False)
    test.to_csv("test.csv", index=False)
    dnn("init", "train.csv", "--target", target, "-o", "c.json", "--force", "--set", "model.preset=mlp")
    dnn("train", "c.json", "-o", "m.dnn", "--set", f"train.epochs={epochs}", "--threads", "1")
    own = json.loads(dnn("explain", "m.dnn", "test.csv", "--repeats", str(REPEATS), "--json"))
    x, y = test.drop(columns=[target]), test[target]
    score = minus_rmse if own["metric"] == "rmse" else minus_logloss
    theirs = permutation_importance(Model("m.dnn", target), x, y, scoring=score, n_repeats=REPEATS, random_state=0)
    ours = {c["name"]: c["importance"] for c in own["columns"]}
    both = pd.DataFrame({"sklearn": theirs.importances_mean, "dnn": [ours.get(c, 0) for c in x.columns]}, index=x.columns)
    print(f"{name}: {len(x.columns)} columns, {len(x)} rows, {own['metric']}: "
          f"Spearman {both.rank().corr().iloc[0, 1]:.4f}, Pearson {both.corr().iloc[0, 1]:.5f}", flush=True)


def speed(data):
    rows = pd.read_csv(data, skipinitialspace=True)
    test, train = rows.iloc[:9000], rows.iloc[9000:]
    test.to_csv("test.csv", index=False)
    train.to_csv("train.csv", index=False)
    dnn("init", "train.csv", "--target", "income", "-o", "c.json", "--force", "--set", "model.preset=mlp")
    dnn("train", "c.json", "-o", "m.dnn", "--set", "train.epochs=5", "--threads", "1")
    ours = []
    for _ in range(3):
        begun = time.perf_counter()
        dnn("explain", "m.dnn", "test.csv", "--repeats", str(REPEATS), "--threads", "1")
        ours.append(time.perf_counter() - begun)
    x, y = train.drop(columns=["income"]), train["income"]
    numbers = list(x.select_dtypes("number").columns)
    words = [c for c in x.columns if c not in numbers]
    peer = make_pipeline(make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), words)),
                         MLPClassifier((256, 128), max_iter=2, random_state=0))
    peer.fit(x, y)
    begun = time.perf_counter()
    permutation_importance(peer, test[x.columns], test["income"], scoring="neg_log_loss", n_repeats=REPEATS, random_state=0)
    theirs = time.perf_counter() - begun
    print(f"speed: dnn explain {min(ours):.2f} s (with start and reading), scikit-learn {theirs:.2f} s: {theirs / min(ours):.1f} times")


DNN = os.path.realpath(sys.argv[1])
adult, housing, covertype = map(os.path.realpath, sys.argv[2:5])
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    speed(adult)
    ranks("adult", adult, "income", 8)
    ranks("california", housing, "median_house_value", 12)
    ranks("covertype", covertype, "Cover_Type", 6)
