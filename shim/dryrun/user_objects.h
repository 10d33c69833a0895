/* SPDX-License-Identifier: Apache-2.0 */
/* User objects: a destructor of the program, called when the last reference is dropped. */
#ifndef GD_USER_OBJECTS_H
#define GD_USER_OBJECTS_H

struct gd_user_object;

/** Drop one reference. The destructor, if it is due, runs on this thread. */
void gd_user_object_drop(struct gd_user_object *object);

#endif
