/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of streams; values that streams write and wait for. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shim/dryrun/capture.h"
#include "shim/dryrun/copies.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/stream_queue.h"
#include "shim/dryrun/streams.h"

/* Attributes that a stream has; their values are kept for the program and steer nothing here. */
static bool known(CUstreamAttrID attribute)
{
	return attribute == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
	       attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
	       attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY ||
	       attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP ||
	       attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
}

#define MOST_ATTRIBUTES 32

static CUlaunchAttributeValue *values_of(struct gd_stream *stream)
{
	pthread_mutex_lock(&stream->lock);
	if (!stream->attributes) {
		stream->attributes = calloc(MOST_ATTRIBUTES, sizeof(*stream->attributes));
		if (stream->attributes) {
			stream->attributes[CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY].syncPolicy =
			    CU_SYNC_POLICY_AUTO;
			stream->attributes[CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP]
			    .memSyncDomainMap.remote = 1;
			stream->attributes[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority =
			    stream->priority;
		}
	}
	pthread_mutex_unlock(&stream->lock);
	return stream->attributes;
}

GD_API_PTSZ(cuStreamGetAttribute,
    (CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue *value_out),
    (handle, attribute, value_out))
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!value_out || !known(attribute))
		return CUDA_ERROR_INVALID_VALUE;
	const CUlaunchAttributeValue *values = values_of(stream);
	if (!values)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*value_out = values[attribute];
	return CUDA_SUCCESS;
}

GD_API_PTSZ(cuStreamSetAttribute,
    (CUstream handle, CUstreamAttrID attribute, const CUstreamAttrValue *value),
    (handle, attribute, value))
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!value || !known(attribute) || attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
		return CUDA_ERROR_INVALID_VALUE;
	CUlaunchAttributeValue *values = values_of(stream);
	if (!values)
		return CUDA_ERROR_OUT_OF_MEMORY;
	values[attribute] = *value;
	return CUDA_SUCCESS;
}

