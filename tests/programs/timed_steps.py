"""Times of the steps of a program, for programs that scripts/bench_slowdown.py compares."""
import statistics
import sys
import time


def timed(step, count):
    seconds = []
    for _ in range(count):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return seconds


def main(step, warm_up, steps):
    """usage of the program: [STEPS] prints the median and the minimum of so many steps in microseconds; --turns STEPS runs so many
    for every line of standard input and prints their median, so that two processes can take turns on one machine."""
    turns = sys.argv[1:2] == ["--turns"]
    steps = int(sys.argv[2 if turns else 1]) if len(sys.argv) > 1 else steps
    timed(step, warm_up)
    if turns:
        print("ready", flush=True)
        for _ in sys.stdin:
            print(f"{statistics.median(timed(step, steps)) * 1e6:.1f}", flush=True)
    else:
        seconds = timed(step, steps)
        print(f"median {statistics.median(seconds) * 1e6:.1f} minimum {min(seconds) * 1e6:.1f}")
