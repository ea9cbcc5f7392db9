"""TabM: the authors' package tabm, with the numbers of rtdl_num_embeddings, against the preset tabm;
and the piecewise-linear encoding of the latter against an mlp on it."""
import numpy as np
import rtdl_num_embeddings
import tabm
import torch

from dnn import Start, Table, apart, read_model

ROWS, EPOCHS = 64, 6


def table(folder, name, regression, numbers, categories):
    """One of the numbers has five values, so it has fewer bins than the others."""
    rng = np.random.default_rng(2)
    columns = {f"n{i}": list(rng.normal(i, 1 + i, ROWS)) for i in range(numbers - 1)}
    columns[f"n{numbers - 1}"] = [float(v) for v in rng.integers(0, 5, ROWS)]
    for i, count in enumerate(categories):
        columns[f"c{i}"] = [f"v{j}" for j in rng.integers(0, count, ROWS)]
    sum_ = sum(np.sin(np.array(columns[f"n{i}"])) for i in range(numbers)) + rng.normal(0, 0.3, ROWS)
    columns["y"] = list(sum_) if regression else ["abc"[int(v > 0) + int(v > 1)] for v in sum_]
    return Table(folder, name.replace(" ", "-").replace(",", ""), columns, "y")


def config_of(t, model, regression, encoders=None):
    return {"task": "regression" if regression else "multiclass", "model": model,
            "data": {"columns": {c: "numeric" if c[0] == "n" else "categorical"
                                 for c in t.columns if c != "y"}},
            **({"encoders": encoders} if encoders else {})}


def inputs(start):
    """Numbers and ids in double, and the targets."""
    x, ids = start.read()
    model = start.model
    ids = ids[:, [i for i, k in enumerate(model.types) if k == "categorical"]]
    y = start.table.columns["y"]
    if model.head["task"] == "regression":
        center, width = model.encoder("target")
        y = torch.tensor((np.array(y) - center) / width)
    else:
        y = torch.tensor([model.labels.index(v) for v in y])
    return torch.tensor(x), torch.tensor(ids), y


def bins_in(weight, edges):
    """Rows of ple.weight, one block a number, to [numbers][most bins][dim]: the last bin of a number
    stands last there."""
    most = max(len(e) - 1 for e in edges)
    out, at = np.zeros((len(edges), most, weight.shape[1])), 0
    for i, e in enumerate(edges):
        count = len(e) - 1
        out[i, :count - 1], out[i, -1] = weight[at:at + count - 1], weight[at + count - 1]
        at += count
    return out


def links_of(start, variant, numbers, hidden):
    """dnn's tensor, theirs, and how the one becomes the other."""
    edges, model = start.edges(), start.model
    dim = start.weights["layers.0.scale"].shape[1]
    hot = sum(2 + len(v) for v, k in zip(model.values, model.types) if k == "categorical")
    order = list(range(hot, hot + numbers * dim)) + list(range(hot))  # theirs has the numbers first
    place = lambda a: a[..., order]
    flip = lambda a: a.T
    rows = lambda a: a[order].T
    same = lambda a: a
    yield "ple.weight", "num_module.linear.weight", lambda a: bins_in(a, edges)
    yield "layers.0.scale", "num_module.linear0.weight", same
    yield "layers.0.shift", "num_module.linear0.bias", same
    inside, at = "layers.1.layers.", 0
    if variant == "mini":
        yield inside + "0.weight", "backbone.affine.weight", place
        at = 1
    for i in range(len(hidden)):
        block = f"backbone.blocks.{i}.0."
        if variant == "mini":
            yield f"{inside}{at}.weight", block + "weight", flip if i else rows
            yield f"{inside}{at}.bias", block + "bias", same
            at += 2
        else:
            yield f"{inside}{at}.weight", block + "r", same if i else place
            yield f"{inside}{at + 1}.weight", block + "weight", flip if i else rows
            yield f"{inside}{at + 2}.weight", block + "s", same
            yield f"{inside}{at + 2}.bias", block + "bias", same
            at += 4
    yield "layers.2.weight", "output.weight", same
    yield "layers.2.bias", "output.bias", same


def loss_of(out, y, regression):
    """The mean of the losses of all networks."""
    k = out.shape[1]
    if regression:
        return torch.nn.functional.mse_loss(out[..., 0], y[:, None].expand(-1, k))
    return torch.nn.functional.cross_entropy(out.flatten(0, 1), y.repeat_interleave(k))


def answers_of(out, start, regression):
    if regression:
        center, width = start.model.encoder("target")
        return (out.mean(1) * width + center).detach().numpy()
    return torch.softmax(out, -1).mean(1).detach().numpy()


