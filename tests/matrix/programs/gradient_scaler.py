# SPDX-License-Identifier: Apache-2.0
"""Half precision with GradScaler: scaling, unscaling, clipping, a skipped step."""
# matrix: fast
import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(256, 512), nn.SiLU(), nn.Linear(512, 512), nn.LayerNorm(512), nn.Linear(512, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
scaler = torch.amp.GradScaler("cuda")
for _ in range(5):
    x, y = torch.rand(64, 256, device="cuda"), torch.randint(0, 10, (64,), device="cuda")
    with torch.autocast("cuda", torch.float16):
        loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
print(scaler.get_scale())
