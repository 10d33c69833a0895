/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/elf_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef GA_HAVE_LIBDW
#include <elfutils/libdw.h>
#endif

#include "analyzer/xalloc.h"

#define FILES 2 /* the file itself and its debugging file */

struct function {
	uint64_t start, bytes;
	const char *name;
};

struct file {
	const unsigned char *data;
	size_t bytes;
	int fd;
#ifdef GA_HAVE_LIBDW
	Dwarf *lines;
	bool asked;
#endif
};

struct ga_elf {
	struct file files[FILES];
	struct function *functions; /* by start */
	size_t count, capacity;
	bool is_python;
	char *key; /* build id and path */
	unsigned users;
	uint64_t last_used;
};

/*
 * What was opened last stays open: the recordings of a folder use the same libraries.  Only files
 * with a build id: that of another one of the same name differs.
 */
static struct ga_elf *kept[32];
#define KEPT (sizeof(kept) / sizeof(*kept))

/* ---- reading ---- */

static bool map_file(const char *path, struct file *out)
{
	struct stat status;
	out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may be a pipe */
	if (out->fd < 0)
		return false;
	void *data = MAP_FAILED;
	if (fstat(out->fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (size_t)status.st_size >= sizeof(Elf64_Ehdr))
		data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, out->fd, 0);
	if (data == MAP_FAILED) {
		close(out->fd);
		return false;
	}
	out->data = data;
	out->bytes = (size_t)status.st_size;
	return true;
}

static void unmap_file(struct file *file)
{
	if (!file->data)
		return;
#ifdef GA_HAVE_LIBDW
	if (file->lines)
		dwarf_end(file->lines);
#endif
	munmap((void *)file->data, file->bytes);
	close(file->fd);
	file->data = NULL;
}

/* Bytes of the file at an offset, NULL if they are not all there or not aligned to 8. */
static const void *part(const struct file *file, uint64_t offset, uint64_t bytes)
{
	if (offset > file->bytes || bytes > file->bytes - offset || (offset & 7))
		return NULL;
	return file->data + offset;
}

/* Section headers, NULL if there are none. */
static const Elf64_Shdr *sections(const struct file *file, unsigned *count_out)
{
	const Elf64_Ehdr *head = part(file, 0, sizeof(*head));
	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
	    head->e_shentsize != sizeof(Elf64_Shdr))
		return NULL;
	*count_out = head->e_shnum;
	return part(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr));
}

static bool has_build_id(const unsigned char *note, uint64_t bytes, const unsigned char *wanted,
    size_t wanted_bytes)
{
	while (bytes >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr head;
		memcpy(&head, note, sizeof(head));
		uint64_t name = ((uint64_t)head.n_namesz + 3) & ~UINT64_C(3);
		uint64_t all = sizeof(head) + name + (((uint64_t)head.n_descsz + 3) & ~UINT64_C(3));
		if (all > bytes)
			break;
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
		    memcmp(note + sizeof(head), "GNU", 4) == 0)
			return head.n_descsz == wanted_bytes &&
			    memcmp(note + sizeof(head) + name, wanted, wanted_bytes) == 0;
		note += all;
		bytes -= all;
	}
	return false;
}

static bool is_build(const struct file *file, const unsigned char *wanted, size_t bytes)
{
	const Elf64_Ehdr *head = part(file, 0, sizeof(*head));
	const Elf64_Phdr *parts = head && head->e_phentsize == sizeof(*parts)
	    ? part(file, head->e_phoff, (uint64_t)head->e_phnum * sizeof(*parts))
	    : NULL;
	for (unsigned i = 0; parts && i < head->e_phnum; i++) {
		uint64_t offset = parts[i].p_offset, size = parts[i].p_filesz;
		if (parts[i].p_type != PT_NOTE || offset > file->bytes || size > file->bytes - offset)
			continue;
		if (has_build_id(file->data + offset, size, wanted, bytes))
			return true;
	}
	return false;
}

/* ---- functions ---- */

