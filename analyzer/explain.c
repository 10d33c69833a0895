/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/safe_text.h"
#include "analyzer/xalloc.h"

#define MOST_WORDS 4
#define LABEL_WIDTH 22

struct note {
	char *line; /* holds everything else */
	const char *pid, *kind;
	const char *words[MOST_WORDS]; /* "" where there are fewer */
	bool told;
};

struct notes {
	struct note *items;
	size_t count, capacity;
	size_t folder_length; /* of the path before names of stand-ins, with its slash */
	const char *folder;
};

/* ---- reading ---- */

static const char *next_word(char **rest)
{
	const char *word = strsep(rest, "\t");
	return word ? word : "";
}

static void add(struct notes *notes, const char *text)
{
	char *line = ga_xstrdup(text), *rest = line;
	struct note note = {.line = line};
	line[strcspn(line, "\n")] = 0;
	note.pid = next_word(&rest);
	note.kind = next_word(&rest);
	for (size_t i = 0; i < MOST_WORDS; i++)
		note.words[i] = next_word(&rest);
	notes->items = ga_xgrow(notes->items, notes->count, &notes->capacity, sizeof(note));
	notes->items[notes->count++] = note;
}

static void read_notes(struct notes *notes, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t capacity = 0;
	while (file && getline(&line, &capacity, file) > 0)
		add(notes, line);
	free(line);
	if (file)
		fclose(file);
}

static void free_notes(struct notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		free(notes->items[i].line);
	free(notes->items);
}

/* ---- writing ---- */

