/* SPDX-License-Identifier: Apache-2.0 */
/* No CUDA header here: the symbols are declared without their parameters. */
#include "shim/dryrun/driver_stubs.h"

#include <stddef.h>
#include <string.h>

#include "shim/dryrun/driver_functions.h"
#include "shim/dryrun/gd_export.h"
#include "shim/dryrun/not_provided.h"

#define STUB(name) \
	GD_EXPORT int name(void); \
	GD_EXPORT __attribute__((weak)) int name(void) \
	{ \
		return gd_not_provided(#name); \
	}
GD_DRIVER_SYMBOLS(STUB)
#undef STUB

struct row {
	const char *base;
	int version;
	bool per_thread;
	int (*function)(void);
};
static const struct row rows[] = {
#define ROW(base, version, per_thread, symbol) {#base, version, per_thread, symbol},
    GD_DRIVER_VERSIONS(ROW)
#undef ROW
};
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

/* First row that is not before the name. */
static size_t lower(const char *base)
{
	size_t low = 0, high = ROW_COUNT;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (strcmp(rows[middle].base, base) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void *gd_driver_find(const char *base, int version, bool per_thread, bool *known_out)
{
	const struct row *plain = NULL, *own = NULL;
	*known_out = false;
	for (size_t i = lower(base); i < ROW_COUNT && strcmp(rows[i].base, base) == 0; i++) {
		*known_out = true;
		if (rows[i].version > version)
			continue;
		if (rows[i].per_thread)
			own = &rows[i];
		else
			plain = &rows[i];
	}
	/* A version of the ABI that is newer counts more than the kind of default stream. */
	const struct row *found = plain;
	if (own && (per_thread || !plain))
		found = per_thread ? own : NULL;
	return found ? (void *)found->function : NULL;
}
