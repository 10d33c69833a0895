/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpus.h"

#include <stddef.h>
#include <strings.h>

#define MIB (UINT64_C(1) << 20)
#define GIGA(x) ((uint64_t)((x)*1e9))
#define TERA(x) ((uint64_t)((x)*1e12))

const struct ga_gpu ga_gpu_models[] = {
#define G( \
    name, words, memory, context, sms, major, minor, bandwidth, pcie, nvlink, fp32, tf32, fp16) \
	{name, words, memory * MIB, context * MIB, sms, major, minor, GIGA(bandwidth), GIGA(pcie), \
	    GIGA(nvlink), TERA(fp32), TERA(tf32), TERA(fp16)},
    GA_GPUS(G)
#undef G
};
const unsigned ga_gpu_count = sizeof(ga_gpu_models) / sizeof(*ga_gpu_models);

const struct ga_gpu *ga_gpu_find(const char *name)
{
	for (unsigned i = 0; i < ga_gpu_count; i++)
		if (strcasecmp(ga_gpu_models[i].name, name) == 0)
			return &ga_gpu_models[i];
	return NULL;
}
