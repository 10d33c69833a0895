/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/frame_text.h"
#include "analyzer/stacks.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "analyzer/elf_symbols.h"
#include "analyzer/stack_definitions.h"
#include "analyzer/xalloc.h"
#include "formats/stack_layout.h"
#include "tests/stack_trace.h"
#include "tests/test.h"

static const char *path_of_test(void)
{
	static char path[64];
	snprintf(path, sizeof(path), "/tmp/gpushim-test-%d.gst", (int)getpid());
	return path;
}

static struct gf_reader *reader;

static struct ga_stacks *open_stacks(struct trace_builder *trace)
{
	struct gf_block block = {.time = 3, .size = 512};
	trace_add(trace, 1, GF_TAG_block, &block);
	trace_end(trace);
	REQUIRE(gf_reader_open(path_of_test(), &reader, NULL) == GF_OK);
	unlink(path_of_test());
	return ga_stacks_new(reader);
}

static const char *names_of(struct ga_stacks *stacks, uint32_t id)
{
	static char text[1024];
	struct ga_stack found = ga_stacks_frames(stacks, id);
	text[0] = 0;
	for (size_t i = 0; i < found.count; i++) {
		const struct ga_frame *frame = &found.frames[i];
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s", i ? " " : "",
		    frame->forward ? "+" : "", frame->function ? frame->function : "?");
	}
	return text;
}

/* ---- tests ---- */

TEST(python_frames_with_lines)
{
	struct trace_builder *trace = trace_begin(path_of_test());
	st_code(trace, 1, "/home/a/train.py", "Model.forward", 40);
	st_code(trace, 2, "/x/site-packages/torch/nn/functional.py", "linear", 7);
	st_stack(trace, 9, &(struct st_frames){.codes = {2, 1, 7}, .python = 3, .layer = 0x1234});
	struct ga_stacks *stacks = open_stacks(trace);
	struct ga_stack found = ga_stacks_frames(stacks, 9);
	EXPECT_EQ(found.count, 3);
	EXPECT_STR(names_of(stacks, 9), "linear Model.forward ?");
	EXPECT_EQ(found.frames[0].line, 7);
	EXPECT_EQ(found.frames[1].line, 40);
	EXPECT_EQ(found.frames[0].layer, 0x1234);
	EXPECT_EQ(found.frames[1].layer, 0);
	EXPECT_STR(found.frames[1].file, "/home/a/train.py");
	EXPECT(found.frames[2].file == NULL && found.frames[2].line == 0);
	char *text = ga_frame_text(ga_stack_place(&found));
	EXPECT_STR(text, "Model.forward (train.py:40)");
	free(text);
	EXPECT_EQ(ga_stacks_frames(stacks, 0).count, 0);
	EXPECT_EQ(ga_stacks_frames(stacks, 77).count, 0);
	EXPECT_EQ(ga_stacks_frames(NULL, 9).count, 0);
	ga_stacks_free(stacks);
	gf_reader_close(reader);
}

TEST(forward_frames_come_behind)
{
	struct trace_builder *trace = trace_begin(path_of_test());
	st_code(trace, 1, "a.py", "step", 1);
	st_code(trace, 2, "a.py", "hook", 2);
	st_stack(trace, 1, &(struct st_frames){.codes = {1}, .python = 1});
	st_stack(trace, 2, &(struct st_frames){.codes = {2}, .python = 1, .forward = 1});
	st_stack(trace, 3, &(struct st_frames){.forward = 3}); /* of itself: nonsense */
	st_stack(trace, 4, &(struct st_frames){.forward = 99});
	struct ga_stacks *stacks = open_stacks(trace);
	EXPECT_STR(names_of(stacks, 2), "hook +step");
	EXPECT_STR(names_of(stacks, 3), "");
	EXPECT_STR(names_of(stacks, 4), "");
	EXPECT(ga_stacks_site(stacks, 3) && ga_stacks_site(stacks, 99) == 99);
	ga_stacks_free(stacks);
	gf_reader_close(reader);
}

TEST(stacks_that_differ_in_the_layer_are_one_site)
{
	struct trace_builder *trace = trace_begin(path_of_test());
	st_code(trace, 1, "a.py", "call", 1);
	for (uint32_t id = 1; id <= 3; id++)
		st_stack(trace, id, &(struct st_frames){.codes = {1}, .python = 1, .layer = id << 8});
	st_stack(trace, 4, &(struct st_frames){.codes = {1}, .python = 1, .natives = {0x1000}, .native = 1});
	struct ga_stacks *stacks = open_stacks(trace);
	EXPECT_EQ(ga_stacks_site(stacks, 2), 2);
	EXPECT_EQ(ga_stacks_site(stacks, 1), 2);
	EXPECT_EQ(ga_stacks_site(stacks, 3), 2);
	EXPECT_EQ(ga_stacks_site(stacks, 4), 4);
	EXPECT(ga_stacks_frames(stacks, 1).frames[0].layer != ga_stacks_frames(stacks, 2).frames[0].layer);
	ga_stacks_free(stacks);
	gf_reader_close(reader);
}

