# SPDX-License-Identifier: Apache-2.0
"""Records programs on the stand-in GPU and checks the recording against PyTorch's own statistics.

A program says about itself in lines `# matrix: WORD VALUE`:

    needs PACKAGE...    packages of requirements.txt
    fast                short enough for `make check`, which has no packages
    devices N           number of devices (1)
    also NAME...        allocator settings of SETTINGS to run under as well
    differs WHY         PyTorch itself derives sizes from the card: the figures of other cards may differ
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("O", "build")).resolve()
TOOL = BUILD / "bin/gpushim"
SETTINGS = {"expandable": "expandable_segments:True", "async": "backend:cudaMallocAsync"}
FIRST = ("--memory", "24G")
# Other sizes, kinds and reserves: what PyTorch's allocator does is to be the same on all of them.
OTHERS = {"20G": ("--memory", "20G"), "a100-80g": ("--gpu", "a100-80g", "--context", "777M")}
TIME_LIMIT_S = 240
TIMED_OUT = 124  # of timeout, which ends all processes of a program

# Figure of `gpushim memory`, PyTorch's statistic.  The second list is exact only where the recording ends
# with the program.  Of the driver's pools PyTorch counts bytes alone, and what they reserve is not seen.
ALWAYS = {
    "peak_allocated_bytes": "allocated_bytes.all.peak", "peak_reserved_bytes": "reserved_bytes.all.peak",
    "alloc_count": "allocation.all.allocated", "segment_alloc_count": "segment.all.allocated",
    "retry_count": "num_alloc_retries", "oom_count": "num_ooms",
}
AT_END = {
    "end_allocated_bytes": "allocated_bytes.all.current", "end_reserved_bytes": "reserved_bytes.all.current",
    "free_count": "allocation.all.freed", "segment_free_count": "segment.all.freed",
}


class Wrong(Exception):
    """A check that failed, in words."""


def equal(what, got, wanted):
    if got != wanted:
        raise Wrong(f"{what}: {got}, not {wanted}")


class Program:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        said = re.findall(r"^# matrix: (\w+) ?(.*)$", path.read_text(), re.M)
        words = dict(said)
        self.needs, self.also = words.get("needs", "").split(), words.get("also", "").split()
        self.devices, self.fast = int(words.get("devices", 1)), "fast" in words
        self.differs = words.get("differs", "")


def programs():
    return [Program(path) for path in sorted((HERE / "programs").glob("*.py"))]


def read(command, trace):
    done = subprocess.run([TOOL, command, "--json", trace], capture_output=True, text=True)
    if done.returncode:
        raise Wrong(f"gpushim {command} exits {done.returncode}: {done.stderr[-300:]}")
    return json.loads(done.stdout)


def record(python, program, where, device, way, settings=""):
    """One run.  Returns (trace, PyTorch's statistics of each device, the stand-in's counts)."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GPUSHIM_", "PYTORCH_")) and k != "LD_PRELOAD"}
    environment.update(HF_HUB_OFFLINE="1", HF_HOME=str(where), TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="2")
    if settings:
        environment["PYTORCH_CUDA_ALLOC_CONF"] = settings
    trace, told, counts = where / "trace.gst", where / "torch.json", where / "counts.json"
    command = ["timeout", "-k", "5", str(TIME_LIMIT_S), TOOL, "dryrun", *device, "--gpus", str(program.devices), "--stats", counts, "-o", trace, "--",
               python, HERE / "observe.py", told, way, program.path]
    done = subprocess.run(command, cwd=where, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode == TIMED_OUT:
        raise Wrong(f"longer than {TIME_LIMIT_S} s")
    if done.returncode:
        raise Wrong(f"exit status {done.returncode}: " + " | ".join(done.stderr.strip().splitlines()[-4:]))
    missing = re.findall(r"^gpushim dryrun:   (.+) \(\d+ calls?\)$", done.stderr, re.M)
    if missing:
        raise Wrong("the stand-in does not provide " + ", ".join(missing))
    return trace, json.loads(told.read_text()), json.loads(counts.read_text())


def same_memory(trace, stats, exact_end, pools=False):
    """The figures of each device that PyTorch used, checked against its own; `pools`: those of the driver's pools."""
    figures = {device["device"]: device for device in read("memory", trace)["devices"]}
    used = [n for n, device in enumerate(stats) if device.get("reserved_bytes.all.peak")]
    if not used:
        raise Wrong("PyTorch has used no device memory")
    names = {**ALWAYS, **(AT_END if exact_end else {})}
    if pools:
        names = {ours: theirs for ours, theirs in names.items() if theirs.startswith("allocated_bytes")}
    for number in used:
        for name, theirs in names.items():
            equal(f"device {number} {name}", figures.get(number, {}).get(name), stats[number][theirs])
    return {number: {name: figures[number][name] for name in ALWAYS} for number in used}


def same_counts(trace, counts):
    info = read("info", trace)
    equal("lost events", info["lost_events"], 0)
    for ours, theirs in {"launch": "launches", "copy": "copies", "memset": "memsets"}.items():
        equal(f"{ours} events", info["events"][ours], counts[theirs])


def checked(python, program, device, way, settings=""):
    """Record once and check all that one recording can tell.  Returns the figures by device."""
    where = pathlib.Path(tempfile.mkdtemp(prefix="gpushim-matrix-"))
    try:
        trace, stats, counts = record(python, program, where, device, way, settings)
        read("check", trace)
        figures = same_memory(trace, stats, way == "leave", settings == SETTINGS["async"])
        same_counts(trace, counts)
        return figures
    finally:
        shutil.rmtree(where, ignore_errors=True)


def whole(python, program, others=OTHERS):
    """A program on all cards and under all its settings.  Returns the peaks of its first run."""
    first = checked(python, program, FIRST, "leave")
    for name, device in others.items():
        try:
            figures = checked(python, program, device, "end")
            if not program.differs:
                equal("figures", figures, first)
        except Wrong as wrong:
            raise Wrong(f"on {name}: {wrong}") from None
    for name in program.also:
        try:
            checked(python, program, FIRST, "leave", SETTINGS[name])
        except Wrong as wrong:
            raise Wrong(f"with {SETTINGS[name]}: {wrong}") from None
    return first
