/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/journal_fold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/file_read.h"
#include "formats/reader_state.h"

#define FRAME_CHUNKS 16u

struct fold {
	const char *path;
	char journal_path[PATH_MAX];
	int journal; /* open and locked; -1 if not */
	int trace;
	uint64_t end; /* of the trace: behind its last whole frame */
	struct gf_reader *reader;
	const struct gf_unit **order;
	struct gf_encoder *encoder;
	struct gf_error *error;
};

static enum gf_status fail_io(struct fold *fold, const char *what, const char *path)
{
	int cause = errno;
	return gf_fail(fold->error, gf_errno_status(cause), UINT64_MAX,
	    "cannot %s %s: %s (errno %d)", what, path, gf_errno_words(cause), cause);
}

/* A property, its value behind the 0. */
static const char folded[] = "journal_folded\0001";

/* ---- whether anybody still writes ---- */

/* Whether a process, as /proc names it, is `pid` in the innermost of its process namespaces. */
static bool calls_itself(const char *process, unsigned long pid)
{
	char path[64], line[512];
	bool same = false;
	snprintf(path, sizeof(path), "/proc/%.20s/status", process);
	FILE *status = fopen(path, "re");
	if (!status)
		return false;
	while (fgets(line, sizeof(line), status)) {
		const char *last = strrchr(line, '\t');
		if (strncmp(line, "NSpid:", 6) != 0 || !last)
			continue;
		same = strtoul(last, NULL, 10) == pid;
		break;
	}
	fclose(status);
	return same;
}

/* The journal has the process's own idea of its number: one in a container of ours counts too. */
static bool writer_lives(uint32_t pid)
{
	bool lives = pid == 0 || pid > INT_MAX || kill((pid_t)pid, 0) == 0 || errno != ESRCH;
	DIR *processes = lives ? NULL : opendir("/proc");
	struct dirent *entry;
	while (processes && !lives && (entry = readdir(processes)))
		lives = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			calls_itself(entry->d_name, pid);
	if (processes)
		closedir(processes);
	return lives;
}

