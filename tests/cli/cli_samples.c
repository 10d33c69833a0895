/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces that the exact-output tests of the program read; always the same.  usage: cli_samples
 * FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/memory_trace.h"
#include "tests/stack_trace.h"

#define M MT_MIB
#define IN GF_FLAG_IN_ALLOCATOR
#define REFUSED 2 /* CUDA_ERROR_OUT_OF_MEMORY */

/* Steps of a small training: parameters stay, activations come and go, a kernel for each. */
static void train(struct trace_builder *t, int steps)
{
	mt_flags(IN);
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 200 * M, 0, 0);
	mt_reserved(200 * M);
	mt_flags(0);
	mt_driver(GF_MEMORY_HOST_ALLOC, 0x700000, 4 * M, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0x50000000, 8 * M, 0, 0); /* a library's workspace */
	mt_alloc(0x10000000, 50 * M);
	for (int step = 0; step < steps; step++) {
		mt_copy(4 * M, 0);
		for (unsigned i = 1; i <= 10; i++) {
			mt_alloc(0x10000000 + (40 + i * 10) * M, 10 * M);
			mt_launch(0);
		}
		for (unsigned i = 10; i > 0; i--)
			mt_free(0x10000000 + (40 + i * 10) * M, 10 * M);
		mt_memset(4096, 0);
		mt_sync(GF_WAIT_STREAM);
		trace_frame(t, 1);
	}
}

static void write_simple(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	train(t, 4);
	mt_free(0x10000000, 50 * M);
	mt_end();
}

static void write_oom(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	train(t, 2);
	mt_flags(IN);
	mt_driver(GF_MEMORY_ALLOC, 0, 900 * M, 0, REFUSED);
	mt_driver(GF_MEMORY_ALLOC, 0, 900 * M, 0, REFUSED);
	mt_mem_info(712 * M, 1024 * M);
	mt_oom(899 * M, 50 * M, 200 * M);
	mt_flags(0);
	mt_driver(GF_MEMORY_HOST_ALLOC, 0, 64 * M, 0, REFUSED);
	mt_end();
}

/* The process was killed: no end mark, the last part is in the journal. */
static void write_killed(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	train(t, 2);
	mt_alloc(0x10000000 + 60 * M, 100 * M);
	trace_kill(t);
}

static void write_devices(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "device.1.name", "Other GPU");
	trace_property(t, "device.1.total_bytes", "2147483648");
	trace_property(t, "rank", "1");
	trace_property(t, "world_size", "2");
	mt_device(1);
	mt_block(0x20000000, 700 * (int64_t)M, 700 * M, 800 * M);
	mt_device(0);
	mt_block(0x10000000, 512, 512, 2 * M);
	mt_end();
}

static void write_expandable(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "allocator_settings", "expandable_segments:True,max_split_size_mb:64");
	trace_property(t, "dryrun", "1");
	mt_flags(IN);
	mt_driver(GF_MEMORY_RESERVE, 0x100000000, 1152 * M, 0, 0);
	for (unsigned page = 0; page < 5; page++) {
		mt_driver(GF_MEMORY_CREATE, 0, 20 * M, page + 1, 0);
		mt_driver(GF_MEMORY_MAP, 0x100000000 + page * 20 * M, 20 * M, page + 1, 0);
		mt_driver(GF_MEMORY_ACCESS, 0x100000000 + page * 20 * M, 20 * M, 0, 0);
		mt_reserved((page + 1) * 20 * M);
		mt_alloc(0x100000000 + page * 20 * M, 15 * M);
	}
	mt_end();
}

/* A segment of the allocator with one block that fills it. */
static void own_segment(uint64_t address, uint64_t bytes, uint64_t reserved)
{
	mt_flags(IN);
	mt_driver(GF_MEMORY_ALLOC, address, bytes, 0, 0);
	mt_flags(0);
	mt_reserved(reserved);
	mt_alloc(address, bytes);
}

