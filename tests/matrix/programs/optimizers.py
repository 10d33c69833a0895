# SPDX-License-Identifier: Apache-2.0
"""Every optimizer of torch.optim, one tensor at a time, in groups and fused."""
# matrix: also expandable
import torch
import torch.nn as nn

KINDS = ("Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD")
WAYS = ({"foreach": False}, {"foreach": True}, {"fused": True})
FUSED = ("Adagrad", "Adam", "AdamW", "SGD")


def take(optimizer, model):
    def closure():
        optimizer.zero_grad()
        loss = model(torch.rand(16, 64, device="cuda")).pow(2).mean()
        loss.backward()
        return loss
    for _ in range(2):
        optimizer.step(closure)


for kind in KINDS:
    for way in WAYS:
        if "fused" in way and kind not in FUSED or kind == "Adagrad" and "fused" in way:
            continue
        model = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 8)).cuda()
        take(getattr(torch.optim, kind)(model.parameters(), lr=1e-3, **way), model)
model = nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 8)).cuda()
take(torch.optim.LBFGS(model.parameters(), max_iter=3), model)
take(torch.optim.Muon([p for p in model.parameters() if p.dim() == 2]), model)
