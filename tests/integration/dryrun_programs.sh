#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The programs of `make matrix` that need nothing but PyTorch, recorded once each.  Environment: O.  TAP.
set -u
: "${O:=build}"
[ -x "$O/torch/bin/python" ] || { echo "1..0 # skipped: no PyTorch (make torch)" && exit 77; }
[ -e "$O/lib/gpushim/dryrun/libcuda.so.1" ] || { echo "1..0 # skipped: the stand-in GPU is not built (make headers)" && exit 77; }
O=$O exec "$O/torch/bin/python" "$(dirname "$0")/../matrix/run_matrix.py" --fast
