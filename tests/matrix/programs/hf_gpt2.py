# SPDX-License-Identifier: Apache-2.0
"""GPT-2 of Hugging Face transformers, trained from its configuration."""
# matrix: needs transformers
# matrix: also expandable
from transformers import GPT2Config, GPT2LMHeadModel

from steps import tokens, train

model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=128, n_embd=96, n_layer=3, n_head=4)).cuda()
train(model, lambda: [tokens(1000)], lambda model, x: model(x, labels=x).loss)
