/* SPDX-License-Identifier: Apache-2.0 */
/* The journal alone, and a small recorder over it that is killed, and read while it runs. */
#include "tests/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "formats/reader.h"

static const uint64_t trace_id[2] = {11, 22};

/* Named after the process that asked first: a forked recorder uses its parent's files. */
static const char *path_of_test(const char *suffix)
{
	static char paths[4][64];
	static unsigned next;
	static pid_t pid;
	char *path = paths[next++ % 4];
	pid = pid ? pid : getpid();
	snprintf(path, sizeof(paths[0]), "/tmp/test_journal.%d.gst%s", (int)pid, suffix);
	return path;
}

static void open_journal(struct gf_journal *journal, uint32_t limit, uint32_t first)
{
	struct gf_error error;
	const char *path = path_of_test(".journal");
	unlink(path);
	enum gf_status status = gf_journal_create(journal, path, limit, first, trace_id, &error);
	if (status)
		printf("# %s\n", error.text);
	REQUIRE(status == GF_OK);
}

TEST(create)
{
	struct gf_journal journal = {0}, second = {0};
	struct gf_error error;
	open_journal(&journal, 8, 2);
	EXPECT_EQ(journal.header->chunk_count, 2);
	EXPECT_EQ(journal.header->pid, getpid());
	EXPECT_EQ(
	    gf_journal_create(&second, path_of_test(".journal"), 8, 2, trace_id, &error), GF_IO);
	EXPECT(strstr(error.text, "cannot create the journal") != NULL);
	EXPECT(second.header == NULL);
	EXPECT_EQ(gf_journal_create(&second, "/nowhere/x", 8, 2, trace_id, &error), GF_IO);
	EXPECT_EQ(gf_journal_create(&second, "/dev/full", 8, 2, trace_id, &error), GF_IO);
	EXPECT_EQ(gf_journal_create(&second, path_of_test(".x"), 8, 9, trace_id, &error), GF_USAGE);
	gf_journal_close(&journal, path_of_test(".journal"));
	EXPECT(access(path_of_test(".journal"), F_OK) != 0);
	gf_journal_close(&journal, NULL); /* twice is harmless */
}

/* A limit on file sizes is an error, not the signal that would end the program. */
TEST(limit_of_file_size)
{
	struct gf_journal journal = {0};
	struct gf_error error;
	struct rlimit limit = {GF_JOURNAL_HEADER_BYTES + 2 * GF_CHUNK_BYTES, RLIM_INFINITY};
	REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	unlink(path_of_test(".journal"));
	EXPECT_EQ(gf_journal_create(&journal, path_of_test(".journal"), 8, 3, trace_id, &error),
	    GF_NO_SPACE);
	EXPECT(access(path_of_test(".journal"), F_OK) != 0);
	open_journal(&journal, 8, 1);
	EXPECT_EQ(gf_journal_grow(&journal, 1), 1);
	EXPECT_EQ(gf_journal_grow(&journal, 1), 0);
	gf_journal_close(&journal, path_of_test(".journal"));
}

TEST(claim_grow_recycle)
{
	struct gf_journal journal = {0};
	uint32_t hint = 0;
	struct gf_chunk *chunks[8];
	open_journal(&journal, 6, 2);
	for (unsigned i = 0; i < 2; i++) {
		chunks[i] = gf_journal_claim(&journal, 5, &hint);
		REQUIRE(chunks[i]);
		EXPECT_EQ(chunks[i]->sequence, i + 1);
		EXPECT_EQ(chunks[i]->thread_id, 5);
		EXPECT_EQ(chunks[i]->framed_bytes, GF_CHUNK_HEADER_BYTES);
		EXPECT_EQ(chunks[i]->state, GF_CHUNK_OWNED);
	}
	EXPECT(gf_journal_claim(&journal, 5, &hint) == NULL);
	EXPECT_EQ(gf_journal_grow(&journal, 3), 3);
	EXPECT_EQ(gf_journal_grow(&journal, 3), 1);
	EXPECT_EQ(gf_journal_grow(&journal, 3), 0);
	for (unsigned i = 2; i < 6; i++)
		REQUIRE((chunks[i] = gf_journal_claim(&journal, 6, &hint)) != NULL);
	EXPECT(gf_journal_claim(&journal, 6, &hint) == NULL);
	memset(chunks[3] + 1, 0xaa, GF_CHUNK_BYTES - sizeof(*chunks[3]));
	gf_chunk_retire(chunks[3], GF_CHUNK_BYTES);
	EXPECT_EQ(chunks[3]->state, GF_CHUNK_FULL);
	gf_chunk_recycle(chunks[3]);
	EXPECT_EQ(chunks[3]->sequence, 0);
	for (unsigned i = 0; i < GF_CHUNK_BYTES; i++)
		REQUIRE(((char *)chunks[3])[i] == 0);
	EXPECT(gf_journal_claim(&journal, 7, &hint) == chunks[3]);
	EXPECT_EQ(chunks[3]->sequence, 7);
	gf_journal_close(&journal, path_of_test(".journal"));
}

