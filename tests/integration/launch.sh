#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `gpushim run` as a wrapper: status, signals, standard input, file descriptors, temporary files.  TAP.
set -u
: "${O:=build}"
O=$(cd "$O" && pwd)
[ -x "$O/bin/gpushim" ] && [ -e "$O/lib/libgpushim.so" ] || {
	echo "1..0 # SKIP not built"
	exit 77
}
gpushim=$O/bin/gpushim
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
TMPDIR=$folder
export TMPDIR
number=0
failed=0
expect() { # WHAT GOT WANTED
	number=$((number + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $number - $1"
	else
		echo "# got '$2', wanted '$3'"
		echo "not ok $number - $1"
		failed=1
	fi
}

# Start a program that says when it is ready, send the launcher a signal, tell the launcher's status.
signalled() { # SIGNAL SCRIPT
	rm -f ready
	"$gpushim" run -- sh -c "$2" >out 2>/dev/null &
	launcher=$!
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		[ -e ready ] && break
		sleep 0.2
	done
	kill -"$1" $launcher
	wait $launcher
	echo $?
}

"$gpushim" run -- sh -c 'exit 9' 2>/dev/null
expect "exit status" $? 9
"$gpushim" run -- sh -c 'kill -SEGV $$' 2>/dev/null
expect "killed by a signal" $? 139
"$gpushim" run -- ./not-there 2>/dev/null
expect "a program that is not there" $? 127
: >no-program && "$gpushim" run -- ./no-program 2>/dev/null
expect "a file that is no program" $? 126
expect "SIGTERM reaches the program" "$(signalled TERM ': >ready; exec sleep 20')" 143
expect "a handler of the program runs" \
	"$(signalled USR1 'trap "exit 5" USR1; : >ready; while :; do sleep 0.1; done')" 5
expect "a program that ignores SIGINT ends as it likes" \
	"$(signalled INT 'trap "" INT; : >ready; sleep 1; exit 3')" 3
expect "standard input" "$(echo words | "$gpushim" run -- cat 2>/dev/null)" words
expect "no descriptor is left open" "$("$gpushim" run -- ls /proc/self/fd 2>/dev/null | wc -l)" \
	"$(ls /proc/self/fd | wc -l)"
(trap '' HUP && exec "$gpushim" run -- sh -c 'kill -HUP $$; exit 4') 2>/dev/null
expect "a signal that was ignored stays ignored" $? 4
cat >without_sigchld.py <<'END'
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
END
python3 without_sigchld.py "$gpushim" run -- sh -c 'exit 9' 2>/dev/null
expect "exit status where SIGCHLD is ignored" $? 9
expect "the program finds SIGCHLD as it was" "$(python3 without_sigchld.py "$gpushim" run -- \
	python3 -c 'import signal; print(signal.getsignal(signal.SIGCHLD).name)' 2>/dev/null)" SIG_IGN
expect "so does what doctor asks" "$(python3 without_sigchld.py "$gpushim" doctor 2>&1)" \
	"$("$gpushim" doctor 2>&1)"
mkdir -p fake/torch/lib gone && : >fake/torch/__init__.py
printf '__version__ = "2.99.0"\ncuda = "99.1"\n' >fake/torch/version.py
ask_doctor() { # number of lines about a PyTorch that has no CUDA libraries
	PYTHONPATH=fake "$gpushim" doctor --python python3 | tr -s ' \n' ' ' | grep -c "runs under gpushim dryrun only"
}
echo 'int c(void){return 1;}' | ${CC:-cc} -shared -Wl,-soname,libcudart.so.99 -x c -o gone/libcudart.so.99 -
echo 'int c(void);int t(void){return c();}' |
	${CC:-cc} -shared -Wl,--no-as-needed -o fake/torch/lib/libtorch_cuda.so -x c - -x none gone/libcudart.so.99
expect "doctor tells a PyTorch that runs on the stand-in only" "$(ask_doctor)" 1
export LD_LIBRARY_PATH="$PWD/gone"
expect "from one whose libraries are there" "$(ask_doctor)" 0
unset LD_LIBRARY_PATH
mkdir traces && "$gpushim" run -o traces -- sh -c 'echo $GPUSHIM_OUTPUT' >out 2>/dev/null
expect "a relative folder becomes absolute" "$(cat out)" "$(pwd)/traces"
"$gpushim" run -o new/ -- true 2>/dev/null
expect "a folder that ends in a slash is made" "$(ls -d new)" new
mkdir 100%p
expect "a percent sign of the current folder means itself" \
	"$(cd 100%p && "$gpushim" run -o '%n' -- sh -c 'echo $GPUSHIM_OUTPUT' 2>/dev/null)" "$(pwd)/100%%p/%n.gst"
strange=$(printf 'two\nlines\\012')
"$gpushim" dryrun --memory 1G -o "$strange/t.gst" -- "$O/tests/ends" sudden 20000 2>out
expect "a newline in the name of a folder" "$(ls "$strange")" t.gst
expect "the trace is named" "$(grep -c 't.gst$' out)" 1
GPUSHIM_TRACE_LIST=list "$gpushim" dryrun --memory 1G -o listed.gst -- "$O/tests/ends" sudden 20000 2>/dev/null
expect "an end by _exit is in the one file that is left" \
	"$(ls listed.gst*; "$gpushim" check listed.gst | grep -c 'no end mark')" "listed.gst
0"
expect "the caller's own list of traces" "$(cat list)" "$PWD/listed.gst"
"$gpushim" dryrun --set trace_list=list --memory 1G -o /proc/no.gst -- "$O/tests/ends" sudden 20000 2>out
expect "a trace that cannot be written is told once" "$(grep -c 'no trace: the recorder could not write one' out)" 1
expect "and listed as such" "$(tail -n 1 list)" "!/proc/no.gst"
"$gpushim" dryrun --memory 1G -o busy.gst -- "$O/tests/ends" sudden 8000000 2>/dev/null &
busy=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do [ -e busy.gst ] && break; sleep 0.2; done
"$gpushim" dryrun --memory 1G -o busy.gst -- "$O/tests/ends" sudden 20000 2>out
expect "a trace that is being written is not set aside" "$? $(grep -c 'is in use: process' out) $(ls -d busy.gst*)" \
	"2 1 $(printf 'busy.gst\nbusy.gst.journal')"
kill $busy
wait $busy
mkfifo pipe
"$gpushim" run -o pipe -- true 2>/dev/null
expect "a trace is no pipe" $? 2
expect "the pipe stays" "$(ls -d pipe*)" pipe
"$gpushim" run -o /dev/null -- true 2>/dev/null
expect "nor a device" $? 2
"$gpushim" run --set stacks=none --set GPUSHIM_LIMIT=1G -- sh -c 'echo $GPUSHIM_STACKS $GPUSHIM_LIMIT' >out 2>/dev/null
expect "settings" "$(cat out)" "none 1G"
expect "Triton links with the stand-in's driver" \
	"$("$gpushim" dryrun --no-record -- sh -c 'ls "$TRITON_LIBCUDA_PATH"/libcuda.so.1 | wc -l' 2>/dev/null)" 1
expect "temporary files are gone" "$(ls -d gpushim-* 2>/dev/null)" ""
echo "1..$number"
exit $failed
