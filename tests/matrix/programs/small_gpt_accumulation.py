# SPDX-License-Identifier: Apache-2.0
"""A small GPT in mixed precision with gradient accumulation, clipping, a schedule and fused AdamW."""
# matrix: fast
# matrix: also expandable async
import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, HEADS, LAYERS, VOCABULARY, LENGTH = 192, 6, 3, 2048, 128


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1))

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (HEADS, -1)).transpose(1, 2) for y in self.qkv(self.first(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.1).transpose(1, 2).flatten(2))
        return x + self.mlp(self.second(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.layers, self.norm = nn.Sequential(*(Layer() for _ in range(LAYERS))), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.words.weight

    def forward(self, x, y):
        x = self.norm(self.layers(self.words(x) + self.places(torch.arange(x.shape[1], device=x.device))))
        return F.cross_entropy(self.head(x).flatten(0, 1), y.flatten())


model = Gpt().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
for step in range(4):
    for part in range(3):
        text = torch.randint(0, VOCABULARY, (4, LENGTH + 1)).pin_memory().to("cuda", non_blocking=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(text[:, :-1], text[:, 1:]) / 3
        loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    schedule.step()
    print(step, loss.item())
