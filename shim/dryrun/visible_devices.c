/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/visible_devices.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "shim/dryrun/device_table.h"
#include "shim/dryrun/shared_state.h"

unsigned gd_visible_count;

/* "GPU-" and the identity in groups of 4-2-2-2-6 bytes. */
static void write_uuid(unsigned device, char out[48])
{
	unsigned char id[16];
	int used = snprintf(out, 48, "GPU-");
	gd_device_uuid(device, id);
	for (int i = 0; i < 16; i++)
		used += snprintf(out + used, 48 - (size_t)used, "%s%02x",
		    i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

/* The device that an entry names, or gd_facts.count. */
static unsigned device_named(const char *entry)
{
	char name[48], *end;
	unsigned found = gd_facts.count;
	if (isdigit((unsigned char)*entry)) {
		unsigned long number = strtoul(entry, &end, 10);
		end += strspn(end, " \t");
		return *end == 0 && number < gd_facts.count ? (unsigned)number : gd_facts.count;
	}
	if (strncasecmp(entry, "GPU-", 4) != 0 || !entry[4])
		return found;
	for (unsigned d = 0; d < gd_facts.count; d++) {
		write_uuid(d, name);
		if (strncasecmp(name, entry, strlen(entry)) != 0)
			continue;
		if (found < gd_facts.count)
			return gd_facts.count; /* fits more than one */
		found = d;
	}
	return found;
}

static bool seen(unsigned device)
{
	for (unsigned i = 0; i < gd_visible_count; i++) {
		if (gd_physical[i] == device)
			return true;
	}
	return false;
}

void gd_visible_start(void)
{
	const char *text = getenv("CUDA_VISIBLE_DEVICES");
	char *copy = text ? strdup(text) : NULL, *rest = copy;
	if (!copy) {
		gd_visible_count = gd_facts.count;
		return;
	}
	for (char *entry = strsep(&rest, ","); entry; entry = strsep(&rest, ",")) {
		unsigned device = device_named(entry + strspn(entry, " \t"));
		if (device == gd_facts.count || seen(device))
			break;
		gd_physical[gd_visible_count++] = (uint8_t)device;
	}
	free(copy);
}
