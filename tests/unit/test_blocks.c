/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "analyzer/blocks.h"
#include "analyzer/memory_view.h"
#include "tests/memory_trace.h"

#define M MT_MIB
#define IN GF_FLAG_IN_ALLOCATOR

static struct ga_model model;
static struct ga_memory memory;

static const char *path_of_test(void)
{
	static char path[64];
	snprintf(path, sizeof(path), "/tmp/test_blocks.%d.gst", (int)getpid());
	return path;
}

static void analyse(void)
{
	struct gf_error error = {0};
	REQUIRE(ga_model_open(path_of_test(), &model, &error) == GF_OK);
	REQUIRE(ga_memory_analyse(&model, &memory, &error) == GF_OK);
	unlink(path_of_test());
}

static const struct ga_account *device(unsigned number)
{
	const struct ga_account *account = memory.accounts.by_device[number];
	REQUIRE(account);
	return account;
}

static void done(void)
{
	ga_memory_free(&memory);
	ga_model_close(&model);
}

static bool noticed(const char *words)
{
	struct ga_strings notices = {0};
	bool found = false;
	ga_memory_notices(&memory, &notices);
	for (size_t i = 0; i < notices.count; i++)
		found |= strstr(notices.items[i], words) != NULL;
	ga_strings_clear(&notices);
	return found;
}

/* Two segments, three blocks; the peak is at the third block, reserved peaks later. */
static void write_simple(void)
{
	mt_begin(path_of_test());
	mt_flags(IN);
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 2 * M, 0, 0);
	mt_reserved(2 * M);
	mt_alloc(0x10000000, 512);
	mt_alloc(0x10000200, 1024);
	mt_driver(GF_MEMORY_ALLOC, 0x20000000, 20 * M, 0, 0);
	mt_reserved(22 * M);
	mt_alloc(0x20000000, 4 * M);
	mt_free(0x10000200, 1024);
	mt_free(0x20000000, 4 * M);
	mt_flags(0); /* empty_cache */
	mt_driver(GF_MEMORY_FREE, 0x20000000, 0, 0, 0);
	mt_flags(IN);
	mt_reserved(2 * M);
	mt_driver(GF_MEMORY_ALLOC, 0x30000000, 30 * M, 0, 0);
	mt_reserved(32 * M);
	mt_alloc(0x30000000, 2 * M);
	mt_end();
}

/* torch.cuda.memory.caching_allocator_enable(False): the allocator hands out what the driver gives,
 * and counts nothing of it. */
TEST(segments_that_the_allocator_does_not_count)
{
	mt_begin(path_of_test());
	mt_flags(IN);
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 20 * M, 0, 0);
	mt_block(0x10000000, 20 * M, 20 * M, 20 * M);
	mt_driver(GF_MEMORY_ALLOC, 0x20000000, 28 * M, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0x30000000, 30 * M, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0x40000000, 36 * M, 0, 0);
	mt_block(0x40000000, 36 * M, 56 * M, 56 * M);
	mt_flags(0);
	mt_driver(GF_MEMORY_FREE, 0x20000000, 0, 0, 0);
	mt_block(0x10000000, -20 * (int64_t)M, 36 * M, 56 * M);
	mt_end();
	analyse();
	const struct ga_account *a = device(0);
	EXPECT_EQ(a->segment_alloc_count, 2);
	EXPECT_EQ(a->segment_free_count, 0);
	EXPECT_EQ(a->reserved, 56 * M);
	EXPECT_EQ(a->peak_reserved.reserved, 56 * M);
	EXPECT_EQ(a->non_torch, 30 * M);
	EXPECT_EQ(a->reserved_difference.count, 0);
	done();
}

TEST(peaks_counts_and_end)
{
	write_simple();
	analyse();
	const struct ga_account *a = device(0);
	EXPECT_EQ(a->peak.allocated, 4 * M + 1536);
	EXPECT_EQ(a->peak.reserved, 22 * M);
	EXPECT_EQ(a->peak_reserved.reserved, 32 * M);
	EXPECT_EQ(a->allocated, 2 * M + 512);
	EXPECT_EQ(a->reserved, 32 * M);
	EXPECT_EQ(a->alloc_count, 4);
	EXPECT_EQ(a->free_count, 2);
	EXPECT_EQ(a->segment_alloc_count, 3);
	EXPECT_EQ(a->segment_free_count, 1);
	EXPECT_EQ(a->retry_count, 0);
	EXPECT_EQ(a->non_torch, 0);
	EXPECT_EQ(a->allocated_difference.count, 0);
	EXPECT_EQ(a->reserved_difference.count, 0);
	done();
}

