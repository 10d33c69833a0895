/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "analyzer/blocks.h"
#include "analyzer/memory_view.h"
#include "tests/memory_trace.h"

#define M MT_MIB
#define IN GF_FLAG_IN_ALLOCATOR
#define REFUSED 2 /* CUDA_ERROR_OUT_OF_MEMORY */

static struct ga_model model;
static struct ga_memory memory;

static const char *path_of_test(void)
{
	static char path[64];
	snprintf(path, sizeof(path), "/tmp/test_refusals.%d.gst", (int)getpid());
	return path;
}

static const struct ga_oom *analyse(size_t ooms)
{
	struct gf_error error = {0};
	REQUIRE(ga_model_open(path_of_test(), &model, &error) == GF_OK);
	REQUIRE(ga_memory_analyse_holders(&model, 8, &memory, &error) == GF_OK);
	unlink(path_of_test());
	EXPECT_EQ(memory.refusals.count, ooms);
	return memory.refusals.ooms;
}

static uint64_t retries(void)
{
	return memory.accounts.by_device[0]->retry_count;
}

static void done(void)
{
	ga_memory_free(&memory);
	ga_model_close(&model);
}

static void begin(void)
{
	mt_begin(path_of_test());
	mt_flags(IN);
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 2 * M, 0, 0);
	mt_block(0x10000000, 512, 512, 2 * M);
}

TEST(retry_that_cures)
{
	begin();
	mt_driver(GF_MEMORY_ALLOC, 0, 20 * M, 0, REFUSED);
	mt_driver(GF_MEMORY_FREE, 0x999, 0, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0x20000000, 20 * M, 0, 0);
	mt_block(0x20000000, 4 * M, 4 * M + 512, 22 * M);
	mt_end();
	analyse(0);
	EXPECT_EQ(retries(), 1);
	done();
}

/* A flush of everything after the same refusal is a retry; freeing just enough is not. */
TEST(split_limit_frees_just_enough_first)
{
	for (int flush = 0; flush < 2; flush++) {
		struct trace_builder *t = mt_begin(path_of_test());
		trace_property(t, "allocator_settings", "max_split_size_mb:32");
		mt_flags(IN);
		for (unsigned i = 1; i <= 8; i++)
			mt_driver(GF_MEMORY_ALLOC, i << 28, 60 * M, 0, 0);
		mt_driver(GF_MEMORY_ALLOC, 0, 300 * M, 0, REFUSED);
		for (unsigned i = 1; i <= (flush ? 8 : 5); i++)
			mt_driver(GF_MEMORY_FREE, i << 28, 0, 0, 0);
		mt_driver(GF_MEMORY_ALLOC, 0xf0000000, 300 * M, 0, 0);
		mt_block(0xf0000000, 300 * (int64_t)M, 300 * M, (flush ? 300 : 480) * M);
		mt_end();
		analyse(0);
		EXPECT_EQ(retries(), flush);
		done();
	}
}

static uint64_t unknown_retries(void)
{
	return memory.accounts.by_device[0]->unknown_retries;
}

/* Six cached segments of 100 MiB; the request of 300 MiB makes the allocator free some, unasked by
 * the driver. */
static void squeeze(const char *settings, uint64_t fraction, unsigned frees)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "allocator_settings", settings);
	trace_property(t, "device.0.total_bytes", "1048576000");
	if (fraction)
		mt_fraction(fraction);
	mt_flags(IN);
	for (unsigned i = 1; i <= 6; i++)
		mt_driver(GF_MEMORY_ALLOC, i << 28, 100 * M, 0, 0);
	for (unsigned i = 1; i <= frees; i++)
		mt_driver(GF_MEMORY_FREE, i << 28, 0, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0xf0000000, 300 * M, 0, 0);
	mt_block(0xf0000000, 300 * (int64_t)M, 300 * M, (900 - 100 * frees) * M);
	mt_end();
	analyse(0);
}

static void expect_retries(uint64_t known, uint64_t unknown)
{
	EXPECT_EQ(retries(), known);
	EXPECT_EQ(unknown_retries(), unknown);
	done();
}

/* The limit of a fraction needs no call of the driver to refuse memory. */
TEST(retry_that_a_memory_fraction_forces)
{
	squeeze("", 0, 6);
	expect_retries(1, 0);
	squeeze("max_split_size_mb:32", GF_FRACTION_ONE / 2, 6);
	expect_retries(1, 0);
	squeeze("max_split_size_mb:32", GF_FRACTION_ONE / 2, 3);
	expect_retries(0, 0); /* just enough */
}

