/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/python_stack.h"

#include "formats/stack_layout.h"
#include "shim/hot.h"
#include "shim/python_layout.h"
#include "shim/python_layouts.h"
#include "shim/stack_hash.h"

#define WORD(address, offset) (*(const uintptr_t *)((address) + (offset)))
#define HALF(address, offset) (*(const uint32_t *)((address) + (offset)))
#define BYTE(address, offset) (*(const uint8_t *)((address) + (offset)))
#define INLINE inline __attribute__((always_inline)) /* the layout is a constant then */

#define WATCH_LIMIT 8
static uintptr_t watched[WATCH_LIMIT];       /* code objects; 0 ends the list */
static uintptr_t watched_marks[WATCH_LIMIT]; /* of theirs: an address may come to another one */
static bool watch_ended;

static INLINE uintptr_t code_mark(const struct gs_python *layout, uintptr_t code)
{
	return WORD(code, layout->code_name) + (WORD(code, layout->code_table) << 16);
}

void gs_python_stack_watch(uintptr_t code)
{
	if (__atomic_load_n(&watch_ended, __ATOMIC_RELAXED))
		return;
	for (unsigned i = 0; i < WATCH_LIMIT; i++) {
		uintptr_t expected = 0;
		if (!__atomic_compare_exchange_n(&watched[i], &expected, code, false,
		    __ATOMIC_RELEASE, __ATOMIC_RELAXED) && expected != code)
			continue;
		__atomic_store_n(&watched_marks[i], code_mark(&gs_python, code), __ATOMIC_RELEASE);
		return;
	}
}

static void clear_watched(void)
{
	for (unsigned i = 0; i < WATCH_LIMIT; i++)
		__atomic_store_n(&watched[i], 0, __ATOMIC_RELAXED);
}

void gs_python_stack_forget(void)
{
	clear_watched();
	__atomic_store_n(&watch_ended, false, __ATOMIC_RELAXED);
}

void gs_python_stack_unwatch(void)
{
	__atomic_store_n(&watch_ended, true, __ATOMIC_RELAXED);
	clear_watched();
}

struct walking {
	uint32_t count;
	uint64_t hash;
	struct gs_python_frame *frames; /* NULL: only the hash is wanted */
	uintptr_t first_watched, second_watched; /* 0: none */
	bool more_watched;
};

static inline struct walking begin_walk(struct gs_python_frame *frames)
{
	return (struct walking){.frames = frames,
	    .first_watched = __atomic_load_n(&watched[0], __ATOMIC_RELAXED),
	    .second_watched = __atomic_load_n(&watched[1], __ATOMIC_RELAXED),
	    .more_watched = __atomic_load_n(&watched[2], __ATOMIC_RELAXED) != 0};
}

/* `self`: the first local; a closure moves it into a cell. */
static uintptr_t first_local(uintptr_t frame)
{
	uintptr_t value = WORD(frame, gs_python.frame_locals) & ~(uintptr_t)GS_PYTHON_STACK_TAGS;
	if (value && WORD(value, gs_python.object_type) == gs_python.cell_type)
		value = WORD(value, gs_python.object_type + sizeof(uintptr_t));
	return value;
}

static __attribute__((cold, noinline)) bool is_watched_still(uintptr_t code)
{
	for (unsigned i = 0; i < WATCH_LIMIT; i++)
		if (__atomic_load_n(&watched[i], __ATOMIC_RELAXED) == code)
			return __atomic_load_n(&watched_marks[i], __ATOMIC_RELAXED) ==
			    code_mark(&gs_python, code);
	return false;
}

/* Nearly always one or two are watched: those are read once a walk, any others from the list. */
static INLINE bool is_watched(const struct walking *walk, const struct gs_python *layout,
    uintptr_t code)
{
	if (code == walk->first_watched)
		return __atomic_load_n(&watched_marks[0], __ATOMIC_RELAXED) == code_mark(layout, code);
	if (code == walk->second_watched)
		return __atomic_load_n(&watched_marks[1], __ATOMIC_RELAXED) == code_mark(layout, code);
	return __builtin_expect(walk->more_watched, 0) && is_watched_still(code);
}

/* Where the bytes begin that the frame's instruction pointer points into. */
static INLINE uintptr_t code_start(const struct gs_python *layout, uintptr_t frame, uintptr_t code)
{
	if (__builtin_expect(layout->frame_copy != GS_PYTHON_NONE, 0)) {
		/* A free-threaded 3.14 gives threads copies: {size, copy 0, copy 1, ...}. */
		uintptr_t copies = WORD(code, layout->code_copies);
		uint32_t index = HALF(frame, layout->frame_copy);
		if (copies && index < WORD(copies, 0))
			return WORD(copies, sizeof(uintptr_t) * (1 + (uintptr_t)index));
	}
	return code + layout->code_bytes;
}

/* The code object's own four marks are part of the hash: a freed and reused address differs. */
static INLINE uint64_t frame_hash(const struct gs_python *layout, uintptr_t code, uint32_t place)
{
	uint64_t line = (uint64_t)HALF(code, layout->code_first_line) << 40;
	uint64_t names = WORD(code, layout->code_file) + (WORD(code, layout->code_name) << 20);
	uint64_t table = WORD(code, layout->code_table) << 16;
	return gs_hash_pair(code ^ table ^ line, names + ((uint64_t)place << 44 | place));
}