TEST(sites_at_the_peak_add_up_after_later_frees)
{
	struct ga_sites sites;
	write_simple();
	analyse();
	ga_memory_peak_sites(&memory, device(0), &sites);
	EXPECT_EQ(sites.count, 1);
	EXPECT_EQ(sites.bytes, 4 * M + 1536);
	EXPECT_EQ(sites.items[0].blocks, 3);
	ga_sites_free(&sites);
	done();
}

TEST(first_of_two_equal_peaks)
{
	mt_begin(path_of_test());
	mt_reserved(2 * M);
	mt_alloc(0x1000, 4096);
	uint64_t first = mt_now() - 1000;
	mt_free(0x1000, 4096);
	mt_alloc(0x2000, 4096);
	mt_end();
	analyse();
	EXPECT_EQ(device(0)->peak.ticks, first);
	done();
}

TEST(segment_without_flag_is_found_by_its_block)
{
	mt_begin(path_of_test());
	mt_driver(GF_MEMORY_ALLOC, 0x50000000, 8 * M, 0, 0); /* stays outside PyTorch */
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 2 * M, 0, 0);
	mt_reserved(2 * M);
	mt_alloc(0x10000400, 512);
	mt_end();
	analyse();
	const struct ga_account *a = device(0);
	EXPECT_EQ(a->reserved, 2 * M);
	EXPECT_EQ(a->segment_alloc_count, 1);
	EXPECT_EQ(a->non_torch, 8 * M);
	EXPECT_EQ(a->peak_non_torch, 8 * M);
	EXPECT_EQ(a->reserved_difference.count, 0);
	done();
}

TEST(totals_of_pytorch_win)
{
	mt_begin(path_of_test());
	mt_block(0x1000, 512, 512, 2 * M);	   /* its segment was not recorded */
	mt_block(0x2000, 1024, 512 + 5000, 2 * M); /* and another block neither */
	mt_end();
	analyse();
	const struct ga_account *a = device(0);
	EXPECT_EQ(a->peak.allocated, 5512);
	EXPECT_EQ(a->peak_reserved.reserved, 2 * M);
	EXPECT_EQ(a->allocated_difference.count, 1);
	EXPECT_EQ(a->allocated_difference.most_bytes, 5512 - 1536);
	EXPECT_EQ(a->reserved_difference.count, 1);
	EXPECT(noticed("differs from PyTorch's own total by up"));
	struct ga_sites sites;
	ga_memory_peak_sites(&memory, a, &sites);
	EXPECT_EQ(sites.bytes, 5512);
	EXPECT_EQ(sites.count, 2); /* recorded blocks, and what is missing */
	ga_sites_free(&sites);
	done();
}

TEST(records_without_totals_are_summed)
{
	mt_begin(path_of_test());
	mt_flags(IN);
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 2 * M, 0, 0);
	mt_block(0x10000000, 512, 0, 0);
	mt_block(0x10000200, 512, 0, 0);
	mt_block(0x10000000, -512, 0, 0);
	mt_end();
	analyse();
	EXPECT_EQ(device(0)->peak.allocated, 1024);
	EXPECT_EQ(device(0)->allocated, 512);
	EXPECT_EQ(device(0)->reserved, 2 * M);
	EXPECT_EQ(device(0)->allocated_difference.count, 0);
	done();
}

TEST(lost_free_and_unknown_free)
{
	mt_begin(path_of_test());
	mt_reserved(2 * M);
	mt_block(0x1000, 512, 512, 2 * M);
	mt_block(0x1000, 1024, 1024, 2 * M); /* the free of the first is missing */
	mt_block(0x9000, -512, 1024, 2 * M); /* the allocation of this one is missing */
	mt_end();
	analyse();
	EXPECT_EQ(memory.overlaps, 1);
	EXPECT_EQ(device(0)->unknown_frees, 1);
	EXPECT_EQ(device(0)->allocated, 1024);
	EXPECT_EQ(memory.live.count, 1);
	EXPECT(noticed("not freed before"));
	EXPECT(noticed("whose allocation is not in the recording"));
	done();
}

