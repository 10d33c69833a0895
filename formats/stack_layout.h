/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of the definitions that stand behind a stack id: TEXT records of the kinds STACK, CODE and
 * LIBRARY.  A definition is written once; records name a stack by `stack_id` (0: none), a stack
 * names its code objects by id and its native frames by address.
 *
 * Numbers are little-endian.  A reader checks every count against the length of the text and
 * refuses what does not fit.  New fields go between head and lists: `head_bytes` tells where the
 * lists begin.
 */
#ifndef GF_STACK_LAYOUT_H
#define GF_STACK_LAYOUT_H

#include <stdint.h>

/* STACK, innermost frame first: head, Python frames, native return addresses, module pointers. */
struct gf_stack_head {
	uint16_t head_bytes;
	uint16_t python_count;
	uint16_t native_count;
	uint16_t module_count;
	uint32_t flags;         /* GF_STACK_* */
	uint32_t forward_stack; /* backward: stack of the forward call, 0 if unknown or none */
};
#define GF_STACK_PYTHON_CUT 0x1u /* outer Python frames are missing */
#define GF_STACK_NATIVE_CUT 0x2u /* outer native frames are missing */

struct gf_stack_python {
	uint32_t code; /* id of a CODE text */
	uint32_t place; /* GF_PLACE_* */
};
#define GF_PLACE_ENTRY 0x1u /* the interpreter's C function begins here: outermost of its frames */
#define GF_PLACE_LASTI(place) ((int32_t)(place) >> 1) /* instruction, bytes; below 0: not begun */
#define GF_PLACE(lasti, entry) ((uint32_t)(lasti) << 1 | ((entry) ? GF_PLACE_ENTRY : 0u))

/* `self` of a frame of torch.nn.Module's call: which layer was running. */
struct gf_stack_module {
	uint64_t address;
	uint32_t frame; /* index of the Python frame */
	uint32_t reserved_zero;
};

/* CODE: head, file name, qualified name, then bytes of the line table from table_offset on.  A
 * long table comes in several texts of the same id; names are in the first. */
struct gf_code_head {
	uint16_t head_bytes;
	uint8_t form; /* enum gf_line_form */
	uint8_t reserved_zero;
	uint16_t file_bytes;
	uint16_t name_bytes;
	uint32_t first_line;
	uint32_t table_offset;
	uint32_t table_bytes; /* of the whole table */
	uint32_t reserved_zero2;
};

enum gf_line_form {
	GF_LINE_NONE,
	GF_LINE_LNOTAB, /* CPython up to 3.9: co_lnotab */
	GF_LINE_LINES,  /* 3.10: co_linetable */
	GF_LINE_PLACES, /* 3.11 and later: co_linetable with columns */
};

/* LIBRARY: head, build id, path.  Addresses in [start, end) belong to it until another library is
 * told for them; the file's own addresses are address - bias. */
struct gf_library_head {
	uint16_t head_bytes;
	uint16_t build_id_bytes;
	uint32_t path_bytes;
	uint64_t bias;
	uint64_t start;
	uint64_t end;
};

_Static_assert(sizeof(struct gf_stack_head) == 16, "stack head");
_Static_assert(sizeof(struct gf_stack_python) == 8, "Python frame");
_Static_assert(sizeof(struct gf_stack_module) == 16, "module of a frame");
_Static_assert(sizeof(struct gf_code_head) == 24, "code head");
_Static_assert(sizeof(struct gf_library_head) == 32, "library head");

#endif