static INLINE void add_frame(struct walking *walk, const struct gs_python *layout, uintptr_t frame,
    uintptr_t code, int32_t lasti)
{
	uint32_t place = GF_PLACE(lasti, 0);
	uintptr_t module = 0;
	if (__builtin_expect(is_watched(walk, layout, code), 0)) {
		module = first_local(frame);
		walk->hash = gs_hash_add(walk->hash, module);
	}
	walk->hash = gs_hash_chain(walk->hash, frame_hash(layout, code, place));
	if (walk->frames)
		walk->frames[walk->count] =
		    (struct gs_python_frame){.code = code, .module = module, .place = place};
	walk->count++;
}

/* The newest frame is the one with which a C call began. */
static INLINE void mark_entry(struct walking *walk)
{
	if (walk->frames && walk->count)
		walk->frames[walk->count - 1].place |= GF_PLACE_ENTRY;
}

/* 3.8 to 3.10: frame objects, each run by its own C call of the interpreter. */
static INLINE uintptr_t walk_objects(struct walking *walk, const struct gs_python *layout,
    uintptr_t frame)
{
	int32_t unit = layout->lasti == GS_LASTI_UNITS ? 2 : 1;
	for (; frame && walk->count < GS_PYTHON_FRAMES_LIMIT;
	     frame = WORD(frame, layout->frame_back)) {
		int32_t lasti = (int32_t)HALF(frame, layout->frame_instruction) * unit;
		add_frame(walk, layout, frame, WORD(frame, layout->frame_code), lasti);
		mark_entry(walk);
	}
	return frame;
}

/*
 * From 3.12 on a constructor that ran often gets a frame of the interpreter's own below it, whose code
 * has one text as file and name.
 */
static INLINE bool is_trampoline(const struct gs_python *layout, uintptr_t code)
{
	return layout->version >= 0x030c &&
	    WORD(code, layout->code_file) == WORD(code, layout->code_name);
}

/* 3.11: a flag marks the frame with which a C call began; later: the frame behind is the
 * interpreter's own. */
static INLINE uintptr_t walk_frames(struct walking *walk, const struct gs_python *layout,
    uintptr_t frame)
{
	bool has_flag = layout->frame_entry != GS_PYTHON_NONE;
	uintptr_t tags = layout->version >= 0x030e ? GS_PYTHON_STACK_TAGS : 0;
	for (; frame && walk->count < GS_PYTHON_FRAMES_LIMIT;
	     frame = WORD(frame, layout->frame_back)) {
		if (BYTE(frame, layout->frame_owner) >= GS_PYTHON_OWNER_SHIM) {
			mark_entry(walk);
			continue;
		}
		uintptr_t code = WORD(frame, layout->frame_code) & ~tags;
		uintptr_t instruction = WORD(frame, layout->frame_instruction);
		if (__builtin_expect(is_trampoline(layout, code), 0))
			continue;
		add_frame(walk, layout, frame, code,
		    (int32_t)(instruction - code_start(layout, frame, code)));
		if (has_flag && BYTE(frame, layout->frame_entry))
			mark_entry(walk);
	}
	return frame;
}

static INLINE uintptr_t walk_layout(struct walking *walk, const struct gs_python *layout,
    uintptr_t frame)
{
	return layout->lasti == GS_LASTI_POINTER ? walk_frames(walk, layout, frame)
						 : walk_objects(walk, layout, frame);
}

/* Hashing is compiled once for each version of the table, with its offsets as constants. */
static GS_HOT uint64_t hash_version(uintptr_t frame)
{
	struct walking walk = begin_walk(NULL);
	switch (gs_python.usual ? gs_python.version : 0) {
#define ROW(major, minor, kind, ...) \
	case (major) << 8 | (minor): { \
		static const struct gs_python layout = \
		    GS_PYTHON_LAYOUT(major, minor, kind, __VA_ARGS__); \
		walk_layout(&walk, &layout, frame); \
		return walk.hash; \
	}
		GS_PYTHON_LAYOUTS(ROW)
		GS_PYTHON_USUAL_LAYOUTS(ROW)
#undef ROW
	default: walk_layout(&walk, &gs_python, frame); return walk.hash;
	}
}

/* Whether somebody else ends the interpreter: from then on the state of this thread may be freed. */
static INLINE bool outlives(uintptr_t thread)
{
	uintptr_t ending = __atomic_load_n(gs_python.ending, __ATOMIC_RELAXED);
	return __builtin_expect(ending != 0, 0) && ending != thread;
}

/* This thread's innermost frame, 0 if there is none or Python stacks are off. */
static inline uintptr_t innermost_frame(void)
{
	int state = gs_python_state();
	if (state != GS_PYTHON_ON && (state != GS_PYTHON_FOUND || !gs_python_test()))
		return 0;
	uintptr_t thread = (uintptr_t)gs_python.thread_state();
	if (!thread || outlives(thread))
		return 0;
	uintptr_t frame = WORD(thread, gs_python.state_frame);
	/* The end may have begun before that was read: then it is what malloc left there. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!frame || outlives(thread))
		return 0;
	return gs_python.state_inner != GS_PYTHON_NONE ? WORD(frame, gs_python.state_inner) : frame;
}

GS_HOT uint64_t gs_python_stack_hash(void)
{
	uintptr_t frame = innermost_frame();
	return frame ? hash_version(frame) : 0;
}

bool gs_python_stack_walk(struct gs_python_walk *walk)
{
	struct walking walking = begin_walk(walk->frames);
	walk->cut = walk_layout(&walking, &gs_python, innermost_frame()) != 0;
	walk->count = walking.count;
	return walk->count > 0;
}