TEST(extent)
{
	static _Alignas(64) char memory[GF_CHUNK_BYTES];
	struct gf_chunk *chunk = (struct gf_chunk *)memory;
	struct gf_wait *wait = (struct gf_wait *)(chunk + 1);
	bool damaged;
	EXPECT_EQ(gf_chunk_extent(chunk, 64, GF_CHUNK_BYTES, &damaged), 64);
	EXPECT(!damaged);
	for (unsigned i = 0; i < 3; i++)
		wait[i].head = GF_HEAD(GF_TAG_wait, sizeof(*wait));
	EXPECT_EQ(gf_chunk_extent(chunk, 64, GF_CHUNK_BYTES, &damaged), 64 + 3 * 48);
	EXPECT(!damaged);
	EXPECT_EQ(gf_chunk_extent(chunk, 64 + 48, 64 + 96, &damaged), 64 + 96);
	EXPECT(!damaged);
	EXPECT_EQ(gf_chunk_extent(chunk, 64, 64 + 112, &damaged), 64 + 96);
	EXPECT(damaged);
	static const uint32_t wrong[] = {GF_HEAD(GF_TAG_wait, 40), GF_HEAD(GF_TAG_wait, 0), 0xffff,
	    GF_HEAD(64, 48), GF_HEAD(0, 48), GF_HEAD(50, 8), GF_HEAD(GF_TAG_wait, 48) | 0x100,
	    GF_HEAD(50, 40000), 0x80000000u};
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		wait[1].head = wrong[i];
		EXPECT_EQ(gf_chunk_extent(chunk, 64, GF_CHUNK_BYTES, &damaged), 64 + 48);
		EXPECT(damaged);
	}
	wait[1].head = GF_HEAD(50, 48); /* a type of the future */
	EXPECT_EQ(gf_chunk_extent(chunk, 64, GF_CHUNK_BYTES, &damaged), 64 + 3 * 48);
	struct gf_text *text = (struct gf_text *)&wait[1];
	text->head = GF_HEAD(GF_TAG_text, 48);
	text->length = 25;
	EXPECT_EQ(gf_chunk_extent(chunk, 64, GF_CHUNK_BYTES, &damaged), 64 + 48);
	text->length = 24;
	EXPECT_EQ(gf_chunk_extent(chunk, 64, GF_CHUNK_BYTES, &damaged), 64 + 3 * 48);
}

/* ---- a small recorder ---- */

#define KILLS 200
#define THREADS 3
#define CHUNKS 24
#define FRAME_CHUNKS 8

struct shared {
	uint64_t stored[THREADS]; /* records that are published */
	uint32_t stop;
};

struct recorder {
	struct gf_journal journal;
	struct shared *shared;
	struct gf_encoder *encoder;
	int fd;
	uint32_t hint;
};

struct writer {
	struct recorder *recorder;
	unsigned index;
};

static bool stopping(const struct recorder *recorder)
{
	return __atomic_load_n(&recorder->shared->stop, __ATOMIC_RELAXED);
}

