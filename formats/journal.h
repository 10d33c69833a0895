/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal: a MAP_SHARED file beside the trace that holds what is not in the trace yet.
 *
 * The kernel owns its dirty pages, so nothing that was stored is lost when the process dies by any
 * signal, calls _exit or exec.  The file is a header page and chunks of equal size.  A chunk belongs
 * to one thread of the host at a time; the thread appends records, the flusher later turns full
 * chunks into frames of the trace and gives them out again.  A clean end leaves no journal.
 *
 * This header is the layout and the writer's half; journal_read.h has the reading half.  Both sides
 * compile journal.c; it never calls malloc and takes no lock.
 *
 * Life of a chunk: FREE -(claim, by a thread)-> OWNED -(retire, by its thread)-> FULL -(flusher has
 * written it to the trace, zeroes it)-> FREE.  The flusher may also frame the written part of an
 * OWNED chunk; `framed_bytes` says how far.
 *
 * What a frame contains is told twice: by `framed_bytes` here and by the frame's own source list
 * (chunk sequence and byte range).  The reader drops what both have, so dying between the two
 * writes duplicates nothing.
 */
#ifndef GF_JOURNAL_H
#define GF_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/held_file.h"
#include "formats/records.h"
#include "formats/status.h"

#define GF_JOURNAL_MAGIC "GSJOURN1"
#define GF_JOURNAL_VERSION 1u
#define GF_JOURNAL_SUFFIX ".journal" /* trace NAME.gst has journal NAME.gst.journal */
#define GF_JOURNAL_HEADER_BYTES 4096u
#define GF_CHUNK_BYTES 65536u        /* of a chunk, its header included; a multiple of the page */
#define GF_CHUNK_HEADER_BYTES 64u
#define GF_JOURNAL_CHUNKS_MOST 65536u /* a header that claims more is damaged */
#define GF_BYTE_ORDER_MARK 0x01020304u

/* First page of a journal.  Native byte order (see byte_order); all later changes are atomic. */
struct gf_journal_header {
	char magic[8];
	uint32_t version;
	uint32_t byte_order; /* GF_BYTE_ORDER_MARK */
	uint32_t header_bytes;
	uint32_t chunk_bytes;
	uint32_t chunk_limit;  /* chunks that may ever exist */
	uint32_t chunk_count;  /* chunks that exist: header + count * chunk bytes is allocated */
	uint32_t pid;
	uint32_t flags;        /* GF_JOURNAL_* */
	uint64_t next_sequence; /* of the next chunk to be claimed; starts at 1 */
	uint64_t trace_id[2];   /* same random number as in the trace's file header */
	/* Events not stored and not told in `lost` records yet, by reason.  Last: reasons are added. */
	uint64_t lost[GF_LOST_REASON_COUNT];
};

#define GF_JOURNAL_CLEAN 0x1u   /* everything is in the trace */
#define GF_JOURNAL_STOPPED 0x2u /* recording ended early: disk or limit */
#define GF_JOURNAL_ENDED 0x4u   /* so did the process, by itself, and left the journal */

enum gf_chunk_state { GF_CHUNK_FREE, GF_CHUNK_OWNED, GF_CHUNK_FULL };

struct gf_chunk {
	uint64_t sequence;     /* number of this use of the chunk, 0 = not in use */
	uint32_t state;        /* enum gf_chunk_state; release stores */
	uint32_t thread_id;    /* thread of the trace, from 1 in order of first event */
	uint32_t framed_bytes; /* bytes from the chunk's start that are in the trace; below 64
	                        * while the owner is still filling in this header (acquire) */
	uint32_t used_bytes;   /* set when FULL; else the first zero head ends the chunk */
	uint64_t reserved[5];
	/* records follow */
};
_Static_assert(sizeof(struct gf_chunk) == GF_CHUNK_HEADER_BYTES, "chunk header");
_Static_assert(sizeof(struct gf_journal_header) <= GF_JOURNAL_HEADER_BYTES, "journal header");

/** A journal being written.  Zero-initialise; address space for all chunks is reserved at once. */
struct gf_journal {
	struct gf_journal_header *header; /* mapping of the whole file; NULL if closed */
	size_t mapped_bytes;
	struct gf_held_file file; /* the program may close it: see gf_held_regain */
};

