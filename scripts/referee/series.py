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
        self.links = []  # dnn's name, torch's parameter, and how its gradient becomes dnn's

    def leaf(self, ours):
        p = torch.tensor(self.start.weights[ours], requires_grad=True)
        self.links.append((ours, p, lambda g: g))
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

    def fill(self, own, name, turn=lambda a: a.T):
        """Puts dnn's parameter into one of torch's. turn: transposes, so it is its own inverse."""
        own.data.copy_(torch.tensor(turn(self.start.weights[name]).copy()))
        self.links.append((name, own, turn))

    def fill_attention(self, net, at):
        """q k v one behind the other in both."""
        for ours, own in (("weight", net.in_proj_weight), ("bias", net.in_proj_bias),
                          ("output", net.out_proj.weight), ("output_bias", net.out_proj.bias)):
            self.fill(own, f"{at}.{ours}")

    def masks(self, layer, steps):
        causal = torch.triu(torch.ones(steps, steps, dtype=torch.bool), 1)
        return {"mask": causal if layer["causal"] else None, "padding": ~self.inside}

    def attention(self, at, layer, x):
        net = torch.nn.MultiheadAttention(x.shape[2], layer["heads"], batch_first=True)
        self.fill_attention(net, at)
        masks = self.masks(layer, x.shape[1])
        return net(x, x, x, key_padding_mask=masks["padding"], attn_mask=masks["mask"],
                   need_weights=False)[0]

    def conv(self, at, layer, x):
        """Steps behind the end count as 0."""
        net = torch.nn.Conv1d(x.shape[2], layer["units"], layer["kernel"], dilation=layer["dilation"])
        self.fill(net.weight, at + ".weight")
        self.fill(net.bias, at + ".bias")
        reach = (layer["kernel"] - 1) * layer["dilation"]
        before = reach if layer["causal"] else reach // 2
        there = (x * self.inside[..., None]).transpose(1, 2)
        return net(torch.nn.functional.pad(there, (before, reach - before))).transpose(1, 2)

    def block(self, at, first, second, x):
        """Residual of layer_norm and attention, then of layer_norm, dense, gelu, dense: an encoder
        layer with the norms first."""
        norm, attention = first["layers"]
        net = torch.nn.TransformerEncoderLayer(
            x.shape[2], attention["heads"], second["layers"][1]["units"], dropout=0.0,
            activation="gelu", layer_norm_eps=norm["epsilon"], batch_first=True, norm_first=True)
        self.fill_attention(net.self_attn, f"layers.{at}.layers.1")
        for name, own in ((f"{at}.layers.0.scale", net.norm1.weight),
                          (f"{at}.layers.0.shift", net.norm1.bias),
                          (f"{at + 1}.layers.0.scale", net.norm2.weight),
                          (f"{at + 1}.layers.0.shift", net.norm2.bias),
                          (f"{at + 1}.layers.1.weight", net.linear1.weight),
                          (f"{at + 1}.layers.1.bias", net.linear1.bias),
                          (f"{at + 1}.layers.3.weight", net.linear2.weight),
                          (f"{at + 1}.layers.3.bias", net.linear2.bias)):
            self.fill(own, "layers." + name)
        masks = self.masks(attention, x.shape[1])
        return net(x, src_mask=masks["mask"], src_key_padding_mask=masks["padding"])

    def forward(self, x):
        layers, skip = self.start.model.layers, False
        for at, layer in enumerate(layers):
            kind, path = layer["type"], f"layers.{at}"
            if skip:
                skip = False
            elif kind in ("lstm", "gru"):
                x = self.recurrent(at, layer, x)
            elif kind == "pool":
                x = self.pool(layer["kind"], x)
            elif kind == "dense":
                x = x @ self.leaf(path + ".weight") + self.leaf(path + ".bias")
            elif kind == "position":
                x = x + self.leaf(path + ".weight")
            elif kind == "attention":
                x = self.attention(path, layer, x)
            elif kind == "conv1d":
                x = self.conv(path, layer, x)
            elif kind in ("relu", "gelu"):
                x = getattr(torch.nn.functional, kind)(x)
            elif kind == "residual":
                x, skip = self.block(at, layer, layers[at + 1], x), True
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
    wide, mean = {"type": "dense", "units": 8}, {"type": "pool", "kind": "mean"}
    norm = {"type": "layer_norm"}
    for causal in False, True:
        attention = {"type": "attention", "heads": 2, "causal": causal}
        of = ", causal" if causal else ""
        compare(report, folder, f"attention{of}",
                [wide, {"type": "position", "kind": "learned"}, attention, mean])
        compare(report, folder, f"transformer block, norm first{of}",
                [wide, {"type": "residual", "layers": [norm, attention]},
                 {"type": "residual", "layers": [norm, {"type": "dense", "units": 12}, {"type": "gelu"},
                                                 {"type": "dense", "units": 8}]}, mean])
        conv = {"type": "conv1d", "units": 6, "kernel": 4, "dilation": 2, "causal": causal}
        compare(report, folder, f"conv1d{of}",
                [conv, {"type": "gelu"}, {**conv, "kernel": 3, "dilation": 1}, mean])
