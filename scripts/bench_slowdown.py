#!/usr/bin/env python3
"""How much slower a program runs while it is recorded, on the stand-in GPU.

usage: bench_slowdown.py BUILD_FOLDER PROGRAM [STEPS] [--batches N] [--set NAME=VALUE]...

Runs go bare, recorded, recorded, bare in one batch, so that a drift of the machine cancels; each program prints its own median step
in microseconds.  Printed are the ratio recorded/bare per batch as median, least and greatest, and bytes per recorded event."""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("program")
    parser.add_argument("steps", nargs="?", default="200")
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--set", action="append", default=[])
    a = parser.parse_args()
    tool, python = a.build / "bin/gpushim", a.build / "torch/bin/python"
    environment = dict(os.environ, **dict(pair.split("=", 1) for pair in a.set))

    def once(folder, record):
        where = ["-o", f"{folder}/"] if record else ["--no-record"]
        command = [tool, "dryrun", "--memory", "24G", *where, "--", python, a.program, a.steps]
        done = subprocess.run([str(c) for c in command], env=environment, capture_output=True, text=True)
        found = re.search(r"median ([\d.]+)", done.stdout)
        if not found:
            sys.exit(f"bench_slowdown: {a.program} failed: {done.stderr[-400:]}")
        return float(found.group(1))

    ratios, bare_us, sizes = [], [], []
    for _ in range(a.batches):
        with tempfile.TemporaryDirectory() as folder:
            bare = once(folder, False)
            first = once(folder, True)
            second = once(folder, True)
            again = once(folder, False)
            ratios.append((first + second) / (bare + again))
            bare_us += [bare, again]
            for trace in pathlib.Path(folder).glob("*.gst"):
                told = json.loads(subprocess.run([tool, "info", "--json", trace], capture_output=True, text=True).stdout)
                sizes.append(told["file_bytes"] / told["events"]["total"])
    name = pathlib.Path(a.program).stem
    print(f"{name}: recorded/bare x{statistics.median(ratios):.3f} ({min(ratios):.3f}..{max(ratios):.3f}), "
          f"bare step {statistics.median(bare_us):.0f} us, {statistics.median(sizes):.2f} bytes an event ({min(sizes):.2f}..{max(sizes):.2f})")


main()
