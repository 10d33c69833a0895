/* SPDX-License-Identifier: Apache-2.0 */
#include "unprovided.h"

#include <stddef.h>

#include "driver_door.h"

void gd_unprovided(const char *function)
{
	static void *_Atomic cached;
	void (*tell)(const char *);
	void *address = cached;

	if (!address)
		cached = address = gd_driver_extra("gpushim_dryrun_missing");
	*(void **)&tell = address;
	if (tell)
		tell(function);
}
