"""Computes small tensors on the stand-in GPU and on the CPU and names what differs.

Prints one line per expression that is wrong, then how many agree, are unknown and wrong."""
import ctypes
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
b.nonzero() | b.view(2, 4).nonzero() | x.nonzero() | i[b] | f[f > 0] | f.masked_select(b) | torch.where(i > 3)[0] | f[i[:3]] | f.view(2, 4)[:, i[:2]]
put(f, i[:2], f[4:6]) | put(f, i[:2], 9.0) | put(f, f < 0, 0.0) | put(i, b, i[b] + 1) | torch.unique(i % 3) | torch.unique(i.int() * -1) | i.cumsum(0)
torch.count_nonzero(x) | (torch.arange(20000, device=d) % 3 == 1).nonzero() | torch.arange(20000, device=d)[torch.arange(20000, device=d) % 7 == 1] | i[:, None].float() + f[::2] | i.view(2, 4)[:, :3].float() | torch.isin(i, i[:2])
e + 1 | f.fill_(2.5) | torch.eye(3, device=d) | torch.ones(3, device=d) * 2 | f.unsqueeze(0) + s | s + s
"""


# Not computed, or not always: right or unknown, never wrong.
OTHERS = """
i.sort(descending=True)[0] | f.sort()[0] | f.topk(3)[0] | f.argsort() | i.bincount() | f.gather(0, i - 1) | f.view(2, 4).tril() | f.flip(0) | f.roll(1)
f.index_select(0, i[:3]) | torch.linspace(0, 1, 5, device=d) | 2.0 ** f | f ** 3 | f.exp() | f.softmax(0) | f.view(2, 4) @ f.view(4, 2) | f.cumsum(0) | f.prod()
torch.aminmax(f)[0] | f.var() | f.median() | torch.nn.functional.one_hot(i) | torch.zeros(9, device=d).scatter_(0, i, 1.0) | torch.zeros(9, device=d).index_add_(0, i, f)
f.clone().exp_() | f.view(2, 4).clone()[:, ::2].exp_() | torch.nn.functional.embedding(i - 1, f.view(8, 1)) | torch.unique(i % 3, return_inverse=True)[1]
torch.unique(f) | torch.arange(3, device=d).repeat_interleave(i[:3]) | i.view(2, 4).cumsum(1) | torch.searchsorted(i, i) | x.nan_to_num() | f.logsumexp(0) | f.std() > 1 | torch.ops.aten.unfold_backward(f.view(2, 4).cos(), [6], 0, 4, 2)
torch.zeros(8, dtype=torch.long, device=d).masked_scatter_(b, i) | torch.zeros(8, device=d).index_copy_(0, i - 1, f) | f.lerp(y, 0.5) | x.cummax(0)[0]
torch._foreach_exp([f])[0] | f.half().sum() / 3 | (i.double() / 3).floor() | f.sigmoid().round() | torch.bitwise_left_shift(i, 1) | i.float().pow(2).sum().sqrt()
torch.ones(8, device=d) * large | (large > 0).any() | large.sum() | large.nonzero().numel() | f.norm(1) | torch.nn.functional.pad(f, (1, 1)) | f.expand(3, 8).sum()
torch.cat([f.view(2, 4).t(), y.view(2, 4).t()]) | torch.stack([f, i.float()], 1).sum(0) | f.max(0)[1] + i | torch.outer(f, f).trace() | torch.cdist(f[None], y[None])
put(torch.zeros(100000, device=d), large, 1.0) | torch.zeros(100000, device=d).index_fill_(0, large, 1.0) | torch.zeros(100000, device=d).index_copy_(0, large, torch.ones(100000, device=d))
torch.cat([torch.ones(300000, device=d)] * 2, out=torch.zeros(600000, device=d)) | torch.sum(torch.ones(40000, 2, device=d), 1, out=torch.zeros(40000, device=d))
torch.zeros(8, device=d).index_add_(0, i[:1] + 6, f[:1])[7:] | torch.zeros(40, 40, device=d).index_add_(0, large[:30] % 40, torch.ones(30, 40, device=d))[29] | torch.zeros(40, 40, device=d).index_add_(1, large[:30] % 40, torch.ones(40, 30, device=d))[39, 20:]
large[:5000].flip(0).sort()[0] | (large[:5000] * -1).sort()[0] | (5000 - large[:5000]).sort()[0] | (5000 - large[:5000]).float().sort(descending=False)[0] | (large[:5000]).int().sort(descending=True)[0] | (5000 - large[:5000]).sort()[1]
(5000 - large[:5000]).view(1, -1).expand(3, -1).contiguous().sort(1)[0] | (large[:40000] % 7).flip(0).half().sort()[0] | (large[:40000] % 7).flip(0).to(torch.int8).sort()[0] | (large % 7).view(-1, 500).flip(1).repeat(1, 10).to(torch.int8).sort(1)[0]
embedding_gradient(f.view(4, 2), i[1:3])[2] | embedding_gradient(f.view(4, 2), i[:2].int())[1] | f.view(2, 4).clone().tril_()[0, 1:] | i.view(2, 4).clone().triu_()[1, :1] | f.view(2, 4).clone().cumsum_(0)[1] | f.view(2, 4).clone().cumsum_(1)[:, 1] | i.view(2, 4).clone().cumprod_(0)[1] | f.clone().cumsum_(0)[1:] | torch.ones(40000, dtype=torch.long, device=d).cumsum_(0)[1:]
torch.mm(f.view(2, 4), f.view(4, 2), out=torch.zeros(2, 2, device=d)) | torch.ones(2, 2, device=d).addmm_(f.view(2, 4), f.view(4, 2)) | torch.ones(2, 2, 2, device=d).baddbmm_(f.view(2, 2, 2), y.view(2, 2, 2)) | torch.ones(2, 2, device=d).bfloat16().addmm_(f.view(2, 4).bfloat16(), f.view(4, 2).bfloat16())
torch.max(torch.arange(80000, device=d).view(40000, 2), 1, out=(torch.zeros(40000, dtype=torch.long, device=d), i.new_zeros(40000)))[1]
"""
UNKNOWN_SIZE = ["i.bincount()"]  # in some releases; what it goes by is told at the end of the run


def put(tensor, index, value):
    tensor = tensor.clone()
    tensor[index] = value
    return tensor


def embedding_gradient(weight, rows):
    weight = weight.clone().requires_grad_()
    torch.nn.functional.embedding(rows, weight).sum().backward()
    return weight.grad


def foreach(f):
    a, b = torch.zeros_like(f), torch.zeros_like(f[:3])
    torch._foreach_copy_([a, b], [f, f[:3].clone()])
    return torch.cat([a, b])


def foreach_add(f):
    a, b = f.clone(), f[:3].clone()
    torch._foreach_add_([a, b], 2.0)
    torch._foreach_mul_([a, b], 3.0)
    return torch.cat([a, b])


# What is known decides although `u` is not: loops that end at a length end by it.
DECIDED = ["b.logical_or(~b).bitwise_or(u > 0)", "(b & ~b) & (u > 0)", "torch.logical_or(i > 0, u > 0)", "i.mul(0) * u.long()",
           "torch.where(i > 0, i, u.long())", "torch.cat([b, u > 0]).any()", "torch.cat([b, u > 0]).all()",
           "(i & ~(i > 0) & u.long()).max() == 0", "u.long().masked_fill(i > 0, 3)"]


def known(tensor):
    """Whether the stand-in GPU takes all of a tensor for what the program's numbers make it."""
    room = ctypes.create_string_buffer(max(1, tensor.numel() * tensor.element_size()))
    size = ctypes.c_size_t(tensor.numel() * tensor.element_size())
    return standin.gpushim_dryrun_load(room, ctypes.c_ulonglong(tensor.data_ptr()), size)


