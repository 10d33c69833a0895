# SPDX-License-Identifier: Apache-2.0
"""Runs a program and writes what PyTorch itself counts of every device's memory when it is over.

usage: observe.py OUT.json leave|end PROGRAM

leave   the process ends at once, so that the recording ends where the figures were taken
end     the interpreter ends as usual
"""
import json
import os
import runpy
import sys
import time
import traceback


def read():
    torch = sys.modules.get("torch")
    if not torch or not torch.cuda.is_initialized():
        return []
    return [dict(torch.cuda.memory_stats(device)) for device in range(torch.cuda.device_count())]


def settled():
    """Threads of the backward pass let go of their last tensors a little later than the program goes on."""
    before = None
    for _ in range(50):
        now = read()
        if now == before:
            break
        before = now
        time.sleep(0.1)
    return now


def run(program):
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        return 1
    return 0


def main():
    out, way, program = sys.argv[1:]
    sys.argv = [program]
    status = run(program)
    with open(out, "w") as f:
        json.dump(settled(), f)
    sys.stdout.flush()
    sys.stderr.flush()
    if way == "leave":
        os._exit(status)
    sys.exit(status)


main()
