# SPDX-License-Identifier: Apache-2.0
"""Daemon threads allocate device memory while the interpreter ends.  usage: daemon_threads.py THREADS"""
import ctypes
import sys
import threading
import time

cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
calls = 0


def deep(depth):
    return deep(depth - 1) if depth else allocate()


def allocate():
    global calls
    cuda.cuCtxSetCurrent(context)
    block = ctypes.c_ulonglong()
    while True:
        cuda.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(4096))
        cuda.cuMemFree_v2(block)
        calls += 1


assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
for _ in range(int(sys.argv[1])):
    threading.Thread(target=deep, args=(40,), daemon=True).start()
while calls < 100:
    time.sleep(0.001)
time.sleep(0.05)