/* Eight blocks of 16 MiB are cached, and of no use to four of 32 MiB. */
static void write_cached(const char *path, const char *release)
{
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "torch_version", release);
	mt_requested(16 * M - 100);
	for (unsigned i = 0; i < 8; i++)
		own_segment(0x10000000 + i * 16 * M, 16 * M, (i + 1) * 16 * M);
	for (unsigned i = 0; i < 8; i++)
		mt_free(0x10000000 + i * 16 * M, 16 * M);
	mt_requested(32 * M);
	for (unsigned i = 0; i < 4; i++)
		own_segment(0x20000000 + i * 32 * M, 32 * M, (i + 5) * 32 * M);
	mt_end();
}

/* Every other block of 16 MiB is kept: half of the device is free and none of it is of use. */
static void write_stuck(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "device.0.total_bytes", "335544320");
	mt_requested(32 * M);
	for (unsigned i = 0; i < 10; i++)
		own_segment(0x10000000 + i * 32 * M, 32 * M, (i + 1) * 32 * M);
	for (unsigned i = 0; i < 10; i++)
		mt_free(0x10000000 + i * 32 * M, 32 * M);
	mt_requested(16 * M);
	for (unsigned i = 0; i < 20; i++)
		mt_alloc(0x10000000 + i * 16 * M, 16 * M);
	for (unsigned i = 0; i < 20; i += 2)
		mt_free(0x10000000 + i * 16 * M, 16 * M);
	mt_flags(IN);
	mt_driver(GF_MEMORY_ALLOC, 0, 64 * M, 0, REFUSED);
	mt_driver(GF_MEMORY_ALLOC, 0, 64 * M, 0, REFUSED);
	mt_mem_info(0, 320 * M);
	mt_oom(64 * M, 160 * M, 320 * M);
	mt_end();
}

/* The settings are not the defaults, which needed less. */
static void write_rounded(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "allocator_settings", "roundup_power2_divisions:2");
	mt_requested(36 * M);
	for (unsigned i = 0; i < 3; i++)
		own_segment(0x10000000 + i * 48 * M, 48 * M, (i + 1) * 48 * M);
	mt_end();
}

/* The process was killed before the recorder had asked for the device's size. */
static void write_unsized(const char *path, bool refused)
{
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "device.0.total_bytes", "");
	mt_requested(10 * M);
	for (unsigned i = 0; i < 3; i++)
		own_segment(0x10000000 + i * 10 * M, 10 * M, (i + 1) * 10 * M);
	mt_flags(IN);
	if (refused) {
		mt_driver(GF_MEMORY_ALLOC, 0, 10 * M, 0, REFUSED);
		mt_driver(GF_MEMORY_ALLOC, 0, 10 * M, 0, REFUSED);
		mt_oom(10 * M, 30 * M, 30 * M);
	}
	trace_kill(t);
}

static void write_async(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "allocator_settings", "backend:cudaMallocAsync");
	for (unsigned i = 1; i <= 6; i++)
		mt_driver(GF_MEMORY_ALLOC_ASYNC, i << 24, i * 100000, 0, 0);
	mt_driver(GF_MEMORY_FREE_ASYNC, 1 << 24, 0, 0, 0);
	mt_driver(GF_MEMORY_ALLOC_ASYNC, 0, 2000 * M, 0, REFUSED);
	mt_mem_info(1000 * M, 1024 * M);
	mt_end();
}

/* Calls that give something back, whose time is their start. */
static void write_given_back(const char *path)
{
	static const char name[] = "cuMulticastUnbind";
	struct trace_builder *t = mt_begin(path);
	struct gf_memory unbind = {.time = 5000, .duration = 100, .api = 9, .kind = GF_MEMORY_MULTICAST};
	trace_text(t, 1, 1, GF_TEXT_API, 9, name, sizeof(name) - 1);
	mt_driver(GF_MEMORY_POOL_TRIM, 0, 512, 3, 0);
	mt_driver(GF_MEMORY_MULTICAST, 0, 512, 4, 0);
	trace_add(t, 1, GF_TAG_memory, &unbind);
	mt_end();
}

