#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The programs of `make matrix` that need nothing but PyTorch, recorded once each.  Environment: O.  TAP.
. "$(dirname "$0")/stand_in/rig.sh"
needs "$O/torch/bin/python" "no PyTorch (make torch)"
O=$O "$O/torch/bin/python" "$(dirname "$0")/../matrix/run_matrix.py" --fast
