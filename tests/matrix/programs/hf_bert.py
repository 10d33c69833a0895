# SPDX-License-Identifier: Apache-2.0
"""BERT for masked words and for classes, with padding."""
# matrix: needs transformers
import torch
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

from steps import tokens, train

shape = BertConfig(vocab_size=1000, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=192, num_labels=3)
mask = torch.ones(2, 32, dtype=torch.long)
mask[1, 20:] = 0
train(BertForMaskedLM(shape).cuda(), lambda: [tokens(1000), mask], lambda model, x, m: model(x, attention_mask=m, labels=x).loss)
train(BertForSequenceClassification(shape).cuda(), lambda: [tokens(1000), torch.tensor([0, 2])], lambda model, x, y: model(x, labels=y).loss)
