# SPDX-License-Identifier: Apache-2.0
"""What the programs of the matrix share: a training loop as anybody writes it."""
import torch


def train(model, batch, loss_of, steps=3, optimizer=torch.optim.AdamW, **settings):
    """Train on what `batch()` makes on the host; `loss_of(model, *tensors)` is the loss of one step."""
    optimizer = optimizer(model.parameters(), lr=1e-3, **settings)
    model.train()
    for _ in range(steps):
        tensors = [x.pin_memory().to("cuda", non_blocking=True) for x in batch()]
        loss = loss_of(model, *tensors)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss.item()


def evaluate(model, batch):
    model.eval()
    with torch.no_grad():
        return model(*[x.to("cuda") for x in batch()])


def tokens(vocabulary, batch=2, length=32):
    return torch.randint(0, vocabulary, (batch, length))


def pictures(batch=2, size=64, classes=10):
    return torch.rand(batch, 3, size, size), torch.randint(0, classes, (batch,))


def classify(model, x, y):
    """A classifier's loss in mixed precision, the pictures' channels last."""
    with torch.autocast("cuda", torch.bfloat16):
        return torch.nn.functional.cross_entropy(model(x.to(memory_format=torch.channels_last)), y)


def train_classifier(model, steps=2, **shape):
    """Train and evaluate a network of pictures with cuDNN, its benchmark mode on for the second half."""
    model = model.cuda().to(memory_format=torch.channels_last)
    train(model, lambda: pictures(**shape), classify, steps, torch.optim.SGD, momentum=0.9)
    torch.backends.cudnn.benchmark = True
    train(model, lambda: pictures(**shape), classify, steps)
    return evaluate(model, lambda: pictures(**shape)[:1])
