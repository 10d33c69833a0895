#!/bin/sh
# `make check`: install what is missing, build everything, run every test.  Environment: O, TORCH,
# PYTHON, MAKE; CHECK_ONLY=PATTERN runs only the tests whose path contains it.
set -eu
: "${O:=build}" "${TORCH:=2.15.0}" "${PYTHON:=python3}" "${MAKE:=make}"
export O TORCH PYTHON MAKE
sh scripts/set-up.sh
$MAKE --no-print-directory O="$O" -j"$(nproc 2>/dev/null || echo 2)" tests-build
$MAKE --no-print-directory O="$O" TORCH="$TORCH" PYTHON="$PYTHON" torch ||
	echo "check: no PyTorch: the tests that need it are skipped" >&2
tests=$(find "$O/tests" -maxdepth 1 -type f -perm -u+x \( -name 'test_*' -o -name 'fuzz_*' \) | sort)
tests="scripts/check-tree.sh $tests $(ls tests/integration/*.sh tests/integration/test_*.py 2>/dev/null)"
wanted=
for test in $tests; do
	case $test in
	*${CHECK_ONLY:-}*) wanted="$wanted $test" ;;
	esac
done
exec sh scripts/run-tests.sh "$O" check $wanted
