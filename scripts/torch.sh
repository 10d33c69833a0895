#!/bin/sh
# `make torch`: a virtual environment with the official CUDA PyTorch and none of NVIDIA's wheels, kept in
# the cache; $O/torch becomes a link to it.  Environment: O, TORCH (release), PYTHON, GPUSHIM_CACHE.
set -eu
: "${O:=build}" "${TORCH:=2.15.0}" "${PYTHON:=python3}"
cache=${GPUSHIM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpushim}
tag=$("$PYTHON" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
home=$cache/torch-$TORCH-$tag

# What `import torch` needs beside itself; releases before 2.3 were built for NumPy 1.
needs="filelock typing-extensions sympy mpmath networkx jinja2 markupsafe fsspec"
case $TORCH in
1.* | 2.0.* | 2.1.* | 2.2.*) needs="$needs numpy<2" ;;
*) needs="$needs numpy" ;;
esac

have_venv() {
	"$PYTHON" -c 'import venv, ensurepip' >/dev/null 2>&1
}
need_venv() {
	have_venv && return
	PYTHON=$PYTHON sh "$(dirname "$0")/packages.sh" && have_venv && return
	echo "torch: $PYTHON cannot make virtual environments; install its venv package or name another one: PYTHON=..." >&2
	exit 1
}

# torchrun, pip, activate: they name the folder that they were made in.
rename_in_scripts() {
	for script in "$1"/bin/*; do
		[ -f "$script" ] && [ ! -L "$script" ] && grep -qIF "$1" "$script" || continue
		sed -i "s|$1|$2|g" "$script"
	done
}

# Made under another name and renamed: an interrupted installation is never taken for a whole one.
install() {
	need_venv
	mkdir -p "$cache"
	work=$(mktemp -d "$cache/.torch.XXXXXX")
	trap 'rm -rf "$work"' EXIT INT TERM
	echo "torch: installing PyTorch $TORCH for $tag into $home (about 1.5 GB on disk)"
	"$PYTHON" -m venv "$work"
	# shellcheck disable=SC2086 # one word a requirement
	"$work/bin/python" -m pip --disable-pip-version-check install -q --no-cache-dir --no-deps "torch==$TORCH" $needs
	[ -e "$work/lib/python"*/site-packages/torch/lib/libtorch_cuda.so ] || {
		echo "torch: PyTorch $TORCH came without CUDA for this machine" >&2
		exit 1
	}
	rename_in_scripts "$work" "$home"
	chmod 755 "$work"
	if ! mv -T "$work" "$home" 2>/dev/null && [ ! -d "$home" ]; then
		echo "torch: cannot move the environment to $home" >&2
		exit 1
	fi
	rm -rf "$work"
	trap - EXIT INT TERM
}

[ -x "$home/bin/python" ] || install
mkdir -p "$O"
ln -sfn "$home" "$O/torch"
echo "torch: $O/torch -> $home"
