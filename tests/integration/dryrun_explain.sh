#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `gpushim dryrun --explain`: who asked for what and got which library.  Environment: O, CC.  TAP.
. "$(dirname "$0")/stand_in/rig.sh"
: "${CC:=cc}"
open=$O/tests/open_library
needs "$open" "$open is not built (make tests-build)"

explain() { # PROGRAM [ARGS]
	TMPDIR=$work "$O/bin/gpushim" dryrun --no-record --explain --memory 1G -- "$@" >"$work/out" 2>"$work/err"
}
says() { # TEXT PATTERN: a line of the explanation, blanks made one
	number=$((number + 1))
	tr -s ' ' <"$work/err" | grep -q "$2" && echo "ok $number - $1" && return
	failed=1
	echo "not ok $number - $1: no line like $2"
	sed 's/^/# /' "$work/err"
}
silent() { # TEXT PATTERN
	number=$((number + 1))
	tr -s ' ' <"$work/err" | grep -q "$2" || { echo "ok $number - $1" && return; }
	failed=1
	echo "not ok $number - $1: a line like $2"
}

runtime=$(ls "$home"/cu*/libcudart.so.* | head -n 1)
name=$(basename "$runtime")
echo "int gpushim_nothing;" | $CC -shared -fPIC -x c -o "$work/$name" -Wl,-soname,"$name" -
echo "int gpushim_nothing;" | $CC -shared -fPIC -x c -o "$work/innocent.so" -Wl,-soname,libcublas.so.13 -
echo "int main(void) { return 0; }" | $CC -Wl,--no-as-needed -o "$work/linked" -x c - -x none "$work/$name"
cat >"$work/starts.c" <<'END'
#include <dlfcn.h>
int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned) = driver ? (int (*)(unsigned))dlsym(driver, "cuInit") : 0;
	return init ? init(0) : 1;
}
END
$CC -o "$work/starts" "$work/starts.c" -ldl

explain "$work/linked"
says "the folder and the releases that were built" "stand-in libraries $home, for CUDA [1-9]"
says "a setting of the launcher" "set by gpushim GPUSHIM_DRYRUN_DEVICE=total=1073741824;"
silent "nothing of the run's own books" "SHARED\|TRACE_LIST"
says "the process" "process [0-9]*: $work/linked"
says "the release and how it was found" "CUDA release [0-9]*, since $name is needed by the program"
says "what a program was linked with" "$name cu[0-9]*/$name; needed by the program"
CUDA_VISIBLE_DEVICES=0 explain "$work/starts"
says "a setting of the user" "from the environment CUDA_VISIBLE_DEVICES=0"
says "what a program opened" "libcuda.so.1 libcuda.so.1; opened by the program"
says "that it started the device" "device started: .*, 1 visible to the process"
says "that no runtime was asked for" "CUDA release unknown: nothing asked for libcudart.so"
explain sh -c "$work/starts; $work/starts"
says "each process" "process [0-9]*: $work/starts"
explain "$open" libnvblas.so.13
says "what was not found" "libnvblas.so.13 not found: there is no stand-in of it; opened by"
explain "$open" "$work/innocent.so"
says "what was refused" "refused $work/innocent.so: a real NVIDIA library"
explain true
says "that nobody asked" "processes none asked for a library of NVIDIA"
number=$((number + 1))
left=$(find "$work" -name "gpushim-*")
[ -z "$left" ] && echo "ok $number - no file is left behind" || { failed=1 && echo "not ok $number - left behind: $left"; }
end
