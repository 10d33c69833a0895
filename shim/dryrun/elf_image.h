/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a shared object by which the dynamic linker joins it to others: what it needs, what
 * it defines.  Read from where the linker mapped it, or from its file.  Used inside the linker's
 * own calls (audit.c): no lock, no memory beyond the mapping of a file.
 */
#ifndef GD_ELF_IMAGE_H
#define GD_ELF_IMAGE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gd_image {
	const ElfW(Dyn) * dynamic;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hash;		       /* DT_GNU_HASH */
	const ElfW(Half) * versions;	       /* of the symbols; NULL when there are none */
	const ElfW(Verneed) * needed_versions; /* NULL when there are none */
	uint32_t first_hashed; /* symbols below this index are only used, not defined */
	void *file;	       /* mapping of a file, else NULL */
	size_t file_bytes;
};

/**
 * @param map        an object that the linker has mapped; need not be relocated
 * @param image_out  valid while the object is loaded; set only on success
 * @return false when it has no symbols
 */
bool gd_image_of_map(const struct link_map *map, struct gd_image *image_out);

/**
 * @param path       a shared object of this machine's format
 * @param image_out  to be closed with gd_image_close; set only on success
 * @return false when it cannot be read
 */
bool gd_image_of_file(const char *path, struct gd_image *image_out);

/** Unmap the file behind an image of gd_image_of_file. */
void gd_image_close(struct gd_image *image);

/** @return the defined symbol of that name in any version, or NULL */
const ElfW(Sym) * gd_image_find(const struct gd_image *image, const char *name);

/**
 * @param start  of a file name
 * @return the first of the libraries that the object needs (DT_NEEDED) whose name begins so, or
 * NULL
 */
const char *gd_image_needed(const struct gd_image *image, const char *start);

/**
 * From which library an object wants a symbol.
 *
 * @param index  of the symbol
 * @return the file name in the object's table of versions, NULL for a symbol without a version
 */
const char *gd_image_wanted_from(const struct gd_image *image, uint32_t index);

#endif
