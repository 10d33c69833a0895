# SPDX-License-Identifier: Apache-2.0
"""T5: encoder and decoder."""
# matrix: needs transformers
from transformers import T5Config, T5ForConditionalGeneration

from steps import tokens, train

shape = T5Config(vocab_size=1000, d_model=96, d_ff=192, d_kv=24, num_layers=2, num_heads=4, decoder_start_token_id=0)
model = T5ForConditionalGeneration(shape).cuda()
train(model, lambda: [tokens(1000), tokens(1000, length=16)], lambda model, x, y: model(input_ids=x, labels=y).loss)
