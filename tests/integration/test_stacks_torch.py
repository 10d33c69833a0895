"""The stacks of a real PyTorch program, line by line against PyTorch's own memory history; backward
against the forward lines.  TAP.  Environment: O; TORCH_PYTHON, an interpreter with another PyTorch."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
build = pathlib.Path(os.environ.get("O", "build")).resolve()
python = pathlib.Path(os.environ.get("TORCH_PYTHON") or build / "torch" / "bin" / "python")
program = here.parent / "programs" / "call_sites.py"
gpushim = build / "bin" / "gpushim"
number = failed = 0


def tell(good, text):
    global number, failed
    number += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {text}", flush=True)


def python_lines(stack, forward=False):
    return [f"{f['file']}:{f['line'] or 0}" for f in stack if f["kind"] == "python" and bool(f.get("forward")) == forward]


def record(trace, *command):
    done = subprocess.run([gpushim, "dryrun", "-o", trace, "--", python, *command], capture_output=True, text=True)
    tell(done.returncode == 0, f"{command[0].name} runs")
    if done.returncode:
        print("# " + done.stderr.strip().replace("\n", "\n# "))
    return done.returncode == 0


def sites_at_peak(trace):
    answer = json.loads(subprocess.run([gpushim, "memory", "--json", trace], capture_output=True, text=True).stdout)
    return answer["devices"][0]["peak"]["sites"]


def forward_of_threads():
    """Autograd nodes of two threads have the same numbers."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "t.gst")
        if not record(trace, here.parent / "programs" / "forward_threads.py"):
            return
        sites = sites_at_peak(trace)
    made = {site["bytes"]: [f["function"] for f in site["stack"] if f.get("forward")][0]
            for site in sites if any(f.get("forward") for f in site["stack"])}
    tell(made == {4 << 20: "forward_of_first", 8 << 20: "forward_of_other"},
         f"each thread's backward names its own forward: {made}")


def main():
    if not python.exists() or not (build / "lib/gpushim/dryrun/libcuda.so.1").exists():
        print("1..0 # SKIP no PyTorch or no stand-in GPU")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        truth, trace = pathlib.Path(folder, "truth.json"), pathlib.Path(folder, "t.gst")
        if not record(trace, program, truth):
            return
        sites = sites_at_peak(trace)
        wanted = json.loads(truth.read_text())

    got, asked = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(lambda: [0, 0])
    forward = named = 0
    for site in sites:
        lines = tuple(python_lines(site["stack"]))
        got[lines][0] += site["blocks"]
        got[lines][1] += site["bytes"]
        linked = python_lines(site["stack"], forward=True)
        forward += any(str(program) in line for line in linked)
        named += any("at::" in (f["function"] or "") for f in site["stack"] if f["kind"] == "native")
    for size, lines in wanted:
        asked[tuple(lines)][0] += 1
        asked[tuple(lines)][1] += size
    wrong = [lines for lines in set(got) | set(asked) if got[lines] != asked[lines]]
    for lines in wrong[:5]:
        print(f"# {asked[lines]} by PyTorch, {got[lines]} recorded: {list(lines[:4])}")
    tell(not wrong, f"{len(wanted)} blocks have the lines that PyTorch's history has")
    different = {tuple(lines) for _, lines in wanted}
    tell(len(different) >= 20, f"they come from {len(different)} call sites")
    tell(forward >= 5, f"{forward} sites of backward name the program's forward lines")
    tell(named >= 0.9 * len(sites), f"{named} of {len(sites)} sites name the native operation")
    forward_of_threads()


main()
print(f"1..{number}")
sys.exit(failed > 0)
