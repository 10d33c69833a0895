/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/python_layout.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "formats/stack_layout.h"
#include "shim/python_layouts.h"
#include "shim/safe_read.h"

struct gs_python gs_python;

int gs_python_state_now;
static const char *python_trouble;

const char *gs_python_trouble(void)
{
	return gs_python_state() == GS_PYTHON_OFF
	    ? __atomic_load_n(&python_trouble, __ATOMIC_RELAXED)
	    : NULL;
}

void gs_python_disable(const char *why)
{
	__atomic_store_n(&python_trouble, why, __ATOMIC_RELAXED);
	__atomic_store_n(&gs_python_state_now, GS_PYTHON_OFF, __ATOMIC_RELEASE);
}

/* ---- layouts ---- */

static bool layout_from_table(uint16_t version, struct gs_python *out)
{
	static const struct gs_python layouts[] = {
#define ROW(...) GS_PYTHON_LAYOUT(__VA_ARGS__),
	    GS_PYTHON_LAYOUTS(ROW)
#undef ROW
	};
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (layouts[i].version == version) {
			*out = layouts[i];
			out->usual = true;
			return true;
		}
	}
	return false;
}

/* Words of _Py_DebugOffsets are small and, but for the sizes, not 0 at will. */
static bool take_word(const uint64_t *words, int index, uint64_t limit, uint16_t *out)
{
	if (index < 0) {
		*out = GS_PYTHON_NONE;
		return true;
	}
	*out = (uint16_t)words[index];
	return words[index] < limit;
}

static bool words_to_layout(const uint64_t *words, uint16_t version, struct gs_python *out)
{
	uint16_t frame_size = 0, code_size = 0;
	bool good = false;
	switch (version) {
#define ROW(major, minor, ending, state, frame_bytes, back, code, instruction, locals, owner, copy, \
    code_object, file, name, qualname, table, first_line, bytes, copies, type, bytes_count, \
    bytes_start, unicode_state, unicode_length, ascii) \
	case (major) << 8 | (minor): \
		good = take_word(words, ending, 4096, &out->runtime_ending) && \
		    take_word(words, state, 4096, &out->state_frame) && \
		    take_word(words, frame_bytes, 512, &frame_size) && \
		    take_word(words, code_object, 1024, &code_size) && \
		    take_word(words, back, frame_size, &out->frame_back) && \
		    take_word(words, code, frame_size, &out->frame_code) && \
		    take_word(words, instruction, frame_size, &out->frame_instruction) && \
		    take_word(words, locals, frame_size, &out->frame_locals) && \
		    take_word(words, owner, frame_size, &out->frame_owner) && \
		    take_word(words, copy, frame_size, &out->frame_copy) && \
		    take_word(words, file, code_size, &out->code_file) && \
		    take_word(words, name, code_size, &out->code_name) && \
		    take_word(words, qualname, code_size, &out->code_qualname) && \
		    take_word(words, table, code_size, &out->code_table) && \
		    take_word(words, first_line, code_size, &out->code_first_line) && \
		    take_word(words, bytes, code_size, &out->code_bytes) && \
		    take_word(words, copies, code_size, &out->code_copies) && \
		    take_word(words, type, 64, &out->object_type) && \
		    take_word(words, bytes_count, 64, &out->bytes_size) && \
		    take_word(words, bytes_start, 64, &out->bytes_data) && \
		    take_word(words, unicode_state, 64, &out->text_state) && \
		    take_word(words, unicode_length, 64, &out->text_length) && \
		    take_word(words, ascii, 96, &out->text_ascii); \
		break;
		GS_PYTHON_DEBUG_WORDS(ROW)
#undef ROW
	default:
		break;
	}
	return good;
}

static bool is_usual(const struct gs_python *layout)
{
	static const struct gs_python layouts[] = {
#define ROW(...) GS_PYTHON_LAYOUT(__VA_ARGS__),
	    GS_PYTHON_USUAL_LAYOUTS(ROW)
#undef ROW
	};
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (memcmp(layout, &layouts[i], offsetof(struct gs_python, usual)) == 0)
			return true;
	return false;
}