/* 600 MiB are held and 300 wanted of 1000: how much is allowed decides what the release was. */
TEST(collection_is_told_from_a_retry)
{
	squeeze("garbage_collection_threshold:0.5", 0, 2);
	expect_retries(0, 1); /* the limit is not known */
	squeeze("garbage_collection_threshold:0.5", GF_FRACTION_ONE / 10 * 9, 2);
	expect_retries(0, 0); /* it would have fitted: collected */
	squeeze("garbage_collection_threshold:0.9", GF_FRACTION_ONE / 4 * 3, 6);
	expect_retries(1, 0); /* too little was held for a collection */
	squeeze("garbage_collection_threshold:0.5", GF_FRACTION_ONE / 4 * 3, 6);
	expect_retries(0, 1); /* either, or both */
	squeeze("per_process_memory_fraction:0.9,garbage_collection_threshold:0.5", 0, 2);
	expect_retries(0, 0);
}

TEST(retry_that_unmaps_pages)
{
	begin();
	mt_driver(GF_MEMORY_RESERVE, 0x100000000, 1152 * M, 0, 0);
	mt_driver(GF_MEMORY_CREATE, 0, 20 * M, 1, 0);
	mt_driver(GF_MEMORY_MAP, 0x100000000, 20 * M, 1, 0);
	mt_driver(GF_MEMORY_ACCESS, 0x100000000, 20 * M, 0, 0);
	mt_block(0x100000000, 15 * M, 15 * M + 512, 22 * M);
	mt_block(0x100000000, -15 * (int64_t)M, 512, 22 * M);
	mt_driver(GF_MEMORY_UNMAP, 0x100000000, 20 * M, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0x20000000, 20 * M, 0, 0);
	mt_block(0x20000000, 4 * M, 4 * M + 512, 22 * M);
	mt_end();
	analyse(0);
	expect_retries(1, 0);
}

TEST(out_of_memory_after_a_retry)
{
	begin();
	mt_driver(GF_MEMORY_ALLOC, 0, 900 * M, 0, REFUSED);
	mt_driver(GF_MEMORY_ALLOC, 0, 900 * M, 0, REFUSED);
	mt_mem_info(70 * M, 1024 * M);
	mt_oom(899 * M, 512, 2 * M);
	mt_end();
	const struct ga_oom *oom = analyse(1);
	EXPECT_EQ(retries(), 1);
	EXPECT_EQ(memory.accounts.by_device[0]->oom_count, 1);
	EXPECT_EQ(oom->segment, 900 * M);
	EXPECT_EQ(oom->rounded, 899 * M);
	EXPECT_EQ(oom->requested, 899 * M - 12);
	EXPECT_EQ(oom->allocated, 512);
	EXPECT_EQ(oom->reserved, 2 * M);
	EXPECT_EQ(oom->device_free, 70 * M);
	EXPECT_EQ(oom->device_total, 1024 * M);
	EXPECT_EQ(oom->verdict, GA_VERDICT_unknown);
	EXPECT_EQ(oom->top.bytes, 512);
	done();
}

/* The fraction refused the first attempt, the driver the one after the flush. */
TEST(out_of_memory_after_a_retry_that_a_fraction_forced)
{
	begin();
	mt_driver(GF_MEMORY_FREE, 0x10000000, 0, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0, 900 * M, 0, REFUSED);
	mt_mem_info(70 * M, 1024 * M);
	mt_oom(899 * M, 0, 0);
	mt_end();
	analyse(1);
	expect_retries(1, 0);
}

/* During a stream capture the allocator must not give its cache back: one refusal, no retry. */
TEST(out_of_memory_during_a_capture)
{
	begin();
	mt_driver(GF_MEMORY_ALLOC, 0, 20 * M, 0, REFUSED);
	mt_mem_info(M, 1024 * M);
	mt_oom(2 * M, 512, 2 * M);
	mt_end();
	analyse(1);
	EXPECT_EQ(retries(), 0);
	done();
}

/* Expandable segments ask for pages: the text of the error names what the rules give. */
TEST(expandable_segment_bytes_follow_the_rules)
{
	begin();
	for (int attempt = 0; attempt < 2; attempt++) {
		mt_driver(GF_MEMORY_CREATE, 0, 20 * M, 5 + (unsigned)attempt, 0);
		mt_driver(GF_MEMORY_CREATE, 0, 20 * M, 0, REFUSED);
		mt_driver(GF_MEMORY_RELEASE, 0, 0, 5 + (unsigned)attempt, 0);
	}
	mt_mem_info(30 * M, 1024 * M);
	mt_oom(33 * M, 512, 2 * M);
	mt_end();
	const struct ga_oom *oom = analyse(1);
	EXPECT_EQ(oom->segment, 34 * M);
	EXPECT_EQ(oom->kind, GF_MEMORY_CREATE);
	EXPECT_EQ(retries(), 1);
	done();
}

