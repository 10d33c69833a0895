/* SPDX-License-Identifier: Apache-2.0 */
#include "audit_unknown.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit_names.h"
#include "audit_notes.h"
#include "audit_stubs.h"
#include "elf_image.h"
#include "gd_export.h"
#include "unprovided.h"

struct unknown {
	char *function, *library;
	intptr_t answer;
	atomic_bool said;
};
static struct unknown unknowns[GD_UNKNOWN_MOST];
static unsigned unknown_count; /* under the linker's lock */
static void (*_Atomic listener)(const char *function);

/* ---- what a stub answers ---- */

/* libNAME.so.VERSION says "not supported" in its own way; the driver as the runtime does. */
static intptr_t refusal_of(const char *library)
{
#define GD_ROW(name, status) {#name, status},
	static const struct {
		const char *name;
		intptr_t status;
	} rows[] = {GD_REFUSALS(GD_ROW)};
#undef GD_ROW
	size_t length = strcspn(library + 3, ".");

	if (strncmp(library, "libcudnn.so.8", 13) == 0)
		return 9; /* numbered anew with version 9 */
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strlen(rows[i].name) == length &&
		    memcmp(rows[i].name, library + 3, length) == 0)
			return rows[i].status;
	}
	return GD_REFUSAL_cudart;
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);

	return length > tail && strcmp(name + length - tail, end) == 0;
}

/* What asks for a text gets one: a number in its place would be read as an address. */
static intptr_t answer_of(const char *function, const char *library)
{
	static const char text[] = "not provided by the stand-in GPU";

	if (ends_with(function, "String") || ends_with(function, "ErrorName"))
		return (intptr_t)text;
	return refusal_of(library);
}

void gd_unknown_listen(void (*tell)(const char *))
{
	atomic_store_explicit(&listener, tell, memory_order_release);
}

static void say(const char *function)
{
	char message[512];
	int length = snprintf(message, sizeof(message),
	    "gpushim dryrun: %s was called: the stand-in GPU does not have it\n", function);

	if (write(STDERR_FILENO, message, (size_t)length) < 0)
		return;
}

intptr_t gd_unknown_called(unsigned slot)
{
	struct unknown *unknown = &unknowns[slot];
	void (*tell)(const char *) = atomic_load_explicit(&listener, memory_order_acquire);

	if (tell)
		tell(unknown->function);
	else if (!atomic_exchange(&unknown->said, true))
		say(unknown->function);
	return unknown->answer;
}

/* ---- giving stubs ---- */

static const char *stub_address(unsigned slot)
{
	return gd_unknown_stubs + (size_t)slot * GD_UNKNOWN_BYTES;
}

/* The stub of a function: the same for all who want it.  NULL when there are no more. */
static const char *stub_of(const char *function, const char *library)
{
	for (unsigned i = 0; i < unknown_count; i++) {
		if (strcmp(unknowns[i].function, function) == 0 &&
		    strcmp(unknowns[i].library, library) == 0)
			return stub_address(i);
	}
	if (unknown_count == GD_UNKNOWN_MOST)
		return NULL;
	struct unknown *unknown = &unknowns[unknown_count];
	unknown->function = strdup(function);
	unknown->library = strdup(library);
	if (!unknown->function || !unknown->library)
		return NULL;
	unknown->answer = answer_of(function, library);
	return stub_address(unknown_count++);
}

/* As the linker sees it from then on: a symbol of the object's own that nobody looks up. */
static void redirect(const struct link_map *map, ElfW(Sym) * symbol, const char *stub)
{
	symbol->st_info = (unsigned char)((STB_LOCAL << 4) | STT_FUNC);
	symbol->st_other = STV_HIDDEN;
	symbol->st_shndx = 1;
	symbol->st_value = (ElfW(Addr))(uintptr_t)stub - map->l_addr;
}

/* Protection of the mapping that holds an address, -1 when it cannot be told. */
static int protection_of(uintptr_t address)
{
	char line[512];
	int protection = -1;
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && protection < 0 && fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		char access[8];

		if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 && address >= from &&
		    address < to)
			protection = (access[0] == 'r' ? PROT_READ : 0) |
				     (access[1] == 'w' ? PROT_WRITE : 0) |
				     (access[2] == 'x' ? PROT_EXEC : 0);
	}
	if (maps)
		fclose(maps);
	return protection;
}

