/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL: what it says when something is wrong. */
#include "nccl_api.h"
#include "nccl_errors.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Of the process, as NCCL has it.  The words of the last failures stay while a caller reads them.
 */
static char words[8][512];
static _Atomic unsigned failures;

int gd_nccl_fail(int status, const char *form, ...)
{
	const char *debug = getenv("NCCL_DEBUG");
	va_list arguments;
	char *next;

	pthread_mutex_lock(&lock);
	next = words[(failures + 1) % 8];
	va_start(arguments, form);
	vsnprintf(next, sizeof(words[0]), form, arguments);
	va_end(arguments);
	failures++;
	if (debug && *debug && strcasecmp(debug, "VERSION") != 0)
		fprintf(stderr, "gpushim dryrun: NCCL WARN %s\n", next);
	pthread_mutex_unlock(&lock);
	return status;
}

const char *ncclGetErrorString(int status)
{
#define GD_NCCL_TEXT(name, number, text) [number] = text,
	static const char *const texts[] = {GD_NCCL_STATUSES(GD_NCCL_TEXT)};
#undef GD_NCCL_TEXT

	if (status < 0 || (unsigned)status >= sizeof(texts) / sizeof(*texts))
		return "unknown result code";
	return texts[status];
}

const char *ncclGetLastError(const struct ncclComm *comm)
{
	return words[failures % 8];
}
