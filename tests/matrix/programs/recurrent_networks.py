# SPDX-License-Identifier: Apache-2.0
"""LSTM and GRU by cuDNN: packed sequences, both directions, projections, cells by hand."""
# matrix: fast
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from steps import tokens, train


class Reader(nn.Module):
    def __init__(self, kind, **settings):
        super().__init__()
        self.words, self.layer = nn.Embedding(500, 32), kind(32, 48, num_layers=2, batch_first=True, dropout=0.1, **settings)
        self.head = nn.LazyLinear(500)

    def forward(self, x):
        packed = pack_padded_sequence(self.words(x), [24, 16, 9], batch_first=True)
        return self.head(pad_packed_sequence(self.layer(packed)[0], batch_first=True)[0])


def loss(model, x):
    return nn.functional.cross_entropy(model(x).flatten(0, 1), x[:, :24].flatten())


for kind, settings in ((nn.LSTM, {}), (nn.LSTM, {"proj_size": 16}), (nn.GRU, {"bidirectional": True}), (nn.RNN, {})):
    model = Reader(kind, **settings).cuda()
    model(tokens(500, 3, 24).cuda())
    train(model, lambda: [tokens(500, 3, 24)], loss)
cell, state = nn.LSTMCell(32, 48).cuda(), None
for _ in range(5):
    state = cell(torch.rand(4, 32, device="cuda"), state)
state[0].sum().backward()