TEST(two_devices_in_order)
{
	mt_begin(path_of_test());
	mt_device(3);
	mt_block(0x1000, 512, 512, 2 * M);
	mt_device(1);
	mt_block(0x2000, 2048, 2048, 4 * M);
	mt_end();
	analyse();
	const struct ga_account *first = ga_memory_next(&memory, -1);
	EXPECT_EQ(first->device, 1);
	EXPECT_EQ(first->peak.allocated, 2048);
	const struct ga_account *second = ga_memory_next(&memory, 1);
	EXPECT_EQ(second->device, 3);
	EXPECT_EQ(second->peak.allocated, 512);
	EXPECT(ga_memory_next(&memory, 3) == NULL);
	done();
}

/* Grow by 2 pages, shrink by both in one run, grow by one. */
TEST(expandable_segment)
{
	mt_begin(path_of_test());
	mt_flags(IN);
	mt_driver(GF_MEMORY_RESERVE, 0x100000000, 1024 * M, 0, 0);
	mt_driver(GF_MEMORY_CREATE, 0, 20 * M, 1, 0);
	mt_driver(GF_MEMORY_CREATE, 0, 20 * M, 2, 0);
	mt_driver(GF_MEMORY_MAP, 0x100000000, 20 * M, 1, 0);
	mt_driver(GF_MEMORY_MAP, 0x100000000 + 20 * M, 20 * M, 2, 0);
	mt_driver(GF_MEMORY_ACCESS, 0x100000000, 40 * M, 0, 0);
	mt_driver(GF_MEMORY_ACCESS, 0x100000000, 40 * M, 0, 0); /* for a peer device */
	mt_reserved(40 * M);
	mt_alloc(0x100000000, 30 * M);
	mt_free(0x100000000, 30 * M);
	mt_driver(GF_MEMORY_UNMAP, 0x100000000, 20 * M, 0, 0);
	mt_driver(GF_MEMORY_RELEASE, 0, 0, 1, 0);
	mt_driver(GF_MEMORY_UNMAP, 0x100000000 + 20 * M, 20 * M, 0, 0);
	mt_driver(GF_MEMORY_RELEASE, 0, 0, 2, 0);
	mt_driver(GF_MEMORY_CREATE, 0, 20 * M, 3, 0);
	mt_driver(GF_MEMORY_MAP, 0x100000000, 20 * M, 3, 0);
	mt_driver(GF_MEMORY_ACCESS, 0x100000000, 20 * M, 0, 0);
	mt_reserved(20 * M);
	mt_alloc(0x100000000, 5 * M);
	mt_end();
	analyse();
	const struct ga_account *a = device(0);
	EXPECT_EQ(a->peak_reserved.reserved, 40 * M);
	EXPECT_EQ(a->reserved, 20 * M);
	EXPECT_EQ(a->segment_alloc_count, 0);
	EXPECT_EQ(a->segment_map_count, 2);
	EXPECT_EQ(a->segment_unmap_count, 1);
	EXPECT_EQ(a->reserved_difference.count, 0);
	EXPECT_EQ(a->non_torch, 0);
	done();
}

TEST(expandable_range_without_flags_is_found_by_its_block)
{
	mt_begin(path_of_test());
	mt_driver(GF_MEMORY_RESERVE, 0x100000000, 1024 * M, 0, 0);
	mt_driver(GF_MEMORY_CREATE, 0, 2 * M, 1, 0);
	mt_driver(GF_MEMORY_MAP, 0x100000000, 2 * M, 1, 0);
	mt_driver(GF_MEMORY_ACCESS, 0x100000000, 2 * M, 0, 0);
	mt_reserved(2 * M);
	mt_alloc(0x100000000, 512);
	mt_end();
	analyse();
	EXPECT_EQ(device(0)->reserved, 2 * M);
	EXPECT_EQ(device(0)->segment_map_count, 1);
	EXPECT_EQ(device(0)->non_torch, 0);
	EXPECT_EQ(device(0)->reserved_difference.count, 0);
	done();
}

