/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door (LD_AUDIT): whoever looks for an NVIDIA library gets the stand-in of that name, or none.
 *
 * The dynamic linker asks la_objsearch before it searches, so the answer wins over DT_RPATH, the
 * library cache and full paths alike.  la_symbind and la_pltenter are not defined on purpose: their
 * mere presence makes the linker slow and switches off optimisations.  All this runs in a namespace
 * of its own, with a libc of its own, in every process, so it does nothing but compare names.
 */
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit_names.h"
#include "audit_notes.h"
#include "audit_unknown.h"
#include "elf_image.h"
#include "gd_export.h"
#include "vendor_names.h"

/* Runtime and CUPTI exist once per CUDA major; every other name occurs in the first folder only. */
static const char *const folders[] = {"", "cu13/", "cu12/", "cu11/"};

static char home[PATH_MAX]; /* folder of this library, with a slash at its end */
static size_t home_length;
static char answer[PATH_MAX + NAME_MAX + 8]; /* the linker copies it, under its own lock */

GD_EXPORT unsigned la_version(unsigned version);
GD_EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag);
GD_EXPORT unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie);

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The name that a library had before a wheel brought it along. */
static const char *plain_name(const char *file)
{
	static char plain[NAME_MAX + 1];
	size_t length = gd_renamed_length(file);

	if (!length)
		return file;
	snprintf(
	    plain, sizeof(plain), "%.*s%s", (int)length, file, file + length + 1 + GD_RENAMED_HASH);
	return plain;
}

/* True for libNAME.so, libNAME.so.VERSION and libNAME_part.so of the table. */
bool gd_audit_is_vendor(const char *file)
{
#define GD_LENGTH(name) {name, sizeof(name) - 1},
	static const struct {
		const char *name;
		size_t length;
	} names[] = {GD_VENDOR_NAMES(GD_LENGTH)};
#undef GD_LENGTH

	if (strncmp(file, "libcu", 5) != 0 && strncmp(file, "libn", 4) != 0)
		return false;
	file = plain_name(file);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *rest = file + 3 + names[i].length;

		if (strncmp(file + 3, names[i].name, names[i].length) == 0 &&
		    (*rest == '_' || strncmp(rest, ".so", 3) == 0 ||
			strncmp(rest, ".alt.so", 7) == 0))
			return true;
	}
	return false;
}

/* From a line of the map of the process, "from-to rwxp offset device inode   path". */
static bool path_of_line(const char *line, uintptr_t address, char *path_out)
{
	unsigned long from, to;
	int at = 0;

	return sscanf(line, "%lx-%lx %*s %*s %*s %*s %n", &from, &to, &at) == 2 && at &&
	    address >= from && address < to && realpath(line + at, path_out);
}

/* The linker calls us so early that dladdr() of C libraries before 2.34 jumps into nothing. */
static bool find_path(uintptr_t address, char *path_out)
{
	static char line[PATH_MAX + 128];
	bool found = false;
	FILE *map = fopen("/proc/self/maps", "re");

	while (map && !found && fgets(line, sizeof(line), map)) {
		line[strcspn(line, "\n")] = 0;
		found = path_of_line(line, address, path_out);
	}
	if (map)
		fclose(map);
	return found;
}

unsigned la_version(unsigned version)
{
	if (!find_path((uintptr_t)la_version, home))
		return 0;
	home_length = (size_t)(file_of(home) - home);
	home[home_length] = 0;
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* Without its runtime library no program comes far, and old linkers do not even name it. */
static void tell_missing(const char *file)
{
	static bool told;
	char message[NAME_MAX + 160];
	int length;

	if (told || strncmp(file, "libcudart.so.", 13) != 0)
		return;
	told = true;
	length = snprintf(message, sizeof(message),
	    "gpushim dryrun: no stand-in for %.255s was built: `make headers && make` builds those of all "
	    "CUDA releases\n",
	    file);
	if (write(STDERR_FILENO, message, (size_t)length) < 0)
		return;
}

/* Whether the namespace of the object that searches has a file already; its cookie is still what
 * the linker made it, its map. */
static bool is_loaded(const char *path, const uintptr_t *cookie)
{
	const struct link_map *map = (const struct link_map *)*cookie;

	while (map && map->l_prev)
		map = map->l_prev;
	while (map && strcmp(map->l_name, path) != 0)
		map = map->l_next;
	return map != NULL;
}

char *gd_audit_stand_in(const char *file)
{
	file = plain_name(file);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(answer, sizeof(answer), "%s%s%s", home, folders[i], file);
		if (access(answer, R_OK) == 0)
			return answer;
	}
	return NULL;
}