static struct gf_chunk *next_chunk(struct recorder *recorder, unsigned index)
{
	struct gf_chunk *chunk;
	while (!(chunk = gf_journal_claim(&recorder->journal, index + 1, &recorder->hint)))
		if (stopping(recorder))
			return NULL;
		else
			usleep(50);
	return chunk;
}

static void *write_records(void *context)
{
	struct writer *writer = context;
	struct recorder *recorder = writer->recorder;
	struct gf_chunk *chunk = next_chunk(recorder, writer->index);
	uint32_t used = GF_CHUNK_HEADER_BYTES;
	for (uint64_t n = 0; chunk && !stopping(recorder); n++) {
		if (used + sizeof(struct gf_block) > GF_CHUNK_BYTES) {
			gf_chunk_retire(chunk, used);
			chunk = next_chunk(recorder, writer->index);
			used = GF_CHUNK_HEADER_BYTES;
			if (!chunk)
				break;
		}
		struct gf_block *block = (struct gf_block *)((char *)chunk + used);
		block->time = n * 10 + writer->index;
		block->address = n;
		block->size = (int64_t)(n % 17 * 512);
		gf_record_publish(block, GF_HEAD(GF_TAG_block, sizeof(*block)));
		used += (uint32_t)sizeof(*block);
		__atomic_store_n(&recorder->shared->stored[writer->index], n + 1, __ATOMIC_RELEASE);
	}
	if (chunk)
		gf_chunk_retire(chunk, used);
	return NULL;
}

static int by_sequence(const void *left, const void *right)
{
	const struct gf_source *a = left, *b = right;
	return a->chunk->sequence < b->chunk->sequence ? -1 : 1;
}

static void frame(struct recorder *recorder, struct gf_source *sources, uint32_t count)
{
	const void *bytes;
	size_t size;
	struct gf_error error;
	if (gf_encode(recorder->encoder, sources, count, &bytes, &size, &error)) {
		printf("# %s\n", error.text);
		abort();
	}
	if (write(recorder->fd, bytes, size) != (ssize_t)size)
		abort();
	for (uint32_t i = 0; i < count; i++) {
		struct gf_chunk *chunk = (struct gf_chunk *)(uintptr_t)sources[i].chunk;
		__atomic_store_n(&chunk->framed_bytes, sources[i].end, __ATOMIC_RELAXED);
	}
}

/* What one thread has: its full chunks and perhaps the written part of its own one, in order. */
static uint32_t collect(
    struct recorder *recorder, uint32_t thread_id, bool owned_too, struct gf_source sources[CHUNKS])
{
	uint32_t count = 0;
	uint64_t bound = gf_journal_bound(&recorder->journal);
	for (uint32_t i = 0; i < recorder->journal.header->chunk_count; i++) {
		struct gf_chunk *chunk = gf_journal_chunk(&recorder->journal, i);
		uint32_t state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);
		uint32_t framed = __atomic_load_n(&chunk->framed_bytes, __ATOMIC_ACQUIRE);
		if (state == GF_CHUNK_FREE || (state == GF_CHUNK_OWNED && !owned_too) ||
		    framed < GF_CHUNK_HEADER_BYTES || chunk->sequence >= bound ||
		    __atomic_load_n(&chunk->thread_id, __ATOMIC_RELAXED) != thread_id)
			continue;
		bool damaged;
		uint32_t limit = state == GF_CHUNK_FULL ? chunk->used_bytes : GF_CHUNK_BYTES;
		uint32_t end = gf_chunk_extent(chunk, framed, limit, &damaged);
		if (damaged)
			abort();
		if (end > framed)
			sources[count++] = (struct gf_source){chunk, framed, end};
		else if (state == GF_CHUNK_FULL)
			gf_chunk_recycle(chunk);
	}
	qsort(sources, count, sizeof(sources[0]), by_sequence);
	return count < FRAME_CHUNKS ? count : FRAME_CHUNKS;
}

