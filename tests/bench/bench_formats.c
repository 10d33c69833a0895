/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost and size of the trace format on a synthetic load: a training step of 5500 records (60 %
 * launches, 35 % blocks, copies, waits and driver calls) that repeats with jitter in times and
 * durations, as real steps do.
 *
 * usage: bench_formats [CHUNKS OF A FRAME (16)] [TICK SHIFT (6)].  CPU time; of each figure
 * smallest, middle and largest of the runs.  Exit 1 if the best one misses its floor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formats/frame.h"
#include "formats/reader.h"

#define STEP 5500u
#define RUNS 9
#define FRAMES 24u	     /* of each run: 24 frames of 16 chunks are 340 000 records */
#define ENCODE_CEILING 100.0 /* ns a record */
#define SIZE_CEILING 5.0     /* bytes a record */
#define DECODE_FLOOR 40.0    /* million records a second */

struct planned {
	uint8_t tag;
	uint16_t function, grid, stack, gap;
	uint64_t address, requested;
	int64_t size;
};

static struct planned plan[STEP];
static uint64_t functions[200];
static uint64_t now_ticks = UINT64_C(1) << 40, allocated = UINT64_C(1) << 32, made;

static uint64_t noise(void)
{
	static uint64_t state = 88172645463325252;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Sum of three: roughly a bell. */
static uint64_t jitter(uint64_t width)
{
	return noise() % width + noise() % width + noise() % width;
}

static void make_plan(void)
{
	for (unsigned i = 0; i < 200; i++)
		functions[i] = UINT64_C(0x7f0000000000) + noise() % (1 << 28) * 16;
	for (unsigned i = 0; i < STEP; i++) {
		unsigned dice = (unsigned)(noise() % 100);
		struct planned *p = &plan[i];
		p->tag = dice < 60   ? GF_TAG_launch
			 : dice < 95 ? GF_TAG_block
			 : dice < 97 ? GF_TAG_copy
			 : dice < 99 ? GF_TAG_wait
				     : GF_TAG_memory;
		p->function = (uint16_t)(noise() % 200);
		p->grid = (uint16_t)(1 + noise() % 1024);
		p->stack = (uint16_t)(1 + noise() % 700);
		p->gap = (uint16_t)(6000 + noise() % 20000);
		p->address = UINT64_C(0x700000000000) + noise() % (1 << 25) * 512;
		p->size = (int64_t)(1 + noise() % 4096) * (i % 2 ? -512 : 512);
		p->requested = (uint64_t)(p->size < 0 ? -p->size : p->size) - noise() % 512;
	}
}

/* The next record of the load; returns its length. */
static uint32_t make_record(void *to)
{
	const struct planned *p = &plan[made++ % STEP];
	now_ticks += p->gap + jitter(800);
	uint64_t duration = 5000 + p->function * 7u + jitter(300);
	switch (p->tag) {
	case GF_TAG_launch:
		*(struct gf_launch *)to =
		    (struct gf_launch){.head = GF_HEAD(p->tag, sizeof(struct gf_launch)),
			.time = now_ticks,
			.duration = duration,
			.function = functions[p->function],
			.grid_x = p->grid,
			.grid_y = 1 + p->grid % 3,
			.grid_z = 1,
			.shared_bytes = p->function % 5 * 4096u,
			.block_x = 128 << p->function % 2,
			.block_y = 1,
			.block_z = 1,
			.api = 12};
		return sizeof(struct gf_launch);
	case GF_TAG_block:
		*(struct gf_block *)to =
		    (struct gf_block){.head = GF_HEAD(p->tag, sizeof(struct gf_block)),
			.stack_id = p->stack,
			.time = now_ticks,
			.address = p->address,
			.size = p->size,
			.requested = p->requested,
			.allocated = allocated += (uint64_t)p->size,
			.reserved = UINT64_C(1) << 34,
			.flags = GF_FLAG_REQUEST_KNOWN};
		return sizeof(struct gf_block);
	case GF_TAG_copy:
		*(struct gf_copy *)to =
		    (struct gf_copy){.head = GF_HEAD(p->tag, sizeof(struct gf_copy)),
			.stack_id = p->stack,
			.time = now_ticks,
			.duration = duration,
			.target = p->address,
			.source = p->address + 4096,
			.bytes = p->requested,
			.api = 20,
			.target_device = GF_DEVICE_UNKNOWN};
		return sizeof(struct gf_copy);
	case GF_TAG_wait:
		*(struct gf_wait *)to =
		    (struct gf_wait){.head = GF_HEAD(p->tag, sizeof(struct gf_wait)),
			.stack_id = p->stack,
			.time = now_ticks,
			.duration = 10 * duration,
			.object = p->grid,
			.kind = GF_WAIT_STREAM,
			.api = 30};
		return sizeof(struct gf_wait);
	default:
		*(struct gf_memory *)to =
		    (struct gf_memory){.head = GF_HEAD(p->tag, sizeof(struct gf_memory)),
			.stack_id = p->stack,
			.time = now_ticks,
			.duration = 20 * duration,
			.address = p->address,
			.size = p->requested,
			.kind = GF_MEMORY_ALLOC,
			.api = 40};
		return sizeof(struct gf_memory);
	}
}

/* ---- measuring ---- */

static double seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

/* Print and return the smallest. */
static double tell(const char *what, double figures[RUNS], const char *unit)
{
	qsort(figures, RUNS, sizeof(figures[0]), by_value);
	printf("%-44s %8.2f %8.2f %8.2f %s\n", what, figures[0], figures[RUNS / 2],
	    figures[RUNS - 1], unit);
	return figures[0];
}

static void need(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "bench_formats: %s failed\n", what);
	exit(1);
}

