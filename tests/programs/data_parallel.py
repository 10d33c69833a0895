"""One process on several devices over NCCL: torch.cuda.nccl and DataParallel.  Prints "done" or what differs."""
import time

import torch
from torch import nn
from torch.cuda import nccl


def row(value, device, count=4):
    return torch.tensor([value] * count).to(f"cuda:{device}")


def same(what, got, wanted):
    if got.tolist() != wanted:
        print(f"{what}: {got.tolist()}, not {wanted}")


def train():
    module = nn.DataParallel(nn.Linear(64, 64).cuda())
    module(torch.randn(32, 64, device="cuda")).sum().backward()
    torch.cuda.synchronize()
    time.sleep(0.5)  # PyTorch aborts when the interpreter ends while the thread of the backward pass tidies up


def main():
    train()
    devices = range(torch.cuda.device_count())
    total = float(sum(device + 1 for device in devices))
    tensors = [row(device + 1.0, device) for device in devices]
    nccl.all_reduce(tensors)
    for tensor in tensors:
        same("all_reduce", tensor, [total] * 4)
    parts = [row(float(device), device) for device in devices]
    whole = [row(0.0, device, 4 * len(devices)) for device in devices]
    nccl.all_gather(parts, whole)
    for tensor in whole:
        same("all_gather", tensor, [float(device) for device in devices for _ in range(4)])
    nccl.broadcast(parts)
    same("broadcast", parts[-1], [0.0] * 4)
    print("done")


if __name__ == "__main__":
    main()
