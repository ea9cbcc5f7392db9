#!/usr/bin/env python3
"""The PyTorch peers of scripts/bench_models.sh: each sub-command trains one kind of network and prints the seconds of a step, as a
careful user writes it (data in memory, index batches, fused optimisers), or what the row compares. STEPS are timed after a tenth of
them; THREADS are torch's.

    peers_models.py realmlp CSV STEPS THREADS       RealMLP-TD: periodic numbers, one-hot, embeddings, 3 x 256, its optimiser
    peers_models.py tabm CSV STEPS THREADS          the package tabm: k 32, 2 x 512, 48 bins, batch 256
    peers_models.py series KIND IN UNITS LAYERS STEPS_OF_TIME BATCH STEPS THREADS    mean over time, 2 classes; KIND: lstm, gru,
                                                    transformer-HEADS-FORWARD (norms first, learned positions), conv-KERNEL
    peers_models.py tagging CSV ANSWERS THREADS     reads rows of sequences, answers each by an lstm of 64 over windows of 50, writes
                                                    them: the work of a whole command, with weights that nobody trained
    peers_models.py tune CSV EPOCHS TRIALS JOBS THREADS    Optuna, successive halving of an MLP: seconds of the search
"""
import math
import sys
import time

import numpy as np


def table(path):
    """Numbers, standardised, missing 0; ids of categories, 0 missing; labels."""
    import pandas as pd
    frame = pd.read_csv(path)
    y = frame.pop("y")
    y = y.factorize(sort=True)[0].astype(np.int64)
    frame = frame.drop(columns=[c for c in frame if c == "id"])
    words = [c for c in frame if not pd.api.types.is_numeric_dtype(frame[c])]
    ids = np.stack([frame[c].factorize()[0] + 1 for c in words], 1) if words else np.zeros((len(frame), 0), int)
    x = frame.drop(columns=words).to_numpy(np.float32)
    x = np.nan_to_num((x - np.nanmean(x, 0)) / np.nanstd(x, 0)).astype(np.float32)
    return x, ids, y


