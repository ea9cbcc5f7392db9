"""RealMLP: pytabkit's own network, loss, optimiser and schedules against the preset realmlp."""
import numpy as np
import torch

from dnn import Start, Table, apart
from pytabkit.models.alg_interfaces.base import InterfaceResources, SplitIdxs
from pytabkit.models.data.data import DictDataset, TensorInfo
from pytabkit.models.sklearn.default_params import DefaultParams
from pytabkit.models.training.lightning_modules import TabNNModule

ROWS, EPOCHS = 64, 6
# Adam's epsilon stands beside gradients of v in pytabkit, of w = v / sqrt(inputs) in dnn: it is as good as
# left out here, so that the comparison is one of all the rest.
EPSILON = 1e-20


def table(folder, name, numbers, categories, regression, rng):
    """categories: how many values each column has; no cell is missing."""
    columns = {f"n{i}": list(rng.normal(i, 1 + i, ROWS)) for i in range(numbers)}
    sum_ = sum((np.array(c) - i) / (1 + i) for i, c in enumerate(columns.values()))
    for i, count in enumerate(categories):
        ids = np.concatenate([np.arange(count), rng.integers(0, count, ROWS - count)])
        columns[f"c{i}"] = [f"v{j}" for j in ids]
        sum_ = sum_ + np.sin(ids)
    noisy = sum_ + rng.normal(0, 0.5, ROWS)
    columns["y"] = list(noisy) if regression else ["yes" if v > 0 else "no" for v in noisy]
    return Table(folder, name, columns, "y")


class Theirs:
    """pytabkit's training, one step of all rows at a time."""

    def __init__(self, start, regression, params, dtype):
        torch.set_default_dtype(dtype)
        self.dtype, self.regression = dtype, regression
        columns, model = start.table.columns, start.model
        x = np.array([columns[n] for n in columns if n.startswith("n")], float).T
        if "median_center" not in params["tfms"]:
            x = start.read()[0]
        ids = start.read()[1][:, [i for i, k in enumerate(model.types) if k == "categorical"]]
        sizes = [len(v) + 1 for v, k in zip(model.values, model.types) if k == "categorical"]
        y = columns["y"] if regression else [model.labels.index(v) for v in columns["y"]]
        tensors = {"x_cont": torch.tensor(x, dtype=dtype),
                   "x_cat": torch.tensor(np.maximum(ids - 1, 0)),
                   "y": torch.tensor(y, dtype=dtype if regression else torch.long)[:, None]}
        infos = {"x_cont": TensorInfo(feat_shape=[x.shape[1]]),
                 "x_cat": TensorInfo(cat_sizes=sizes),
                 "y": TensorInfo(feat_shape=[1]) if regression else TensorInfo(cat_sizes=[2])}
        one = SplitIdxs(train_idxs=torch.arange(ROWS)[None], val_idxs=None, test_idxs=None,
                        split_seed=0, sub_split_seeds=[0], split_id=0)
        self.module = TabNNModule(EPOCHS, **{**params, "batch_size": ROWS})
        self.module.compile_model(DictDataset(tensors, infos), [one],
                                  InterfaceResources(n_threads=1, gpu_devices=[]))
        self.net = self.module.model.to(dtype)
        self.params = {str(p.context.scope).strip("/"): p for p in self.net.parameters()}

    def batch(self):
        """All rows, in their order."""
        tensors = self.module.train_dl.ds.tensors
        return {k: (v.to(self.dtype) if v.is_floating_point() else v)[None]
                for k, v in tensors.items()}

    def loss(self):
        out = self.net(self.batch())
        return self.module.criterion(out["x_cont"], out["y"]).sum()

    def gradients(self):
        self.net.train()
        self.module.hp_manager.update_hypers(self.module)
        self.net.zero_grad()
        self.loss().backward()
        return {k: p.grad.numpy().copy() for k, p in self.params.items()}

    def fit(self):
        optimizer = self.module.configure_optimizers()
        self.net.train()
        for _ in range(EPOCHS):
            self.module.hp_manager.update_hypers(self.module)
            optimizer.zero_grad()
            self.loss().backward()
            optimizer.step()
            self.module.progress.total_samples += ROWS
            self.module.progress.epoch_float = self.module.progress.total_samples / ROWS

    def answers(self):
        self.net.eval()
        with torch.no_grad():
            out = self.net(self.batch())["x_cont"][0]
        return (out if self.regression else torch.softmax(out, 1)).numpy()


def places(start, td):
    """The columns of dnn's first layer in the order of pytabkit's: waves, numbers, one-hot columns
    without the slots of missing and unknown values, embeddings."""
    model = start.model
    numbers = sum(k == "numeric" for k in model.types)
    hot, wide, at = [], [], numbers
    for c in [c for c, k in enumerate(model.types) if k == "categorical"]:
        if model.word("encode", c) == "embedding":
            wide += list(range(at, at + int(model.encoder("dim")[c])))
            at += int(model.encoder("dim")[c])
    waves = list(range(at, at + 3 * numbers)) if td else []
    at += len(waves)
    for c in [c for c, k in enumerate(model.types) if k == "categorical"]:
        if model.word("encode", c) != "embedding":
            count = 2 + len(model.values[c])
            hot += list(range(at + 2, at + count))
            at += count
    return waves + list(range(numbers)) + hot + wide, at