/* Functions of this program stand for those of a library and of the interpreter. */
void *_PyEval_EvalFrameDefault(void *state);
void *_PyFunction_Vectorcall(void *state);

__attribute__((noinline, used)) void *_PyEval_EvalFrameDefault(void *state)
{
	return state;
}
__attribute__((noinline, used)) void *_PyFunction_Vectorcall(void *state)
{
	return (char *)state + 1;
}
#define INSIDE(function) ((uint64_t)(uintptr_t)(function) + 3) /* as of a call in it */

static uint64_t program_bias(void)
{
	struct link_map *map = NULL;
	Dl_info info;
	dladdr1((void *)program_bias, &info, (void **)&map, RTLD_DL_LINKMAP);
	return map ? map->l_addr : 0;
}

static const char *this_program(void)
{
	static char path[256];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);
	REQUIRE(bytes > 0);
	path[bytes] = 0;
	return path;
}

static void this_program_as(struct trace_builder *trace, uint32_t id, uint64_t shift)
{
	st_library(trace, id, this_program(), program_bias() + shift, 1u << 28, program_bias() + shift);
}

TEST(python_frames_stand_where_the_interpreter_ran_them)
{
	struct trace_builder *trace = trace_begin(path_of_test());
	void *malloc_address = dlsym(RTLD_DEFAULT, "malloc");
	Dl_info libc;
	this_program_as(trace, 1, 0);
	REQUIRE(dladdr(malloc_address, &libc));
	st_library(trace, 2, libc.dli_fname, (uint64_t)(uintptr_t)libc.dli_fbase, 1u << 22,
	    (uint64_t)(uintptr_t)libc.dli_fbase);
	for (uint32_t id = 1; id <= 4; id++)
		st_code(trace, id, "a.py", (const char *[]){"", "one", "two", "three", "four"}[id], id);
	uint64_t inner = (uint64_t)(uintptr_t)malloc_address + 1;
	struct st_frames frames = {.codes = {1, 2, 3, 4}, .entries = {false, true, false, true}, .python = 4,
	    .native = 6,
	    .natives = {inner, INSIDE(_PyEval_EvalFrameDefault), INSIDE(_PyFunction_Vectorcall), inner,
		INSIDE(_PyEval_EvalFrameDefault), 0x10}};
	st_stack(trace, 1, &frames);
	frames.entries[1] = false; /* one call of the interpreter too many on the native side */
	st_stack(trace, 2, &frames);
	frames.native = 1; /* the rest of the native frames is missing */
	st_stack(trace, 3, &frames);
	frames.python = 0; /* then the interpreter's own frames are all there is */
	frames.native = 3;
	st_stack(trace, 4, &frames);
	struct ga_stacks *stacks = open_stacks(trace);
	const struct ga_frame *first = ga_stacks_frames(stacks, 1).frames;
	const char *name = first[0].function ? first[0].function : "?";
	char wanted[256];
	EXPECT(strstr(name, "malloc"));
	EXPECT_STR(first[0].module, libc.dli_fname);
	EXPECT(!first[0].python && first[1].python);
	snprintf(wanted, sizeof(wanted), "%s one two %s three four ?", name, name);
	EXPECT_STR(names_of(stacks, 1), wanted);
	snprintf(wanted, sizeof(wanted), "%s one two three four %s ?", name, name);
	EXPECT_STR(names_of(stacks, 2), wanted);
	snprintf(wanted, sizeof(wanted), "%s one two three four", name);
	EXPECT_STR(names_of(stacks, 3), wanted);
	snprintf(wanted, sizeof(wanted), "%s _PyEval_EvalFrameDefault _PyFunction_Vectorcall", name);
	EXPECT_STR(names_of(stacks, 4), wanted);
	ga_stacks_free(stacks);
	gf_reader_close(reader);
}

