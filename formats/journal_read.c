/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/journal_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/arena.h"
#include "formats/file_read.h"

#define READINGS 4 /* of a chunk that looks damaged */

/* Its maker is at it, or was killed before it could record anything: the magic comes last. */
static bool unborn(const struct gf_journal_header *header, size_t got)
{
	static const char zero[sizeof(header->magic)];
	return got == 0 ||
	       (got >= sizeof(zero) && memcmp(header->magic, zero, sizeof(zero)) == 0);
}

static enum gf_status check_header(const struct gf_journal_header *header, struct gf_error *error)
{
	if (memcmp(header->magic, GF_JOURNAL_MAGIC, sizeof(header->magic)) != 0)
		return gf_fail(
		    error, GF_BAD_FILE, 0, "the journal does not begin with " GF_JOURNAL_MAGIC);
	if (header->byte_order != GF_BYTE_ORDER_MARK)
		return gf_fail(error, GF_UNSUPPORTED, 0,
		    "the journal was written on a machine of another byte order (mark %#x): read "
		    "it there",
		    header->byte_order);
	if (header->version != GF_JOURNAL_VERSION)
		return gf_fail(error, GF_TOO_NEW, 0,
		    "journal format version %u, this program reads version %u: use a newer gpushim",
		    header->version, GF_JOURNAL_VERSION);
	if (header->header_bytes != GF_JOURNAL_HEADER_BYTES ||
	    header->chunk_bytes != GF_CHUNK_BYTES)
		return gf_fail(error, GF_BAD_FILE, 0,
		    "the journal's header is damaged: %u bytes of header, %u of a chunk",
		    header->header_bytes, header->chunk_bytes);
	if (header->chunk_limit == 0 || header->chunk_limit > GF_JOURNAL_CHUNKS_MOST)
		return gf_fail(error, GF_BAD_FILE, offsetof(struct gf_journal_header, chunk_limit),
		    "the journal's header is damaged: %u chunks may exist (byte %zu) where %u "
		    "are the most",
		    header->chunk_limit, offsetof(struct gf_journal_header, chunk_limit),
		    GF_JOURNAL_CHUNKS_MOST);
	if (header->chunk_count > header->chunk_limit)
		return gf_fail(error, GF_BAD_FILE, offsetof(struct gf_journal_header, chunk_count),
		    "the journal's header is damaged: %u chunks (byte %zu) where %u are the most",
		    header->chunk_count, offsetof(struct gf_journal_header, chunk_count),
		    header->chunk_limit);
	return GF_OK;
}

/* Where the records of a chunk must end at the latest, as its header tells. */
static uint32_t record_limit(const struct gf_chunk *chunk, bool *damaged)
{
	uint32_t used = chunk->used_bytes;
	if (chunk->state != GF_CHUNK_FULL)
		return GF_CHUNK_BYTES;
	if (used >= GF_CHUNK_HEADER_BYTES && used <= GF_CHUNK_BYTES && used % 8 == 0)
		return used;
	*damaged = true;
	return GF_CHUNK_BYTES;
}

/*
 * Read a whole chunk and find the end of its records.  What looks damaged may be a record that the
 * owner stored while the kernel copied: only what stays wrong is.
 */
static bool read_records(int fd, uint64_t offset, struct gf_chunk *chunk, uint32_t *end_out,
    bool *damaged_out)
{
	for (int reading = 0; reading < READINGS; reading++) {
		bool wrong, bad_limit = false;
		if (gf_read_at(fd, chunk, GF_CHUNK_BYTES, offset) != GF_CHUNK_BYTES)
			return false;
		uint32_t limit = record_limit(chunk, &bad_limit);
		*end_out = gf_chunk_extent(chunk, GF_CHUNK_HEADER_BYTES, limit, &wrong);
		*damaged_out = bad_limit || wrong || chunk->state > GF_CHUNK_FULL ||
			       (chunk->state == GF_CHUNK_FULL && *end_out != limit);
		if (!*damaged_out)
			break;
	}
	return true;
}

/*
 * Copy one chunk in use.  Its records are read twice: what the first reading shows to be complete
 * is complete in the second, even if the pages were copied while the owner wrote.
 *
 * Returns GF_END if the chunk holds nothing (any more).
 */
static enum gf_status copy_chunk(
    int fd, uint64_t offset, struct gf_chunk *first, struct gf_leftover *out)
{
	uint64_t sequence = first->sequence;
	uint32_t end;
	bool wrong;
	if (sequence == 0 || first->state == GF_CHUNK_FREE)
		return GF_END;
	struct gf_leftover made = {sequence, offset, 0, 0, NULL, false};
	if (!read_records(fd, offset, first, &end, &made.damaged))
		return GF_IO;
	if (end == GF_CHUNK_HEADER_BYTES && !made.damaged)
		return GF_END;
	made.chunk = malloc(end);
	if (!made.chunk)
		return GF_NO_MEMORY;
	struct gf_chunk now;
	if (gf_read_at(fd, made.chunk, end, offset) != end ||
	    gf_read_at(fd, &now, sizeof(now), offset) != sizeof(now) || now.sequence != sequence ||
	    first->sequence != sequence || made.chunk->sequence != sequence) {
		free(made.chunk);
		return GF_END; /* in the trace by now */
	}
	made.thread_id = now.thread_id;
	made.end = gf_chunk_extent(made.chunk, GF_CHUNK_HEADER_BYTES, end, &wrong);
	*out = made;
	return GF_OK;
}

static int by_sequence(const void *left, const void *right)
{
	uint64_t a = ((const struct gf_leftover *)left)->sequence;
	uint64_t b = ((const struct gf_leftover *)right)->sequence;
	return a < b ? -1 : a > b;
}

