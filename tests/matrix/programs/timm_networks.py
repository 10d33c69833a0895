# SPDX-License-Identifier: Apache-2.0
"""Networks of timm with its loss, mixing of pictures, moving average of weights and optimizer."""
# matrix: needs timm
# matrix: differs timm takes the optimizer's lists apart by the size of the card's second level cache
import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.utils import ModelEmaV3

from steps import pictures

mix = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=10)
for name in ("resnet10t", "convnext_atto", "efficientnet_b0", "vit_tiny_patch16_224"):
    size = 224 if "vit" in name else 64
    model = timm.create_model(name, num_classes=10).cuda()
    optimizer, average = create_optimizer_v2(model, "lamb", lr=1e-3), ModelEmaV3(model)
    for _ in range(2):
        x, y = mix(*(t.cuda() for t in pictures(2, size)))
        with torch.autocast("cuda", torch.bfloat16):
            SoftTargetCrossEntropy()(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()
        average.update(model)
