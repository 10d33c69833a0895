# SPDX-License-Identifier: Apache-2.0
"""Convolutions of one to three dimensions and back, norms, pooling, resampling, in three precisions."""
# matrix: fast
import torch
import torch.nn as nn

from steps import train


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Sequential(nn.Conv1d(4, 8, 5, stride=2), nn.GroupNorm(2, 8), nn.ConvTranspose1d(8, 4, 4), nn.InstanceNorm1d(4, affine=True))
        self.two = nn.Sequential(nn.Conv2d(3, 16, 3, dilation=2), nn.BatchNorm2d(16), nn.MaxPool2d(2), nn.Conv2d(16, 16, 3, groups=16, padding="same"),
                                 nn.LocalResponseNorm(3), nn.ConvTranspose2d(16, 8, 4, 2), nn.PixelShuffle(2), nn.Upsample(scale_factor=2, mode="bilinear"))
        self.three = nn.Sequential(nn.Conv3d(1, 4, 3), nn.BatchNorm3d(4), nn.AvgPool3d(2), nn.ConvTranspose3d(4, 2, 2), nn.AdaptiveMaxPool3d(2))

    def forward(self, a, b, c):
        grid = nn.functional.affine_grid(torch.eye(2, 3, device="cuda").expand(2, 2, 3), (2, 3, 32, 32))
        warped = nn.functional.grid_sample(b, grid.to(b.dtype), align_corners=False)
        folded = nn.functional.unfold(warped, 3).mean()
        return self.one(a).mean() + self.two(warped).mean() + self.three(c).mean() + folded


def loss(model, *tensors):
    return model(*tensors)


def batch():
    return torch.rand(2, 4, 40), torch.rand(2, 3, 32, 32), torch.rand(2, 1, 12, 12, 12)


for dtype in (torch.float32, torch.bfloat16, torch.float16):
    for benchmark in (False, True):
        torch.backends.cudnn.benchmark = benchmark
        with torch.autocast("cuda", dtype, enabled=dtype != torch.float32):
            train(Net().cuda(), batch, loss, steps=1)
