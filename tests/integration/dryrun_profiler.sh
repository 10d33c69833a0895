#!/bin/sh
# PyTorch's profiler, unmodified, over the stand-in CUPTI.
# Environment: O; TORCHES, folders of environments with PyTorch ($O/torch); ONLY=PATTERN as for dryrun_torch.sh.
. "$(dirname "$0")/stand_in/rig.sh"
: "${TORCHES:=$O/torch}"
needs "${TORCHES%% *}/bin/python" "no PyTorch (make torch)"

profile() { # PYTHON CASE
	timeout 300 "$O/bin/gpushim" dryrun --no-record --gpu rtx4090 --clock "${CLOCK:-model}" --stats "$work/stats" -- \
		"$1/bin/python" "$here/profiler.py" "$2" >"$work/out" 2>&1
}

wanted() { # TEXT
	case $1 in
	*"${ONLY:-}"*) return 0 ;;
	esac
	return 1
}

try() { # TEXT CASE
	wanted "$1" || return 0
	for torch in $TORCHES; do
		profile "$torch" "$2"
		tell $? "$1"
	done
}

# What the profiler counted, and what the stand-in did.
same_counts() {
	for name in launches copies memsets; do
		seen=$(sed -n "s/.*$name=\([0-9]*\).*/\1/p" "$work/out")
		done=$(sed -n "s/^[^[]*\"$name\":\([0-9]*\).*/\1/p" "$work/stats")
		[ -n "$seen" ] && [ "$seen" = "$done" ] && continue
		echo "$name: $seen in the profile, $done on the device" >>"$work/out"
		return 1
	done
}

for CLOCK in model instant; do
	text="the profiler's counts are the device's ($CLOCK)"
	for torch in $TORCHES; do
		wanted "$text" || continue
		profile "$torch" counts && same_counts
		tell $? "$text"
	done
done
CLOCK=model
try "times, correlation, streams" times
try "graphs, node by node" graph
try "memory, stacks, shapes" everything
try "wait, warmup, active" steps
try "two sessions" twice
try "in a thread" thread
try "the device alone" device_alone
try "streams that wait" waits
end
