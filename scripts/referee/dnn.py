"""Runs dnn on small tables, and gives its weights, answers and gradients as arrays.

Nothing in dnn exists for this: with sgd without momentum and one step of a rate too small to move
any weight, the model file holds the initial weights; with a large rate the difference of the two
files is the gradient.
"""
import csv
import io
import json
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import read_model  # noqa: E402

STILL, LARGE = 1e-20, 512.0
SGD = {"type": "sgd", "momentum": 0, "weight_decay": 0}


def run(*words):
    done = subprocess.run([os.environ["DNN"], *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"referee: dnn {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Table:
    """A CSV file of columns: a list of numbers or texts each."""

    def __init__(self, folder, name, columns, target):
        self.folder, self.name, self.columns, self.target = folder, name, columns, target
        self.rows = len(columns[target])
        self.path = os.path.join(folder, name + ".csv")
        with open(self.path, "w", newline="") as f:
            out = csv.writer(f)
            out.writerow(columns)
            out.writerows(zip(*(["" if v is None else v for v in c] for c in columns.values())))

    def train(self, name, config, train):
        """The model of one network, all rows in one batch. `train` replaces keys of train."""
        whole = json.loads(json.dumps(config))
        whole["data"] = {"train": self.path, "target": self.target,
                         "split": {"method": "random", "valid": 0, "test": 0},
                         **whole.get("data", {})}
        whole["train"] = {"batch_size": self.rows, **whole.get("train", {}), **train}
        base = os.path.join(self.folder, f"{self.name}-{name}")
        with open(base + ".json", "w") as f:
            json.dump(whole, f)
        run("train", base + ".json", "--force", "-q", "-o", base + ".dnn")
        return base + ".dnn"

    def answers(self, model):
        """Probabilities [rows][labels], or values [rows][1]."""
        lines = list(csv.reader(io.StringIO(run("predict", model, self.path, "-q"))))
        first = lines[0].index("prediction")
        at = [i for i, h in enumerate(lines[0]) if h.startswith("probability_")] or [first]
        return np.array([[float(line[i]) for i in at] for line in lines[1:]])


class Start:
    """A network before its first step, or after `before` large ones (for a network that begins with
    weights of 0): model (read_model.Model), weights by name, and `steps`, the gradients of the loss
    over all rows times dnn's factors on the rate."""

    def __init__(self, table, config, before=0, large=LARGE):
        step = lambda name, epochs, rate: table.train(name, config, {
            "epochs": epochs, "optimizer": {**SGD, "learning_rate": rate},
            "schedule": {"type": "constant"}, "clip_norm": 0})
        self.table, self.config = table, config
        self.path = step("start", max(before, 1), large if before else STILL)
        self.model = read_model.Model(self.path)
        self.model.choose(0)
        self.weights = self.named(self.path)
        if not before:  # what was 0 is not quite
            self.weights = {k: np.where(np.abs(v) < 1e-15, 0, v) for k, v in self.weights.items()}
        after = self.named(step("step", before + 1, large))
        self.steps = {k: (self.weights[k] - after[k]) / large for k in self.weights}

    @staticmethod
    def named(path):
        _, tensors = read_model.read_file(path)
        return {k[len("members.0."):]: v.astype(np.float64) for k, v in tensors.items()
                if k.startswith("members.0.") and k != "members.0.history" and v.dtype.kind == "f"}

    def answers(self):
        return self.table.answers(self.path)

    def read(self):
        """Scaled numbers and ids, as the network sees them."""
        with open(self.table.path, newline="") as f:
            rows = list(csv.DictReader(f))
        numbers, ids = read_model.read_cells(self.model, rows)
        return read_model.scale(self.model, numbers)[0], ids

    def edges(self):
        first = self.model.encoder("bins.offsets")
        return [self.model.encoder("bins")[a:b].astype(np.float64)
                for a, b in zip(first[:-1], first[1:])]


def apart(ours, theirs):
    """The largest difference, of the largest number."""
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if ours.shape != theirs.shape:
        raise SystemExit(f"referee: shapes {ours.shape} and {theirs.shape}")
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-30))


class Report:
    def __init__(self, limit):
        self.limit, self.failed = limit, 0

    def line(self, name, outputs, gradients, after=None, noise=None):
        """gradients: (tensor, difference) of all. after: the answers after a short training, beside
        those of the referee in double; noise: the same of the referee in float32. A training
        makes rounding errors larger: ten times the noise is within them."""
        worst = max(gradients, key=lambda g: g[1])
        good = outputs <= self.limit and worst[1] <= self.limit
        text = f"{name:42s} outputs {outputs:.1e}  gradients {worst[1]:.1e} ({worst[0]})"
        if after is not None:
            good &= after <= max(10 * noise, self.limit)
            text += f"  after training {after:.1e} (float32 {noise:.1e})"
        self.failed += not good
        print(f"{text}  {'same' if good else 'DIFFERENT'}", flush=True)
        for tensor, difference in gradients:
            if difference > self.limit:
                print(f"    gradient of {tensor}: {difference:.1e}")

    def skip(self, name, why):
        print(f"{name:42s} skipped: {why}", flush=True)
