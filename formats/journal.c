/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_WRITE 23
#endif

static off_t chunk_offset(uint32_t index)
{
	return (off_t)GF_JOURNAL_HEADER_BYTES + (off_t)index * GF_CHUNK_BYTES;
}

/*
 * Disk blocks for the bytes, so that a later store cannot meet a full disk.  Returns an errno.
 *
 * The limit on file sizes is asked first: passing it would send SIGXFSZ, which ends the host.
 */
static int allocate(int fd, off_t from, off_t bytes)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    (uint64_t)from + (uint64_t)bytes > limit.rlim_cur)
		return EFBIG;
	int error;
	do
		error = posix_fallocate(fd, from, bytes);
	while (error == EINTR);
	return error;
}

/* Page faults now, in the flusher, not in the thread that records.  Nobody else uses the range. */
static void touch(char *from, size_t bytes)
{
	if (madvise(from, bytes, MADV_POPULATE_WRITE) == 0)
		return;
	for (size_t at = 0; at < bytes; at += 4096)
		__atomic_store_n(from + at, 0, __ATOMIC_RELAXED);
}

/* Open, size and map the file.  Leaves nothing behind when it fails. */
static enum gf_status map_file(struct gf_journal *out, const char *path, uint32_t chunk_limit,
    uint32_t first_chunks, struct gf_error *error)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		int cause = errno;
		return gf_fail(error, gf_errno_status(cause), UINT64_MAX,
		    "cannot create the journal %s: %s (errno %d)", path, gf_errno_words(cause),
		    cause);
	}
	gf_held_take(&out->file, fd);
	int cause = allocate(out->file.fd, 0, chunk_offset(first_chunks));
	if (cause == 0) {
		out->mapped_bytes = (size_t)chunk_offset(chunk_limit);
		void *map = mmap(NULL, out->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		    out->file.fd, 0);
		if (map != MAP_FAILED) {
			/* After mlockall all of it would count as locked, used or not. */
			munlock(map, out->mapped_bytes);
			out->header = map;
			return GF_OK;
		}
		cause = errno;
	}
	gf_held_close(&out->file);
	unlink(path);
	return gf_fail(error, gf_errno_status(cause), UINT64_MAX,
	    "cannot set up the journal %s with %u chunks of %u bytes: %s (errno %d)", path,
	    first_chunks, GF_CHUNK_BYTES, gf_errno_words(cause), cause);
}

enum gf_status gf_journal_create(struct gf_journal *journal, const char *path, uint32_t chunk_limit,
    uint32_t first_chunks, const uint64_t trace_id[2], struct gf_error *error)
{
	if (first_chunks == 0 || first_chunks > chunk_limit ||
	    chunk_limit > GF_JOURNAL_CHUNKS_MOST)
		return gf_fail(error, GF_USAGE, UINT64_MAX, "a journal of %u chunks, %u at first",
		    chunk_limit, first_chunks);
	struct gf_journal made = {NULL, 0, GF_HELD_NONE};
	enum gf_status status = map_file(&made, path, chunk_limit, first_chunks, error);
	if (status)
		return status;
	struct gf_journal_header *header = made.header;
	touch((char *)header, (size_t)chunk_offset(first_chunks));
	header->version = GF_JOURNAL_VERSION;
	header->byte_order = GF_BYTE_ORDER_MARK;
	header->header_bytes = GF_JOURNAL_HEADER_BYTES;
	header->chunk_bytes = GF_CHUNK_BYTES;
	header->chunk_limit = chunk_limit;
	header->chunk_count = first_chunks;
	header->pid = (uint32_t)getpid();
	header->next_sequence = 1;
	header->trace_id[0] = trace_id[0];
	header->trace_id[1] = trace_id[1];
	/* The magic last: a reader never sees half a header. */
	uint64_t magic;
	memcpy(&magic, GF_JOURNAL_MAGIC, sizeof(magic));
	__atomic_store_n((uint64_t *)header->magic, magic, __ATOMIC_RELEASE);
	*journal = made;
	return GF_OK;
}