static void tell(int indent, const char *label, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void tell(int indent, const char *label, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = ga_format_list(format, arguments);
	va_end(arguments);
	char *line = ga_format("%*s%-*s  %s", indent, "", LABEL_WIDTH, label, text);
	ga_put_safe(stderr, line);
	fputc('\n', stderr);
	free(line);
	free(text);
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* A stand-in by its place below their folder, another object by its file name. */
static const char *short_name(const struct notes *notes, const char *path)
{
	if (!*path)
		return "the program";
	if (strncmp(path, notes->folder, notes->folder_length) == 0)
		return path + notes->folder_length;
	return file_of(path);
}

/* CUDA releases that have a runtime among the stand-ins, e.g. "13, 12, 11".  free() it. */
static char *built_releases(const char *folder)
{
	char *list = ga_xstrdup("");
	for (int major = 99; major > 9; major--) {
		char *path = ga_format("%s/cu%d", folder, major);
		if (access(path, R_OK) == 0) {
			char *longer = ga_format("%s%s%d", list, *list ? ", " : "", major);
			free(list);
			list = longer;
		}
		free(path);
	}
	return list;
}

/* Variables by which a user changes what the stand-in, CUDA or PyTorch's allocator do. */
static bool is_setting(const char *entry)
{
	static const char *const starts[] = {"GPUSHIM_", "CUDA_", "CUBLAS_", "NCCL_", "PYTORCH_",
	    "TORCH_NCCL_", "TRITON_LIBCUDA_PATH=", "LD_LIBRARY_PATH="};
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		if (strncmp(entry, starts[i], strlen(starts[i])) == 0)
			return true;
	}
	return false;
}

static bool launcher_sets(const struct ga_launch *launch, const char *entry)
{
	size_t length = strcspn(entry, "=");
	for (size_t i = 0; i < launch->names.count; i++) {
		const char *name = launch->names.items[i];
		if (strlen(name) == length && memcmp(name, entry, length) == 0)
			return true;
	}
	return false;
}

/* A variable that was set again later, or that only keeps the run's own books. */
static bool is_dull(const struct ga_launch *launch, size_t index)
{
	static const char *const books[] = {
	    "GPUSHIM_DRYRUN_SHARED", "GPUSHIM_DRYRUN_EXPLAIN", "GPUSHIM_TRACE_LIST"};
	const char *name = launch->names.items[index];
	for (size_t i = 0; i < sizeof(books) / sizeof(*books); i++) {
		if (strcmp(name, books[i]) == 0)
			return true;
	}
	for (size_t i = index + 1; i < launch->names.count; i++) {
		if (strcmp(name, launch->names.items[i]) == 0)
			return true;
	}
	return false;
}

static void tell_settings(const struct ga_launch *launch)
{
	extern char **environ;
	for (size_t i = 0; i < launch->names.count; i++) {
		if (!is_dull(launch, i))
			tell(2, "set by gpushim", "%s=%s", launch->names.items[i],
			    launch->values.items[i]);
	}
	for (char **entry = environ; *entry; entry++) {
		if (is_setting(*entry) && !launcher_sets(launch, *entry))
			tell(2, "from the environment", "%s", *entry);
	}
}

static const char *how(const struct note *note)
{
	return strcmp(note->words[3], "needed") == 0 ? "needed by" : "opened by";
}

/* A request, once for all who had it answered in the same way. */
static void tell_asked(struct notes *notes, size_t first)
{
	const struct note *note = &notes->items[first];
	size_t more = 0;
	for (size_t i = first + 1; i < notes->count; i++) {
		struct note *other = &notes->items[i];
		if (strcmp(other->kind, "asked") != 0 || strcmp(other->pid, note->pid) != 0 ||
		    strcmp(other->words[0], note->words[0]) != 0 ||
		    strcmp(other->words[1], note->words[1]) != 0)
			continue;
		other->told = true;
		more += strcmp(other->words[2], note->words[2]) != 0;
	}
	char *others = more ? ga_format(" and %zu more", more) : ga_xstrdup("");
	bool found = strcmp(note->words[1], "-") != 0;
	tell(4, file_of(note->words[0]), "%s; %s %s%s",
	    found ? short_name(notes, note->words[1]) : "not found: there is no stand-in of it",
	    how(note), short_name(notes, note->words[2]), others);
	free(others);
}

/* The release of CUDA is that of the runtime that was asked for first. */
static void tell_release(struct notes *notes, const char *pid)
{
	for (size_t i = 0; i < notes->count; i++) {
		const struct note *note = &notes->items[i];
		const char *file = file_of(note->words[0]);
		if (strcmp(note->pid, pid) != 0 || strcmp(note->kind, "asked") != 0 ||
		    strncmp(file, "libcudart.so.", 13) != 0)
			continue;
		int major = atoi(file + 13);
		tell(4, "CUDA release", "%d, since %s is %s %s", major, file, how(note),
		    short_name(notes, note->words[2]));
		return;
	}
	tell(4, "CUDA release", "unknown: nothing asked for libcudart.so");
}

static void tell_note(struct notes *notes, size_t index)
{
	struct note *note = &notes->items[index];
	if (note->told)
		return;
	note->told = true;
	if (strcmp(note->kind, "asked") == 0)
		tell_asked(notes, index);
	else if (strcmp(note->kind, "stub") == 0)
		tell(4, "made a stub", "%s of %s for %s: no stand-in has it", note->words[0],
		    note->words[1], short_name(notes, note->words[2]));
	else if (strcmp(note->kind, "foreign") == 0)
		tell(4, "refused", "%s: a real NVIDIA library", note->words[0]);
	else if (strcmp(note->kind, "device") == 0)
		tell(4, "device", "started: %s, %s visible to the process", note->words[0],
		    note->words[1]);
}

static void tell_process(struct notes *notes, size_t first)
{
	const char *pid = notes->items[first].pid;
	tell(2, "process", "%s: %s", pid, notes->items[first].words[0]);
	tell_release(notes, pid);
	for (size_t i = first; i < notes->count; i++) {
		if (strcmp(notes->items[i].pid, pid) == 0)
			tell_note(notes, i);
	}
}

void ga_explain(const char *path, const char *folder, const struct ga_launch *launch)
{
	char *prefix = ga_format("%s/", folder), *releases = built_releases(folder);
	struct notes notes = {.folder = prefix, .folder_length = strlen(prefix)};
	bool any = false;
	read_notes(&notes, path);
	ga_say("what the stand-in GPU did, and why");
	tell(2, "stand-in libraries", "%s, for CUDA %s", folder, releases);
	tell_settings(launch);
	for (size_t i = 0; i < notes.count; i++) {
		if (notes.items[i].told || strcmp(notes.items[i].kind, "program") != 0)
			continue;
		tell_process(&notes, i);
		any = true;
	}
	if (!any)
		tell(2, "processes", "none asked for a library of NVIDIA");
	free_notes(&notes);
	free(prefix);
	free(releases);
}
