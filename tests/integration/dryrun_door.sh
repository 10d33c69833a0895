#!/bin/sh
# The audit library: NVIDIA's names lead to the stand-ins or nowhere, other names are left alone.
# Environment: O, CC.
. "$(dirname "$0")/stand_in/rig.sh"
: "${CC:=cc}"
open=$O/tests/open_library
needs "$open" "$open is not built (make tests-build)"

# expect TEXT STATUS OUTPUT COMMAND...: OUTPUT is a pattern for stdout and stderr together
expect() {
	text=$1 want=$2 pattern=$3
	shift 3
	number=$((number + 1))
	LD_AUDIT=$home/libgpushim-audit.so "$@" >"$work/out" 2>&1
	got=$?
	# shellcheck disable=SC2254 # a pattern is wanted
	case $(cat "$work/out") in
	$pattern) [ $got = "$want" ] && echo "ok $number - $text" && return ;;
	esac
	failed=1
	echo "not ok $number - $text"
	echo "# exit $got, wanted $want; output: $(head -c 300 "$work/out")"
}

# library FILE SONAME: an empty library
library() {
	echo "int gpushim_nothing;" | $CC -shared -fPIC -x c -o "$work/$1" -Wl,-soname,"$2" -
}
library libcurl-own.so libcurl-own.so
library libnvblas.so.13 libnvblas.so.13
library libcublas.so.13 libcublas.so.13
library innocent.so libcublas.so.13
echo "int main(void) { return 0; }" | $CC -Wl,--no-as-needed -Wl,--disable-new-dtags -Wl,-rpath,"$work" \
	-o "$work/linked" -x c - -x none "$work/libcublas.so.13"

expect "a program without CUDA runs as ever" 7 "hello" sh -c 'echo hello; exit 7'
expect "a name of NVIDIA leads to the stand-in" 0 "$home/libcublas.so.13" "$open" libcublas.so.13
expect "so does a full path to another one" 0 "$home/libcublas.so.13" "$open" "$work/libcublas.so.13"
expect "the driver is found without a version" 0 "$home/libcuda.so*" "$open" libcuda.so
expect "what there is no stand-in for is not found" 3 "" "$open" "$work/libnvblas.so.13"
expect "a runtime that was not built is told" 3 "*no stand-in for libcudart.so.99 was built*" "$open" "$work/libcudart.so.99"
expect "names that only look alike are left alone" 0 "$work/libcurl-own.so" "$open" "$work/libcurl-own.so"
expect "a real library under another name ends the program" 1 "*innocent.so is a real NVIDIA library*" "$open" "$work/innocent.so"
expect "the stand-in wins over DT_RPATH" 0 "*" "$work/linked"
number=$((number + 1))
if LD_AUDIT=$home/libgpushim-audit.so LD_TRACE_LOADED_OBJECTS=1 "$work/linked" 2>&1 | grep -q "$home/libcublas.so.13"; then
	echo "ok $number - and is what gets mapped"
else
	failed=1
	echo "not ok $number - and is what gets mapped"
fi

# Wheels bring copies of the runtime along under names of their own, and need its version by those.
name=$(cd "$home" && ls -d cu*/libcudart.so.* | head -n 1)
name=${name#*/}
module() { # NAME FILE: a library that needs this copy of the runtime
	echo "$name { global: *; };" >"$work/copy.map"
	echo "int cudaRuntimeGetVersion(int *out) { return 1; }" |
		$CC -shared -fPIC -x c -o "$work/$2" -Wl,-soname,"$2" -Wl,--version-script="$work/copy.map" -
	echo "int cudaRuntimeGetVersion(int *); int $1(void) { int v = 0; return cudaRuntimeGetVersion(&v) || v <= 0; }" |
		$CC -shared -fPIC -o "$work/$1.so" -Wl,-rpath,"$work" -x c - -x none "$work/$2"
}
module plain "$name"
module dotted "${name%%.*}.3eda8113.${name#*.}"
module dashed "${name%%.*}-d0da41ae.${name#*.}"
program() { # MODULE...: calls them all
	calls=0
	modules=
	for each; do calls="$calls || $each()" modules="$modules $work/$each.so"; done
	# shellcheck disable=SC2086 # one word a module
	echo "int plain(void), dotted(void), dashed(void); int main(void) { return $calls; }" |
		$CC -o "$work/program" -Wl,-rpath-link,"$work" -x c - -x none $modules
}
program dashed
expect "a copy in a wheel is the stand-in" 0 "" "$work/program"
program plain dotted dashed
expect "so are two beside the plain one" 0 "" "$work/program"
program dotted dashed
expect "so are two alone" 0 "" "$work/program"
expect "so is a full path" 0 "$home/cu*/$name" "$open" "$work/${name%%.*}-d0da41ae.${name#*.}"
library libcudart-0123456.so.13 libcudart-0123456.so.13
expect "another addition to a name is not a wheel's" 0 "$work/libcudart-0123456.so.13" "$open" "$work/libcudart-0123456.so.13"

for runtime in "$home"/cu*/libcudart.so.*; do
	name=$(basename "$runtime")
	expect "$name is found in its folder" 0 "$runtime" "$open" "$name"
	number=$((number + 1))
	if readelf -V "$runtime" | grep -q "Name: $name"; then
		echo "ok $number - $name has its version node"
	else
		failed=1
		echo "not ok $number - $name has its version node"
	fi
done
end
