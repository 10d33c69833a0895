/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a driver function is written.
 *
 * GD_API(name, (types and names), (names)) { body } defines the exported function: it passes the
 * gate (initialised? forked? call log? fault script? watched?) and calls the body.  GD_API_PTSZ and
 * GD_API_PTDS also define the twin for programs whose default stream is one per thread; the body
 * gets one more first parameter, `bool per_thread`.  GD_API_EARLY may be called before cuInit.
 *
 * Bodies never call exported functions: a preloaded library may have put itself in front of them.
 */
#ifndef GD_CUDA_API_H
#define GD_CUDA_API_H

#define __CUDA_API_VERSION_INTERNAL /* declare every symbol under its own name */
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/dryrun/call_watch.h"
#include "shim/dryrun/gate.h"
#include "shim/dryrun/gd_export.h"

/* The macros that cuda.h leaves behind would rename the functions defined here. */
#undef cuStreamGetDevice
#undef cuGraphExecUpdate
#undef cuProfilerStart

#define GD_LIST(...) __VA_ARGS__

#define GD_ENTRY(name, early, params, call) \
	GD_EXPORT CUresult CUDAAPI name params \
	{ \
		if (__builtin_expect(gd_gate_closed(), 0)) { \
			struct gd_call gate_call; \
			CUresult gate_result = gd_gate_enter(&gate_call, #name, early); \
			if (gate_result == CUDA_SUCCESS) \
				gate_result = call; \
			gd_gate_leave(&gate_call, #name, gate_result); \
			return gate_result; \
		} \
		return call; \
	}

#define GD_API(name, params, args) \
	static CUresult gd_body_##name params; \
	GD_ENTRY(name, false, params, gd_body_##name args) \
	static CUresult gd_body_##name params

#define GD_API_EARLY(name, params, args) \
	static CUresult gd_body_##name params; \
	GD_ENTRY(name, true, params, gd_body_##name args) \
	static CUresult gd_body_##name params

#define GD_API_TWIN(name, twin, params, args) \
	static CUresult gd_body_##name(bool per_thread, GD_LIST params); \
	GD_ENTRY(name, false, params, gd_body_##name(false, GD_LIST args)) \
	GD_ENTRY(twin, false, params, gd_body_##name(true, GD_LIST args)) \
	static CUresult gd_body_##name(bool per_thread, GD_LIST params)
#define GD_API_PTSZ(name, params, args) GD_API_TWIN(name, name##_ptsz, params, args)
#define GD_API_PTDS(name, params, args) GD_API_TWIN(name, name##_ptds, params, args)

#endif
