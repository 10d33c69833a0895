# SPDX-License-Identifier: Apache-2.0
"""No room, no right to write, limits: recording ends, the program does not notice."""
import contextlib
import os
import pathlib
import resource
import signal
import subprocess

from record_rig import HOST, TOOL, Skip, environment, equal, folder, host, info, need, one, run, same_counts, test, told, traces


@contextlib.contextmanager
def small_disk(kib):
    where = folder()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", where], capture_output=True).returncode:
        raise Skip("cannot mount a small file system")
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", where])


def nothing_in_silence(got, calls, threads=0):
    """What is not in the trace is counted; a few texts and marks of the recorder, of each thread too, may be counted besides."""
    events = got["events"]
    recorded = sum(events[key] for key in ("block_alloc", "block_free", "copy", "memset", "synchronization"))
    missing = calls - recorded
    need(missing <= got["lost_events"] <= missing + 50 + 4 * threads, f"{missing} events are missing, {got['lost_events']} are counted as lost")


def one_line(done, *words):
    lines = done.stderr.splitlines()
    equal("lines on stderr", len(lines), 1)
    for word in words:
        need(word in lines[0], f"'{word}' is not in: {lines[0]}")


@test
def full_disk_from_the_start():
    with small_disk(256) as disk:
        _, done = host("cycles", 1000, GPUSHIM_OUTPUT=f"{disk}/t.gst")
        equal("status", done.returncode, 0)
        equal("calls", told(done)["allocs"], 1000)
        one_line(done, "nothing is recorded")
        equal("files", list(disk.iterdir()), [])


@test
def disk_that_fills_up():
    with small_disk(6500) as disk:
        (disk / "filler").write_bytes(b"")
        _, done = host("cycles", 400000, GPUSHIM_OUTPUT=f"{disk}/t.gst")
        equal("status", done.returncode, 0)
        equal("calls", told(done)["allocs"], 400000)
        trace = disk / "t.gst"
        got = info(trace)
        need(got["events"]["block_alloc"] > 10000, f"{got['events']['block_alloc']} allocations kept")
        nothing_in_silence(got, sum(told(done).values()))
        if got["events"]["block_alloc"] < 400000:
            one_line(done, "recording has stopped")
            need(any("stopped" in notice for notice in got["notices"]), got["notices"])


@test
def threads_on_a_disk_without_room_for_more_chunks():
    for mode, number in (("threads", 200), ("many-threads", 300)):
        with small_disk(4096) as disk:
            _, done = host(mode, number, GPUSHIM_OUTPUT=f"{disk}/t.gst")
            equal("status and stderr", (done.returncode, done.stderr), (0, ""))
            same_counts(disk / "t.gst", told(done))
            equal("lost", info(disk / "t.gst")["lost_events"], 0)


@test
def more_living_threads_than_chunks():
    with small_disk(3072) as disk:
        _, done = host("threads-stay", 120, GPUSHIM_OUTPUT=f"{disk}/t.gst")
        equal("status", done.returncode, 0)
        one_line(done, "no room", "events are lost")
        got = info(disk / "t.gst")
        need(got["lost_events"] > 0, "some are missing")
        nothing_in_silence(got, sum(told(done).values()), threads=120)
        need(any("no room" in notice for notice in got["notices"]), got["notices"])


@test
def no_room_in_shared_memory():
    where = folder()
    launch = 'mount -t tmpfs -o size=4k none /dev/shm && exec "$@"'
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "sh", "-c", launch, "sh", "true"], capture_output=True).returncode:
        raise Skip("cannot mount a small file system")
    done = subprocess.run(["unshare", "-m", "sh", "-c", launch, "sh", TOOL, "dryrun", "--memory", "1G", "-o", where / "t.gst", "--",
                           HOST, "cycles", "100"], cwd=where, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    equal("status", done.returncode, 0)
    same_counts(one(where, done), told(done))
    done = subprocess.run(["unshare", "-m", "sh", "-c", launch, "sh", HOST, "cycles", "1"], cwd=where, stdin=subprocess.DEVNULL,
                          env=environment(False, GPUSHIM_DRYRUN_SHARED="/dev/shm/state"), capture_output=True, text=True, timeout=120)
    need(done.returncode == 99 and "/dev/shm/state: No space left" in done.stderr, done)


@test
def file_size_limit():
    for kib in (64, 2500, 6000):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (kib * 1024, kib * 1024))
        where, done = host("cycles", 300000, preexec=limit)
        equal("status", done.returncode, 0)
        equal("calls", told(done)["allocs"], 300000)
        for trace in traces(where):
            nothing_in_silence(info(trace), sum(told(done).values()))


