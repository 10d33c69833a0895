/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where CPython keeps what a stack walk reads, by version.  64-bit release builds.
 *
 * Up to 3.12 the offsets are a table, taken from the headers of each release.  From 3.13 the
 * interpreter tells them itself: _Py_DebugOffsets at the start of _PyRuntime is an array of 8-byte
 * words, and the table says which word holds what.
 */
#ifndef GS_PYTHON_LAYOUTS_H
#define GS_PYTHON_LAYOUTS_H

/* How a frame tells its instruction. */
#define GS_PYTHON_LASTI_KINDS(K) \
	K(BYTES, "int, bytes") \
	K(UNITS, "int, units of 2 bytes") \
	K(POINTER, "address inside the code object")

/*
 * ROW(major, minor, lasti, line table form,
 *     thread state: frame, C frame's frame (-1: the state points to the frame itself),
 *     frame: code, back, instruction, locals, owner, entry (-1: not there),
 *     code: first line, file name, name, qualified name (-1: not there), line table, code bytes,
 *     compact ASCII data, other compact data, _PyRuntime: thread that ends the interpreter)
 */
#define GS_PYTHON_LAYOUTS(ROW) \
	ROW(3, 8, BYTES, LNOTAB, 24, -1, 32, 24, 104, 360, -1, -1, 40, 104, 112, -1, 120, 48, 48, 72, 16) \
	ROW(3, 9, BYTES, LNOTAB, 24, -1, 32, 24, 104, 360, -1, -1, 40, 104, 112, -1, 120, 48, 48, 72, 16) \
	ROW(3, 10, UNITS, LINES, 24, -1, 32, 24, 96, 352, -1, -1, 40, 104, 112, -1, 120, 48, 48, 72, 16) \
	ROW(3, 11, POINTER, PLACES, 56, 8, 32, 48, 56, 72, 69, 68, 72, 112, 120, 128, 136, 184, 48, 72, 24) \
	ROW(3, 12, POINTER, PLACES, 56, 0, 0, 8, 56, 72, 70, -1, 68, 112, 120, 128, 136, 192, 40, 56, 24)

/*
 * What the debug offsets of release builds say, in the same form: only to compile the walk for them.
 * A build with other offsets is walked by the offsets that it tells, and who ends it they always tell.
 */
#define GS_PYTHON_USUAL_LAYOUTS(ROW) \
	ROW(3, 13, POINTER, PLACES, 72, -1, 0, 8, 56, 72, 70, -1, 68, 112, 120, 128, 136, 200, 40, 56, -1) \
	ROW(3, 14, POINTER, PLACES, 72, -1, 0, 8, 56, 80, 74, -1, 68, 112, 120, 128, 136, 208, 40, 56, -1)

/* The layout that a row says, as the initialiser of a struct gs_python. */
#define GS_PYTHON_OFFSET(value) ((value) < 0 ? GS_PYTHON_NONE : (uint16_t)(value))
#define GS_PYTHON_LAYOUT(major, minor, lasti_kind, form, state, inner, code, back, instruction, \
    locals, owner, entry, first_line, file, name, qualname, table, bytes, ascii, other, ending) \
	{ \
		.version = (major) << 8 | (minor), .lasti = GS_LASTI_##lasti_kind, \
		.line_form = GF_LINE_##form, .state_frame = (state), \
		.state_inner = GS_PYTHON_OFFSET(inner), .frame_code = (code), .frame_back = (back), \
		.frame_instruction = (instruction), .frame_locals = (locals), \
		.frame_owner = GS_PYTHON_OFFSET(owner), .frame_entry = GS_PYTHON_OFFSET(entry), \
		.frame_copy = GS_PYTHON_NONE, .code_first_line = (first_line), .code_file = (file), \
		.code_name = (name), .code_qualname = GS_PYTHON_OFFSET(qualname), \
		.code_table = (table), .code_bytes = (bytes), .code_copies = GS_PYTHON_NONE, \
		.object_type = 8, .bytes_size = 16, .bytes_data = 32, .text_state = 32, \
		.text_length = 16, .text_ascii = (ascii), .text_other = (other), \
		.runtime_ending = GS_PYTHON_OFFSET(ending), \
	}

/*
 * ROW(major, minor, word of each: thread that ends the interpreter;
 *     thread state: frame; frame: size, back, code, instruction, locals, owner, copy index (-1: none),
 *     code: size, file name, name, qualified name, line table, first line, code bytes, copies (-1),
 *     object: type; bytes: size, data; unicode: state, length, size of the ASCII struct)
 */
#define GS_PYTHON_DEBUG_WORDS(ROW) \
	ROW(3, 13, 4, 23, 28, 29, 30, 31, 32, 33, -1, 34, 35, 36, 37, 38, 39, 43, -1, 45, 65, 66, 68, 69, 70) \
	ROW(3, 14, 4, 26, 31, 32, 33, 34, 35, 36, 38, 39, 40, 41, 42, 43, 44, 48, 49, 51, 75, 76, 78, 79, 80)

#define GS_PYTHON_DEBUG_COOKIE "xdebugpy"
#define GS_PYTHON_DEBUG_WORDS_LIMIT 96 /* words to read of _Py_DebugOffsets */
#define GS_PYTHON_OWNER_SHIM 3         /* frame owners from here on are the interpreter's own */
#define GS_PYTHON_STACK_TAGS 3u        /* low bits of a tagged reference (3.14) */

#endif