static void flush_thread(struct recorder *recorder, uint32_t thread_id, bool owned_too)
{
	struct gf_source sources[CHUNKS];
	uint32_t count = collect(recorder, thread_id, owned_too, sources);
	if (count)
		frame(recorder, sources, count);
	for (uint32_t i = 0; i < count; i++) {
		struct gf_chunk *chunk = (struct gf_chunk *)(uintptr_t)sources[i].chunk;
		if (__atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) == GF_CHUNK_FULL &&
		    chunk->used_bytes == sources[i].end)
			gf_chunk_recycle(chunk);
	}
}

/* The recorder's process; ends when told to, cleanly, or is killed before. */
static void record(struct shared *shared, bool clean)
{
	struct recorder recorder = {.shared = shared};
	pthread_t threads[THREADS];
	struct writer writers[THREADS];
	unsigned char header[GF_TRACE_HEADER_BYTES];
	size_t bytes = (gf_encoder_bytes(FRAME_CHUNKS) + 63) & ~(size_t)63;
	void *memory = aligned_alloc(64, bytes);
	recorder.encoder = gf_encoder_init(memory, bytes, FRAME_CHUNKS, 0);
	gf_trace_header(header, trace_id);
	if (gf_journal_create(
		&recorder.journal, path_of_test(".journal"), CHUNKS, 4, trace_id, NULL))
		abort();
	recorder.fd = open(path_of_test(""), O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (write(recorder.fd, header, sizeof(header)) != sizeof(header))
		abort();
	for (unsigned i = 0; i < THREADS; i++) {
		writers[i] = (struct writer){&recorder, i};
		pthread_create(&threads[i], NULL, write_records, &writers[i]);
	}
	for (unsigned round = 0; !stopping(&recorder); round++) {
		for (uint32_t id = 1; id <= THREADS; id++)
			flush_thread(&recorder, id, round % 4 == 0);
		gf_journal_grow(&recorder.journal, 1);
		usleep(100);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned round = 0; clean && round < CHUNKS; round++)
		for (uint32_t id = 1; id <= THREADS; id++)
			flush_thread(&recorder, id, false);
	gf_journal_close(&recorder.journal, clean ? path_of_test(".journal") : NULL);
	close(recorder.fd);
	free(memory);
}

static struct shared *make_shared(void)
{
	struct shared *shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	REQUIRE(shared != MAP_FAILED);
	return shared;
}

static pid_t start_recorder(struct shared *shared, bool clean)
{
	unlink(path_of_test(""));
	unlink(path_of_test(".journal"));
	fflush(stdout);
	pid_t child = fork();
	REQUIRE(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing running */
		record(shared, clean);
		_exit(0);
	}
	return child;
}

/* Each thread's records must be 0, 1, 2 ... without a gap, and at least those stored before. */
static void check_trace(const uint64_t stored[THREADS])
{
	uint64_t next[THREADS] = {0};
	struct gf_reader *reader;
	struct gf_error error;
	struct gf_event_ref event;
	enum gf_status status = gf_reader_open(path_of_test(""), &reader, &error);
	if (status)
		printf("# %s\n", error.text);
	REQUIRE(status == GF_OK);
	struct gf_merge *merge = gf_merge_open(reader, ~UINT64_C(0));
	while ((status = gf_merge_next(merge, &event, &error)) == GF_OK) {
		struct gf_block block;
		REQUIRE(event.type == GF_TAG_block && event.thread_id <= THREADS);
		gf_get_block(event.batch, event.row, &block);
		if (block.address != next[event.thread_id - 1])
			printf("# thread %u: record %llu where %llu should be\n", event.thread_id,
			    (unsigned long long)block.address,
			    (unsigned long long)next[event.thread_id - 1]);
		REQUIRE(block.address == next[event.thread_id - 1]);
		next[event.thread_id - 1]++;
	}
	EXPECT_EQ(status, GF_END);
	for (unsigned i = 0; i < THREADS; i++)
		EXPECT(next[i] >= stored[i]);
	EXPECT_EQ(gf_reader_damage(reader)->damaged_frames, 0);
	if (gf_reader_damage(reader)->damaged_frames)
		printf("# %s\n", gf_reader_damage(reader)->first_text);
	gf_merge_close(merge);
	gf_reader_close(reader);
}

static void load_stored(const struct shared *shared, uint64_t stored[THREADS])
{
	for (unsigned i = 0; i < THREADS; i++)
		stored[i] = __atomic_load_n(&shared->stored[i], __ATOMIC_ACQUIRE);
}

static void clean_up(void)
{
	unlink(path_of_test(""));
	unlink(path_of_test(".journal"));
}

TEST(clean_end)
{
	struct shared *shared = make_shared();
	uint64_t stored[THREADS];
	pid_t child = start_recorder(shared, true);
	usleep(200000);
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	int status = -1;
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0);
	EXPECT(access(path_of_test(".journal"), F_OK) != 0);
	load_stored(shared, stored);
	EXPECT(stored[0] > 1000);
	check_trace(stored);
	clean_up();
}

