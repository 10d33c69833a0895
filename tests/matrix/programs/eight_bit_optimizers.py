# SPDX-License-Identifier: Apache-2.0
"""bitsandbytes: optimizers that keep their state in 8 bits, on the device and paged; layers of 8 and 4 bits."""
# matrix: needs bitsandbytes
import bitsandbytes
import torch
import torch.nn as nn

from steps import tokens, train


def loss(model, x):
    return model(x).pow(2).mean()


for kind in ("AdamW8bit", "PagedAdamW8bit", "Lion8bit", "Adam"):
    model = nn.Sequential(nn.Embedding(1000, 256), nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).cuda()
    train(model, lambda: [tokens(1000, 8)], loss, optimizer=getattr(bitsandbytes.optim, kind))
half = torch.rand(4, 256, device="cuda", dtype=torch.bfloat16)
print(bitsandbytes.nn.Linear8bitLt(256, 512, has_fp16_weights=False, threshold=6.0).cuda()(half.half()).shape)
print(bitsandbytes.nn.Linear4bit(256, 512, compute_dtype=torch.bfloat16, quant_type="nf4").cuda()(half).shape)
