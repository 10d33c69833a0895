# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random moments: every trace opens and has every call that had returned."""
import pathlib
import random
import struct
import subprocess

from record_rig import HOST, TOOL, environment, equal, folder, host, info, need, one, run, same_counts, test, torch, traces

NAMES = ("allocs", "frees", "copies", "memsets", "waits")


def killed(mode, microseconds, threads):
    where, done = host(mode, microseconds, "counts")
    equal("status", done.returncode, -9)
    counts = dict(zip(NAMES, struct.unpack("5Q", (where / "counts").read_bytes()[:40])))
    if not traces(where):
        equal("calls without a trace", counts["allocs"], 0)
        return 0
    # The counter is raised after the call: a call of each thread may be stored and not counted.
    events = same_counts(one(where, done), counts, slack=threads)
    return events["total"]


@test
def one_thread_140_times():
    chance = random.Random(1)
    totals = [killed("kill", int(10 ** chance.uniform(1.5, 5.3)), 1) for _ in range(140)]
    need(sum(t > 1000 for t in totals) > 20, f"too few long runs: {sorted(totals)[-30:]}")


@test
def three_threads_60_times():
    chance = random.Random(2)
    for _ in range(60):
        killed("kill-threads", int(10 ** chance.uniform(2, 5)), 3)


@test
def one_file_under_the_launcher():
    for start in (("run",), ("dryrun", "--memory", "8G")):
        for mode, threads in (("kill", 1), ("kill-threads", 3)):
            where = folder()
            done = subprocess.run([TOOL, *start, "-o", f"{where}/", "--", HOST, mode, "150000", "counts"], cwd=where,
                                  env=environment(recorder=False, GPUSHIM_STACKS="none"), stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=120)
            equal("status", done.returncode, 128 + 9)
            counts = dict(zip(NAMES, struct.unpack("5Q", (where / "counts").read_bytes()[:40])))
            need(counts["allocs"] > 100, f"too few calls: {counts}")
            same_counts(one(where, done), counts, slack=threads)
            equal("files", sorted(f.name for f in where.iterdir()), ["counts", one(where).name])
            checked = subprocess.run([TOOL, "check", one(where)], capture_output=True, text=True, timeout=120)
            equal("exit status of check", checked.returncode, 0)


@test
def pytorch_5_times():
    script = pathlib.Path(__file__).resolve().parent.parent / "programs/killed_allocations.py"
    chance = random.Random(3)
    for _ in range(5):
        where, done = torch([script, chance.randrange(100, 4000)])
        equal("status", done.returncode, 137)
        allocations = int((where / "done").read_text())
        events = info(one(where, done))["events"]
        need(allocations <= events["block_alloc"] <= allocations + 1, f"{events['block_alloc']} of {allocations} allocations")


run()
