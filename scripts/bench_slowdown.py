#!/usr/bin/env python3
"""How much slower a program runs while it is recorded, on the stand-in GPU.

usage: bench_slowdown.py BUILD_FOLDER PROGRAM [STEPS] [--pairs N] [--rounds N] [--set NAME=VALUE]...

A bare and a recorded process of the program live side by side and take turns of STEPS steps, so that whatever else the machine does
hits both alike; each tells the median step of a turn.  Printed are the ratio recorded/bare of neighbouring turns as median and
quartiles over all rounds of all pairs of processes, the median of each pair, and bytes per recorded event."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile


class Program:
    def __init__(self, arguments, command, environment):
        self.name = arguments.program
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([str(c) for c in command], env=environment, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors)
        self.line()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            self.errors.seek(0)
            sys.exit(f"bench_slowdown: {self.name} failed: {self.errors.read()[-400:]}")
        return line

    def turn(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        return float(self.line())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("program")
    parser.add_argument("steps", nargs="?", default="10")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--set", action="append", default=[])
    a = parser.parse_args()
    tool, python = a.build / "bin/gpushim", a.build / "torch/bin/python"
    environment = dict(os.environ, **dict(pair.split("=", 1) for pair in a.set))

    def start(*where):
        return Program(a, [tool, "dryrun", "--memory", "24G", *where, "--", python, a.program, "--turns", a.steps], environment)

    ratios, pairs, bare_us, sizes = [], [], [], []
    for _ in range(a.pairs):
        with tempfile.TemporaryDirectory() as folder:
            bare, recorded = start("--no-record"), start("-o", f"{folder}/")
            here = []
            for number in range(a.rounds):
                first, second = (bare, recorded) if number % 2 else (recorded, bare)
                us = {first: first.turn(), second: second.turn()}
                here.append(us[recorded] / us[bare])
                bare_us.append(us[bare])
            bare.end()
            recorded.end()
            ratios += here
            pairs.append(statistics.median(here))
            for trace in pathlib.Path(folder).glob("*.gst"):
                told = json.loads(subprocess.run([tool, "info", "--json", trace], capture_output=True, text=True).stdout)
                sizes.append(told["file_bytes"] / told["events"]["total"])
    name = pathlib.Path(a.program).stem
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"{name}: recorded/bare x{middle:.3f} (quartiles {low:.3f}..{high:.3f}; pairs of processes {min(pairs):.3f}..{max(pairs):.3f}), "
          f"bare step {statistics.median(bare_us):.0f} us, {statistics.median(sizes):.2f} bytes an event ({min(sizes):.2f}..{max(sizes):.2f})")


main()
