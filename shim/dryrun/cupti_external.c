/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_external.h"

#include <pthread.h>
#include <stdlib.h>

#include "cupti_buffers.h"
#include "cupti_faults.h"
#include "cupti_kinds.h"
#include "cupti_layout.h"

#define KINDS 8

struct ids {
	struct {
		uint64_t *list;
		size_t depth, room;
	} of[KINDS];
};

static __thread struct ids *own_ids;
static pthread_key_t key;

static void end_ids(void *pointer)
{
	struct ids *ids = pointer;

	for (unsigned kind = 0; kind < KINDS; kind++)
		free(ids->of[kind].list);
	free(ids);
	own_ids = NULL;
}

static void make_key(void)
{
	pthread_key_create(&key, end_ids);
}

static struct ids *thread_ids(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (own_ids)
		return own_ids;
	pthread_once(&once, make_key);
	own_ids = calloc(1, sizeof(*own_ids));
	if (own_ids && pthread_setspecific(key, own_ids) != 0) {
		free(own_ids);
		own_ids = NULL;
	}
	return own_ids;
}

static bool is_kind(CUpti_ExternalCorrelationKind kind)
{
	return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID &&
	       kind <= CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;
}

GD_CUPTI(cuptiActivityPushExternalCorrelationId, (CUpti_ExternalCorrelationKind kind, uint64_t id),
    (kind, id))
{
	struct ids *ids = thread_ids();

	if (!is_kind(kind))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!ids)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	if (ids->of[kind].depth == ids->of[kind].room) {
		size_t room = ids->of[kind].room ? 2 * ids->of[kind].room : 16;
		uint64_t *grown = realloc(ids->of[kind].list, room * sizeof(*grown));

		if (!grown)
			return CUPTI_ERROR_OUT_OF_MEMORY;
		ids->of[kind].list = grown;
		ids->of[kind].room = room;
	}
	ids->of[kind].list[ids->of[kind].depth++] = id;
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiActivityPopExternalCorrelationId,
    (CUpti_ExternalCorrelationKind kind, uint64_t *id_out), (kind, id_out))
{
	struct ids *ids = own_ids;

	if (!is_kind(kind))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!ids || !ids->of[kind].depth)
		return CUPTI_ERROR_QUEUE_EMPTY;
	ids->of[kind].depth--;
	if (id_out)
		*id_out = ids->of[kind].list[ids->of[kind].depth];
	return CUPTI_SUCCESS;
}

void gd_external_record(uint32_t correlation)
{
	const struct ids *ids = own_ids;

	if (!ids || !gd_kind_on(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
		return;
	for (unsigned kind = 0; kind < KINDS; kind++) {
		union gd_record record = {.external = {.correlationId = correlation}};

		if (!ids->of[kind].depth)
			continue;
		record.external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
		record.external.externalKind = (CUpti_ExternalCorrelationKind)kind;
		record.external.externalId = ids->of[kind].list[ids->of[kind].depth - 1];
		gd_buffers_append(true, &record);
	}
}
