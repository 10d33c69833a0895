#!/bin/sh
# Run test programs that print TAP, show what failed, and end with 'N passed, N failed, N skipped'.
# usage: run-tests.sh BUILD_FOLDER SUITE PROGRAM...
#
# A program that exits 77 is skipped whole; one that fails without a `not ok` line, or runs no test
# at all, counts as one failure.  TEST_TIMEOUT (seconds, 900) bounds each program.
set -u
build=$1 suite=$2
shift 2
export O="$build"
logs=$build/test-logs/$suite
rm -rf "$logs"
mkdir -p "$logs"
for program; do
	name=$(basename "$program")
	start=$(date +%s)
	case $program in
	*.sh) set -- sh "$program" ;;
	*.py) set -- "${PYTHON:-python3}" "$program" ;;
	*) set -- "$program" ;;
	esac
	timeout -k 10 "${TEST_TIMEOUT:-900}" "$@" >"$logs/$name.tap" 2>"$logs/$name.err" </dev/null
	status=$?
	awk -v name="$name" -v status=$status -v seconds=$(($(date +%s) - start)) '
		/^ok .*# SKIP/ { skipped++; next }
		/^ok / { passed++ }
		/^not ok / { failed++ }
		END {
			if (status == 77 && !passed && !failed) { skipped += !skipped; status = 0 }
			if (status && !failed) { failed++; print "not ok - " name " ended with status " status > "/dev/stderr" }
			if (!passed && !failed && !skipped) { failed++; print "not ok - " name " ran no test" > "/dev/stderr" }
			printf "%d %d %d %-32s %4d passed %3d failed %3d skipped %5d s\n", passed, failed, skipped, name, passed, failed, skipped, seconds
		}' "$logs/$name.tap" >>"$logs/summary" 2>>"$logs/$name.err"
	tail -n 1 "$logs/summary" | cut -d ' ' -f 4-
	if tail -n 1 "$logs/summary" | grep -qv '^[0-9]* 0 '; then
		grep -B 8 '^not ok' "$logs/$name.tap" | sed 's/^/    /'
		tail -n 15 "$logs/$name.err" | sed 's/^/    /'
	fi
done
[ -e "$logs/summary" ] || : >"$logs/summary"
awk '{ p += $1; f += $2; s += $3 } END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }' "$logs/summary"
