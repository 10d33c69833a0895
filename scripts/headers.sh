#!/bin/sh
# `make headers`: CUDA and CUPTI headers from NVIDIA's pip wheels, into CACHE/headers/cuNN/include.
# No toolkit is needed; some 30 MB to fetch for each major, a few of them kept.  Environment: PYTHON, GPUSHIM_CACHE;
# MAJORS (default "13 12 11") names the ones to fetch.
set -eu
: "${PYTHON:=python3}" "${MAJORS:=13 12 11}"
cache=${GPUSHIM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpushim}/headers

# The releases that the supported PyTorch wheels were built with.
wheels() {
	case $1 in
	13) echo "nvidia-cuda-runtime==13.2.* nvidia-cuda-cupti==13.2.* nvidia-cuda-crt==13.2.*" ;;
	12) echo "nvidia-cuda-runtime-cu12==12.4.* nvidia-cuda-cupti-cu12==12.4.* nvidia-cuda-nvcc-cu12==12.4.*" ;;
	11) echo "nvidia-cuda-runtime-cu11==11.8.* nvidia-cuda-cupti-cu11==11.8.* nvidia-cuda-nvcc-cu11==11.8.*" ;;
	*) echo "headers: no CUDA $1" >&2 && exit 2 ;;
	esac
}

# Unpacks the include folders of all wheels in $1 into $2/include.
unpack='
import pathlib, sys, zipfile
for wheel in pathlib.Path(sys.argv[1]).glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            before, found, path = name.partition("/include/")
            if found and path and not path.endswith("/"):
                to = pathlib.Path(sys.argv[2], "include", path)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(archive.read(name))
'

fetch() {
	work=$(mktemp -d "$cache/.cu$1.XXXXXX")
	trap 'rm -rf "$work"' EXIT INT TERM
	pip=$PYTHON
	if ! "$PYTHON" -m pip --version >/dev/null 2>&1; then # Debian packs pip apart; a venv brings its own
		"$PYTHON" -m venv "$work/venv"
		pip=$work/venv/bin/python
	fi
	# shellcheck disable=SC2046 # one word a wheel
	"$pip" -m pip --disable-pip-version-check download -q --no-deps -d "$work/wheels" $(wheels "$1")
	"$PYTHON" -c "$unpack" "$work/wheels" "$work"
	for header in cuda.h cuda_runtime_api.h cupti.h crt/host_defines.h; do
		[ -f "$work/include/$header" ] || { echo "headers: $header is in no wheel of CUDA $1" >&2 && exit 1; }
	done
	chmod 755 "$work"
	rm -rf "$work/wheels" "$work/venv" "$cache/cu$1"
	mv -T "$work" "$cache/cu$1"
	trap - EXIT INT TERM
	echo "headers: CUDA $1 in $cache/cu$1/include"
}

mkdir -p "$cache"
for major in $MAJORS; do
	[ -f "$cache/cu$major/include/crt/host_defines.h" ] || fetch "$major"
done
