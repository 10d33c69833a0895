/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/flusher.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "formats/frame.h"
#include "shim/autograd_hooks.h"
#include "shim/call_stack.h"
#include "shim/environment.h"
#include "shim/hooks.h"
#include "shim/log.h"
#include "shim/names.h"
#include "shim/output.h"
#include "shim/properties.h"
#include "shim/resolve.h"
#include "shim/stack_parts.h"
#include "shim/torch_hooks.h"

#define GS_STACK_BYTES (512u * 1024)
#define GS_STACK_MOST (64u << 20) /* thread-local data of the program's libraries lies in it too */
#define GS_FRAME_CHUNKS 16   /* about 1 MiB of records a frame */
#define GS_FULL_LIMIT 96     /* chunks that wait for company before smaller frames are made */
#define GS_FREE_FIRST 64     /* chunks to have in hand: 4 MiB, 0.2 s of 300 000 events a second */
#define GS_FREE_MOST 512     /* the same after bursts that used up half of what was there */
#define GS_GROW_STEP 16      /* chunks that are made at a time: about a millisecond */
#define GS_CHUNKS_MAX 4096
#define GS_SETTLE_TRIES 1000
/* Of 0.2 ms: how long the end waits for calls that are under way. */
#define GS_END_TRIES 500
#define GS_PAUSE_SHORT_NS 2000000
#define GS_PAUSE_LONG_NS 50000000 /* 1 MiB of 300 000 events a second */
#define GS_PAUSE_AT_LIMIT_NS 1000000000u
#define GS_START_WAIT_NS 5000000000u
#define GS_STOP_WAIT_NS 30000000000u
#define GS_STOP_STALL_NS 3000000000u
#define GS_SECOND_NS 1000000000u

enum gs_helper_state { GS_HELPER_NONE, GS_HELPER_SETTING_UP, GS_HELPER_READY, GS_HELPER_ENDED };

/* One recording.  Only the helper writes it, but for the words that others wait on. */
static struct gs_flusher {
	struct gs_output output;
	struct gf_encoder *encoder;
	struct gs_thread *thread;
	pid_t process;	/* that is recorded */
	uint64_t limit; /* bytes, 0 = none */
	uint64_t next_second_ns;
	uint32_t unhooked_told;
	uint32_t free_wanted; /* chunks to have in hand */
	bool exhausted_told;
	bool stopped;  /* disk: nothing more can be written */
	bool at_limit; /* nothing more is taken; the end is still to be written */
	uint32_t state;    /* enum gs_helper_state; futex */
	uint32_t stop;     /* asked to end */
	uint32_t bell;     /* rung when there is something to do; futex */
	uint32_t progress; /* grows while the helper gets on */
} gs_flusher;

/* Chunks of one look at the journal, ordered by thread and sequence. */
static struct gs_full {
	uint64_t sequence;
	uint32_t thread_id, index;
} gs_full[GS_CHUNKS_MAX];

/* ---- waiting ---- */

static void gs_futex_wait(uint32_t *word, uint32_t value, uint64_t ns)
{
	struct timespec t = {(time_t)(ns / GS_SECOND_NS), (long)(ns % GS_SECOND_NS)};
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &t, NULL, 0);
}

static void gs_futex_set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Whoever waits for the end does not take the helper for stuck. */
static void gs_progress(void)
{
	__atomic_fetch_add(&gs_flusher.progress, 1, __ATOMIC_RELAXED);
}

