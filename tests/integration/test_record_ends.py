# SPDX-License-Identifier: Apache-2.0
"""Calls where threads and processes end are recorded, and the recorder changes no end."""
import os
import pathlib
import subprocess
import sys

from record_rig import BUILD, RECORDER, Skip, environment, equal, folder, info, need, one, run, test

ENDS = BUILD / "tests/ends"


def build(library, option):
    source = pathlib.Path(__file__).resolve().parent / "ends.c"
    subprocess.run([os.environ.get("CC", "cc"), option, "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, source], check=True)


def ends(*arguments, where=None, timeout=60, clean=True, **more):
    where = where or folder()
    more.setdefault("GPUSHIM_STACKS", "none")
    done = subprocess.run([ENDS, *map(str, arguments)], cwd=where, env=environment(**more), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=timeout)
    equal("status and stderr", (done.returncode, done.stderr), (0, ""))
    need(not clean or not list(where.glob("*.journal")), "a clean end leaves no journal")
    return info(one(where, done))


@test
def frees_of_handlers_and_destructors():
    where = folder()
    library = where / "ends.so"
    build(library, "-DLIBRARY")
    for preload in (RECORDER, f"{RECORDER}:{library}", f"{library}:{RECORDER}"):
        got = ends("last-frees", LD_PRELOAD=preload, ENDS_LIBRARY=library)
        events = got["events"]
        equal(f"allocations and frees with {preload}", (events["block_alloc"], events["block_free"]), (4, 4))
        equal("lost", got["lost_events"], 0)


@test
def threads_that_were_told_to_end():
    for _ in range(5):
        events = ends("cancel")["events"]
        equal("allocations and frees", (events["block_alloc"], events["block_free"]), (64, 64))


@test
def threads_whose_last_destructor_records():
    """What they leave is taken back: more threads than there are chunks in a journal."""
    got = ends("key-destructors", 6000, GPUSHIM_STACKS="native")
    equal("allocations and frees", (got["events"]["block_alloc"], got["events"]["block_free"]), (24000, 24000))
    equal("lost", got["lost_events"], 0)
    need(not any("threads at once" in notice for notice in got["notices"]), got["notices"])


@test
def programs_that_lock_themselves_in():
    if os.geteuid():
        raise Skip("chroot is for root")
    events = ends("chroot")["events"]
    equal("allocations and frees", (events["block_alloc"], events["block_free"]), (2, 2))


@test
def an_end_without_handlers_is_no_kill():
    got = ends("sudden", 2500, clean=False)
    equal("allocations", got["events"]["block_alloc"], 1)
    need(any("journal was left" in notice for notice in got["notices"]), got["notices"])
    need(not any("killed" in notice for notice in got["notices"]), got["notices"])


@test
def processes_that_outlive_their_main_thread():
    for more in ({}, {"GPUSHIM_LIMIT": "1"}):
        events = ends("main-exit", timeout=20, GPUSHIM_LOG="error", **more)["events"]
        need(more or (events["block_alloc"], events["block_free"]) == (2, 2), events)


@test
def threads_that_jump_out_of_a_call():
    """The next call is recorded, from wherever on the stack."""
    where = folder()
    build(where / "libcuda.so.1", "-DDRIVER")
    for depth in (0, 1, 50):
        events = ends("jump", depth, LD_LIBRARY_PATH=where)["events"]
        equal(f"allocations and frees {depth} deeper", (events["block_alloc"], events["block_free"]), (1001, 1001))


@test
def a_limited_address_space_is_the_program_s():
    for mib in (200, 300, 1000):
        events = ends("limited", mib)["events"]
        equal("allocations and frees", (events["block_alloc"], events["block_free"]), (1, 1))


@test
def a_trace_that_was_removed_is_told():
    where = folder()
    done = subprocess.run([ENDS, "remove"], cwd=where, env=environment(GPUSHIM_OUTPUT="removed"), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60)
    equal("status", done.returncode, 0)
    need("removed.gst was removed while it was written" in done.stderr, done.stderr)
    equal("files", list(where.iterdir()), [])


@test
def children_that_share_our_memory_end_nothing():
    events = ends("vfork", 3)["events"]
    equal("allocations and frees", (events["block_alloc"], events["block_free"]), (3, 3))


@test
def facts_of_short_processes():
    """What the trace says about device and driver is in the journal soon: nobody can wait for a process that just ends."""
    known = 0
    for _ in range(10):
        where = folder()
        subprocess.run([ENDS, "sudden", "2500"], cwd=where, env=environment(GPUSHIM_STACKS="none"), stdin=subprocess.DEVNULL, timeout=60)
        got = info(one(where))
        known += got["driver_version"] is not None and [device["name"] for device in got["devices"]] == ["Test GPU"]
    need(known >= 8, f"{known} of 10 processes told their device")  # all, but on a machine without a processor to spare


@test
def facts_that_the_driver_does_not_tell():
    got = ends("sudden", 100000, GPUSHIM_DRYRUN_FAULTS="cuDeviceGetName:1=999,cuDeviceGetName:2=999", clean=False)
    need(any("devices are unknown" in notice for notice in got["notices"]), got["notices"])


@test
def files_of_the_program_get_no_messages():
    where = folder()
    ends("own-stderr", where=where, GPUSHIM_SPEED="fast")
    equal("the program's file", (where / "own").read_text(), "")


@test
def threads_that_outlive_python():
    """Python itself crashes when its threads come back to it after its end: nothing may delay the end of the process then."""
    script = pathlib.Path(__file__).resolve().parent.parent / "programs/daemon_threads.py"
    seen = set()
    pythons = [sys.executable, *map(str, sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")))]
    for python in pythons:
        if subprocess.run([python, "-c", "import sys, ctypes; sys.exit(sys.version_info < (3, 8))"], capture_output=True).returncode:
            continue
        for options in ((), ("-X", "dev")):
            for _ in range(4):
                where = folder()
                done = subprocess.run([python, *options, script, "50"], cwd=where, env=environment(), stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=60)
                equal(f"status of {python} {options}", (done.returncode, done.stderr), (0, ""))
                got = info(one(where, done))
                need(got["events"]["block_alloc"] >= 100, "events")
                need(not any("killed" in notice for notice in got["notices"]), got["notices"])
                # Threads that asked for the interpreter in the meantime have ended.
                left = bool(list(where.glob("*.journal")))
                equal("told that it was left", any("journal was left" in notice for notice in got["notices"]), left)
                seen.add(left)
    need(True in seen, "no end with threads alive")


run()
