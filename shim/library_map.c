/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/library_map.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "formats/stack_layout.h"
#include "shim/intern_table.h"
#include "shim/safe_read.h"
#include "shim/stack_hash.h"

#define LIBRARIES_LOG2 13
#define COPY_LIMIT 4096u /* libraries in the copied list */
#define BUILD_ID_LIMIT 64u

/* What _dl_find_object fills; declared here so that a build against an older C library has it. */
struct found_object {
	unsigned long long flags;
	void *map_start, *map_end;
	struct link_map *link_map;
	void *eh_frame;
	unsigned long long reserved[8];
};

/* A list of libraries that never changes once it is published. */
struct library_list {
	size_t count;
	struct gs_library libraries[];
};

static int (*find_object)(void *, struct found_object *);
static struct library_list *list; /* only without find_object */
static struct gs_intern_table defined;
static char program_path[PATH_MAX];
uint32_t gs_library_changes = 1;
static bool python_seen;

/* Where the defined libraries are, by id. */
static struct place {
	uintptr_t start, end; /* 0: somewhere else by now */
	uint64_t hash;
} places[1u << LIBRARIES_LOG2];

/* ---- finding ---- */

/* The list may be a second old, and the library gone: what a library is read for is asked for first. */
static bool find_in_list(uintptr_t address, struct gs_library *out)
{
	const struct library_list *now = __atomic_load_n(&list, __ATOMIC_ACQUIRE);
	for (size_t i = 0; now && i < now->count; i++) {
		const struct gs_library *library = &now->libraries[i];
		if (address >= library->start && address < library->end) {
			*out = *library;
			return !library->unwind_header ||
			    gs_safe_probe((uintptr_t)library->unwind_header);
		}
	}
	return false;
}

bool gs_library_find(uintptr_t address, struct gs_library *out)
{
	struct found_object found;
	if (!find_object)
		return find_in_list(address, out);
	if (find_object((void *)address, &found) != 0)
		return false;
	out->start = (uintptr_t)found.map_start;
	out->end = (uintptr_t)found.map_end;
	out->bias = found.link_map ? (uintptr_t)found.link_map->l_addr : 0;
	out->unwind_header = found.eh_frame;
	out->path = found.link_map && found.link_map->l_name ? found.link_map->l_name : "";
	return true;
}

/* ---- changes ---- */

static int read_changes(struct dl_phdr_info *info, size_t size, void *context)
{
	*(uint64_t *)context = info->dlpi_adds + info->dlpi_subs;
	return 1;
}

static int copy_library(struct dl_phdr_info *info, size_t size, void *context)
{
	struct library_list *copy = context;
	struct gs_library library = {.start = UINTPTR_MAX, .bias = info->dlpi_addr,
	    .path = info->dlpi_name};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + part->p_vaddr;
		if (part->p_type == PT_GNU_EH_FRAME)
			library.unwind_header = (const void *)from;
		if (part->p_type != PT_LOAD)
			continue;
		if (from < library.start)
			library.start = from;
		if (from + part->p_memsz > library.end)
			library.end = from + part->p_memsz;
	}
	if (copy->count < COPY_LIMIT && library.start < library.end)
		copy->libraries[copy->count++] = library;
	return copy->count == COPY_LIMIT;
}

/* The list before is left mapped: a hook may be reading it. */
static void copy_list(void)
{
	size_t bytes = sizeof(*list) + COPY_LIMIT * sizeof(list->libraries[0]);
	struct library_list *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (copy == MAP_FAILED)
		return;
	dl_iterate_phdr(copy_library, copy);
	__atomic_store_n(&list, copy, __ATOMIC_RELEASE);
}

void gs_library_refresh(void)
{
	static uint64_t changes, last_s;
	uint64_t now = 0;
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
	if (find_object || (uint64_t)time.tv_sec == last_s)
		return;
	last_s = (uint64_t)time.tv_sec;
	dl_iterate_phdr(read_changes, &now);
	if (now == changes)
		return;
	changes = now;
	copy_list();
}

/* ---- definitions ---- */

static size_t note_build_id(const char *note, size_t bytes, unsigned char *out)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *head = (const void *)note;
		size_t name = (head->n_namesz + 3u) & ~(size_t)3;
		size_t all = sizeof(*head) + name + ((head->n_descsz + 3u) & ~(size_t)3);
		if (all > bytes)
			break;
		if (head->n_type == NT_GNU_BUILD_ID && head->n_namesz == 4 &&
		    memcmp(head + 1, "GNU", 4) == 0 && head->n_descsz <= BUILD_ID_LIMIT) {
			memcpy(out, (const char *)(head + 1) + name, head->n_descsz);
			return head->n_descsz;
		}
		note += all;
		bytes -= all;
	}
	return 0;
}