static void gs_bell_ring(void)
{
	__atomic_fetch_add(&gs_flusher.bell, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &gs_flusher.bell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- chunks in hand ---- */

/* Chunks became free: for those that wait for one. */
static void gs_supply_give(uint32_t chunks)
{
	__atomic_fetch_add(&gs_supply.given, 1, __ATOMIC_RELEASE);
	if (__atomic_load_n(&gs_supply.waiting, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &gs_supply.given, FUTEX_WAKE_PRIVATE, chunks, NULL, NULL, 0);
}

/*
 * Add chunks up to what is wanted in hand, a few at a time: those that wait for one get it before
 * the last is made.  None is added at the limit or on a full disk.
 */
static uint32_t gs_chunks_add(uint32_t unused)
{
	uint32_t added = 0, step = 1;
	while (step && unused + added < gs_flusher.free_wanted) {
		uint32_t missing = gs_flusher.free_wanted - unused - added;
		step = missing < GS_GROW_STEP ? missing : GS_GROW_STEP;
		if (gf_held_regain(&gs_journal.file, gs_flusher.output.journal_path, O_RDWR) != 0)
			step = 0;
		else
			step = gf_journal_grow(&gs_journal, step);
		added += step;
		if (step)
			gs_supply_give(step);
		if (added)
			__atomic_store_n(&gs_supply.exhausted, false, __ATOMIC_RELAXED);
	}
	return added;
}

/* Claimers ring when half of what is in hand is gone. */
static void gs_supply_arm(uint32_t unused)
{
	uint64_t next = __atomic_load_n(&gs_journal.header->next_sequence, __ATOMIC_RELAXED);
	__atomic_store_n(&gs_supply.ring_at, next + unused / 2, __ATOMIC_RELAXED);
}

/* A burst?  Then first of all more chunks, and more in hand from now on. */
static uint32_t gs_supply_refill(uint32_t unused)
{
	if (unused >= gs_flusher.free_wanted / 2)
		return unused;
	if (gs_flusher.free_wanted < GS_FREE_MOST)
		gs_flusher.free_wanted *= 2;
	unused += gs_chunks_add(unused);
	gs_supply_arm(unused);
	return unused;
}

/* Between the steps of longer work.  Returns the chunks in hand. */
static uint32_t gs_supply_look(void)
{
	uint32_t count = gs_journal.header->chunk_count, unused = 0;
	for (uint32_t i = 0; i < count; i++)
		unused += __atomic_load_n(&gf_journal_chunk(&gs_journal, i)->state,
			      __ATOMIC_RELAXED) == GF_CHUNK_FREE;
	return gs_supply_refill(unused);
}

/*
 * Hundreds of threads may begin at the same time: go on once a millisecond passes without a ring, or
 * no more chunks can be made: then frames have to free some.
 */
static void gs_supply_settle(void)
{
	uint32_t first = gs_journal.header->chunk_count;
	gs_supply_arm(first + gs_chunks_add(first));
	for (int i = 0; i < GS_SETTLE_TRIES; i++) {
		gs_progress();
		uint32_t bell = __atomic_load_n(&gs_flusher.bell, __ATOMIC_ACQUIRE);
		gs_futex_wait(&gs_flusher.bell, bell, GS_SECOND_NS / 1000);
		if (__atomic_load_n(&gs_flusher.bell, __ATOMIC_ACQUIRE) == bell ||
		    gs_supply_look() == 0)
			return;
	}
}

/* ---- frames ---- */

static void gs_stop_for_disk(int cause)
{
	gs_producer_stop(GF_LOST_DISK);
	__atomic_fetch_or(&gs_journal.header->flags, GF_JOURNAL_STOPPED, __ATOMIC_RELAXED);
	gs_flusher.stopped = true;
	gs_log(GS_LOG_ERROR, "cannot write to %s: %s; recording has stopped, the program goes on",
	    gs_flusher.output.path, gf_errno_words(cause));
	char text[160];
	struct gs_line line;
	gs_line_start(&line, text, sizeof(text));
	gs_line_format(&line, "recording stopped: the trace could not be written (%s)",
	    gf_errno_words(cause));
	gs_append_text(gs_flusher.thread, GF_TEXT_NOTICE, 0, text, line.length);
	gs_append_mark(gs_flusher.thread, GF_MARK_STOPPED, 0);
}

/* Write one frame of runs of one thread.  Returns whether its chunks may be taken out. */
static bool gs_frame_write(const struct gf_source *sources, uint32_t count)
{
	const void *frame;
	size_t bytes;
	struct gf_error error;
	enum gf_status status =
	    gf_encode(gs_flusher.encoder, sources, count, &frame, &bytes, &error);
	if (status == GF_USAGE)
		return true; /* no records in it */
	if (status) {
		gs_log(GS_LOG_ERROR, "a part of the trace is lost: %s", error.text);
		gs_count_lost(GF_LOST_DISK, 1);
		return true;
	}
	int cause = gs_output_append(&gs_flusher.output, frame, bytes);
	if (cause) {
		gs_stop_for_disk(cause);
		return false;
	}
	gs_progress();
	return true;
}

/* Frame full chunks [first, first + count) of the list, all of one thread, and free them. */
static bool gs_frame_chunks(uint32_t first, uint32_t count)
{
	struct gf_source sources[GS_FRAME_CHUNKS];
	bool damaged;
	for (uint32_t i = 0; i < count; i++) {
		struct gf_chunk *chunk = gf_journal_chunk(&gs_journal, gs_full[first + i].index);
		sources[i] = (struct gf_source){chunk, chunk->framed_bytes,
		    gf_chunk_extent(chunk, chunk->framed_bytes, chunk->used_bytes, &damaged)};
	}
	if (!gs_frame_write(sources, count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct gf_chunk *chunk = (struct gf_chunk *)sources[i].chunk;
		__atomic_store_n(&chunk->framed_bytes, sources[i].end, __ATOMIC_RELEASE);
		gf_chunk_recycle(chunk);
	}
	gs_supply_give(count);
	return true;
}

static bool gs_full_before(const struct gs_full *a, const struct gs_full *b)
{
	return a->thread_id != b->thread_id ? a->thread_id < b->thread_id
					    : a->sequence < b->sequence;
}

/* Shell sort: qsort may allocate. */
static void gs_full_sort(uint32_t count)
{
	for (uint32_t gap = count / 2; gap; gap /= 2)
		for (uint32_t i = gap; i < count; i++) {
			struct gs_full moved = gs_full[i];
			uint32_t j = i;
			for (; j >= gap && gs_full_before(&moved, &gs_full[j - gap]); j -= gap)
				gs_full[j] = gs_full[j - gap];
			gs_full[j] = moved;
		}
}

/* List the full chunks.  Returns their number. */
static uint32_t gs_full_collect(uint32_t *free_out)
{
	uint32_t count = gs_journal.header->chunk_count, full = 0, unused = 0;
	uint64_t bound = gf_journal_bound(&gs_journal);
	for (uint32_t i = 0; i < count && i < GS_CHUNKS_MAX; i++) {
		struct gf_chunk *chunk = gf_journal_chunk(&gs_journal, i);
		uint32_t state = __atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE);
		unused += state == GF_CHUNK_FREE;
		if (state == GF_CHUNK_FULL && chunk->sequence < bound)
			gs_full[full++] = (struct gs_full){chunk->sequence, chunk->thread_id, i};
	}
	gs_full_sort(full);
	*free_out = unused;
	return full;
}

/*
 * Make frames of the listed chunks.  Whole frames always; smaller ones when `all` is set.  Returns
 * the number of chunks that were freed.
 */
static uint32_t gs_full_frame(uint32_t full, bool all)
{
	uint32_t freed = 0, bell = __atomic_load_n(&gs_flusher.bell, __ATOMIC_ACQUIRE);
	for (uint32_t first = 0; first < full && !gs_flusher.stopped;) {
		uint32_t count = 1, rung = __atomic_load_n(&gs_flusher.bell, __ATOMIC_ACQUIRE);
		if (rung != bell)
			gs_supply_look();
		bell = rung;
		while (count < GS_FRAME_CHUNKS && first + count < full &&
		    gs_full[first + count].thread_id == gs_full[first].thread_id)
			count++;
		if ((all || count == GS_FRAME_CHUNKS) && gs_frame_chunks(first, count))
			freed += count;
		first += count;
	}
	return freed;
}

/* Frame what is in the chunks that threads still own; of one thread only unless `thread_id` is 0. */
static void gs_owned_frame(uint32_t thread_id)
{
	uint32_t count = gs_journal.header->chunk_count;
	for (uint32_t i = 0; i < count && !gs_flusher.stopped; i++) {
		struct gf_chunk *chunk = gf_journal_chunk(&gs_journal, i);
		bool damaged;
		if (__atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) != GF_CHUNK_OWNED ||
		    (thread_id && chunk->thread_id != thread_id))
			continue;
		uint32_t from = __atomic_load_n(&chunk->framed_bytes, __ATOMIC_ACQUIRE);
		if (from < GF_CHUNK_HEADER_BYTES)
			continue; /* claimed this very moment */
		struct gf_source source = {chunk, from,
		    gf_chunk_extent(chunk, from, GF_CHUNK_BYTES, &damaged)};
		if (source.end > from && gs_frame_write(&source, 1))
			__atomic_store_n(&chunk->framed_bytes, source.end, __ATOMIC_RELEASE);
	}
}

/* ---- what the helper adds to the trace ---- */

static void gs_append_clock(void)
{
	struct gs_clock_pair pair = gs_clock_read();
	struct gf_clock *record = GS_DEFINITION(gs_flusher.thread, clock);
	if (!record)
		return;
	record->time = pair.ticks;
	record->monotonic_ns = pair.monotonic_ns;
	record->realtime_ns = pair.realtime_ns;
	GS_PUBLISH(record, clock);
}

/* Losses move from the journal's header into records, so that no event is counted twice. */
static void gs_append_lost(void)
{
	for (int reason = 0; reason < GF_LOST_REASON_COUNT; reason++) {
		uint64_t count = __atomic_load_n(&gs_journal.header->lost[reason], __ATOMIC_RELAXED);
		struct gf_lost *record = count ? GS_DEFINITION(gs_flusher.thread, lost) : NULL;
		if (!record)
			continue;
		record->reason = (uint32_t)reason;
		record->time = gs_now();
		record->count = count;
		GS_PUBLISH(record, lost);
		__atomic_fetch_sub(&gs_journal.header->lost[reason], count, __ATOMIC_RELAXED);
	}
}

static void gs_append_unhooked(void)
{
	const char *name;
	while ((name = gs_unhooked(gs_flusher.unhooked_told))) {
		gs_append_text(gs_flusher.thread, GF_TEXT_UNHOOKED, gs_flusher.unhooked_told, name,
		    strlen(name));
		gs_flusher.unhooked_told++;
	}
}

static void gs_append_notice(const char *text)
{
	gs_append_text(gs_flusher.thread, GF_TEXT_NOTICE, 0, text, strlen(text));
}

static void gs_append_stack_notices(void)
{
	const char *text;
	gs_stack_refresh();
	while ((text = gs_stack_parts_notice()) != NULL)
		gs_append_notice(text);
}

static void gs_append_definitions(void)
{
	char schema[GF_TEXT_MAX_BYTES];
	size_t length = gf_schema_text(schema, sizeof(schema));
	if (length <= sizeof(schema))
		gs_append_text(gs_flusher.thread, GF_TEXT_SCHEMA, 0, schema, length);
	for (uint32_t hook = 1; hook < GS_HOOK_COUNT; hook++)
		gs_append_text(gs_flusher.thread, GF_TEXT_API, hook, gs_hook_rows[hook].name,
		    strlen(gs_hook_rows[hook].name));
}

/* ---- the thread ---- */

static bool gs_encoder_make(void)
{
	size_t bytes = gf_encoder_bytes(GS_FRAME_CHUNKS);
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory != MAP_FAILED)
		gs_flusher.encoder =
		    gf_encoder_init(memory, bytes, GS_FRAME_CHUNKS, gs_clock_shift());
	return gs_flusher.encoder;
}

/* Files and first records; nothing here takes the loader's lock, which our starter may hold. */
static bool gs_helper_set_up(void)
{
	gs_environment_take();
	gs_settings_complain(gs_environment());
	gs_flusher.process = getpid();
	gs_flusher.free_wanted = GS_FREE_FIRST;
	gs_flusher.limit = gs_settings_number(GS_SETTING_limit);
	if (!gs_output_open(&gs_flusher.output, &gs_journal))
		return false;
	gs_names_reset();
	gs_stack_reset();
	gs_stack_parts_reset();
	gs_autograd_reset();
	if (!gs_producer_begin() || !(gs_flusher.thread = gs_thread_attach())) {
		gs_log(GS_LOG_ERROR, "no memory for the recorder; nothing is recorded");
		unlink(gs_flusher.output.path);
		gs_output_remove_journal(&gs_flusher.output);
		return false;
	}
	gs_append_mark(gs_flusher.thread, GF_MARK_START, (uint64_t)getpid());
	gs_append_clock();
	gs_append_definitions();
	gs_properties_early(gs_flusher.thread, &gs_flusher.output);
	gs_append_notice("times of the device are not recorded by this version");
	gs_supply.keeper = gs_flusher.thread;
	gs_supply.ring = gs_bell_ring; /* before the first event: it may find no chunk */
	gs_producer_switch(
	    (uint32_t)gs_settings_number(GS_SETTING_record) | GS_CLASS_ALWAYS);
	__atomic_store_n(&gs_phase, GS_PHASE_RUNNING, __ATOMIC_RELEASE);
	gs_log(GS_LOG_INFO, "recording to %s", gs_flusher.output.path);
	return true;
}

/* The trace is whole up to here; what is missing from here on is told when the process ends. */
static void gs_stop_for_limit(void)
{
	uint32_t unused;
	gs_producer_stop(GF_LOST_LIMIT);
	gs_flusher.at_limit = true;
	gs_append_notice(
	    "recording stopped: the trace reached GPUSHIM_LIMIT; events after that are "
	    "counted only; a larger GPUSHIM_LIMIT, or none, records more");
	gs_append_mark(gs_flusher.thread, GF_MARK_STOPPED, 0);
	gs_full_frame(gs_full_collect(&unused), true);
	gs_owned_frame(0);
	gs_log(GS_LOG_WARN,
	    "%s reached GPUSHIM_LIMIT=%s: events from now on are counted, but not recorded; the "
	    "program goes on; a larger GPUSHIM_LIMIT, or none, records more",
	    gs_flusher.output.path, gs_settings_text(GS_SETTING_limit));
}

/* No room for more chunks and nothing to free: events are dropped from now on, and counted. */
static void gs_supply_exhausted(void)
{
	static const char cause[] = "there is no room for a longer journal";
	__atomic_store_n(&gs_supply.exhausted, true, __ATOMIC_RELAXED);
	if (gs_flusher.exhausted_told)
		return;
	gs_flusher.exhausted_told = true;
	gs_log(GS_LOG_ERROR, "%s beside %s: events are lost; free some disk", cause,
	    gs_flusher.output.path);
	gs_append_notice(cause);
}

/*
 * A process lasts until its last thread ends, and that must not be us: where the main thread has gone
 * by pthread_exit and no other is left, glibc runs the exit handlers once we return.
 */
static bool gs_left_alone(void)
{
	char path[64], text[128];
	struct stat task;
	struct gs_line line;
	if (stat("/proc/self/task", &task) != 0 || task.st_nlink != 2 + 2) /* one link a thread */
		return false;
	gs_line_start(&line, path, sizeof(path));
	gs_line_format(&line, "/proc/self/task/%d/stat", (int)getpid());
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = file < 0 ? -1 : read(file, text, sizeof(text) - 1);
	if (file >= 0)
		close(file);
	text[length > 0 ? length : 0] = 0;
	const char *name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' && name_end[2] == 'Z';
}

/* Once a second; at the limit that is all that is left to do. */
static void gs_look_around(void)
{
	if (gs_left_alone())
		__atomic_store_n(&gs_flusher.stop, 1, __ATOMIC_RELEASE);
}

/* One round.  Returns whether chunks are short, so that the next pause is too. */
static bool gs_helper_round(void)
{
	gs_threads_reclaim();
	uint32_t unused, full = gs_full_collect(&unused);
	unused = gs_supply_refill(unused);
	uint32_t freed = gs_full_frame(full, full > GS_FULL_LIMIT);
	if (gs_flusher.stopped)
		return false;
	uint32_t waiting = full - freed;
	unused += freed;
	unused += gs_chunks_add(unused);
	if (unused < gs_flusher.free_wanted / 2) { /* in vain: smaller frames free chunks too */
		full = gs_full_collect(&unused);
		uint32_t more = gs_full_frame(full, true);
		waiting = full - more;
		unused += more;
		freed += more;
	}
	if (unused == 0 && freed == 0)
		gs_supply_exhausted();
	else
		__atomic_store_n(&gs_supply.exhausted, false, __ATOMIC_RELAXED);
	gs_supply_arm(unused);
	uint64_t now_ns = gs_clock_ns(CLOCK_MONOTONIC);
	if (now_ns >= gs_flusher.next_second_ns) {
		gs_flusher.next_second_ns = now_ns + GS_SECOND_NS;
		gs_append_clock();
		gs_append_lost();
		gs_append_unhooked();
		gs_append_stack_notices();
		gs_look_around();
	}
	/* What waits in the journal will be some eighth of it in the trace. */
	if (gs_flusher.limit &&
	    gs_flusher.output.bytes + (uint64_t)waiting * GF_CHUNK_BYTES / 8 >= gs_flusher.limit)
		gs_stop_for_limit();
	return unused < gs_flusher.free_wanted / 2;
}

/* The mapping stays: a thread may still be writing to it. */
static void gs_close_files(void)
{
	gs_output_close(&gs_flusher.output);
	gf_held_close(&gs_journal.file);
}

/*
 * Nothing new is recorded from here on.  Threads that are inside a call right now still append to
 * their chunk, or wait for a next one.
 */
static void gs_calls_end(void)
{
	struct timespec pause = {.tv_nsec = 200000};
	uint32_t unused;
	gs_supply_look();
	if (!gs_flusher.stopped) {
		__atomic_store_n(&gs_supply.ending, true, __ATOMIC_RELEASE);
		gs_producer_end();
	}
	for (int i = 0; i < GS_END_TRIES; i++) {
		nanosleep(&pause, NULL);
		if (__atomic_load_n(&gs_supply.waiting, __ATOMIC_ACQUIRE) == 0)
			break;
		if (gs_supply_look() == 0)
			gs_full_frame(gs_full_collect(&unused), true);
	}
	__atomic_store_n(&gs_supply.ending, false, __ATOMIC_RELEASE);
}

static void gs_tell_removed(void)
{
	struct stat trace;
	if (gf_held_ours(&gs_flusher.output.file) && fstat(gs_flusher.output.file.fd, &trace) == 0 &&
	    trace.st_nlink == 0)
		gs_log(GS_LOG_WARN, "%s was removed while it was written: nothing of it is left",
		    gs_flusher.output.path);
}

static void gs_helper_finish(void)
{
	uint32_t unused;
	gs_calls_end();
	gs_append_clock();
	gs_append_lost();
	gs_append_unhooked();
	gs_append_stack_notices();
	gs_full_frame(gs_full_collect(&unused), true);
	gs_append_mark(gs_flusher.thread, GF_MARK_END, 0);
	gs_full_frame(gs_full_collect(&unused), true);
	gs_owned_frame(0);
	if (!gs_flusher.stopped) { /* else the journal keeps what the trace lacks */
		__atomic_fetch_or(&gs_journal.header->flags, GF_JOURNAL_CLEAN, __ATOMIC_RELAXED);
		gs_output_remove_journal(&gs_flusher.output);
	}
	gs_tell_removed();
	gs_close_files();
}

/* It must not take the processor from a thread of the program whenever it wakes up. */
static void gs_give_way(void)
{
	struct sched_param none = {0};
	if (sched_getscheduler(0) == SCHED_OTHER)
		sched_setscheduler(0, SCHED_BATCH, &none);
}

static void *gs_helper(void *unused)
{
	gs_tls.depth = GS_DEPTH_OURS;
	gs_give_way();
	prctl(PR_SET_NAME, "gpushim");
	bool ready = gs_helper_set_up();
	if (!ready)
		__atomic_store_n(&gs_phase, GS_PHASE_OVER, __ATOMIC_RELEASE);
	gs_futex_set(&gs_flusher.state, ready ? GS_HELPER_READY : GS_HELPER_ENDED);
	if (!ready)
		return NULL;
	gs_properties_known(gs_flusher.thread);
	gs_supply_settle();
	if (!gs_encoder_make()) {
		gs_stop_for_disk(ENOMEM);
		gs_close_files();
		gs_futex_set(&gs_flusher.state, GS_HELPER_ENDED);
		return NULL;
	}
	gs_supply_look();
	gs_torch_prepare();
	gs_progress();
	gs_properties_late(gs_flusher.thread);
	gs_progress();
	gs_supply_look();
	/* A first frame at once: who has lost the journal still knows what this was. */
	gs_owned_frame(gs_flusher.thread->thread_id);
	if (!__atomic_load_n(&gs_flusher.stop, __ATOMIC_RELAXED)) {
		gf_held_raise(&gs_flusher.output.file);
		gf_held_raise(&gs_flusher.output.journal_folder);
		gf_held_raise(&gs_journal.file);
	}
	for (;;) {
		uint32_t bell = __atomic_load_n(&gs_flusher.bell, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&gs_flusher.stop, __ATOMIC_ACQUIRE) || gs_flusher.stopped)
			break;
		/* Whoever runs short meanwhile rings. */
		bool is_short = false;
		if (gs_flusher.at_limit)
			gs_look_around();
		else
			is_short = gs_helper_round();
		if (__atomic_load_n(&gs_flusher.stop, __ATOMIC_ACQUIRE))
			break;
		gs_futex_wait(&gs_flusher.bell, bell,
		    gs_flusher.at_limit ? GS_PAUSE_AT_LIMIT_NS
		    : is_short		? GS_PAUSE_SHORT_NS
					: GS_PAUSE_LONG_NS);
	}
	gs_helper_finish();
	gs_futex_set(&gs_flusher.state, GS_HELPER_ENDED);
	return NULL;
}

