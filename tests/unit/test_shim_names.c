/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/names.h"

#include <pthread.h>

#include "tests/test.h"

/* A recording without a helper thread: a journal and thread states. */
static void record_here(uint32_t chunks)
{
	char path[64];
	uint64_t id[2] = {1, 2};
	snprintf(path, sizeof(path), "/tmp/gpushim-test-%d.journal", (int)getpid());
	unlink(path);
	REQUIRE(gf_journal_create(&gs_journal, path, chunks, chunks, id, NULL) == GF_OK);
	unlink(path);
	gs_names_reset();
	REQUIRE(gs_producer_begin());
	gs_producer_switch(GS_CLASS_KERNELS);
	gs_phase = GS_PHASE_RUNNING;
}

static uint32_t count_records(unsigned tag)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < gs_journal.header->chunk_count; i++) {
		struct gf_chunk *chunk = gf_journal_chunk(&gs_journal, i);
		if (chunk->state == GF_CHUNK_FREE)
			continue;
		for (uint32_t at = GF_CHUNK_HEADER_BYTES; at < GF_CHUNK_BYTES;) {
			uint32_t head = *(uint32_t *)((char *)chunk + at);
			if (!head)
				break;
			count += GF_HEAD_TAG(head) == tag;
			at += GF_HEAD_BYTES(head);
		}
	}
	return count;
}

static uint32_t number_of(struct gs_thread *thread, const char *name)
{
	uint32_t id = 0;
	gs_name_id(thread, name, &id);
	return id;
}

TEST(same_text_same_number)
{
	record_here(4);
	struct gs_thread *thread = gs_thread_attach();
	REQUIRE(thread);
	uint32_t texts = count_records(GF_TAG_text);
	uint32_t a = number_of(thread, "alpha"), b = number_of(thread, "beta");
	EXPECT(a != b);
	EXPECT_EQ(number_of(thread, "alpha"), a);
	EXPECT_EQ(number_of(thread, "beta"), b);
	EXPECT(number_of(thread, "") != a);
	EXPECT_EQ(count_records(GF_TAG_text), texts + 3);
}

TEST(functions_are_defined_once)
{
	record_here(4);
	struct gs_call call = {.hook = 1, .class = GS_CLASS_KERNELS};
	REQUIRE(gs_attend(&call));
	gs_function_define(&call, 0, 0x1000, "kernel");
	EXPECT_EQ(count_records(GF_TAG_module), 1);
	gs_function_seen(&call, 0x1000, false);
	EXPECT_EQ(count_records(GF_TAG_module), 1);
	gs_function_seen(&call, 0x2000, true); /* in a capture: nothing may be asked */
	EXPECT_EQ(count_records(GF_TAG_module), 1);
	gs_function_seen(&call, 0x2000, false);
	gs_function_seen(&call, 0x2000, false);
	EXPECT_EQ(count_records(GF_TAG_module), 2);
	gs_functions_forget(); /* a module was unloaded: the handle may mean another function */
	gs_function_seen(&call, 0x2000, false);
	EXPECT_EQ(count_records(GF_TAG_module), 3);
}

/* Modules may be loaded and unloaded for ever; handles come back. */
TEST(functions_are_defined_once_after_many_unloads)
{
	record_here(8);
	struct gs_call call = {.hook = 1, .class = GS_CLASS_KERNELS};
	REQUIRE(gs_attend(&call));
	for (uint32_t unloads = 1; unloads <= 300; unloads++) {
		gs_functions_forget();
		for (int i = 0; i < 3; i++) {
			memset(call.thread->functions, 0, sizeof(call.thread->functions));
			gs_function_seen(&call, 0x1000, false);
		}
		EXPECT_EQ(count_records(GF_TAG_module), unloads);
	}
}

static const struct gf_text *last_text(const struct gs_thread *thread, uint32_t bytes)
{
	return (const struct gf_text *)(const void *)(thread->cursor - sizeof(struct gf_text) - bytes);
}

TEST(long_texts_end_in_an_ellipsis)
{
	static char name[GF_TEXT_MAX_BYTES + 100];
	record_here(8);
	struct gs_thread *thread = gs_thread_attach();
	memset(name, 'x', GF_TEXT_MAX_BYTES);
	uint32_t whole = number_of(thread, name);
	const struct gf_text *text = last_text(thread, GF_TEXT_MAX_BYTES);
	EXPECT_EQ(text->length, GF_TEXT_MAX_BYTES);
	EXPECT(memcmp(gf_text_bytes(text), name, GF_TEXT_MAX_BYTES) == 0);
	memset(name, 'x', GF_TEXT_MAX_BYTES + 50);
	EXPECT(number_of(thread, name) != whole);
	text = last_text(thread, GF_TEXT_MAX_BYTES);
	EXPECT_EQ(text->length, GF_TEXT_MAX_BYTES);
	EXPECT(memcmp(gf_text_bytes(text) + text->length - 4, "x\xe2\x80\xa6", 4) == 0);
	memcpy(name + GF_TEXT_MAX_BYTES - 4, "\xc3\xa4", 2); /* a character where the cut would be */
	number_of(thread, name);
	text = last_text(thread, GF_TEXT_MAX_BYTES);
	EXPECT_EQ(text->length, GF_TEXT_MAX_BYTES - 1);
	EXPECT(memcmp(gf_text_bytes(text) + text->length - 4, "x\xe2\x80\xa6", 4) == 0);
}

