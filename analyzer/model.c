/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/allocator_settings.h"
#include "analyzer/sizes.h"

/* NAME.gst.journal means the trace that it belongs to. */
static char *trace_path(const char *path)
{
	char *copy = ga_xstrdup(path);
	size_t length = strlen(copy), suffix = strlen(GF_JOURNAL_SUFFIX);
	if (length > suffix && strcmp(copy + length - suffix, GF_JOURNAL_SUFFIX) == 0)
		copy[length - suffix] = 0;
	return copy;
}

static bool is_true(const char *value)
{
	return value && value[0] && strcmp(value, "0") != 0;
}

static enum ga_backend backend_of(const struct ga_model *model)
{
	char *backend = ga_model_setting(model, "backend");
	bool async = backend && strcmp(backend, "cudaMallocAsync") == 0;
	free(backend);
	if (is_true(ga_model_property(model, "no_caching")))
		return GA_BACKEND_DIRECT;
	if (async)
		return GA_BACKEND_ASYNC;
	bool blocks = model->summary->record_count[GF_TAG_block] > 0;
	return blocks || ga_model_property(model, "torch_version") ? GA_BACKEND_NATIVE
								   : GA_BACKEND_DIRECT;
}

enum gf_status ga_model_open(const char *path, struct ga_model *model_out, struct gf_error *error)
{
	struct ga_model model = {.path = trace_path(path)};
	enum gf_status status = gf_reader_open(model.path, &model.reader, error);
	if (status != GF_OK) {
		free(model.path);
		return status;
	}
	model.summary = gf_reader_summary(model.reader);
	model.stacks = ga_stacks_new(model.reader);
	model.dryrun = is_true(ga_model_property(&model, "dryrun"));
	model.backend = backend_of(&model);
	*model_out = model;
	return GF_OK;
}

void ga_model_close(struct ga_model *model)
{
	ga_stacks_free(model->stacks);
	gf_reader_close(model->reader);
	free(model->path);
	*model = (struct ga_model){0};
}

static uint64_t whole_number(const char *text)
{
	char *end;
	if (!text || *text < '0' || *text > '9')
		return GA_UNKNOWN;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	return errno || *end ? GA_UNKNOWN : value;
}

uint64_t ga_model_number(const struct ga_model *model, const char *name)
{
	return whole_number(ga_model_property(model, name));
}

const char *ga_model_device(const struct ga_model *model, unsigned device, const char *what)
{
	char name[80];
	snprintf(name, sizeof(name), "device.%u.%s", device, what);
	return ga_model_property(model, name);
}

uint64_t ga_model_device_number(const struct ga_model *model, unsigned device, const char *what)
{
	return whole_number(ga_model_device(model, device, what));
}

/* The settings came from a variable that this release does not read. */
static bool settings_are_ignored(const struct ga_model *model)
{
	const char *variable = ga_model_property(model, "allocator_variable");
	return variable && strcmp(variable, GA_SECOND_VARIABLE) == 0 &&
	       ga_torch_number(ga_model_property(model, "torch_version")) <
		   GA_TORCH_SECOND_VARIABLE;
}

const char *ga_model_allocator_settings(const struct ga_model *model)
{
	if (settings_are_ignored(model))
		return "";
	const char *text = ga_model_property(model, "allocator_settings");
	if (!text && ga_model_property(model, "record")) /* written later at the start */
		return "";
	return text;
}

char *ga_model_setting(const struct ga_model *model, const char *name)
{
	const char *at = ga_model_allocator_settings(model);
	char *found = NULL, *other, *value;
	while (at && ga_allocator_setting_next(&at, &other, &value)) {
		bool asked = strcmp(other, name) == 0;
		free(other);
		free(asked ? found : value); /* the last one counts */
		if (asked)
			found = value;
	}
	return found;
}

uint64_t ga_model_lost(const struct ga_model *model)
{
	uint64_t lost = 0;
	for (unsigned i = 0; i < GF_LOST_REASON_COUNT; i++)
		lost += model->summary->lost[i];
	return lost;
}

bool ga_model_damaged(const struct ga_model *model)
{
	const struct gf_damage *damage = gf_reader_damage(model->reader);
	return damage->damaged_frames || damage->unreadable_bytes || damage->truncated ||
	       damage->journal_damaged;
}

bool ga_model_journal_missing(const struct ga_model *model)
{
	return !model->summary->ended && !model->summary->has_journal && !ga_model_damaged(model) &&
	       !is_true(ga_model_property(model, "journal_folded"));
}

char *ga_model_journal_text(const struct ga_model *model)
{
	static const char cause[] =
	    "the process was killed, called exec, or still runs, and its journal";
	if (strcmp(model->path, "-") == 0)
		return ga_format(
		    "%s cannot come through a pipe. Most of the recording may be in it; "
		    "pass the name of the file",
		    cause);
	const char *slash = strrchr(model->path, '/');
	return ga_format("%s %s" GF_JOURNAL_SUFFIX " is not beside the trace. Most of the "
			 "recording may be in it; copy both files",
	    cause, slash ? slash + 1 : model->path);
}

