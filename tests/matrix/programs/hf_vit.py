# SPDX-License-Identifier: Apache-2.0
"""A vision transformer."""
# matrix: needs transformers
from transformers import ViTConfig, ViTForImageClassification

from steps import pictures, train

shape = ViTConfig(image_size=64, patch_size=16, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=192, num_labels=10)
train(ViTForImageClassification(shape).cuda(), pictures, lambda model, x, y: model(x, labels=y).loss)
