"""The constants of RealMLP-TD and TD-S: pytabkit's parameters beside what the preset realmlp resolves to, one line a constant.
What differs on purpose says why; what differs without a reason counts as different."""
import json
import os

from dnn import run
from realmlp import table

import numpy as np
from pytabkit.models.sklearn.default_params import DefaultParams

# what pytabkit's program takes where its parameters say nothing
IMPLIED = {"batch_size": 256, "mom": 0.9, "opt_eps": 1e-8, "wd": 0.0, "p_drop": 0.0, "smooth_clip_max_abs_value": 3.0,
           "use_parametric_act": False, "use_ls": False, "n_epochs": 256, "wd_sched": "constant", "p_drop_sched": "constant"}
WHY = {"label smoothing": "smoothed labels spoil probabilities; train.loss.label_smoothing sets it",
       "one-hot columns": "0 or 1, not scaled and clipped",
       "rows of the initial weights": "fitted to the first batch",
       "answers": "calibrate keeps them in the range of the target, where that helps"}


def resolved(folder, name, variant, regression):
    t = table(folder, name, 2, [3, 12], regression, np.random.default_rng(1))
    config = {"task": "regression" if regression else "binary", "model": {"preset": "realmlp", "variant": variant},
              "data": {"train": t.path, "target": "y", "split": {"method": "random", "valid": 0, "test": 0},
                       "columns": {c: "numeric" if c[0] == "n" else "categorical" for c in t.columns if c != "y"}}}
    if not regression:
        config["data"]["positive"] = "yes"
    path = os.path.join(folder, name + ".json")
    with open(path, "w") as f:
        json.dump(config, f)
    return json.loads(run("check", path, "--resolved", "-q"))


def lines(p, c, td):
    """(name, pytabkit's, dnn's) of every constant. p: pytabkit's parameters; c: a resolved config."""
    layers, train, encoders = c["model"]["layers"], c["train"], c["encoders"]
    first = lambda kind: next((entry for entry in layers if entry["type"] == kind), {})
    dense, blend, scale, dropout = (first(k) for k in ("ntk_dense", "blend", "scale", "dropout"))
    last = c["model"]["output"]
    words = {"std": "data", "he+5": "data", "normal": "normal", "zeros": "zero"}
    theirs_last = p.get("last_layer_config", p)
    numeric, categorical = encoders["numeric"], encoders["categorical"]
    yield "widths", p["hidden_sizes"], [entry["units"] for entry in layers if entry["type"] == "ntk_dense"]
    yield "activation", p["act"], blend.get("activation") or layers[-1 if not dropout else -2]["type"]
    yield "activation blended in", p["use_parametric_act"], bool(blend)
    yield "rate of the blend", p.get("act_lr_factor"), blend.get("rate")
    yield "rate of the scale", p["scale_lr_factor"], scale["rate"]
    yield "rate of biases", p["bias_lr_factor"], dense["bias_rate"]
    yield "initial weights", words[p["weight_init_mode"]], dense["init"]
    yield "initial biases", words[p["bias_init_mode"]], dense["bias_init"]
    yield "initial weights, last layer", words[theirs_last["weight_init_mode"]], last.get("init", "data")
    yield "initial biases, last layer", words[theirs_last["bias_init_mode"]], last.get("bias_init", "data")
    if td:
        yield "rows of the initial weights", "all", "a batch"
    yield "dropout", p["p_drop"], dropout.get("p", 0)
    if dropout:
        yield "schedule of dropout", p["p_drop_sched"], train["schedule"]["dropout"]
    yield "learning rate", p["lr"], train["optimizer"]["learning_rate"]
    yield "schedule of the rate", p["lr_sched"], train["schedule"]["type"]
    yield "weight decay", p["wd"], train["optimizer"]["weight_decay"]
    if p["wd"]:
        yield "schedule of the decay", p["wd_sched"], train["schedule"]["weight_decay"]
    yield "optimiser", {"adam": "adamw"}[p["opt"]], train["optimizer"]["type"]  # the decay is decoupled in both
    yield "betas", [p["mom"], p["sq_mom"]], train["optimizer"]["betas"]
    yield "epsilon", p["opt_eps"], train["optimizer"]["epsilon"]
    yield "epochs", p["n_epochs"], train["epochs"]
    yield "batch", p["batch_size"], train["batch_size"]
    yield "early stopping", "none, last of equal ones", ("none" if train["early_stopping"]["patience"] == 0 else "yes") + \
        f", {train['early_stopping']['ties']} of equal ones"
    yield "label smoothing", p["ls_eps"] if p["use_ls"] else 0, train["loss"]["label_smoothing"]
    yield "numbers", ["median_center", "robust_scale", "smooth_clip"], \
        [t for t in p["tfms"] if t not in ("one_hot", "embedding")] if numeric["scale"] == "clip" else numeric["scale"]
    yield "periodic numbers", p.get("num_emb_type", "plain").replace("pbld", "periodic"), numeric["encode"]
    yield "one-hot to so many values", p["max_one_hot_cat_size"] - 1 if "max_one_hot_cat_size" in p else "all", \
        categorical["onehot_values"] if td else {"onehot": "all"}.get(categorical["encode"], categorical["encode"])
    if td:
        yield "width of an embedding", p["embedding_size"], categorical["dim"]
        yield "initial embeddings", "normal", categorical["init"]
    yield "one-hot columns", "clip", "0 1"
    if c["task"] == "regression":
        yield "answers", "kept in range" if p.get("clamp_output") else "as they are", "calibrate " + c["calibrate"]


def all_cases(report, folder):
    for variant, suffix in ("td", "TD"), ("td-s", "TD_S"):
        for regression in False, True:
            kind = "regression" if regression else "binary"
            p = {**IMPLIED, **getattr(DefaultParams, f"RealMLP_{suffix}_" + ("REG" if regression else "CLASS"))}
            c = resolved(folder, f"constants-{variant}-{kind}", variant, regression)
            for name, theirs, ours in lines(p, c, variant == "td"):
                same = theirs == ours
                report.failed += not same and name not in WHY
                print(f"{variant:5s} {kind:10s} {name:28s} {str(theirs):40s} {str(ours):40s} "
                      + ("same" if same else WHY.get(name, "DIFFERENT")), flush=True)
