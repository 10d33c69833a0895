/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader is made of: shared by reader.c, definitions.c, merge.c and journal_fold.c, nobody
 * else. */
#ifndef GF_READER_STATE_H
#define GF_READER_STATE_H

#include "formats/arena.h"
#include "formats/clock_map.h"
#include "formats/decoder.h"
#include "formats/journal_read.h"
#include "formats/reader.h"

/* A frame of the trace, or a part of a journal chunk that no frame has. */
struct gf_unit {
	struct gf_frame_info info; /* made up for a journal part */
	struct gf_frame_source first_source;
	const char *records;       /* journal part: info.bytes bytes of records; else NULL */
	bool bad;                  /* found damaged: counted, not read again */
};

/* What opening a trace decodes: everything that explains the events. */
#define GF_DEFINITION_TYPES \
	(UINT64_C(1) << GF_TAG_text | UINT64_C(1) << GF_TAG_clock | UINT64_C(1) << GF_TAG_mark | \
	    UINT64_C(1) << GF_TAG_lost)

/* What definitions, marks and clocks of a file may take in memory: more than any recorder writes, and
 * so little that a small file cannot fill the machine.  FORMAT.md states it. */
#define GF_DEFINITION_BYTES 64u /* of each, besides its text */
#define GF_DEFINITIONS_FLOOR (UINT64_C(256) << 20)
#define GF_DEFINITIONS_PER_FILE_BYTE 64u

struct gf_definitions {
	struct gf_arena arena; /* bytes of texts */
	uint64_t bytes, bytes_limit;
	struct gf_text_entry *texts;
	size_t text_count, text_room;
	uint32_t *text_order; /* by kind, id, time, place in the file */
	struct gf_mark *marks;
	size_t mark_count, mark_room;
	struct gf_clock *clocks;
	size_t clock_count, clock_room;
};

struct gf_reader {
	int fd; /* -1: only a journal */
	uint64_t trace_bytes;
	struct gf_journal_copy journal;
	struct gf_damage damage;
	struct gf_summary summary;
	struct gf_unit *units; /* frames in file order, then journal parts by chunk sequence */
	size_t unit_count, next_unit;
	struct gf_decoder *decoder;
	struct gf_buffer frame; /* of gf_reader_load, for a moment */
	struct gf_definitions definitions;
	struct gf_clock_map clock;
};

/**
 * Decode one unit.
 *
 * @return GF_OK; GF_BAD_FRAME if it is damaged: it is counted (once) and the caller goes on with
 *         the next; GF_NO_MEMORY
 */
enum gf_status gf_reader_load(struct gf_reader *reader, struct gf_unit *unit, uint64_t type_mask,
    struct gf_decoder *decoder, struct gf_batch *batch_out, struct gf_error *error);

/** Order of units of one reader: by thread, then age.  @return below, above or 0 like strcmp */
int gf_unit_compare(const struct gf_unit *a, const struct gf_unit *b);

/**
 * Take in the definitions of a decoded unit.
 *
 * @return GF_OK; GF_BAD_FRAME if the trace has more of them than can be meant, nothing is taken then;
 *         GF_NO_MEMORY
 */
enum gf_status gf_definitions_add(struct gf_reader *reader, const struct gf_batch *batch,
    struct gf_error *error);

/** After the last unit: sort, make the clock map.  @return GF_OK, GF_NO_MEMORY */
enum gf_status gf_definitions_finish(struct gf_reader *reader, struct gf_error *error);
void gf_definitions_free(struct gf_definitions *definitions);

#endif
