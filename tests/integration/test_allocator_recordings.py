# SPDX-License-Identifier: Apache-2.0
"""The allocator model replays what the recorder saw of real PyTorch, event by event, and predicts
what the same program reserves under other settings."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ.get("O", "build")).resolve()
TOOL, REPLAY, PYTHON = BUILD / "bin/gpushim", BUILD / "tests/replay_recording", BUILD / "torch/bin/python"
LOAD = pathlib.Path("tests/programs/allocator_load.py").resolve()
GPT = pathlib.Path("tests/programs/small_gpt.py").resolve()
CAPTURED = pathlib.Path("tests/programs/captured_step.py").resolve()
FAILED = []
COUNT = 0


def tell(good, text):
    global COUNT
    COUNT += 1
    print(f"{'ok' if good else 'not ok'} {COUNT} - {text}", flush=True)
    if not good:
        FAILED.append(text)


def play(program, settings="", memory="24G", trace=None):
    """Runs a program on the stand-in GPU; returns the numbers of its last line."""
    environment = dict(os.environ, PYTORCH_ALLOC_CONF=settings, PYTORCH_CUDA_ALLOC_CONF=settings)
    command = [TOOL, "dryrun", "--memory", memory, *(["-o", trace] if trace else ["--no-record"])]
    done = subprocess.run([*command, "--", PYTHON, *program], env=environment, check=True,
                          capture_output=True, text=True, timeout=300)
    return [int(word) for word in done.stdout.split()[-3:] if word.isdigit()]


def replay(trace):
    done = subprocess.run([REPLAY, trace], check=True, capture_output=True, text=True, timeout=300)
    figures, settings = {}, {}
    for line in done.stdout.splitlines():
        name, _, rest = line.partition(" ")
        if name == "setting":
            peak, retries, ooms, text = (rest + " ").split(" ", 3)
            settings[text.strip()] = [int(peak), int(retries), int(ooms)]
        else:
            figures[name] = int(rest)
    return figures, settings


def memory_counts(trace):
    done = subprocess.run([TOOL, "memory", "--json", trace], check=True, capture_output=True, text=True, timeout=300)
    device = json.loads(done.stdout)["devices"][0]
    return [device["retry_count"], device["oom_count"]]


def matches(figures):
    for line in figures.items():
        print("#", *line)
    return (figures["segments_matched"] == figures["segments"] > 0
            and figures["addresses_matched"] == figures["addresses"] > 0
            and figures["unknown_requests"] == 0)


def main():
    for needed in (TOOL, REPLAY, PYTHON, BUILD / "lib/gpushim/dryrun/libcuda.so.1"):
        if not needed.exists():
            print(f"1..0 # skipped: {needed} is not there")
            return 77
    with tempfile.TemporaryDirectory(prefix="gpushim-allocator-") as folder:
        trace = os.path.join(folder, "x.gst")
        for name, settings, memory, words in (
                ("defaults", "", "24G", ["11"]),
                ("a small device, streams, caches emptied", "", "1200M", ["2", "streams", "empty"]),
                ("expandable segments, streams", "expandable_segments:True", "1200M",
                 ["5", "streams", "empty"]),
                ("a memory fraction", "garbage_collection_threshold:0.8,max_split_size_mb:24", "1200M",
                 ["3", "streams", "fraction"]),
                ("graphs", "max_split_size_mb:24", "24G", ["6", "graphs"])):
            truth = play([LOAD, *words], settings, memory, trace)
            figures, predicted = replay(trace)
            tell(matches(figures), f"{name}: every segment and block of the recording")
            tell([figures["peak_reserved"], figures["retries"], figures["ooms"]] == truth,
                 f"{name}: peak, retries and refusals as PyTorch counts them")
            tell(memory_counts(trace) == truth[1:], f"{name}: retries and refusals by the driver's calls")
            if name == "defaults":
                for text in ("expandable_segments:True", "max_split_size_mb:32"):
                    tell(predicted[text] == play([LOAD, *words], text), f"{text} is predicted")
        play([GPT], trace=trace)
        tell(matches(replay(trace)[0]), "training: every segment and block of the recording")
        play([CAPTURED], trace=trace)
        tell(matches(replay(trace)[0]), "captured training: every segment and block of the recording")
    print(f"1..{COUNT}")
    return bool(FAILED)


sys.exit(main())
