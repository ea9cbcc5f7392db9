"""peers.py FOLDER SET SEED PEER... - library defaults on a prepared set, a line a peer and protocol, as
main.py writes them: e, fitted on the training rows with early stopping on the validation rows; t, on
both together. Seconds are those of the fit alone."""
import importlib
import os
import sys
import time

import numpy as np
import pandas as pd
from sklearn import compose, ensemble, impute, linear_model, metrics, neural_network, pipeline, preprocessing

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sets  # noqa: E402

TREES, ROUNDS = 1000, 50  # with early stopping, as CatBoost's default number; rounds without a gain


def read(folder, one):
    target = sets.target_of(one, folder)
    parts = {}
    with open(f"{folder}/{one.name}-train.csv") as f:
        head = f.readline()
    delimiter = ";" if head.count(";") > head.count(",") else ","
    for part in ("train", "valid", "test"):
        parts[part] = pd.read_csv(f"{folder}/{one.name}-{part}.csv", sep=delimiter, skipinitialspace=True,
                                  na_values=["", " ", "NA", "?"], keep_default_na=False)
    whole = pd.concat(parts.values(), keys=parts.keys())
    y = whole.pop(target)
    x = whole.drop(columns=one.ignore)
    for column in x.columns:
        if not pd.api.types.is_numeric_dtype(x[column]):
            x[column] = x[column].astype("str").where(x[column].notna()).astype("category")
    if one.task != "regression":
        y = pd.Series(pd.factorize(y.astype(str).str.rstrip("."), sort=True)[0], index=y.index)
    return {p: (x.loc[p], y.loc[p].to_numpy()) for p in parts}


def dense(x):
    """Columns as arrays: one-hot categories, standardised numbers with the mean in place of missing ones."""
    numbers = [c for c in x.columns if x[c].dtype.name != "category"]
    words = [c for c in x.columns if x[c].dtype.name == "category"]
    return compose.ColumnTransformer([
        ("n", pipeline.make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler()), numbers),
        ("c", preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False), words)])


def fit(peer, one, data, seed, early):
    """A function from rows to probabilities or values."""
    (x, y), (xv, yv) = data["train"], data["valid"]
    if not early:
        x, y = pd.concat([x, xv]), np.concatenate([y, yv])
    values = one.task == "regression"
    words = [c for c in x.columns if x[c].dtype.name == "category"]
    if peer == "logreg":
        last = linear_model.Ridge() if values else linear_model.LogisticRegression(max_iter=2000)
        model = pipeline.make_pipeline(dense(x), last).fit(x, y)
    elif peer == "mlp":
        kind = neural_network.MLPRegressor if values else neural_network.MLPClassifier
        last = kind(random_state=seed, early_stopping=early)
        if values:
            last = compose.TransformedTargetRegressor(last, transformer=preprocessing.StandardScaler())
        model = pipeline.make_pipeline(dense(x), last).fit(x, y)
    elif peer == "histgb":
        kind = ensemble.HistGradientBoostingRegressor if values else ensemble.HistGradientBoostingClassifier
        model = kind(random_state=seed, early_stopping=early, max_iter=TREES if early else 100,
                     n_iter_no_change=ROUNDS)
        model.fit(x, y, **({"X_val": xv, "y_val": yv} if early else {}))
    elif peer == "lgbm":
        lightgbm = importlib.import_module("lightgbm")
        kind = lightgbm.LGBMRegressor if values else lightgbm.LGBMClassifier
        model = kind(random_state=seed, verbose=-1, n_estimators=TREES if early else 100)
        more = {"eval_set": [(xv, yv)], "callbacks": [lightgbm.early_stopping(ROUNDS, verbose=False)]}
        model.fit(x, y, **(more if early else {}))
    elif peer == "xgb":
        xgboost = importlib.import_module("xgboost")
        kind = xgboost.XGBRegressor if values else xgboost.XGBClassifier
        model = kind(random_state=seed, enable_categorical=True, tree_method="hist",
                     **({"n_estimators": TREES, "early_stopping_rounds": ROUNDS} if early else {}))
        model.fit(x, y, verbose=False, **({"eval_set": [(xv, yv)]} if early else {}))
    elif peer == "catboost":
        catboost = importlib.import_module("catboost")
        plain = lambda t: t.assign(**{c: t[c].astype(object).where(t[c].notna(), "missing") for c in words})
        kind = catboost.CatBoostRegressor if values else catboost.CatBoostClassifier
        inner = kind(random_seed=seed, verbose=0, allow_writing_files=False, cat_features=words)
        more = {"eval_set": (plain(xv), yv), "early_stopping_rounds": ROUNDS}
        inner.fit(plain(x), y, **(more if early else {}))
        return lambda rows: inner.predict(plain(rows)) if values else inner.predict_proba(plain(rows))
    else:
        raise SystemExit(f"peers.py: no peer {peer}")
    return model.predict if values else model.predict_proba


def calibration_error(p, y):
    """Expected calibration error, 15 bins of equal width: of the positive class, or of the best one."""
    sure, right = (p[:, 1], y) if p.shape[1] == 2 else (p.max(1), p.argmax(1) == y)
    bins = np.minimum((sure * 15).astype(int), 14)
    return sum(abs(sure[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean()
               for b in range(15) if (bins == b).any())


def main(folder, name, seed, names):
    one = sets.find(name)
    data = read(folder, one)
    x, y = data["test"]
    for peer in names:
        for protocol in "e", "t":
            if peer == "logreg" and protocol == "e":
                continue
            start = time.monotonic()
            answer = fit(peer, one, data, seed, protocol == "e")
            seconds = time.monotonic() - start
            out = answer(x)
            if one.task == "regression":
                score, loss, error = float(np.sqrt(np.mean((out - y) ** 2))), "", ""
            else:
                score = (metrics.roc_auc_score(y, out[:, 1]) if one.metric == "auc"
                         else float((out.argmax(1) == y).mean()))
                loss, error = metrics.log_loss(y, out, labels=range(out.shape[1])), calibration_error(out, y)
            print(name, f"peer {peer} {protocol}", seed, score, loss, error, round(seconds, 2), sep="\t", flush=True)


main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:])