uint32_t gf_journal_grow(struct gf_journal *journal, uint32_t count)
{
	struct gf_journal_header *header = journal->header;
	uint32_t have = header->chunk_count;
	if (count > header->chunk_limit - have)
		count = header->chunk_limit - have;
	if (count == 0 || !gf_held_ours(&journal->file) ||
	    allocate(journal->file.fd, chunk_offset(have), (off_t)count * GF_CHUNK_BYTES) != 0)
		return 0;
	touch((char *)gf_journal_chunk(journal, have), (size_t)count * GF_CHUNK_BYTES);
	__atomic_store_n(&header->chunk_count, have + count, __ATOMIC_RELEASE);
	return count;
}

static bool take(struct gf_chunk *chunk)
{
	uint32_t expected = GF_CHUNK_FREE;
	if (__atomic_load_n(&chunk->state, __ATOMIC_RELAXED) != GF_CHUNK_FREE)
		return false;
	return __atomic_compare_exchange_n(
	    &chunk->state, &expected, GF_CHUNK_OWNED, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

struct gf_chunk *gf_journal_claim(struct gf_journal *journal, uint32_t thread_id, uint32_t *hint)
{
	struct gf_journal_header *header = journal->header;
	uint32_t count = __atomic_load_n(&header->chunk_count, __ATOMIC_ACQUIRE);
	uint32_t start = __atomic_load_n(hint, __ATOMIC_RELAXED);
	for (uint32_t tried = 0; tried < count; tried++) {
		uint32_t index = (uint32_t)(((uint64_t)start + tried) % count);
		struct gf_chunk *chunk = gf_journal_chunk(journal, index);
		if (!take(chunk))
			continue;
		__atomic_store_n(hint, index + 1, __ATOMIC_RELAXED);
		__atomic_store_n(&chunk->thread_id, thread_id, __ATOMIC_RELAXED);
		__atomic_store_n(&chunk->sequence,
		    __atomic_fetch_add(&header->next_sequence, 1, __ATOMIC_RELEASE),
		    __ATOMIC_RELAXED);
		/* Last: whoever sees 64 here sees the thread and the sequence too. */
		__atomic_store_n(&chunk->framed_bytes, GF_CHUNK_HEADER_BYTES, __ATOMIC_RELEASE);
		return chunk;
	}
	return NULL;
}

void gf_chunk_recycle(struct gf_chunk *chunk)
{
	/*
	 * The sequence first: a reader that copies the chunk meanwhile, or after we died halfway,
	 * sees that the copy is of no use; everything in it is in the trace already.
	 */
	__atomic_exchange_n(&chunk->sequence, 0, __ATOMIC_ACQ_REL); /* nothing below moves up */
	__atomic_store_n(&chunk->framed_bytes, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&chunk->used_bytes, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&chunk->thread_id, 0, __ATOMIC_RELAXED);
	memset((char *)chunk + GF_CHUNK_HEADER_BYTES, 0, GF_CHUNK_BYTES - GF_CHUNK_HEADER_BYTES);
	__atomic_store_n(&chunk->state, GF_CHUNK_FREE, __ATOMIC_RELEASE);
}

uint32_t gf_chunk_extent(
    const struct gf_chunk *chunk, uint32_t from, uint32_t limit, bool *damaged_out)
{
	const char *bytes = (const char *)chunk;
	*damaged_out = false;
	while (from + GF_RECORD_MIN_BYTES <= limit) {
		uint32_t head = __atomic_load_n((const uint32_t *)(bytes + from), __ATOMIC_ACQUIRE);
		if (head == 0)
			break;
		if (GF_HEAD_BYTES(head) > limit - from || !gf_record_valid(bytes + from, head)) {
			*damaged_out = true;
			break;
		}
		from += GF_HEAD_BYTES(head);
	}
	return from;
}

void gf_journal_close(struct gf_journal *journal, const char *remove_path)
{
	if (!journal->header)
		return;
	if (remove_path)
		unlink(remove_path);
	munmap(journal->header, journal->mapped_bytes);
	gf_held_close(&journal->file);
	*journal = (struct gf_journal){NULL, 0, GF_HELD_NONE};
}
