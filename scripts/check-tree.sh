#!/bin/sh
# Rules of the tree that a compiler does not see; TAP.
#
# who includes whom, which foreign header is used where, unique file names, licence lines, exports of
# the built libraries.
set -u
: "${O:=build}"
number=0
failed=0
tell() { # TEXT, offending lines on stdin
	number=$((number + 1))
	found=$(cat)
	if [ -z "$found" ]; then
		echo "ok $number - $1"
	else
		echo "$found" | sed 's/^/# /'
		echo "not ok $number - $1"
		failed=1
	fi
}
sources=$(git ls-files '*.c' '*.h' '*.S')

grep -nE '#include "(shim|analyzer)/' formats/*.c formats/*.h 2>/dev/null |
	tell "formats/ includes neither shim/ nor analyzer/"
grep -nE '#include "analyzer/|#include "formats/(reader|json|pickle|import)' shim/*.c shim/*.h 2>/dev/null |
	tell "shim/ includes neither analyzer/ nor the reading half of formats/"
grep -nE '#include "shim/' analyzer/*.c analyzer/*.h 2>/dev/null |
	tell "analyzer/ does not include shim/"
grep -nE '#include "(formats|analyzer)/|#include "shim/[^d]' shim/dryrun/*.c shim/dryrun/*.h 2>/dev/null |
	tell "the stand-in GPU shares no code with what it tests"

door() { # HEADER_PATTERN ALLOWED_FILE_PATTERN
	grep -nE "#include <$1>" $sources 2>/dev/null | grep -vE "^($2)" |
		tell "<$1> only in $2"
}
door 'zstd\.h' 'formats/frame_|formats/trace_|tests/'
door 'xxhash\.h' 'formats/|tests/'
door 'sqlite3\.h' 'analyzer/(history|export_sqlite)|formats/import_nsys|tests/'
door 'cuda[^>]*\.h' 'shim/|tests/'
door '(Python|torch/.*)\.h' 'tests/'

echo "$sources" | sed 's|.*/||' | sort | uniq -d | tell "file names are unique in the tree"
echo "$sources" | grep -E '(^|/)(utils?|common|misc|internal)\.' | tell "no drawer named utils, common, misc or internal"
for file in $sources; do
	head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file"
done | tell "every source names its licence"

if [ -e "$O/lib/libgpushim.so" ]; then
	readelf -d "$O/lib/libgpushim.so" | grep NEEDED | grep -vE 'libc\.so|ld-linux|lib(asan|ubsan|tsan)' |
		tell "the preload library needs libc alone"
	readelf --dyn-syms -W "$O/lib/libgpushim.so" |
		awk '$7 != "UND" && $5 != "LOCAL" && NR > 3 { print $8 }' |
		grep -vE '^(cu[A-Z]|dlsym|_ZN3c10|_ZN2at|_ZN5torch|InitializeInjection|$)' |
		tell "the preload library exports nothing but its hooks"
	readelf -W --version-info "$O/lib/libgpushim.so" | grep -E "Version definition" |
		tell "the preload library has no version node"
fi
echo "1..$number"
exit $failed
