/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void out_of_memory(size_t bytes)
{
	fprintf(stderr,
	    "gpushim: no memory for another %zu bytes; close other programs or use a larger "
	    "machine\n",
	    bytes);
	exit(1);
}

void *ga_xalloc(size_t count, size_t item_bytes)
{
	void *memory = calloc(count ? count : 1, item_bytes ? item_bytes : 1);
	if (!memory)
		out_of_memory(count * item_bytes);
	return memory;
}

void *ga_xgrow(void *items, size_t count, size_t *capacity, size_t item_bytes)
{
	if (count < *capacity)
		return items;
	size_t wanted = *capacity ? *capacity * 2 : 16, bytes;
	if (__builtin_mul_overflow(wanted, item_bytes, &bytes))
		out_of_memory(wanted);
	void *moved = realloc(items, bytes);
	if (!moved)
		out_of_memory(bytes);
	*capacity = wanted;
	return moved;
}

char *ga_xstrdup(const char *text)
{
	size_t bytes = strlen(text) + 1;
	return memcpy(ga_xalloc(bytes, 1), text, bytes);
}

char *ga_format_list(const char *format, va_list arguments)
{
	char *text = NULL;
	if (vasprintf(&text, format, arguments) < 0)
		out_of_memory(strlen(format));
	return text;
}

char *ga_format(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = ga_format_list(format, arguments);
	va_end(arguments);
	return text;
}

void ga_strings_take(struct ga_strings *list, char *text)
{
	list->items = ga_xgrow(list->items, list->count, &list->capacity, sizeof(*list->items));
	list->items[list->count++] = text;
}

void ga_strings_add(struct ga_strings *list, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	ga_strings_take(list, ga_format_list(format, arguments));
	va_end(arguments);
}

char *ga_strings_join(const struct ga_strings *list, const char *between)
{
	size_t bytes = 1;
	for (size_t i = 0; i < list->count; i++)
		bytes += strlen(list->items[i]) + strlen(between);
	char *text = ga_xalloc(bytes, 1), *end = text;
	for (size_t i = 0; i < list->count; i++)
		end += sprintf(end, "%s%s", i ? between : "", list->items[i]);
	return text;
}

void ga_strings_clear(struct ga_strings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct ga_strings){0};
}
