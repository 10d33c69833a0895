/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_image.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where an address of the object's own counting lies in this process. */
struct place {
	uintptr_t load_address; /* of a mapped object */
	const char *file;	/* else: the file and its segments */
	const ElfW(Phdr) * segments;
	unsigned segment_count;
};

static const void *at(const struct place *place, ElfW(Addr) address)
{
	if (!place->file) /* the linker has put its load address in front already, unless it may not
			   */
		return (const void *)(address < place->load_address ? address + place->load_address
								    : address);
	for (unsigned i = 0; i < place->segment_count; i++) {
		const ElfW(Phdr) *segment = &place->segments[i];
		if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
			return place->file + segment->p_offset + (address - segment->p_vaddr);
	}
	return NULL;
}

/* GNU hash table: buckets, first hashed symbol, words of the filter, shift; then filter and
 * buckets. */
enum { BUCKETS, FIRST, FILTER_WORDS, SHIFT, HEAD };

/* How many symbols fit in front of the next table. */
static uint32_t symbols_at_most(const struct gd_image *image)
{
	const void *const tables[] = {
	    image->strings, image->hash, image->versions, image->needed_versions};
	uintptr_t from = (uintptr_t)image->symbols, to = UINTPTR_MAX;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		if ((uintptr_t)tables[i] > from && (uintptr_t)tables[i] < to)
			to = (uintptr_t)tables[i];
	}
	return to == UINTPTR_MAX ? 0 : (uint32_t)((to - from) / sizeof(ElfW(Sym)));
}

/* Undefined symbols stand in front of the hashed ones; a table that hashes nothing says 1. */
static uint32_t first_hashed(const struct gd_image *image)
{
	uint32_t most = symbols_at_most(image), first = image->hash[FIRST];
	return first > 1 && first < most ? first : most;
}

static bool read_tables(
    const struct place *place, const ElfW(Dyn) * dynamic, struct gd_image *image_out)
{
	struct gd_image image = {.dynamic = dynamic};
	for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			image.symbols = at(place, entry->d_un.d_ptr);
			break;
		case DT_STRTAB:
			image.strings = at(place, entry->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			image.hash = at(place, entry->d_un.d_ptr);
			break;
		case DT_VERSYM:
			image.versions = at(place, entry->d_un.d_ptr);
			break;
		case DT_VERNEED:
			image.needed_versions = at(place, entry->d_un.d_ptr);
			break;
		default:
			break;
		}
	}
	if (!image.symbols || !image.strings || !image.hash)
		return false;
	image.first_hashed = first_hashed(&image);
	*image_out = image;
	return true;
}

bool gd_image_of_map(const struct link_map *map, struct gd_image *image_out)
{
	struct place place = {.load_address = map->l_addr};
	return read_tables(&place, map->l_ld, image_out);
}

static bool read_file(const char *file, size_t bytes, struct gd_image *image_out)
{
	const ElfW(Ehdr) *header = (const void *)file;
	struct place place = {.file = file};
	if (bytes < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_phoff > bytes ||
	    header->e_phnum > (bytes - header->e_phoff) / sizeof(ElfW(Phdr)))
		return false;
	place.segments = (const void *)(file + header->e_phoff);
	place.segment_count = header->e_phnum;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (place.segments[i].p_type == PT_DYNAMIC)
			return read_tables(
			    &place, (const void *)(file + place.segments[i].p_offset), image_out);
	}
	return false;
}

bool gd_image_of_file(const char *path, struct gd_image *image_out)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *file = MAP_FAILED;
	if (fd >= 0 && fstat(fd, &status) == 0)
		file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (file == MAP_FAILED)
		return false;
	if (!read_file(file, (size_t)status.st_size, image_out)) {
		munmap(file, (size_t)status.st_size);
		return false;
	}
	image_out->file = file;
	image_out->file_bytes = (size_t)status.st_size;
	return true;
}

void gd_image_close(struct gd_image *image)
{
	if (image->file)
		munmap(image->file, image->file_bytes);
	image->file = NULL;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

const ElfW(Sym) * gd_image_find(const struct gd_image *image, const char *name)
{
	const uint32_t *head = image->hash;
	const uint32_t *buckets =
	    head + HEAD + head[FILTER_WORDS] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chains = buckets + head[BUCKETS];
	uint32_t hash = hash_of(name);
	uint32_t i = head[BUCKETS] ? buckets[hash % head[BUCKETS]] : 0;
	for (; i; i++) {
		uint32_t link = chains[i - head[FIRST]];
		if ((link | 1) == (hash | 1) &&
		    strcmp(image->strings + image->symbols[i].st_name, name) == 0)
			return &image->symbols[i];
		if (link & 1)
			return NULL;
	}
	return NULL;
}

const char *gd_image_needed(const struct gd_image *image, const char *start)
{
	for (const ElfW(Dyn) *entry = image->dynamic; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag != DT_NEEDED)
			continue;
		const char *name = image->strings + entry->d_un.d_val;
		if (strncmp(name, start, strlen(start)) == 0)
			return name;
	}
	return NULL;
}

/* Whether one of the versions wanted from a library has that number. */
static bool has_version(const ElfW(Verneed) * need, unsigned number)
{
	const ElfW(Vernaux) *version = (const void *)((const char *)need + need->vn_aux);
	for (unsigned i = 0; i < need->vn_cnt; i++) {
		if ((version->vna_other & 0x7fff) == number)
			return true;
		version = (const void *)((const char *)version + version->vna_next);
	}
	return false;
}

const char *gd_image_wanted_from(const struct gd_image *image, uint32_t index)
{
	unsigned number = image->versions ? image->versions[index] & 0x7fff : 0;
	const ElfW(Verneed) *need = number > VER_NDX_GLOBAL ? image->needed_versions : NULL;
	while (need) {
		if (has_version(need, number))
			return image->strings + need->vn_file;
		need = need->vn_next ? (const void *)((const char *)need + need->vn_next) : NULL;
	}
	return NULL;
}
