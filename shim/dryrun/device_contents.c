/* SPDX-License-Identifier: Apache-2.0 */
/* What libraries of the stand-in that compute a little read and write in device memory. */
#include "shim/dryrun/launcher_api.h"

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/copies.h"
#include "shim/dryrun/gate.h"
#include "shim/dryrun/gd_export.h"

GD_EXPORT int gpushim_dryrun_load(void *to, unsigned long long from, size_t bytes);
GD_EXPORT void gpushim_dryrun_store(unsigned long long to, const void *from, size_t bytes);

int gpushim_dryrun_load(void *to, unsigned long long from, size_t bytes)
{
	if (gd_gate_forked() || !gd_space_mapped(from, bytes) || !gd_space_known(from, bytes))
		return 0;
	gd_space_load(to, from, bytes);
	return 1;
}

void gpushim_dryrun_store(unsigned long long to, const void *from, size_t bytes)
{
	if (gd_gate_forked() || !gd_space_mapped(to, bytes))
		return;
	if (bytes > gd_copies_limit())
		gd_space_clear(to, bytes);
	else
		gd_space_store(to, from, bytes);
}