TEST(fraction_limit_is_proven_by_free_memory)
{
	begin();
	mt_mem_info(800 * M, 1024 * M);
	mt_oom(100 * M, 512, 2 * M);
	mt_end();
	const struct ga_oom *oom = analyse(1);
	EXPECT_EQ(oom->verdict, GA_VERDICT_fraction_limit);
	EXPECT_EQ(oom->segment, 100 * M);
	EXPECT_EQ(retries(), 1);
	done();
}

TEST(what_a_memory_fraction_allows_is_told)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "device.0.total_bytes", "1073741824");
	mt_flags(IN);
	mt_fraction(GF_FRACTION_ONE / 4);
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 200 * M, 0, 0);
	mt_block(0x10000000, 200 * M, 200 * M, 200 * M);
	mt_mem_info(800 * M, 1024 * M);
	mt_oom(100 * M, 200 * M, 200 * M);
	mt_end();
	const struct ga_oom *oom = analyse(1);
	EXPECT_EQ(oom->verdict, GA_VERDICT_fraction_limit);
	EXPECT_EQ(oom->allowed, 256 * M);
	char *words = ga_view_oom_figures(oom);
	EXPECT_STR(words, "100.00 MiB asked for beyond 200.00 MiB reserved; the memory fraction of "
			  "the program allows 256.00 MiB");
	free(words);
	done();
}

TEST(impossible_request_is_larger_than_the_device)
{
	begin();
	mt_driver(GF_MEMORY_ALLOC, 0, 5000 * M, 0, REFUSED);
	mt_driver(GF_MEMORY_ALLOC, 0, 5000 * M, 0, REFUSED);
	mt_mem_info(800 * M, 1024 * M);
	mt_oom(5000 * M, 512, 2 * M);
	mt_end();
	EXPECT_EQ(analyse(1)->verdict, GA_VERDICT_impossible_request);
	done();
}

TEST(nothing_is_proven_when_events_are_missing)
{
	struct trace_builder *t = mt_begin(path_of_test());
	struct gf_lost lost = {.reason = GF_LOST_NO_CHUNK, .time = 10, .count = 3};
	trace_add(t, 1, GF_TAG_lost, &lost);
	mt_block(0x10000000, 512, 512, 2 * M);
	mt_mem_info(800 * M, 1024 * M);
	mt_oom(5000 * M, 512, 2 * M);
	mt_end();
	EXPECT_EQ(analyse(1)->verdict, GA_VERDICT_unknown);
	done();
}

TEST(refusals_outside_the_allocator)
{
	begin();
	mt_flags(0);
	mt_driver(GF_MEMORY_HOST_ALLOC, 0, 7 * M, 0, REFUSED); /* cured by the next call */
	mt_driver(GF_MEMORY_HOST_ALLOC, 0x7000, 7 * M, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0, 30 * M, 0, REFUSED);
	mt_driver(GF_MEMORY_ALLOC, 0x8000000, 1 * M, 0, 0);	 /* smaller: no cure */
	mt_driver(GF_MEMORY_HOST_REGISTER, 0x9000, 512, 0, 712); /* no shortage of memory */
	mt_end();
	const struct ga_oom *oom = analyse(1);
	EXPECT(oom->outside);
	EXPECT_EQ(oom->segment, 30 * M);
	EXPECT_EQ(oom->kind, GF_MEMORY_ALLOC);
	EXPECT_EQ(oom->verdict, GA_VERDICT_not_device_allocator);
	EXPECT_EQ(retries(), 0);
	EXPECT_EQ(memory.accounts.by_device[0]->oom_count, 0);
	done();
}

TEST(a_success_cures_its_own_kind_and_size_alone)
{
	begin();
	mt_flags(0);
	mt_driver(GF_MEMORY_HOST_ALLOC, 0, 7 * M, 0, REFUSED); /* cured */
	mt_driver(GF_MEMORY_ALLOC, 0, 30 * M, 0, REFUSED);
	mt_driver(GF_MEMORY_HOST_ALLOC, 0, 90 * M, 0, REFUSED);
	mt_driver(GF_MEMORY_HOST_ALLOC, 0, 8 * M, 0, REFUSED); /* cured */
	mt_driver(GF_MEMORY_HOST_ALLOC, 0x7000, 8 * M, 0, 0);
	mt_end();
	const struct ga_oom *oom = analyse(2);
	EXPECT_EQ(oom[0].segment, 30 * M);
	EXPECT_EQ(oom[1].segment, 90 * M);
	EXPECT_EQ(memory.refusals.open_outside, 1);
	done();
}

