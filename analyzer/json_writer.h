/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON to a stream: commas, quoting and nesting are kept here, names and order by the
 * caller. Objects and their members go on lines of their own, short lists stay on one line.
 *
 * Threads: one at a time per writer.
 */
#ifndef GA_JSON_WRITER_H
#define GA_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define GA_JSON_DEPTH 16

/** Zero-initialise and set `out`; it stays the caller's. */
struct ga_json {
	FILE *out;
	int depth;
	bool filled[GA_JSON_DEPTH]; /* something was written at this level */
	int one_line;		    /* first level whose objects stay on one line; 0: 4 */
};

/* `name` is the member's name, NULL inside a list and at the top. */

/** Begin an object or a list; end it with the function of the same kind. */
void ga_json_object(struct ga_json *json, const char *name);
void ga_json_object_end(struct ga_json *json);
void ga_json_list(struct ga_json *json, const char *name);
void ga_json_list_end(struct ga_json *json);

/** A string; bytes that are no UTF-8 become U+FFFD; NULL writes null. */
void ga_json_string(struct ga_json *json, const char *name, const char *text);
void ga_json_number(struct ga_json *json, const char *name, uint64_t value);
void ga_json_signed(struct ga_json *json, const char *name, int64_t value);
/** A number, or null if it is not known. */
void ga_json_maybe(struct ga_json *json, const char *name, bool known, uint64_t value);
void ga_json_bool(struct ga_json *json, const char *name, bool value);
void ga_json_null(struct ga_json *json, const char *name);

/** JSON text that is already valid, as it is. */
void ga_json_raw(struct ga_json *json, const char *name, const char *text);

#endif
