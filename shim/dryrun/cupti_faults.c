/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_faults.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "driver_door.h"

static int (*ask_script)(const char *);
static __thread CUptiResult last_error;
static bool forked;

static void lose_child(void)
{
	forked = true;
}

static void prepare(void)
{
	const char *script = getenv("GPUSHIM_DRYRUN_FAULTS");

	pthread_atfork(NULL, NULL, lose_child);
	if (script && *script)
		*(void **)&ask_script = gd_driver_extra("gpushim_dryrun_fault");
}

int gd_cupti_fault(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare);
	return ask_script ? ask_script(name) : 0;
}

bool gd_cupti_forked(void)
{
	return forked;
}

CUptiResult gd_cupti_refusal(const char *name)
{
	int refused = gd_cupti_fault(name);

	return forked ? CUPTI_ERROR_NOT_INITIALIZED : (CUptiResult)refused;
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
