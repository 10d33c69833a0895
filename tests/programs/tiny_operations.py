"""The harshest load for a recorder: a training step of thousands of tiny operations, so that nearly all time is launches and
allocations on the host.  usage: see timed_steps.py"""
import torch

import timed_steps

DEPTH, WIDTH, ROWS = 24, 32, 8


def main():
    model = torch.nn.Sequential(*(torch.nn.Linear(WIDTH, WIDTH) for _ in range(DEPTH))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, foreach=False)
    batch = torch.ones(ROWS, WIDTH, device="cuda")

    def step():
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    timed_steps.main(step, warm_up=20, steps=200)


main()
