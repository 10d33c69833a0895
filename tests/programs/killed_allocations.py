# SPDX-License-Identifier: Apache-2.0
"""Allocates tensors and kills itself after the N-th.  usage: killed_allocations.py N; the number made so far is in the file `done`"""
import os
import signal
import sys

import torch

count = int(sys.argv[1])
kept = []
with open("done", "w") as done:
    for i in range(count):
        kept.append(torch.empty(1000 + i, device="cuda"))
        if i % 3 == 0:
            kept.pop(i % len(kept))
    done.write(str(count))
    done.flush()
    os.kill(os.getpid(), signal.SIGKILL)
