"""A training whose forward and backward pass torch.compile makes with Triton.  usage: [MODE of torch.compile]

Prints PyTorch's own statistics as NAME=BYTES lines, the capability that it sees and how the backward pass came about.
"""
import sys

import torch
from torch import nn


def model():
    return nn.Sequential(nn.Linear(64, 256), nn.LayerNorm(256), nn.GELU(), nn.Linear(256, 64)).cuda()


def main(mode):
    module = model()
    step = torch.compile(module, mode=mode)
    optimizer = torch.optim.AdamW(module.parameters())
    for _ in range(5):
        loss = step(torch.randn(32, 64, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.cuda.synchronize()
    statistics = torch.cuda.memory_stats()
    for name, key in (("peak_allocated_bytes", "allocated_bytes.all.peak"), ("peak_reserved_bytes", "reserved_bytes.all.peak"),
                      ("alloc_count", "allocation.all.allocated"), ("segment_alloc_count", "segment.all.allocated"),
                      ("segment_free_count", "segment.all.freed"), ("oom_count", "num_ooms"), ("retry_count", "num_alloc_retries")):
        print(f"{name}={statistics[key]}")
    print("capability=%d%d" % torch.cuda.get_device_capability())
    print(f"graphs={torch._dynamo.utils.counters['stats']['unique_graphs']}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "default")
