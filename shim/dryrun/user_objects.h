/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User objects: a destructor of the program, called when the last reference is dropped.
 *
 * Graphs and executable graphs hold references.  A destructor may take locks of the program, so
 * none runs while gd_graph_lock is held: what graphs drop waits for gd_graph_unlock.
 */
#ifndef GD_USER_OBJECTS_H
#define GD_USER_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

struct gd_user_object;

/* References that a graph holds; one entry each.  All zero: none.  gd_graph_lock guards it. */
struct gd_references {
	struct gd_user_object **objects;
	uint32_t count, room;
};

/** Hold what another one holds too, with references of its own. @return false without memory */
bool gd_references_copy(struct gd_references *to, const struct gd_references *from);

/** Drop them all; destructors that are due run in gd_graph_unlock. */
void gd_references_drop(struct gd_references *references);

/**
 * Give gd_graph_lock back, then run the destructors that are due, on this thread.
 *
 * A stream that ends in the middle of a capture ends a graph too, but under locks of its context:
 * it leaves the destructors to the next caller.
 */
void gd_graph_unlock(void);

#endif