const char *gs_python_from_debug_words(const uint64_t *words, uint16_t version,
    struct gs_python *out)
{
	struct gs_python layout = {.version = version, .lasti = GS_LASTI_POINTER,
	    .line_form = GF_LINE_PLACES, .state_inner = GS_PYTHON_NONE,
	    .frame_entry = GS_PYTHON_NONE, .free_threaded = words[2] == 1};
	if (memcmp(words, GS_PYTHON_DEBUG_COOKIE, sizeof(words[0])) != 0)
		return "Python stacks are off: the interpreter's _PyRuntime has no debug offsets";
	if ((words[1] >> 16 & 0xffff) != version || words[2] > 1)
		return "Python stacks are off: the debug offsets are those of another version";
	if (!words_to_layout(words, version, &layout))
		return "Python stacks are off: the interpreter is newer than this version knows, or its debug offsets make no sense";
	/* A wider text has two more words behind the ASCII struct: UTF-8 length and pointer. */
	layout.text_other = layout.text_ascii + 16;
	if (!layout.free_threaded) /* only there may a thread run a copy of the code */
		layout.frame_copy = layout.code_copies = GS_PYTHON_NONE;
	layout.usual = is_usual(&layout);
	*out = layout;
	return NULL;
}

/* ---- the interpreter ---- */

static int find_python_library(struct dl_phdr_info *info, size_t size, void *context)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	const char *name = slash ? slash + 1 : info->dlpi_name;
	char *path = context;
	if (strncmp(name, "libpython3", 10) != 0 || strlen(info->dlpi_name) >= PATH_MAX)
		return 0;
	strcpy(path, info->dlpi_name);
	return 1;
}

