# SPDX-License-Identifier: Apache-2.0
"""Whisper: speech in, words out."""
# matrix: needs transformers
import torch
from transformers import WhisperConfig, WhisperForConditionalGeneration

from steps import tokens, train

shape = WhisperConfig(vocab_size=1000, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                      encoder_ffn_dim=128, decoder_ffn_dim=128, max_source_positions=200, max_target_positions=64, pad_token_id=0, bos_token_id=1,
                      eos_token_id=2, decoder_start_token_id=3)
model = WhisperForConditionalGeneration(shape).cuda()
train(model, lambda: [torch.rand(2, 80, 400), tokens(1000, length=16)], lambda model, x, y: model(input_features=x, labels=y).loss)
