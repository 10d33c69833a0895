#!/bin/sh
# `make demo`: from a fresh checkout to a report of a real PyTorch training, without a GPU.
# Environment: O, TORCH, PYTHON, MAKE.
set -eu
: "${O:=build}" "${TORCH:=2.15.0}" "${PYTHON:=python3}" "${MAKE:=make}"
export O TORCH PYTHON MAKE
sh scripts/set-up.sh
$MAKE --no-print-directory O="$O" TORCH="$TORCH" PYTHON="$PYTHON" torch
trace=$O/demo.gst
show() {
	printf '\n$ %s\n' "$*"
	"$@"
}
show "$O/bin/gpushim" dryrun --gpu rtx4090 -o "$trace" -- "$O/torch/bin/python" scripts/demo_train.py
show "$O/bin/gpushim" report "$trace"