def same(device, host):
    return device.shape == host.shape and device.dtype == host.dtype and torch.allclose(
        device.cpu().double(), host.double(), rtol=1e-5, atol=1e-6, equal_nan=True)


def evaluate(text, device):
    at = {"device": device}
    names = {
        "torch": torch, "d": device, "embedding_gradient": embedding_gradient, "foreach": foreach, "foreach_add": foreach_add,
        "x": torch.tensor(numbers).to(device),
        "y": torch.tensor([1.5, 2.0, 3.0, -1.0, 5.0, 0.0, 0.5, -100.0]).to(device),
        "f": torch.tensor([1.5, -2.0, 3.0, 0.25, 8.0, -7.0, -0.25, 2.0]).to(device),
        "i": torch.tensor([1, 2, 3, 4, 5, 6, 7, 8]).to(device),
        "b": torch.tensor([True, False, True, True, False, False, True, False]).to(device),
        "s": torch.tensor(2.5).to(device), "e": torch.zeros(1, **at),
        "u": torch.ones(8, **at).cos(), "put": put, "large": (torch.arange(8) if "* large" in text else torch.arange(100000)).to(device),
    }
    result = eval(text, names)
    return result if torch.is_tensor(result) else torch.tensor(result)


def each(expressions):
    for text in expressions.replace("\n", " | ").split(" | "):
        if text.strip():
            try:
                yield text, evaluate(text, "cpu")
            except AttributeError:
                pass  # this release has no such function


agree = unknown = wrong = 0
standin = ctypes.CDLL("libcuda.so.1")
for text, host in each(EXPRESSIONS):
    device = evaluate(text, "cuda")
    if same(device, host):
        agree += 1
    else:
        wrong += 1
        print(f"{text}: {device.tolist()} instead of {host.tolist()}")
for text in DECIDED:
    if same(evaluate(text, "cuda"), evaluate(text, "cpu")):
        agree += 1
    else:
        wrong += 1
        print(f"{text}: not decided")
for text, host in each(OTHERS):
    device = evaluate(text, "cuda")
    if same(device, host):
        agree += 1
    elif not known(device.contiguous()) or text in UNKNOWN_SIZE:
        unknown += 1
    else:
        wrong += 1
        print(f"{text}: {device.flatten()[:8].tolist()} instead of {host.flatten()[:8].tolist()}, and known")
print(agree, "agree,", unknown, "unknown,", wrong, "wrong")
sys.exit(wrong > 0 or agree < 150 or unknown < 20)
