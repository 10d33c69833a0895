#!/bin/sh
# Raw Python stacks under every interpreter that can be found: tests/stacks/check_stacks.py.  TAP.
# Environment: O; STACK_PYTHONS, the interpreters to try instead.
set -u
: "${O:=build}"
tests=$(cd "$(dirname "$0")/.." && pwd)
O=$(cd "$O" && pwd)
if [ ! -e "$O/tests/stack_probe.so" ]; then
	echo "1..0 # SKIP not built"
	exit 77
fi
pythons=${STACK_PYTHONS:-$(ls -d "$HOME"/.pyenv/versions/3.*/bin/python3 /usr/bin/python3 \
	"$O"/torch*/bin/python /opt/python/*/bin/python3 2>/dev/null)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset LD_PRELOAD PYTHONPATH
check() { # PYTHON LIBRARY_TO_PRELOAD
	LD_PRELOAD=$2 PYTHONDONTWRITEBYTECODE=1 timeout 120 "$1" "$tests/stacks/check_stacks.py" \
		"$O/tests/stack_probe.so" "$folder" 2>"$folder/errors"
	status=$?
	if [ "$status" -ne 0 ]; then
		sed 's/^/# /' "$folder/errors" | tail -n 5
		echo "not ok - $1 ended with status $status"
	fi
}
old_c_library=$O/tests/old_c_library.so
for python in $pythons; do
	version=$("$python" -c 'import sys; print("%d%02d" % sys.version_info[:2])' 2>/dev/null) || continue
	[ "$version" -ge 308 ] || continue
	check "$python" ""
	[ -z "$old_c_library" ] || check "$python" "$old_c_library"
	old_c_library= # one interpreter is enough
done | awk '/^(not )?ok - / { sub(/ok - /, "ok " ++number " - ") }
	{ print }
	/^not ok/ { failed = 1 }
	END { print "1.." number; exit failed }'
