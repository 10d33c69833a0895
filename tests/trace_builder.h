/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces for tests, made by the writing half of formats/ itself.
 *
 *	struct trace_builder *t = trace_begin("/tmp/x.gst");
 *	trace_clock(t, 1, 0, 1000000000);
 *	trace_property(t, "pid", "7");
 *	struct gf_block b = {.time = 10, .address = 0x1000, .size = 512};
 *	trace_add(t, 1, GF_TAG_block, &b);        // fills the head word of its copy
 *	trace_frame(t, 1);                        // optional: end a frame here
 *	trace_end(t);                             // frames for the rest, no journal
 *
 * Every function ends the test program with a message if something fails.
 */
#ifndef TRACE_BUILDER_H
#define TRACE_BUILDER_H

#include <stddef.h>
#include <stdint.h>

#include "formats/records.h"

struct trace_builder;

/** Create (or replace) a trace file. */
struct trace_builder *trace_begin(const char *path);

/** Append a record of this version to a thread.  `record`: the struct of the tag, head not needed. */
void trace_add(struct trace_builder *builder, uint32_t thread_id, unsigned tag, const void *record);

/** Append any bytes that form a record: of another version, of an unknown type. */
void trace_add_raw(struct trace_builder *builder, uint32_t thread_id, const void *record,
    uint32_t bytes);

/** Append a TEXT of `length` bytes. */
void trace_text(struct trace_builder *builder, uint32_t thread_id, uint64_t time,
    enum gf_text_kind kind, uint32_t id, const void *bytes, uint32_t length);

/** PROPERTY with a string value, on thread 1 at time 0. */
void trace_property(struct trace_builder *builder, const char *name, const char *value);

/** CLOCK record; realtime is monotonic plus a fixed start in 2026. */
void trace_clock(struct trace_builder *builder, uint32_t thread_id, uint64_t ticks,
    uint64_t monotonic_ns);

/** MARK record. */
void trace_mark(struct trace_builder *builder, uint32_t thread_id, uint64_t time,
    enum gf_mark_kind kind, uint64_t value);

/** Write what a thread has so far as frames. */
void trace_frame(struct trace_builder *builder, uint32_t thread_id);

/** Times are stored in units of 2^shift ticks from now on (default 0). */
void trace_tick_shift(struct trace_builder *builder, unsigned shift);

/** Frames for all threads, then close.  The builder is gone. */
void trace_end(struct trace_builder *builder);

/** As if the process had been killed: what is not framed yet stays in PATH.journal. */
void trace_kill(struct trace_builder *builder);

#endif
