# SPDX-License-Identifier: Apache-2.0
"""Runs programs under the recorder on the stand-in GPU, reads the traces back and prints TAP.

A test module registers functions with @test and ends with `run()`.  Environment: O (build folder).
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

BUILD = pathlib.Path(os.environ.get("O", "build")).resolve()
TOOL = BUILD / "bin/gpushim"
RECORDER = BUILD / "lib/libgpushim.so"
STAND_IN = BUILD / "lib/gpushim/dryrun"
HOST = BUILD / "tests/host"
PYTHON = BUILD / "torch/bin/python"
DEVICE = "name=Test GPU;total=25769803776;context=0"
TESTS = []
FOLDERS = []  # of the test that runs


class Skip(Exception):
    pass


def test(function):
    TESTS.append(function)
    return function


def need(condition, text):
    if not condition:
        raise AssertionError(text)


def equal(what, got, wanted):
    need(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def folder():
    """Goes away when the test has passed."""
    FOLDERS.append(pathlib.Path(tempfile.mkdtemp(prefix="gpushim-record-")))
    return FOLDERS[-1]


def remove_folders():
    while FOLDERS:
        shutil.rmtree(FOLDERS.pop(), ignore_errors=True)


def environment(recorder=True, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("GPUSHIM_") and k != "LD_PRELOAD"}
    env["GPUSHIM_DRYRUN_DEVICE"] = DEVICE
    env["LD_LIBRARY_PATH"] = str(STAND_IN)
    if recorder:
        env["LD_PRELOAD"] = str(RECORDER)
    env.update({k: str(v) for k, v in more.items()})
    return env


def host(*arguments, where=None, recorder=True, timeout=120, preexec=None, **more):
    """Runs the host program in a folder of its own.  Returns (folder, finished process)."""
    where = where or folder()
    more.setdefault("GPUSHIM_STACKS", "none")
    done = subprocess.run([HOST, *map(str, arguments)], cwd=where, env=environment(recorder, **more),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, preexec_fn=preexec)
    return where, done


def torch(arguments, where=None, recorder=True, device=("--memory", "8G"), options=(), timeout=300, **more):
    """Runs a Python program with PyTorch through the launcher."""
    if not PYTHON.exists():
        raise Skip("no PyTorch")
    where = where or folder()
    env = {k: v for k, v in os.environ.items() if not k.startswith("GPUSHIM_") and k != "LD_PRELOAD"}
    env.update({k: str(v) for k, v in more.items()})
    record = ["-o", f"{where}/"] if recorder else ["--no-record"]
    done = subprocess.run([TOOL, "dryrun", *device, *options, *record, "--", PYTHON, *map(str, arguments)], cwd=where,
                          env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
    return where, done


def told(done):
    """NAME=COUNT lines of the host."""
    return {k: int(v) for k, v in (line.split("=") for line in done.stdout.splitlines() if "=" in line)}


def traces(where):
    return sorted(pathlib.Path(where).rglob("*.gst"))


def one(where, done=None):
    found = traces(where)
    need(len(found) == 1, f"{len(found)} traces instead of one; stderr: {done.stderr[-300:] if done else ''}")
    return found[0]


def tool(*arguments, exits=(0,)):
    """Standard output of the program."""
    done = subprocess.run([TOOL, *arguments], capture_output=True, text=True, timeout=120)
    need(done.returncode in exits, f"gpushim {arguments[0]} exits {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def info(trace, exits=(0,)):
    return json.loads(tool("info", "--json", trace, exits=exits))


def same_counts(trace, counts, slack=0):
    """The trace has what the program counted, or up to `slack` more of each."""
    events = info(trace)["events"]
    for key, name in (("block_alloc", "allocs"), ("block_free", "frees"), ("copy", "copies"), ("memset", "memsets"), ("synchronization", "waits")):
        need(counts[name] <= events[key] <= counts[name] + slack, f"{key} {events[key]}, the program says {counts[name]} (+{slack})")
    return events


def run():
    if not RECORDER.exists() or not (STAND_IN / "libcuda.so.1").exists() or not TOOL.exists():
        print("1..0 # SKIP the recorder or the stand-in GPU is not built")
        sys.exit(77)
    failed = 0
    for number, function in enumerate(TESTS, 1):
        try:
            function()
            remove_folders()
            print(f"ok {number} - {function.__name__}", flush=True)
        except Skip as why:
            remove_folders()
            print(f"ok {number} - {function.__name__} # SKIP {why}", flush=True)
        except Exception:
            failed += 1
            print("# " + traceback.format_exc().strip().replace("\n", "\n# "))
            print("# kept: " + " ".join(map(str, FOLDERS)))
            FOLDERS.clear()
            print(f"not ok {number} - {function.__name__}", flush=True)
    print(f"1..{len(TESTS)}")
    sys.exit(failed > 0)
