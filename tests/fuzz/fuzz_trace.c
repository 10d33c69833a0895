/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: bytes as a trace and its journal.
 *
 * Input: 4 bytes length of the journal (little-endian), the journal, the trace.  In mode 1 (lowest
 * bit of the first byte of the length) all checksums of the trace are put right before it is read:
 * else a fuzzer would never get behind them.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "formats/frame_layout.h"
#include "formats/reader.h"
#include "formats/wire.h"

#define JOURNAL_LIMIT (GF_JOURNAL_HEADER_BYTES + 2 * GF_CHUNK_BYTES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Make the checksums of a frame at `at` right, as far as its lengths allow.  Returns its end. */
static size_t repair_frame(unsigned char *trace, size_t bytes, size_t at)
{
	unsigned char *frame = trace + at;
	size_t left = bytes - at - GF_FRAME_HEADER_BYTES;
	size_t body = gf_get32(frame + GF_FRAME_BODY_BYTES_AT);
	size_t directory = gf_get32(frame + GF_FRAME_DIRECTORY_BYTES_AT);
	body = body < left ? body : left;
	directory = directory < left ? directory : left;
	gf_put32(frame + GF_FRAME_MAGIC_AT, GF_FRAME_MAGIC);
	gf_put64(
	    frame + GF_FRAME_BODY_CHECKSUM_AT, XXH3_64bits(frame + GF_FRAME_HEADER_BYTES, body));
	gf_put32(frame + GF_FRAME_DIRECTORY_CHECKSUM_AT,
	    (uint32_t)XXH3_64bits(frame + GF_FRAME_HEADER_BYTES, directory));
	gf_put32(frame + GF_FRAME_HEADER_CHECKSUM_AT,
	    (uint32_t)XXH3_64bits(frame + GF_FRAME_BODY_CHECKSUM_AT,
		GF_FRAME_HEADER_BYTES - GF_FRAME_BODY_CHECKSUM_AT));
	return at + GF_FRAME_HEADER_BYTES + body;
}

static void repair(unsigned char *trace, size_t bytes)
{
	static const uint64_t trace_id[2] = {1, 2};
	if (bytes < GF_TRACE_HEADER_BYTES)
		return;
	gf_trace_header(trace, trace_id);
	for (size_t at = GF_TRACE_HEADER_BYTES; bytes - at >= GF_FRAME_HEADER_BYTES;)
		at = repair_frame(trace, bytes, at);
}

static void write_file(const char *name, const void *data, size_t bytes)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		abort();
	close(fd);
}

static void look_at(const struct gf_event_ref *event, uint64_t *sum)
{
	switch (event->type) {
#define RECORD(tag, name, first) \
	case tag: { \
		struct gf_##name record; \
		gf_get_##name(event->batch, event->row, &record); \
		*sum += XXH3_64bits(&record, sizeof(record)); \
		break; \
	}
		GF_RECORDS(RECORD)
#undef RECORD
	}
}

static void use(struct gf_reader *reader)
{
	struct gf_event_ref event;
	struct gf_error error;
	uint64_t sum = 0, count = 0;
	uint32_t texts;
	struct gf_merge *merge = gf_merge_open(reader, ~UINT64_C(0));
	while (merge && gf_merge_next(merge, &event, &error) == GF_OK) {
		look_at(&event, &sum);
		sum += gf_reader_ns(reader, event.ticks);
		count++;
	}
	gf_merge_close(merge);
	const struct gf_text_entry *entry = gf_reader_texts(reader, &texts);
	for (uint32_t i = 0; i < texts; i++)
		sum += entry[i].length + strlen(entry[i].bytes);
	gf_reader_property(reader, "pid");
	if (gf_reader_verify(reader, &error) != GF_OK)
		abort();
	/* What the summary promises is what can be read. */
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		count -= gf_reader_summary(reader)->record_count[tag];
	if (count != 0)
		abort();
	__asm__ volatile("" ::"r"(sum));
}

static char folder[] = "/dev/shm/fuzz_trace.XXXXXX";
static char path[64], journal_path[80];

static void remove_folder(void)
{
	unlink(path);
	unlink(journal_path);
	rmdir(folder);
}

static void make_folder(void)
{
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/t.gst", folder);
	snprintf(journal_path, sizeof(journal_path), "%s.journal", path);
	atexit(remove_folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!path[0])
		make_folder();
	if (size < 4)
		return 0;
	size_t journal_bytes = gf_get32(data) >> 1;
	bool mend = data[0] & 1;
	data += 4;
	size -= 4;
	journal_bytes = journal_bytes < size ? journal_bytes : size;
	journal_bytes = journal_bytes < JOURNAL_LIMIT ? journal_bytes : JOURNAL_LIMIT;
	unsigned char *trace = malloc(size - journal_bytes + 1);
	if (!trace)
		return 0;
	memcpy(trace, data + journal_bytes, size - journal_bytes);
	if (mend)
		repair(trace, size - journal_bytes);
	write_file(path, trace, size - journal_bytes);
	unlink(journal_path);
	if (journal_bytes)
		write_file(journal_path, data, journal_bytes);
	struct gf_reader *reader;
	struct gf_error error;
	if (gf_reader_open(path, &reader, &error) == GF_OK) {
		use(reader);
		gf_reader_close(reader);
	}
	free(trace);
	return 0;
}
