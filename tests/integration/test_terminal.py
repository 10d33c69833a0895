#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names in a trace against whoever looks at it: on a terminal none of them may steer it, and a file or a pipe
gets them as they are.  TAP; environment: O (build folder)."""
import csv
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ.get("O", "build")).resolve()
TOOL, SAMPLES = BUILD / "bin/gpushim", BUILD / "tests/cli_samples"
COMMANDS = (["check"], ["info"], ["info", "--json"], ["memory"], ["memory", "--json"], ["oom"], ["report"],
            ["fragmentation"], ["export", "-f", "csv"], ["export", "-f", "chrome"])
STEERS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def on_terminal(command):
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([TOOL, *command], stdin=theirs, stdout=theirs, stderr=theirs,
                          env=dict(os.environ, TERM="dumb", LC_ALL="C.UTF-8")):
        os.close(theirs)
        written = b""
        try:
            while piece := os.read(ours, 65536):
                written += piece
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return written.replace(b"\r\n", b"\n").decode()


def main():
    if not TOOL.exists() or not SAMPLES.exists():
        print("1..0 # SKIP not built")
        return 77
    failed = number = 0
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([SAMPLES, scratch], check=True)
        trace = pathlib.Path(scratch) / "steering.gst"
        results = []
        for command in COMMANDS:
            shown = on_terminal([*command, trace])
            found = STEERS.search(shown)
            wrong = f"{shown[max(found.start() - 20, 0): found.end() + 20]!r}" if found else None
            results.append((f"{' '.join(command)} on a terminal", wrong or (None if shown else "nothing is shown")))
        whole = subprocess.run([TOOL, "export", "-f", "csv", trace], capture_output=True, check=True).stdout.decode()
        places = {row["place"] for row in csv.DictReader(whole.splitlines(keepends=True))}
        kept = 'f\u202eg,"h"\n (\x1b[31mtrain.py:3)' in places
        results.append(("export -f csv in a pipe", None if kept else f"places are {places}"))
    for name, wrong in results:
        number += 1
        failed += wrong is not None
        if wrong:
            print(f"# {wrong}")
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
    print(f"1..{number}")
    return failed > 0


sys.exit(main())
