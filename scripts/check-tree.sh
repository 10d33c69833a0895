#!/bin/sh
# Rules of the tree that a compiler does not see; TAP.
#
# who includes whom, which foreign header is used where, unique file names, licence lines, exports of
# the built libraries.
set -u
: "${O:=build}"
number=0
failed=0
tell() { # TEXT OFFENDING_LINES
	number=$((number + 1))
	if [ -z "$2" ]; then
		echo "ok $number - $1"
	else
		echo "$2" | sed 's/^/# /'
		echo "not ok $number - $1"
		failed=1
	fi
}
sources=$(git ls-files '*.c' '*.h' '*.S')

tell "formats/ includes neither shim/ nor analyzer/" "$(grep -nE '#include "(shim|analyzer)/' formats/*.c formats/*.h 2>/dev/null)"
tell "shim/ includes neither analyzer/ nor the reading half of formats/" "$(grep -nE '#include "analyzer/|#include "formats/(reader|json|pickle|import)' shim/*.c shim/*.h 2>/dev/null)"
tell "analyzer/ does not include shim/" "$(grep -nE '#include "shim/' analyzer/*.c analyzer/*.h 2>/dev/null)"
tell "the stand-in GPU shares no code with what it tests" "$(grep -nE '#include "(formats|analyzer)/|#include "shim/[^d]' shim/dryrun/*.c shim/dryrun/*.h 2>/dev/null)"

tell "only CUDA headers that the fetched packages have" "$(grep -nE '#include <(cudaProfiler|nvml|nvrtc|cublas|cudnn|nccl)' $sources 2>/dev/null)"

door() { # HEADER_PATTERN ALLOWED_FILE_PATTERN
	tell "<$1> only in $2" "$(grep -nE "#include <$1>" $sources 2>/dev/null | grep -vE "^($2)")"
}
door 'zstd\.h' 'formats/frame_|formats/trace_|tests/'
door 'xxhash\.h' 'formats/|tests/'
door 'sqlite3\.h' 'analyzer/(history|export_sqlite)|formats/import_nsys|tests/'
door 'cuda[^>]*\.h' 'shim/|tests/'
door '(Python|torch/.*)\.h' 'tests/'

tell "file names are unique in the tree" "$(echo "$sources" | sed 's|.*/||' | sort | uniq -d)"
tell "no drawer named utils, common, misc or internal" \
	"$(echo "$sources" | grep -E '(^|/)(utils?|common|misc|internal)\.')"
tell "every source names its licence" "$(for file in $sources; do
	head -n 3 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file"
done)"

if [ -e "$O/lib/libgpushim.so" ]; then
	library=$O/lib/libgpushim.so
	tell "the preload library needs libc alone" \
		"$(readelf -d "$library" | grep NEEDED | grep -vE 'libc\.so|ld-linux|lib(asan|ubsan|tsan)')"
	tell "the preload library exports nothing but its hooks" \
		"$(readelf --dyn-syms -W "$library" | awk '$7 != "UND" && $5 != "LOCAL" && NR > 3 { print $8 }' |
			grep -vE '^(cu[A-Z]|dlsym|_ZN3c10|_ZN2at|_ZN5torch|InitializeInjection|_exit$|_Exit$|$)')"
	tell "the preload library has no version node" \
		"$(readelf -W --version-info "$library" | grep -E 'Version definition')"
fi
echo "1..$number"
exit $failed
