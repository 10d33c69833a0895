# SPDX-License-Identifier: Apache-2.0
"""Training steps captured as CUDA graphs, backward included: autograd's thread asks for blocks of
the capture's private pool."""
import torch

layer = torch.nn.Linear(512, 512).cuda()
rows = torch.randn(64, 512, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        layer.zero_grad(set_to_none=True)
        layer(rows).sum().backward()
torch.cuda.current_stream().wait_stream(side)

graph = torch.cuda.CUDAGraph()
layer.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    loss = layer(rows).sum()
    loss.backward()
for _ in range(3):
    graph.replay()

layer.zero_grad(set_to_none=True)
layer = torch.cuda.make_graphed_callables(layer, (rows,))
for _ in range(3):
    layer(rows).sum().backward()
torch.cuda.synchronize()
