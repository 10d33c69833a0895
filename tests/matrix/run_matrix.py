# SPDX-License-Identifier: Apache-2.0
"""`make matrix`: all programs, or those whose name contains one of the words.  usage: run_matrix.py [--fast] [WORD...]

Ends with a table: program, result, peak of what PyTorch allocated and reserved on each device.  Exit 1 if
any failed.  With --fast those that are fast and need no packages run once each, told as TAP.
"""
import concurrent.futures
import sys
import time

import matrix_check


def mebibytes(figures):
    return ", ".join(f"{f['peak_allocated_bytes'] / 2**20:.1f} of {f['peak_reserved_bytes'] / 2**20:.0f} MiB" for f in figures.values())


def attempt(check, program):
    """(figures or None, reason, seconds)"""
    start = time.monotonic()
    try:
        return check(sys.executable, program), "", time.monotonic() - start
    except matrix_check.Wrong as wrong:
        return None, str(wrong), time.monotonic() - start


def once(python, program):
    return matrix_check.checked(python, program, matrix_check.FIRST, "leave")


def fast(programs):
    programs = [program for program in programs if program.fast and not program.needs]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda program: attempt(once, program), programs)
        for number, (program, (figures, reason, _)) in enumerate(zip(programs, results), 1):
            failed += not figures
            if reason:
                print("# " + reason.replace("\n", "\n# "))
            print(f"{'ok' if figures else 'not ok'} {number} - {program.name.replace('_', ' ')}", flush=True)
    print(f"1..{len(programs)}")
    return failed > 0 or not programs


def whole(programs):
    rows, failed = [("program", "result", "peak allocated of reserved")], 0
    for program in programs:
        figures, reason, seconds = attempt(matrix_check.whole, program)
        failed += not figures
        result = "ok" if figures else "FAILED"
        print(f"{result:6} {program.name} ({seconds:.0f} s) {reason}", flush=True)
        rows.append((program.name, result, mebibytes(figures) if figures else reason[:80]))
    width = max(len(row[0]) for row in rows)
    print()
    for row in rows:
        print(f"{row[0]:{width}}  {row[1]:6}  {row[2]}")
    print(f"{len(programs) - failed} passed, {failed} failed")
    return failed > 0 or not programs


def main(words):
    run = fast if "--fast" in words else whole
    words = [word for word in words if word != "--fast"]
    return run([program for program in matrix_check.programs() if not words or any(word in program.name for word in words)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
