#!/bin/sh
# Fuzz every tests/fuzz/fuzz_*.c with libFuzzer.  Environment: O, SECONDS_EACH (60), FUZZ_CC (clang).
#
# Finds go to $O/fuzz/<target>/found; what a run learns stays in $O/fuzz/<target>/corpus and is the
# start of the next one.  Inputs worth keeping belong into tests/fuzz/corpus/<target>.
set -u
: "${O:=build}" "${SECONDS_EACH:=60}" "${FUZZ_CC:=clang}"
cd "$(dirname "$0")/.." || exit 1
if ! echo 'int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return d && n ? 0 : 0; }' |
	"$FUZZ_CC" -fsanitize=fuzzer -x c -o /dev/null - 2>/dev/null; then
	echo "fuzz: $FUZZ_CC has no libFuzzer: install clang with its run-time library" >&2
	exit 77
fi
status=0
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	folder=$O/fuzz/$name
	mkdir -p "$folder/corpus" "$folder/found"
	libraries=
	sed -n 's|^#include "analyzer/.*|analyzer|p' "$source" | grep -q analyzer && libraries=$(ls analyzer/*.c | grep -v main.c)
	# shellcheck disable=SC2086 # lists of files
	"$FUZZ_CC" -std=gnu11 -D_GNU_SOURCE -I. -O1 -g -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=undefined -o "$folder/$name" "$source" formats/*.c $libraries \
		-lzstd -lsqlite3 -lm -lpthread || exit 1
	"$folder/$name" -max_total_time="$SECONDS_EACH" -max_len=200000 -timeout=20 -rss_limit_mb=3000 \
		-print_final_stats=1 -artifact_prefix="$folder/found/" "$folder/corpus" \
		"tests/fuzz/corpus/$name" >"$folder/log" 2>&1 || status=1
	grep -E 'stat::number_of_executed|SUMMARY|Test unit written|cov:' "$folder/log" | tail -n 4 |
		sed "s/^/$name: /"
done
exit $status
