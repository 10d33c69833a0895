# SPDX-License-Identifier: Apache-2.0
"""Text made by GPT-2, LLaMA and T5: greedy, sampled, by beams, with a static cache; it ends where it has to."""
# matrix: needs transformers
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, T5Config, T5ForConditionalGeneration

from steps import tokens

torch.manual_seed(0)

gpt = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_positions=128, n_embd=96, n_layer=3, n_head=4)).cuda().eval()
print(gpt.generate(tokens(1000, 2, 8).cuda(), max_new_tokens=8, pad_token_id=0).shape)
shape = LlamaConfig(vocab_size=1000, hidden_size=128, intermediate_size=256, num_hidden_layers=3, num_attention_heads=8, num_key_value_heads=2)
llama = LlamaForCausalLM(shape).to("cuda", torch.bfloat16).eval()
for way in ({}, {"do_sample": True, "top_k": 20, "top_p": 0.9}, {"num_beams": 2}, {"cache_implementation": "static"}):
    print(way, llama.generate(tokens(1000, 2, 8).cuda(), max_new_tokens=6, pad_token_id=0, disable_compile=True, **way).shape)
shape = T5Config(vocab_size=1000, d_model=96, d_ff=192, d_kv=24, num_layers=2, num_heads=4, decoder_start_token_id=0)
print(T5ForConditionalGeneration(shape).cuda().eval().generate(tokens(1000).cuda(), max_new_tokens=6).shape)
