# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# What the tests of the stand-in GPU share; they source it.  Environment: O.
# Sets O; home, the folder of the stand-in; here, this folder; work, a folder that goes away.
set -u
: "${O:=build}"
here=$(dirname "$0")/stand_in
number=0 failed=0

needs() { # FILE TEXT: nothing is tested without it
	[ -e "$1" ] && return
	echo "1..0 # skipped: $2"
	exit 77
}

tell() { # STATUS TEXT
	number=$((number + 1))
	[ "$1" = 0 ] && echo "ok $number - $2" && return
	failed=1
	echo "not ok $number - $2"
	for file in "$work/out" "$work/err"; do
		[ ! -e "$file" ] || tail -n 15 "$file" | sed 's/^/# /'
	done
}

end() {
	echo "1..$number"
	exit $failed
}

needs "$O/lib/gpushim/dryrun/libcuda.so.1" "the stand-in GPU is not built (make headers)"
home=$(cd "$O/lib/gpushim/dryrun" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