static void add_symbols(struct ga_elf *elf, const struct file *file, const Elf64_Shdr *table,
    const Elf64_Shdr *names)
{
	const Elf64_Sym *symbols = part(file, table->sh_offset, table->sh_size);
	if (!symbols || names->sh_offset > file->bytes ||
	    names->sh_size > file->bytes - names->sh_offset || !names->sh_size)
		return;
	const char *text = (const char *)file->data + names->sh_offset;
	if (text[names->sh_size - 1] != 0)
		return;
	static const char evaluation[] = "\0_PyEval_EvalFrameDefault"; /* zeros around it */
	const char *found = memmem(text, names->sh_size, evaluation, sizeof(evaluation));
	uint64_t evaluation_at = found ? (uint64_t)(found + 1 - text) : UINT64_MAX;
	for (uint64_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
		const Elf64_Sym *symbol = &symbols[i];
		unsigned type = ELF64_ST_TYPE(symbol->st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
		    symbol->st_name >= names->sh_size || !symbol->st_name)
			continue;
		elf->is_python |= symbol->st_name == evaluation_at;
		elf->functions = ga_xgrow(elf->functions, elf->count, &elf->capacity,
		    sizeof(*elf->functions));
		elf->functions[elf->count++] = (struct function){symbol->st_value, symbol->st_size,
		    text + symbol->st_name};
	}
}

/* Tables together are no larger than their file: one that is named again and again is damage. */
static void read_symbols(struct ga_elf *elf, const struct file *file)
{
	unsigned count = 0;
	uint64_t left = file->bytes, bytes;
	const Elf64_Shdr *all = sections(file, &count);
	for (unsigned i = 0; all && i < count; i++) {
		if ((all[i].sh_type != SHT_SYMTAB && all[i].sh_type != SHT_DYNSYM) ||
		    all[i].sh_entsize != sizeof(Elf64_Sym) || all[i].sh_link >= count)
			continue;
		const Elf64_Shdr *names = &all[all[i].sh_link];
		if (__builtin_add_overflow(all[i].sh_size, names->sh_size, &bytes) || bytes > left)
			break;
		left -= bytes;
		add_symbols(elf, file, &all[i], names);
	}
}

/* By start, digit by digit: the largest libraries have half a million functions. */
static void sort_functions(struct ga_elf *elf)
{
	enum { BITS = 11, DIGITS = 1 << BITS };
	struct function *from = elf->functions, *to = ga_xalloc(elf->count, sizeof(*to));
	uint64_t all = 0;
	for (size_t i = 0; i < elf->count; i++)
		all |= from[i].start;
	for (unsigned shift = 0; shift < 64 && all >> shift; shift += BITS) {
		size_t places[DIGITS + 1] = {0};
		for (size_t i = 0; i < elf->count; i++)
			places[(from[i].start >> shift) % DIGITS + 1]++;
		for (size_t digit = 0; digit < DIGITS; digit++)
			places[digit + 1] += places[digit];
		for (size_t i = 0; i < elf->count; i++)
			to[places[(from[i].start >> shift) % DIGITS]++] = from[i];
		struct function *swapped = from;
		from = to;
		to = swapped;
	}
	elf->functions = from;
	free(to);
}

/* Which of two functions with one start is told: the longer one, else by name, always the same. */
static bool is_better(const struct function *one, const struct function *other)
{
	return one->bytes != other->bytes ? one->bytes > other->bytes
					  : strcmp(one->name, other->name) < 0;
}