/* Returns an errno. */
static int gs_helper_create(void)
{
	pthread_attr_t attributes;
	pthread_t helper;
	int cause = pthread_attr_init(&attributes);
	if (cause)
		return cause;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	cause = EINVAL; /* no room for the thread-local data */
	for (size_t bytes = GS_STACK_BYTES; cause == EINVAL && bytes <= GS_STACK_MOST; bytes *= 4) {
		pthread_attr_setstacksize(&attributes, bytes);
		cause = pthread_create(&helper, &attributes, gs_helper, NULL);
	}
	pthread_attr_destroy(&attributes);
	return cause;
}

bool gs_flusher_start(void)
{
	sigset_t all, before;
	gs_output_forget(&gs_flusher.output);
	gs_flusher.state = GS_HELPER_SETTING_UP;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before); /* inherited by the helper */
	int cause = gs_helper_create();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (cause) {
		gs_log(GS_LOG_ERROR, "cannot start the helper thread: %s; nothing is recorded",
		    gf_errno_words(cause));
		return false;
	}
	uint64_t deadline_ns = gs_clock_ns(CLOCK_MONOTONIC) + GS_START_WAIT_NS;
	uint32_t state;
	while ((state = __atomic_load_n(&gs_flusher.state, __ATOMIC_ACQUIRE)) ==
	    GS_HELPER_SETTING_UP &&
	    gs_clock_ns(CLOCK_MONOTONIC) < deadline_ns)
		gs_futex_wait(&gs_flusher.state, state, GS_SECOND_NS / 10);
	return state == GS_HELPER_READY;
}