/* The pages of the symbols that are only used may be written, or are as before. */
static bool protect(const struct gd_image *image, int protection)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)image->symbols & ~(page - 1);
	uintptr_t to = (uintptr_t)(image->symbols + image->first_hashed);

	return mprotect((void *)from, to - from, protection) == 0;
}

/* A library while an object's symbols are looked up in it. */
struct search {
	const struct link_map *map;
	struct gd_image wanting;
	const char *wanted; /* library whose stand-in is open, by the object's name for it */
	char library[NAME_MAX + 1]; /* and by its own */
	struct gd_image library_image;
	bool library_open;
	int protection; /* of the symbols before they were written; -1: they were not */
};

static void open_library(struct search *search, const char *wanted)
{
	const char *path;

	if (search->wanted && strcmp(search->wanted, wanted) == 0)
		return;
	if (search->library_open)
		gd_image_close(&search->library_image);
	search->wanted = wanted;
	path = gd_audit_stand_in(wanted);
	search->library_open = path && gd_image_of_file(path, &search->library_image);
	if (path)
		snprintf(search->library, sizeof(search->library), "%s", strrchr(path, '/') + 1);
}

static void provide(struct search *search, uint32_t index)
{
	ElfW(Sym) *symbol = (ElfW(Sym) *)&search->wanting.symbols[index];
	const char *function = search->wanting.strings + symbol->st_name;
	const char *stub = stub_of(function, search->library);

	if (!stub)
		return;
	if (search->protection < 0) {
		search->protection = protection_of((uintptr_t)symbol);
		if (search->protection < 0 ||
		    !protect(&search->wanting, search->protection | PROT_WRITE)) {
			search->protection = -1;
			return;
		}
	}
	redirect(search->map, symbol, stub);
	gd_audit_note("stub", function, search->library, search->map->l_name);
}

static bool only_used(const ElfW(Sym) * symbol)
{
	return symbol->st_name && symbol->st_shndx == SHN_UNDEF && !symbol->st_value &&
	       symbol->st_info >> 4 == STB_GLOBAL;
}

/* Libraries without versions: the name of the function tells, if the object needs the library. */
static const char *library_by_name(const struct gd_image *wanting, const char *function)
{
	static const struct {
		const char *start, *library;
	} rows[] = {{"nccl", "libnccl.so"}, {"cusparseLt", "libcusparseLt.so"},
	    {"cuFile", "libcufile.so"}, {"nvml", "libnvidia-ml.so"}, {"nvtx", "libnvToolsExt.so"},
	    {"cu", "libcuda.so"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t length = strlen(rows[i].start);

		if (strncmp(function, rows[i].start, length) == 0)
			return length > 2 || (function[2] >= 'A' && function[2] <= 'Z')
				   ? gd_image_needed(wanting, rows[i].library)
				   : NULL;
	}
	return NULL;
}

/* The NVIDIA library from which an object wants a symbol, or NULL. */
static const char *wanted_from(const struct gd_image *wanting, uint32_t index)
{
	const ElfW(Sym) *symbol = &wanting->symbols[index];
	const char *library;

	if (!only_used(symbol))
		return NULL;
	library = gd_image_wanted_from(wanting, index);
	if (!library)
		return library_by_name(wanting, wanting->strings + symbol->st_name);
	return gd_audit_is_vendor(library) ? library : NULL;
}

void gd_unknown_provide(const struct link_map *map)
{
	struct search search = {.map = map, .protection = -1};

	if (!gd_image_of_map(map, &search.wanting))
		return;
	for (uint32_t i = 1; i < search.wanting.first_hashed; i++) {
		const char *library = wanted_from(&search.wanting, i);

		if (!library)
			continue;
		open_library(&search, library);
		if (search.library_open &&
		    !gd_image_find(&search.library_image,
			search.wanting.strings + search.wanting.symbols[i].st_name))
			provide(&search, i);
	}
	if (search.library_open)
		gd_image_close(&search.library_image);
	if (search.protection >= 0)
		protect(&search.wanting, search.protection);
}