def ntk(name, value):
    """dnn's w is pytabkit's weight divided by the root of the number of inputs."""
    dense = name.startswith("layers.") and name.endswith("weight") and value.ndim == 2
    return len(value) ** 0.5 if dense else 1


def pairs(start, td):
    """(dnn's tensor, pytabkit's scope, to theirs, what a step of sgd is multiplied by in dnn)"""
    w, model = start.weights, start.model
    order, columns = places(start, td)
    kinds = [entry["type"] for entry in model.layers]
    first = kinds.index("scale")  # what stands before it is for piecewise-linear numbers
    if columns != len(w[f"layers.{first}.weight"]):
        raise SystemExit(f"referee: {columns} columns, {len(w[f'layers.{first}.weight'])} in dnn")
    yield f"layers.{first}.weight", "net/first_layer/layer-0/scale", lambda a: a[order], 6
    layer = 0
    words = {0: "first", 3: "last"}
    for i, kind in enumerate(kinds):
        scope = f"net/{words.get(layer, 'middle')}_layer/layer-{layer}"
        if kind == "ntk_dense":
            inside = w[f"layers.{i}.weight"].shape[0]
            rows = order if layer == 0 else list(range(inside))
            yield (f"layers.{i}.weight", scope + "/weight", lambda a, r=rows: a[r], 1 / inside)
            yield (f"layers.{i}.bias", scope + "/bias", lambda a: a, 0.1)
            layer += not td
        if kind == "blend":
            yield (f"layers.{i}.weight", scope + "/act", lambda a: a, 0.1)
            layer += 1
    if td:
        for ours, theirs in (("frequency", "weight_1"), ("phase", "bias_1"),
                             ("weight", "weight_2"), ("bias", "bias_2")):
            yield f"periodic.{ours}", "plr/" + theirs, lambda a: a, 0.1
    at = 0
    for c, kind in enumerate(model.types):
        if kind == "categorical" and model.word("encode", c) == "embedding":
            size, dim = 2 + len(model.values[c]), int(model.encoder("dim")[c])
            rows = [at] + list(range(at + 2, at + size))
            yield ("embeddings", "tfms/emb",
                   lambda a, r=rows, d=dim: a.reshape(-1, d)[r], 1)
            at += size


def compare(report, folder, name, variant, numbers, categories, regression, exact=True):
    """exact: all of it is the same. One-hot columns are 0 and 1 in dnn, with columns for missing and
    unknown values; pytabkit scales and clips them, and divides weights by the root of another number
    of inputs: so it is given scaled numbers and leaves the columns alone, and no training."""
    td = variant == "td"
    rng = np.random.default_rng(1)
    t = table(folder, name.replace(" ", "-").replace(",", ""), numbers, categories, regression, rng)
    config = {"task": "regression" if regression else "binary",
              "model": {"preset": "realmlp", "variant": variant, "dropout": 0},
              "data": {"columns": {c: "numeric" if c[0] == "n" else "categorical"
                                   for c in t.columns if c != "y"}}}
    if not regression:
        config["data"]["positive"] = "yes"
    params = dict(getattr(DefaultParams, f"RealMLP_TD{'' if td else '_S'}_"
                          + ("REG" if regression else "CLASS")))
    params.pop("n_epochs")
    if not exact:
        params["tfms"] = ["one_hot", "embedding"]
    params.update(p_drop=0.0, use_ls=False, clamp_output=False, opt_eps=EPSILON)

    def theirs_from(start, dtype=torch.float64):
        theirs = Theirs(start, regression, params, dtype)
        links = list(pairs(start, td))
        for ours, scope, turn, _ in links:
            p, value = theirs.params[scope], turn(start.weights[ours])
            p.data.copy_(torch.tensor(ntk(ours, value) * value).reshape(p.shape))
        missing = set(theirs.params) - {link[1] for link in links}
        if missing:
            raise SystemExit(f"referee: {name}: no weights for {missing}")
        return theirs, links

    # td-s begins with an output layer of 0: its gradients are those after a step
    start = Start(t, config) if td else Start(t, config, before=1, large=64)
    theirs, links = theirs_from(start)
    outputs = apart(start.answers(), theirs.answers())
    found, differences = theirs.gradients(), []
    for ours, scope, turn, factor in links:
        g = turn(start.steps[ours]) / factor
        differences.append((ours, apart(g, ntk(ours, g) * found[scope].reshape(g.shape))))
    after = noise = None
    if exact:
        first = start if td else Start(t, config)
        trained = []
        for dtype in torch.float64, torch.float32:
            theirs, _ = theirs_from(first, dtype)
            theirs.fit()
            trained.append(theirs.answers())
        ours = t.answers(t.train("trained", config, {"epochs": EPOCHS, "optimizer": {"epsilon": EPSILON}}))
        after, noise = apart(ours, trained[0]), apart(trained[1], trained[0])
    report.line(name, outputs, differences, after, noise)


def all_cases(report, folder):
    for variant in "td", "td-s":
        for regression in False, True:
            kind = "regression" if regression else "binary"
            compare(report, folder, f"realmlp {variant}, {kind}, numbers", variant, 4, [],
                    regression)
    for regression in False, True:
        kind = "regression" if regression else "binary"
        compare(report, folder, f"realmlp td, {kind}, embedding", "td", 3, [12], regression)
        compare(report, folder, f"realmlp td, {kind}, one-hot as 0 and 1", "td", 3, [12, 5], regression,
                exact=False)
