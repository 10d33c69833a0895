/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects behind the driver's opaque handles.
 *
 * All live in cells of one reserved region, so that a handle is checked without touching memory
 * that is not ours: in the region, on a cell border, with the right tag.  A freed cell loses its
 * tag and is reused for objects of the same type only, so that a stale pointer never reads another
 * type. Threads: any.
 */
#ifndef GD_HANDLES_H
#define GD_HANDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GD_CELL_BYTES 256
#define GD_CELL_REGION (UINT64_C(2) << 30)

/* T(name): types of objects; the tag of a live one is 0x67640000 + its number. */
#define GD_TYPES(T) \
	T(CONTEXT) \
	T(STREAM) \
	T(EVENT) \
	T(MODULE) \
	T(LIBRARY) \
	T(KERNEL) \
	T(FUNCTION) \
	T(BLOCK) \
	T(POOL) \
	T(ARRAY) \
	T(MIPMAP) \
	T(GRAPH) \
	T(NODE) \
	T(EXEC) \
	T(USER_OBJECT) \
	T(CAPTURE)

enum gd_type {
#define GD_TYPE_ENUM(name) GD_TYPE_##name,
	GD_TYPES(GD_TYPE_ENUM)
#undef GD_TYPE_ENUM
	    GD_TYPE_COUNT
};

struct gd_object {
	uint32_t tag;	     /* 0 when free */
	uint32_t generation; /* grows each time the cell is used again */
};

extern uintptr_t gd_cells; /* start of the region, 0 before gd_handles_start */

static inline uint32_t gd_tag(enum gd_type type)
{
	return UINT32_C(0x67640000) + (uint32_t)type;
}

/** @return the live object of that type behind a handle, or NULL */
static inline void *gd_object_get(const void *handle, enum gd_type type)
{
	uintptr_t offset = (uintptr_t)handle - gd_cells;
	if (offset >= GD_CELL_REGION || offset % GD_CELL_BYTES)
		return NULL;
	const struct gd_object *object = handle;
	if (__atomic_load_n(&object->tag, __ATOMIC_ACQUIRE) != gd_tag(type))
		return NULL;
	return (void *)(uintptr_t)handle;
}

/** Reserve the region; once. @return false when the address space is refused */
bool gd_handles_start(void);

/**
 * Take a cell.  Everything behind the header is zero; the object is not live before
 * gd_object_publish.
 *
 * @return NULL when the region is used up
 */
void *gd_object_new(enum gd_type type);

/** Make a filled object live: handles to it are accepted from now on. */
void gd_object_publish(void *object, enum gd_type type);

/** Take the handle of a live object away. @return false when it was taken before */
bool gd_object_withdraw(void *object, enum gd_type type);

/** Give the cell back; what it points to must be freed before. */
void gd_object_free(void *object, enum gd_type type);

#endif
