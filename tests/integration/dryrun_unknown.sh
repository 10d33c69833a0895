#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program of tomorrow wants functions that no stand-in library has: it starts, only their calls
# fail, and the run ends with their names.  Environment: O, CC.  TAP.
. "$(dirname "$0")/stand_in/rig.sh"
: "${CC:=cc}"

run() { # PROGRAM [ARGS]: its output in $work/out, what the launcher says in $work/err
	"$O/bin/gpushim" dryrun --no-record -- "$@" >"$work/out" 2>"$work/err"
}

# What tomorrow's libraries look like to a linker: FILE NODE FUNCTION...
library() {
	file=$1 node=$2
	shift 2
	echo "$node { global: *; };" >"$work/map"
	for function; do echo "int $function(void) { return -1; }"; done |
		$CC -shared -fPIC -x c -o "$work/$file" -Wl,-soname,"$file" -Wl,--version-script="$work/map" -
}
runtime=$(basename "$(ls "$home"/cu*/libcudart.so.* | head -n 1)")
library libcublas.so.12 libcublas.so.12 cublasTomorrow cublasNeverCalled cublasGetVersion_v2
library libcublasLt-0123abcd.so.12 libcublasLt.so.12 cublasLtTomorrow
library libcudnn.so.9 libcudnn.so.9 cudnnTomorrow cudnnTomorrowString
library "$runtime" "$runtime" cudaTomorrow
library libnccl.so.2 '' ncclTomorrow
library libcuda.so.1 '' cuTomorrow
cat >"$work/uses.c" <<'END'
#include <stdio.h>
int cublasTomorrow(void), cublasNeverCalled(void), cublasGetVersion_v2(void *, int *), cublasLtTomorrow(void);
int cudnnTomorrow(void), cudaTomorrow(void), ncclTomorrow(void), cuTomorrow(void);
const char *cudnnTomorrowString(void);
int (*by_address)(void) = cudaTomorrow;
int use(int all)
{
	int version = 0, known = cublasGetVersion_v2(0, &version);
	printf("%d %d", known, version > 0);
	if (all)
		printf(" %d %d %d %d %d %d %d", cublasTomorrow(), cublasLtTomorrow(), cudnnTomorrow(), cudaTomorrow(),
		    by_address(), ncclTomorrow(), cuTomorrow());
	if (all > 1)
		printf(" %s %d", cudnnTomorrowString(), cublasNeverCalled());
	puts("");
	return 0;
}
#ifdef MAIN
int main(int argc, char **argv) { return use(argc - 1); }
#endif
END
wanted="$work/libcublas.so.12 $work/libcublasLt-0123abcd.so.12 $work/libcudnn.so.9 $work/$runtime $work/libnccl.so.2 $work/libcuda.so.1"
# shellcheck disable=SC2086 # one word a file
{
	$CC -shared -fPIC -o "$work/lazy.so" -Wl,-z,lazy "$work/uses.c" $wanted
	$CC -shared -fPIC -o "$work/now.so" -Wl,-z,now -Wl,-z,relro "$work/uses.c" $wanted
	$CC -DMAIN -fPIE -pie -o "$work/linked" "$work/uses.c" $wanted
	$CC -DMAIN -fno-pie -no-pie -o "$work/fixed" "$work/uses.c" $wanted
}
cat >"$work/opens.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *handle = dlopen(argv[1], RTLD_NOW);
	int (*use)(int) = handle ? (int (*)(int))dlsym(handle, "use") : 0;
	if (!use) puts(dlerror());
	return use ? use(argc - 2) : 1;
}
END
$CC -o "$work/opens" "$work/opens.c" -ldl

answers="0 1 15 15 3000 801 801 3 801"
for how in "opens $work/lazy.so" "opens $work/now.so" linked fixed; do
	# shellcheck disable=SC2086
	run "$work"/$how
	[ "$(cat "$work/out")" = "0 1" ] && [ ! -s "$work/err" ]
	tell $? "$how: it starts, and what is there works"
	# shellcheck disable=SC2086
	run "$work"/$how all
	[ "$(cat "$work/out")" = "$answers" ]
	tell $? "$how: calls are not supported, each in the words of its library"
	grep -q "cublasTomorrow (1 call)" "$work/err" && grep -q "cudaTomorrow (2 calls)" "$work/err" &&
		grep -q "cuTomorrow (1 call)" "$work/err" && ! grep -q NeverCalled "$work/err"
	tell $? "$how: the run ends with the names of what was called"
done
run "$work/linked" all more
[ "$(cat "$work/out")" = "$answers not provided by the stand-in GPU 15" ]
tell $? "what asks for a text gets one"
"$O/bin/gpushim" dryrun --no-record --explain -- "$work/linked" >"$work/out" 2>"$work/err"
tr -s ' ' <"$work/err" | grep -q 'made a stub cublasLtTomorrow of libcublasLt.so.12 for the program: no stand-in has it'
tell $? "the explanation names them, called or not"
LD_AUDIT=$home/libgpushim-audit.so "$work/linked" all more >"$work/out" 2>"$work/err"
[ "$(grep -c 'was called: the stand-in GPU does not have it' "$work/err")" = 8 ]
tell $? "without the launcher each is told once, as it is called"
end
