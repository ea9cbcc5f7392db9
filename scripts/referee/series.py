"""Layers over the steps of sequences of different lengths: torch.nn's against dnn's."""
import numpy as np
import torch

from dnn import Start, Table, apart

ROWS, STEPS, CHANNELS = 48, 9, 3


def table(folder, name):
    """Sequences of 2 to 9 steps in wide form; the label follows from the steps."""
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1, (ROWS, STEPS, CHANNELS))
    lengths = np.concatenate([[STEPS], rng.integers(2, STEPS + 1, ROWS - 1)])
    inside = np.arange(STEPS) < lengths[:, None]
    sums = np.where(inside, x[..., 0] * x[..., 1], 0).sum(1)
    columns = {f"c{c}_{t}": [x[r, t, c] if inside[r, t] else None for r in range(ROWS)]
               for c in range(CHANNELS) for t in range(STEPS)}
    columns["y"] = ["abc"[int(v > -1) + int(v > 1)] for v in sums]
    return Table(folder, name.replace(" ", "-").replace(",", ""), columns, "y"), inside


def config_of(layers):
    return {"task": "multiclass", "model": {"layers": layers},
            "data": {"columns": {},
                     "sequence": {"wide": {f"c{c}": f"c{c}_*" for c in range(CHANNELS)}}}}


class Theirs:
    """A list of dnn's layers in torch.nn: each hands on [rows][steps][width]."""

    def __init__(self, start, inside):
        self.start, self.inside = start, torch.tensor(inside)
        self.lengths = self.inside.sum(1)
        self.params, self.links = {}, []

    def leaf(self, ours, turn=lambda a: a, back=lambda a: a):
        """A parameter as torch wants it; back: its gradient as dnn has it."""
        p = torch.tensor(np.ascontiguousarray(turn(self.start.weights[ours])), requires_grad=True)
        self.links.append((ours, p, back))
        return p

    def recurrent(self, at, layer, x):
        """Gates: lstm i f g o in both; gru r z n, but n r z for inputs here."""
        gru, units, ways = layer["type"] == "gru", layer["units"], 1 + layer["bidirectional"]
        net = (torch.nn.GRU if gru else torch.nn.LSTM)(x.shape[2], units, batch_first=True,
                                                       bidirectional=ways == 2)
        roll = lambda a, by: np.roll(a.reshape(*a.shape[:-1], -1, units), by, -2).reshape(a.shape)
        same = lambda a: a
        there, here = (lambda a: roll(a, -1), lambda a: roll(a, 1)) if gru else (same, same)
        for prefix, suffix in (("", ""), ("reverse_", "_reverse"))[:ways]:
            for ours, theirs in (("weight", "weight_ih_l0"), ("recurrent", "weight_hh_l0"),
                                 ("bias", "bias_ih_l0"), ("recurrent_bias", "bias_hh_l0")):
                own = getattr(net, theirs + suffix)
                name = f"layers.{at}.{prefix}{ours}"
                if name not in self.start.weights:  # lstm has one bias
                    own.data.zero_()
                    continue
                turn, back = (same, same) if ours.startswith("recurrent") else (there, here)
                own.data.copy_(torch.tensor(turn(self.start.weights[name]).T.copy()))
                self.links.append((name, own, lambda g, b=back: b(g.T)))
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, self.lengths, batch_first=True,
                                                         enforce_sorted=False)
        return torch.nn.utils.rnn.pad_packed_sequence(net(packed)[0], batch_first=True,
                                                      total_length=STEPS)[0]

    def pool(self, kind, x):
        inside = self.inside[..., None]
        if kind == "mean":
            return (x * inside).sum(1) / self.lengths[:, None]
        if kind == "max":
            return x.masked_fill(~inside, -torch.inf).amax(1)
        return x[torch.arange(len(x)), self.lengths - 1]

    def forward(self, x):
        for at, layer in enumerate(self.start.model.layers):
            kind = layer["type"]
            if kind in ("lstm", "gru"):
                x = self.recurrent(at, layer, x)
            elif kind == "pool":
                x = self.pool(layer["kind"], x)
            elif kind == "dense":
                x = x @ self.leaf(f"layers.{at}.weight") + self.leaf(f"layers.{at}.bias")
            elif kind == "tanh":
                x = torch.tanh(x)
            else:
                raise SystemExit(f"referee: no {kind} here")
        return x


def compare(report, folder, name, layers):
    torch.set_default_dtype(torch.float64)
    t, inside = table(folder, name)
    start = Start(t, config_of(layers))
    numbers = start.read()[0].reshape(ROWS, CHANNELS, STEPS).transpose(0, 2, 1)
    theirs = Theirs(start, inside)
    out = theirs.forward(torch.tensor(np.where(inside[..., None], numbers, 0)))
    outputs = apart(start.answers(), torch.softmax(out, 1).detach().numpy())
    y = torch.tensor([start.model.labels.index(v) for v in t.columns["y"]])
    torch.nn.functional.cross_entropy(out, y).backward()
    differences = [(ours, apart(start.steps[ours], back(p.grad.numpy())))
                   for ours, p, back in theirs.links]
    left = {k for k in start.weights if k.startswith("layers.")} - {d[0] for d in differences}
    if left:
        raise SystemExit(f"referee: {name}: no gradients of {left}")
    report.line(name, outputs, differences)


def all_cases(report, folder):
    for kind in "lstm", "gru":
        for both in False, True:
            for pool in "mean", "last":
                compare(report, folder, f"{kind}{', two directions' if both else ''}, {pool}",
                        [{"type": kind, "units": 6, "bidirectional": both},
                         {"type": kind, "units": 5, "bidirectional": both},
                         {"type": "pool", "kind": pool}])
