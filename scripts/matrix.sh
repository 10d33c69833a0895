#!/bin/sh
# `make matrix`: what people train, each program recorded on the stand-in GPU and checked against PyTorch's
# own statistics (tests/matrix/).  Environment: O, GPUSHIM_CACHE; ONLY=WORDS runs the programs whose
# name contains one of them.
#
# The packages of tests/matrix/requirements.txt go into an environment of their own on top of the one of
# `make torch`, kept in the cache under the list's checksum; $O/matrix becomes a link to it.
set -eu
: "${O:=build}"
cache=${GPUSHIM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpushim}
list=tests/matrix/requirements.txt
[ -x "$O/torch/bin/python" ] || {
	echo "matrix: no PyTorch (make torch)" >&2
	exit 1
}
below=$(cd -P "$O/torch" && pwd)
home=$cache/matrix-$(basename "$below")-$(cksum <$list | cut -d ' ' -f 1)

# Made under another name and renamed: an interrupted installation is never taken for a whole one.
install() {
	work=$(mktemp -d "$cache/.matrix.XXXXXX")
	trap 'rm -rf "$work"' EXIT INT TERM
	echo "matrix: installing the packages of $list into $home"
	"$below/bin/python" -m venv "$work"
	for packages in "$below/lib/python"*/site-packages; do
		echo "$packages" >"$work/lib/$(basename "$(dirname "$packages")")/site-packages/torch.pth"
	done
	"$work/bin/python" -m pip --disable-pip-version-check install -q --no-cache-dir --no-deps -r $list
	chmod 755 "$work"
	mv -T "$work" "$home" 2>/dev/null || [ -d "$home" ]
	rm -rf "$work"
	trap - EXIT INT TERM
}

[ -x "$home/bin/python" ] || install
ln -sfn "$home" "$O/matrix"
# shellcheck disable=SC2086 # one word a pattern
O=$O exec "$O/matrix/bin/python" tests/matrix/run_matrix.py ${ONLY:-}