/* Program headers: the kernel told those of the program; a library has them in its first page. */
static const ElfW(Phdr) *program_headers(const struct gs_library *library, size_t *count_out)
{
	const ElfW(Ehdr) *head = (const void *)library->start;
	if (!library->path[0]) {
		*count_out = getauxval(AT_PHNUM);
		return (const ElfW(Phdr) *)getauxval(AT_PHDR);
	}
	if (library->end - library->start < 4096 || !gs_safe_probe(library->start) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_phentsize != sizeof(ElfW(Phdr)) ||
	    head->e_phoff + head->e_phnum * sizeof(ElfW(Phdr)) > 4096)
		return NULL;
	*count_out = head->e_phnum;
	return (const ElfW(Phdr) *)(library->start + head->e_phoff);
}

/* Only notes that a loaded segment covers are in memory. */
static bool is_loaded(const ElfW(Phdr) *parts, size_t count, const ElfW(Phdr) *note)
{
	for (size_t i = 0; i < count; i++)
		if (parts[i].p_type == PT_LOAD && note->p_vaddr >= parts[i].p_vaddr &&
		    note->p_vaddr + note->p_memsz <= parts[i].p_vaddr + parts[i].p_filesz)
			return true;
	return false;
}

static size_t build_id(const struct gs_library *library, unsigned char *out)
{
	size_t count = 0, bytes = 0;
	const ElfW(Phdr) *parts = program_headers(library, &count);
	for (size_t i = 0; parts && i < count && !bytes; i++)
		if (parts[i].p_type == PT_NOTE && is_loaded(parts, count, &parts[i]))
			bytes = note_build_id((const char *)(library->bias + parts[i].p_vaddr),
			    parts[i].p_memsz, out);
	return bytes;
}

static bool append(const struct gs_library *library, uint32_t id, const struct gs_stack_sink *sink)
{
	const char *path = library->path[0] ? library->path : program_path;
	size_t path_bytes = strnlen(path, PATH_MAX);
	unsigned char *behind = sink->scratch + sizeof(struct gf_library_head);
	struct gf_library_head head = {.head_bytes = sizeof(head),
	    .build_id_bytes = (uint16_t)build_id(library, behind),
	    .path_bytes = (uint32_t)path_bytes, .bias = library->bias, .start = library->start,
	    .end = library->end};
	memcpy(behind + head.build_id_bytes, path, path_bytes);
	memcpy(sink->scratch, &head, sizeof(head));
	return sink->append(sink->context, GF_TEXT_LIBRARY, id, sink->scratch,
	    (uint32_t)(sizeof(head) + head.build_id_bytes + path_bytes));
}

bool gs_library_python_seen(void)
{
	return __atomic_load_n(&python_seen, __ATOMIC_RELAXED);
}

/* Another library lies where this one was: should it come back it has to be told again. */
static void displace(struct place *place)
{
	__atomic_store_n(&place->end, 0, __ATOMIC_RELAXED);
	gs_intern_failed(&defined, place->hash);
	__atomic_add_fetch(&gs_library_changes, 1, __ATOMIC_RELAXED);
}

/* Note what is new about a library. */
static void look_at(const struct gs_library *library, uint32_t id, uint64_t hash)
{
	const char *slash = strrchr(library->path, '/');
	if (strncmp(slash ? slash + 1 : library->path, "libpython3", 10) == 0)
		__atomic_store_n(&python_seen, true, __ATOMIC_RELAXED);
	uint32_t count = __atomic_load_n(&defined.count, __ATOMIC_RELAXED);
	for (uint32_t other = 1; other <= count; other++)
		if (other != id &&
		    library->start < __atomic_load_n(&places[other].end, __ATOMIC_RELAXED) &&
		    __atomic_load_n(&places[other].start, __ATOMIC_RELAXED) < library->end)
			displace(&places[other]);
	places[id].hash = hash;
	__atomic_store_n(&places[id].start, library->start, __ATOMIC_RELAXED);
	__atomic_store_n(&places[id].end, library->end, __ATOMIC_RELAXED);
}

static uint64_t library_hash(const struct gs_library *library)
{
	uint64_t hash = gs_hash_add(library->start, library->end);
	for (const char *at = library->path; *at; at++)
		hash = hash * 31 + (unsigned char)*at;
	hash = gs_hash_add(hash, library->bias);
	return hash + !hash; /* 0 marks a free slot */
}

bool gs_library_define(uintptr_t address, const struct gs_stack_sink *sink)
{
	struct gs_library library;
	bool is_new;
	if (!gs_library_find(address, &library))
		return true;
	uint64_t hash = library_hash(&library);
	uint32_t id = gs_intern(&defined, hash, &is_new);
	if (!id || !is_new)
		return id;
	look_at(&library, id, hash);
	if (!append(&library, id, sink))
		gs_intern_failed(&defined, hash);
	return true;
}

bool gs_library_init(void)
{
	if (defined.slots)
		return true;
	find_object = (int (*)(void *, struct found_object *))dlsym(RTLD_DEFAULT, "_dl_find_object");
	ssize_t bytes = readlink("/proc/self/exe", program_path, sizeof(program_path) - 1);
	program_path[bytes > 0 ? bytes : 0] = 0;
	gs_library_refresh();
	return gs_intern_init(&defined, LIBRARIES_LOG2);
}

void gs_library_reset(void)
{
	gs_intern_reset(&defined);
	memset(places, 0, sizeof(places));
}
