# SPDX-License-Identifier: Apache-2.0
"""LLaMA with grouped heads, trained in bfloat16 with gradient checkpointing."""
# matrix: needs transformers
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from steps import tokens, train

shape = LlamaConfig(vocab_size=1000, hidden_size=128, intermediate_size=256, num_hidden_layers=3, num_attention_heads=8, num_key_value_heads=2)
model = LlamaForCausalLM(shape).to("cuda", torch.bfloat16)
model.gradient_checkpointing_enable()
train(model, lambda: [tokens(1000)], lambda model, x: model(x, labels=x).loss, fused=True)
