# SPDX-License-Identifier: Apache-2.0
"""What the thin libraries answer when they are called without PyTorch.  usage: libraries.py FOLDER; TAP

FOLDER is that of the stand-in's libraries.  Started by start.sh, with a state file (SHARED).
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import threading

FOLDER = pathlib.Path(sys.argv[1])
TABLE = pathlib.Path(__file__).resolve().parents[3] / "shim/dryrun/imports.h"
CASES = []
Pointer = ctypes.c_void_p


def case(function):
    CASES.append(function)
    return function


def library(name):
    return ctypes.CDLL(name)


def imports(name):
    rows = re.search(rf"#define GD_IMPORTS_{name}\(X\)((?:.*\\\n)*.*)", TABLE.read_text()).group(1)
    return re.findall(r"X\((\w+)\)", rows)


def written(path):
    """Functions of a library that are more than a refusal: their symbols are not weak."""
    listing = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[2].split("@")[0] for line in listing.splitlines() if line.split()[1] == "T"}


def use_device():
    """Open the device as a program does that allocates 3 MiB on it."""
    driver = library("libcuda.so.1")
    context, address = Pointer(), Pointer()
    assert driver.cuInit(0) == 0
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert driver.cuCtxSetCurrent(context) == 0
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(3 << 20)) == 0
    return driver, address


@case
def nvml_before_its_start():
    nvml, count, handle = library("libnvidia-ml.so.1"), ctypes.c_uint(7), Pointer()
    assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 1 and count.value == 7
    assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 1
    assert nvml.nvmlInit_v2() == 0
    assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0 and count.value == 1
    assert nvml.nvmlDeviceGetHandleByIndex_v2(1, ctypes.byref(handle)) == 2
    assert nvml.nvmlDeviceGetUUID(Pointer(64), ctypes.create_string_buffer(96), 96) == 2


class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("instance", ctypes.c_uint), ("compute", ctypes.c_uint)]


def nvml_device():
    nvml, handle = library("libnvidia-ml.so.1"), Pointer()
    assert nvml.nvmlInit_v2() == 0
    assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0
    return nvml, handle


@case
def nvml_memory_and_processes():
    nvml, handle = nvml_device()
    memory, list_, count = Memory(), (Process * 4)(), ctypes.c_uint(4)
    assert nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0
    assert memory.used == 0 and memory.free == memory.total, "nobody has used the device"
    driver, address = use_device()
    assert nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0
    assert memory.used == 3 << 20 and memory.used + memory.free == memory.total
    assert nvml.nvmlDeviceGetComputeRunningProcesses_v3(handle, ctypes.byref(count), list_) == 0
    assert (count.value, list_[0].pid, list_[0].used) == (1, os.getpid(), 3 << 20)
    assert list_[0].instance == list_[0].compute == 0xFFFFFFFF
    count.value = 0
    assert nvml.nvmlDeviceGetComputeRunningProcesses_v3(handle, ctypes.byref(count), None) == 7 and count.value == 1
    assert nvml.nvmlDeviceGetComputeRunningProcesses_v3(Pointer(64), ctypes.byref(count), list_) == 2
    assert driver.cuMemFree_v2(address) == 0


@case
def nvml_forgets_the_dead():
    code = "import ctypes, os; n = ctypes.CDLL('libcuda.so.1'); p = ctypes.c_void_p(); r = n.cuInit(0) or " \
        "n.cuDevicePrimaryCtxRetain(ctypes.byref(p), 0) or n.cuCtxSetCurrent(p) or " \
        "n.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(5 << 20)); os._exit(r)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    nvml, handle = nvml_device()
    memory = Memory()
    assert nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0
    assert memory.used == 0, memory.used


@case
def nvml_without_a_shared_state():
    """What others use is not known then, so it is not told."""
    kept = os.environ.pop("GPUSHIM_DRYRUN_SHARED")
    ctypes.CDLL(None).unsetenv(b"GPUSHIM_DRYRUN_SHARED")
    try:
        nvml, handle = nvml_device()
        count = ctypes.c_uint(4)
        assert nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(Memory())) == 3
        assert nvml.nvmlDeviceGetComputeRunningProcesses_v3(handle, ctypes.byref(count), (Process * 4)()) == 3
    finally:
        os.environ["GPUSHIM_DRYRUN_SHARED"] = kept


@case
def a_thread_without_context_gets_one():
    """A library may be the first that uses the device in a thread, as in PyTorch's backward threads."""
    driver, _ = use_device()
    cublas, handle, stream, results = library("libcublas.so.12"), Pointer(), Pointer(), []
    assert cublas.cublasCreate_v2(ctypes.byref(handle)) == 0
    assert driver.cuStreamCreate(ctypes.byref(stream), 0) == 0

    def multiply():
        context, none = Pointer(), Pointer()
        assert driver.cuCtxGetCurrent(ctypes.byref(context)) == 0 and not context
        status = cublas.cublasSgemm_v2(handle, 0, 0, 1, 1, 1, none, none, 1, none, 1, none, none, 1)
        results.append((status, driver.cuCtxGetCurrent(ctypes.byref(context)), bool(context)))

    for chosen in (Pointer(), stream):
        assert cublas.cublasSetStream_v2(handle, chosen) == 0
        thread = threading.Thread(target=multiply)
        thread.start()
        thread.join()
    assert results == [(0, 0, True)] * 2, results


@case
def nccl_refuses():
    """Version and texts are answered; whatever would communicate says that it cannot."""
    nccl, version = library("libnccl.so.2"), ctypes.c_int()
    nccl.ncclGetErrorString.restype = ctypes.c_char_p
    assert nccl.ncclGetVersion(ctypes.byref(version)) == 0 and version.value > 20000
    refused = set(imports("nccl")) - written(FOLDER / "libnccl.so.2")
    assert len(refused) > 40, refused
    for name in sorted(refused):
        assert getattr(nccl, name)(None, None, None, None, None, None) == 3, name
    assert nccl.ncclGetErrorString(3) == b"internal error"


def main():
    print(f"1..{len(CASES)}")
    failed = 0
    for number, function in enumerate(CASES, 1):
        sys.stdout.flush()
        child = os.fork()  # each case sees libraries that nobody has called yet
        if child == 0:
            try:
                function()
                os._exit(0)
            except BaseException as error:  # noqa: BLE001
                line = error.__traceback__.tb_next.tb_lineno if error.__traceback__.tb_next else error.__traceback__.tb_lineno
                print(f"# line {line}: {type(error).__name__} {error}", flush=True)
                os._exit(1)
        status = os.waitpid(child, 0)[1]
        failed += status != 0
        print(f"{'not ok' if status else 'ok'} {number} - {function.__name__.replace('_', ' ')}")
    return failed > 0


sys.exit(main())