struct load {
	uint32_t chunks;
	unsigned char *memory;
	struct gf_source sources[GF_FRAME_SOURCE_LIMIT];
	uint64_t records;
	struct gf_encoder *encoder;
	unsigned char *frames[FRAMES];
	size_t frame_bytes[FRAMES];
};

static void fill_chunks(struct load *load)
{
	static uint64_t sequence;
	memset(load->memory, 0, (size_t)load->chunks * GF_CHUNK_BYTES);
	load->records = 0;
	for (uint32_t i = 0; i < load->chunks; i++) {
		struct gf_chunk *chunk = (void *)(load->memory + (size_t)i * GF_CHUNK_BYTES);
		uint32_t used = GF_CHUNK_HEADER_BYTES;
		chunk->sequence = ++sequence;
		chunk->thread_id = 1;
		for (; used + sizeof(struct gf_launch) <= GF_CHUNK_BYTES; load->records++)
			used += make_record((char *)chunk + used);
		load->sources[i] = (struct gf_source){chunk, GF_CHUNK_HEADER_BYTES, used};
	}
}

/* Encode FRAMES frames of ever new records, RUNS times; the last ones are kept for decoding. */
static int bench_encode(struct load *load, uint64_t *records_out, uint64_t *bytes_out)
{
	double cost[RUNS], size[RUNS];
	for (unsigned run = 0; run < RUNS; run++) {
		double spent = 0;
		uint64_t records = 0, bytes = 0;
		for (unsigned i = 0; i < FRAMES; i++) {
			const void *frame;
			fill_chunks(load);
			double start = seconds();
			need(gf_encode(load->encoder, load->sources, load->chunks, &frame,
				 &load->frame_bytes[i], NULL) == GF_OK,
			    "encoding");
			spent += seconds() - start;
			load->frames[i] = realloc(load->frames[i], load->frame_bytes[i]);
			memcpy(load->frames[i], frame, load->frame_bytes[i]);
			records += load->records;
			bytes += load->frame_bytes[i];
		}
		cost[run] = spent * 1e9 / (double)records;
		size[run] = (double)bytes / (double)records;
		*records_out = records;
		*bytes_out = bytes;
	}
	double best = tell("encode", cost, "ns a record");
	double bytes = tell("size in the trace", size, "bytes a record");
	return best > ENCODE_CEILING || bytes > SIZE_CEILING;
}

