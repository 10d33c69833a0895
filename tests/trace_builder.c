/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/trace_builder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/frame.h"

#define REALTIME_START UINT64_C(1767225600000000000) /* 2026-01-01 00:00 UTC */
#define CHUNK_LIMIT 65536u
#define CHUNKS_AT_ONCE 16u
#define THREAD_CHUNKS 16u /* full chunks of a thread that make a frame */

struct builder_thread {
	uint32_t id;
	uint32_t count; /* of chunks */
	uint32_t used;	/* bytes of the last one */
	struct gf_chunk *chunks[THREAD_CHUNKS];
};

struct trace_builder {
	char *path, *journal_path;
	int fd;
	unsigned tick_shift;
	uint64_t trace_id[2];
	struct gf_journal journal;
	uint32_t hint;
	struct gf_encoder *encoder;
	void *encoder_memory;
	struct builder_thread *threads;
	size_t thread_count;
};

static void __attribute__((noreturn)) fail(const char *what, const char *why)
{
	printf("# trace builder: %s: %s\n", what, why);
	fflush(stdout);
	exit(1);
}

static void *need(void *pointer)
{
	if (!pointer)
		fail("memory", "none left");
	return pointer;
}

static void make_encoder(struct trace_builder *builder)
{
	size_t bytes = (gf_encoder_bytes(THREAD_CHUNKS) + 63) & ~(size_t)63;
	free(builder->encoder_memory);
	builder->encoder_memory = need(aligned_alloc(64, bytes));
	builder->encoder = need(
	    gf_encoder_init(builder->encoder_memory, bytes, THREAD_CHUNKS, builder->tick_shift));
}

static void write_file(struct trace_builder *builder, const void *bytes, size_t count)
{
	if (write(builder->fd, bytes, count) != (ssize_t)count)
		fail(builder->path, "cannot write");
}

struct trace_builder *trace_begin(const char *path)
{
	struct trace_builder *builder = need(calloc(1, sizeof(*builder)));
	struct gf_error error;
	unsigned char header[GF_TRACE_HEADER_BYTES];
	builder->path = need(strdup(path));
	if (asprintf(&builder->journal_path, "%s" GF_JOURNAL_SUFFIX, builder->path) < 0)
		fail(path, "no memory");
	builder->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (builder->fd < 0)
		fail(path, "cannot create");
	unlink(builder->journal_path);
	builder->trace_id[0] = UINT64_C(0x1122334455667788);
	builder->trace_id[1] = UINT64_C(0x99aabbccddeeff00);
	gf_trace_header(header, builder->trace_id);
	write_file(builder, header, sizeof(header));
	if (gf_journal_create(&builder->journal, builder->journal_path, CHUNK_LIMIT, 1,
		builder->trace_id, &error))
		fail(builder->journal_path, error.text);
	make_encoder(builder);
	return builder;
}

static struct builder_thread *thread_of(struct trace_builder *builder, uint32_t thread_id)
{
	for (size_t i = 0; i < builder->thread_count; i++)
		if (builder->threads[i].id == thread_id)
			return &builder->threads[i];
	builder->threads = need(
	    realloc(builder->threads, (builder->thread_count + 1) * sizeof(*builder->threads)));
	struct builder_thread *thread = &builder->threads[builder->thread_count++];
	*thread = (struct builder_thread){.id = thread_id};
	return thread;
}

static void write_frame(struct trace_builder *builder, struct builder_thread *thread)
{
	struct gf_source sources[THREAD_CHUNKS];
	const void *frame;
	size_t bytes;
	struct gf_error error;
	for (uint32_t i = 0; i < thread->count; i++)
		sources[i] = (struct gf_source){thread->chunks[i], GF_CHUNK_HEADER_BYTES,
		    i + 1 < thread->count ? thread->chunks[i]->used_bytes : thread->used};
	if (thread->count == 0)
		return;
	if (gf_encode(builder->encoder, sources, thread->count, &frame, &bytes, &error))
		fail("frame", error.text);
	write_file(builder, frame, bytes);
	for (uint32_t i = 0; i < thread->count; i++)
		gf_chunk_recycle(thread->chunks[i]);
	thread->count = thread->used = 0;
}

