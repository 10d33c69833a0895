/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_pending.h"

#include <pthread.h>
#include <stdlib.h>

struct pending {
	uint64_t end_ns, order; /* equal ends leave in the order in which they came */
	union gd_record record;
};

struct graph {
	struct graph *next;
	uint32_t call;
	union gd_record record;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending **heap;
static size_t count, room;
static uint64_t last_order;
static uint64_t first_end =
    UINT64_MAX; /* of the heap; atomic, so that most questions need no lock */
static struct graph *graphs, **graphs_end = &graphs; /* oldest first */

static bool before(const struct pending *a, const struct pending *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->order < b->order;
}

static void sink(struct pending *last)
{
	size_t at = 0, child;

	for (; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], last))
			break;
		heap[at] = heap[child];
	}
	heap[at] = last;
}

static void rise(struct pending *added)
{
	size_t at = count++;

	for (; at && before(added, heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = added;
}

static void note_first(void)
{
	__atomic_store_n(&first_end, count ? heap[0]->end_ns : UINT64_MAX, __ATOMIC_RELEASE);
}

bool gd_pending_add(uint64_t end_ns, const union gd_record *record)
{
	struct pending *added = malloc(sizeof(*added));

	if (!added)
		return false;
	added->end_ns = end_ns;
	added->record = *record;
	pthread_mutex_lock(&lock);
	if (count == room) {
		size_t more = room ? 2 * room : 1024;
		struct pending **grown = realloc(heap, more * sizeof(*grown));

		if (!grown) {
			pthread_mutex_unlock(&lock);
			free(added);
			return false;
		}
		heap = grown;
		room = more;
	}
	added->order = ++last_order;
	rise(added);
	note_first();
	pthread_mutex_unlock(&lock);
	return true;
}

bool gd_pending_any(uint64_t until_ns)
{
	return __atomic_load_n(&first_end, __ATOMIC_ACQUIRE) <= until_ns;
}

bool gd_pending_take(uint64_t until_ns, union gd_record *out)
{
	struct pending *first = NULL;

	if (!gd_pending_any(until_ns))
		return false;
	pthread_mutex_lock(&lock);
	if (count && heap[0]->end_ns <= until_ns) {
		first = heap[0];
		if (--count)
			sink(heap[count]);
		note_first();
	}
	pthread_mutex_unlock(&lock);
	if (!first)
		return false;
	*out = first->record;
	free(first);
	return true;
}

void gd_pending_add_to_graph(const union gd_record *record, uint32_t call)
{
	struct graph *graph;

	pthread_mutex_lock(&lock);
	for (graph = graphs; graph; graph = graph->next) {
		if (graph->call == call)
			break;
	}
	if (graph) {
		if (record->graph_trace.start < graph->record.graph_trace.start)
			graph->record.graph_trace.start = record->graph_trace.start;
		if (record->graph_trace.end > graph->record.graph_trace.end)
			graph->record.graph_trace.end = record->graph_trace.end;
	} else if ((graph = malloc(sizeof(*graph)))) {
		*graph = (struct graph){.call = call, .record = *record};
		*graphs_end = graph;
		graphs_end = &graph->next;
	}
	pthread_mutex_unlock(&lock);
}

bool gd_pending_take_graph(uint64_t until_ns, union gd_record *out)
{
	struct graph **link = &graphs, *graph;

	pthread_mutex_lock(&lock);
	while (*link && (*link)->record.graph_trace.end > until_ns)
		link = &(*link)->next;
	graph = *link;
	if (graph) {
		*link = graph->next;
		if (!*link)
			graphs_end = link;
		*out = graph->record;
	}
	pthread_mutex_unlock(&lock);
	free(graph);
	return graph != NULL;
}

void gd_pending_drop(void)
{
	union gd_record record;

	while (gd_pending_take(UINT64_MAX, &record) || gd_pending_take_graph(UINT64_MAX, &record))
		;
}