/* Who asks for a library, and whether it was linked with it. */
static void note_asked(const char *name, const char *found, const uintptr_t *cookie)
{
	const struct link_map *map = (const struct link_map *)*cookie;
	struct gd_image image;
	bool needs = gd_image_of_map(map, &image) && gd_image_needed(&image, file_of(name));

	gd_audit_note("asked", name, found ? found : "-", map->l_name, needs ? "needed" : "opened");
}

/*
 * A vendor library without a stand-in is not found, as on a machine without CUDA: better than to
 * let a real one of an installed toolkit in.
 *
 * The linker later looks a needed library up by the name that it was needed under.  It adds the
 * name that it searched to an object that it loads, but to one that is loaded already only the name
 * that it was told first.  So where the stand-in is there, a renamed one is left to the search of
 * the folders: that keeps its name, and asks again for each folder.
 */
char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
	const char *wanted = file_of(name);
	char *found;

	if (!gd_audit_is_vendor(wanted))
		return (char *)name;
	found = gd_audit_stand_in(wanted);
	if (found && flag == LA_SER_ORIG && gd_renamed_length(wanted) && wanted == name &&
	    is_loaded(found, cookie))
		return (char *)name;
	note_asked(name, found, cookie);
	if (!found)
		tell_missing(plain_name(wanted));
	return found;
}

/* The name an object gives itself, or an empty string; a copy under another name keeps it. */
static const char *soname_of(const struct link_map *map)
{
	const char *strings = NULL;
	size_t offset = 0;

	for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_STRTAB)
			strings = (const char *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_SONAME)
			offset = entry->d_un.d_val;
	}
	if (!strings || !offset)
		return "";
	if ((uintptr_t)strings < map->l_addr) /* not relocated by this linker */
		strings += map->l_addr;
	return strings + offset;
}

static bool is_ours(const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) && strncmp(real, home, home_length) == 0;
}

/* Last line of defence: with a real library in the process nothing it reports would be true. */
static void refuse(const struct link_map *map)
{
	char message[2 * PATH_MAX];
	int length = snprintf(message, sizeof(message),
	    "gpushim dryrun: %s is a real NVIDIA library; refusing to run on a mixture of it and "
	    "the stand-in GPU\n",
	    map->l_name);

	gd_audit_note("foreign", map->l_name);
	if (write(STDERR_FILENO, message, (size_t)length) < 0)
		_exit(1);
	_exit(1);
}

/* The library preloaded beside this one carries calls of unknown functions to the device. */
static void find_listener(const struct link_map *map)
{
	void (*tell)(const char *);
	const ElfW(Sym) * symbol;
	struct gd_image image;

	if (strcmp(file_of(map->l_name), "libgpushim-zero.so") != 0 ||
	    !gd_image_of_map(map, &image) ||
	    !(symbol = gd_image_find(&image, "gpushim_dryrun_unknown")))
		return;
	tell = (void (*)(const char *))(map->l_addr + symbol->st_value);
	gd_unknown_listen(tell);
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	if (gd_audit_is_vendor(file_of(map->l_name)) || gd_audit_is_vendor(soname_of(map))) {
		if (!is_ours(map->l_name))
			refuse(map);
		return 0;
	}
	if (namespace == LM_ID_BASE) { /* the device serves no other */
		find_listener(map);
		gd_unknown_provide(map);
	}
	return 0;
}
