#!/bin/sh
# What this machine has, as make variables on stdout.  Environment: CC, CUDA_HOME.
#
# CUDA headers check prototypes and shape the stand-in GPU; nothing of CUDA is linked.  Looked for in
# CUDA_HOME, the cache that `make headers` fills, /usr/local/cuda, Debian's packages and the include
# folders of nvidia pip wheels.
set -u
CC=${CC:-cc}
cache=${GPUSHIM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpushim}

compiles() { # stdin: program; $@: flags
	$CC -x c -o /dev/null - "$@" >/dev/null 2>&1
}
note() {
	echo "probe: $*" >&2
}

first_with() { # HEADER FOLDER...
	header=$1
	shift
	for folder; do
		[ -f "$folder/$header" ] && echo "$folder" && return
	done
}
cuda=$(first_with cuda.h ${CUDA_HOME:+"$CUDA_HOME/include"} "$cache"/headers/cu13/include /usr/local/cuda/include \
	/usr/include)
cupti=$(first_with cupti.h ${cuda:+"$cuda"} ${CUDA_HOME:+"$CUDA_HOME/extras/CUPTI/include"} \
	"$cache"/headers/cu13/include /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include /usr/include)
echo "CUDA_INCLUDE := $cuda"
echo "CUPTI_INCLUDE := $cupti"
echo "CUDA_FLAGS := ${cuda:+-DGS_HAVE_CUDA_H -isystem $cuda}"
echo "HEADERS_CACHE := $cache/headers"
[ -n "$cuda" ] || note "no cuda.h: prototypes are not checked and the stand-in GPU is not built; try make headers"

# zstd: static and position independent, so that nothing but libc is loaded with the preload library.
static=
for file in $($CC -print-file-name=libzstd.a) /usr/lib/*/libzstd.a /usr/local/lib/libzstd.a; do
	if [ -f "$file" ] && echo '#include <zstd.h>
unsigned f(void); unsigned f(void) { return ZSTD_versionNumber(); }' |
		$CC -shared -fPIC -x c -o /dev/null - -x none "$file" >/dev/null 2>&1; then
		static=$file
		break
	fi
done
[ -n "$static" ] || note "no libzstd.a with zstd.h: install libzstd-dev"
echo "ZSTD_STATIC := $static"
echo '#include <xxhash.h>
int main(void) { return 0; }' | compiles || note "no xxhash.h: install libxxhash-dev"

if echo '#include <sqlite3.h>
int main(void) { return sqlite3_libversion_number() == 0; }' | compiles -lsqlite3; then
	echo "HAVE_SQLITE := 1"
	echo "SQLITE_LIBS := -lsqlite3"
fi

# elfutils: source lines of native frames.
if echo '#include <elfutils/libdw.h>
int main(void) { return dwarf_begin(0, DWARF_C_READ) != 0; }' | compiles -ldw; then
	echo "LIBDW_FLAGS := -DGA_HAVE_LIBDW"
	echo "LIBDW_LIBS := -ldw"
fi
exit 0