/* Open the journal, for us alone.  The look at its process comes before its records are read. */
static enum gf_status take_journal(struct fold *fold)
{
	struct gf_journal_header header;
	struct stat opened, named;
	if (snprintf(fold->journal_path, sizeof(fold->journal_path), "%s" GF_JOURNAL_SUFFIX,
		fold->path) >= (int)sizeof(fold->journal_path))
		return gf_fail(
		    fold->error, GF_IO, UINT64_MAX, "the name %s is too long", fold->path);
	fold->journal = open(fold->journal_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fold->journal < 0)
		return errno == ENOENT ? GF_END : fail_io(fold, "open", fold->journal_path);
	if (flock(fold->journal, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		return gf_fail(fold->error, GF_USAGE, UINT64_MAX,
		    "another program is putting %s into its trace", fold->journal_path);
	/* Somebody may have finished this very work before we got the lock. */
	if (fstat(fold->journal, &opened) != 0 || stat(fold->journal_path, &named) != 0 ||
	    opened.st_ino != named.st_ino || opened.st_dev != named.st_dev)
		return GF_END;
	if (gf_read_at(fold->journal, &header, sizeof(header), 0) != sizeof(header))
		return gf_fail(fold->error, GF_BAD_FILE, 0, "the journal is cut short");
	if (writer_lives(header.pid))
		return gf_fail(fold->error, GF_USAGE, UINT64_MAX,
		    "process %u, which writes %s, is running", header.pid, fold->journal_path);
	return GF_OK;
}

/* ---- what there is ---- */

static enum gf_status open_pair(struct fold *fold)
{
	enum gf_status status = gf_reader_open(fold->path, &fold->reader, fold->error);
	if (status)
		return status;
	const struct gf_damage *damage = gf_reader_damage(fold->reader);
	if (damage->damaged_frames || damage->journal_damaged)
		return gf_fail(
		    fold->error, GF_BAD_FILE, damage->first_bad_offset, "%s", damage->first_text);
	return fold->reader->summary.has_journal ? GF_OK : GF_END;
}

/* Frames of this version have no place for fields or types of another one. */
static bool all_known(const struct gf_unit *unit)
{
	for (uint64_t at = 0; at < unit->info.bytes;) {
		const char *record = unit->records + at;
		uint32_t head = *(const uint32_t *)(const void *)record;
		const struct gf_record_type *type = gf_record_type(GF_HEAD_TAG(head));
		if (!type || gf_record_fixed_bytes(record, head) != type->bytes)
			return false;
		at += GF_HEAD_BYTES(head);
	}
	return true;
}

static int by_age(const void *left, const void *right)
{
	return gf_unit_compare(
	    *(const struct gf_unit *const *)left, *(const struct gf_unit *const *)right);
}

/* All units as the merge takes them, and where the trace ends. */
static enum gf_status survey(struct fold *fold)
{
	const struct gf_reader *reader = fold->reader;
	fold->end = GF_TRACE_HEADER_BYTES;
	fold->order = malloc((reader->unit_count + 1) * sizeof(*fold->order));
	if (!fold->order)
		return gf_fail(fold->error, GF_NO_MEMORY, UINT64_MAX, "out of memory for a list");
	for (size_t i = 0; i < reader->unit_count; i++) {
		const struct gf_unit *unit = &reader->units[i];
		fold->order[i] = unit;
		if (!unit->records && unit->info.offset + unit->info.bytes > fold->end)
			fold->end = unit->info.offset + unit->info.bytes;
		if (unit->records && !all_known(unit))
			return gf_fail(fold->error, GF_UNSUPPORTED, UINT64_MAX,
			    "the journal has records of another version of gpushim");
	}
	qsort(fold->order, reader->unit_count, sizeof(*fold->order), by_age);
	return GF_OK;
}

/* ---- writing ---- */

static enum gf_status write_trace(
    struct fold *fold, const void *bytes, size_t count, uint64_t offset)
{
	bool written = gf_write_at(fold->trace, bytes, count, offset);
	return written ? GF_OK : fail_io(fold, "write", fold->path);
}

/* Open the trace for writing; what stands behind its last frame is a torn one: the journal has it.
 */
static enum gf_status open_trace(struct fold *fold)
{
	unsigned char header[GF_TRACE_HEADER_BYTES];
	uint64_t bytes = fold->reader->trace_bytes;
	fold->trace = open(fold->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
	if (fold->trace < 0)
		return fail_io(fold, "open", fold->path);
	if (bytes < sizeof(header)) {
		gf_trace_header(header, fold->reader->journal.trace_id);
		return write_trace(fold, header, sizeof(header), 0);
	}
	if (bytes > fold->end && ftruncate(fold->trace, (off_t)fold->end) != 0)
		return fail_io(fold, "shorten", fold->path);
	return GF_OK;
}

static enum gf_status append_frame(
    struct fold *fold, const struct gf_source *sources, uint32_t count)
{
	const void *frame;
	size_t bytes;
	enum gf_status status =
	    gf_encode(fold->encoder, sources, count, &frame, &bytes, fold->error);
	if (!status)
		status = write_trace(fold, frame, bytes, fold->end);
	if (!status)
		fold->end += bytes;
	return status;
}

/* One frame for parts that follow each other, with no frame of the trace between them: its first
 * source alone tells readers its place. */
static enum gf_status append_parts(struct fold *fold)
{
	size_t units = fold->reader->unit_count;
	enum gf_status status = GF_OK;
	for (size_t i = 0; !status && i < units;) {
		struct gf_source sources[FRAME_CHUNKS];
		uint32_t count = 0, thread_id = fold->order[i]->info.thread_id;
		for (; i < units && count < FRAME_CHUNKS; i++) {
			const struct gf_unit *unit = fold->order[i];
			const struct gf_frame_source *source = &unit->first_source;
			if (!unit->records || unit->info.thread_id != thread_id)
				break;
			sources[count++] = (struct gf_source){
			    (const struct gf_chunk *)(const void *)(unit->records - source->begin),
			    source->begin, source->end};
		}
		if (count)
			status = append_frame(fold, sources, count);
		else
			i++; /* a frame of the trace */
	}
	return status;
}

struct closing {
	struct gf_chunk chunk;
	char records[512];
	uint32_t bytes; /* of the records */
};

static void close_with(struct closing *closing, const void *record, size_t bytes)
{
	memcpy(closing->records + closing->bytes, record, bytes);
	closing->bytes += (uint32_t)bytes;
}

static void close_with_property(struct closing *closing, uint64_t time)
{
	struct {
		struct gf_text text;
		char bytes[(sizeof(folded) + 6) & ~(size_t)7];
	} property = {.text = {.head = GF_HEAD(GF_TAG_text, sizeof(property)),
			  .time = time,
			  .kind = GF_TEXT_PROPERTY,
			  .length = sizeof(folded) - 1}};
	memcpy(property.bytes, folded, sizeof(folded) - 1);
	close_with(closing, &property, sizeof(property));
}

/* At the end of the first thread: that this was done, and what only the journal's header tells. */
static enum gf_status append_closing(struct fold *fold)
{
	const struct gf_reader *reader = fold->reader;
	uint64_t time = reader->summary.last_ticks;
	struct closing closing = {.chunk = {.sequence = GF_SOURCE_FOLD, .thread_id = 1}};
	_Static_assert(sizeof(closing.records) >= sizeof(struct gf_text) + sizeof(folded) + 8 +
			   GF_LOST_REASON_COUNT * sizeof(struct gf_lost) + sizeof(struct gf_mark),
	    "all of them fit");
	if (gf_reader_property(reader, folded))
		return GF_OK; /* by somebody who could not remove the journal any more */
	if (reader->unit_count)
		closing.chunk.thread_id = fold->order[0]->info.thread_id;
	close_with_property(&closing, time);
	for (uint32_t reason = 0; reason < GF_LOST_REASON_COUNT; reason++) {
		struct gf_lost lost = {.head = GF_HEAD(GF_TAG_lost, sizeof(lost)),
		    .reason = reason,
		    .time = time,
		    .count = reader->journal.lost[reason]};
		if (lost.count)
			close_with(&closing, &lost, sizeof(lost));
	}
	struct gf_mark end = {
	    .head = GF_HEAD(GF_TAG_mark, sizeof(end)), .time = time, .kind = GF_MARK_END};
	if (reader->journal.flags & GF_JOURNAL_ENDED)
		close_with(&closing, &end, sizeof(end));
	struct gf_source source = {
	    &closing.chunk, GF_CHUNK_HEADER_BYTES, GF_CHUNK_HEADER_BYTES + closing.bytes};
	return append_frame(fold, &source, 1);
}

static enum gf_status append_all(struct fold *fold)
{
	size_t bytes = (gf_encoder_bytes(FRAME_CHUNKS) + 63) & ~(size_t)63;
	void *memory = aligned_alloc(64, bytes);
	/* Times unrounded, as they are in the journal. */
	fold->encoder = memory ? gf_encoder_init(memory, bytes, FRAME_CHUNKS, 0) : NULL;
	enum gf_status status = fold->encoder ? append_parts(fold)
					      : gf_fail(fold->error, GF_NO_MEMORY, UINT64_MAX,
						    "out of memory for the encoder of frames");
	if (!status)
		status = append_closing(fold);
	free(memory);
	/* Of a disk that is full no torn frame remains; should this fail too, readers skip it. */
	if (status && ftruncate(fold->trace, (off_t)fold->end) != 0)
		return status;
	if (!status && fsync(fold->trace) != 0)
		status = fail_io(fold, "write", fold->path);
	return status;
}

/* ---- the end ---- */

/* Whether a reader finds everything in the trace by now. */
static enum gf_status look_again(struct fold *fold)
{
	size_t left = 0;
	gf_reader_close(fold->reader);
	fold->reader = NULL;
	enum gf_status status = open_pair(fold);
	if (status)
		return status;
	for (size_t i = 0; i < fold->reader->unit_count; i++)
		left += fold->reader->units[i].records != NULL;
	for (unsigned reason = 0; reason < GF_LOST_REASON_COUNT; reason++)
		left += fold->reader->journal.lost[reason] != 0;
	if (left)
		return gf_fail(fold->error, GF_IO, UINT64_MAX,
		    "%s did not take in what its journal has", fold->path);
	return GF_OK;
}

/* The name that readers look for goes first: behind a link to nothing they would miss something. */
static enum gf_status remove_journal(struct fold *fold)
{
	char target[PATH_MAX];
	struct stat named;
	bool linked = lstat(fold->journal_path, &named) == 0 && S_ISLNK(named.st_mode) &&
		      realpath(fold->journal_path, target);
	if (unlink(fold->journal_path) != 0)
		return fail_io(fold, "remove", fold->journal_path);
	if (linked && unlink(target) != 0)
		return fail_io(fold, "remove", target);
	return GF_OK;
}

enum gf_status gf_journal_fold(const char *path, struct gf_error *error)
{
	struct fold fold = {.path = path, .journal = -1, .trace = -1, .error = error};
	enum gf_status status = take_journal(&fold);
	if (!status)
		status = open_pair(&fold);
	if (!status)
		status = survey(&fold);
	if (!status)
		status = open_trace(&fold);
	if (!status)
		status = append_all(&fold);
	if (!status)
		status = look_again(&fold);
	if (!status)
		status = remove_journal(&fold);
	gf_reader_close(fold.reader);
	free(fold.order);
	if (fold.trace >= 0)
		close(fold.trace);
	if (fold.journal >= 0)
		close(fold.journal);
	return status;
}
