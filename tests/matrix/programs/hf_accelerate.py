# SPDX-License-Identifier: Apache-2.0
"""accelerate: a loop with accumulation in half precision, state kept on disk."""
# matrix: needs accelerate
import tempfile

import torch
import torch.nn as nn
from accelerate import Accelerator

accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=2)
model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 8))
data = torch.utils.data.TensorDataset(torch.rand(64, 64), torch.randint(0, 8, (64,)))
model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), torch.utils.data.DataLoader(data, 8, shuffle=True))
for x, y in loader:
    with accelerator.accumulate(model):
        accelerator.backward(nn.functional.cross_entropy(model(x), y))
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
with tempfile.TemporaryDirectory() as folder:
    accelerator.save_state(folder)
    accelerator.load_state(folder)
print(accelerator.gather(torch.ones(2, device=accelerator.device)).sum())
