/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for the program: allocation that ends it with a message when there is none, growing
 * arrays, and strings.  Parsers of untrusted input bound their sizes before they come here.
 *
 * Threads: any.
 */
#ifndef GA_XALLOC_H
#define GA_XALLOC_H

#include <stdarg.h>
#include <stddef.h>

/** Zeroed memory of `count` items of `item_bytes`; free() it.  Never NULL, also for 0 items. */
void *ga_xalloc(size_t count, size_t item_bytes);

/**
 * Make room for one more item in an array that grows.
 *
 * @param items       the array or NULL; may move
 * @param count       items in use
 * @param capacity    items there is room for; updated
 * @param item_bytes  size of one item
 * @return the array, with room for count + 1 items; new room is not zeroed
 *
 * Cost: amortised O(1).
 */
void *ga_xgrow(void *items, size_t count, size_t *capacity, size_t item_bytes);

/** Copy of a string; free() it. */
char *ga_xstrdup(const char *text);

/** Text made as by printf; free() it. */
char *ga_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The same with the arguments as a list. */
char *ga_format_list(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/** A list of strings that it owns.  Zero-initialise. */
struct ga_strings {
	char **items;
	size_t count, capacity;
};

/** Append `text`, which the list frees from now on. */
void ga_strings_take(struct ga_strings *list, char *text);

/** Append text made as by printf. */
void ga_strings_add(struct ga_strings *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** All strings in one, `between` each two of them; free() it. */
char *ga_strings_join(const struct ga_strings *list, const char *between);

/** Free the strings and the list; it is empty and usable afterwards. */
void ga_strings_clear(struct ga_strings *list);

#endif
