/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/device_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/shared_state.h"

struct gd_device_facts gd_facts;

/* What NVIDIA's programming guide tells of each generation; the row with the highest version that
 * is not above the device's counts.  Shared memory in KiB, L2 in MiB, clocks in MHz. */
struct generation {
	int version;
	int threads_per_sm, blocks_per_sm, shared_per_sm, shared_per_block, l2, clock;
	int memory_bus_bits;
};
static const struct generation generations[] = {
    {50, 2048, 32, 64, 48, 2, 1100, 256},
    {60, 2048, 32, 64, 48, 4, 1480, 4096},
    {61, 2048, 32, 96, 48, 3, 1582, 352},
    {70, 2048, 32, 96, 96, 6, 1530, 4096},
    {72, 2048, 32, 96, 96, 1, 1377, 256},
    {75, 1024, 16, 64, 64, 4, 1590, 256},
    {80, 2048, 32, 164, 163, 40, 1410, 5120},
    {86, 1536, 16, 100, 99, 6, 1695, 384},
    {87, 1536, 16, 164, 163, 4, 1300, 256},
    {89, 1536, 24, 100, 99, 72, 2520, 384},
    {90, 2048, 32, 228, 227, 50, 1980, 5120},
    {100, 2048, 32, 228, 227, 126, 1965, 8192},
    {103, 2048, 32, 228, 227, 126, 1965, 8192},
    {110, 1536, 24, 228, 227, 32, 1575, 256},
    {120, 1536, 24, 100, 99, 96, 2407, 512},
};

static void fill_generation(void)
{
	int version = gd_facts.major * 10 + gd_facts.minor;
	const struct generation *g = &generations[0];
	for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
		if (generations[i].version <= version)
			g = &generations[i];
	}
	gd_facts.threads_per_sm = g->threads_per_sm;
	gd_facts.blocks_per_sm = g->blocks_per_sm;
	gd_facts.registers_per_sm = 65536;
	gd_facts.shared_per_sm = g->shared_per_sm * 1024;
	gd_facts.shared_per_block_optin = g->shared_per_block * 1024;
	gd_facts.l2_bytes = g->l2 * 1024 * 1024;
	gd_facts.persisting_l2_bytes = version >= 80 ? gd_facts.l2_bytes / 4 * 3 : 0;
	gd_facts.clock_khz = g->clock * 1000;
	gd_facts.memory_bus_bits = g->memory_bus_bits;
	/* Two transfers a clock: what programs compute from it is the bandwidth again. */
	gd_facts.memory_clock_khz =
	    (int)(gd_facts.bandwidth_per_s * 8 / (2000 * (uint64_t)g->memory_bus_bits));
}

static bool whole_number(const char *text, uint64_t *out)
{
	char *end;
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno == 0 && *end == 0;
}

static bool set_fact(const char *key, const char *value)
{
	if (strcmp(key, "name") == 0) {
		snprintf(gd_facts.name, sizeof(gd_facts.name), "%s", value);
		return true;
	}
	if (strcmp(key, "cc") == 0) {
		return sscanf(value, "%d.%d", &gd_facts.major, &gd_facts.minor) == 2 &&
		       gd_facts.major >= 5 && gd_facts.major < 100 && gd_facts.minor >= 0 &&
		       gd_facts.minor < 10;
	}
#define GD_DEVICE_SET(name, field, standard) \
	if (strcmp(key, name) == 0) \
		return whole_number(value, &gd_facts.field);
	GD_DEVICE_NUMBERS(GD_DEVICE_SET)
#undef GD_DEVICE_SET
	return true; /* from a newer launcher */
}

static bool read_facts(const char *text)
{
	char *copy = strdup(text), *rest = NULL;
	bool fine = copy != NULL;
	for (char *pair = fine ? strtok_r(copy, ";", &rest) : NULL; pair && fine;
	     pair = strtok_r(NULL, ";", &rest)) {
		char *value = strchr(pair, '=');
		if (value)
			*value++ = 0;
		fine = value && set_fact(pair, value);
		if (!fine)
			fprintf(stderr,
			    "gpushim dryrun: GPUSHIM_DRYRUN_DEVICE: bad value of \"%s\"\n", pair);
	}
	free(copy);
	return fine;
}

bool gd_device_table_start(void)
{
	const char *device = getenv("GPUSHIM_DRYRUN_DEVICE");
	const char *number = getenv("GPUSHIM_DRYRUN_COUNT");
	uint64_t count = 1;
#define GD_DEVICE_STANDARD(key, field, standard) gd_facts.field = (standard);
	GD_DEVICE_NUMBERS(GD_DEVICE_STANDARD)
#undef GD_DEVICE_STANDARD
	snprintf(gd_facts.name, sizeof(gd_facts.name), "gpushim stand-in GPU");
	gd_facts.major = 8;
	gd_facts.minor = 9;
	if (device && *device && !read_facts(device))
		return false;
	if (number && *number && (!whole_number(number, &count) || count > GD_MAX_DEVICES)) {
		fprintf(stderr, "gpushim dryrun: GPUSHIM_DRYRUN_COUNT: at most %d devices\n",
		    GD_MAX_DEVICES);
		return false;
	}
	gd_facts.count = (unsigned)count;
	fill_generation();
	return true;
}

void gd_device_uuid(unsigned device, unsigned char out[16])
{
	memcpy(out, "gpushim-standin", 15);
	out[15] = (unsigned char)device;
}

unsigned gd_device_pci_bus(unsigned device)
{
	return 1 + device;
}
