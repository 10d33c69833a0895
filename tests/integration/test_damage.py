#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged traces and journals against every reading command: never a crash, a hang or silence, and never
more events than the whole trace has.  TAP; environment: O (build folder), ROUNDS (120)."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ.get("O", "build")).resolve()
TOOL, SAMPLES = BUILD / "bin/gpushim", BUILD / "tests/cli_samples"
ROUNDS = int(os.environ.get("ROUNDS", "120"))
COMMANDS = (["check"], ["info", "--json"], ["memory", "--json"], ["oom", "--json"], ["report"],
            ["export", "-f", "csv"], ["export", "-f", "chrome"])
chance = random.Random(20261130)


def run(command, path):
    return subprocess.run([TOOL, *command, path], capture_output=True, timeout=60, text=True, errors="replace")


def flipped(data):
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 16))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def cut(data):
    return data[: chance.randrange(len(data))]


def patched(data):
    """A stretch of zeros, of ones, or of another part of the file: what a bad disk gives."""
    data = bytearray(data)
    start, length = chance.randrange(len(data)), chance.choice((4, 64, 512))
    other = chance.randrange(len(data))
    fill = chance.choice((b"\0" * length, b"\xff" * length, bytes(data[other: other + length])))
    data[start: start + length] = fill
    return bytes(data)


def doubled(data):
    """A part is there twice or missing; a frame that is really there twice counts twice."""
    at = chance.randrange(len(data))
    return data[:at] + data[chance.randrange(len(data)):]


def trouble(done, command):
    if done.returncode not in (0, 1, 3):
        return f"exits {done.returncode}: {done.stderr[-300:]}"
    if done.returncode and not done.stderr.strip() and not done.stdout.strip():
        return "fails silently"
    if command[-1] == "--json":
        try:
            json.loads(done.stdout)
        except ValueError as wrong:
            return f"writes no JSON: {wrong}"
    return None


def attack(folder, name, damage, most):
    """Damage one file of the folder, run every command on the trace; what went wrong, or None."""
    victim = folder / name
    whole = victim.read_bytes()
    victim.write_bytes(damage(whole))
    trace = folder / "killed.gst"
    try:
        for command in COMMANDS:
            done = run(command, trace)
            wrong = trouble(done, command)
            if wrong:
                return f"{' '.join(command)}: {wrong}"
            if command[0] == "info" and done.returncode != 1:
                total = json.loads(done.stdout)["events"]["total"]
                if total > most:
                    return f"info counts {total} events, at most {most} can be"
    except subprocess.TimeoutExpired as hang:
        return f"hangs: {hang}"
    finally:
        victim.write_bytes(whole)
    return None


def main():
    if not TOOL.exists() or not SAMPLES.exists():
        print("1..0 # SKIP not built")
        return 77
    failed = number = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        subprocess.run([SAMPLES, folder], check=True)
        most = json.loads(run(["info", "--json"], folder / "killed.gst").stdout)["events"]["total"]
        for name in ("killed.gst", "killed.gst.journal"):
            for damage in (flipped, cut, patched, doubled):
                wrong = None
                for _ in range(ROUNDS // 8):
                    limit = most * 2 if damage is doubled else most
                    wrong = wrong or attack(folder, name, damage, limit)
                number += 1
                failed += wrong is not None
                if wrong:
                    print(f"# {wrong}")
                print(f"{'not ok' if wrong else 'ok'} {number} - {name} {damage.__name__}", flush=True)
    print(f"1..{number}")
    return failed > 0


sys.exit(main())