/* Cached memory went back below a limit that is not told: collected, or all of it at once? */
static void write_collected(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "allocator_settings", "garbage_collection_threshold:0.6");
	own_segment(0x10000000, 300 * M, 300 * M);
	mt_free(0x10000000, 300 * M);
	mt_flags(IN);
	mt_driver(GF_MEMORY_FREE, 0x10000000, 0, 0, 0);
	own_segment(0x20000000, 400 * M, 400 * M);
	mt_end();
}

/* Device 1 has the cure by a retry, device 0 the most memory. */
static void write_retry(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "device.1.total_bytes", "1073741824");
	own_segment(0x10000000, 300 * M, 300 * M);
	mt_device(1);
	mt_flags(IN);
	mt_driver(GF_MEMORY_ALLOC, 0, 20 * M, 0, REFUSED);
	mt_driver(GF_MEMORY_ALLOC, 0x90000000, 20 * M, 0, 0);
	mt_block(0x90000000, 4 * M, 4 * M, 20 * M);
	mt_end();
}

/* Events are missing, a notice explains, and texts try to steer the terminal. */
static void write_lossy(const char *path)
{
	static const char notice[] = "stacks are off: no Python";
	struct trace_builder *t = mt_begin(path);
	struct gf_lost lost = {.reason = GF_LOST_NO_CHUNK, .time = 7000, .count = 12345};
	trace_property(t, "program", "[\"evil\\u001b[2J\", \"a b\"]");
	trace_property(t, "device.0.name", "GPU\033[31m");
	trace_add(t, 1, GF_TAG_lost, &lost);
	trace_text(t, 1, 100, GF_TEXT_NOTICE, 0, notice, sizeof(notice) - 1);
	mt_block(0x10000000, 512, 512, 2 * M);
	mt_block(0x20000000, 512, 5000, 2 * M);
	mt_block(0x10000000, 1024, 6024, 2 * M);
	mt_block(0x90000000, -512, 5512, 2 * M);
	mt_end();
}

/* Who asked is known; two layers are called on one line. */
static void write_places(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	st_code(t, 1, "/home/me/train.py", "<module>", 31);
	st_code(t, 2, "/home/me/model.py", "Model.forward", 12);
	st_code(t, 3, "/usr/lib/python3.11/site-packages/torch/nn/functional.py", "linear", 7);
	st_stack(t, 1, &(struct st_frames){.codes = {1}, .python = 1});
	st_stack(t, 2, &(struct st_frames){.codes = {3, 2, 1}, .python = 3, .layer = 0x1000});
	st_library(t, 9, "/usr/lib/libtorch_cpu.so", 0x400000, 0x1000, 0);
	st_stack(t, 3,
	    &(struct st_frames){
		.codes = {2, 1}, .natives = {0x400010}, .python = 2, .native = 1, .layer = 0x2000});
	mt_stack(1);
	own_segment(0x10000000, 20 * M, 20 * M);
	mt_copy(20 * M, 0);
	mt_stack(2);
	own_segment(0x20000000, 30 * M, 50 * M);
	mt_stack(3);
	own_segment(0x30000000, 40 * M, 90 * M);
	mt_flags(IN);
	mt_driver(GF_MEMORY_ALLOC, 0, 990 * M, 0, REFUSED);
	mt_driver(GF_MEMORY_ALLOC, 0, 990 * M, 0, REFUSED);
	mt_mem_info(900 * M, 1024 * M);
	mt_oom(990 * M, 90 * M, 90 * M);
	mt_end();
}

/* Names that would clear a terminal, rename its window and turn its lines around. */
static void write_steering(const char *path)
{
	static const char api[] = "cu\033]0;x\007Mem\302\233"
				  "2J";
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "command_line", "python \033[2J");
	trace_text(t, 1, mt_now(), GF_TEXT_THREAD_NAME, 1, "a\033[2Jb", 6);
	trace_text(t, 1, mt_now(), GF_TEXT_API, 0, api, sizeof(api) - 1);
	st_code(t, 1, "/home/me/\033[31mtrain.py", "f\342\200\256g,\"h\"\n", 3);
	st_stack(t, 1, &(struct st_frames){.codes = {1}, .python = 1});
	mt_stack(1);
	own_segment(0x10000000, 20 * M, 20 * M);
	mt_end();
}

