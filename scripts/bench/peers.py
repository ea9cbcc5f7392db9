#!/usr/bin/env python3
"""The peers of scripts/bench.sh: each sub-command does one job once and prints seconds (or nothing, when the whole process is
timed from outside). Versions are pinned in scripts/bench/requirements.txt.

    peers.py train-torch CSV EPOCHS THREADS     seconds of the training loop alone
    peers.py train-sklearn CSV EPOCHS           seconds of fit alone
    peers.py job TRAIN.csv NEW.csv OUT.csv      whole job: read, encode, train 10 epochs, save, predict (timed from outside)
    peers.py save-torch CSV MODEL.pt            a model for `answer`
    peers.py answer MODEL.pt CSV OUT.csv        cold prediction (timed from outside)
    peers.py csv pandas|pyarrow CSV             seconds from the file to the float32 matrix
"""
import sys
import time


def matrix(path):
    import numpy as np
    import pandas as pd
    table = pd.read_csv(path)
    y = table.pop("y").to_numpy().astype(np.int64)
    x = table.to_numpy(dtype=np.float32)
    x = (x - x.mean(0)) / x.std(0)
    return x, y


def network(torch, width, outputs, hidden=(128, 128)):
    layers, last = [], width
    for h in hidden:
        layers += [torch.nn.Linear(last, h), torch.nn.ReLU()]
        last = h
    return torch.nn.Sequential(*layers, torch.nn.Linear(last, outputs))


def fit(torch, model, x, y, epochs, batch=256, lr=1e-3):
    """The careful user's loop: data in memory, index batches, fused AdamW."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01, fused=True)
    loss_of = torch.nn.CrossEntropyLoss()
    for _ in range(epochs):
        order = torch.randperm(len(x))
        for i in range(0, len(x), batch):
            rows = order[i:i + batch]
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
    return float(loss.detach())


def train_torch(path, epochs, threads):
    import torch
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    x, y = matrix(path)
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    model = network(torch, x.shape[1], 2)
    fit(torch, model, x, y, 1)
    start = time.perf_counter()
    fit(torch, model, x, y, epochs)
    print("%.6f" % (time.perf_counter() - start))


def train_sklearn(path, epochs):
    import warnings
    from sklearn.neural_network import MLPClassifier
    warnings.simplefilter("ignore")
    x, y = matrix(path)
    model = MLPClassifier((128, 128), batch_size=256, max_iter=epochs, tol=0, n_iter_no_change=epochs + 1, random_state=0)
    start = time.perf_counter()
    model.fit(x, y)
    print("%.6f" % (time.perf_counter() - start))


def encode(pd, np, table, plan=None):
    """Median, standard scale and one-hot, as the config of bench.sh's job asks of dnn."""
    if plan is None:
        plan = []
        for name in table.columns:
            column = table[name]
            if column.dtype.kind in "fi":
                middle = column.median()
                filled = column.fillna(middle)
                plan.append((name, middle, filled.mean(), filled.std() or 1.0))
            else:
                plan.append((name, sorted(column.dropna().unique())))
    parts = []
    for entry in plan:
        if len(entry) == 4:
            name, middle, mean, deviation = entry
            parts.append(((table[name].fillna(middle) - mean) / deviation).to_numpy(np.float32)[:, None])
        else:
            codes = pd.Categorical(table[entry[0]], categories=entry[1]).codes
            hot = np.zeros((len(table), len(entry[1]) + 1), np.float32)
            hot[np.arange(len(table)), codes] = 1
            parts.append(hot)
    return np.concatenate(parts, 1), plan


def job(train, new, out):
    import numpy as np
    import pandas as pd
    import torch
    torch.manual_seed(0)
    table = pd.read_csv(train).drop(columns="id")
    y = torch.from_numpy((table.pop("y") == "yes").to_numpy().astype(np.int64))
    x, plan = encode(pd, np, table)
    x = torch.from_numpy(x)
    model = network(torch, x.shape[1], 2)
    fit(torch, model, x, y, 10)
    torch.save({"model": model.state_dict(), "plan": plan}, out + ".pt")
    fresh, _ = encode(pd, np, pd.read_csv(new), plan)
    with torch.no_grad():
        p = torch.softmax(model(torch.from_numpy(fresh)), 1).numpy()
    pd.DataFrame({"prediction": np.where(p[:, 1] >= 0.5, "yes", "no"), "probability_no": p[:, 0], "probability_yes": p[:, 1]}
                 ).to_csv(out, index=False)


def save_torch(path, model_path):
    import torch
    x, _ = matrix(path)
    model = network(torch, x.shape[1], 2)
    torch.save({"model": model.state_dict(), "width": x.shape[1]}, model_path)


def answer(model_path, path, out):
    import numpy as np
    import pandas as pd
    import torch
    saved = torch.load(model_path)
    model = network(torch, saved["width"], 2)
    model.load_state_dict(saved["model"])
    table = pd.read_csv(path)
    table = table.drop(columns=[c for c in ("y",) if c in table])
    with torch.no_grad():
        p = torch.softmax(model(torch.from_numpy(table.to_numpy(dtype=np.float32))), 1).numpy()
    pd.DataFrame(p).to_csv(out, index=False)


def csv(engine, path):
    import numpy as np
    if engine == "pandas":
        import pandas as pd
        start = time.perf_counter()
        x = pd.read_csv(path, engine="c", dtype=np.float32).to_numpy()
    else:
        import pyarrow.csv as pc
        start = time.perf_counter()
        t = pc.read_csv(path)
        x = np.empty((t.num_rows, t.num_columns), np.float32)
        for i in range(t.num_columns):
            x[:, i] = t.column(i).to_numpy()
    seconds = time.perf_counter() - start
    assert x.dtype == np.float32 and x.ndim == 2
    print("%.6f" % seconds)


JOBS = {"train-torch": lambda a: train_torch(a[0], int(a[1]), int(a[2])),
        "train-sklearn": lambda a: train_sklearn(a[0], int(a[1])),
        "job": lambda a: job(*a), "save-torch": lambda a: save_torch(*a), "answer": lambda a: answer(*a),
        "csv": lambda a: csv(*a)}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in JOBS:
        sys.exit(__doc__)
    JOBS[sys.argv[1]](sys.argv[2:])
