# SPDX-License-Identifier: Apache-2.0
"""The recorder under real PyTorch: exceptions through hooks, the driver's view, forks, output."""
import csv
import re

from record_rig import equal, folder, info, need, one, run, test, tool, torch, traces

QUESTIONS = re.compile(r"^cu(CtxGetDevice|StreamIsCapturing|FuncGetName|KernelGetName|DriverGetVersion|Device(Get|Total)\w*)\b")


def script(text):
    where = folder()
    (where / "program.py").write_text(text)
    return where


@test
def out_of_memory_is_an_exception_like_any():
    where = script("""
import torch
caught = 0
for size in (1 << 40, 1 << 36, 1 << 62):
    try:
        torch.empty(size, dtype=torch.uint8, device='cuda')
    except (torch.OutOfMemoryError, RuntimeError):
        caught += 1
kept = [torch.zeros(1000 + i, device='cuda') for i in range(50)]
print(caught, torch.cuda.memory_stats()['num_ooms'], torch.cuda.memory_stats()['allocation.all.allocated'])
""")
    _, done = torch([where / "program.py"], where=where)
    equal("status", done.returncode, 0)
    caught, ooms, allocations = map(int, done.stdout.split())
    equal("caught", caught, 3)
    events = info(one(where, done))["events"]
    equal("ooms", events["oom"], ooms)
    equal("allocations", events["block_alloc"], allocations)


@test
def a_request_ends_with_its_exception():
    """allocate() throws without an out-of-memory report; a block that comes past it later has no known request."""
    where = script("""
import torch
torch.zeros(8, device='cuda')
try:
    torch.empty(1 << 62, dtype=torch.uint8, device='cuda')
except RuntimeError:
    torch.cuda.caching_allocator_alloc(5 << 20)
kept = torch.zeros(1000, device='cuda')
""")
    _, done = torch([where / "program.py"], where=where)
    equal("status", done.returncode, 0)
    events = csv.DictReader(tool("export", "--format", "csv", one(where, done)).splitlines())
    blocks = [(int(e["bytes"]), e["requested_bytes"]) for e in events if (e["type"], e["name"]) == ("block", "alloc")]
    equal("blocks and requests", blocks, [(512, "32"), (5 << 20, ""), (4096, "4000")])


@test
def exceptions_in_backward():
    where = script("""
import torch
class Bad(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2
    @staticmethod
    def backward(context, gradient):
        raise ValueError('on purpose')
caught = 0
for i in range(20):
    x = torch.ones(100, device='cuda', requires_grad=True)
    try:
        (Bad.apply(x * 3) + x).sum().backward()
    except ValueError:
        caught += 1
y = torch.ones(100, device='cuda', requires_grad=True)
(y * 2).sum().backward()
print(caught, y.grad is not None, torch.cuda.memory_stats()['allocation.all.allocated'])
""")
    _, done = torch([where / "program.py"], where=where)
    equal("status", done.returncode, 0)
    caught, graded, allocations = done.stdout.split()
    equal("caught", (caught, graded), ("20", "True"))
    equal("allocations", info(one(where, done))["events"]["block_alloc"], int(allocations))


@test
def driver_sees_the_same_calls():
    text = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for i in range(5):
    model(torch.randn(16, 64).cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
torch.cuda.synchronize()
print(torch.cuda.memory_allocated(), torch.cuda.max_memory_reserved())
"""
    logs, outputs = [], []
    for recorder in (False, True):
        where = script(text)
        _, done = torch([where / "program.py"], where=where, recorder=recorder, GPUSHIM_DRYRUN_CALLS=where / "calls.log")
        equal("status", done.returncode, 0)
        outputs.append(done.stdout)
        lines = (where / "calls.log").read_text().splitlines()
        logs.append([line.split("(")[0] for line in lines if not QUESTIONS.match(line)])
    equal("stdout", outputs[1], outputs[0])
    need(len(logs[0]) > 100, f"{len(logs[0])} calls in the log")
    equal("calls", logs[1], logs[0])


@test
def forked_child_without_cuda():
    where = script("""
import os, torch
x = torch.ones(100, device='cuda')
child = os.fork()
if child == 0:
    try:
        torch.ones(1, device='cuda')
        os._exit(1)
    except RuntimeError:
        del x
        os._exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    _, done = torch([where / "program.py"], where=where)
    equal("status of the child", done.stdout.split()[-1], "5")
    one(where, done)


@test
def import_alone_leaves_nothing():
    where = script("import torch\nprint(torch.cuda.is_available(), torch.cuda.device_count(), torch.ones(3).sum().item())\n")
    _, done = torch([where / "program.py"], where=where)
    equal("stdout", done.stdout, "True 1 3.0\n")
    equal("traces", traces(where), [])


def headline(trace):
    return " ".join(tool("oom", trace).split("\n\n")[0].split())


@test
def who_holds_the_memory_when_it_runs_out():
    where = script("""
import ctypes, torch
torch.zeros(1, device='cuda')
kept = []
try:
    while True:
        kept.append(torch.empty(100 << 20, dtype=torch.uint8, device='cuda'))
except torch.OutOfMemoryError:
    pass
""")
    cases = ((None, " The most is held by <module> (program.py:7)"),
             ("cuMemAlloc_v2:4^6442450944", " 6.00 GiB is held by what was not recorded, such as other processes; of what was the most is"))
    for fault, wanted in cases:
        _, done = torch([where / "program.py"], where=folder(), **({"GPUSHIM_DRYRUN_FAULTS": fault} if fault else {}))
        equal("status", done.returncode, 0)
        text = headline(re.search("trace in (.*)", done.stderr)[1])
        need(wanted in text, text)
    with open(where / "program.py", "a") as file:
        file.write("address = ctypes.c_void_p()\n"
                   "assert ctypes.CDLL(None).cudaMalloc(ctypes.byref(address), ctypes.c_size_t(700 << 20)) == 2\n")
    _, done = torch([where / "program.py"], where=folder())
    equal("status", (done.returncode, done.stderr[-300:] if done.returncode else ""), (0, ""))
    need("Out of memory 2 times; last at <module> (program.py:11): 700.00 MiB asked for" in headline(re.search("trace in (.*)", done.stderr)[1]), "last")

run()
