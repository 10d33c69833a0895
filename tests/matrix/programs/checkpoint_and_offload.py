# SPDX-License-Identifier: Apache-2.0
"""Activations computed again in the backward pass, kept on the host, or kept in half: three ways to need less."""
# matrix: fast
import torch
import torch.nn as nn
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

layers = nn.Sequential(*(nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Dropout(0.1), nn.Linear(1024, 256)) for _ in range(4))).cuda()
x = torch.rand(128, 256, device="cuda", requires_grad=True)
for reentrant in (False, True):
    checkpoint_sequential(layers, 2, x, use_reentrant=reentrant).sum().backward()
y = x
for layer in layers:
    y = checkpoint(layer, y, use_reentrant=False)
y.sum().backward()
with save_on_cpu(pin_memory=True):
    layers(x).sum().backward()
with saved_tensors_hooks(lambda t: t.half() if t.is_floating_point() else t, lambda t: t.float() if t.is_floating_point() else t):
    layers(x).sum().backward()
