# SPDX-License-Identifier: Apache-2.0
"""Programs that torch.compile makes with Triton, recorded on the stand-in GPU; skipped without Triton.

Triton compiles its launchers, so gcc and Python.h are needed besides: pip install triton setuptools.
"""
import csv
import functools
import json
import pathlib
import subprocess

from record_rig import PYTHON, Skip, equal, folder, info, need, one, run, test, told, tool, torch

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent / "programs"
NOT_COUNTS = ("capability", "graphs")


@functools.lru_cache()
def cache():
    """One for all tests: what the first one compiled, the others find."""
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import triton"], capture_output=True).returncode:
        raise Skip("no Triton")
    return folder()


def compiled(mode, gpu="a100-40g"):
    """Returns (trace, what the program told)."""
    where = folder()
    _, done = torch([PROGRAMS / "compiled_steps.py", mode], where=where, device=("--gpu", gpu), timeout=600,
                    TORCHINDUCTOR_CACHE_DIR=cache() / "inductor", TRITON_CACHE_DIR=cache() / "triton")
    need(done.returncode == 0, f"exit {done.returncode}: {done.stderr[-600:]}")
    return one(where, done), told(done)


def kernels_of_triton(trace):
    events = csv.DictReader(tool("export", "--format", "csv", trace).splitlines())
    return [event["name"] for event in events if event["type"] == "launch" and event["kernel"].startswith("triton_")]


def same_memory(trace, words):
    device, = json.loads(tool("memory", "--json", trace))["devices"]
    for name, value in words.items():
        if name not in NOT_COUNTS:
            equal(name, device[name], value)
    need(words["graphs"] > 0, "nothing was compiled")


@test
def memory_of_a_compiled_program_is_pytorchs():
    trace, words = compiled("default")
    same_memory(trace, words)
    need(len(kernels_of_triton(trace)) >= 5, "fewer launches of Triton's kernels than steps")


@test
def memory_of_a_compiled_program_in_graphs_is_pytorchs():
    trace, words = compiled("reduce-overhead")
    same_memory(trace, words)
    need(info(trace)["events"]["graph_launch"] > 0, "no graph was launched")


@test
def programs_are_compiled_for_the_card():
    for gpu, capability in (("h100-80g", 90), ("rtx4090", 89)):
        trace, words = compiled("default", gpu)
        equal("capability", words["capability"], capability)
        same_memory(trace, words)
        need(kernels_of_triton(trace), "no kernel of Triton was launched")


run()
