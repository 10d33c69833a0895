# SPDX-License-Identifier: Apache-2.0
"""LoRA adapters of peft on a LLaMA, merged at the end."""
# matrix: needs peft transformers
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

from steps import tokens, train

shape = LlamaConfig(vocab_size=1000, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4)
base = LlamaForCausalLM(shape).to("cuda", torch.bfloat16)
model = get_peft_model(base, LoraConfig(r=8, target_modules=["q_proj", "v_proj"], lora_dropout=0.1, task_type="CAUSAL_LM"))
model.print_trainable_parameters()
train(model, lambda: [tokens(1000)], lambda model, x: model(input_ids=x, labels=x).loss)
merged = model.merge_and_unload()
print(merged(tokens(1000).cuda()).logits.shape)
