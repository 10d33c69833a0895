#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The thin libraries of the stand-in GPU, called without PyTorch.  Environment: O, PYTHON.  TAP.
set -u
: "${O:=build}" "${PYTHON:=python3}"
here=$(dirname "$0")/stand_in
home=$O/lib/gpushim/dryrun
[ -e "$home/libcuda.so.1" ] || { echo "1..0 # skipped: the stand-in GPU is not built (make headers)" && exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
SHARED=$work/state O=$O sh "$here/start.sh" "$PYTHON" "$here/libraries.py" "$home"
