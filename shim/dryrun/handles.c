/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/handles.h"

#include <pthread.h>
#include <string.h>

#include "shim/dryrun/regions.h"

uintptr_t gd_cells;

struct free_cell {
	struct gd_object object;
	struct free_cell *next;
};

static struct {
	pthread_mutex_t lock;
	struct free_cell *free[GD_TYPE_COUNT];
	size_t used;
} cells = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* In a build with the leak detector: what objects point to is reachable.  It is told of the cells
 * in use alone, since it reads all that it is told of. */
void __lsan_register_root_region(const void *begin, size_t bytes) __attribute__((weak));

static void reachable(const void *cell)
{
	if (__lsan_register_root_region)
		__lsan_register_root_region(cell, GD_CELL_BYTES);
}

bool gd_handles_start(void)
{
	struct gd_region region;
	if (!gd_region_new(GD_CELL_REGION, &region)) {
		gd_region_say_why(GD_CELL_REGION);
		return false;
	}
	gd_cells = (uintptr_t)region.start;
	return true;
}

void *gd_object_new(enum gd_type type)
{
	struct gd_object *object = NULL;
	pthread_mutex_lock(&cells.lock);
	if (cells.free[type]) {
		object = &cells.free[type]->object;
		cells.free[type] = cells.free[type]->next;
	} else if (cells.used + GD_CELL_BYTES <= GD_CELL_REGION) {
		object = (struct gd_object *)(gd_cells + cells.used);
		cells.used += GD_CELL_BYTES;
		reachable(object);
	}
	pthread_mutex_unlock(&cells.lock);
	if (!object)
		return NULL;
	object->generation++;
	memset(object + 1, 0, GD_CELL_BYTES - sizeof(*object));
	return object;
}

void gd_object_publish(void *object, enum gd_type type)
{
	__atomic_store_n(&((struct gd_object *)object)->tag, gd_tag(type), __ATOMIC_RELEASE);
}

bool gd_object_withdraw(void *object, enum gd_type type)
{
	uint32_t tag = gd_tag(type);
	return __atomic_compare_exchange_n(
	    &((struct gd_object *)object)->tag, &tag, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void gd_object_free(void *object, enum gd_type type)
{
	struct free_cell *cell = object;
	__atomic_store_n(&cell->object.tag, 0, __ATOMIC_RELEASE);
	pthread_mutex_lock(&cells.lock);
	cell->next = cells.free[type];
	cells.free[type] = cell;
	pthread_mutex_unlock(&cells.lock);
}
