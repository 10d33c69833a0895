/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python interpreter of this process: is there one, which, where does it keep its frames.
 *
 * Nothing here calls into Python but PyGILState_GetThisThreadState, which needs no GIL, takes no
 * lock and returns NULL for threads that never met Python.
 */
#ifndef GS_PYTHON_LAYOUT_H
#define GS_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gs_python_lasti { GS_LASTI_BYTES, GS_LASTI_UNITS, GS_LASTI_POINTER };

enum gs_python_state {
	GS_PYTHON_ABSENT,  /* no interpreter found so far */
	GS_PYTHON_FOUND,   /* found, to be tested at the first event that has frames */
	GS_PYTHON_TESTING, /* one thread is at it; the others have no frames meanwhile */
	GS_PYTHON_ON,
	GS_PYTHON_OFF, /* `trouble` says why */
};

#define GS_PYTHON_NONE 0xffffu /* an offset that this version does not have */

/* Byte offsets inside the interpreter's structs; valid from GS_PYTHON_FOUND on and then constant. */
struct gs_python {
	uint16_t version; /* 0x030b is 3.11; 0 as long as there is none */
	uint8_t lasti;    /* enum gs_python_lasti */
	uint8_t line_form; /* enum gf_line_form */
	bool free_threaded;
	uint16_t state_frame, state_inner; /* inner: frame in the C frame, NONE: state has it itself */
	uint16_t frame_code, frame_back, frame_instruction, frame_locals;
	uint16_t frame_owner, frame_entry, frame_copy;
	uint16_t code_first_line, code_file, code_name, code_qualname, code_table, code_bytes;
	uint16_t code_copies;
	uint16_t object_type;
	uint16_t bytes_size, bytes_data;
	uint16_t text_state, text_length, text_ascii, text_other;
	bool usual; /* as in GS_PYTHON_LAYOUTS or GS_PYTHON_USUAL_LAYOUTS */
	uint16_t runtime_ending; /* in _PyRuntime; NONE: not known */
	void *(*thread_state)(void);
	/* State of the thread that ends the interpreter, which frees the states of all others; else 0. */
	const uintptr_t *ending;
	uintptr_t code_type, text_type, bytes_type, cell_type;
};

extern struct gs_python gs_python;

/** In a fork child: a self-test that another thread had begun will not end. */
void gs_python_forget(void);

/** enum gs_python_state now (acquire).  Threads: any. */
static inline int gs_python_state(void)
{
	extern int gs_python_state_now __attribute__((visibility("hidden")));
	return __atomic_load_n(&gs_python_state_now, __ATOMIC_ACQUIRE);
}

/**
 * Look for an interpreter, unless one is known already.
 *
 * Uses dlsym and, for an interpreter inside a library with local scope, dlopen(RTLD_NOLOAD): call
 * it outside every hook and lock, again when libraries were loaded.
 *
 * Threads: one caller at a time.
 */
void gs_python_find(void);

/**
 * Test that the layout fits, once, at the first event of a thread that has Python frames.
 *
 * Reads frames of this thread through gs_safe_read and compares types, lengths and ranges.  The
 * first caller tests, others come back at once.
 *
 * @return whether Python frames may be read now
 */
bool gs_python_test(void);

/** Why Python stacks are off, in words for a notice; NULL unless the state is GS_PYTHON_OFF. */
const char *gs_python_trouble(void);

/** Switch Python stacks off for good.  `why` must be static.  Threads: any. */
void gs_python_disable(const char *why);

/**
 * Fill a layout from the words of _Py_DebugOffsets.
 *
 * @param words    GS_PYTHON_DEBUG_WORDS_LIMIT words from the start of _PyRuntime
 * @param version  0x030d, ...
 * @param out      filled on success
 * @return NULL, or why not (static text)
 */
const char *gs_python_from_debug_words(const uint64_t *words, uint16_t version,
    struct gs_python *out);

#endif