const char *ga_model_start(const struct ga_model *model, char out[40])
{
	uint64_t ns = gf_reader_start_realtime_ns(model->reader);
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm date;
	out[0] = 0;
	if (ns && gmtime_r(&seconds, &date)) {
		size_t length = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &date);
		snprintf(out + length, 40 - length, ".%06" PRIu64 "Z", ns % 1000000000 / 1000);
	}
	return out;
}

uint64_t ga_model_duration_ns(const struct ga_model *model)
{
	const struct gf_summary *summary = model->summary;
	return summary->last_ticks > summary->first_ticks
		   ? gf_reader_span_ns(model->reader, summary->last_ticks - summary->first_ticks)
		   : 0;
}

static bool has_mark(const struct ga_model *model, enum gf_mark_kind kind)
{
	uint32_t count;
	const struct gf_mark *marks = gf_reader_marks(model->reader, &count);
	for (uint32_t i = 0; i < count; i++)
		if (marks[i].kind == kind)
			return true;
	return false;
}

char *ga_model_gap(const struct ga_model *model)
{
	char count[GA_THINGS_TEXT];
	uint64_t lost = ga_model_lost(model);
	bool ended = model->summary->ended;
	if (ga_model_journal_missing(model))
		return ga_model_journal_text(model);
	if (ga_model_damaged(model))
		return ga_format(
		    "a part of the trace is not readable%s", ended ? "" : ", the end included");
	if (lost)
		return ga_format("%s %s missing", ga_things_text(lost, "event", count),
		    lost == 1 ? "is" : "are");
	if (!ended && has_mark(model, GF_MARK_STOPPED)) /* how much is told at the end only */
		return ga_xstrdup("recording stopped before the program ended");
	if (!has_mark(model, GF_MARK_START))
		return ga_xstrdup("the beginning is missing");
	return NULL;
}

bool ga_model_records(const struct ga_model *model, const char *class_name)
{
	const char *at = ga_model_property(model, "record");
	size_t length = strlen(class_name);
	if (!at || !*at) /* recorders before this setting recorded all */
		return true;
	for (; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == length && strncmp(at, class_name, length) == 0)
			return true;
	return false;
}

/* ---- notices ---- */

static void lost_notices(const struct ga_model *model, struct ga_strings *notices)
{
	static const char *const words[GF_LOST_REASON_COUNT] = {
	    [GF_LOST_NO_CHUNK] = "because the writer did not keep up",
	    [GF_LOST_DISK] = "because the trace could not be written",
	    [GF_LOST_LIMIT] = "because the size limit was reached",
	    [GF_LOST_NO_THREAD] = "because there were too many threads",
	    [GF_LOST_UNHOOKED] = "because calls slipped past the hooks",
	    [GF_LOST_OVERWRITTEN] = "because the oldest part was overwritten",
	};
	char count[GA_SIZE_TEXT];
	for (unsigned i = 0; i < GF_LOST_REASON_COUNT; i++)
		if (model->summary->lost[i])
			ga_strings_add(notices, "events missing %s: %s",
			    words[i] ? words[i] : "for an unknown reason",
			    ga_count_text(model->summary->lost[i], count));
}

void ga_model_damage_notice(const struct ga_model *model, struct ga_strings *notices)
{
	const struct gf_damage *damage = gf_reader_damage(model->reader);
	char bytes[GA_SIZE_TEXT];
	if (ga_model_damaged(model))
		ga_strings_add(notices, "the trace is damaged: %s not readable%s%s",
		    ga_size_text(damage->unreadable_bytes, bytes),
		    damage->first_text[0] ? "; " : "", damage->first_text);
}

static bool is_of_times(const char *notice)
{
	static const char begin[] = "times of the device are not recorded";
	return strncmp(notice, begin, sizeof(begin) - 1) == 0;
}

static void text_notices(const struct ga_model *model, struct ga_strings *notices)
{
	uint32_t count;
	const struct gf_text_entry *texts = gf_reader_texts(model->reader, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (texts[i].kind == GF_TEXT_NOTICE && model->dryrun && is_of_times(texts[i].bytes))
			continue; /* the stand-in's own notice tells it already */
		if (texts[i].kind == GF_TEXT_NOTICE)
			ga_strings_add(notices, "%s", texts[i].bytes);
		else if (texts[i].kind == GF_TEXT_UNHOOKED)
			ga_strings_add(
			    notices, "%s is used by the program but not recorded", texts[i].bytes);
	}
}

/* Classes of GPUSHIM_RECORD that an analysis could have used. */
static void class_notice(const struct ga_model *model, struct ga_strings *notices)
{
	static const char *const classes[] = {"memory", "copies", "kernels", "api"};
	struct ga_strings absent = {0};
	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (!ga_model_records(model, classes[i]))
			ga_strings_add(&absent, "%s", classes[i]);
	char *text = ga_strings_join(&absent, ", ");
	if (*text)
		ga_strings_add(notices, "events that were not recorded (GPUSHIM_RECORD=%s): %s",
		    ga_model_property(model, "record"), text);
	free(text);
	ga_strings_clear(&absent);
}

