#!/bin/sh
# The allocator model reproduces recordings of real PyTorch releases line by line; TAP.
: "${O:=build}"
"$O/tests/replay_golden" tests/golden/allocator >"$O/replay_golden.txt"
status=$?
sed 's/^/# /' "$O/replay_golden.txt" | grep -v ' equal: '
words=not
[ $status -eq 0 ] && words=
echo "${words:+$words }ok 1 - the allocator model reproduces every recording"
off=$(tail -n 1 "$O/replay_golden.txt" | sed -n 's/.*worst peak error of [0-9]* pairs \([0-9.]*\) %$/\1/p')
words=not
[ "$off" = 0.00 ] && words=
echo "${words:+$words }ok 2 - peaks under other settings are predicted (off by ${off:-unknown} %)"
echo 1..2
