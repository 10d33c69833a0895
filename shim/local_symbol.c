/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/local_symbol.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SECTION_LIMIT 128u
#define TABLE_BYTES_LIMIT ((size_t)64 << 20)

/* A section's contents, in memory of their own: a file that shrinks meanwhile must not kill us. */
struct table {
	char *bytes;
	size_t size;
};

static bool read_whole(int fd, void *bytes, size_t size, size_t offset)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static void give_back(struct table *table)
{
	if (table->bytes)
		munmap(table->bytes, table->size);
	table->bytes = NULL;
}

static bool read_table(int fd, const ElfW(Shdr) * section, struct table *table)
{
	void *memory;
	table->bytes = NULL;
	table->size = section->sh_size;
	if (!table->size || table->size > TABLE_BYTES_LIMIT)
		return false;
	memory =
	    mmap(NULL, table->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	table->bytes = memory;
	if (read_whole(fd, memory, table->size, section->sh_offset))
		return true;
	give_back(table);
	return false;
}

static uintptr_t search(const struct table *symbols, const struct table *names, const char *prefix)
{
	size_t length = strlen(prefix);
	const ElfW(Sym) *all = (const ElfW(Sym) *)symbols->bytes;
	for (size_t i = 0; i < symbols->size / sizeof(*all); i++) {
		size_t at = all[i].st_name;
		if ((all[i].st_info & 15) != STT_FUNC || !all[i].st_value || at >= names->size ||
		    names->size - at < length + 2)
			continue;
		const char *name = names->bytes + at;
		if (memcmp(name, prefix, length) == 0 && strnlen(name + length, 2) < 2)
			return all[i].st_value;
	}
	return 0;
}

static uintptr_t search_file(int fd, const char *prefix)
{
	ElfW(Ehdr) header;
	ElfW(Shdr) sections[SECTION_LIMIT];
	struct table symbols, names;
	uintptr_t found = 0;
	if (!read_whole(fd, &header, sizeof(header), 0) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shnum > SECTION_LIMIT ||
	    header.e_shentsize != sizeof(sections[0]) ||
	    !read_whole(fd, sections, header.e_shnum * sizeof(sections[0]), header.e_shoff))
		return 0;
	for (unsigned i = 0; i < header.e_shnum && !found; i++) {
		if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header.e_shnum ||
		    !read_table(fd, &sections[i], &symbols))
			continue;
		if (read_table(fd, &sections[sections[i].sh_link], &names)) {
			found = search(&symbols, &names, prefix);
			give_back(&names);
		}
		give_back(&symbols);
	}
	return found;
}

uintptr_t gs_local_function(const char *path, const char *prefix)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return 0;
	uintptr_t found = search_file(fd, prefix);
	close(fd);
	return found;
}