static void stack_notice(const struct ga_model *model, struct ga_strings *notices)
{
	size_t damaged = ga_stacks_damaged(model->stacks);
	char count[GA_SIZE_TEXT];
	if (damaged)
		ga_strings_add(notices,
		    "parts of call stacks that are damaged and left out, so that lines or functions "
		    "may be missing: %s",
		    ga_count_text(damaged, count));
}

static void end_notice(const struct ga_model *model, struct ga_strings *notices)
{
	char *missing = ga_model_journal_missing(model) ? ga_model_journal_text(model) : NULL;
	if (missing)
		ga_strings_add(notices, "the recording has no end mark: %s", missing);
	else if (!model->summary->ended)
		ga_strings_add(notices, "the recording has no end mark: %s",
		    ga_model_damaged(model)
			? "it is among what is not readable, or the process was killed, called "
			  "exec, or still ran"
			: "the process was killed, called exec, or still ran; everything it had "
			  "stored until then is here");
	else if (model->summary->journal_left)
		ga_strings_add(notices,
		    "the program ended by _exit, or while threads of its Python were alive: nothing "
		    "is waited for then, so the journal was left; it has everything");
	free(missing);
}

void ga_model_missing_notices(const struct ga_model *model, struct ga_strings *notices)
{
	lost_notices(model, notices);
	end_notice(model, notices);
	if (!has_mark(model, GF_MARK_START))
		ga_strings_add(
		    notices, "the recording has no start mark: its beginning is missing");
}

void ga_model_notices(const struct ga_model *model, struct ga_strings *notices)
{
	ga_model_missing_notices(model, notices);
	if (model->dryrun)
		ga_strings_add(notices,
		    "recorded on a stand-in GPU: what PyTorch allocates and calls is real, kernels "
		    "did nothing, times of the device are simulated, and what the driver, cuDNN "
		    "and NCCL need for themselves is a guess");
	if (settings_are_ignored(model))
		ga_strings_add(notices,
		    GA_SECOND_VARIABLE " was set and had no effect: this release of PyTorch reads "
				       "its settings from " GA_FIRST_VARIABLE " alone");
	class_notice(model, notices);
	stack_notice(model, notices);
	text_notices(model, notices);
}

/* ---- the program's arguments ---- */

static unsigned hex4(const char *text)
{
	char digits[5] = {0};
	strncpy(digits, text, 4);
	return (unsigned)strtoul(digits, NULL, 16);
}

/* One code point as UTF-8; returns the bytes written (1..3; surrogates become '?'). */
static size_t put_utf8(char *out, unsigned code)
{
	if (code == 0 || (code >= 0xd800 && code < 0xe000))
		code = '?';
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	out[0] = (char)(0xe0 | code >> 12);
	out[1] = (char)(0x80 | (code >> 6 & 0x3f));
	out[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

/* Unescape the JSON string at `text` (behind its quote) into `out`; returns what follows it. */
static const char *unescape(const char *text, char *out)
{
	static const char names[] = "nrtbf", values[] = "\n\r\t\b\f";
	while (*text && *text != '"') {
		if (*text != '\\') {
			*out++ = *text++;
			continue;
		}
		const char *name = text[1] ? strchr(names, text[1]) : NULL;
		if (text[1] == 'u' && strlen(text) >= 6) {
			out += put_utf8(out, hex4(text + 2));
			text += 6;
		} else if (text[1]) {
			*out++ = name ? values[name - names] : text[1];
			text += 2;
		} else {
			text++;
		}
	}
	*out = 0;
	return *text ? text + 1 : NULL;
}

void ga_model_program(const struct ga_model *model, struct ga_strings *arguments)
{
	const char *at = ga_model_property(model, "program");
	if (!at || *at != '[')
		return;
	do {
		at += 1 + strspn(at + 1, " \n\t");
		if (*at != '"')
			return;
		char *argument = ga_xalloc(strlen(at), 1);
		at = unescape(at + 1, argument);
		ga_strings_take(arguments, argument);
		at = at ? at + strspn(at, " \n\t") : NULL;
	} while (at && *at == ',');
}

/* The first line that says something: `python -c` has whole programs as an argument.  free() it. */
static char *telling_line(const char *argument, const char *ellipsis)
{
	static const char ends[] = "\r\n";
	argument += strspn(argument, ends);
	size_t bytes = strcspn(argument, ends);
	bool more = argument[bytes + strspn(argument + bytes, ends)] != 0;
	return ga_format("%.*s%s", (int)bytes, argument, more ? ellipsis : "");
}

char *ga_model_program_line(const struct ga_model *model, const char *ellipsis)
{
	struct ga_strings arguments = {0};
	ga_model_program(model, &arguments);
	if (arguments.count == 0)
		return ga_xstrdup("unknown program");
	for (size_t i = 0; i < arguments.count; i++) {
		char *first = telling_line(arguments.items[i], ellipsis);
		free(arguments.items[i]);
		arguments.items[i] = first;
	}
	char *line = ga_strings_join(&arguments, " ");
	ga_strings_clear(&arguments);
	return line;
}