TEST(killed_at_random_moments)
{
	struct shared *shared = make_shared();
	srandom((unsigned)getpid());
	for (unsigned i = 0; i < KILLS; i++) {
		uint64_t stored[THREADS];
		memset(shared, 0, sizeof(*shared));
		pid_t child = start_recorder(shared, false);
		while (access(path_of_test(""), F_OK) != 0)
			usleep(10);
		usleep((useconds_t)(random() % 15000));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		load_stored(shared, stored);
		check_trace(stored);
	}
	clean_up();
}

TEST(read_while_it_is_written)
{
	struct shared *shared = make_shared();
	pid_t child = start_recorder(shared, false);
	while (access(path_of_test(""), F_OK) != 0)
		usleep(10);
	time_t end = time(NULL) + 4; /* the trace grows as long as we read it */
	while (time(NULL) < end) {
		uint64_t stored[THREADS];
		load_stored(shared, stored);
		check_trace(stored);
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	waitpid(child, NULL, 0);
	clean_up();
}

/* Chunks go from hand to hand between many threads: no sequence twice, none handed out twice. */
static void *claim_and_retire(void *context)
{
	struct recorder *recorder = context;
	static uint32_t next_id;
	uint32_t id = __atomic_add_fetch(&next_id, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < 2000; i++) {
		struct gf_chunk *chunk = gf_journal_claim(&recorder->journal, id, &recorder->hint);
		if (!chunk) {
			usleep(10);
			continue;
		}
		struct gf_wait *wait = (struct gf_wait *)(chunk + 1);
		if (wait->head || chunk->thread_id != id)
			abort();
		wait->object = chunk->sequence;
		gf_record_publish(wait, GF_HEAD(GF_TAG_wait, sizeof(*wait)));
		gf_chunk_retire(chunk, GF_CHUNK_HEADER_BYTES + (uint32_t)sizeof(*wait));
	}
	__atomic_add_fetch(&recorder->shared->stop, 1, __ATOMIC_RELEASE);
	return NULL;
}

TEST(many_threads_share_the_chunks)
{
	static uint8_t seen[16 * 2000 + 1];
	struct recorder recorder = {.shared = make_shared()};
	pthread_t threads[16];
	uint64_t count = 0;
	open_journal(&recorder.journal, 20, 20);
	for (unsigned i = 0; i < 16; i++)
		REQUIRE(pthread_create(&threads[i], NULL, claim_and_retire, &recorder) == 0);
	for (bool last = false; !last;) {
		last = __atomic_load_n(&recorder.shared->stop, __ATOMIC_ACQUIRE) == 16;
		for (uint32_t i = 0; i < 20; i++) {
			struct gf_chunk *chunk = gf_journal_chunk(&recorder.journal, i);
			if (__atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) != GF_CHUNK_FULL)
				continue;
			uint64_t sequence = ((struct gf_wait *)(chunk + 1))->object;
			EXPECT_EQ(sequence, chunk->sequence);
			REQUIRE(sequence < sizeof(seen));
			EXPECT_EQ(seen[sequence]++, 0);
			count++;
			gf_chunk_recycle(chunk);
		}
	}
	for (unsigned i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(recorder.journal.header->next_sequence, count + 1);
	gf_journal_close(&recorder.journal, path_of_test(".journal"));
}
