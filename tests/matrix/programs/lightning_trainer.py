# SPDX-License-Identifier: Apache-2.0
"""The Trainer of lightning: training, validation, mixed precision, clipping, checkpoints."""
# matrix: needs lightning
import logging
import tempfile
import warnings

import lightning
import torch
import torch.nn as nn

warnings.simplefilter("ignore")
logging.getLogger("lightning").setLevel(logging.ERROR)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))

    def training_step(self, batch, index):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        self.log("val", self.training_step(batch, index))

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())


data = torch.utils.data.TensorDataset(torch.rand(32, 3, 32, 32), torch.randint(0, 10, (32,)))
loader = torch.utils.data.DataLoader(data, 8, pin_memory=True)
with tempfile.TemporaryDirectory() as folder:
    trainer = lightning.Trainer(max_epochs=2, precision="16-mixed", gradient_clip_val=1.0, accumulate_grad_batches=2, default_root_dir=folder,
                                enable_progress_bar=False, enable_model_summary=False, logger=False)
    trainer.fit(Classifier(), loader, loader)
print(trainer.global_step)
