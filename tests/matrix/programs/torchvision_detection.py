# SPDX-License-Identifier: Apache-2.0
"""Detection: boxes, suppression of overlapping ones, regions of interest."""
# matrix: needs torchvision
import torch
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn
from torchvision.ops import box_iou, nms, roi_align

from steps import train

boxes = torch.tensor([[4.0, 4.0, 40.0, 40.0], [10.0, 10.0, 50.0, 60.0]])


def loss(model, x):
    targets = [{"boxes": boxes.cuda(), "labels": torch.tensor([1, 2], device="cuda")} for _ in x]
    return sum(model(list(x), targets).values())


print(nms(boxes.cuda(), torch.rand(2, device="cuda"), 0.5).dim(), box_iou(boxes.cuda(), boxes.cuda()).shape)
print(roi_align(torch.rand(1, 8, 32, 32, device="cuda"), [boxes.cuda()], 7).shape)
model = fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None, num_classes=3, min_size=64, max_size=64).cuda()
train(model, lambda: [torch.rand(2, 3, 64, 64)], loss, steps=1)