/* Loaded, unloaded, and another one loaded where it was: an address alone says nothing. */
TEST(libraries_that_take_turns_at_an_address)
{
	static const char *const names[] = {"/not/here/one.so", "/not/here/two.so"};
	struct trace_builder *trace = trace_begin(path_of_test());
	struct st_frames frames = {.natives = {0x20100, 0x30100}, .native = 2};
	st_library_at(trace, 1, 9, "/not/here/stays.so", 0x30000, 0x1000, 0x30000);
	for (uint32_t id = 1; id <= 6; id++) {
		st_library_at(trace, id * 10, id, names[id % 2], 0x20000, 0x1000, 0x20000);
		for (uint32_t part = 0; part < 3; part++) {
			frames.time = id * 10 + (uint64_t)part * 9 / 2;
			st_stack(trace, id * 3 + part, &frames);
		}
	}
	frames.time = 5; /* before any was seen there: the first */
	st_stack(trace, 100, &frames);
	struct ga_stacks *stacks = open_stacks(trace);
	for (int turn = 0; turn < 2; turn++)
		for (uint32_t id = 6; id >= 1; id--)
			for (uint32_t part = 0; part < 3; part++) {
				struct ga_stack found = ga_stacks_frames(stacks, id * 3 + part);
				REQUIRE(found.count == 2);
				EXPECT_STR(found.frames[0].module, names[id % 2]);
				EXPECT_STR(found.frames[1].module, "/not/here/stays.so");
				EXPECT_EQ(found.frames[0].address, 0x20100);
			}
	EXPECT_STR(ga_stacks_frames(stacks, 100).frames[0].module, names[1]);
	ga_stacks_free(stacks);
	gf_reader_close(reader);
}

TEST(a_library_that_is_not_here)
{
	struct trace_builder *trace = trace_begin(path_of_test());
	st_code(trace, 1, "a.py", "one", 1);
	st_library(trace, 1, "/not/here/libpython3.11.so.1.0", 0x10000, 0x1000, 0x10000);
	st_library(trace, 2, "/not/here/libtorch.so", 0x20000, 0x1000, 0x20000);
	st_stack(trace, 1, &(struct st_frames){.codes = {1}, .python = 1, .native = 3,
			    .natives = {0x20100, 0x10100, 0x20200}});
	struct ga_stacks *stacks = open_stacks(trace);
	EXPECT_STR(names_of(stacks, 1), "? one ?");
	EXPECT_STR(ga_stacks_frames(stacks, 1).frames[0].module, "/not/here/libtorch.so");
	ga_stacks_free(stacks);
	gf_reader_close(reader);
}

/* The same bytes with every length and every one of their first 64 bytes changed. */
TEST(damaged_definitions_are_left_out)
{
	struct st_bytes out = {.count = 0};
	struct gf_stack_head head = {.head_bytes = sizeof(head), .python_count = 2, .native_count = 2,
	    .module_count = 1};
	st_put(&out, &head, sizeof(head));
	out.count += 2 * 8 + 2 * 8 + 16;
	for (unsigned kind = GF_TEXT_LIBRARY; kind <= GF_TEXT_CODE; kind++) {
		struct trace_builder *trace = trace_begin(path_of_test());
		for (uint32_t length = 0; length <= out.count; length++)
			trace_text(trace, 1, 1, kind, length + 1, out.at, length);
		for (uint32_t i = 0; i < out.count; i++) {
			out.at[i] ^= 0xff;
			trace_text(trace, 1, 1, kind, 100 + i, out.at, out.count);
			out.at[i] ^= 0xff;
		}
		struct ga_stacks *stacks = open_stacks(trace);
		for (uint32_t id = 0; id < 200; id++) {
			struct ga_stack found = ga_stacks_frames(stacks, id);
			EXPECT(found.count <= 4);
			EXPECT_EQ(found.count > 0, kind == GF_TEXT_STACK &&
			    (id == out.count + 1 || (id >= 100 + 8 && id < 100 + out.count)));
			ga_stacks_site(stacks, id);
		}
		EXPECT_EQ(ga_stacks_damaged(stacks) > 0, kind != GF_TEXT_UNHOOKED);
		ga_stacks_free(stacks);
		gf_reader_close(reader);
	}
}

/* A piece of a code object's line table. */
static void add_piece(struct trace_builder *trace, uint32_t id, bool named, uint32_t offset, uint32_t whole)
{
	struct st_bytes out = {.count = 0};
	struct gf_code_head head = {.head_bytes = sizeof(head),
	    .form = GF_LINE_LINES,
	    .file_bytes = named,
	    .name_bytes = named,
	    .first_line = 7,
	    .table_offset = offset,
	    .table_bytes = whole};
	st_put(&out, &head, sizeof(head));
	st_put(&out, "fn", named ? 2 : 0);
	st_put(&out, "\xff\x00", 2);
	trace_text(trace, 1, 1, GF_TEXT_CODE, id, out.at, out.count);
}

