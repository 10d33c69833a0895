/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/recorded_capture.h"

#include <stdlib.h>

#include "analyzer/xalloc.h"

struct known_stream {
	uint64_t handle, id;
};

static bool is_captured(const struct ga_recorded_capture *capture, uint64_t id)
{
	for (size_t i = 0; i < capture->id_count; i++)
		if (capture->ids[i] == id)
			return true;
	return false;
}

static void add(struct ga_recorded_capture *capture, uint64_t id)
{
	if (is_captured(capture, id))
		return;
	capture->ids = ga_xgrow(
	    capture->ids, capture->id_count, &capture->id_capacity, sizeof(*capture->ids));
	capture->ids[capture->id_count++] = id;
}

void ga_recorded_capture_begin(
    struct ga_recorded_capture *capture, uint32_t thread, uint64_t stream)
{
	const struct known_stream *known =
	    capture->has_known && stream ? ga_map_find(&capture->known, stream) : NULL;
	capture->thread = thread;
	capture->stream = stream;
	capture->pool = ++capture->pools;
	capture->id_count = 0;
	if (known)
		add(capture, known->id);
}

/* The first stream of a capture is the one it began on: remembered for captures to come, in which
 * another thread may be the first to ask. */
static void learn(struct ga_recorded_capture *capture, uint64_t id)
{
	if (!capture->stream)
		return; /* a handle that cannot be captured: a damaged recording */
	if (!capture->has_known)
		ga_map_init(&capture->known, sizeof(struct known_stream));
	capture->has_known = true;
	((struct known_stream *)ga_map_add(&capture->known, capture->stream))->id = id;
}

bool ga_recorded_capture_takes(
    struct ga_recorded_capture *capture, uint32_t thread, const uint64_t *id)
{
	bool capturing = thread == capture->thread;
	if (!capture->pool)
		return false;
	if (!id)
		return capturing;
	if (*id == 0)
		return false; /* the default stream cannot be captured */
	if (!capturing && capture->id_count)
		return is_captured(capture, *id);
	if (!capture->id_count)
		learn(capture, *id);
	add(capture, *id);
	return true;
}

void ga_recorded_capture_clear(struct ga_recorded_capture *capture)
{
	if (capture->has_known)
		ga_map_free(&capture->known);
	free(capture->ids);
	*capture = (struct ga_recorded_capture){0};
}
