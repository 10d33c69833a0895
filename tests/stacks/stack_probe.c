/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack machinery as a library that Python loads with ctypes: no Python header, so one build
 * serves every interpreter, and ctypes gives the GIL up around each call.
 *
 * Definitions are collected in memory.  probe_describe() tells the Python part of the caller's stack
 * as text, one "file:line function" a line, innermost first.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/python_lines.h"
#include "formats/stack_layout.h"
#include "shim/call_stack.h"
#include "shim/python_layout.h"

#define EXPORT __attribute__((visibility("default")))
#define LIMIT 100000u

EXPORT int probe_start(int parts);
EXPORT void probe_refuse(int yes);
EXPORT unsigned probe_take(void);
EXPORT int probe_state(void);
EXPORT const char *probe_trouble(void);
EXPORT void probe_disable(void);
EXPORT unsigned probe_definitions(int of_codes);
EXPORT size_t probe_text(unsigned id, char *out, size_t room);
EXPORT void probe_counts(unsigned id, unsigned *counts);
EXPORT uint64_t probe_module(unsigned id, unsigned index);
EXPORT uint64_t probe_address(unsigned id, unsigned index);
EXPORT double probe_cost(unsigned rounds);
EXPORT void probe_follow(void);
EXPORT unsigned probe_followed(void);

struct text {
	unsigned char *bytes;
	uint32_t length;
};

/* By kind (STACK, CODE or other) and id; a CODE in pieces is put together. */
static struct text stacks[LIMIT], codes[LIMIT];
static unsigned code_count, stack_count;
static bool refuse; /* no room for definitions */

/*
 * A number is known to all threads before its definition is written.  Takers share the lock, readers of
 * definitions wait till they are done: what was given out is defined then.
 */
static pthread_rwlock_t taking = PTHREAD_RWLOCK_INITIALIZER;

static void store(struct text *text, const void *bytes, uint32_t length)
{
	free(text->bytes);
	text->bytes = malloc(length + 1);
	text->length = length;
	memcpy(text->bytes, bytes, length);
}

static void store_code(struct text *text, const unsigned char *bytes, uint32_t length)
{
	struct gf_code_head head;
	memcpy(&head, bytes, sizeof(head));
	if (head.table_offset == 0) {
		store(text, bytes, length);
		return;
	}
	text->bytes = realloc(text->bytes, text->length + length);
	memcpy(text->bytes + text->length, bytes + sizeof(head), length - sizeof(head));
	text->length += length - (uint32_t)sizeof(head);
}

static bool append(void *context, enum gf_text_kind kind, uint32_t id, const void *bytes,
    uint32_t length)
{
	if (refuse || length > GF_TEXT_MAX_BYTES)
		return false;
	if (kind == GF_TEXT_STACK && id < LIMIT) {
		store(&stacks[id], bytes, length);
		stack_count++;
	}
	if (kind == GF_TEXT_CODE && id < LIMIT) {
		store_code(&codes[id], bytes, length);
		code_count++;
	}
	return true;
}

int probe_start(int parts)
{
	uint8_t uses[GS_STACK_USES] = {(uint8_t)parts, (uint8_t)parts, (uint8_t)parts};
	const char *trouble = gs_stack_init(uses, append);
	if (trouble)
		fprintf(stderr, "probe: %s\n", trouble);
	return trouble == NULL;
}

void probe_refuse(int yes)
{
	refuse = yes;
}

unsigned probe_take(void)
{
	pthread_rwlock_rdlock(&taking);
	unsigned id = gs_stack_take(GS_STACK_ALLOCATION, NULL);
	pthread_rwlock_unlock(&taking);
	return id;
}

/* Returns once all takes that have begun are over. */
static void wait_for_takers(void)
{
	pthread_rwlock_wrlock(&taking);
	pthread_rwlock_unlock(&taking);
}

int probe_state(void)
{
	return gs_python_state();
}

const char *probe_trouble(void)
{
	return gs_python_trouble();
}

void probe_disable(void)
{
	gs_python_disable("told to");
}

unsigned probe_definitions(int of_codes)
{
	return of_codes ? code_count : stack_count;
}