/* A table takes memory only once its bytes are there, whatever its text claims. */
TEST(line_tables_in_pieces)
{
	struct trace_builder *trace = trace_begin(path_of_test());
	struct ga_definitions definitions;
	add_piece(trace, 1, true, 0, 4);
	add_piece(trace, 1, false, 2, 4);
	add_piece(trace, 2, false, 2, 4); /* the names come late */
	add_piece(trace, 2, true, 0, 4);
	add_piece(trace, 3, true, 0, 16 << 20);
	trace_end(trace);
	REQUIRE(gf_reader_open(path_of_test(), &reader, NULL) == GF_OK);
	ga_definitions_read(&definitions, reader);
	for (uint32_t id = 1; id <= 3; id++) {
		const struct ga_code *code = ga_definitions_code(&definitions, id);
		REQUIRE(code);
		EXPECT_STR(code->function, "n");
		EXPECT((code->table != NULL) == (id < 3));
		EXPECT(!code->table || memcmp(code->table, "\xff\x00\xff\x00", 4) == 0);
	}
	EXPECT_EQ(definitions.damaged, 1);
	ga_definitions_free(&definitions);
	gf_reader_close(reader);
}

static long most_kibibytes(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

TEST(one_symbol_table_named_many_times)
{
	enum { HEADERS = 2000, SYMBOLS = 1000 };
	static struct {
		Elf64_Ehdr head;
		Elf64_Shdr sections[HEADERS];
		Elf64_Sym symbols[SYMBOLS];
		char names[8];
	} file;
	char path[64];
	snprintf(path, sizeof(path), "/tmp/gpushim-test-%d.so", (int)getpid());
	memcpy(file.head.e_ident, ELFMAG, SELFMAG);
	file.head.e_ident[EI_CLASS] = ELFCLASS64;
	file.head.e_ident[EI_DATA] = ELFDATA2LSB;
	file.head.e_shoff = sizeof(file.head);
	file.head.e_shentsize = sizeof(Elf64_Shdr);
	file.head.e_shnum = HEADERS;
	memcpy(file.names, "\0one", 5);
	file.sections[0] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
	    .sh_offset = (uint64_t)((char *)file.names - (char *)&file),
	    .sh_size = sizeof(file.names)};
	for (unsigned i = 1; i < HEADERS; i++)
		file.sections[i] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
		    .sh_offset = (uint64_t)((char *)file.symbols - (char *)&file),
		    .sh_size = sizeof(file.symbols),
		    .sh_entsize = sizeof(Elf64_Sym)};
	for (unsigned i = 0; i < SYMBOLS; i++)
		file.symbols[i] = (Elf64_Sym){.st_name = 1,
		    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		    .st_shndx = 1,
		    .st_value = 16 * i,
		    .st_size = 16};
	FILE *out = fopen(path, "wb");
	REQUIRE(out && fwrite(&file, sizeof(file), 1, out) == 1 && fclose(out) == 0);
	long before = most_kibibytes();
	struct ga_elf *elf = ga_elf_open(path, NULL, 0);
	REQUIRE(elf);
	EXPECT_STR(ga_elf_function(elf, 20), "one");
	EXPECT(most_kibibytes() - before < 16 << 10); /* 46 MiB, were each of them read */
	ga_elf_close(elf);
	unlink(path);
}

TEST(symbols_of_a_file)
{
	char path[64];
	struct ga_elf *elf = ga_elf_open("/proc/self/exe", NULL, 0);
	const char *file = NULL;
	REQUIRE(elf);
	uint64_t address = INSIDE(_PyFunction_Vectorcall) - program_bias();
	EXPECT_STR(ga_elf_function(elf, address), "_PyFunction_Vectorcall");
	EXPECT(ga_elf_function(elf, 1) == NULL);
	EXPECT(ga_elf_function(elf, UINT64_MAX) == NULL);
	EXPECT(ga_elf_is_python(elf));
	uint32_t line = ga_elf_line(elf, address, &file);
	EXPECT(line == 0 || (line > 100 && strstr(file, "test_stacks.c")));
	ga_elf_close(elf);
	EXPECT(ga_elf_open("/proc/self/exe", (const unsigned char *)"other build", 11) == NULL);
	EXPECT(ga_elf_open("/not/here", NULL, 0) == NULL);
	EXPECT(ga_elf_open("/tmp", NULL, 0) == NULL);
	snprintf(path, sizeof(path), "/tmp/gpushim-test-%d.pipe", (int)getpid());
	REQUIRE(mkfifo(path, 0600) == 0);
	EXPECT(ga_elf_open(path, NULL, 0) == NULL);
	unlink(path);
}