/* GPUSHIM_LIMIT was reached: what came behind it was counted only. */
static void write_stopped(const char *path)
{
	static const char notice[] = "recording stopped: the trace reached GPUSHIM_LIMIT";
	struct trace_builder *t = mt_begin(path);
	struct gf_lost lost = {.reason = GF_LOST_LIMIT, .time = 90000, .count = 550};
	train(t, 1);
	trace_text(t, 1, mt_now(), GF_TEXT_NOTICE, 0, notice, sizeof(notice) - 1);
	trace_mark(t, 1, mt_now(), GF_MARK_STOPPED, 0);
	trace_add(t, 1, GF_TAG_lost, &lost);
	mt_end();
}

/* GPUSHIM_RECORD=copies */
static void write_copies(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "record", "copies");
	mt_copy(4 * M, 0);
	mt_memset(4096, 0);
	mt_end();
}

/* The hooks of PyTorch's allocator saw nothing. */
static void write_blind(const char *path)
{
	mt_begin(path);
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 200 * M, 0, 0);
	mt_end();
}

/* python -c with a program of several lines. */
static void write_lines(const char *path)
{
	struct trace_builder *t = mt_begin(path);
	trace_property(t, "program", "[\"python\", \"-c\", \"\\nimport torch\\nx = 1\", \"a\"]");
	mt_end();
}

static void write_idle(const char *path)
{
	mt_begin(path);
	mt_sync(GF_WAIT_DEVICE);
	mt_end();
}

/* ---- files that are damaged ---- */

static char *load(const char *path, long *bytes)
{
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END) != 0)
		exit(1);
	*bytes = ftell(file);
	rewind(file);
	char *data = malloc((size_t)*bytes);
	if (!data || fread(data, 1, (size_t)*bytes, file) != (size_t)*bytes)
		exit(1);
	fclose(file);
	return data;
}

static void store(const char *path, const char *data, long bytes)
{
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(data, 1, (size_t)bytes, file) != (size_t)bytes || fclose(file) != 0)
		exit(1);
}

static void write_damaged(const char *whole)
{
	long bytes;
	char *data = load(whole, &bytes);
	store("cut.gst", data, bytes * 2 / 3);
	data[bytes / 2] ^= 0x10;
	store("damaged.gst", data, bytes);
	store("head.gst", data, 64);
	free(data);
	store("empty.gst", "", 0);
	store("text.gst", "this is no trace, only text\n", 28);
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) != 0) {
		fputs("usage: cli_samples FOLDER\n", stderr);
		return 2;
	}
	write_simple("simple.gst");
	write_oom("oom.gst");
	write_killed("killed.gst");
	write_devices("devices.gst");
	write_expandable("expandable.gst");
	write_cached("cached.gst", "2.15.0");
	write_cached("release_26.gst", "2.6.0+cu124");
	write_cached("release_unknown.gst", "");
	write_stuck("stuck.gst");
	write_rounded("rounded.gst");
	write_unsized("unsized.gst", false);
	write_unsized("unsized_refused.gst", true);
	write_async("async.gst");
	write_given_back("given_back.gst");
	write_retry("retry.gst");
	write_collected("collected.gst");
	write_lossy("lossy.gst");
	write_places("places.gst");
	write_stopped("stopped.gst");
	write_steering("steering.gst");
	write_copies("copies.gst");
	write_blind("blind.gst");
	write_lines("lines.gst");
	write_idle("idle.gst");
	write_damaged("simple.gst");
	if (mkdir("ranks", 0777) != 0 || mkdir("nothing", 0777) != 0)
		return 1;
	write_simple("ranks/rank0.gst");
	write_killed("ranks/rank1.gst");
	return 0;
}
