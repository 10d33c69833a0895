# SPDX-License-Identifier: Apache-2.0
"""A random load on PyTorch's allocator: allocator_load.py SEED [streams] [empty] [graphs] [fraction].

Prints the reserved peak, retries and refusals that PyTorch counted.
"""
import random
import sys

import torch

LIVE = 250
CALLS = 2500


def size(rng):
    kind = rng.random()
    if kind < 0.3:
        return rng.randint(1, 4000)
    if kind < 0.5:
        return rng.randint(1, 1 << 20)
    if kind < 0.9:
        return rng.randint(1 << 20, 12 << 20)
    return rng.randint(10, 50) << 20


def load(rng, streams, empty):
    live = []
    for _ in range(CALLS):
        if live and (len(live) > LIVE or rng.random() < 0.48):
            block = live.pop(rng.randrange(len(live)))
            if len(streams) > 1 and rng.random() < 0.2:
                block.record_stream(rng.choice(streams))
            del block
            continue
        count, stream = size(rng), rng.choice(streams)
        try:
            with torch.cuda.stream(stream):
                live.append(torch.empty(count, dtype=torch.uint8, device="cuda"))
        except torch.cuda.OutOfMemoryError:
            pass
        if empty and rng.random() < 0.004:
            torch.cuda.empty_cache()


def graphs():
    x = torch.zeros(1 << 20, device="cuda")
    held, pool = [], None
    for _ in range(3):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            y = torch.relu(x * 2 + 1)
            z = y.view(1024, 1024).sum()
        held.append(graph)
        pool = pool or graph.pool()
        graph.replay()
    kept = [torch.empty(30 << 20, dtype=torch.uint8, device="cuda") for _ in range(4)]
    del y, z
    held.clear()
    torch.cuda.empty_cache()
    kept += [torch.empty(40 << 20, dtype=torch.uint8, device="cuda") for _ in range(4)]


def main():
    what = sys.argv[2:]
    streams = [torch.cuda.current_stream()]
    if "streams" in what:
        streams += [torch.cuda.Stream(), torch.cuda.Stream()]
    if "fraction" in what:
        torch.cuda.set_per_process_memory_fraction(0.5)
    load(random.Random(int(sys.argv[1])), streams, "empty" in what)
    if "fraction" in what:
        torch.cuda.set_per_process_memory_fraction(1.0)
        load(random.Random(int(sys.argv[1])), streams, "empty" in what)
    if "graphs" in what:
        graphs()
    stats = torch.cuda.memory_stats()
    print(stats["reserved_bytes.all.peak"], stats["num_alloc_retries"], stats["num_ooms"])


main()
