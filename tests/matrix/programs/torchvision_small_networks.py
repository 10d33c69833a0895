# SPDX-License-Identifier: Apache-2.0
"""Networks of separable convolutions: MobileNet, EfficientNet, ShuffleNet, ConvNeXt."""
# matrix: needs torchvision
from torchvision import models

from steps import train_classifier

for make in (models.mobilenet_v3_small, models.efficientnet_b0, models.shufflenet_v2_x0_5, models.convnext_tiny):
    train_classifier(make(num_classes=10), steps=1)
