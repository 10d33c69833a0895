# SPDX-License-Identifier: Apache-2.0
"""Mixtral: routing of words to experts."""
# matrix: needs transformers
from transformers import MixtralConfig, MixtralForCausalLM

from steps import tokens, train

shape = MixtralConfig(vocab_size=1000, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                      num_local_experts=4, output_router_logits=True)
train(MixtralForCausalLM(shape).cuda(), lambda: [tokens(1000)], lambda model, x: model(x, labels=x).loss)
