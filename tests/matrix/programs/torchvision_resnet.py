# SPDX-License-Identifier: Apache-2.0
"""ResNet-18 of torchvision with cuDNN."""
# matrix: needs torchvision
# matrix: also expandable async
from torchvision.models import resnet18

from steps import train_classifier

train_classifier(resnet18(num_classes=10))