static void *name_many(void *unused)
{
	struct gs_thread *thread = gs_thread_attach();
	for (int i = 0; thread && i < 3000; i++) {
		char name[32];
		snprintf(name, sizeof(name), "kernel_%d", i % 500);
		if (!number_of(thread, name))
			return thread;
	}
	return NULL;
}

TEST(many_threads)
{
	record_here(64);
	pthread_t threads[8];
	for (int i = 0; i < 8; i++)
		REQUIRE(pthread_create(&threads[i], NULL, name_many, NULL) == 0);
	for (int i = 0; i < 8; i++) {
		void *failed;
		pthread_join(threads[i], &failed);
		EXPECT(!failed);
	}
	/* 500 names; a few may be defined twice when two threads meet at one */
	uint32_t texts = count_records(GF_TAG_text);
	EXPECT(texts >= 500 && texts < 700);
	EXPECT_EQ(gs_journal.header->lost[GF_LOST_NO_CHUNK], 0);
}

static void fill_journal(struct gs_thread *thread)
{
	static char name[4000];
	memset(name, 'x', sizeof(name) - 1);
	while (gs_append_text(thread, GF_TEXT_NAME, 1, name, sizeof(name) - 1))
		;
}

static void free_journal(struct gs_thread *thread)
{
	for (uint32_t i = 0; i < gs_journal.header->chunk_count; i++) {
		struct gf_chunk *chunk = gf_journal_chunk(&gs_journal, i);
		memset((char *)chunk + GF_CHUNK_HEADER_BYTES, 0, GF_CHUNK_BYTES - GF_CHUNK_HEADER_BYTES);
		__atomic_store_n(&chunk->state, GF_CHUNK_FREE, __ATOMIC_RELEASE);
	}
	thread->next_try = 0;
}

TEST(full_journal_counts_lost_events_only)
{
	record_here(1);
	struct gs_thread *thread = gs_thread_attach();
	REQUIRE(thread);
	fill_journal(thread);
	EXPECT_EQ(gs_journal.header->lost[GF_LOST_NO_CHUNK], 0); /* definitions are no events */
	for (int i = 0; i < 24; i++)
		EXPECT(!GS_RECORD(thread, block));
	gs_append_mark(thread, GF_MARK_END, 0);
	EXPECT_EQ(gs_journal.header->lost[GF_LOST_NO_CHUNK], 24);
}

TEST(names_without_room_are_written_later)
{
	record_here(1);
	struct gs_call call = {.hook = 1, .class = GS_CLASS_KERNELS};
	REQUIRE(gs_attend(&call));
	uint32_t id, again;
	fill_journal(call.thread);
	EXPECT(!gs_has_room(call.thread));
	EXPECT(!gs_name_id(call.thread, "alpha", &id));
	gs_function_define(&call, 0, 0x1000, "kernel");
	free_journal(call.thread);
	EXPECT(gs_name_id(call.thread, "alpha", &again));
	EXPECT_EQ(again, id);
	gs_function_seen(&call, 0x1000, false);
	gs_function_seen(&call, 0x1000, false);
	EXPECT_EQ(count_records(GF_TAG_text), 1);
	EXPECT_EQ(count_records(GF_TAG_module), 1);
}

static void *one_event(void *unused)
{
	struct gs_call call = {.class = GS_CLASS_KERNELS};
	return gs_attend(&call) ? NULL : unused;
}

TEST(threads_that_end_hand_over_their_chunk)
{
	record_here(40);
	for (int i = 0; i < 30; i++) {
		pthread_t thread;
		REQUIRE(pthread_create(&thread, NULL, one_event, NULL) == 0);
		pthread_join(thread, NULL);
	}
	int full = 0, owned = 0;
	for (uint32_t i = 0; i < gs_journal.header->chunk_count; i++) {
		full += gf_journal_chunk(&gs_journal, i)->state == GF_CHUNK_FULL;
		owned += gf_journal_chunk(&gs_journal, i)->state == GF_CHUNK_OWNED;
	}
	EXPECT_EQ(full, 30);
	EXPECT_EQ(owned, 0);
	EXPECT_EQ(count_records(GF_TAG_mark), 60); /* start and end of each */
}
