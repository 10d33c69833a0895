# SPDX-License-Identifier: Apache-2.0
"""The recorder in a small C program: every way to reach the driver, to multiply and to end."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from record_rig import (BUILD, HOST, RECORDER, environment, equal, folder, host, info, need, one, run, same_counts, test, told,
                        traces)


@test
def counts_are_exact():
    where, done = host("cycles", 5000)
    equal("status", done.returncode, 0)
    same_counts(one(where, done), told(done))
    equal("lost", info(one(where))["lost_events"], 0)
    equal("stderr", done.stderr, "")
    need(not list(where.glob("*.journal")), "a clean end leaves no journal")


@test
def linked_program():
    where, done = host("linked", 1000)
    equal("status", done.returncode, 0)
    same_counts(one(where, done), {**told(done), "copies": 0, "memsets": 0, "waits": 0})


@test
def no_cuda_no_trace():
    for mode in ("nothing", "probe"):
        where, done = host(mode)
        equal("status", done.returncode, 0)
        equal("files", list(where.iterdir()), [])


@test
def switched_off():
    where, done = host("cycles", 10, GPUSHIM_ENABLE=0)
    equal("status", done.returncode, 0)
    equal("files", list(where.iterdir()), [])


@test
def classes_that_are_left_out():
    where, done = host("cycles", 100, GPUSHIM_RECORD="memory")
    events = info(one(where, done))["events"]
    equal("allocations, copies, waits", (events["block_alloc"], events["copy"], events["synchronization"]), (100, None, None))
    where, done = host("cycles", 100, GPUSHIM_RECORD="copies,api")
    events = info(one(where, done))["events"]
    equal("allocations, copies, waits", (events["block_alloc"], events["copy"], events["synchronization"]), (None, 100, 102))


@test
def threads():
    where, done = host("threads", 200)
    equal("status", done.returncode, 0)
    same_counts(one(where, done), told(done))
    where, done = host("many-threads", 3000)
    equal("status", done.returncode, 0)
    same_counts(one(where, done), told(done))
    equal("lost", info(one(where))["lost_events"], 0)


@test
def much_thread_local_data():
    where = folder()
    done = subprocess.run([BUILD / "tests/large_thread_data"], cwd=where, env=environment(GPUSHIM_STACKS="none"), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60)
    equal("status and stderr", (done.returncode, done.stderr), (0, ""))
    equal("allocations", info(one(where, done))["events"]["block_alloc"], 1)


@test
def a_good_look_up_leaves_no_error():
    for stacks in ("none", "python", "native", "all"):
        where, done = host("error", GPUSHIM_STACKS=stacks)
        equal("status and stderr", (done.returncode, done.stderr), (0, ""))


@test
def a_constructor_that_looks_up():
    """It holds the loader's lock, which a look-up in another thread needs."""
    where = folder()
    source, library = where / "constructor.c", where / "constructor.so"
    source.write_text('#include <dlfcn.h>\n__attribute__((constructor)) static void look_up(void)\n'
                      '{\n\tdlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "cuMemFree_v2");\n}\n')
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    for delay_us in range(0, 160, 4):
        where, done = host("constructor", delay_us, timeout=20, HOST_LIBRARY=library)
        equal("status and stderr", (done.returncode, done.stderr), (0, ""))


@test
def exit_while_others_record():
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # the helper keeps up where no disk is busy
    for threads in (8, 8, 8, 32, 32):
        with tempfile.TemporaryDirectory(prefix="gpushim-record-", dir=memory) as where:
            _, done = host("exit-busy", threads, where=pathlib.Path(where))
            equal("status", done.returncode, 5)
            told_by_trace = info(one(where, done))
        need(told_by_trace["events"]["total"] > 100, "events")
        equal("lost", told_by_trace["lost_events"], 0)


@test
def fork_makes_a_second_trace():
    where, done = host("fork", 100)
    equal("status", done.returncode, 0)
    found = {info(t)["pid"]: t for t in traces(where)}
    equal("traces", len(found), 2)
    child = found.pop(int(re.search(r"child=(\d+)", done.stdout).group(1)))
    same_counts(child, dict(allocs=3, frees=3, copies=3, memsets=3, waits=5))
    counts = dict(line.split("=") for line in done.stdout.splitlines()[-5:])
    same_counts(found.popitem()[1], {k: int(v) for k, v in counts.items()})


@test
def fork_that_only_frees():
    where, done = host("fork-frees")
    equal("status", done.returncode, 0)
    same_counts(one(where, done), told(done))


@test
def child_of_a_raw_clone():
    where, done = host("clone", 50)
    equal("status", done.returncode, 0)
    found = sorted(traces(where), key=lambda t: info(t)["events"]["block_alloc"])
    equal("allocations", [info(t)["events"]["block_alloc"] for t in found], [1, 100])
    same_counts(found[1], told(done))


@test
def child_of_a_raw_clone_that_exits():
    start = time.perf_counter()
    where, done = host("clone-exit", 50)
    equal("status", done.returncode, 0)
    need(time.perf_counter() - start < 2, "the child does not wait for the helper of its parent")
    same_counts(one(where, done), told(done))


