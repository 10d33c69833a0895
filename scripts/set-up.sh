#!/bin/sh
# What `make demo` and `make check` begin with: install what is missing, fetch the CUDA headers
# that are not there, build everything.  Environment: O, MAKE.
set -eu
: "${O:=build}" "${MAKE:=make}"
jobs=$(nproc 2>/dev/null || echo 2)
sh scripts/packages.sh
$MAKE --no-print-directory O="$O" "$O/config.mk"
# A PyTorch runs on the runtime library of its own CUDA major, and we cannot know which will be used.
missing=$($MAKE -s --no-print-directory O="$O" missing-majors)
grep -q '^CUPTI_INCLUDE := .' "$O/config.mk" || missing="13 12 11"
if [ -n "$missing" ]; then
	MAJORS=$missing sh scripts/headers.sh ||
		echo "set-up: without headers of CUDA $missing; PyTorch built with it will not find its runtime library" >&2
	$MAKE --no-print-directory O="$O" reconfigure
fi
$MAKE --no-print-directory O="$O" -j"$jobs" all
