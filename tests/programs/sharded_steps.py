"""Trainings that spread over ranks, run by torchrun.  usage: KIND[,KIND...] of ddp, zero, fsdp, fully_shard

Prints "KIND RANK done" after each, "gradient RANK same" when DDP averages gradients, then PyTorch's statistics as
"NAME=BYTES RANK" lines.
"""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

RANK = int(os.environ["RANK"])


def tell(text):
    """In one piece: the ranks write into one pipe."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def model():
    return nn.Sequential(*(nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)) for _ in range(3))).cuda()


def spread(kind):
    module = model()
    if kind == "fsdp":
        return FullyShardedDataParallel(module, auto_wrap_policy=ModuleWrapPolicy({nn.Linear}), device_id=RANK)
    if kind == "fully_shard":
        for layer in module:
            torch.distributed.fsdp.fully_shard(layer)
        return torch.distributed.fsdp.fully_shard(module)
    return DistributedDataParallel(module, device_ids=[RANK])


def optimizer_of(kind, module):
    if kind == "zero":
        return ZeroRedundancyOptimizer(module.parameters(), optimizer_class=torch.optim.Adam)
    return torch.optim.AdamW(module.parameters())


def train(kind):
    module = spread(kind)
    optimizer = optimizer_of(kind, module)
    for _ in range(3):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = module(torch.randn(64, 256, device="cuda")).float().sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()


class Seeded(torch.autograd.Function):
    """Its gradient is a copy of what the program gave it: no kernel computes it, so that it can be compared."""
    @staticmethod
    def forward(context, weight, seed):
        context.save_for_backward(seed)
        return weight.new_zeros(())

    @staticmethod
    def backward(context, gradient):
        return context.saved_tensors[0].clone(), None


class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(4))

    def forward(self, seed):
        return Seeded.apply(self.weight, seed)


def gradients_are_averaged():
    module = DistributedDataParallel(Weighted().cuda(), device_ids=[RANK])
    module(torch.tensor([RANK + 1.0] * 4).cuda()).backward()
    wanted = sum(rank + 1.0 for rank in range(dist.get_world_size())) / dist.get_world_size()
    got = module.module.weight.grad.tolist()
    tell(f"gradient {RANK} " + ("same" if got == [wanted] * 4 else f"{got}, not {wanted}"))


def main(kinds):
    torch.cuda.set_device(RANK)
    dist.init_process_group("nccl")
    for kind in kinds:
        if kind != "fully_shard" or hasattr(torch.distributed.fsdp, "fully_shard"):  # not before 2.6
            train(kind)
        tell(f"{kind} {RANK} done")
    gradients_are_averaged()
    statistics = torch.cuda.memory_stats()
    for name, key in (("peak_allocated_bytes", "allocated_bytes.all.peak"), ("peak_reserved_bytes", "reserved_bytes.all.peak"),
                      ("alloc_count", "allocation.all.allocated"), ("segment_alloc_count", "segment.all.allocated")):
        tell(f"{name}={statistics[key]} {RANK}")
    dist.destroy_process_group()
    time.sleep(0.5)  # PyTorch aborts when the interpreter ends while the thread of the backward pass tidies up


if __name__ == "__main__":
    main(sys.argv[1].split(","))
