/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of the trace and of frames, and the search for a frame behind damage. */
#include "formats/frame.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "formats/frame_layout.h"
#include "formats/wire.h"

enum gf_status gf_trace_header_check(
    const void *data, size_t bytes, uint64_t trace_id_out[2], struct gf_error *error)
{
	const unsigned char *header = data;
	if (bytes < 8 || memcmp(header, GF_TRACE_MAGIC, 8) != 0)
		return gf_fail(error, bytes < 8 ? GF_TRUNCATED : GF_BAD_FILE, 0,
		    bytes < 8 ? "only %zu bytes, too short for a trace"
			      : "the first 8 bytes of %zu are not " GF_TRACE_MAGIC,
		    bytes);
	if (bytes < GF_TRACE_HEADER_BYTES)
		return gf_fail(error, GF_TRUNCATED, bytes,
		    "the file ends inside its %u-byte header", GF_TRACE_HEADER_BYTES);
	if (gf_get64(header + GF_FILE_CHECKSUM_AT) != XXH3_64bits(header, GF_FILE_CHECKSUM_AT))
		return gf_fail(
		    error, GF_BAD_FILE, 0, "the file header does not match its checksum");
	uint32_t version = gf_get32(header + GF_FILE_VERSION_AT);
	uint32_t required = gf_get32(header + GF_FILE_REQUIRED_AT);
	if (version != GF_TRACE_VERSION || required != 0 ||
	    gf_get32(header + GF_FILE_HEADER_BYTES_AT) != GF_TRACE_HEADER_BYTES)
		return gf_fail(error, GF_TOO_NEW, 0,
		    "trace format version %u, features %#x; this program reads version %u: use a "
		    "newer gpushim",
		    version, required, GF_TRACE_VERSION);
	trace_id_out[0] = gf_get64(header + GF_FILE_TRACE_ID_AT);
	trace_id_out[1] = gf_get64(header + GF_FILE_TRACE_ID_AT + 8);
	return GF_OK;
}

static bool header_limits_hold(const struct gf_frame_info *info, uint32_t body_bytes)
{
	return body_bytes <= GF_FRAME_BODY_LIMIT && info->directory_bytes <= body_bytes &&
	       info->directory_bytes <= GF_FRAME_DIRECTORY_LIMIT && info->record_count > 0 &&
	       info->record_count <= GF_FRAME_RECORDS_LIMIT &&
	       info->source_count <= GF_FRAME_SOURCE_LIMIT && info->section_count > 0 &&
	       info->section_count <= GF_TAG_LIMIT && info->tick_shift <= GF_TICK_SHIFT_LIMIT &&
	       info->time_first <= info->time_last && !(info->type_mask & 1);
}

enum gf_status gf_frame_parse(const void *data, size_t bytes, uint64_t offset,
    struct gf_frame_info *info_out, struct gf_error *error)
{
	const unsigned char *header = data;
	if (bytes < GF_FRAME_HEADER_BYTES)
		return gf_fail(error, GF_TRUNCATED, offset, "the file ends inside a frame header");
	if (gf_get32(header + GF_FRAME_MAGIC_AT) != GF_FRAME_MAGIC)
		return gf_fail(error, GF_BAD_FRAME, offset, "no frame begins here");
	uint64_t sum = XXH3_64bits(
	    header + GF_FRAME_BODY_CHECKSUM_AT, GF_FRAME_HEADER_BYTES - GF_FRAME_BODY_CHECKSUM_AT);
	if (gf_get32(header + GF_FRAME_HEADER_CHECKSUM_AT) != (uint32_t)sum)
		return gf_fail(
		    error, GF_BAD_FRAME, offset, "a frame header does not match its checksum");
	uint32_t body_bytes = gf_get32(header + GF_FRAME_BODY_BYTES_AT);
	struct gf_frame_info info = {
	    .offset = offset,
	    .bytes = GF_FRAME_HEADER_BYTES + (uint64_t)body_bytes,
	    .time_first = gf_get64(header + GF_FRAME_TIME_FIRST_AT),
	    .time_last = gf_get64(header + GF_FRAME_TIME_LAST_AT),
	    .type_mask = gf_get64(header + GF_FRAME_TYPES_AT),
	    .thread_id = gf_get32(header + GF_FRAME_THREAD_AT),
	    .record_count = gf_get32(header + GF_FRAME_RECORDS_AT),
	    .directory_bytes = gf_get32(header + GF_FRAME_DIRECTORY_BYTES_AT),
	    .source_count = header[GF_FRAME_SOURCES_AT],
	    .section_count = header[GF_FRAME_SECTIONS_AT],
	    .tick_shift = header[GF_FRAME_TICK_SHIFT_AT],
	};
	if (header[GF_FRAME_REQUIRED_AT] != 0)
		return gf_fail(error, GF_TOO_NEW, offset,
		    "a frame needs features %#x that this program does not know: use a newer "
		    "gpushim",
		    header[GF_FRAME_REQUIRED_AT]);
	if (!header_limits_hold(&info, body_bytes))
		return gf_fail(error, GF_BAD_FRAME, offset,
		    "a frame header is out of limits (%u bytes, %u records, %u sources, %u "
		    "sections)",
		    body_bytes, info.record_count, info.source_count, info.section_count);
	*info_out = info;
	return GF_OK;
}

size_t gf_frame_search(const void *data, size_t bytes, size_t from)
{
	unsigned char magic[4];
	gf_put32(magic, GF_FRAME_MAGIC);
	if (from >= bytes)
		return bytes;
	const char *found = memmem((const char *)data + from, bytes - from, magic, sizeof(magic));
	return found ? (size_t)(found - (const char *)data) : bytes;
}