static size_t describe_frame(const struct gf_stack_python *frame, char *out, size_t room)
{
	struct gf_code_head head;
	const struct text *code = &codes[frame->code];
	if (!frame->code || frame->code >= LIMIT || !code->bytes)
		return (size_t)snprintf(out, room, "?\n");
	memcpy(&head, code->bytes, sizeof(head));
	const char *file = (const char *)code->bytes + sizeof(head);
	const char *name = file + head.file_bytes;
	const unsigned char *table = (const unsigned char *)name + head.name_bytes;
	uint32_t line = ga_python_line(head.form, table, head.table_bytes, head.first_line,
	    GF_PLACE_LASTI(frame->place));
	return (size_t)snprintf(out, room, "%.*s:%u %.*s\n", head.file_bytes, file, line,
	    head.name_bytes, name);
}

/* Text of a stack; returns its length, cut at `room`. */
size_t probe_text(unsigned id, char *out, size_t room)
{
	struct gf_stack_head head;
	size_t used = 0;
	out[0] = 0;
	wait_for_takers();
	if (!id || id >= LIMIT || !stacks[id].bytes)
		return 0;
	memcpy(&head, stacks[id].bytes, sizeof(head));
	const struct gf_stack_python *frames = (const void *)(stacks[id].bytes + head.head_bytes);
	for (unsigned i = 0; i < head.python_count && used + 8192 < room; i++)
		used += describe_frame(&frames[i], out + used, room - used);
	return used;
}

/* counts[0..3]: Python frames, native frames, entry marks, module pointers; flags in [4] */
void probe_counts(unsigned id, unsigned *counts)
{
	struct gf_stack_head head;
	memset(counts, 0, 5 * sizeof(*counts));
	wait_for_takers();
	if (!id || id >= LIMIT || !stacks[id].bytes)
		return;
	memcpy(&head, stacks[id].bytes, sizeof(head));
	const struct gf_stack_python *frames = (const void *)(stacks[id].bytes + head.head_bytes);
	counts[0] = head.python_count;
	counts[1] = head.native_count;
	for (unsigned i = 0; i < head.python_count; i++)
		counts[2] += frames[i].place & GF_PLACE_ENTRY;
	counts[3] = head.module_count;
	counts[4] = head.flags;
}

uint64_t probe_module(unsigned id, unsigned index)
{
	struct gf_stack_head head;
	struct gf_stack_module module;
	memcpy(&head, stacks[id].bytes, sizeof(head));
	memcpy(&module, stacks[id].bytes + head.head_bytes + head.python_count * 8u +
		head.native_count * 8u + index * sizeof(module),
	    sizeof(module));
	return module.address;
}

uint64_t probe_address(unsigned id, unsigned index)
{
	struct gf_stack_head head;
	uint64_t address;
	memcpy(&head, stacks[id].bytes, sizeof(head));
	memcpy(&address, stacks[id].bytes + head.head_bytes + head.python_count * 8u + index * 8u, 8);
	return address;
}

/* Nanoseconds of one gs_stack_take from here: the best of `rounds` thousands, as machines are busy. */
double probe_cost(unsigned rounds)
{
	double best = 1e9;
	for (unsigned round = 0; round < rounds; round++) {
		struct timespec from, to;
		clock_gettime(CLOCK_MONOTONIC, &from);
		for (unsigned i = 0; i < 1000; i++)
			gs_stack_take(GS_STACK_ALLOCATION, NULL);
		clock_gettime(CLOCK_MONOTONIC, &to);
		double ns = (double)(to.tv_sec - from.tv_sec) * 1e6 +
		    (double)(to.tv_nsec - from.tv_nsec) / 1e3;
		if (ns < best)
			best = ns;
	}
	return best;
}

/* A thread that outlives the interpreter: how many Python frames its newest stack has. */
static unsigned followed;

void probe_follow(void)
{
	for (;;) {
		unsigned now[5];
		probe_counts(probe_take(), now);
		__atomic_store_n(&followed, now[0], __ATOMIC_RELEASE);
	}
}

unsigned probe_followed(void)
{
	return __atomic_load_n(&followed, __ATOMIC_ACQUIRE);
}
