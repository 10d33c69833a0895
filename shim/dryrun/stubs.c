/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One refusing function for every import of PyTorch's wheels; compiled once per library.
 *
 * All are weak: a written function of that name in the same library is chosen instead.  The pointer
 * sized result serves statuses and structs of two words; what must return text or an address is
 * written.
 */
#include "gd_export.h"
#include "imports.h"
#include "unprovided.h"

#define GD_STUB(function) \
	GD_EXPORT __attribute__((weak)) intptr_t function(void); \
	intptr_t function(void) \
	{ \
		return GD_REFUSE(); \
	}
#define GD_EXPAND_IN(library, X) GD_IMPORTS_##library(X)
#define GD_EXPAND(library, X) GD_EXPAND_IN(library, X)

#ifndef GD_IMPORTS_curand
#define GD_IMPORTS_curand(X)
#endif
#ifndef GD_IMPORTS_nvToolsExt
#define GD_IMPORTS_nvToolsExt(X)
#endif
#ifndef GD_IMPORTS_nvml
#define GD_IMPORTS_nvml(X)
#endif
#ifndef GD_IMPORTS_nvJitLink
#define GD_IMPORTS_nvJitLink(X)
#endif

GD_EXPAND(GD_LIBRARY, GD_STUB)