/* A thread without a current context reserves on no device; the physical memory has one. */
TEST(range_takes_the_device_of_what_is_mapped)
{
	mt_begin(path_of_test());
	mt_flags(IN);
	mt_device(GF_DEVICE_UNKNOWN);
	mt_driver(GF_MEMORY_RESERVE, 0x100000000, 1024 * M, 0, 0);
	mt_device(1);
	mt_driver(GF_MEMORY_CREATE, 0, 2 * M, 1, 0);
	mt_device(GF_DEVICE_UNKNOWN);
	mt_driver(GF_MEMORY_MAP, 0x100000000, 2 * M, 1, 0);
	mt_driver(GF_MEMORY_ACCESS, 0x100000000, 2 * M, 0, 0);
	mt_device(1);
	mt_reserved(2 * M);
	mt_alloc(0x100000000, 512);
	mt_end();
	analyse();
	EXPECT_EQ(device(1)->reserved, 2 * M);
	EXPECT_EQ(device(1)->segment_map_count, 1);
	EXPECT_EQ(device(1)->reserved_difference.count, 0);
	EXPECT_EQ(memory.accounts.misplaced, 0);
	done();
}

TEST(physical_memory_outside_lives_until_released_and_unmapped)
{
	mt_begin(path_of_test());
	mt_driver(GF_MEMORY_RESERVE, 0x200000000, 64 * M, 0, 0);
	mt_driver(GF_MEMORY_CREATE, 0, 6 * M, 9, 0);
	mt_driver(GF_MEMORY_MAP, 0x200000000, 6 * M, 9, 0);
	mt_driver(GF_MEMORY_RELEASE, 0, 0, 9, 0); /* still mapped */
	mt_block(0x1000, 512, 512, 0);
	mt_driver(GF_MEMORY_UNMAP, 0x200000000, 6 * M, 0, 0);
	mt_driver(GF_MEMORY_UNRESERVE, 0x200000000, 64 * M, 0, 0);
	mt_end();
	analyse();
	EXPECT_EQ(device(0)->peak_non_torch, 6 * M);
	EXPECT_EQ(device(0)->non_torch, 0);
	done();
}

TEST(refused_free_is_taken_back)
{
	mt_begin(path_of_test());
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 3 * M, 0, 0);
	mt_driver(GF_MEMORY_FREE, 0x10000000, 0, 0, 0);
	mt_driver(GF_MEMORY_RELEASE_FAILED, 0, 0, 0, 4);
	mt_driver(GF_MEMORY_ALLOC, 0x20000000, 1 * M, 0, 0);
	mt_driver(GF_MEMORY_FREE, 0x20000000, 0, 0, 0);
	mt_driver(GF_MEMORY_HOST_FREE, 0x99, 0, 0, 0);
	mt_driver(GF_MEMORY_RELEASE_FAILED, 0, 0, 0, 4); /* of the host memory */
	mt_end();
	analyse();
	EXPECT_EQ(device(0)->non_torch, 3 * M);
	done();
}

TEST(host_memory)
{
	mt_begin(path_of_test());
	mt_driver(GF_MEMORY_HOST_ALLOC, 0x1000, 3 * M, 0, 0);
	mt_driver(GF_MEMORY_HOST_REGISTER, 0x900000, 2 * M, 0, 0);
	mt_driver(GF_MEMORY_HOST_FREE, 0x1000, 0, 0, 0);
	mt_driver(GF_MEMORY_HOST_ALLOC, 0x2000, 1 * M, 0, 0);
	mt_end();
	analyse();
	EXPECT_EQ(memory.driver.host_peak_bytes, 5 * M);
	EXPECT_EQ(memory.driver.host_bytes, 3 * M);
	EXPECT(ga_memory_next(&memory, -1) == NULL);
	done();
}

