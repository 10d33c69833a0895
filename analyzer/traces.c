/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/traces.h"
#include "analyzer/safe_text.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDER_DEPTH 4

static bool ends_with(const char *text, const char *suffix)
{
	size_t length = strlen(text), end = strlen(suffix);
	return length > end && strcmp(text + length - end, suffix) == 0;
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* A journal whose trace was never created still holds the recording. */
static void take_file(struct ga_strings *found, char *path)
{
	if (ends_with(path, GF_JOURNAL_SUFFIX))
		path[strlen(path) - strlen(GF_JOURNAL_SUFFIX)] = 0;
	if (ends_with(path, ".gst"))
		ga_strings_take(found, path);
	else
		free(path);
}

/* A folder that is being searched, and those around it. */
struct searched {
	const struct searched *outer;
	int depth;
	struct stat status;
};

static bool same_file(const struct stat *left, const struct stat *right)
{
	return left->st_dev == right->st_dev && left->st_ino == right->st_ino;
}

/* A link to a folder around it would give the same traces again. */
static bool is_inside_itself(const struct searched *folder)
{
	for (const struct searched *outer = folder->outer; outer; outer = outer->outer)
		if (same_file(&outer->status, &folder->status))
			return true;
	return false;
}

static void search_folder(const char *folder, const struct searched *outer, struct ga_strings *found)
{
	struct searched self = {.outer = outer, .depth = outer ? outer->depth + 1 : 0};
	if (self.depth >= FOLDER_DEPTH || stat(folder, &self.status) != 0 || is_inside_itself(&self))
		return;
	DIR *directory = opendir(folder);
	struct dirent *entry;
	while (directory && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		char *path =
		    ga_format("%s%s%s", folder, ends_with(folder, "/") ? "" : "/", entry->d_name);
		struct stat status;
		bool there = stat(path, &status) == 0;
		if (there && S_ISDIR(status.st_mode))
			search_folder(path, &self, found);
		if (!there || S_ISREG(status.st_mode)) /* a pipe or a device may never end */
			take_file(found, path);
		else
			free(path);
	}
	if (directory)
		closedir(directory);
}

/* Traces of a folder, by name, each once (a trace and its journal are one). */
static void add_folder(struct ga_strings *paths, const char *folder)
{
	struct ga_strings found = {0};
	search_folder(folder, NULL, &found);
	if (found.count)
		qsort(found.items, found.count, sizeof(*found.items), compare);
	for (size_t i = 0; i < found.count; i++)
		if (i == 0 || strcmp(found.items[i], found.items[i - 1]) != 0)
			ga_strings_add(paths, "%s", found.items[i]);
	if (found.count == 0)
		ga_say("%s: no trace (*.gst) in this folder", folder);
	ga_strings_clear(&found);
}

static struct ga_strings expand(const struct ga_options *options, int *status)
{
	struct ga_strings paths = {0};
	for (int i = 0; i < options->argument_count; i++) {
		const char *path = options->arguments[i];
		struct stat file;
		if (strcmp(path, "-") != 0 && stat(path, &file) == 0 && S_ISDIR(file.st_mode)) {
			size_t before = paths.count;
			add_folder(&paths, path);
			if (paths.count == before)
				*status = GA_EXIT_FAILED;
		} else {
			ga_strings_add(&paths, "%s", path);
		}
	}
	return paths;
}

/* Failing beats a crossed threshold, which beats damage: 1, 4, 5, 3, 0. */
static int worse(int one, int other)
{
	static const int rank[] = {[GA_EXIT_FAILED] = 5,
	    [GA_EXIT_CROSSED] = 4,
	    [GA_EXIT_INCONCLUSIVE] = 3,
	    [GA_EXIT_DAMAGED] = 2};
	return rank[one] >= rank[other] ? one : other;
}

/* An export is figures without words: what it lacks is told beside it. */
static void tell_gap(const struct ga_model *model)
{
	char *gap = ga_model_gap(model);
	if (gap)
		ga_say("%s is incomplete: %s", model->path, gap);
	free(gap);
}

static void tell_damage(const struct ga_model *model)
{
	const struct gf_damage *damage = gf_reader_damage(model->reader);
	ga_say("%s is damaged: %s", model->path,
	    damage->first_text[0] ? damage->first_text : "bytes are not readable");
	ga_say("what could be read is reported; gpushim check tells how much that is");
}

/* Most messages name the file themselves. */
static void tell_error(const char *path, const struct gf_error *error)
{
	const char *text = error->text[0] ? error->text : gf_status_words(error->status);
	if (strstr(text, path))
		ga_say("%s", text);
	else
		ga_say("%s: %s", path, text);
}

static int report_one(const struct ga_options *options, const struct ga_reporter *reporter,
    const char *path, const struct ga_page *page, struct ga_json *json)
{
	struct ga_model model;
	struct gf_error error = {0};
	if (ga_model_open(path, &model, &error) != GF_OK) {
		tell_error(path, &error);
		if (json)
			ga_json_string(json, "error", error.text);
		return GA_EXIT_FAILED;
	}
	int status = reporter->report(options, &model, page, json);
	if (ga_model_damaged(&model))
		status = worse(status, GA_EXIT_DAMAGED);
	if (ga_model_damaged(&model) && options->command != GA_COMMAND_check)
		tell_damage(&model);
	else if (options->command == GA_COMMAND_export)
		tell_gap(&model); /* elsewhere a notice tells it */
	ga_model_close(&model);
	return status;
}

static int report_json(const struct ga_options *options, const struct ga_reporter *reporter,
    const struct ga_strings *paths, const struct ga_page *page)
{
	struct ga_json json = {.out = page->out};
	int status = GA_EXIT_OK;
	char *schema = ga_format("gpushim.%s/1", ga_command_rows[options->command].name);
	ga_json_object(&json, NULL);
	ga_json_string(&json, "schema", schema);
	free(schema);
	if (paths->count == 1) {
		ga_json_string(&json, "trace", paths->items[0]);
		status = report_one(options, reporter, paths->items[0], page, &json);
	} else {
		ga_json_list(&json, "traces");
		for (size_t i = 0; i < paths->count; i++) {
			ga_json_object(&json, NULL);
			ga_json_string(&json, "trace", paths->items[i]);
			status = worse(
			    status, report_one(options, reporter, paths->items[i], page, &json));
			ga_json_object_end(&json);
		}
		ga_json_list_end(&json);
	}
	ga_json_object_end(&json);
	return status;
}

static int report_text(const struct ga_options *options, const struct ga_reporter *reporter,
    const struct ga_strings *paths, const struct ga_page *page)
{
	int status = GA_EXIT_OK;
	for (size_t i = 0; i < paths->count; i++) {
		if (paths->count > 1) {
			fprintf(page->out, "%s%s==> ", i ? "\n" : "", ga_style(page, GA_BOLD));
			ga_print_safe(page, paths->items[i]);
			fprintf(page->out, " <==%s\n", ga_style(page, GA_PLAIN));
		}
		fflush(page->out); /* messages on stderr stay behind what they belong to */
		status = worse(status, report_one(options, reporter, paths->items[i], page, NULL));
	}
	return status;
}

/* Opening the output empties it: that must not be what is about to be read. */
static bool output_is_input(const struct ga_options *options, const struct ga_strings *paths)
{
	const char *output = options->values[GA_OPTION_OUTPUT];
	struct stat to, from;
	if (!output || stat(output, &to) != 0 || !S_ISREG(to.st_mode))
		return false;
	for (size_t i = 0; i < paths->count; i++) {
		char *journal = ga_format("%s%s", paths->items[i], GF_JOURNAL_SUFFIX);
		bool same = (stat(paths->items[i], &from) == 0 && same_file(&to, &from)) ||
		    (stat(journal, &from) == 0 && same_file(&to, &from));
		free(journal);
		if (same) {
			ga_say("--output %s is the trace itself; name another file", output);
			return true;
		}
	}
	return false;
}

int ga_traces_report(const struct ga_options *options, const struct ga_reporter *reporter)
{
	int status = GA_EXIT_OK;
	struct ga_page page;
	if (options->argument_count == 0) {
		ga_say("%s needs a trace: a file, a folder, or - for standard input",
		    ga_command_rows[options->command].name);
		return GA_EXIT_USAGE;
	}
	struct ga_strings paths = expand(options, &status);
	if (paths.count > 1 && options->command == GA_COMMAND_export) {
		ga_say("export writes one trace at a time; this folder has several");
		ga_strings_clear(&paths);
		return GA_EXIT_USAGE;
	}
	if (output_is_input(options, &paths)) {
		ga_strings_clear(&paths);
		return GA_EXIT_USAGE;
	}
	if (!ga_page_open(&page, options)) {
		ga_strings_clear(&paths);
		return GA_EXIT_FAILED;
	}
	if (paths.count) {
		bool json = ga_option_given(options, GA_OPTION_JSON);
		int reported = json ? report_json(options, reporter, &paths, &page)
				    : report_text(options, reporter, &paths, &page);
		status = worse(status, reported);
	}
	ga_strings_clear(&paths);
	return ga_page_close(&page) ? status : GA_EXIT_FAILED;
}

int ga_trace_failed(const struct ga_model *model, const struct gf_error *error)
{
	tell_error(model->path, error);
	return GA_EXIT_FAILED;
}

void ga_notices_put(const struct ga_page *page, struct ga_json *json, struct ga_strings *notices)
{
	if (json) {
		ga_json_list(json, "notices");
		for (size_t i = 0; i < notices->count; i++)
			ga_json_string(json, NULL, notices->items[i]);
		ga_json_list_end(json);
	} else if (notices->count) {
		ga_heading(page, "Limits of this recording");
		for (size_t i = 0; i < notices->count; i++)
			ga_paragraph(page, "  - ", notices->items[i]);
	}
	ga_strings_clear(notices);
}