def timed(step, rows, batch, steps, torch):
    """Seconds of a step, over shuffled batches."""
    def go(count):
        order = torch.randperm(rows)
        for i in range(count):
            at = i * batch % (rows - batch + 1)
            step(order[at:at + batch])
    go(max(steps // 10, 2))
    start = time.perf_counter()
    go(steps)
    return (time.perf_counter() - start) / steps


def realmlp(torch, path, steps):
    x, ids, y = table(path)
    sizes = ids.max(0) + 1 if ids.shape[1] else []
    hot = [i for i, n in enumerate(sizes) if n <= 9]
    wide = [i for i, n in enumerate(sizes) if n > 9]
    fixed = np.concatenate([x] + [np.eye(sizes[i], dtype=np.float32)[ids[:, i]][:, 1:] for i in hot], 1)
    fixed, x, y = map(torch.from_numpy, (fixed, x, y))
    ids = torch.from_numpy(ids[:, wide])
    numbers, width = x.shape[1], 3 * x.shape[1] + fixed.shape[1] + 8 * len(wide)
    new = lambda *shape: torch.randn(*shape).requires_grad_()
    frequency, phase = new(numbers, 16), new(numbers, 16)
    turn, shift = new(numbers, 16, 3), new(numbers, 3)
    tables = [new(int(sizes[i]), 8) for i in wide]
    scale = torch.ones(width, requires_grad=True)
    layers = [(new(a, 256), new(256), torch.ones(256, requires_grad=True)) for a in (width, 256, 256)]
    last = new(256, 2), new(2)
    groups = [([w for w, _, _ in layers] + [last[0]] + tables, 1), ([b for _, b, _ in layers] + [last[1]], 0.1),
              ([a for _, _, a in layers] + [frequency, phase, turn, shift], 0.1), ([scale], 6)]
    optimizer = torch.optim.AdamW([{"params": p, "factor": f, "decays": i != 1} for i, (p, f) in enumerate(groups)],
                                  lr=0.04, betas=(0.9, 0.95), fused=True)
    done = [0]

    def step(rows):
        t = done[0] % 5000 / 5000
        rate = 0.02 * (1 - math.cos(2 * math.pi * math.log2(1 + 15 * t)))
        flat = 1 if t < 0.5 else 0.5 * (1 + math.cos(math.pi * (2 * t - 1)))
        done[0] += 1
        for g in optimizer.param_groups:
            g["lr"] = rate * g["factor"]
            g["weight_decay"] = 0.02 * flat * g["factor"] * g["decays"]
        waves = torch.cos(2 * math.pi * x[rows][:, :, None] * frequency + phase)
        h = [(torch.einsum("rnw,nwo->rno", waves, turn) + shift).flatten(1), fixed[rows]]
        h += [table_[ids[rows, i]] for i, table_ in enumerate(tables)]
        h = torch.cat(h, 1) * scale
        for w, b, a in layers:
            z = torch.addmm(b, h, w / math.sqrt(len(w)))
            h = torch.nn.functional.dropout(z + a * (torch.selu(z) - z), 0.15 * flat)
        out = torch.addmm(last[1], h, last[0] / 16)
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(out, y[rows]).backward()
        optimizer.step()

    return timed(step, len(x), 256, steps, torch)


def tabm(torch, path, steps):
    import rtdl_num_embeddings
    from tabm import TabM
    x, _, y = table(path)
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    bins = rtdl_num_embeddings.compute_bins(x, n_bins=48)
    embeddings = rtdl_num_embeddings.PiecewiseLinearEmbeddings(bins, 16, activation=False, version="B")
    net = TabM.make(n_num_features=x.shape[1], d_out=2, num_embeddings=embeddings, arch_type="tabm-mini")
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=3e-4, fused=True)

    def step(rows):
        optimizer.zero_grad(set_to_none=True)
        out = net(x[rows])
        torch.nn.functional.cross_entropy(out.flatten(0, 1), y[rows].repeat_interleave(32)).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()

    return timed(step, len(x), 256, steps, torch)


def series_network(torch, kind, width, units, layers, length):
    """All modules and parameters of a network for sequences, and its function of [rows][length][width]."""
    kind, *numbers = kind.split("-")
    nn = torch.nn
    if kind == "transformer":
        heads, forward = map(int, numbers)
        block = nn.TransformerEncoderLayer(units, heads, forward, dropout=0.0, activation="gelu", batch_first=True,
                                           norm_first=True)
        net = nn.ModuleDict({"first": nn.Linear(width, units),
                             "inner": nn.TransformerEncoder(block, layers, enable_nested_tensor=False)})
        net.register_parameter("position", nn.Parameter(torch.zeros(length, units)))
        run = lambda rows: net["inner"](net["first"](rows) + net.position)
    elif kind == "conv":
        kernel = int(numbers[0])
        widths = [width] + [units] * layers
        net = nn.ModuleDict({"inner": nn.Sequential(*[m for i in range(layers) for m in (
            nn.Conv1d(widths[i], units, kernel, padding="same"), nn.ReLU())])})
        run = lambda rows: net["inner"](rows.transpose(1, 2)).transpose(1, 2)
    else:
        net = nn.ModuleDict({"inner": (nn.LSTM if kind == "lstm" else nn.GRU)(width, units, layers, batch_first=True)})
        run = lambda rows: net["inner"](rows)[0]
    net["last"] = nn.Linear(units, 2)
    return net, lambda rows: net["last"](run(rows).mean(1))


def series(torch, kind, width, units, layers, length, batch, steps):
    x, y = torch.randn(4 * batch, length, width), torch.randint(0, 2, (4 * batch,))
    net, run = series_network(torch, kind, width, units, layers, length)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True)

    def step(rows):
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(run(x[rows]), y[rows]).backward()
        optimizer.step()

    return timed(step, len(x), batch, steps, torch)


