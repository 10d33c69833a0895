# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs: a captured training step, several graphs in one pool, graphed callables, graphs let go of."""
# matrix: fast
# matrix: also expandable
import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Dropout(0.1), nn.Linear(256, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters(), capturable=True)
x, y = torch.rand(32, 128, device="cuda"), torch.randint(0, 10, (32,), device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    loss = step()
for _ in range(4):
    x.copy_(torch.rand(32, 128))
    graph.replay()
print(loss.item())

pool, graphs, outputs = torch.cuda.graph_pool_handle(), [], []
for size in (100, 5000, 3000000):
    graphs.append(torch.cuda.CUDAGraph())
    with torch.cuda.graph(graphs[-1], pool=pool):
        outputs.append(torch.ones(size, device="cuda") * 2 + 1)
for each in graphs:
    each.replay()
del graph, loss, graphs[0], outputs[0]
torch.cuda.synchronize()
torch.cuda.empty_cache()
callable_model = torch.cuda.make_graphed_callables(nn.Sequential(nn.Linear(128, 64), nn.GELU(), nn.Linear(64, 1)).cuda(), (x.clone(),))
for _ in range(3):
    callable_model(torch.rand(32, 128, device="cuda")).sum().backward()