/* Build id of this program, 0 bytes if the linker gave it none. */
static int own_build_id(struct dl_phdr_info *info, size_t size, void *out)
{
	struct st_bytes *id = out;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const ElfW(Nhdr) *note = (const void *)(info->dlpi_addr + part->p_vaddr);
		if (part->p_type == PT_NOTE && note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4)
			st_put(id, (const char *)(note + 1) + 4, note->n_descsz);
	}
	return 1; /* the program itself comes first */
}

/* More files than are kept open: those in use stay, the others make place. */
TEST(many_files)
{
	enum { MANY = 40 };
	static struct st_bytes id;
	char path[MANY][512];
	struct ga_elf *elfs[MANY];
	uint64_t address = INSIDE(_PyFunction_Vectorcall) - program_bias();
	dl_iterate_phdr(own_build_id, &id);
	if (!id.count)
		return;
	for (int i = 0; i < MANY; i++) { /* one file by many names */
		snprintf(path[i], sizeof(path[i]), "%*s%s", i, "", this_program());
		memset(path[i], '/', (size_t)i);
		elfs[i] = ga_elf_open(path[i], id.at, id.count);
		REQUIRE(elfs[i]);
		EXPECT(i == 0 || elfs[i] != elfs[i - 1]);
	}
	EXPECT(ga_elf_open(path[0], id.at, id.count) == elfs[0]);
	ga_elf_close(elfs[0]);
	for (int i = 0; i < MANY; i++) {
		EXPECT_STR(ga_elf_function(elfs[i], address), "_PyFunction_Vectorcall");
		ga_elf_close(elfs[i]);
	}
	EXPECT(ga_elf_open(path[0], id.at, id.count) == elfs[0]); /* it was kept */
	for (int i = MANY - 1; i > 0; i--) {
		struct ga_elf *elf = ga_elf_open(path[i], id.at, id.count);
		EXPECT_STR(ga_elf_function(elf, address), "_PyFunction_Vectorcall");
		ga_elf_close(elf);
	}
	EXPECT_STR(ga_elf_function(elfs[0], address), "_PyFunction_Vectorcall");
	ga_elf_close(elfs[0]);
}

TEST(names_of_cplusplus)
{
	char *text = ga_demangle("_ZN2at4_ops6linear4callERKNS_6TensorES4_RKSt8optionalIS2_E");
	EXPECT(strncmp(text, "at::_ops::linear::call(at::Tensor const&", 40) == 0 || text[0] == '_');
	free(text);
	text = ga_demangle("malloc");
	EXPECT_STR(text, "malloc");
	free(text);
	text = ga_demangle("_Znonsense");
	EXPECT_STR(text, "_Znonsense");
	free(text);
}

TEST(operations)
{
	struct ga_frame frames[] = {{.function = "at::native::x(int)"},
	    {.function = "at::_ops::addmm::redispatch(int)"},
	    {.function = "at::_ops::linear::call(at::Tensor const&)"}, {.python = true, .function = "f"},
	    {.function = "at::_ops::outer::call()"},
	    {.function = "torch::autograd::generated::AddmmBackward0_apply_functional(int)"}};
	char *name = ga_stack_operation(&(struct ga_stack){frames, 5, false});
	EXPECT_STR(name, "linear");
	free(name);
	frames[3].python = false;
	name = ga_stack_operation(&(struct ga_stack){frames, 6, false});
	EXPECT_STR(name, "AddmmBackward0");
	free(name);
	EXPECT(ga_stack_operation(&(struct ga_stack){frames, 1, false}) == NULL);
	EXPECT(ga_stack_operation(&(struct ga_stack){NULL, 0, false}) == NULL);
}

TEST(operation_without_its_overload)
{
	static const struct {
		const char *function, *name;
	} cases[] = {{"at::_ops::to_dtype_layout::call(int)", "to"},
	    {"at::_ops::sum_dim_IntList::call(int)", "sum"},
	    {"at::_ops::fill__Scalar::call(int)", "fill_"},
	    {"at::_ops::empty_like::call(int)", "empty_like"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ga_frame frame = {.function = cases[i].function};
		char *name = ga_stack_operation(&(struct ga_stack){&frame, 1, false});
		EXPECT_STR(name, cases[i].name);
		free(name);
	}
	struct ga_frame frames[] = {
	    {.function = "torch::autograd::generated::details::reduce_grad(int)"},
	    {.function = "torch::autograd::generated::SumBackward0::apply(int)"}};
	char *name = ga_stack_operation(&(struct ga_stack){frames, 2, false});
	EXPECT_STR(name, "SumBackward0");
	free(name);
}
