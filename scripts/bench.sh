#!/bin/sh
# `make bench`: what recording costs and how fast reading is.  Every figure is printed with its spread
# over several runs; compare only figures of one run of this script.  Environment: O, PAIRS (3) of processes.
set -u
: "${O:=build}" "${PAIRS:=3}"
export O
heading() {
	printf '\n== %s\n' "$*"
}
for program in "$O"/tests/bench_*; do
	[ -x "$program" ] && [ -f "$program" ] || continue
	case $program in
	*.d | *_host) continue ;;
	esac
	heading "$(basename "$program")"
	"$program"
done
heading "call stacks of Python programs"
python3 tests/stacks/check_stacks.py "$O/tests/stack_probe.so" "$O" cost
if [ -x "$O/tests/bench_host" ]; then
	heading "intercepted calls"
	sh scripts/bench_calls.sh
fi
if [ -x "$O/torch/bin/python" ]; then
	heading "slowdown of PyTorch programs on the stand-in GPU"
	python3 scripts/bench_slowdown.py "$O" tests/programs/tiny_operations.py 10 --pairs "$PAIRS"
	python3 scripts/bench_slowdown.py "$O" tests/programs/small_gpt.py 3 --rounds 100 --pairs "$PAIRS"
else
	echo "no $O/torch: slowdown of PyTorch programs not measured (make torch)"
fi
