# SPDX-License-Identifier: Apache-2.0
"""Attention by each of PyTorch's ways: flash, memory efficient, cuDNN, plain; masks, grouped heads, the module."""
# matrix: fast
# matrix: differs which way PyTorch takes and how it splits depends on the card
import torch
import torch.nn as nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as attend

for way in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH, SDPBackend.CUDNN_ATTENTION):
    q, k, v = (torch.rand(2, 4, 80, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    with sdpa_kernel(way):
        attend(q, k, v, is_causal=True).sum().backward()
mask = torch.rand(80, 80, device="cuda") > 0.5
attend(q, k, v, attn_mask=mask).sum().backward()
attend(q, k[:, :2], v[:, :2], enable_gqa=True).sum().backward()
layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(64, 4, batch_first=True), 2).cuda()
layer(torch.rand(2, 30, 64, device="cuda"), src_key_padding_mask=torch.zeros(2, 30, dtype=torch.bool, device="cuda")).sum().backward()
layer.eval()
with torch.inference_mode():
    print(layer(torch.rand(2, 30, 64, device="cuda")).shape)
