#!/bin/sh
# Start a program on the stand-in GPU without the launcher.  usage: start.sh PROGRAM [ARGS]
# Environment: O, DEVICE (facts for GPUSHIM_DRYRUN_DEVICE), SHARED (state file, may be missing).
set -eu
home=$(cd "${O:-build}/lib/gpushim/dryrun" && pwd)
export GPUSHIM_DRYRUN_DEVICE="${DEVICE:-name=Stand-in;total=8589934592;context=0;cc=8.9}"
[ -n "${SHARED:-}" ] && export GPUSHIM_DRYRUN_SHARED="$SHARED"
export LD_AUDIT="$home/libgpushim-audit.so" LD_PRELOAD="$home/libgpushim-zero.so${LD_PRELOAD:+:$LD_PRELOAD}"
exec "$@"
