# SPDX-License-Identifier: Apache-2.0
"""PyTorch's profiler on the stand-in GPU: one case per run, named by the first argument.

Kineto reads the stand-in CUPTI's records; what it writes as a Chrome trace is checked here.
"""
import collections
import json
import os
import sys
import tempfile
import threading

import torch
from torch.profiler import ProfilerActivity, profile, schedule

BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def train(steps=2, stream=None):
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 64)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.cuda.stream(stream or torch.cuda.current_stream()):
        for _ in range(steps):
            x = torch.randn(32, 64, pin_memory=True).cuda(non_blocking=True)
            optimizer.zero_grad(set_to_none=True)
            model(x).square().mean().backward()
            optimizer.step()
    torch.cuda.synchronize()


def events_of(profiler):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(path)
        with open(path, errors="replace") as f:  # some releases write names that are no UTF-8
            return [e for e in json.load(f)["traceEvents"] if e.get("ph") == "X"]


def on_device(events):
    """Events of the device; older releases write other names of categories."""
    found = collections.defaultdict(list)
    for event in events:
        category = event.get("cat", "").lower()
        for name in DEVICE:
            if category == name:
                found[name].append(event)
    return found


def calls_of(events):
    return {e["args"]["correlation"]: e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver")}


def check_order(found):
    """No two things at once in a stream; times are microseconds with three decimals."""
    streams = collections.defaultdict(list)
    for event in sum(found.values(), []):
        streams[event["args"]["device"], event["args"]["stream"]].append((event["ts"], event["ts"] + event["dur"]))
    rounding = 1.5 if "2.0" == torch.__version__[:3] else 0.0035  # 2.0 writes whole microseconds
    for times in streams.values():
        times.sort()
        for (_, end), (start, _) in zip(times, times[1:]):
            assert start >= end - rounding, (start, end)
    return streams


@case
def counts():
    """Prints what the profiler saw of the whole program, for a comparison with --stats."""
    with profile(activities=BOTH) as p:
        train()
    found = on_device(events_of(p))
    print("launches=%d copies=%d memsets=%d" % tuple(len(found[name]) for name in DEVICE))


@case
def times():
    streams = [torch.cuda.Stream() for _ in range(3)]
    train(1)
    with profile(activities=BOTH) as p:
        for stream in streams:
            train(stream=stream)
    events = events_of(p)
    found, calls = on_device(events), calls_of(events)
    assert len(found["kernel"]) > 60, len(found["kernel"])
    assert len(check_order(found)) >= 4, "every stream appears"
    for event in sum(found.values(), []):
        call = calls[event["args"]["correlation"]]
        assert event["ts"] >= call["ts"] - 2, (event, call)
        assert event["dur"] > 0, event
    assert any(call["dur"] > 0 for call in calls.values())
    products = {calls[e["args"]["correlation"]]["name"] for e in found["kernel"] if "gemm" in e["name"]}
    assert products == {"cudaLaunchKernel"}, products
    known = {e["name"] for e in sum(found.values(), [])}
    for event in p.profiler.kineto_results.events():
        if event.device_type().name == "CUDA" and event.name() in known:
            assert event.linked_correlation_id() > 0, "no operation of " + event.name()
    sizes = {e["args"].get("bytes") for e in found["gpu_memcpy"]}
    assert 32 * 64 * 4 in sizes, sizes


@case
def graph():
    static = torch.zeros(1000, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            static.mul_(2).add_(1)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        static.mul_(2).add_(1)
    with profile(activities=BOTH) as p:
        for _ in range(10):
            captured.replay()
        torch.cuda.synchronize()
    events = events_of(p)
    found, calls = on_device(events), calls_of(events)
    check_order(found)
    # Before 2.7 a replay also fills the state of its random numbers, outside the graph.
    nodes = [e for e in found["kernel"] if calls[e["args"]["correlation"]]["name"] == "cudaGraphLaunch"]
    assert len(nodes) == 20, len(nodes)
    assert len({e["args"]["correlation"] for e in nodes}) == 10
    ids = {e["args"].get("graph id") for e in nodes}
    if tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2]) >= (2, 15):  # older ones do not write it
        assert len(ids) == 1 and ids != {None} and ids != {0}, ids


@case
def everything():
    """Memory, stacks, shapes."""
    train(1)
    with profile(activities=BOTH, profile_memory=True, with_stack=True, record_shapes=True) as p:
        train()
    table = p.key_averages(group_by_stack_n=3).table(sort_by="self_cuda_memory_usage", row_limit=10)
    assert "aten::" in table, table
    assert len(on_device(events_of(p))["kernel"]) > 20
    linked = [e for e in p.events() if e.name == "aten::addmm" and e.kernels]
    assert linked, "operations know their kernels"
    assert sum(getattr(e, "device_memory_usage", 0) or getattr(e, "cuda_memory_usage", 0) for e in p.events()) > 0


@case
def steps():
    """wait, warmup, active: only the active steps are in the trace."""
    seen = []
    with profile(
        activities=BOTH,
        schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=lambda p: seen.append(len(on_device(events_of(p))["kernel"])),
    ) as p:
        for _ in range(8):
            torch.ones(100, device="cuda").mul_(2).add_(1)
            torch.cuda.synchronize()
            p.step()
    assert seen == [6, 6], seen


@case
def twice():
    """Two sessions in a process, and work between them that belongs to neither."""
    kernels = []
    for _ in range(2):
        with profile(activities=BOTH) as p:
            train()
        kernels.append(len(on_device(events_of(p))["kernel"]))
        train()
    assert kernels[0] == kernels[1] > 20, kernels


@case
def thread():
    """The profiler in another thread than the one that works."""
    kernels = []

    def run():
        with profile(activities=BOTH) as p:
            train()
        kernels.append(len(on_device(events_of(p))["kernel"]))

    for _ in range(2):
        worker = threading.Thread(target=run)
        worker.start()
        worker.join()
    assert kernels[0] == kernels[1] > 20, kernels


@case
def waits():
    """Streams that wait for an event, on releases that record it."""
    from torch._C._profiler import _ExperimentalConfig

    try:
        config = _ExperimentalConfig(enable_cuda_sync_events=True)
    except TypeError:
        return
    side, done = torch.cuda.Stream(), torch.cuda.Event()
    x = torch.ones(100, device="cuda")
    with profile(activities=BOTH, experimental_config=config) as p:
        for _ in range(3):
            x.mul_(2)
            done.record()
            side.wait_event(done)
            with torch.cuda.stream(side):
                x.add_(1)
        torch.cuda.synchronize()
    events = events_of(p)
    found = [e for e in events if e.get("cat") == "cuda_sync" and e["name"] == "Stream Wait Event"]
    assert len(found) == 3, collections.Counter(e["name"] for e in events if e.get("cat") == "cuda_sync")
    waiting = {e["args"]["stream"] for e in found}
    working = {e["args"]["stream"] for e in on_device(events)["kernel"]}
    assert len(waiting) == 1 and len(working) == 2 and waiting < working, (waiting, working)


@case
def device_alone():
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        train()
    assert len(on_device(events_of(p))["kernel"]) > 20


if __name__ == "__main__":
    CASES[sys.argv[1]]()