/* 4096 blocks by as many stacks at each of 300 refusals: a million sites are kept, no more. */
TEST(holders_of_many_refusals_are_cut)
{
	begin();
	for (uint32_t i = 1; i <= 4096; i++) {
		mt_stack(i);
		mt_block(0x20000000 + i * 512, 512, (i + 1) * 512, 20 * M);
	}
	for (unsigned i = 0; i < 300; i++)
		mt_oom(5000 * M, 4097 * 512, 20 * M);
	mt_end();
	const struct ga_oom *ooms = analyse(300);
	EXPECT_EQ(ooms[0].top.count, 4097);
	EXPECT_EQ(ooms[0].top.left_out.count, 0);
	EXPECT_EQ(ooms[299].top.count, 8);
	EXPECT_EQ(ooms[299].top.left_out.count, 4089);
	EXPECT_EQ(ooms[299].top.left_out.bytes, 4089 * 512);
	EXPECT_EQ(ooms[299].top.left_out.blocks, 4089);
	EXPECT_EQ(ooms[299].top.bytes, 4097 * 512);
	done();
}

TEST(holders_are_listed_only_where_asked_for)
{
	struct gf_error error = {0};
	begin();
	mt_oom(5000 * M, 512, 2 * M);
	mt_end();
	REQUIRE(ga_model_open(path_of_test(), &model, &error) == GF_OK);
	REQUIRE(ga_memory_analyse(&model, &memory, &error) == GF_OK);
	REQUIRE(memory.refusals.count == 1);
	EXPECT(memory.refusals.ooms[0].top.items == NULL);
	unlink(path_of_test());
	done();
}

/* The first request is served behind a trim, the second refused twice, the third is another one. */
TEST(the_asynchronous_back_end_trims_and_asks_again)
{
	trace_property(mt_begin(path_of_test()), "allocator_settings", "backend:cudaMallocAsync");
	for (int status = 0; status <= REFUSED; status += REFUSED) {
		mt_driver(GF_MEMORY_ALLOC_ASYNC, 0, 6 * M, 0, REFUSED);
		mt_driver(GF_MEMORY_POOL_TRIM, 0, 0, 0, 0);
		mt_driver(GF_MEMORY_ALLOC_ASYNC, status ? 0 : 0x1000, 6 * M, 0, status);
		mt_mem_info(5 * M, 100 * M);
	}
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0, 7 * M, 0, REFUSED);
	mt_end();
	const struct ga_oom *oom = analyse(2);
	EXPECT_EQ(oom[0].segment, 6 * M);
	EXPECT_EQ(oom[0].device_free, 5 * M);
	EXPECT_EQ(oom[1].segment, 7 * M);
	EXPECT_EQ(memory.accounts.by_device[0]->oom_count, 2);
	done();
}

TEST(entries_come_in_order_of_time)
{
	begin();
	mt_flags(0);
	mt_thread(2);
	mt_driver(GF_MEMORY_HOST_ALLOC, 0, 7 * M, 0, REFUSED);
	mt_thread(1);
	mt_mem_info(800 * M, 1024 * M);
	mt_oom(5000 * M, 512, 2 * M);
	mt_thread(2);
	mt_driver(GF_MEMORY_HOST_ALLOC, 0, 9 * M, 0, REFUSED);
	mt_end();
	const struct ga_oom *oom = analyse(3);
	EXPECT(oom[0].ticks < oom[1].ticks && oom[1].ticks < oom[2].ticks);
	EXPECT_EQ(oom[2].segment, 9 * M);
	done();
}

/* What nobody recorded is the rest of the device, as far as all other parts are known. */
TEST(unseen_memory)
{
	struct ga_oom oom = {
	    .device_total = 100, .device_free = 30, .reserved = 40, .non_torch = 10};
	EXPECT_EQ(ga_oom_unseen(&oom), 20);
	oom.device_free = 51;
	EXPECT_EQ(ga_oom_unseen(&oom), GA_UNKNOWN);
	oom.device_free = 50;
	EXPECT_EQ(ga_oom_unseen(&oom), 0);
	oom.reserved = GA_UNKNOWN;
	EXPECT_EQ(ga_oom_unseen(&oom), GA_UNKNOWN);
	oom.reserved = 0;
	oom.device_total = GA_UNKNOWN;
	EXPECT_EQ(ga_oom_unseen(&oom), GA_UNKNOWN);
}