/**
 * Create the journal file (it must not exist) and map it.
 *
 * Disk space of the header and `first_chunks` chunks is allocated (posix_fallocate), so that a
 * full disk is an error here and never a SIGBUS later.
 *
 * @param journal       out; set only on success
 * @param path          file to create, O_EXCL, mode 0600
 * @param chunk_limit   most chunks that may ever exist, up to GF_JOURNAL_CHUNKS_MOST (their address
 *                      space is mapped now)
 * @param first_chunks  chunks to allocate now, >= 1
 * @param trace_id      random identity, also given to gf_trace_header
 * @param error         filled on failure; may be NULL
 * @return GF_OK, GF_IO, GF_NO_SPACE
 *
 * Threads: one caller.  Never allocates from the heap.
 */
enum gf_status gf_journal_create(struct gf_journal *journal, const char *path, uint32_t chunk_limit,
    uint32_t first_chunks, const uint64_t trace_id[2], struct gf_error *error);

/**
 * Add up to `count` chunks at the end: allocate disk space, touch the pages, make them claimable.
 *
 * @return chunks added, 0 at the limit or when the disk is full
 *
 * Threads: the flusher only.
 */
uint32_t gf_journal_grow(struct gf_journal *journal, uint32_t count);

/** Chunk by index (0 <= index < header->chunk_limit); no check that it exists. */
static inline struct gf_chunk *gf_journal_chunk(const struct gf_journal *journal, uint32_t index)
{
	return (struct gf_chunk *)((char *)journal->header + GF_JOURNAL_HEADER_BYTES +
	    (size_t)index * GF_CHUNK_BYTES);
}

/**
 * Take a free chunk for a thread.  Lock-free: scans states with compare-and-swap from `*hint`.
 *
 * On success the chunk is OWNED, has a new sequence, thread_id, framed_bytes 64, and zeroed records.
 *
 * @param hint  where to start looking; updated; may be shared between threads (relaxed)
 * @return the chunk, NULL if none is free (the caller counts a loss or asks the flusher to grow)
 *
 * Threads: any.
 */
struct gf_chunk *gf_journal_claim(struct gf_journal *journal, uint32_t thread_id, uint32_t *hint);

/**
 * Sequence below which a look at the chunks misses none of a thread's full ones.
 *
 * The flusher asks before it looks and leaves out chunks at or above the answer.  Without this a
 * thread may fill two chunks while the flusher looks, and only the second is seen: a frame would
 * have records in the wrong order.
 *
 * Threads: the flusher.
 */
static inline uint64_t gf_journal_bound(const struct gf_journal *journal)
{
	return __atomic_load_n(&journal->header->next_sequence, __ATOMIC_ACQUIRE);
}

/** Hand a chunk of this thread to the flusher: used_bytes, then state FULL (release). */
static inline void gf_chunk_retire(struct gf_chunk *chunk, uint32_t used_bytes)
{
	__atomic_store_n(&chunk->used_bytes, used_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&chunk->state, GF_CHUNK_FULL, __ATOMIC_RELEASE);
}

/**
 * Zero a chunk whose content is in the trace and make it FREE (release).
 *
 * The order of stores makes it safe to die in the middle and to be read by another process: a
 * chunk whose sequence is 0 holds nothing.
 *
 * Threads: the flusher only.
 */
void gf_chunk_recycle(struct gf_chunk *chunk);

/** Publish a record that was written behind its head word.  `record` is 8-byte aligned. */
static inline void gf_record_publish(void *record, uint32_t head)
{
	__atomic_store_n((uint32_t *)record, head, __ATOMIC_RELEASE);
}

/**
 * Length of the well-formed records of a chunk from `from` on; stops at the first zero head, at
 * `limit`, or at a head that cannot be right.
 *
 * @param chunk        chunk header, GF_CHUNK_BYTES readable
 * @param from, limit  byte positions in the chunk, multiples of 8, 64 <= from <= limit <= chunk size
 * @param damaged_out  set to whether a wrong head ended the walk
 * @return position behind the last good record
 *
 * Threads: any; the chunk may still be written to (heads are read with acquire).
 */
uint32_t gf_chunk_extent(const struct gf_chunk *chunk, uint32_t from, uint32_t limit,
    bool *damaged_out);

/** Unmap and close; `remove_path` (may be NULL) is unlinked first.  Clean end of a recording. */
void gf_journal_close(struct gf_journal *journal, const char *remove_path);

#endif