TEST(async_back_end)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "allocator_settings", "backend:cudaMallocAsync");
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0x1000, 700, 0, 0);
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0x2000, 300, 0, 0);
	mt_driver(GF_MEMORY_FREE_ASYNC, 0x1000, 0, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0x9000, 4096, 0, 0); /* not from the pool */
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0x3000, 5000000, 0, 2);
	mt_mem_info(100, 1000);
	mt_end();
	analyse();
	const struct ga_account *a = device(0);
	EXPECT_EQ(a->peak.allocated, 1024 + 512);
	EXPECT_EQ(a->allocated, 512);
	EXPECT_EQ(a->alloc_count, 2);
	EXPECT_EQ(a->free_count, 1);
	EXPECT_EQ(a->segment_alloc_count, 0);
	EXPECT_EQ(a->non_torch, 4096);
	EXPECT_EQ(a->oom_count, 1);
	EXPECT_EQ(memory.refusals.count, 1);
	EXPECT_EQ(memory.refusals.ooms[0].requested, 5000000);
	EXPECT_EQ(memory.refusals.ooms[0].allocated, 512);
	EXPECT_EQ(memory.refusals.ooms[0].device_free, 100);
	EXPECT(!memory.refusals.ooms[0].outside);
	done();
}

/* What the pools reserve is hidden: the device with most in blocks is the fullest. */
/* What is captured is memory of the graph: PyTorch asks the pool, which does not have it. */
TEST(graphs_of_the_async_back_end)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "allocator_settings", "backend:cudaMallocAsync");
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0x1000, 700, 0, 0);
	mt_flags(GF_FLAG_CAPTURED);
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0x10000, 7000, 0, 0);
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0x20000, 9000, 0, 0);
	mt_driver(GF_MEMORY_FREE_ASYNC, 0x20000, 0, 0, 0);
	mt_flags(0);
	mt_driver(
	    GF_MEMORY_FREE_ASYNC, 0x10000, 0, 0, 0); /* by the last tensor, after the capture */
	mt_driver(GF_MEMORY_FREE_ASYNC, 0x1000, 0, 0, 0);
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0x1000, 512, 0, 0);
	mt_end();
	analyse();
	const struct ga_account *a = device(0);
	EXPECT_EQ(a->peak.allocated, 1024);
	EXPECT_EQ(a->allocated, 512);
	EXPECT_EQ(a->alloc_count, 2);
	EXPECT_EQ(a->free_count, 1);
	EXPECT_EQ(a->non_torch, 0);
	EXPECT_EQ(a->unknown_frees, 0);
	struct ga_strings notices = {0};
	ga_memory_notices(&memory, &notices);
	bool told = false;
	for (size_t i = 0; i < notices.count; i++)
		told |= strstr(notices.items[i], "captured: 2, together 15.6") != NULL;
	EXPECT(told);
	ga_strings_clear(&notices);
	done();
}

TEST(fullest_device_of_the_async_back_end)
{
	uint64_t total;
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "allocator_settings", "backend:cudaMallocAsync");
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0x1000, 512, 0, 0);
	mt_device(1);
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0x9000, 5120, 0, 0);
	mt_end();
	analyse();
	EXPECT_EQ(ga_view_fullest(&memory, &total)->device, 1);
	done();
}

TEST(refused_release_of_a_block_takes_back_nothing_older)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "allocator_settings", "backend:cudaMallocAsync");
	mt_driver(GF_MEMORY_ALLOC, 0x9000, 4096, 0, 0);
	mt_driver(GF_MEMORY_FREE, 0x9000, 0, 0, 0);
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0x1000, 512, 0, 0);
	mt_driver(GF_MEMORY_FREE_ASYNC, 0x1000, 0, 0, 0);
	mt_driver(GF_MEMORY_RELEASE_FAILED, 0, 0, 0, 4);
	mt_end();
	analyse();
	EXPECT_EQ(device(0)->non_torch, 0);
	done();
}

TEST(no_caching)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "no_caching", "1");
	mt_driver(GF_MEMORY_ALLOC, 0x1000, 700, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0x2000, 300, 0, 0);
	mt_driver(GF_MEMORY_FREE, 0x1000, 0, 0, 0);
	mt_end();
	analyse();
	EXPECT_EQ(device(0)->peak.allocated, 1000);
	EXPECT_EQ(device(0)->peak_reserved.reserved, 1000);
	EXPECT_EQ(device(0)->reserved, 300);
	EXPECT_EQ(device(0)->alloc_count, 2);
	done();
}

TEST(impossible_devices_are_counted)
{
	mt_begin(path_of_test());
	mt_device(5000);
	mt_block(0x1000, 512, 512, 2 * M);
	mt_end();
	analyse();
	EXPECT_EQ(memory.accounts.misplaced, 1);
	EXPECT(noticed("name no usable device"));
	done();
}
