/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces whose files are whole but whose records make no sense: random kinds, sizes, addresses and
 * handles from small pools, so that they collide.  No command may crash, hang or overflow.
 */
#define TEST_SECONDS 240
#include "tests/test.h"

#include <fcntl.h>

#include "analyzer/options.h"
#include "tests/memory_trace.h"

#define RECORDS 3000

static uint64_t random_number(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Mostly small numbers that meet again, now and then an extreme. */
static uint64_t odd_number(void)
{
	static const uint64_t extremes[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, (uint64_t)INT64_MAX,
	    (uint64_t)INT64_MAX + 1, UINT32_MAX, UINT64_C(1) << 62};
	if (random_number() % 8 == 0)
		return extremes[random_number() % (sizeof(extremes) / sizeof(*extremes))];
	return random_number() % 40 * 512;
}

static uint16_t odd_device(void)
{
	static const uint16_t devices[] = {0, 0, 0, 1, 7, 255, 256, GF_DEVICE_UNKNOWN};
	return devices[random_number() % 8];
}

/* Any bytes as a record of a type: every field is random, time included. */
static void add_random(struct trace_builder *t, unsigned tag)
{
	uint64_t words[16];
	for (size_t i = 0; i < 16; i++)
		words[i] = random_number() % 3 ? odd_number() : random_number();
	trace_add(t, 1 + (uint32_t)(random_number() % 3), tag, words);
}

static void add_memory(struct trace_builder *t)
{
	struct gf_memory memory = {.time = odd_number(),
	    .address = odd_number(),
	    .size = odd_number(),
	    .handle = odd_number(),
	    .kind = (uint16_t)(random_number() % 32),
	    .status = random_number() % 4 ? 0 : (uint16_t)(random_number() % 4),
	    .device = odd_device(),
	    .flags = (uint32_t)(random_number() % 4)};
	trace_add(t, 1 + (uint32_t)(random_number() % 3), GF_TAG_memory, &memory);
}

static void add_block(struct trace_builder *t)
{
	struct gf_block block = {.time = odd_number(),
	    .address = odd_number(),
	    .size = (int64_t)(random_number() % 2 ? odd_number() : 0 - odd_number()),
	    .allocated = odd_number(),
	    .reserved = odd_number(),
	    .device = odd_device()};
	trace_add(t, 1 + (uint32_t)(random_number() % 3), GF_TAG_block, &block);
}

static void add_oom(struct trace_builder *t)
{
	struct gf_oom oom = {.time = odd_number(),
	    .size = odd_number(),
	    .requested = odd_number(),
	    .allocated = odd_number(),
	    .reserved = odd_number(),
	    .flags = (uint32_t)(random_number() % 2),
	    .device = odd_device()};
	trace_add(t, 1, GF_TAG_oom, &oom);
}

static void write_trace(const char *path)
{
	static const unsigned tags[] = {GF_TAG_copy, GF_TAG_memset, GF_TAG_launch, GF_TAG_graph,
	    GF_TAG_wait, GF_TAG_event, GF_TAG_mem_info, GF_TAG_module, GF_TAG_call, GF_TAG_mark,
	    GF_TAG_clock, GF_TAG_lost};
	struct trace_builder *t = trace_begin(path);
	if (random_number() % 2)
		trace_property(t, "allocator_settings", "backend:cudaMallocAsync,x:[,:,");
	else if (random_number() % 2)
		trace_property(t, "no_caching", "1");
	else
		trace_property(t, "torch_version", "\x01\xff%s%n");
	trace_property(t, "device.0.total_bytes", "99999999999999999999999");
	trace_property(t, "device.1.total_bytes", "0");
	trace_property(t, "program", "[\"\xff\xfe\", \"a");
	for (int i = 0; i < RECORDS; i++) {
		uint64_t choice = random_number() % 20;
		if (choice < 8)
			add_memory(t);
		else if (choice < 15)
			add_block(t);
		else if (choice < 16)
			add_oom(t);
		else
			add_random(t, tags[random_number() % (sizeof(tags) / sizeof(*tags))]);
		if (random_number() % 500 == 0)
			trace_frame(t, 1);
	}
	if (random_number() % 2)
		trace_end(t);
	else
		trace_kill(t);
}

static void run(enum ga_command command, const char *options_text, const char *path)
{
	char line[256], *words[16];
	int count = 0;
	struct ga_options options;
	snprintf(line, sizeof(line), "%s -o /dev/null %s", options_text, path);
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	REQUIRE(ga_options_parse(command, count, words, &options) == NULL);
	int status = ga_command_rows[command].run(&options);
	EXPECT(status == 0 || status == 1 || status == 3);
	ga_options_free(&options);
}

TEST(every_command_survives)
{
	char path[64], journal[80];
	snprintf(path, sizeof(path), "/tmp/test_hostile.%d.gst", (int)getpid());
	snprintf(journal, sizeof(journal), "%s.journal", path);
	int null = open("/dev/null", O_WRONLY), tty = dup(STDERR_FILENO);
	dup2(null, STDERR_FILENO);
	for (int round = 0; round < 40; round++) {
		write_trace(path);
		run(GA_COMMAND_check, "--json", path);
		run(GA_COMMAND_info, "--json", path);
		run(GA_COMMAND_info, "", path);
		run(GA_COMMAND_memory, "--json", path);
		run(GA_COMMAND_memory, "--color always", path);
		run(GA_COMMAND_oom, "--json", path);
		run(GA_COMMAND_oom, "", path);
		run(GA_COMMAND_report, "", path);
		run(GA_COMMAND_export, "-f csv", path);
		run(GA_COMMAND_export, "-f chrome", path);
		unlink(path);
		unlink(journal);
	}
	dup2(tty, STDERR_FILENO);
}
