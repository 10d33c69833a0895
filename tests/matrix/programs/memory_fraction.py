# SPDX-License-Identifier: Apache-2.0
"""A process that may use a part of the device only, and recovers from running out of it."""
# matrix: fast
# matrix: also expandable
# matrix: differs the part is one of the card's memory
import torch

total = torch.cuda.get_device_properties(0).total_memory
torch.cuda.set_per_process_memory_fraction(0.25)
held, refused = [], 0
while refused < 3:
    try:
        held.append(torch.empty(total // 16, dtype=torch.uint8, device="cuda"))
    except torch.OutOfMemoryError:
        refused += 1
        held.clear()
        torch.cuda.empty_cache()
torch.cuda.set_per_process_memory_fraction(1.0)
print(torch.empty(total // 2, dtype=torch.uint8, device="cuda").shape, torch.cuda.memory_stats()["num_ooms"])
