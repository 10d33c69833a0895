# SPDX-License-Identifier: Apache-2.0
"""The Trainer of transformers on three models: accumulation, bfloat16, gradient checkpointing, evaluation, saving."""
# matrix: needs transformers accelerate
import tempfile

import torch
from transformers import (BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, Trainer,
                          TrainingArguments)

MODELS = (GPT2LMHeadModel(GPT2Config(vocab_size=500, n_positions=64, n_embd=64, n_layer=2, n_head=4)),
          LlamaForCausalLM(LlamaConfig(vocab_size=500, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4)),
          BertForMaskedLM(BertConfig(vocab_size=500, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128)))


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        words = torch.randint(0, 500, (32,))
        return {"input_ids": words, "labels": words}


for model in MODELS:
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(folder, per_device_train_batch_size=2, gradient_accumulation_steps=2, max_steps=4, bf16=True, eval_strategy="steps",
                                     eval_steps=2, logging_steps=1, save_steps=4, gradient_checkpointing=True, report_to=[], disable_tqdm=True)
        print(Trainer(model, settings, train_dataset=Texts(), eval_dataset=Texts()).train().global_step)
