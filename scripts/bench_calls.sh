#!/bin/sh
# What the recorder adds to single calls and to the memory of a process, on the stand-in GPU, with a
# small C program.  Environment: O (build).
set -u
: "${O:=build}"
O=$(cd "$O" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
run() { # RECORDER_OR_EMPTY RECORD MODE
	(
		cd "$folder" || exit 1
		[ -z "$2" ] || export GPUSHIM_RECORD="$2"
		GPUSHIM_DRYRUN_DEVICE='name=bench;total=25769803776;context=0' GPUSHIM_STACKS=none \
			LD_LIBRARY_PATH="$O/lib/gpushim/dryrun" LD_PRELOAD="$1" "$O/tests/bench_host" "$3"
	)
}
run "$O/lib/libgpushim.so" '' calls
run "$O/lib/libgpushim.so" memory filtered
resident() { # RECORDER_OR_EMPTY: KiB, smallest, median and largest of five runs
	for _ in 1 2 3 4 5; do
		run "$1" '' memory
	done | sed -n 's/^resident: \([0-9]*\) KiB/\1/p' | sort -n
}
without=$(resident '' | sed -n 3p)
resident "$O/lib/libgpushim.so" | awk -v without="$without" '
	{ kib[NR] = $1 - without }
	END { printf "resident memory of the recorder: %.1f MiB (%.1f to %.1f in %d runs)\n", kib[3] / 1024, kib[1] / 1024, kib[NR] / 1024, NR }'
