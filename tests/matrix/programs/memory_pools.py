# SPDX-License-Identifier: Apache-2.0
"""Tensors in pools of their own, pools that die, what a pool tells about itself."""
# matrix: fast
import torch

pool = torch.cuda.MemPool()
outside = torch.rand(1000, 1000, device="cuda")
with torch.cuda.use_mem_pool(pool):
    inside = [torch.rand(1000, 300 * n + 1, device="cuda") for n in range(5)]
    product = inside[1].t() @ outside
mixed = inside[2].sum() + outside.sum()
del inside[3], product
print(len(pool.snapshot()), mixed.shape, torch.cuda.memory_allocated())
with torch.cuda.use_mem_pool(pool):
    again = torch.rand(1000, 800, device="cuda")
second = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(second):
    torch.rand(5000000, device="cuda")
del inside, again, pool, second
torch.cuda.empty_cache()
print(torch.cuda.memory_reserved())
