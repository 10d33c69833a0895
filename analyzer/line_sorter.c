/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/line_sorter.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analyzer/xalloc.h"

struct ga_sorter_line {
	uint64_t ns, number; /* equal times keep their order */
	char *text;
};

static bool before(const struct ga_sorter_line *a, const struct ga_sorter_line *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->number < b->number;
}

static void swap(struct ga_sorter_line *a, struct ga_sorter_line *b)
{
	struct ga_sorter_line kept = *a;
	*a = *b;
	*b = kept;
}

static void write_first(struct ga_sorter *sorter)
{
	struct ga_sorter_line *heap = sorter->heap;
	fputs(heap[0].text, sorter->out);
	free(heap[0].text);
	heap[0] = heap[--sorter->count];
	for (size_t at = 0;;) {
		size_t least = at, child = 2 * at + 1;
		for (size_t i = child; i < child + 2 && i < sorter->count; i++)
			if (before(&heap[i], &heap[least]))
				least = i;
		if (least == at)
			return;
		swap(&heap[at], &heap[least]);
		at = least;
	}
}

void ga_sorter_add(struct ga_sorter *sorter, uint64_t ns, char *line)
{
	if (!sorter->heap)
		sorter->heap = ga_xalloc(GA_SORTER_LINES, sizeof(*sorter->heap));
	if (sorter->count == GA_SORTER_LINES)
		write_first(sorter);
	size_t at = sorter->count++;
	sorter->heap[at] = (struct ga_sorter_line){ns, sorter->added++, line};
	for (; at && before(&sorter->heap[at], &sorter->heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&sorter->heap[at], &sorter->heap[(at - 1) / 2]);
}

void ga_sorter_end(struct ga_sorter *sorter)
{
	while (sorter->count)
		write_first(sorter);
	free(sorter->heap);
	sorter->heap = NULL;
}
