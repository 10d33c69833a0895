"""A small GPT with AdamW on the stand-in GPU.  usage: see timed_steps.py"""
import torch
import torch.nn as nn
import torch.nn.functional as F

import timed_steps

VOCABULARY, WIDTH, LAYERS, HEADS, BATCH, LENGTH = 4096, 256, 4, 4, 4, 256


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
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step():
        tokens = torch.randint(0, VOCABULARY, (BATCH, LENGTH)).pin_memory().cuda(non_blocking=True)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()

    timed_steps.main(step, warm_up=3, steps=30)


main()