/* The scope that has Python: the global one, else that of a libpython loaded with local scope. */
static bool python_scope(void **scope_out)
{
	static char path[PATH_MAX];
	*scope_out = RTLD_DEFAULT;
	if (dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"))
		return true;
	path[0] = 0;
	dl_iterate_phdr(find_python_library, path);
	*scope_out = path[0] ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	return *scope_out != NULL;
}

static uint16_t python_version(void *scope)
{
	const unsigned long *number = dlsym(scope, "Py_Version"); /* 3.11 and later */
	if (number)
		return (uint16_t)(*number >> 16);
	const char *(*text)(void) = (const char *(*)(void))dlsym(scope, "Py_GetVersion");
	if (!text)
		return 0;
	char *end;
	unsigned long major = strtoul(text(), &end, 10);
	unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
	return (uint16_t)(major << 8 | (minor & 0xff));
}

static const char *find_layout(const void *runtime, uint16_t version, struct gs_python *out)
{
	uint64_t words[GS_PYTHON_DEBUG_WORDS_LIMIT];
	if (layout_from_table(version, out))
		return NULL;
	if (version < 0x030d)
		return "Python stacks are off: the interpreter is older than 3.8";
	if (!runtime || !gs_safe_read((uintptr_t)runtime, words, sizeof(words)))
		return "Python stacks are off: the interpreter does not export _PyRuntime";
	return gs_python_from_debug_words(words, version, out);
}

/* Nobody ends the interpreter now: a word that is not 0 is another one. */
static const uintptr_t *find_ending(const void *runtime, const struct gs_python *layout)
{
	static const uintptr_t never;
	const uintptr_t *word = (const void *)((const char *)runtime + layout->runtime_ending);
	return runtime && layout->runtime_ending && layout->runtime_ending != GS_PYTHON_NONE && !*word
	    ? word
	    : &never;
}

void gs_python_find(void)
{
	struct gs_python found = {0};
	void *scope;
	if (gs_python_state() != GS_PYTHON_ABSENT || !python_scope(&scope))
		return;
	uint16_t version = python_version(scope);
	if (!version)
		return;
	const void *runtime = dlsym(scope, "_PyRuntime");
	const char *trouble = find_layout(runtime, version, &found);
	found.ending = find_ending(runtime, &found);
	found.thread_state = (void *(*)(void))dlsym(scope, "PyGILState_GetThisThreadState");
	found.code_type = (uintptr_t)dlsym(scope, "PyCode_Type");
	found.text_type = (uintptr_t)dlsym(scope, "PyUnicode_Type");
	found.bytes_type = (uintptr_t)dlsym(scope, "PyBytes_Type");
	found.cell_type = (uintptr_t)dlsym(scope, "PyCell_Type");
	if (!trouble && (!found.thread_state || !found.code_type || !found.text_type ||
	    !found.bytes_type || !found.cell_type))
		trouble = "Python stacks are off: the interpreter does not export what is needed";
	if (trouble) {
		gs_python_disable(trouble);
		return;
	}
	gs_python = found;
	__atomic_store_n(&gs_python_state_now, GS_PYTHON_FOUND, __ATOMIC_RELEASE);
}

/* ---- self-test ---- */

static bool read_word(uintptr_t address, uintptr_t *out)
{
	return gs_safe_read(address, out, sizeof(*out));
}

static bool test_object(uintptr_t object, uintptr_t type)
{
	uintptr_t got;
	return object && !(object & 7) && read_word(object + gs_python.object_type, &got) &&
	    got == type;
}

static bool test_text(uintptr_t code, uint16_t offset, bool may_be_empty)
{
	uintptr_t text, length;
	return read_word(code + offset, &text) && test_object(text, gs_python.text_type) &&
	    read_word(text + gs_python.text_length, &length) && length < 65536 &&
	    (length > 0 || may_be_empty);
}

static bool test_code(uintptr_t code)
{
	uintptr_t table, length;
	int32_t line;
	return test_object(code, gs_python.code_type) && test_text(code, gs_python.code_file, true) &&
	    test_text(code, gs_python.code_name, false) &&
	    (gs_python.code_qualname == GS_PYTHON_NONE ||
		test_text(code, gs_python.code_qualname, false)) &&
	    read_word(code + gs_python.code_table, &table) &&
	    test_object(table, gs_python.bytes_type) &&
	    read_word(table + gs_python.bytes_size, &length) && length < (64u << 20) &&
	    gs_safe_read(code + gs_python.code_first_line, &line, sizeof(line)) && line >= 0 &&
	    line < 100000000;
}

static bool test_instruction(uintptr_t frame, uintptr_t code)
{
	uintptr_t word = 0;
	int32_t number;
	if (gs_python.lasti != GS_LASTI_POINTER)
		return gs_safe_read(frame + gs_python.frame_instruction, &number, sizeof(number)) &&
		    number >= -1 && number < (64 << 20);
	if (!read_word(frame + gs_python.frame_instruction, &word))
		return false;
	if (gs_python.frame_copy != GS_PYTHON_NONE) /* it may run in a copy of the code */
		return gs_safe_probe(word);
	/* Before its first instruction a frame points just in front of the code. */
	return word + 8 >= code + gs_python.code_bytes &&
	    word < code + gs_python.code_bytes + (64u << 20);
}

#define TEST_FRAMES_LIMIT 256 /* innermost frames to test: each costs some system calls */

static bool test_frame(uintptr_t frame, uintptr_t *back_out)
{
	uintptr_t code;
	uint8_t owner = 0;
	if ((frame & 7) || !read_word(frame + gs_python.frame_back, back_out))
		return false;
	if (gs_python.frame_owner != GS_PYTHON_NONE &&
	    (!gs_safe_read(frame + gs_python.frame_owner, &owner, 1) || owner > 8))
		return false;
	if (owner >= GS_PYTHON_OWNER_SHIM)
		return true;
	if (!read_word(frame + gs_python.frame_code, &code))
		return false;
	if (gs_python.version >= 0x030e)
		code &= ~(uintptr_t)GS_PYTHON_STACK_TAGS;
	return test_code(code) && test_instruction(frame, code);
}

/* @return 1 all frames are right, 0 there are none, -1 something is wrong */
static int test_frames(void)
{
	uintptr_t state = (uintptr_t)gs_python.thread_state();
	uintptr_t frame = 0;
	unsigned count = 0;
	if (!state)
		return 0;
	if (!read_word(state + gs_python.state_frame, &frame))
		return -1;
	if (gs_python.state_inner != GS_PYTHON_NONE && frame &&
	    !read_word(frame + gs_python.state_inner, &frame))
		return -1;
	for (; frame; count++)
		if (count >= TEST_FRAMES_LIMIT || !test_frame(frame, &frame))
			return count >= TEST_FRAMES_LIMIT ? 1 : -1;
	return count > 0;
}

void gs_python_forget(void)
{
	int testing = GS_PYTHON_TESTING;
	__atomic_compare_exchange_n(&gs_python_state_now, &testing, GS_PYTHON_FOUND, false,
	    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool gs_python_test(void)
{
	int expected = GS_PYTHON_FOUND;
	if (!__atomic_compare_exchange_n(&gs_python_state_now, &expected, GS_PYTHON_TESTING, false,
	    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return expected == GS_PYTHON_ON;
	int result = test_frames();
	if (result < 0) {
		gs_python_disable("Python stacks are off: the interpreter's frames are not as expected");
		return false;
	}
	__atomic_store_n(&gs_python_state_now, result ? GS_PYTHON_ON : GS_PYTHON_FOUND, __ATOMIC_RELEASE);
	return result > 0;
}
