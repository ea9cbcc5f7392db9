#!/usr/bin/env python3
"""PyTorch on the GPU, for scripts/gpu_verify.sh: prints one line of JSON.

    peers_gpu.py step CSV EPOCHS eager|graph|compile   microseconds of a step of 45k x 14, 128-128-2, batch 256, AdamW
    peers_gpu.py large ROWS BATCH fp32|bf16|compile    rows a second of 28-512-512-512-2: as it comes, in bf16 with the fused
                                                       optimiser, and the same compiled and replayed as a graph
    peers_gpu.py series KIND IN UNITS LAYERS LENGTH BATCH HOW     rows a second of a step of a sequence model (peers_models.py);
                                                       HOW: eager, graph, bf16-graph (autocast), compile (bf16)
    peers_gpu.py job TRAIN.csv NEW.csv OUT.csv         the whole job (timed from outside): read, train 10 epochs, predict

The data lie on the device, batches are rows of a permutation made there; the optimiser is the fused one.
"""
import json
import sys
import time

import peers


def ready(torch, path):
    x, y = peers.matrix(path)
    return torch.from_numpy(x).cuda(), torch.from_numpy(y).cuda()


def stepper(torch, model, x, y, batch, how):
    """A function of the rows (on the device) that does one step; its loss stays there."""
    capturable = how == "graph"
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=True, capturable=capturable)
    loss_of = torch.nn.CrossEntropyLoss()
    forward = torch.compile(model, mode="reduce-overhead") if how == "compile" else model

    def step(rows):
        optimizer.zero_grad(set_to_none=not capturable)
        loss = loss_of(forward(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        return loss

    if how != "graph":
        return step
    rows = torch.arange(batch, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(5):
            step(rows)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step(rows)

    def replay(now):
        rows.copy_(now)
        graph.replay()
    return replay


def fit(torch, step, count, epochs, batch):
    steps = 0
    for _ in range(epochs):
        order = torch.randperm(count, device="cuda")
        for i in range(0, count - batch + 1, batch):  # whole batches: a graph has one shape
            step(order[i:i + batch])
            steps += 1
    torch.cuda.synchronize()
    return steps


def step_time(path, epochs, how):
    import torch
    torch.manual_seed(0)
    x, y = ready(torch, path)
    model = peers.network(torch, x.shape[1], 2).cuda()
    step = stepper(torch, model, x, y, 256, how)
    fit(torch, step, len(x), 1, 256)
    start = time.perf_counter()
    steps = fit(torch, step, len(x), epochs, 256)
    took = time.perf_counter() - start
    print(json.dumps({"peer": "PyTorch " + how, "us_a_step": took / steps * 1e6, "torch": torch.__version__,
                      "device": torch.cuda.get_device_name()}))


def large(rows, batch, how):
    import torch
    torch.manual_seed(0)
    x = torch.randn(rows, 28, device="cuda")
    y = (x[:, 0] * x[:, 1] > 0).long()
    widths = [28, 512, 512, 512]
    layers = []
    for i in range(3):
        layers += [torch.nn.Linear(widths[i], widths[i + 1]), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(512, 2)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=how != "fp32")
    loss_of = torch.nn.CrossEntropyLoss()
    forward = torch.compile(model, mode="reduce-overhead") if how == "compile" else model

    def step(picked):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=how != "fp32"):
            loss = loss_of(forward(x[picked]), y[picked])
        loss.backward()
        optimizer.step()

    fit(torch, step, rows, 1, batch)
    start = time.perf_counter()
    steps = fit(torch, step, rows, 2, batch)
    took = time.perf_counter() - start
    print(json.dumps({"peer": "PyTorch " + how, "batch": batch, "rows_per_s": steps * batch / took}))


def series(kind, width, units, layers, length, batch, how):
    import peers_models
    import torch
    torch.manual_seed(0)
    net, run = peers_models.series_network(torch, kind, width, units, layers, length)
    net = net.cuda()
    if how == "compile":
        run = torch.compile(run, mode="reduce-overhead")
    x = torch.randn(batch, length, width, device="cuda")
    y = torch.randint(0, 2, (batch,), device="cuda")
    graphed = "graph" in how
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True, capturable=graphed)

    def step():
        optimizer.zero_grad(set_to_none=not graphed)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=how in ("bf16-graph", "compile")):
            loss = torch.nn.functional.cross_entropy(run(x), y)
        loss.backward()
        optimizer.step()

    go = step
    if graphed:
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(5):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        go = graph.replay
    for _ in range(5):
        go()
    torch.cuda.synchronize()
    start, steps = time.perf_counter(), 0
    while time.perf_counter() - start < 1:
        for _ in range(10):
            go()
        torch.cuda.synchronize()
        steps += 10
    took = time.perf_counter() - start
    print(json.dumps({"peer": "PyTorch " + how, "kind": kind, "batch": batch, "rows_per_s": steps * batch / took,
                      "step_ms": took / steps * 1e3}))


def job(train, new, out):
    import numpy as np
    import pandas as pd
    import torch
    x, y = ready(torch, train)
    model = peers.network(torch, x.shape[1], 2).cuda()
    fit(torch, stepper(torch, model, x, y, 256, "eager"), len(x), 10, 256)
    torch.save(model.state_dict(), out + ".pt")
    fresh, _ = ready(torch, new)
    with torch.no_grad():
        p = torch.softmax(model(fresh), 1).cpu().numpy()
    pd.DataFrame({"prediction": np.argmax(p, 1), "probability_0": p[:, 0], "probability_1": p[:, 1]}).to_csv(out, index=False)


if __name__ == "__main__":
    words = sys.argv[1:]
    if len(words) == 4 and words[0] == "step":
        step_time(words[1], int(words[2]), words[3])
    elif len(words) == 4 and words[0] == "large":
        large(int(words[1]), int(words[2]), words[3])
    elif len(words) == 8 and words[0] == "series":
        series(words[1], *map(int, words[2:7]), words[7])
    elif len(words) == 4 and words[0] == "job":
        job(*words[1:])
    else:
        sys.exit(__doc__)
