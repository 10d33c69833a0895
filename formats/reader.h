/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a trace: file plus leftover journal as one stream, damage skipped and counted.
 *
 * Opening reads every frame header (not the bodies) and decodes all TEXT, CLOCK, MARK and LOST
 * records.  Events then come in either of two ways: frame by frame (fastest, in the order of the
 * file), or merged over all threads in time order.  Memory is bounded by frames and threads, not
 * by the length of the run.
 *
 * Threads: a reader belongs to one thread; several readers of one file may run side by side.
 */
#ifndef GF_READER_H
#define GF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/frame.h"

struct gf_reader;

/*
 * What was wrong with the file; all zero for a whole one.  Damage inside a frame's body is found
 * when the frame is decoded: only gf_reader_verify, or reading everything, makes this complete.
 *
 * A torn frame at the end whose records the journal still has is no damage: that is what a killed
 * recording leaves.
 */
struct gf_damage {
	uint64_t damaged_frames;     /* frames, gaps or journal chunks that had to be skipped */
	uint64_t unreadable_bytes;   /* bytes that belong to no readable frame */
	uint64_t first_bad_offset;   /* in the trace; UINT64_MAX if none or in the journal */
	bool truncated;              /* the file ends inside a frame */
	bool journal_damaged;
	char first_text[512];        /* first trouble, in words */
};

struct gf_summary {
	uint64_t file_bytes;         /* trace plus journal */
	uint64_t journal_bytes;      /* 0 if there is none */
	uint64_t record_count[GF_TAG_LIMIT]; /* by tag; text etc. included; of readable frames */
	uint64_t frame_count;        /* readable ones */
	uint64_t first_ticks, last_ticks;
	uint64_t lost[GF_LOST_REASON_COUNT]; /* from LOST records and the journal header */
	bool ended;                  /* an END mark was found, or `journal_left` */
	bool has_journal;
	bool journal_left; /* the process ended by itself, but could not wait for it to be taken in */
};

/**
 * Open a trace.
 *
 * The journal NAME.gst.journal is taken in where it exists and has the trace's identity; the trace
 * itself may be missing or empty then.  The recording may be running: what is read is a moment of
 * it, complete up to that moment.
 *
 * @param path        NAME.gst, or "-" for standard input.  Of a pipe an unlinked temporary file is
 *                    made, at most 256 MiB beyond its last frame.
 * @param reader_out  set on success; close with gf_reader_close
 * @param error       may be NULL
 * @return GF_OK also for a damaged file in which anything was readable (see gf_reader_damage);
 *         GF_BAD_FILE if it is no trace at all; GF_TOO_NEW; GF_IO; GF_NO_MEMORY
 */
enum gf_status gf_reader_open(const char *path, struct gf_reader **reader_out,
    struct gf_error *error);
void gf_reader_close(struct gf_reader *reader); /* NULL is allowed */

/**
 * Read and decode every frame and count what is damaged in gf_reader_damage and, taking it off, in
 * gf_reader_summary.
 *
 * @return GF_OK also if there is damage, parts that cannot be read any more included; GF_NO_MEMORY
 */
enum gf_status gf_reader_verify(struct gf_reader *reader, struct gf_error *error);

/* What they return lives as long as the reader and changes when damage is found. */
const struct gf_damage *gf_reader_damage(const struct gf_reader *reader);
const struct gf_summary *gf_reader_summary(const struct gf_reader *reader);

/** Value of the last PROPERTY (by time) of that name, NULL if none; lives as long as the reader. */
const char *gf_reader_property(const struct gf_reader *reader, const char *name);

/** One TEXT definition.  `bytes` is zero-terminated behind `length`. */
struct gf_text_entry {
	uint32_t kind, id, length, thread_id;
	uint64_t time;
	const char *bytes;
};
/** All TEXT definitions, in file order. */
const struct gf_text_entry *gf_reader_texts(const struct gf_reader *reader, uint32_t *count_out);

/** Text of kind and id (the last one defined, by time), NULL if unknown. */
const char *gf_reader_text(const struct gf_reader *reader, enum gf_text_kind kind, uint32_t id);

/** Marks of the process and its threads, in file order. */
const struct gf_mark *gf_reader_marks(const struct gf_reader *reader, uint32_t *count_out);

/**
 * Ticks as nanoseconds since the first event of the trace: linear from clock record to clock
 * record; with fewer than two of them by the property `ticks_per_second`, else 1 ns a tick.
 */
uint64_t gf_reader_ns(struct gf_reader *reader, uint64_t ticks);
/** A difference of ticks as nanoseconds, at the mean rate. */
uint64_t gf_reader_span_ns(const struct gf_reader *reader, uint64_t ticks);
/** Wall-clock time of the first event, ns since 1970; 0 if unknown. */
uint64_t gf_reader_start_realtime_ns(const struct gf_reader *reader);

/**
 * Next frame in file order, journal last; journal parts that are in frames are left out.  Where a
 * part of a thread stands behind a later one of it, only gf_merge_next puts them in order.
 *
 * @param type_mask  record types to decode; frames without any of them are skipped unread
 * @param batch_out  valid until the next call
 * @return GF_OK, GF_END, GF_NO_MEMORY; damage is skipped and counted in gf_reader_damage
 */
enum gf_status gf_reader_next_batch(struct gf_reader *reader, uint64_t type_mask,
    struct gf_batch *batch_out, struct gf_error *error);
/** Start again from the first frame. */
void gf_reader_rewind(struct gf_reader *reader);

/* One record of the merged stream; read it by gf_get_<type>(event.batch, event.row, &out). */
struct gf_event_ref {
	uint64_t ticks;
	uint32_t thread_id;
	uint32_t row;
	uint8_t type;
	const struct gf_batch *batch;
};

struct gf_merge;
/**
 * Iterate over the asked types in time order over all threads (ties: lower thread id; order within
 * a thread is kept).  Decodes one frame a thread at a time.
 *
 * @return NULL when out of memory
 */
struct gf_merge *gf_merge_open(struct gf_reader *reader, uint64_t type_mask);
/** @return GF_OK, GF_END, GF_NO_MEMORY; *out is valid until the next call */
enum gf_status gf_merge_next(struct gf_merge *merge, struct gf_event_ref *out,
    struct gf_error *error);
void gf_merge_close(struct gf_merge *merge);

#endif