static void *room_for(struct trace_builder *builder, struct builder_thread *thread, uint32_t bytes)
{
	if (thread->count && thread->used + bytes <= GF_CHUNK_BYTES) {
		thread->used += bytes;
		return (char *)thread->chunks[thread->count - 1] + thread->used - bytes;
	}
	if (thread->count)
		gf_chunk_retire(thread->chunks[thread->count - 1], thread->used);
	if (thread->count == THREAD_CHUNKS)
		write_frame(builder, thread);
	struct gf_chunk *chunk = gf_journal_claim(&builder->journal, thread->id, &builder->hint);
	if (!chunk) {
		gf_journal_grow(&builder->journal, CHUNKS_AT_ONCE);
		chunk = need(gf_journal_claim(&builder->journal, thread->id, &builder->hint));
	}
	thread->chunks[thread->count++] = chunk;
	thread->used = GF_CHUNK_HEADER_BYTES + bytes;
	return (char *)chunk + GF_CHUNK_HEADER_BYTES;
}

void trace_add_raw(
    struct trace_builder *builder, uint32_t thread_id, const void *record, uint32_t bytes)
{
	uint32_t head;
	char *to = room_for(builder, thread_of(builder, thread_id), bytes);
	memcpy(&head, record, sizeof(head));
	memcpy(to + sizeof(head), (const char *)record + sizeof(head), bytes - sizeof(head));
	gf_record_publish(to, head);
}

void trace_add(struct trace_builder *builder, uint32_t thread_id, unsigned tag, const void *record)
{
	const struct gf_record_type *type = need((void *)(uintptr_t)gf_record_type(tag));
	char bytes[256];
	uint32_t head = GF_HEAD(tag, type->bytes);
	memcpy(bytes, record, type->bytes);
	memcpy(bytes, &head, sizeof(head));
	trace_add_raw(builder, thread_id, bytes, type->bytes);
}

void trace_text(struct trace_builder *builder, uint32_t thread_id, uint64_t time,
    enum gf_text_kind kind, uint32_t id, const void *bytes, uint32_t length)
{
	uint32_t all = (uint32_t)sizeof(struct gf_text) + ((length + 7) & ~7u);
	struct gf_text *text = need(calloc(1, all));
	*text = (struct gf_text){GF_HEAD(GF_TAG_text, all), id, time, kind, length};
	memcpy(text + 1, bytes, length);
	trace_add_raw(builder, thread_id, text, all);
	free(text);
}

void trace_property(struct trace_builder *builder, const char *name, const char *value)
{
	char *text = need(malloc(strlen(name) + strlen(value) + 1));
	memcpy(text, name, strlen(name) + 1);
	memcpy(text + strlen(name) + 1, value, strlen(value));
	trace_text(
	    builder, 1, 0, GF_TEXT_PROPERTY, 0, text, (uint32_t)(strlen(name) + 1 + strlen(value)));
	free(text);
}

void trace_clock(
    struct trace_builder *builder, uint32_t thread_id, uint64_t ticks, uint64_t monotonic_ns)
{
	struct gf_clock clock = {.time = ticks,
	    .monotonic_ns = monotonic_ns,
	    .realtime_ns = REALTIME_START + monotonic_ns};
	trace_add(builder, thread_id, GF_TAG_clock, &clock);
}

void trace_mark(struct trace_builder *builder, uint32_t thread_id, uint64_t time,
    enum gf_mark_kind kind, uint64_t value)
{
	struct gf_mark mark = {.kind = kind, .time = time, .value = value};
	trace_add(builder, thread_id, GF_TAG_mark, &mark);
}

void trace_frame(struct trace_builder *builder, uint32_t thread_id)
{
	write_frame(builder, thread_of(builder, thread_id));
}

void trace_tick_shift(struct trace_builder *builder, unsigned shift)
{
	builder->tick_shift = shift;
	make_encoder(builder);
}

static void release(struct trace_builder *builder, const char *remove_path)
{
	gf_journal_close(&builder->journal, remove_path);
	close(builder->fd);
	free(builder->encoder_memory);
	free(builder->threads);
	free(builder->path);
	free(builder->journal_path);
	free(builder);
}

void trace_end(struct trace_builder *builder)
{
	for (size_t i = 0; i < builder->thread_count; i++)
		write_frame(builder, &builder->threads[i]);
	release(builder, builder->journal_path);
}

void trace_kill(struct trace_builder *builder)
{
	release(builder, NULL);
}
