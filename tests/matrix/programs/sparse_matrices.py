# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices as graph networks use them: COO, CSR and blocks, products and sums, sampling, solving, gradients."""
# matrix: fast
import torch
import torch.nn as nn

from steps import train

NODES = 200


def adjacency():
    edges = torch.stack([torch.arange(NODES).repeat(4), torch.randint(0, NODES, (4 * NODES,))])
    return torch.sparse_coo_tensor(edges, torch.rand(4 * NODES), (NODES, NODES)).coalesce()


graph = adjacency()
coo, csr = graph.cuda(), graph.to_sparse_csr().cuda()


class Network(nn.Module):
    """Two layers of a graph network over a sparse matrix."""

    def __init__(self, matrix):
        super().__init__()
        self.matrix, self.first, self.second = matrix, nn.Linear(16, 32), nn.Linear(32, 4)

    def forward(self, x):
        x = torch.relu(torch.sparse.mm(self.matrix, self.first(x)))
        return self.matrix @ self.second(x)


for matrix in (coo, csr):
    train(Network(matrix).cuda(), lambda: [torch.rand(NODES, 16)], lambda model, x: model(x).pow(2).mean())
weights = coo.clone().requires_grad_()
torch.sparse.mm(weights, torch.rand(NODES, 8, device="cuda")).sum().backward()
vector, dense = torch.rand(NODES, device="cuda"), torch.rand(NODES, NODES, device="cuda")
print(weights.grad.shape, (coo @ vector).shape, (csr @ vector).shape, (csr @ dense).shape, torch.addmm(dense, csr, dense).shape)
print(torch.sparse.sampled_addmm(csr, dense, dense).shape, (csr @ csr @ csr)._nnz(), (csr + csr @ csr)._nnz(), (csr * 2).shape)
print(csr.to_dense().shape, csr.double().matmul(dense.double()).shape, torch.sparse.sum(coo, 0).shape, (coo * coo)._nnz(), (coo + coo)._nnz())
assert torch.sparse.mm(coo, coo)._nnz() == (csr @ csr)._nnz() == torch.sparse.mm(graph, graph)._nnz(), "sizes are right, values are not"
print(torch.triangular_solve(dense, csr, upper=False)[0].shape, torch.triangular_solve(dense[:, :1], csr)[0].shape)
blocks = torch.rand(NODES, NODES).to_sparse_bsr((5, 5)).cuda()
print((blocks @ dense).shape, (blocks @ vector).shape, torch.triangular_solve(dense, blocks)[0].shape)
half = torch.tensor([0, 0, 1, 1]).tile((64, 32)).half().cuda()
print((torch.sparse.to_sparse_semi_structured(half) @ torch.rand(128, 64, device="cuda").half()).shape)
