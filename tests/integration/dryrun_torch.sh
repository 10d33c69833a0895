#!/bin/sh
# Unmodified PyTorch on the stand-in GPU: every allocator back end, devices, cuDNN, graphs, refusals.
# Environment: O; ONLY=PATTERN runs the cases whose line contains it.
. "$(dirname "$0")/stand_in/rig.sh"
python=$O/torch/bin/python
needs "$python" "no PyTorch (make torch)"

# try TEXT CASE_OR_PROGRAM [NAME=VALUE]...
try() {
	text=$1 case=$2
	shift 2
	case $text in
	*"${ONLY:-}"*) ;;
	*) return ;;
	esac
	number=$((number + 1))
	case $case in
	*.py) set -- "$@" timeout 300 sh "$here/start.sh" "$python" "$case" ;;
	*) set -- "$@" timeout 300 sh "$here/start.sh" "$python" "$here/cases.py" "$case" ;;
	esac
	if env O="$O" "$@" >"$work/out" 2>&1; then
		echo "ok $number - $text"
	elif grep -q 'Unrecognized CachingAllocator option' "$work/out"; then
		echo "ok $number - $text # SKIP this release has no such setting"
	else
		failed=1
		echo "not ok $number - $text (exit $?)"
		tail -n 12 "$work/out" | sed 's/^/# /'
	fi
}

try "copies are real and new memory is zero" copies
try "training, also with autocast" training
try "training on expandable segments" training PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
try "training on cudaMallocAsync" training PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync
try "training without caching" train_uncached PYTORCH_NO_CUDA_MEMORY_CACHING=1
try "what programs decide by is computed as on the CPU" tests/programs/modelled_kernels.py
try "what nobody computed is told" not_computed SHARED="$work/state"
try "GradScaler decides as on a GPU" scaler
try "memory is given back" freed
try "memory is given back, expandable segments" freed PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
try "out of memory is PyTorch's own error" out_of_memory
try "out of memory, expandable segments" out_of_memory PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
try "out of memory, cudaMallocAsync" out_of_memory PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync
try "convolutions by cuDNN" convolutions
try "recurrent networks" recurrent
try "the CTC loss of cuDNN" ctc_loss
try "attention" attention
for capability in 9.0 10.0; do
	try "attention on a device of capability $capability" attention "DEVICE=total=8589934592;context=0;cc=$capability"
done
try "Fourier transforms and linear algebra" transforms
try "kernels compiled at run time" compiled
try "streams, events and graphs" streams_and_graphs
try "streams, events and graphs, expandable segments" streams_and_graphs PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
try "two devices" devices GPUSHIM_DRYRUN_COUNT=2
try "tensors shared between processes" shared SHARED="$work/state"
try "tensors shared between processes, expandable segments" shared SHARED="$work/state" PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
try "PyTorch's own memory history" history
try "PyTorch's profiler sees the device" profiler GPUSHIM_DRYRUN_CLOCK=model
try "what does not depend on what nobody computed is known" decided
try "sparse matrices" sparse
try "sparse matrices, two in four" semi_structured
try "no such matrices on an old device" no_semi_structured "DEVICE=total=8589934592;context=0;cc=7.0"
try "what is missing refuses" refusals
try "every NVIDIA library is the stand-in's" ours
end
