/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/fault_script.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_RULES 256
#define MAX_FRAMES 64
#define SEPARATORS ", \t\r\n"
#define LARGEST_VALUE 1000000000
#define NAME_BYTES 96

enum when { AT, FROM, ALWAYS, LARGER };
enum what { ANSWER, ANSWER_FOR_GOOD, DELAY, TAKE };

struct rule {
	char name[NAME_BYTES], library[NAME_BYTES];
	enum when when;
	enum what what;
	uint64_t number; /* of the call, or bytes */
	uint64_t value;	 /* a code, microseconds or bytes */
	uint64_t calls;	 /* seen so far; atomic */
};

static struct rule rules[MAX_RULES];
static size_t rule_count;

/* ---- reading ---- */

static bool number(const char **at, uint64_t *out)
{
	char *end;
	if (!isdigit((unsigned char)**at))
		return false;
	errno = 0;
	*out = strtoull(*at, &end, 10);
	*at = end;
	return errno == 0;
}

static bool copy_part(char to[NAME_BYTES], const char *from, size_t length)
{
	if (!length || length >= NAME_BYTES)
		return false;
	memcpy(to, from, length);
	to[length] = 0;
	return true;
}

/* FUNCTION or FUNCTION@LIBRARY */
static bool read_who(struct rule *rule, const char *text, size_t length)
{
	const char *library = memchr(text, '@', length);
	if (!library)
		return copy_part(rule->name, text, length);
	size_t name = (size_t)(library - text);
	return copy_part(rule->name, text, name) &&
	       copy_part(rule->library, library + 1, length - name - 1);
}

static bool read_when(struct rule *rule, const char **at)
{
	if (**at == '*') {
		rule->when = ALWAYS;
		++*at;
		return true;
	}
	rule->when = **at == '>' ? LARGER : AT;
	*at += **at == '>';
	if (!number(at, &rule->number))
		return false;
	if (**at == '+' && rule->when == AT) {
		rule->when = FROM;
		++*at;
	}
	return true;
}

static bool read_what(struct rule *rule, const char *at)
{
	const char kind = *at++;
	if (!number(&at, &rule->value))
		return false;
	switch (kind) {
	case '=':
		rule->what = *at == '!' ? ANSWER_FOR_GOOD : ANSWER;
		at += *at == '!';
		break;
	case '~':
		rule->what = DELAY;
		break;
	case '^':
		rule->what = TAKE;
		return !*at;
	default:
		return false;
	}
	return !*at && rule->value <= LARGEST_VALUE;
}

static bool read_rule(struct rule *rule, const char *text)
{
	const char *at = strchr(text, ':');
	memset(rule, 0, sizeof(*rule));
	if (!at || !read_who(rule, text, (size_t)(at - text)))
		return false;
	at++;
	return read_when(rule, &at) && read_what(rule, at);
}

static void read_words(char *text, void (*on_file)(const char *path))
{
	char *rest = NULL;
	for (char *word = strtok_r(text, SEPARATORS, &rest); word;
	     word = strtok_r(NULL, SEPARATORS, &rest)) {
		if (on_file && word[0] == '@')
			on_file(word + 1);
		else if (rule_count < MAX_RULES && read_rule(&rules[rule_count], word))
			rule_count++;
		else
			fprintf(stderr, "gpushim dryrun: fault script: %s \"%s\"\n",
			    rule_count < MAX_RULES ? "bad rule" : "too many rules:", word);
	}
}

static void read_file(const char *path)
{
	char line[1024];
	FILE *file = fopen(path, "re");
	if (!file) {
		fprintf(stderr, "gpushim dryrun: fault script: cannot read %s: %s\n", path,
		    strerror(errno));
		return;
	}
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#")] = 0;
		read_words(line, NULL);
	}
	fclose(file);
}

bool gd_fault_script_read(const char *text)
{
	char *copy = text ? strdup(text) : NULL;
	if (!copy)
		return false;
	read_words(copy, read_file);
	free(copy);
	return rule_count > 0;
}

/* ---- calls ---- */

static bool through_library(const char *library)
{
	void *frames[MAX_FRAMES];
	Dl_info place;
	int count = backtrace(frames, MAX_FRAMES);
	for (int i = 0; i < count; i++) {
		const char *path = dladdr(frames[i], &place) ? place.dli_fname : NULL;
		const char *slash = path ? strrchr(path, '/') : NULL;
		if (path && strstr(slash ? slash + 1 : path, library))
			return true;
	}
	return false;
}

static bool concerns(const struct rule *rule, const char *name)
{
	return fnmatch(rule->name, name, 0) == 0 &&
	       (!rule->library[0] || through_library(rule->library));
}

static bool is_due(const struct rule *rule, uint64_t call)
{
	return rule->when == ALWAYS || (rule->when == AT && call == rule->number) ||
	       (rule->when == FROM && call >= rule->number);
}

static void apply(const struct rule *rule, struct gd_fault *fault)
{
	struct timespec pause = {
	    (time_t)(rule->value / 1000000), (long)(rule->value % 1000000 * 1000)};
	switch (rule->what) {
	case ANSWER_FOR_GOOD:
		fault->for_good = true;
		/* fall through */
	case ANSWER:
		fault->code = (int)rule->value;
		break;
	case DELAY:
		nanosleep(&pause, NULL);
		break;
	case TAKE:
		fault->taken_bytes += rule->value;
		break;
	}
}

struct gd_fault gd_fault_call(const char *name)
{
	struct gd_fault fault = {0};
	for (size_t i = 0; i < rule_count; i++) {
		struct rule *rule = &rules[i];
		if (rule->when == LARGER || !concerns(rule, name))
			continue;
		uint64_t call = __atomic_add_fetch(&rule->calls, 1, __ATOMIC_RELAXED);
		if (is_due(rule, call) && !fault.code)
			apply(rule, &fault);
	}
	return fault;
}

struct gd_fault gd_fault_size(const char *name, size_t bytes)
{
	struct gd_fault fault = {0};
	for (size_t i = 0; name && i < rule_count && !fault.code; i++) {
		const struct rule *rule = &rules[i];
		if (rule->when == LARGER && bytes > rule->number && concerns(rule, name))
			apply(rule, &fault);
	}
	return fault;
}
