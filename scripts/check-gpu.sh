#!/bin/sh
# `make check-gpu`: the checks that need a real NVIDIA GPU, driver and PyTorch.  Exit 77 without.
# Environment: O; PYTHON_GPU (python3): an interpreter with a CUDA build of PyTorch.
set -u
: "${O:=build}" "${PYTHON_GPU:=python3}"
if ! ls /dev/nvidia0 >/dev/null 2>&1; then
	echo "check-gpu: no NVIDIA device here"
	exit 77
fi
exec sh scripts/run-tests.sh "$O" gpu tests/gpu/*.sh tests/gpu/*.py
