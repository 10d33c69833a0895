"""The harshest load for a recorder: a training step of thousands of tiny operations, so that nearly all time is launches and
allocations on the host.  usage: tiny_operations.py [STEPS]; prints the median and the minimum of a step in microseconds."""
import statistics
import sys
import time

import torch

DEPTH, WIDTH, ROWS, WARM_UP = 24, 32, 8, 20


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    model = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, foreach=False)
    batch = torch.ones(ROWS, WIDTH, device="cuda")
    seconds = []
    for step in range(WARM_UP + steps):
        start = time.perf_counter()
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step >= WARM_UP:
            seconds.append(time.perf_counter() - start)
    print(f"median {statistics.median(seconds) * 1e6:.1f} minimum {min(seconds) * 1e6:.1f}")


main()
