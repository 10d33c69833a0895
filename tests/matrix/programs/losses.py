# SPDX-License-Identifier: Apache-2.0
"""The losses of torch.nn, forward and backward."""
# matrix: fast
import torch
import torch.nn as nn

x = torch.rand(32, 10, device="cuda", requires_grad=True)
target, classes = torch.rand(32, 10, device="cuda"), torch.randint(0, 10, (32,), device="cuda")
for loss in (nn.MSELoss(), nn.L1Loss(), nn.SmoothL1Loss(), nn.HuberLoss(), nn.BCEWithLogitsLoss(), nn.KLDivLoss(), nn.PoissonNLLLoss(), nn.SoftMarginLoss(),
             nn.MultiLabelSoftMarginLoss()):
    loss(x, target).backward()
for loss in (nn.CrossEntropyLoss(label_smoothing=0.1), nn.CrossEntropyLoss(weight=torch.ones(10, device="cuda")), nn.NLLLoss(), nn.MultiMarginLoss()):
    loss(x, classes).backward()
nn.CosineEmbeddingLoss()(x, target, torch.ones(32, device="cuda")).backward()
nn.TripletMarginLoss()(x, target, target.flip(0)).backward()
speech = torch.rand(50, 4, 20, device="cuda", requires_grad=True)
spoken, length = torch.randint(1, 20, (4, 12)), torch.full((4,), 12)
nn.CTCLoss()(speech.log_softmax(2), spoken.cuda(), torch.full((4,), 50), length).backward()
nn.CTCLoss()(speech.log_softmax(2), spoken.flatten().int(), (50,) * 4, (12,) * 4).backward()  # cuDNN's, by two ways
nn.CTCLoss()(speech.log_softmax(2), spoken.flatten().int().cuda(), torch.full((4,), 50, dtype=torch.int).cuda(), length.int().cuda()).backward()
nn.AdaptiveLogSoftmaxWithLoss(10, 100, [20, 50]).cuda()(x, torch.randint(0, 10, (32,)).cuda()).loss.backward()
