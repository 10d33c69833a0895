#!/bin/sh
# `make check-gpu`: the checks that need a real NVIDIA GPU and driver.  Exit 77 where there is none.
#
# The rules of NVIDIA's documentation that the stand-in is tested with (tests/dryrun/, RULE) hold on
# the real driver, too: the same test programs run with it, and with a real runtime of the same CUDA
# release where one is found.  What is about the stand-in alone skips itself.
#
# Environment: O; PYTHON_GPU (python3), an interpreter with a CUDA build of PyTorch, whose runtime is
# tried; REAL_LIBCUDA, the driver's file where the linker does not list it.
set -u
: "${O:=build}" "${PYTHON_GPU:=python3}"

listed() { # SONAME: its path in the linker's cache
	{ ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | sed -n "s|^\t$1 .*x86-64.*=> ||p; s|^\t$1 .*AArch64.*=> ||p" | head -n 1
}
found_driver() {
	for file in "${REAL_LIBCUDA:-}" "$(listed libcuda.so.1)" /usr/lib/wsl/lib/libcuda.so.1 /usr/local/nvidia/lib64/libcuda.so.1; do
		[ -n "$file" ] && [ -r "$file" ] && echo "$file" && return
	done
}
found_runtime() { # SONAME
	file=$(listed "$1")
	[ -n "$file" ] || file=$("$PYTHON_GPU" -c 'import glob, sys
found = [f for p in sys.path for f in glob.glob(p + "/nvidia/*/lib/" + sys.argv[1])]
print(found[0] if found else "")' "$1" 2>/dev/null)
	echo "$file"
}

if ! ls /dev/nvidia0 /dev/dxg /dev/nvhost-gpu 2>/dev/null | grep -q .; then
	echo "check-gpu: no NVIDIA device here: skipped"
	exit 77
fi
driver=$(found_driver)
[ -n "$driver" ] || { echo "check-gpu: no libcuda.so.1 found: skipped (REAL_LIBCUDA=FILE names one)" && exit 77; }
real=$(mktemp -d)
trap 'rm -rf "$real"' EXIT INT TERM
ln -s "$driver" "$real/libcuda.so.1"
tests=$(ls "$O"/tests/test_driver_* 2>/dev/null | grep -v '\.d$')
for runtime in libcudart.so.13 libcudart.so.12 libcudart.so.11.0; do
	major=${runtime#libcudart.so.}
	file=$(found_runtime "$runtime")
	[ -n "$file" ] && ln -s "$file" "$real/$runtime" &&
		tests="$tests $(ls "$O"/tests/test_runtime_*_cu"${major%.*}" 2>/dev/null)"
done
echo "check-gpu: driver $driver, runtimes: $(cd "$real" && ls libcudart* 2>/dev/null | tr '\n' ' ')"
export GPUSHIM_TEST_REAL=1 LD_LIBRARY_PATH="$real${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# shellcheck disable=SC2086 # one word a program
sh scripts/run-tests.sh "$O" gpu $tests
