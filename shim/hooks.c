/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/hooks.h"

#include "shim/cuda_types.h"
#include "shim/hook_macros.h"
#include "shim/recorders.h"
#include "shim/resolve.h"

#define GS_USE_USES true
#define GS_USE_QUIET false

/* _ptsz and _ptds variants use a default stream per thread; folded at compile time. */
#define GS_ENDS_IN(name, end) \
	(sizeof(name) > sizeof(end) && \
	    __builtin_strcmp(&(name)[sizeof(name) - sizeof(end)], (end)) == 0)
#define GS_NAME_FLAGS(name) \
	(GS_ENDS_IN(name, "_ptsz") || GS_ENDS_IN(name, "_ptds") ? GF_FLAG_PER_THREAD : 0u)

#define H(since, class, use, recorder, fn, ...) static CUresult gs_first_##fn(GS_PARAMS(__VA_ARGS__));
GS_HOOKS(H)
#undef H

/* The real functions.  No call site tests for NULL: each begins with one that looks it up. */
static struct {
#define H(since, class, use, recorder, fn, ...) CUresult (*fn)(GS_PARAMS(__VA_ARGS__));
	GS_HOOKS(H)
#undef H
} gs_real = {
#define H(since, class, use, recorder, fn, ...) .fn = gs_first_##fn,
    GS_HOOKS(H)
#undef H
};

#define H(since, class_name, use, recorder, fn, ...) \
	static CUresult gs_first_##fn(GS_PARAMS(__VA_ARGS__)) \
	{ \
		bool driver = gs_resolve(); \
		CUresult (*real)(GS_PARAMS(__VA_ARGS__)) = \
		    __atomic_load_n(&gs_real.fn, __ATOMIC_RELAXED); \
		if (real == gs_first_##fn) \
			return driver ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_NOT_INITIALIZED; \
		return real(GS_ARGS(__VA_ARGS__)); \
	} \
	static CUresult gs_wrap_##fn(GS_PARAMS(__VA_ARGS__)) \
	{ \
		struct gs_call call; \
		CUresult (*real)(GS_PARAMS(__VA_ARGS__)) = \
		    __atomic_load_n(&gs_real.fn, __ATOMIC_RELAXED); \
		if (!gs_enter(&call, GS_HOOK_##fn, GS_CLASS_##class_name, GS_USE_##use, \
			GS_NAME_FLAGS(#fn))) \
			return real(GS_ARGS(__VA_ARGS__)); \
		CUresult result = real(GS_ARGS(__VA_ARGS__)); \
		if (gs_returned(&call, (int)result)) \
			gs_rec_##recorder(&call GS_COMMA_ARGS(__VA_ARGS__)); \
		gs_leave(); \
		return result; \
	} \
	CUresult fn(GS_PARAMS(__VA_ARGS__)) \
	    __attribute__((alias("gs_wrap_" #fn), visibility("default")));
GS_HOOKS(H)
#undef H

const struct gs_hook_row gs_hook_rows[GS_HOOK_COUNT] = {
#define H(since, class_name, use, recorder, fn, ...) \
	[GS_HOOK_##fn] = {#fn, (void *)gs_wrap_##fn, (void **)&gs_real.fn, GS_CLASS_##class_name},
    GS_HOOKS(H)
#undef H
};
