"""Blocks from many kinds of call sites, all alive at the end, and what PyTorch itself says of them.

usage: call_sites.py OUT.json

Writes a list of [bytes, [file:line, ...]] for the live blocks, from PyTorch's own memory history.
"""
import json
import sys
import threading

import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint

kept = []
sizes = iter(range(1000, 100000, 1))


def take(*shape):
    """A block of a size of its own."""
    block = torch.empty(*shape or (next(sizes) * 1024,), dtype=torch.uint8, device="cuda")
    kept.append(block)
    return block


def recursive(depth):
    return recursive(depth - 1) if depth else take()


def generator():
    yield take()
    yield from (take() for _ in range(2))


async def coroutine():
    return take()


class Manager:
    def __enter__(self):
        take()
        return self

    def __exit__(self, *unused):
        take()


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(256, 256, device="cuda")

    def forward(self, x):
        take()
        return torch.relu(
            self.linear(x)
            + 1.0
        )


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        kept.append(x * 2)
        return kept[-1].clone()

    @staticmethod
    def backward(context, gradient):
        take()
        return gradient * 2


def decorated(function):
    def wrapper(*arguments):
        take()
        return function(*arguments)

    return wrapper


@decorated
def inside_decorator():
    return take()


def plain_sites():
    take()
    recursive(7)
    list(generator())
    try:
        coroutine().send(None)
    except StopIteration:
        pass
    with Manager():
        take()
    try:
        raise ValueError
    except ValueError:
        take()
    finally:
        take()
    inside_decorator()
    (lambda: take())()
    [take() for _ in range(2)]
    {number: take() for number in range(2)}
    sorted([2, 1], key=lambda number: (take(), number)[1])
    eval("take()")
    exec(compile("take()\n\ntake()", "<made up>", "exec"), {"take": take})
    take(
        next(sizes),
        1024,
    )
    kept.append(torch.zeros(300, 300, device="cuda"))
    kept.append(kept[-1] @ kept[-1])
    kept.append(torch.randn(100, device="cuda").to(torch.float64))
    kept.append(torch.tensor([1.0, 2.0], device="cuda"))
    thread = threading.Thread(target=recursive, args=(2,))
    thread.start()
    thread.join()


def training():
    model = nn.Sequential(Layer(), Layer(), Layer())
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(64, 256, device="cuda", requires_grad=True)
    y = checkpoint(model[0], x, use_reentrant=False)
    y = Doubled.apply(model[2](model[1](y)))
    y.register_hook(lambda gradient: kept.append(gradient * 3))
    y.square().mean().backward()
    optimizer.step()
    kept.extend([model, optimizer, x, y])


def main():
    torch.cuda.memory._record_memory_history(stacks="python", max_entries=100000)
    plain_sites()
    training()
    take(64 << 20)  # the peak is here
    blocks = []
    for segment in torch.cuda.memory._snapshot()["segments"]:
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                lines = [f"{frame['filename']}:{frame['line']}" for frame in block.get("frames", [])]
                blocks.append([block["size"], lines])
    with open(sys.argv[1], "w") as file:
        json.dump(blocks, file)


main()
