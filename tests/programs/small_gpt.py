"""A small GPT with AdamW on the stand-in GPU.  usage: small_gpt.py [STEPS]; prints the median and the minimum of a step in
microseconds."""
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCABULARY, WIDTH, LAYERS, HEADS, BATCH, LENGTH, WARM_UP = 4096, 256, 4, 4, 4, 256, 3


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.position = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        return self.head(self.layers(self.token(tokens) + self.position.weight))


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    seconds = []
    for step in range(WARM_UP + steps):
        start = time.perf_counter()
        tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH)).pin_memory().cuda(non_blocking=True)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        if step >= WARM_UP:
            seconds.append(time.perf_counter() - start)
    print(f"median {statistics.median(seconds) * 1e6:.1f} minimum {min(seconds) * 1e6:.1f}")


main()
