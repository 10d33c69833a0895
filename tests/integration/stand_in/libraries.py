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
def what_a_library_lacks_is_refused():
    cublas, refused = library("libcublas.so.13"), set(imports("cublas")) - written(FOLDER / "libcublas.so.13")
    assert len(refused) > 5, refused
    for name in sorted(refused):
        assert getattr(cublas, name)(None, None, None, None, None, None) == 15, name


@case
def nccl_version_and_texts():
    nccl, version = library("libnccl.so.2"), ctypes.c_int()
    nccl.ncclGetErrorString.restype = ctypes.c_char_p
    assert nccl.ncclGetVersion(ctypes.byref(version)) == 0 and version.value > 20000
    assert nccl.ncclGetErrorString(3).startswith(b"internal error")


def on_device(driver, numbers):
    data, address = (ctypes.c_int * len(numbers))(*numbers), Pointer()
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4 * len(numbers) + 4)) == 0
    assert not numbers or driver.cuMemcpyHtoD_v2(address, data, ctypes.c_size_t(ctypes.sizeof(data))) == 0
    return address


def from_device(driver, address, count):
    data = (ctypes.c_int * count)()
    assert driver.cuMemcpyDtoH_v2(data, address, ctypes.c_size_t(ctypes.sizeof(data))) == 0
    return list(data)


def sparse_start(name):
    driver, _ = use_device()
    cusparse, handle = library(name), Pointer()
    assert cusparse.cusparseCreate(ctypes.byref(handle)) == 0
    return driver, cusparse, handle


def sparse_csr(driver, cusparse, rows, columns, offsets, indices, base=0):
    """A descriptor of float32 with 32-bit indices."""
    out, values = Pointer(), on_device(driver, [0] * len(indices))
    size = [ctypes.c_int64(n) for n in (rows, columns, len(indices))]
    assert cusparse.cusparseCreateCsr(ctypes.byref(out), *size, on_device(driver, offsets), on_device(driver, indices), values, 2, 2, base, 0) == 0
    return out


def sparse_product(driver, cusparse, handle, a, b, rows, columns):
    """(status of the first step that fails or 0, offsets, indices)"""
    plan, offsets, one = Pointer(), on_device(driver, [0] * (rows + 1)), ctypes.c_float(1)
    c, bytes_, none = Pointer(), ctypes.c_size_t(), Pointer()
    assert cusparse.cusparseCreateCsr(ctypes.byref(c), ctypes.c_int64(rows), ctypes.c_int64(columns), ctypes.c_int64(0), offsets, none, none, 2, 2, 0, 0) == 0
    assert cusparse.cusparseSpGEMM_createDescr(ctypes.byref(plan)) == 0
    common = (handle, 0, 0, ctypes.byref(one), a, b, ctypes.byref(one), c, 0, 0, plan)
    for step in (cusparse.cusparseSpGEMM_workEstimation, cusparse.cusparseSpGEMM_compute):
        for area in (none, on_device(driver, [0] * 4096)):
            status = step(*common, ctypes.byref(bytes_), area)
            if status:
                return status, None, None
    size = [ctypes.c_int64() for _ in range(3)]
    assert cusparse.cusparseSpMatGetSize(c, *map(ctypes.byref, size)) == 0
    count = size[2].value
    indices = on_device(driver, [0] * count)
    assert cusparse.cusparseCsrSetPointers(c, offsets, indices, indices) == 0
    assert cusparse.cusparseSpGEMM_copy(*common) == 0
    assert cusparse.cusparseSpGEMM_destroyDescr(plan) == 0 and cusparse.cusparseDestroySpMat(c) == 0
    return 0, from_device(driver, offsets, rows + 1), from_device(driver, indices, count)


@case
def sparse_products_are_counted():
    for name in ("libcusparse.so.12", "libcusparse.so.11"):
        driver, cusparse, handle = sparse_start(name)
        a = sparse_csr(driver, cusparse, 2, 3, [1, 3, 4], [3, 1, 2], base=1)  # x.x / .x.
        b = sparse_csr(driver, cusparse, 3, 4, [0, 2, 2, 4], [1, 3, 3, 0])  # .x.x / .... / x..x
        assert sparse_product(driver, cusparse, handle, a, b, 2, 4) == (0, [0, 3, 3], [0, 1, 3])
        assert sparse_product(driver, cusparse, handle, b, a, 3, 3)[0] == 3, "sizes do not match"


