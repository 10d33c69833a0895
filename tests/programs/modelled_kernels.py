"""Computes small tensors on the stand-in GPU and on the CPU and names what differs.

Prints one line per expression that differs, then the number of expressions that agree."""
import sys
import torch

numbers = [1.5, -2.0, 3.0, 0.0, float("inf"), float("nan"), -0.25, 100.0]
EXPRESSIONS = """
x > 0 | x >= 1.5 | x < 0 | x <= 3 | x == 3 | x != 3 | x > y | x >= y | x < y | x <= y | x == y | x != y
i > 2 | i == 2 | i != i | b & b | torch.bitwise_or(b, b) | b ^ b | ~b | ~i | i & 3 | torch.bitwise_or(i, i - 1)
torch.logical_and(x, y) | torch.logical_or(x, y) | torch.logical_not(x) | torch.logical_and(x, b)
torch.where(b, x, y) | torch.where(b, i, i + 1) | x.masked_fill(b, 7.0) | x.clamp(0, 2) | x.clamp(min=1) | i.clamp(max=3)
x + 1 | x + y | x - y | 1 - x | x * 2 | x * y | x / 2 | x / y | x / i | i + 1 | i * 3 | i // 2 | i % 3 | x ** 2
-x | x.abs() | x.reciprocal() | x.sqrt() | x.floor() | x.ceil() | x.round() | x.trunc() | torch.add(x, y, alpha=3)
x.isnan() | x.isfinite() | torch.isinf(x) | x.isnan() == b
x.half() | x.bfloat16() | x.double() | b.float() | b.long() | i.float() | i.bool() | x.bool() | i.int() | i.half() | x.half().float()
x.half() + 1 | x.half() * y.half() | x.bfloat16() * 3 | x.half() > 0 | x.half() == 3 | x.half() < 2
b.any() | b.all() | x.any() | x.all() | x.isnan().any() | x.isfinite().all() | (i > 100).any() | (i > 0).all()
f.sum() | i.sum() | b.sum() | f.mean() | f.max() | f.min() | i.max() | f.argmax() | f.argmin() | i.argmax() | x.max()
f.view(2, 4).sum(0) | f.view(2, 4).sum(1) | f.view(2, 4).max(1)[0] | f.view(2, 4).max(1)[1] | f.view(2, 4).argmax(0) | f.norm()
f.half().sum() | f.double().mean() | f.view(2, 4).any(1) | torch.arange(3, 30, 7, device=d) | torch.arange(0.0, 7, device=d)
torch.cat([f.view(2, 4), i.view(2, 4)[:, :1].float()], 1) | torch.cat([i.view(2, 4), i.view(2, 4)], -1) | torch.stack([x, y], 1) | torch.cat([x, y]) | torch.stack([x, y]) | torch.cat([f[:1], x]) | torch.cat([i, i, i]) | torch.cat([x.view(2, 4), y.view(2, 4)])
f.view(2, 4) + f[:4] | f.view(2, 4) > f.view(4, 2).t() | f.view(2, 4).t().contiguous() | torch.maximum(x, y) | torch.minimum(x, y)
torch.allclose(f, f) | torch.equal(f, f + 0) | torch.isclose(f, y) | (f - f).abs().max() < 1e-6 | foreach(f) | foreach_add(f)
e + 1 | f.fill_(2.5) | torch.eye(3, device=d) | torch.ones(3, device=d) * 2 | f.unsqueeze(0) + s | s + s
"""


def foreach(f):
    a, b = torch.zeros_like(f), torch.zeros_like(f[:3])
    torch._foreach_copy_([a, b], [f, f[:3].clone()])
    return torch.cat([a, b])


def foreach_add(f):
    a, b = f.clone(), f[:3].clone()
    torch._foreach_add_([a, b], 2.0)
    torch._foreach_mul_([a, b], 3.0)
    return torch.cat([a, b])


def evaluate(text, device):
    at = {"device": device}
    names = {
        "torch": torch, "d": device, "foreach": foreach, "foreach_add": foreach_add,
        "x": torch.tensor(numbers).to(device),
        "y": torch.tensor([1.5, 2.0, 3.0, -1.0, 5.0, 0.0, 0.5, -100.0]).to(device),
        "f": torch.tensor([1.5, -2.0, 3.0, 0.25, 8.0, -7.0, -0.25, 2.0]).to(device),
        "i": torch.tensor([1, 2, 3, 4, 5, 6, 7, 8]).to(device),
        "b": torch.tensor([True, False, True, True, False, False, True, False]).to(device),
        "s": torch.tensor(2.5).to(device), "e": torch.zeros(1, **at),
    }
    result = eval(text, names)
    return result.cpu() if torch.is_tensor(result) else torch.tensor(result)


agree = differ = 0
for text in EXPRESSIONS.replace("\n", " | ").split(" | "):
    if not text.strip():
        continue
    try:
        host = evaluate(text, "cpu")
    except AttributeError:
        continue  # this release has no such function
    device = evaluate(text, "cuda")
    if device.dtype == host.dtype and torch.allclose(
            device.double(), host.double(), rtol=1e-5, atol=0, equal_nan=True):
        agree += 1
    else:
        differ += 1
        print(f"{text}: {device.tolist()} instead of {host.tolist()}")
print(agree, "agree")
sys.exit(differ > 0 or agree < 100)
