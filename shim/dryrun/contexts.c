/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/contexts.h"

#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/device_table.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/stream_queue.h"
#include "shim/dryrun/streams.h"
#include "shim/dryrun/thread_state.h"
#include "shim/dryrun/visible_devices.h"

_Static_assert(sizeof(struct gd_context) <= GD_CELL_BYTES, "a context fits in a cell");

static struct gd_context *primary[GD_MAX_DEVICES];
static struct gd_context *by_index[GD_MAX_CONTEXTS];
static const gd_context_drop *drops;
pthread_mutex_t gd_contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER; /* a context */

uint64_t gd_next_id(void)
{
	static uint64_t last;
	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static bool take_index(struct gd_context *context)
{
	for (uint32_t i = 0; i < GD_MAX_CONTEXTS; i++) {
		if (by_index[i])
			continue;
		by_index[i] = context;
		context->index = i;
		return true;
	}
	return false;
}

static void reset_settings(struct gd_context *context)
{
#define LIMIT_STANDARD(name, value) context->limits[CU_LIMIT_##name] = (value);
	GD_LIMITS(LIMIT_STANDARD)
#undef LIMIT_STANDARD
	context->cache_config = CU_FUNC_CACHE_PREFER_NONE;
}

static struct gd_context *make(unsigned device, bool is_primary)
{
	struct gd_context *context = gd_object_new(GD_TYPE_CONTEXT);
	if (!context)
		return NULL;
	if (!take_index(context)) {
		gd_object_free(context, GD_TYPE_CONTEXT);
		return NULL;
	}
	context->device = device;
	context->primary = is_primary;
	pthread_mutex_init(&context->streams_lock, NULL);
	return context;
}

bool gd_contexts_start(const gd_context_drop *drops_of_parts)
{
	drops = drops_of_parts;
	for (unsigned d = 0; d < gd_visible_count; d++) {
		primary[d] = make(d, true);
		if (!primary[d])
			return false;
		gd_object_publish(primary[d], GD_TYPE_CONTEXT);
	}
	return true;
}

/* The context begins to hold memory of its device; gd_contexts_lock is held. */
static CUresult activate(struct gd_context *context)
{
	if (!gd_budget_take(context->device, gd_facts.context_bytes, gd_facts.total_bytes, true))
		return CUDA_ERROR_OUT_OF_MEMORY;
	context->id = gd_next_id();
	context->blocking_ready_ns = context->ready_ns = 0;
	reset_settings(context);
	context->legacy = gd_stream_new(context, GD_STREAM_LEGACY, 0, 0);
	if (!context->legacy) {
		gd_budget_give(context->device, gd_facts.context_bytes, true);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	__atomic_store_n(&context->active, true, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

static void set_ending(struct gd_context *context, bool ending)
{
	pthread_mutex_lock(&context->streams_lock);
	context->ending = ending;
	pthread_mutex_unlock(&context->streams_lock);
}

void gd_context_notice(const struct gd_context *context, enum gd_notice_kind kind)
{
	gd_notice_send(&(struct gd_notice){.kind = kind,
	    .device = context->device,
	    .context_id = context->id,
	    .stream_id = kind == GD_NOTICE_CONTEXT_MADE ? context->legacy->id : 0,
	    .context = (void *)(uintptr_t)context});
}

/* Everything in it goes.  gd_contexts_lock is held on the way in and out, but not while the queued
 * work is waited for: host functions may need it. */
static void deactivate(struct gd_context *context)
{
	__atomic_store_n(&context->active, false, __ATOMIC_RELEASE);
	context->object.generation++;
	set_ending(context, true);
	gd_streams_end(context);
	pthread_mutex_unlock(&gd_contexts_lock);
	if (gd_watched())
		gd_context_notice(context, GD_NOTICE_CONTEXT_ENDS);
	gd_queue_await_ends(context);
	pthread_mutex_lock(&gd_contexts_lock);
	for (const gd_context_drop *drop = drops; *drop; drop++)
		(*drop)(context);
	context->legacy = NULL;
	gd_budget_give(context->device, gd_facts.context_bytes, true);
	set_ending(context, false);
	pthread_cond_broadcast(&ended);
}

/* Take gd_contexts_lock when nobody is ending the context. @return false, without the lock, from a
 * host function that the end may be waiting for */
static bool lock_settled(struct gd_context *context)
{
	pthread_mutex_lock(&gd_contexts_lock);
	while (context->ending && !gd_queue_serving())
		pthread_cond_wait(&ended, &gd_contexts_lock);
	if (!context->ending)
		return true;
	pthread_mutex_unlock(&gd_contexts_lock);
	return false;
}

struct gd_context *gd_context_get(CUcontext handle)
{
	struct gd_context *context = gd_object_get(handle, GD_TYPE_CONTEXT);
	return context && __atomic_load_n(&context->active, __ATOMIC_ACQUIRE) ? context : NULL;
}

struct gd_context *gd_context_primary(unsigned device)
{
	return primary[device];
}

struct gd_context *gd_context_current(void)
{
	const struct gd_thread *thread = gd_thread_state();
	if (!thread || !thread->depth)
		return NULL;
	const struct gd_current *top = &thread->stack[thread->depth - 1];
	if (!top->context || top->generation != top->context->object.generation ||
	    !__atomic_load_n(&top->context->active, __ATOMIC_ACQUIRE))
		return NULL;
	return top->context;
}

struct gd_context *gd_context_or_current(CUcontext handle)
{
	return handle ? gd_context_get(handle) : gd_context_current();
}

CUresult gd_context_error(void)
{
	const struct gd_thread *thread = gd_thread_state();
	bool gone = thread && thread->depth && thread->stack[thread->depth - 1].context;
	return gone ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult retain(struct gd_context *context)
{
	CUresult result = CUDA_SUCCESS;
	if (!lock_settled(context))
		return CUDA_ERROR_NOT_PERMITTED;
	bool made = !context->active;
	if (made)
		result = activate(context);
	if (result == CUDA_SUCCESS)
		context->retained++;
	pthread_mutex_unlock(&gd_contexts_lock);
	if (result == CUDA_SUCCESS && made && gd_watched())
		gd_context_notice(context, GD_NOTICE_CONTEXT_MADE);
	return result;
}

GD_API(cuDevicePrimaryCtxRetain, (CUcontext * context_out, CUdevice device), (context_out, device))
{
	if (!context_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	CUresult result = retain(primary[device]);
	if (result == CUDA_SUCCESS)
		*context_out = (CUcontext)primary[device];
	return result;
}

static CUresult release_primary(CUdevice device)
{
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	struct gd_context *context = primary[device];
	CUresult result = CUDA_SUCCESS;
	if (gd_queue_serving() || !lock_settled(context))
		return CUDA_ERROR_NOT_PERMITTED;
	if (!context->retained)
		result = CUDA_ERROR_INVALID_CONTEXT;
	else if (--context->retained == 0)
		deactivate(context);
	pthread_mutex_unlock(&gd_contexts_lock);
	return result;
}

static CUresult reset_primary(CUdevice device)
{
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	struct gd_context *context = primary[device];
	if (gd_queue_serving() || !lock_settled(context))
		return CUDA_ERROR_NOT_PERMITTED;
	if (context->active)
		deactivate(context);
	/* The references stay: the next use makes the context anew. */
	bool again = context->retained != 0;
	CUresult result = again ? activate(context) : CUDA_SUCCESS;
	pthread_mutex_unlock(&gd_contexts_lock);
	if (result == CUDA_SUCCESS && again && gd_watched())
		gd_context_notice(context, GD_NOTICE_CONTEXT_MADE);
	return result;
}

static CUresult set_primary_flags(CUdevice device, unsigned flags)
{
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
		return CUDA_ERROR_INVALID_VALUE;
	primary[device]->flags = flags;
	return CUDA_SUCCESS;
}

GD_API(cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))
{
	return release_primary(device);
}

GD_API(cuDevicePrimaryCtxRelease, (CUdevice device), (device))
{
	return release_primary(device);
}

GD_API(cuDevicePrimaryCtxReset_v2, (CUdevice device), (device))
{
	return reset_primary(device);
}

GD_API(cuDevicePrimaryCtxReset, (CUdevice device), (device))
{
	return reset_primary(device);
}

GD_API(cuDevicePrimaryCtxSetFlags_v2, (CUdevice device, unsigned int flags), (device, flags))
{
	return set_primary_flags(device, flags);
}

GD_API(cuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned int flags), (device, flags))
{
	return set_primary_flags(device, flags);
}

GD_API(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned int *flags_out, int *active_out),
    (device, flags_out, active_out))
{
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!flags_out || !active_out)
		return CUDA_ERROR_INVALID_VALUE;
	*flags_out = primary[device]->flags;
	*active_out = __atomic_load_n(&primary[device]->active, __ATOMIC_ACQUIRE);
	return CUDA_SUCCESS;
}

/* ---- the stack of current contexts ---- */

static CUresult push(struct gd_context *context)
{
	struct gd_thread *thread = gd_thread_state();
	if (!thread || thread->depth == GD_CONTEXT_STACK)
		return CUDA_ERROR_OUT_OF_MEMORY;
	thread->stack[thread->depth++] =
	    (struct gd_current){context, context ? context->object.generation : 0};
	return CUDA_SUCCESS;
}

static CUresult pop(struct gd_context **context_out)
{
	struct gd_thread *thread = gd_thread_state();
	if (!thread || !thread->depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	*context_out = thread->stack[--thread->depth].context;
	return CUDA_SUCCESS;
}

static CUresult create(CUcontext *context_out, unsigned flags, CUdevice device)
{
	if (!context_out || flags & ~(unsigned)CU_CTX_FLAGS_MASK)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&gd_contexts_lock);
	struct gd_context *context = make((unsigned)device, false);
	CUresult result = context ? activate(context) : CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS) {
		context->flags = flags;
		gd_object_publish(context, GD_TYPE_CONTEXT);
	} else if (context) {
		by_index[context->index] = NULL;
		gd_object_free(context, GD_TYPE_CONTEXT);
	}
	pthread_mutex_unlock(&gd_contexts_lock);
	if (result == CUDA_SUCCESS) {
		if (gd_watched())
			gd_context_notice(context, GD_NOTICE_CONTEXT_MADE);
		*context_out = (CUcontext)context;
		result = push(context);
	}
	return result;
}

static CUresult destroy(CUcontext handle)
{
	struct gd_thread *thread = gd_thread_state();
	if (gd_queue_serving())
		return CUDA_ERROR_NOT_PERMITTED;
	pthread_mutex_lock(&gd_contexts_lock);
	struct gd_context *context = gd_context_get(handle);
	if (!context || context->primary) {
		pthread_mutex_unlock(&gd_contexts_lock);
		return CUDA_ERROR_INVALID_CONTEXT;
	}
	if (thread && thread->depth && thread->stack[thread->depth - 1].context == context)
		thread->depth--;
	deactivate(context);
	by_index[context->index] = NULL;
	pthread_mutex_destroy(&context->streams_lock);
	gd_object_free(context, GD_TYPE_CONTEXT);
	pthread_mutex_unlock(&gd_contexts_lock);
	return CUDA_SUCCESS;
}

GD_API(cuCtxCreate, (CUcontext * context_out, unsigned int flags, CUdevice device),
    (context_out, flags, device))
{
	return create(context_out, flags, device);
}

GD_API(cuCtxCreate_v2, (CUcontext * context_out, unsigned int flags, CUdevice device),
    (context_out, flags, device))
{
	return create(context_out, flags, device);
}

GD_API(cuCtxCreate_v3,
    (CUcontext * context_out, CUexecAffinityParam *affinity, int affinity_count, unsigned int flags,
	CUdevice device),
    (context_out, affinity, affinity_count, flags, device))
{
	return affinity_count ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
			      : create(context_out, flags, device);
}

GD_API(cuCtxCreate_v4,
    (CUcontext * context_out, CUctxCreateParams *more, unsigned int flags, CUdevice device),
    (context_out, more, flags, device))
{
	if (more && (more->numExecAffinityParams || more->cigParams))
		return CUDA_ERROR_NOT_SUPPORTED;
	return create(context_out, flags, device);
}

GD_API(cuCtxDestroy, (CUcontext context), (context))
{
	return destroy(context);
}

GD_API(cuCtxDestroy_v2, (CUcontext context), (context))
{
	return destroy(context);
}

static CUresult push_handle(CUcontext handle)
{
	struct gd_context *context = gd_context_get(handle);
	return context ? push(context) : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult pop_handle(CUcontext *context_out)
{
	struct gd_context *context;
	CUresult result = pop(&context);
	if (result == CUDA_SUCCESS && context_out)
		*context_out = (CUcontext)context;
	return result;
}

GD_API(cuCtxPushCurrent, (CUcontext context), (context))
{
	return push_handle(context);
}

GD_API(cuCtxPushCurrent_v2, (CUcontext context), (context))
{
	return push_handle(context);
}

GD_API(cuCtxPopCurrent, (CUcontext * context_out), (context_out))
{
	return pop_handle(context_out);
}

GD_API(cuCtxPopCurrent_v2, (CUcontext * context_out), (context_out))
{
	return pop_handle(context_out);
}

GD_API(cuCtxSetCurrent, (CUcontext handle), (handle))
{
	struct gd_context *context = handle ? gd_context_get(handle) : NULL;
	struct gd_thread *thread = gd_thread_state();
	if (handle && !context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!thread)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (thread->depth)
		thread->depth--;
	return context ? push(context) : CUDA_SUCCESS;
}

GD_API(cuCtxGetCurrent, (CUcontext * context_out), (context_out))
{
	const struct gd_thread *thread = gd_thread_state();
	if (!context_out)
		return CUDA_ERROR_INVALID_VALUE;
	*context_out =
	    thread && thread->depth ? (CUcontext)thread->stack[thread->depth - 1].context : NULL;
	return CUDA_SUCCESS;
}
