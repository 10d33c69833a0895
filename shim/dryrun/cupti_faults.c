/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_faults.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "driver_door.h"

static int (*ask_script)(const char *);
static __thread CUptiResult last_error;

static void find_script(void)
{
	const char *script = getenv("GPUSHIM_DRYRUN_FAULTS");

	if (script && *script)
		*(void **)&ask_script = gd_driver_extra("gpushim_dryrun_fault");
}

int gd_cupti_fault(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_script);
	return ask_script ? ask_script(name) : 0;
}

CUptiResult gd_cupti_answer(CUptiResult result)
{
	if (result != CUPTI_SUCCESS)
		last_error = result;
	return result;
}

GD_EXPORT CUptiResult cuptiGetLastError(void)
{
	CUptiResult last = last_error;

	last_error = CUPTI_SUCCESS;
	return last;
}
