# SPDX-License-Identifier: Apache-2.0
"""A network over two devices: peer copies in both directions, pipelining, events between devices."""
# matrix: fast
# matrix: devices 2
# matrix: differs the backward passes of both devices run at a time and let go of what they share in any order
# matrix: also expandable
import torch
import torch.nn as nn

assert torch.cuda.device_count() == 2
print(torch.cuda.can_device_access_peer(0, 1))
first = nn.Sequential(nn.Linear(256, 1024), nn.ReLU()).to("cuda:0")
second = nn.Sequential(nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 10)).to("cuda:1")
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()])
for _ in range(3):
    x, y = torch.rand(64, 256).pin_memory().to("cuda:0", non_blocking=True), torch.randint(0, 10, (64,), device="cuda:1")
    parts = [second(first(part).to("cuda:1", non_blocking=True)) for part in x.split(16)]
    nn.functional.cross_entropy(torch.cat(parts), y).backward()
    optimizer.step()
    optimizer.zero_grad()
done = torch.cuda.Event()
with torch.cuda.device(1), torch.cuda.stream(torch.cuda.Stream()):
    copied = first[0].weight.detach().to("cuda:1")
    done.record()
done.synchronize()
assert torch.equal(torch.arange(1000).to("cuda:0").to("cuda:1").cpu(), torch.arange(1000))