static int bench_decode(
    struct load *load, uint64_t records, const char *what, uint64_t mask, double floor)
{
	double cost[RUNS], speed[RUNS];
	struct gf_decoder *decoder = gf_decoder_new(NULL);
	struct gf_frame_info info;
	static struct gf_batch batch;
	for (unsigned run = 0; run < RUNS; run++) {
		double start = seconds();
		for (unsigned i = 0; i < FRAMES; i++)
			need(gf_frame_parse(
				 load->frames[i], load->frame_bytes[i], 0, &info, NULL) == GF_OK &&
				 gf_decode(decoder, &info, load->frames[i], mask, &batch, NULL) ==
				     GF_OK,
			    "decoding");
		cost[run] = (seconds() - start) * 1e9 / (double)records;
		speed[run] = 1e3 / cost[run];
	}
	gf_decoder_free(decoder);
	tell(what, speed, "million records a second");
	return speed[RUNS - 1] < floor;
}

static void write_trace(const struct load *load, const char *path)
{
	static const uint64_t trace_id[2] = {1, 2};
	unsigned char header[GF_TRACE_HEADER_BYTES];
	FILE *file = fopen(path, "wb");
	need(file != NULL, "creating the trace");
	gf_trace_header(header, trace_id);
	fwrite(header, 1, sizeof(header), file);
	for (unsigned i = 0; i < FRAMES; i++)
		fwrite(load->frames[i], 1, load->frame_bytes[i], file);
	need(fclose(file) == 0, "writing the trace");
}

static void bench_merge(const char *path, uint64_t records, int get)
{
	double cost[RUNS];
	uint64_t sum = 0;
	for (unsigned run = 0; run < RUNS; run++) {
		struct gf_reader *reader;
		struct gf_event_ref event;
		struct gf_launch launch;
		struct gf_block block;
		need(gf_reader_open(path, &reader, NULL) == GF_OK, "opening");
		double start = seconds();
		struct gf_merge *merge = gf_merge_open(reader, ~UINT64_C(0));
		while (gf_merge_next(merge, &event, NULL) == GF_OK) {
			sum += event.ticks;
			if (get && event.type == GF_TAG_launch) {
				gf_get_launch(event.batch, event.row, &launch);
				sum += launch.grid_x;
			} else if (get && event.type == GF_TAG_block) {
				gf_get_block(event.batch, event.row, &block);
				sum += block.address;
			}
		}
		gf_merge_close(merge);
		cost[run] = (seconds() - start) * 1e9 / (double)records;
		gf_reader_close(reader);
	}
	__asm__ volatile("" ::"r"(sum));
	tell(get ? "read, merge and get each record" : "read and merge", cost, "ns a record");
}

int main(int argc, char **argv)
{
	struct load load = {.chunks = argc > 1 ? (uint32_t)atoi(argv[1]) : 16};
	unsigned shift = argc > 2 ? (unsigned)atoi(argv[2]) : 6;
	char path[] = "/tmp/bench_formats.XXXXXX";
	uint64_t records = 0, bytes = 0;
	need(load.chunks >= 1 && load.chunks <= GF_FRAME_SOURCE_LIMIT && shift <= 20,
	    "understanding");
	size_t encoder_bytes = (gf_encoder_bytes(load.chunks) + 63) & ~(size_t)63;
	load.memory = aligned_alloc(64, (size_t)load.chunks * GF_CHUNK_BYTES);
	load.encoder =
	    gf_encoder_init(aligned_alloc(64, encoder_bytes), encoder_bytes, load.chunks, shift);
	need(load.memory && load.encoder, "memory");
	make_plan();
	printf("%u chunks a frame, units of %u ticks\n%-44s %8s %8s %8s\n", load.chunks,
	    1u << shift, "", "smallest", "middle", "largest");
	int failed = bench_encode(&load, &records, &bytes);
	failed |= bench_decode(&load, records, "decode all columns", ~UINT64_C(0), DECODE_FLOOR);
	bench_decode(&load, records, "decode blocks alone", UINT64_C(1) << GF_TAG_block, 0);
	bench_decode(&load, records, "decode order alone", 0, 0);
	close(mkstemp(path));
	write_trace(&load, path);
	bench_merge(path, records, 0);
	bench_merge(path, records, 1);
	unlink(path);
	if (failed)
		printf("the ceilings are %.0f ns and %.1f bytes, the floor %.0f million a second\n",
		    ENCODE_CEILING, SIZE_CEILING, DECODE_FLOOR);
	return failed;
}
