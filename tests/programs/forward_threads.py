"""Two threads, whose autograd nodes have the same numbers: which line made what is made in backward?"""
import threading

import torch


def forward_of_first(weights):
    return weights.exp().sum()


def forward_of_other(weights):
    return weights.exp().sum()


first = torch.zeros(1 << 20, device="cuda", requires_grad=True)
other = torch.zeros(1 << 21, device="cuda", requires_grad=True)
losses = [forward_of_first(first)]
thread = threading.Thread(target=lambda: losses.append(forward_of_other(other)))
thread.start()
thread.join()
for loss in losses:
    loss.backward()
torch.cuda.synchronize()
