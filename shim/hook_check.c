/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the rows of hook_table.h and the layouts of cuda_layout.h with NVIDIA's cuda.h, where the
 * build found one.  Produces no code.  The headers of CUDA map most names to their newest variant;
 * with __CUDA_API_VERSION_INTERNAL they declare every variant under its own name.
 */
#ifdef GS_HAVE_CUDA_H

#include <stddef.h>

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "shim/cuda_layout.h"
#include "shim/hook_macros.h"
#include "shim/hook_table.h"

/* GS_SINCE_<version>(x) is x if the header is new enough, else nothing. */
#define GS_SINCE_0(...) __VA_ARGS__
#if CUDA_VERSION >= 12000
#define GS_SINCE_12000(...) __VA_ARGS__
#else
#define GS_SINCE_12000(...)
#endif
#if CUDA_VERSION >= 12010
#define GS_SINCE_12010(...) __VA_ARGS__
#else
#define GS_SINCE_12010(...)
#endif
#if CUDA_VERSION >= 12020
#define GS_SINCE_12020(...) __VA_ARGS__
#else
#define GS_SINCE_12020(...)
#endif
#if CUDA_VERSION >= 12030
#define GS_SINCE_12030(...) __VA_ARGS__
#else
#define GS_SINCE_12030(...)
#endif
#if CUDA_VERSION >= 12040
#define GS_SINCE_12040(...) __VA_ARGS__
#else
#define GS_SINCE_12040(...)
#endif
#if CUDA_VERSION >= 12050
#define GS_SINCE_12050(...) __VA_ARGS__
#else
#define GS_SINCE_12050(...)
#endif
#if CUDA_VERSION >= 12080
#define GS_SINCE_12080(...) __VA_ARGS__
#else
#define GS_SINCE_12080(...)
#endif
#if CUDA_VERSION >= 13000
#define GS_SINCE_13000(...) __VA_ARGS__
#else
#define GS_SINCE_13000(...)
#endif

#define H(since, class, use, recorder, fn, ...) \
	GS_SINCE_##since(_Static_assert(__builtin_types_compatible_p(__typeof__(&fn), \
	    CUresult(*)(GS_PARAMS(__VA_ARGS__))), "row differs from cuda.h: " #fn);)
GS_HOOKS(H)
#undef H
#define S(since, type, bytes) \
	GS_SINCE_##since(_Static_assert(sizeof(type) == (bytes), "size of " #type);)
GS_CUDA_SIZES(S)
#undef S
#define F(since, type, field, position) \
	GS_SINCE_##since(_Static_assert(offsetof(type, field) == (position), #type "." #field);)
GS_CUDA_FIELDS(F)
#undef F
#define C(name, number) _Static_assert((name) == (number), #name);
GS_CUDA_CONSTANTS(C)
#undef C

#endif

/* ISO C wants something in every file. */
typedef int gs_hook_check_has_no_code;