@test
def spawned_children():
    where, done = host("spawn", 50)
    equal("status", done.returncode, 0)
    same_counts(one(where, done), told(done))


@test
def every_sudden_end():
    for mode, status in (("exec", 0), ("_exit", 3), ("quick_exit", 4), ("abort", -signal.SIGABRT), ("segv", -signal.SIGSEGV)):
        where, done = host(mode, 3000)
        equal(f"status of {mode}", done.returncode, status)
        same_counts(one(where, done), dict(allocs=3000, frees=3000, copies=3000, memsets=3000, waits=3002))


@test
def library_opened_again_and_again():
    where, done = host("reopen", 500)
    equal("status", done.returncode, 0)
    same_counts(one(where, done), told(done))


@test
def signals_from_outside():
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        where = folder()
        process = subprocess.Popen([HOST, "slow", "60000"], cwd=where, env=environment(GPUSHIM_STACKS="none"), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        deadline = time.time() + 20
        while not traces(where) and time.time() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
        process.send_signal(sign)
        process.communicate(timeout=20)
        equal("status", process.returncode, -sign)
        need(info(one(where))["events"]["block_alloc"] > 10, "events before the signal")


@test
def descriptors_closed_by_the_program():
    where, done = host("close-all", 100000)
    equal("status and stderr", (done.returncode, done.stderr), (0, ""))
    same_counts(one(where, done), told(done))
    equal("lost", info(one(where))["lost_events"], 0)
    need(not list(where.glob("*.journal")), "a clean end leaves no journal")


@test
def names_of_files():
    where, done = host("cycles", 1, GPUSHIM_OUTPUT="a/b/%n-%r.gst", RANK=3)
    equal("status", done.returncode, 0)
    host("cycles", 1, where=where, GPUSHIM_OUTPUT="a/b/%n-%r.gst", RANK=3)
    equal("files", [str(t.relative_to(where)) for t in traces(where)], ["a/b/host-3-2.gst", "a/b/host-3.gst"])
    equal("rank", info(traces(where)[0])["rank"], 3)
    listing = where / "list"
    host("cycles", 1, where=where, GPUSHIM_OUTPUT="x", GPUSHIM_TRACE_LIST=listing)
    equal("list of traces", listing.read_text(), f"{where}/x.gst\n")
    strange = where / "two\nlines\\012"
    host("cycles", 1, where=where, GPUSHIM_OUTPUT=f"{strange}/x", GPUSHIM_TRACE_LIST=listing)
    equal("a strange name in it", listing.read_text().splitlines()[1], f"{where}/two\\012lines\\134012/x.gst")


@test
def unknown_settings_are_reported_once():
    where, done = host("cycles", 10, GPUSHIM_SPEED="fast", GPUSHIM_LIMIT="lots")
    equal("status", done.returncode, 0)
    lines = done.stderr.splitlines()
    equal("lines", len(lines), 2)
    need("GPUSHIM_SPEED" in lines[0] and "GPUSHIM_LIMIT" in lines[1], done.stderr)
    need(traces(where), "the program is recorded all the same")


@test
def output_of_the_program_is_its_own():
    _, bare = host("cycles", 100, recorder=False)
    _, recorded = host("cycles", 100)
    equal("stdout", recorded.stdout, bare.stdout)


@test
def driver_sees_the_same_calls():
    """The stand-in's log of calls, without the questions that the recorder itself may ask."""
    questions = re.compile(r"^cu(CtxGetDevice|StreamIsCapturing|FuncGetName|KernelGetName|DriverGetVersion|Device(Get|Total)\w*)\b")
    logs = []
    for recorder in (False, True):
        where, done = host("cycles", 300, recorder=recorder, GPUSHIM_DRYRUN_CALLS="calls.log")
        equal("status", done.returncode, 0)
        lines = [line for line in (where / "calls.log").read_text().splitlines() if not questions.match(line)]
        logs.append(lines)
    need(len(logs[0]) > 1500, f"{len(logs[0])} calls in the log")
    equal("calls", logs[1], logs[0])


@test
def failures_are_recorded_with_their_status():
    where, done = host("cycles", 10, GPUSHIM_DRYRUN_FAULTS="cuMemAlloc_v2:3=2")
    equal("status", done.returncode, 99)  # the host ends itself at the first failure
    events = info(one(where, done))["events"]
    equal("successful allocations", events["block_alloc"], 2)


@test
def process_without_cuda_pays_little():
    def seconds(preload):
        env = environment(False)
        if preload:
            env["LD_PRELOAD"] = str(RECORDER)
        start = time.perf_counter()
        for _ in range(40):
            subprocess.run([HOST, "nothing"], env=env, stdout=subprocess.DEVNULL)
        return (time.perf_counter() - start) / 40
    added = sorted(seconds(True) - seconds(False) for _ in range(5))
    need(added[1] < 0.001, f"{added[1] * 1e3:.2f} ms more at the start of a process")


run()
