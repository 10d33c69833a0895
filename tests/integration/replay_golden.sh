#!/bin/sh
# The allocator model reproduces recordings of real PyTorch releases line by line; TAP.
: "${O:=build}"
"$O/tests/replay_golden" tests/golden/allocator >"$O/replay_golden.txt"
status=$?
sed 's/^/# /' "$O/replay_golden.txt" | grep -v ' equal: '
words=not
[ $status -eq 0 ] && words=
echo "${words:+$words }ok 1 - the allocator model reproduces every recording"
pairs=$(sed -n 's/^\([1-9][0-9]*\) of \1 pairs predicted to the byte.*/\1/p' "$O/replay_golden.txt")
words=not
[ -n "$pairs" ] && words=
echo "${words:+$words }ok 2 - peaks under other settings are predicted to the byte (pairs: ${pairs:-not all})"
echo 1..2
