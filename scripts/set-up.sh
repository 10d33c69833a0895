#!/bin/sh
# What `make demo` and `make check` begin with: install what is missing, find or fetch the CUDA
# headers, build everything.  Environment: O, MAKE.
set -eu
: "${O:=build}" "${MAKE:=make}"
jobs=$(nproc 2>/dev/null || echo 2)
sh scripts/packages.sh
$MAKE --no-print-directory O="$O" "$O/config.mk"
if ! grep -q '^CUDA_INCLUDE := .' "$O/config.mk" || ! grep -q '^CUPTI_INCLUDE := .' "$O/config.mk"; then
	sh scripts/headers.sh
	$MAKE --no-print-directory O="$O" reconfigure
fi
$MAKE --no-print-directory O="$O" -j"$jobs" all
