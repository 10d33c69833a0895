#!/bin/sh
# Make sure that the system packages which the build and the tests need are there.
# Root on Debian/Ubuntu: installs what is missing.  Anybody else: one command to copy, exit 1.
set -u

# one line a package: what proves that it is there (a command or a file pattern), package
needs='
command:gcc gcc
command:make make
command:git git
command:python3 python3
command:readelf binutils
file:/usr/include/zstd.h libzstd-dev
file:/usr/include/xxhash.h libxxhash-dev
file:/usr/include/sqlite3.h libsqlite3-dev
python:ensurepip python3-venv
'
present() {
	case $1 in
	command:*) command -v "${1#command:}" >/dev/null 2>&1 ;;
	file:*) [ -e "${1#file:}" ] ;;
	python:*) "${PYTHON:-python3}" -c "import ${1#python:}" >/dev/null 2>&1 ;;
	esac
}
missing=$(echo "$needs" | while read -r proof package; do
	[ -n "$proof" ] && ! present "$proof" && echo "$package"
done)
[ -z "$missing" ] && exit 0
missing=$(echo $missing)
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing: $missing"
	export DEBIAN_FRONTEND=noninteractive
	apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 && exit 0
	apt-get update -qq >/dev/null && apt-get install -y -qq --no-install-recommends $missing >/dev/null && exit 0
	echo "packages: apt-get could not install: $missing" >&2
	exit 1
fi
echo "packages: missing; please run: sudo apt-get install -y $missing" >&2
exit 1
