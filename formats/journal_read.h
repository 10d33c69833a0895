/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading half of the journal: a copy of what its chunks hold at one moment.
 *
 * The writer may be alive.  A chunk is copied with plain reads and dropped if it was given to
 * another use meanwhile; whoever copies the journal before looking at the trace misses nothing,
 * because a chunk is emptied only after its frame is in the trace.
 */
#ifndef GF_JOURNAL_READ_H
#define GF_JOURNAL_READ_H

#include "formats/journal.h"

/* The sound records of one chunk. */
struct gf_leftover {
	uint64_t sequence;
	uint64_t offset;        /* of the chunk in the journal file */
	uint32_t thread_id;
	uint32_t end;           /* records are at bytes GF_CHUNK_HEADER_BYTES .. end */
	struct gf_chunk *chunk; /* our copy */
	bool damaged;           /* something wrong ended the records */
};

struct gf_journal_copy {
	uint64_t trace_id[2];
	uint64_t lost[GF_LOST_REASON_COUNT];
	uint32_t flags; /* GF_JOURNAL_* */
	uint64_t file_bytes;
	uint64_t bound; /* chunks from this sequence on were claimed after the copy began */
	uint64_t damaged_chunks;
	struct gf_leftover *leftovers; /* by sequence */
	size_t count;
};

/**
 * Copy a journal.
 *
 * @param path      journal file
 * @param copy_out  set on success; free with gf_journal_copy_free
 * @return GF_OK; GF_END if there is no such file; GF_BAD_FILE, GF_TRUNCATED, GF_TOO_NEW,
 *         GF_UNSUPPORTED (other byte order), GF_IO, GF_NO_MEMORY
 */
enum gf_status gf_journal_copy(const char *path, struct gf_journal_copy *copy_out,
    struct gf_error *error);
void gf_journal_copy_free(struct gf_journal_copy *copy);

#endif
