# SPDX-License-Identifier: Apache-2.0
"""Workers, pinned memory, batches copied on a stream of their own while the last one is trained on."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def prefetched(loader):
    stream, last = torch.cuda.Stream(), None
    for batch in loader:
        with torch.cuda.stream(stream):
            now = [x.to("cuda", non_blocking=True) for x in batch]
        if last:
            yield last
        torch.cuda.current_stream().wait_stream(stream)
        for x in now:
            x.record_stream(torch.cuda.current_stream())
        last = now
    yield last


if __name__ == "__main__":
    data = TensorDataset(torch.rand(200, 3, 32, 32), torch.randint(0, 10, (200,)))
    loader = DataLoader(data, batch_size=20, shuffle=True, num_workers=2, pin_memory=True, persistent_workers=True)
    model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for x, y in prefetched(loader):
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            optimizer.zero_grad()