@case
def sparse_products_of_what_is_no_matrix_are_refused():
    driver, cusparse, handle = sparse_start("libcusparse.so.12")
    good = sparse_csr(driver, cusparse, 2, 2, [0, 1, 2], [0, 1])
    for offsets, indices in (([0, 2, 1], [0, 1]), ([0, 1, 1], [0, 1]), ([1, 1, 2], [0, 1]), ([0, 1, 2], [0, 2]), ([0, 1, 2], [-1, 0]), ([0, 2, 2], [1, 1])):
        bad = sparse_csr(driver, cusparse, 2, 2, offsets, indices)
        for pair in ((good, bad), (bad, good)):
            assert sparse_product(driver, cusparse, handle, *pair, 2, 2)[0] == 10, (offsets, indices)
    assert sparse_product(driver, cusparse, handle, good, good, 2, 2)[0] == 0
    out = Pointer()
    assert cusparse.cusparseCreateCsr(ctypes.byref(out), *map(ctypes.c_int64, (2, 2, 5)), None, None, None, 2, 2, 0, 0) == 3
    assert cusparse.cusparseCreateCsr(ctypes.byref(out), *map(ctypes.c_int64, (2, 2, 2)), None, None, None, 2, 2, 0, 77) == 3


@case
def sparse_products_and_captures():
    """The size is read back from the device, which a capture forbids."""
    driver, cusparse, handle = sparse_start("libcusparse.so.12")
    stream, graph = Pointer(), Pointer()
    a = sparse_csr(driver, cusparse, 2, 2, [0, 1, 2], [0, 1])
    assert driver.cuStreamCreate(ctypes.byref(stream), 1) == 0 and cusparse.cusparseSetStream(handle, stream) == 0
    assert driver.cuStreamBeginCapture_v2(stream, 2) == 0
    assert sparse_product(driver, cusparse, handle, a, a, 2, 2)[0] == 6
    assert driver.cuStreamEndCapture(stream, ctypes.byref(graph)) == 901


@case
def rows_become_offsets():
    driver, cusparse, handle = sparse_start("libcusparse.so.12")
    offsets = on_device(driver, [7] * 5)
    for rows, base, wanted in (([0, 0, 2], 0, [0, 2, 2, 3, 3]), ([2, 4], 1, [1, 1, 2, 2, 3]), ([], 0, [0] * 5)):
        assert cusparse.cusparseXcoo2csr(handle, on_device(driver, rows), len(rows), 4, offsets, base) == 0
        assert from_device(driver, offsets, 5) == wanted, (rows, base)
    for rows in ([2, 1], [4], [-1]):  # no rows of such a matrix: what comes of them is not known
        assert cusparse.cusparseXcoo2csr(handle, on_device(driver, rows), len(rows), 4, offsets, 0) == 0
        assert from_device(driver, offsets, 5) == [0] * 5, rows


@case
def sparse_sums_are_counted():
    driver, cusparse, handle = sparse_start("libcusparse.so.11")
    one, two, description, one_based = ctypes.c_float(1), Pointer(), Pointer(), Pointer()
    assert cusparse.cusparseCreateMatDescr(ctypes.byref(description)) == cusparse.cusparseCreateMatDescr(ctypes.byref(one_based)) == 0
    assert cusparse.cusparseSetMatIndexBase(one_based, 1) == 0
    a = (description, 2, on_device(driver, [0, 1, 2]), on_device(driver, [0, 2]))
    b = (one_based, 3, on_device(driver, [1, 3, 4]), on_device(driver, [3, 1, 1]))
    offsets, count, indices, values = on_device(driver, [0] * 3), ctypes.c_int(), on_device(driver, [0] * 4), on_device(driver, [0] * 4)
    assert cusparse.cusparseXcsrgeam2Nnz(handle, 2, 3, *a, *b, description, offsets, ctypes.byref(count), values) == 0
    assert count.value == 4 and from_device(driver, offsets, 3) == [0, 2, 4]
    whole = lambda m: (m[0], m[1], values, m[2], m[3])  # noqa: E731
    assert cusparse.cusparseScsrgeam2(handle, 2, 3, ctypes.byref(one), *whole(a), ctypes.byref(one), *whole(b), description, values, offsets, indices, values) == 0
    assert from_device(driver, indices, 4) == [0, 2, 0, 2]
    assert cusparse.cusparseSetPointerMode(handle, 1) == 0
    assert cusparse.cusparseXcsrgeam2Nnz(handle, 2, 3, *a, *b, one_based, offsets, values, values) == 0
    assert from_device(driver, values, 1) == [4] and from_device(driver, offsets, 3) == [1, 3, 5]
    assert cusparse.cusparseXcsrgeam2Nnz(handle, 2, 3, *a, *b, two, offsets, values, values) == 3
    assert cusparse.cusparseDestroy(handle) == 0


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