def compare(report, folder, variant, regression):
    numbers, categories, hidden = 3, [4, 9], [512, 512]
    name = f"tabm {variant}, {'regression' if regression else 'multiclass'}"
    t = table(folder, name, regression, numbers, categories)
    model = {"preset": "tabm", "variant": variant, "dropout": 0}
    config = config_of(t, model, regression)
    start = Start(t, config)
    edges = start.edges()
    links = list(links_of(start, variant, numbers, hidden))

    def network(dtype):
        torch.set_default_dtype(dtype)
        embeddings = rtdl_num_embeddings.PiecewiseLinearEmbeddings(
            [torch.tensor(e, dtype=dtype) for e in edges], 16, activation=False, version="B")
        net = tabm.TabM.make(
            n_num_features=numbers, num_embeddings=embeddings, dropout=0.0,
            cat_cardinalities=[2 + len(v) for v, k in zip(start.model.values, start.model.types)
                               if k == "categorical"],
            d_out=1 if regression else 3, arch_type="tabm-mini" if variant == "mini" else "tabm")
        own = dict(net.named_parameters())
        for ours, theirs, turn in links:
            value = turn(start.weights[ours])
            own[theirs].data.copy_(torch.tensor(value).reshape(own[theirs].shape))
        missing = set(own) - {link[1] for link in links}
        if missing:
            raise SystemExit(f"referee: {name}: no weights for {missing}")
        x, ids, y = inputs(start)
        return net, own, x.to(dtype), ids, y.to(dtype) if regression else y

    net, own, x, ids, y = network(torch.float64)
    out = net(x, ids)
    outputs = apart(start.answers(), answers_of(out, start, regression))
    loss_of(out, y, regression).backward()
    differences = []
    for ours, theirs, turn in links:
        g = turn(start.steps[ours])
        differences.append((ours, apart(g, own[theirs].grad.numpy().reshape(g.shape))))
    trained = []
    for dtype in torch.float64, torch.float32:
        net, own, x, ids, y = network(dtype)
        free = [p for n, p in own.items() if n.endswith("bias") or "linear0" in n]
        decayed = [p for n, p in own.items() if not (n.endswith("bias") or "linear0" in n)]
        optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 3e-4},
                                       {"params": free, "weight_decay": 0.0}], lr=2e-3)
        for _ in range(EPOCHS):
            optimizer.zero_grad()
            loss_of(net(x, ids), y, regression).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
        trained.append(answers_of(net(x, ids), start, regression))
    ours = t.answers(t.train("trained", config, {"epochs": EPOCHS}))
    report.line(name, outputs, differences, apart(ours, trained[0]), apart(trained[1], trained[0]))


def compare_bins(report, folder):
    """The edges by quantiles: those of compute_bins of the cells, which dnn scales afterwards. (The
    authors take the quantiles of the scaled column: edges between the same two values, elsewhere
    between them.)"""
    t = table(folder, "tabm bins", True, 4, [])
    start = Start(t, config_of(t, {"preset": "tabm", "dropout": 0, "hidden": [8], "k": 2}, True))
    cells = np.array([t.columns[f"n{i}"] for i in range(4)]).T
    theirs = rtdl_num_embeddings.compute_bins(torch.tensor(cells), n_bins=48)
    worst = 0
    for i, ours in enumerate(start.edges()):
        numbers = np.zeros((len(theirs[i]), 4))
        numbers[:, i] = theirs[i].numpy()
        scaled = read_model.scale(start.model, numbers)[0][:, i]
        worst = max(worst, apart(ours, scaled))
    report.line("tabm, 48 bins by quantiles", worst, [("none", 0.0)])


def compare_ple(report, folder):
    """An mlp on piecewise-linear numbers: lookups in dnn, a wide input there."""
    t = table(folder, "mlp ple", False, 3, [])
    config = config_of(t, {"preset": "mlp", "hidden": [32], "activation": "gelu", "dropout": 0},
                       False, {"numeric": {"encode": ["plain", "ple"], "bins": 16}})
    start = Start(t, config)
    edges, w = start.edges(), start.weights
    torch.set_default_dtype(torch.float64)
    x, _, y = inputs(start)
    most = max(len(e) - 1 for e in edges)
    encode = rtdl_num_embeddings.PiecewiseLinearEncoding([torch.tensor(e) for e in edges])
    p = {k: torch.tensor(v, requires_grad=True) for k, v in w.items() if k != "ple.weight"}
    wide = torch.tensor(bins_in(w["ple.weight"], edges).reshape(-1, 32), requires_grad=True)
    if most * len(edges) == encode(x).shape[1]:
        parts = encode(x)
    else:  # the package leaves out the places that a number with fewer bins does not use
        impl = encode.impl
        parts = impl(x).flatten(1)
    hidden = torch.nn.functional.gelu(x @ p["layers.0.weight"] + parts @ wide + p["layers.0.bias"])
    out = hidden @ p["layers.2.weight"] + p["layers.2.bias"]
    outputs = apart(start.answers(), torch.softmax(out, 1).detach().numpy())
    torch.nn.functional.cross_entropy(out, y).backward()
    differences = [(k, apart(start.steps[k], v.grad.numpy())) for k, v in p.items()]
    unused = (parts.detach() != 0).any(0).numpy()[:, None]
    differences.append(("ple.weight", apart(bins_in(start.steps["ple.weight"], edges).reshape(-1, 32),
                                            wide.grad.numpy() * unused)))
    report.line("mlp, 16 bins of piecewise-linear numbers", outputs, differences)


def all_cases(report, folder):
    for variant in "mini", "full":
        for regression in False, True:
            compare(report, folder, variant, regression)
    compare_bins(report, folder)
    compare_ple(report, folder)
