# SPDX-License-Identifier: Apache-2.0
"""A network that mixes by Fourier transforms: real, complex, of one to three dimensions, short-time, half precision."""
# matrix: fast
import torch
import torch.nn as nn

from steps import train


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.head = nn.Parameter(torch.randn(16, 33, 17, dtype=torch.cfloat)), nn.Linear(16, 1)

    def forward(self, x):
        x = torch.fft.irfft2(torch.fft.rfft2(x)[..., :33, :17] * self.weight, s=x.shape[-2:])
        x = torch.fft.fftn(x, dim=(-3, -2, -1)).abs()
        return self.head(x.mean((-2, -1)))


train(Mixer().cuda(), lambda: [torch.rand(2, 16, 64, 32)], lambda model, x: model(x).pow(2).mean())
sound = torch.rand(2, 20000, device="cuda", requires_grad=True)
spectrum = torch.stft(sound, 512, 128, window=torch.hann_window(512, device="cuda"), return_complex=True)
torch.istft(spectrum, 512, 128, window=torch.hann_window(512, device="cuda")).sum().backward()
long = torch.fft.ifft(torch.fft.fft(torch.rand(3, 6000, dtype=torch.cdouble, device="cuda")))
half = torch.fft.rfft(torch.rand(4, 1024, dtype=torch.half, device="cuda"))
print(long.shape, half.dtype, torch.fft.fftshift(torch.fft.hfft(long[:, :100])).shape, torch.fft.fft(long, dim=0).shape)
for size in range(100, 120):  # more plans than one
    torch.fft.rfft(torch.rand(size, device="cuda"))