def tagging(torch, path, answers):
    import pandas as pd
    start = time.perf_counter()
    frame = pd.read_csv(path)
    x = frame.filter(regex="^x").to_numpy(np.float32)
    x = (x - x.mean(0)) / x.std(0)
    starts = np.flatnonzero(np.r_[True, frame.series.to_numpy()[1:] != frame.series.to_numpy()[:-1]])
    ends = np.r_[starts[1:], len(x)]
    windows = [(at, min(at + 50, end)) for begin, end in zip(starts, ends) for at in range(begin, end, 50)]
    inner, last = torch.nn.LSTM(x.shape[1], 64, batch_first=True), torch.nn.Linear(64, 2)
    up = np.empty(len(x), np.float32)
    with torch.inference_mode():
        for i in range(0, len(windows), 256):
            some = windows[i:i + 256]
            batch = np.zeros((len(some), 50, x.shape[1]), np.float32)
            for row, (at, end) in zip(batch, some):
                row[:end - at] = x[at:end]
            out = torch.softmax(last(inner(torch.from_numpy(batch))[0]), 2)[:, :, 1].numpy()
            for row, (at, end) in zip(out, some):
                up[at:end] = row[:end - at]
    answer = frame[["series", "t"]].copy()
    answer["prediction"] = np.where(up > 0.5, "up", "down")
    answer["probability_down"], answer["probability_up"] = 1 - up, up
    answer.to_csv(answers, index=False, float_format="%.6g")
    return time.perf_counter() - start


def tune(torch, path, epochs, trials, jobs):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    x, ids, y = table(path)
    parts = [x] + [np.eye(ids[:, i].max() + 1, dtype=np.float32)[ids[:, i]] for i in range(ids.shape[1])]
    x, y = torch.from_numpy(np.concatenate(parts, 1)), torch.from_numpy(y)
    valid = torch.arange(len(x)) % 5 == 0
    xt, yt, xv, yv = x[~valid], y[~valid], x[valid], y[valid]
    acts = {"gelu": torch.nn.GELU, "relu": torch.nn.ReLU, "silu": torch.nn.SiLU}

    def objective(trial):
        hidden = trial.suggest_categorical("hidden", ["128", "256", "128,64", "256,128", "512,256"])
        dropout, act = trial.suggest_float("dropout", 0, 0.5), trial.suggest_categorical("act", list(acts))
        batch = trial.suggest_categorical("batch", [64, 128, 256, 512])
        rate = trial.suggest_float("rate", 3e-4, 1e-2, log=True)
        decay = trial.suggest_float("decay", 1e-4, 1e-1, log=True)
        layers, last = [], x.shape[1]
        for h in map(int, hidden.split(",")):
            layers += [torch.nn.Linear(last, h), acts[act](), torch.nn.Dropout(dropout)]
            last = h
        net = torch.nn.Sequential(*layers, torch.nn.Linear(last, 2))
        optimizer = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=decay, fused=True)
        best = math.inf
        for epoch in range(epochs):
            net.train()
            order = torch.randperm(len(xt))
            for i in range(0, len(xt), batch):
                optimizer.zero_grad(set_to_none=True)
                rows = order[i:i + batch]
                torch.nn.functional.cross_entropy(net(xt[rows]), yt[rows]).backward()
                optimizer.step()
            net.eval()
            with torch.no_grad():
                best = min(best, float(torch.nn.functional.cross_entropy(net(xv), yv)))
            trial.report(best, epoch + 1)
            if trial.should_prune():
                raise optuna.TrialPruned
        return best

    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=max(epochs // 9, 1), reduction_factor=3)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0), pruner=pruner)
    start = time.perf_counter()
    study.optimize(objective, n_trials=trials, n_jobs=jobs)
    return time.perf_counter() - start


def main(words):
    import torch
    torch.set_num_threads(int(words[-1]))
    torch.manual_seed(0)
    kind, numbers = words[0], words[1:-1]
    if kind in ("realmlp", "tabm"):
        seconds = globals()[kind](torch, numbers[0], int(numbers[1]))
    elif kind == "series":
        seconds = series(torch, numbers[0], *map(int, numbers[1:]))
    elif kind == "tagging":
        seconds = tagging(torch, *numbers)
    elif kind == "tune":
        seconds = tune(torch, numbers[0], *map(int, numbers[1:]))
    else:
        sys.exit(__doc__)
    print("%.6f" % seconds)


if __name__ == "__main__":
    main(sys.argv[1:]) if len(sys.argv) > 3 else sys.exit(__doc__)
