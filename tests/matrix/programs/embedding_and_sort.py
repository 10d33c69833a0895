# SPDX-License-Identifier: Apache-2.0
"""Embeddings, sparse gradients, sorting, counting, scattering, sampling."""
# matrix: fast
import torch
import torch.nn as nn

from steps import tokens, train


class Ranking(nn.Module):
    def __init__(self, sparse):
        super().__init__()
        self.words = nn.Embedding(5000, 64, sparse=sparse, padding_idx=0)
        self.bag = nn.EmbeddingBag(5000, 64, mode="mean", sparse=sparse)

    def forward(self, x):
        scores = self.words(x).mean(1) @ self.bag(x).t()
        return scores.sort(descending=True)[0][:, :2].logsumexp(-1) - scores.topk(2)[0].mean(-1)


def loss(model, x):
    return model(x).mean()


train(Ranking(False).cuda(), lambda: [tokens(5000, 16, 50)], loss)
sparse = Ranking(True).cuda()
optimizer = torch.optim.SparseAdam(sparse.parameters())
for _ in range(2):
    loss(sparse, tokens(5000, 16, 50).cuda()).backward()
    optimizer.step()
    optimizer.zero_grad()
x = torch.randint(0, 1000, (100000,), device="cuda")
y = torch.rand(100000, device="cuda")
rows = y.view(100, 1000)
print(x.sort(stable=True)[0].shape, rows.argsort(0).shape, rows.msort().shape, rows.kthvalue(3)[0].shape, rows.median(1)[0].shape)
print(x.bincount(minlength=1000).shape, x.unique().dim(), x.unique_consecutive().dim(), torch.histc(y, 50).shape)
print(rows.cumsum(1).shape, rows.cummax(0)[0].shape, torch.searchsorted(rows[0].sort()[0], y).shape, torch.bucketize(y, rows[0]).shape)
print(torch.zeros(1000, device="cuda").scatter_add_(0, x, y).shape, torch.zeros(1000, device="cuda").index_add(0, x, y).shape)
print((rows > 0.5).nonzero().dim(), rows[rows > 0.5].dim(), torch.randperm(50000, device="cuda").shape)
print(torch.multinomial(torch.ones(50, device="cuda"), 20).shape, torch.zeros(1000, device="cuda").index_put((x,), y, accumulate=True).shape)