@test
def nowhere_to_write():
    for path in ("/proc/t.gst", "/dev/null/t.gst"):
        where, done = host("cycles", 100, GPUSHIM_OUTPUT=path)
        equal("status", done.returncode, 0)
        one_line(done, "nothing is recorded")
        equal("files", list(where.iterdir()), [])


@test
def nothing_but_files():
    where = folder()
    os.mkfifo(where / "pipe")
    before = {name for name in os.listdir("/dev") if name.endswith(".gst")}
    for path in ("/dev/null", "pipe"):
        _, done = host("cycles", 100, where=where, GPUSHIM_OUTPUT=path)
        equal("status and calls", (done.returncode, told(done)["allocs"]), (0, 100))
        one_line(done, path, "a device or a pipe", "nothing is recorded")
    equal("files", [p.name for p in where.iterdir()], ["pipe"])
    equal("traces in /dev", {name for name in os.listdir("/dev") if name.endswith(".gst")}, before)


@test
def limit_of_the_trace():
    where, done = host("slow", 3000, GPUSHIM_LIMIT="20K")
    equal("status", done.returncode, 0)
    one_line(done, "GPUSHIM_LIMIT=20K", "counted, but not recorded", "larger GPUSHIM_LIMIT")
    got = info(one(where))
    need(got["file_bytes"] < 60000, f"{got['file_bytes']} bytes")
    need(any("GPUSHIM_LIMIT" in notice for notice in got["notices"]), got["notices"])
    need(10 < got["events"]["block_alloc"] < 3000, f"{got['events']['block_alloc']} allocations")
    need(not list(where.glob("*.journal")), "no journal is left")
    nothing_in_silence(got, sum(told(done).values()))


@test
def killed_beyond_the_limit():
    where, done = host("abort", 200000, GPUSHIM_LIMIT="20K")
    equal("status", done.returncode, -signal.SIGABRT)
    got = info(one(where))
    need(any("GPUSHIM_LIMIT" in notice for notice in got["notices"]), got["notices"])
    nothing_in_silence(got, 5 * 200000 + 2)


@test
def messages_into_a_closed_pipe():
    where = folder()
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen([HOST, "cycles", "100"], cwd=where, env=environment(GPUSHIM_SPEED="fast"), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=write, restore_signals=True)
    os.close(write)
    equal("status", process.wait(timeout=60), 0)
    need(traces(where), "the program is recorded all the same")


@test
def messages_into_a_full_pipe():
    """Nobody reads it: the program must not wait."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(write, b"x" * 4096)
    os.set_blocking(write, True)
    where = folder()
    process = subprocess.Popen([HOST, "cycles", "100"], cwd=where, env=environment(GPUSHIM_SPEED="fast"), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=write)
    try:
        equal("status", process.wait(timeout=4), 0)
    finally:
        process.kill()
        os.close(read)
        os.close(write)
    equal("allocations", info(one(where))["events"]["block_alloc"], 100)


@test
def messages_into_a_file_that_cannot_be_opened():
    for path in (".", "missing/log"):
        _, done = host("cycles", 10, GPUSHIM_LOG="info", GPUSHIM_LOG_FILE=path)
        lines = done.stderr.splitlines()
        equal("status and lines", (done.returncode, len(lines)), (0, 2))
        need(f"GPUSHIM_LOG_FILE={path}" in lines[0] and "recording to" in lines[1], done.stderr)


@test
def messages_into_a_file():
    where, done = host("cycles", 10, GPUSHIM_LOG="info", GPUSHIM_LOG_FILE="log")
    equal("stderr", done.stderr, "")
    need("recording to" in (where / "log").read_text(), "log file")


@test
def messages_into_a_pipe_that_nobody_reads():
    where = folder()
    os.mkfifo(where / "pipe")
    _, done = host("cycles", 10, where=where, timeout=20, GPUSHIM_LOG="info", GPUSHIM_LOG_FILE="pipe", GPUSHIM_TRACE_LIST="pipe")
    equal("status and stderr", (done.returncode, done.stderr), (0, ""))
    same_counts(one(where, done), told(done))


@test
def few_descriptors_and_little_memory():
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))
    where, done = host("cycles", 100, preexec=limit)
    equal("status", done.returncode, 0)
    same_counts(one(where, done), told(done))


@test
def no_thread_allowed():
    if os.geteuid() != 0:
        raise Skip("cannot become a user without threads")
    where = folder()
    where.chmod(0o777)

    def limit():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    try:
        _, done = host("cycles", 100, where=where, preexec=limit)
    except PermissionError:
        raise Skip("that user may not read the build folder") from None
    if "error while loading shared libraries" in done.stderr or "cannot be preloaded" in done.stderr:
        raise Skip("that user may not read the build folder")
    equal("status and calls", (done.returncode, told(done)["allocs"]), (0, 100))
    one_line(done, "helper thread", "nothing is recorded")
    equal("files", list(where.iterdir()), [])


run()
