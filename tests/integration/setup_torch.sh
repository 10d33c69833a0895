#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make torch` and `make headers` where Python lacks venv or pip, as Debian delivers it.  Python, apt-get
# and id are scripts of this test; nothing is installed or downloaded.  TAP.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
real=$(command -v python3) || { echo "1..0 # SKIP no python3" && exit 77; }
mkdir "$folder/bin"
number=0 failed=0

# A Python that can make virtual environments once $folder/venv is there and never has pip; what it
# makes is a Python whose pip tells how it was called and fails, as without a network.
cat >"$folder/bin/python3" <<END
#!/bin/sh
case "\$*" in
*ensurepip*) [ -e "$folder/venv" ] ;;
"-m venv "*) mkdir -p "\$3/bin" && printf '#!/bin/sh\necho "pip: \$*" >&2\nexit 9\n' >"\$3/bin/python" && chmod +x "\$3/bin/python" ;;
"-m pip "*) exit 1 ;;
*) exec "$real" "\$@" ;;
esac
END
cat >"$folder/bin/apt-get" <<END
#!/bin/sh
[ "\$1" = update ] && exit 0
[ -n "\${APT_WORKS:-}" ] && : >"$folder/venv"
END
printf '#!/bin/sh\necho "${UID_IS:-0}"\n' >"$folder/bin/id"
chmod +x "$folder/bin"/*

# expect TEXT STATUS PATTERN SCRIPT [NAME=VALUE]...: PATTERN is one for all output
expect() {
	text=$1 want=$2 pattern=$3 script=$4
	shift 4
	number=$((number + 1))
	output=$(env PATH="$folder/bin:$PATH" PYTHON=python3 GPUSHIM_CACHE="$folder/cache" O="$folder/build" "$@" sh "scripts/$script" 2>&1)
	got=$?
	# shellcheck disable=SC2254 # a pattern is wanted
	case $output in
	$pattern) [ $got = "$want" ] && echo "ok $number - $text" && return ;;
	esac
	failed=1
	echo "not ok $number - $text"
	echo "# exit $got, wanted $want; output: $output"
}

expect "another user is told the command" 1 "*sudo apt-get install -y*python3-venv*PYTHON=*" torch.sh UID_IS=1000
expect "root is told when nothing helps" 1 "*python3 cannot make virtual environments*" torch.sh
expect "root gets the package and goes on" 9 "*pip: *torch==*" torch.sh APT_WORKS=1
expect "headers come by the pip of an environment" 9 "*pip: *download*nvidia-cuda-runtime*" headers.sh MAJORS=12
number=$((number + 1))
if [ -z "$(ls -A "$folder/cache/headers" 2>/dev/null)$(ls -A "$folder/cache" | grep -v headers)" ]; then
	echo "ok $number - what failed leaves nothing behind"
else
	failed=1
	echo "not ok $number - what failed leaves nothing behind"
	ls -AR "$folder/cache" | sed 's/^/# /'
fi
echo "1..$number"
exit $failed
