/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of a context and set in it, waiting for it, peers. */
#include <string.h>

#include "shim/dryrun/capture.h"
#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_table.h"
#include "shim/dryrun/memory_pools.h"
#include "shim/dryrun/operations.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/thread_state.h"

/* Of the second version of contexts, which all of today's are. */
#define CONTEXT_API_VERSION 3020

/* The context that a call asks about: `handle`, or that of this thread when it is NULL. */
static CUresult asked(CUcontext handle, const void *out, struct gd_context **context_out)
{
	*context_out = gd_context_or_current(handle);
	if (!*context_out)
		return handle ? CUDA_ERROR_INVALID_CONTEXT : gd_context_error();
	return out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult device_of(CUdevice *device_out, CUcontext handle)
{
	struct gd_context *context;
	CUresult result = asked(handle, device_out, &context);
	if (result == CUDA_SUCCESS)
		*device_out = (CUdevice)context->device;
	return result;
}

GD_API(cuCtxGetDevice, (CUdevice * device_out), (device_out))
{
	return device_of(device_out, NULL);
}

GD_API(cuCtxGetDevice_v2, (CUdevice * device_out, CUcontext context), (device_out, context))
{
	return device_of(device_out, context);
}

GD_API(cuCtxGetFlags, (unsigned int *flags_out), (flags_out))
{
	struct gd_context *context;
	CUresult result = asked(NULL, flags_out, &context);
	if (result == CUDA_SUCCESS)
		*flags_out = context->flags;
	return result;
}

GD_API(cuCtxSetFlags, (unsigned int flags), (flags))
{
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	if (flags & ~(unsigned)CU_CTX_FLAGS_MASK)
		return CUDA_ERROR_INVALID_VALUE;
	context->flags = flags;
	return CUDA_SUCCESS;
}

GD_API(cuCtxGetId, (CUcontext handle, unsigned long long *id_out), (handle, id_out))
{
	struct gd_context *context;
	CUresult result = asked(handle, id_out, &context);
	if (result == CUDA_SUCCESS)
		*id_out = context->id;
	return result;
}

GD_API(cuCtxGetApiVersion, (CUcontext handle, unsigned int *version_out), (handle, version_out))
{
	struct gd_context *context;
	CUresult result = asked(handle, version_out, &context);
	if (result == CUDA_SUCCESS)
		*version_out = CONTEXT_API_VERSION;
	return result;
}

/* Sizes that have no effect here are kept, so that a program reads what it set. */
GD_API(cuCtxSetLimit, (CUlimit limit, size_t value), (limit, value))
{
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	if ((unsigned)limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	if (limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY && value > 128)
		return CUDA_ERROR_INVALID_VALUE;
	if (limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE &&
	    value > (size_t)gd_facts.persisting_l2_bytes)
		value = (size_t)gd_facts.persisting_l2_bytes;
	context->limits[limit] = value;
	return CUDA_SUCCESS;
}

GD_API(cuCtxGetLimit, (size_t * value_out, CUlimit limit), (value_out, limit))
{
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	if ((unsigned)limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	if (!value_out)
		return CUDA_ERROR_INVALID_VALUE;
	*value_out = context->limits[limit];
	return CUDA_SUCCESS;
}

GD_API(cuCtxGetCacheConfig, (CUfunc_cache * config_out), (config_out))
{
	struct gd_context *context;
	CUresult result = asked(NULL, config_out, &context);
	if (result == CUDA_SUCCESS)
		*config_out = (CUfunc_cache)context->cache_config;
	return result;
}

GD_API(cuCtxSetCacheConfig, (CUfunc_cache config), (config))
{
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
		return CUDA_ERROR_INVALID_VALUE;
	context->cache_config = config;
	return CUDA_SUCCESS;
}

/* One bank size only, as on current devices. */
GD_API(cuCtxGetSharedMemConfig, (CUsharedconfig * config_out), (config_out))
{
	struct gd_context *context;
	CUresult result = asked(NULL, config_out, &context);
	if (result == CUDA_SUCCESS)
		*config_out = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
	return result;
}

GD_API(cuCtxSetSharedMemConfig, (CUsharedconfig config), (config))
{
	if (!gd_context_current())
		return gd_context_error();
	return (unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
		   ? CUDA_ERROR_INVALID_VALUE
		   : CUDA_SUCCESS;
}

GD_API(cuCtxResetPersistingL2Cache, (void), ())
{
	return gd_context_current() ? CUDA_SUCCESS : gd_context_error();
}

GD_API(cuCtxGetExecAffinity, (CUexecAffinityParam * affinity_out, CUexecAffinityType type),
    (affinity_out, type))
{
	struct gd_context *context;
	CUresult result = asked(NULL, affinity_out, &context);
	return result == CUDA_SUCCESS ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : result;
}

/* ---- waiting ---- */

static CUresult synchronize(struct gd_context *context)
{
	CUresult result = gd_capture_refuse_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	if (!gd_context_wait(context))
		return CUDA_ERROR_NOT_PERMITTED;
	gd_pools_trim(context->device);
	GD_COUNT(context->device, synchronizations, 1);
	if (gd_watched())
		gd_context_notice(context, GD_NOTICE_CONTEXT_WAITED);
	return CUDA_SUCCESS;
}

GD_API(cuCtxSynchronize, (void), ())
{
	struct gd_context *context = gd_context_current();
	return context ? synchronize(context) : gd_context_error();
}

GD_API(cuCtxSynchronize_v2, (CUcontext handle), (handle))
{
	struct gd_context *context = gd_context_or_current(handle);
	if (!context)
		return handle ? CUDA_ERROR_INVALID_CONTEXT : gd_context_error();
	return synchronize(context);
}

/* ---- peers ---- */

static uint8_t peers[GD_MAX_CONTEXTS][GD_MAX_CONTEXTS]; /* by context index; atomic */

void gd_peers_drop_context(const struct gd_context *context)
{
	for (unsigned i = 0; i < GD_MAX_CONTEXTS; i++) {
		__atomic_store_n(&peers[context->index][i], 0, __ATOMIC_RELEASE);
		__atomic_store_n(&peers[i][context->index], 0, __ATOMIC_RELEASE);
	}
}

/* Both contexts of a pair, this thread's first. */
static CUresult peer_of(CUcontext handle, struct gd_context **own_out, struct gd_context **peer_out)
{
	*own_out = gd_context_current();
	*peer_out = gd_context_get(handle);
	if (!*own_out)
		return gd_context_error();
	if (!*peer_out)
		return CUDA_ERROR_INVALID_CONTEXT;
	return CUDA_SUCCESS;
}

GD_API(cuCtxEnablePeerAccess, (CUcontext handle, unsigned int flags), (handle, flags))
{
	struct gd_context *own, *peer;
	CUresult result = peer_of(handle, &own, &peer);
	if (result != CUDA_SUCCESS)
		return result;
	if (own == peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (own->device == peer->device)
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	if (__atomic_exchange_n(&peers[own->index][peer->index], 1, __ATOMIC_ACQ_REL))
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	return CUDA_SUCCESS;
}

GD_API(cuCtxDisablePeerAccess, (CUcontext handle), (handle))
{
	struct gd_context *own, *peer;
	CUresult result = peer_of(handle, &own, &peer);
	if (result != CUDA_SUCCESS)
		return result;
	if (!__atomic_exchange_n(&peers[own->index][peer->index], 0, __ATOMIC_ACQ_REL))
		return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	return CUDA_SUCCESS;
}
