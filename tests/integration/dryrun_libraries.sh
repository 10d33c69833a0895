#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The thin libraries of the stand-in GPU, called without PyTorch.  Environment: O, PYTHON.  TAP.
. "$(dirname "$0")/stand_in/rig.sh"
: "${PYTHON:=python3}"
SHARED=$work/state O=$O sh "$here/start.sh" "$PYTHON" "$here/libraries.py" "$home"
