/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of NVIDIA's libraries that a newer program wants and no stand-in has.
 *
 * The linker would refuse to load such a program, or end it at the first call.  Instead each such
 * function gets a stub at the moment when the object that wants it is mapped: the object's own
 * symbol is turned into a local one that points to the stub.  The stub answers its library's "not
 * supported", and the run's summary names it.
 */
#ifndef GD_AUDIT_UNKNOWN_H
#define GD_AUDIT_UNKNOWN_H

#include <link.h>
#include <stdint.h>

/**
 * Give an object stubs for what no stand-in has.  Called when the object is mapped and not yet
 * relocated, under the linker's lock.
 *
 * @param map  the object; its symbol table is changed where needed
 */
void gd_unknown_provide(const struct link_map *map);

/**
 * Tell who is to be told of calls.
 *
 * @param tell  called with the name of the function, from any thread
 */
void gd_unknown_listen(void (*tell)(const char *function));

/**
 * What a stub does.  Any thread.
 *
 * @param slot  number of the stub
 * @return the status of its library that means "not supported"
 */
intptr_t gd_unknown_called(unsigned slot);

/* audit_stubs.S: GD_UNKNOWN_MOST stubs of GD_UNKNOWN_BYTES each. */
extern const char gd_unknown_stubs[];

#endif