const char *ga_elf_function(const struct ga_elf *elf, uint64_t address)
{
	size_t low = 0, high = elf->count; /* functions before `low` start at or before address */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (elf->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	const struct function *found = &elf->functions[low - 1];
	uint64_t start = found->start;
	for (; low > 1 && elf->functions[low - 2].start == start; low--)
		if (is_better(&elf->functions[low - 2], found))
			found = &elf->functions[low - 2];
	return address - start < found->bytes || (!found->bytes && address == start) ? found->name
										      : NULL;
}

bool ga_elf_is_python(const struct ga_elf *elf)
{
	return elf->is_python;
}

/* ---- opening ---- */

/* The bytes in hexadecimal; free() it. */
static char *hex_text(const unsigned char *bytes, size_t count)
{
	char *text = ga_xalloc(2 * count + 1, 1);
	for (size_t i = 0; i < count; i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	return text;
}

static void open_debug_file(
    struct ga_elf *elf, const unsigned char *build_id, size_t bytes, const char *id_text)
{
	if (bytes < 2)
		return;
	char *path = ga_format("/usr/lib/debug/.build-id/%.2s/%s.debug", id_text, id_text + 2);
	if (map_file(path, &elf->files[1]) && !is_build(&elf->files[1], build_id, bytes))
		unmap_file(&elf->files[1]);
	free(path);
}

static void destroy(struct ga_elf *elf)
{
	for (unsigned i = 0; i < FILES; i++)
		unmap_file(&elf->files[i]);
	free(elf->functions);
	free(elf->key);
	free(elf);
}

static struct ga_elf *open_new(
    const char *path, const unsigned char *build_id, size_t bytes, const char *id_text)
{
	struct ga_elf *elf = ga_xalloc(1, sizeof(*elf));
	if (map_file(path, &elf->files[0]) && bytes && !is_build(&elf->files[0], build_id, bytes))
		unmap_file(&elf->files[0]);
	open_debug_file(elf, build_id, bytes, id_text);
	for (unsigned i = 0; i < FILES; i++)
		if (elf->files[i].data)
			read_symbols(elf, &elf->files[i]);
	if (!elf->files[0].data && !elf->files[1].data) {
		destroy(elf);
		return NULL;
	}
	sort_functions(elf);
	return elf;
}

/* An empty place among those kept, made by closing what was not used for longest; NULL: none. */
static struct ga_elf **find_place(void)
{
	struct ga_elf **oldest = NULL;
	for (size_t i = 0; i < KEPT; i++) {
		if (!kept[i])
			return &kept[i];
		if (!kept[i]->users && (!oldest || kept[i]->last_used < (*oldest)->last_used))
			oldest = &kept[i];
	}
	if (oldest) {
		destroy(*oldest);
		*oldest = NULL;
	}
	return oldest;
}

static struct ga_elf *find_kept(const char *key)
{
	for (size_t i = 0; i < KEPT; i++)
		if (kept[i] && strcmp(kept[i]->key, key) == 0)
			return kept[i];
	return NULL;
}

struct ga_elf *ga_elf_open(const char *path, const unsigned char *build_id, size_t bytes)
{
	static uint64_t opened;
	char *id_text = hex_text(build_id, bytes), *key = ga_format("%s %s", id_text, path);
	struct ga_elf *elf = find_kept(key);
	if (!elf && (elf = open_new(path, build_id, bytes, id_text))) {
		struct ga_elf **place = bytes ? find_place() : NULL;
		elf->key = key;
		key = NULL;
		if (place)
			*place = elf;
	}
	if (elf) {
		elf->users++;
		elf->last_used = ++opened;
	}
	free(key);
	free(id_text);
	return elf;
}

void ga_elf_close(struct ga_elf *elf)
{
	if (!elf || --elf->users)
		return;
	for (size_t i = 0; i < KEPT; i++)
		if (kept[i] == elf)
			return;
	destroy(elf);
}

/* ---- lines ---- */

#ifdef GA_HAVE_LIBDW
static uint32_t file_line(struct file *file, uint64_t address, const char **file_out)
{
	Dwarf_Die unit;
	int line = 0;
	if (!file->data)
		return 0;
	if (!file->asked)
		file->lines = dwarf_begin(file->fd, DWARF_C_READ);
	file->asked = true;
	if (!file->lines || !dwarf_addrdie(file->lines, address, &unit))
		return 0;
	Dwarf_Line *found = dwarf_getsrc_die(&unit, address);
	const char *source = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
	if (!source || dwarf_lineno(found, &line) != 0 || line <= 0)
		return 0;
	*file_out = source;
	return (uint32_t)line;
}
#else
static uint32_t file_line(struct file *file, uint64_t address, const char **file_out)
{
	return 0;
}
#endif

uint32_t ga_elf_line(struct ga_elf *elf, uint64_t address, const char **file_out)
{
	uint32_t line = 0;
	for (unsigned i = 0; i < FILES && !line; i++)
		line = file_line(&elf->files[i], address, file_out);
	return line;
}

/* ---- C++ names ---- */

/* The C++ run-time library has the demangler; a machine without it shows names as they are. */
char *ga_demangle(const char *name)
{
	static char *(*demangle)(const char *, char *, size_t *, int *);
	static bool asked;
	int status = -1;
	if (name[0] != '_' || name[1] != 'Z')
		return ga_xstrdup(name);
	if (!asked) {
		void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		if (library)
			demangle = (char *(*)(const char *, char *, size_t *, int *))dlsym(library,
			    "__cxa_demangle");
		asked = true;
	}
	char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
	return text && status == 0 ? text : ga_xstrdup(name);
}
