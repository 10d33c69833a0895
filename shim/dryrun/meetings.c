/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/meetings.h"

#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/copies.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/host_memory.h"

static __thread struct gd_held_meeting *next_meeting;

GD_EXPORT int gpushim_dryrun_meet(const struct gd_meeting *meeting)
{
	gd_meeting_drop(gd_meeting_take());
	if (!meeting)
		return 0;
	struct gd_held_meeting *held = malloc(sizeof(*held));
	if (!held)
		return -1;
	held->what = *meeting;
	held->references = 1;
	next_meeting = held;
	return 0;
}

struct gd_held_meeting *gd_meeting_take(void)
{
	struct gd_held_meeting *meeting = next_meeting;
	if (__builtin_expect(meeting != NULL, 0))
		next_meeting = NULL;
	return meeting;
}

void gd_meeting_hold(struct gd_held_meeting *meeting)
{
	if (meeting)
		__atomic_fetch_add(&meeting->references, 1, __ATOMIC_RELAXED);
}

void gd_meeting_drop(struct gd_held_meeting *meeting)
{
	if (!meeting || __atomic_sub_fetch(&meeting->references, 1, __ATOMIC_ACQ_REL))
		return;
	meeting->what.drop(meeting->what.user);
	free(meeting);
}

static bool host_range(uint64_t address, size_t bytes)
{
	struct gd_host_range range;
	return gd_host_find(address, &range) && bytes <= range.bytes - (address - range.start);
}

GD_EXPORT int gpushim_dryrun_read(void *to, const void *from, size_t bytes)
{
	uint64_t address = (uint64_t)(uintptr_t)from;
	if (gd_space_holds(address)) {
		if (!gd_memory_range(address, bytes))
			return -1;
		gd_space_load(to, address, bytes);
		return 0;
	}
	if (!host_range(address, bytes))
		return -1;
	memcpy(to, from, bytes);
	return 0;
}

GD_EXPORT int gpushim_dryrun_write(void *to, const void *from, size_t bytes)
{
	uint64_t address = (uint64_t)(uintptr_t)to;
	if (gd_space_holds(address)) {
		if (!gd_memory_range(address, bytes))
			return -1;
		if (from)
			gd_space_store(address, from, bytes);
		else
			gd_space_clear(address, bytes);
		return 0;
	}
	if (!host_range(address, bytes))
		return -1;
	if (from)
		memcpy(to, from, bytes);
	else
		memset(to, 0, bytes);
	return 0;
}

#define STEP 512

GD_EXPORT int gpushim_dryrun_unknown(char *unknown_out, const void *from, size_t bytes)
{
	uint64_t address = (uint64_t)(uintptr_t)from;
	if (!gd_space_holds(address) || !gd_memory_range(address, bytes) ||
	    gd_space_known(address, bytes))
		return 0;
	for (size_t done = 0, size; done < bytes; done += size) {
		size = bytes - done < STEP ? bytes - done : STEP;
		bool all = gd_space_known(address + done, size);
		bool some = !all && gd_space_known_any(address + done, size);
		memset(unknown_out + done, !all, size);
		for (size_t i = done; some && i < done + size; i++)
			unknown_out[i] = !gd_space_known(address + i, 1);
	}
	return 1;
}

GD_EXPORT void gpushim_dryrun_forget(void *to, const char *unknown, size_t bytes)
{
	uint64_t address = (uint64_t)(uintptr_t)to;
	if (!gd_space_holds(address) || !gd_memory_range(address, bytes))
		return;
	for (size_t i = 0, first; i < bytes; i++) {
		for (first = i; i < bytes && unknown[i];)
			i++;
		gd_space_clear(address + first, i - first);
	}
}

GD_EXPORT size_t gpushim_dryrun_real_copy(void)
{
	return gd_copies_limit();
}