void gs_flusher_stop(void)
{
	uint32_t state = __atomic_load_n(&gs_flusher.state, __ATOMIC_ACQUIRE);
	if (state != GS_HELPER_READY)
		return;
	__atomic_store_n(&gs_flusher.stop, 1, __ATOMIC_RELEASE);
	gs_bell_ring();
	uint64_t now_ns = gs_clock_ns(CLOCK_MONOTONIC);
	uint64_t deadline_ns = now_ns + GS_STOP_WAIT_NS, moved_ns = now_ns;
	uint32_t progress = 0;
	while (__atomic_load_n(&gs_flusher.state, __ATOMIC_ACQUIRE) == GS_HELPER_READY &&
	    now_ns < deadline_ns && now_ns - moved_ns < GS_STOP_STALL_NS) {
		gs_futex_wait(&gs_flusher.state, GS_HELPER_READY, GS_SECOND_NS / 20);
		now_ns = gs_clock_ns(CLOCK_MONOTONIC);
		uint32_t seen = __atomic_load_n(&gs_flusher.progress, __ATOMIC_RELAXED);
		if (seen != progress)
			moved_ns = now_ns;
		progress = seen;
	}
}

void gs_flusher_leave(void)
{
	if (__atomic_load_n(&gs_flusher.state, __ATOMIC_ACQUIRE) != GS_HELPER_READY ||
	    gs_flusher.process != getpid())
		return;
	gs_producer_end();
	__atomic_fetch_or(&gs_journal.header->flags, GF_JOURNAL_ENDED, __ATOMIC_RELAXED);
}

void gs_flusher_close_inherited(void)
{
	if (gs_flusher.state != GS_HELPER_NONE)
		gs_close_files();
}

void gs_flusher_forget(void)
{
	memset(&gs_flusher, 0, sizeof(gs_flusher));
	gs_supply = (struct gs_supply){.ring_at = UINT64_MAX};
	gs_output_forget(&gs_flusher.output);
}