/* Chunks that the file is too short for are counted as damaged: their records are gone. */
static enum gf_status copy_chunks(
    int fd, uint32_t chunk_count, struct gf_journal_copy *copy, struct gf_error *error)
{
	uint64_t whole = copy->file_bytes < GF_JOURNAL_HEADER_BYTES
			     ? 0
			     : (copy->file_bytes - GF_JOURNAL_HEADER_BYTES) / GF_CHUNK_BYTES;
	struct gf_chunk *buffer = aligned_alloc(64, GF_CHUNK_BYTES);
	enum gf_status status = buffer ? GF_OK : GF_NO_MEMORY;
	size_t room = 0;
	if (chunk_count > whole)
		copy->damaged_chunks += chunk_count - whole;
	for (uint64_t i = 0; !status && i < chunk_count && i < whole; i++) {
		struct gf_leftover leftover;
		uint64_t offset = GF_JOURNAL_HEADER_BYTES + i * GF_CHUNK_BYTES;
		if (gf_read_at(fd, buffer, GF_CHUNK_HEADER_BYTES, offset) != GF_CHUNK_HEADER_BYTES)
			status = GF_IO;
		else
			status = copy_chunk(fd, offset, buffer, &leftover);
		if (status == GF_OK &&
		    !gf_array_room((void **)&copy->leftovers, &room, copy->count, 1,
			sizeof(*copy->leftovers))) {
			free(leftover.chunk);
			status = GF_NO_MEMORY;
		} else if (status == GF_OK) {
			copy->damaged_chunks += leftover.damaged;
			copy->leftovers[copy->count++] = leftover;
		}
		status = status == GF_END ? GF_OK : status;
	}
	free(buffer);
	if (status)
		return gf_fail(error, status, UINT64_MAX,
		    status == GF_IO ? "cannot read the journal's chunks"
				    : "out of memory for the journal's chunks");
	if (copy->count)
		qsort(copy->leftovers, copy->count, sizeof(*copy->leftovers), by_sequence);
	return GF_OK;
}

/*
 * Of a recording that goes on: leave out chunks claimed after the copy began.  Otherwise a chunk
 * may be here whose forerunner was claimed, filled and missed meanwhile.
 */
static void drop_newer(struct gf_journal_copy *copy)
{
	while (copy->count && copy->leftovers[copy->count - 1].sequence >= copy->bound)
		free(copy->leftovers[--copy->count].chunk);
}

/* Sets *fd_out, also when it fails: a descriptor to close, or -1. */
static enum gf_status open_journal(
    const char *path, int *fd_out, uint64_t *bytes_out, struct gf_error *error)
{
	struct stat stat;
	int fd = *fd_out = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return GF_END;
	if (fd < 0 || fstat(fd, &stat) != 0) {
		int cause = errno;
		return gf_fail(error, GF_IO, UINT64_MAX,
		    "cannot open the journal %s: %s (errno %d)", path, gf_errno_words(cause),
		    cause);
	}
	if (!S_ISREG(stat.st_mode))
		return gf_fail(
		    error, GF_BAD_FILE, UINT64_MAX, "the journal %s is no plain file", path);
	*bytes_out = (uint64_t)stat.st_size;
	return GF_OK;
}

static enum gf_status read_header(
    int fd, uint64_t file_bytes, struct gf_journal_header *header, struct gf_error *error)
{
	size_t wanted = file_bytes < sizeof(*header) ? (size_t)file_bytes : sizeof(*header);
	size_t got = gf_read_at(fd, header, wanted, 0);
	if (got < wanted)
		return gf_fail(error, GF_IO, 0, "the journal cannot be read");
	if (unborn(header, got))
		return GF_END;
	if (got < sizeof(*header))
		return gf_fail(error, GF_TRUNCATED, 0, "the journal has only %zu bytes", got);
	return check_header(header, error);
}

/* A journal may be growing: the size asked for after the header has room for all it tells of. */
static void measure_again(int fd, uint64_t *bytes)
{
	struct stat stat;
	if (fstat(fd, &stat) == 0)
		*bytes = (uint64_t)stat.st_size;
}

enum gf_status gf_journal_copy(
    const char *path, struct gf_journal_copy *copy_out, struct gf_error *error)
{
	struct gf_journal_copy copy;
	struct gf_journal_header header;
	int fd;
	memset(&copy, 0, sizeof(copy));
	enum gf_status status = open_journal(path, &fd, &copy.file_bytes, error);
	if (!status)
		status = read_header(fd, copy.file_bytes, &header, error);
	if (!status) {
		measure_again(fd, &copy.file_bytes);
		memcpy(copy.trace_id, header.trace_id, sizeof(copy.trace_id));
		memcpy(copy.lost, header.lost, sizeof(copy.lost));
		copy.flags = header.flags;
		status = copy_chunks(fd, header.chunk_count, &copy, error);
		copy.bound = header.next_sequence;
		if (gf_read_at(fd, &header, sizeof(header), 0) == sizeof(header) &&
		    header.next_sequence != copy.bound)
			drop_newer(&copy);
	}
	if (fd >= 0)
		close(fd);
	if (status)
		gf_journal_copy_free(&copy);
	else
		*copy_out = copy;
	return status;
}

void gf_journal_copy_free(struct gf_journal_copy *copy)
{
	for (size_t i = 0; i < copy->count; i++)
		free(copy->leftovers[i].chunk);
	free(copy->leftovers);
	copy->leftovers = NULL;
	copy->count = 0;
}