GD_API_PTSZ(
    cuStreamCopyAttributes, (CUstream to_handle, CUstream from_handle), (to_handle, from_handle))
{
	struct gd_stream *to, *from;
	CUresult result = gd_stream_get(to_handle, per_thread, &to);
	if (result == CUDA_SUCCESS)
		result = gd_stream_get(from_handle, per_thread, &from);
	if (result != CUDA_SUCCESS)
		return result;
	CUlaunchAttributeValue *target = values_of(to), *source = values_of(from);
	if (!target || !source)
		return CUDA_ERROR_OUT_OF_MEMORY;
	int priority = target[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority;
	memcpy(target, source, MOST_ATTRIBUTES * sizeof(*target));
	target[CU_LAUNCH_ATTRIBUTE_PRIORITY].priority = priority;
	return CUDA_SUCCESS;
}

/* ---- values in memory ---- */

struct value {
	uint64_t address;
	uint64_t value;
	unsigned bytes, flags;
};

static uint64_t read_value(const struct value *v)
{
	uint64_t now = 0;
	if (gd_space_holds(v->address))
		gd_space_load(&now, v->address, v->bytes);
	else if (v->bytes == 4)
		now = __atomic_load_n((const uint32_t *)(uintptr_t)v->address, __ATOMIC_ACQUIRE);
	else
		now = __atomic_load_n((const uint64_t *)(uintptr_t)v->address, __ATOMIC_ACQUIRE);
	return now;
}

static void write_effect(const void *argument)
{
	const struct value *v = argument;
	if (gd_space_holds(v->address))
		gd_space_store(v->address, &v->value, v->bytes);
	else if (v->bytes == 4)
		__atomic_store_n(
		    (uint32_t *)(uintptr_t)v->address, (uint32_t)v->value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((uint64_t *)(uintptr_t)v->address, v->value, __ATOMIC_RELEASE);
}

static bool satisfied(const struct value *v)
{
	uint64_t now = read_value(v);
	int64_t ahead = v->bytes == 4 ? (int32_t)((uint32_t)now - (uint32_t)v->value)
				      : (int64_t)(now - v->value);
	switch (v->flags & 3) {
	case CU_STREAM_WAIT_VALUE_GEQ:
		return ahead >= 0;
	case CU_STREAM_WAIT_VALUE_EQ:
		return ahead == 0;
	case CU_STREAM_WAIT_VALUE_AND:
		return (now & v->value) != 0;
	default: /* CU_STREAM_WAIT_VALUE_NOR */
		return (v->bytes == 4 ? (uint32_t) ~(now | v->value) : ~(now | v->value)) != 0;
	}
}

static void wait_for_value(void *argument)
{
	const struct timespec pause = {0, 20000};
	while (!satisfied(argument))
		nanosleep(&pause, NULL);
	free(argument);
}

static bool valid(const struct value *v)
{
	struct gd_side side = gd_side_of(v->address);
	if (!v->address || v->address % v->bytes || side.kind == GD_MEMORY_PAGEABLE)
		return false;
	return !side.in_space || gd_memory_range(v->address, v->bytes);
}

static CUresult enqueue_value(struct gd_stream *stream, const struct value *v, bool wait)
{
	if (!valid(v))
		return CUDA_ERROR_INVALID_VALUE;
	if (!wait) {
		struct gd_operation operation = {.kind = GD_OPERATION_MEMSET, .bytes = v->bytes};
		operation.to = gd_side_of(v->address).kind;
		operation.value = (uint32_t)v->value;
		gd_enqueue(stream, &operation, write_effect, v, sizeof(*v));
		return CUDA_SUCCESS;
	}
	struct value *copy = malloc(sizeof(*copy));
	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*copy = *v;
	if (gd_queue_host_function(stream, wait_for_value, copy))
		return CUDA_SUCCESS;
	free(copy);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult value_call(CUstream handle, bool per_thread, const struct value *v, bool wait)
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result == CUDA_SUCCESS)
		result = gd_capture_refuse_stream(stream);
	return result == CUDA_SUCCESS ? enqueue_value(stream, v, wait) : result;
}

/* V(name, type, waits): each also in the first version of the interface, which is the same here. */
#define VALUE_CALLS(V) \
	V(cuStreamWriteValue32, cuuint32_t, false) \
	V(cuStreamWriteValue64, cuuint64_t, false) \
	V(cuStreamWaitValue32, cuuint32_t, true) \
	V(cuStreamWaitValue64, cuuint64_t, true)

#define VALUE_FUNCTION(name, type, waits) \
	GD_API_PTSZ(name, (CUstream stream, CUdeviceptr address, type value, unsigned int flags), \
	    (stream, address, value, flags)) \
	{ \
		struct value v = {address, value, sizeof(type), flags}; \
		return value_call(stream, per_thread, &v, waits); \
	}
#define VALUE_BOTH(name, type, waits) \
	VALUE_FUNCTION(name, type, waits) \
	VALUE_FUNCTION(name##_v2, type, waits)
VALUE_CALLS(VALUE_BOTH)

/* @return CUDA_ERROR_NOT_SUPPORTED for operations beyond writing and waiting */
static CUresult read_operation(
    const CUstreamBatchMemOpParams *p, struct value *value_out, bool *wait_out, bool *none_out)
{
	*wait_out = p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
		    p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
	*none_out = p->operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES ||
		    p->operation == CU_STREAM_MEM_OP_BARRIER;
	switch (p->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		*value_out = (struct value){
		    p->writeValue.address, p->writeValue.value, 4, p->writeValue.flags};
		return CUDA_SUCCESS;
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		*value_out = (struct value){
		    p->writeValue.address, p->writeValue.value64, 8, p->writeValue.flags};
		return CUDA_SUCCESS;
	default:
		return *none_out ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
	}
}

static CUresult batch(CUstream handle, bool per_thread, unsigned count,
    const CUstreamBatchMemOpParams *list, unsigned flags)
{
	struct value value;
	bool wait, none;
	CUresult result = CUDA_SUCCESS;
	if (!list || count > 256 || flags)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
		result = read_operation(&list[i], &value, &wait, &none);
		if (result == CUDA_SUCCESS && !none)
			result = value_call(handle, per_thread, &value, wait);
	}
	return result;
}

GD_API_PTSZ(cuStreamBatchMemOp,
    (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *list, unsigned int flags),
    (stream, count, list, flags))
{
	return batch(stream, per_thread, count, list, flags);
}

GD_API_PTSZ(cuStreamBatchMemOp_v2,
    (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *list, unsigned int flags),
    (stream, count, list, flags))
{
	return batch(stream, per_thread, count, list, flags);
}
