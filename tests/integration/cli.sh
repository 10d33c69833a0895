#!/bin/sh
# Exact output of the program: tests/cli/COMMAND/CASE.txt holds a command line ("$ gpushim ..."), what
# it prints (lines on stderr begin with "! ") and "= EXIT CODE".  Commands run in a folder with the
# traces of cli_samples.  TAP; cli.sh --update [PATTERN] rewrites the expectations.
set -u
: "${O:=build}"
tests=$(cd "$(dirname "$0")/../cli" && pwd)
O=$(cd "$O" && pwd)
[ -x "$O/bin/gpushim" ] && [ -x "$O/tests/cli_samples" ] || {
	echo "1..0 # SKIP not built"
	exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$O/tests/cli_samples" "$folder" || exit 1
update=
pattern=
[ "${1:-}" = --update ] && update=1 && pattern=${2:-}
PATH=$O/bin:$PATH
export PATH LC_ALL=C.UTF-8 TERM=dumb COLUMNS=100
unset NO_COLOR LD_PRELOAD

# Sizes of files and places in them depend on the release of zstd.
same_everywhere() {
	sed -E -e 's/("(file_bytes|journal_bytes|unreadable_bytes|first_bad_offset)": )[0-9]+/\1N/' \
		-e 's/^(  (trace|first at offset|not readable)  +)[0-9.]+( [KM]iB| bytes)?/\1N/' \
		-e 's/(byte )[0-9]+/\1N/g' -e 's/[0-9]+ bytes (are|of|not|in)/N bytes \1/g' \
		-e 's/^( +)[0-9]+:/\1N:/'
}

run_case() { # FILE: what its command does, in the form of the file
	line=$(sed -n '1s/^\$ //p' "$1")
	echo "\$ $line"
	(cd "$folder" && eval "$line") >"$folder/.out" 2>"$folder/.err" </dev/null
	status=$?
	same_everywhere <"$folder/.out"
	same_everywhere <"$folder/.err" | sed 's/^/! /'
	echo "= $status"
}

number=0
failed=0
for case in "$tests"/*/*.txt; do
	name=$(basename "$(dirname "$case")")/$(basename "$case" .txt)
	case $name in
	run/*) [ -e "$O/lib/libgpushim.so" ] || continue ;;
	esac
	run_case "$case" >"$folder/.got"
	if [ -n "$update" ]; then
		case $name in *$pattern*) cp "$folder/.got" "$case" ;; esac
		continue
	fi
	number=$((number + 1))
	if cmp -s "$folder/.got" "$case"; then
		echo "ok $number - $name"
	else
		diff -u "$case" "$folder/.got" | sed 's/^/# /'
		echo "not ok $number - $name"
		failed=1
	fi
done
[ -n "$update" ] || echo "1..$number"
exit $failed
