/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/kernel_times.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r\n"
#define LONGEST_NS 3600e9

struct rule {
	uint64_t time_ns;
	char *pattern;
};

static struct rule *rules;
static size_t rule_count;

static bool read_duration(const char *text, uint64_t *out)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double number = strtod(text, &end);
	for (size_t i = 0; end != text && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].name) != 0 || !(number >= 0) ||
		    number * units[i].ns > LONGEST_NS)
			continue;
		*out = (uint64_t)(number * units[i].ns);
		return true;
	}
	return false;
}

static const char *read_line(char *line)
{
	char *rest = NULL;
	line[strcspn(line, "#")] = 0;
	char *duration = strtok_r(line, BLANKS, &rest), *pattern = strtok_r(NULL, BLANKS, &rest);
	struct rule rule;
	if (!duration)
		return NULL;
	if (!read_duration(duration, &rule.time_ns))
		return "no duration such as 250us, up to an hour, at its beginning";
	if (!pattern || strtok_r(NULL, BLANKS, &rest))
		return "not a duration and one pattern";
	struct rule *more = realloc(rules, (rule_count + 1) * sizeof(*rules));
	rule.pattern = strdup(pattern);
	if (more)
		rules = more;
	if (!more || !rule.pattern)
		return "no memory";
	rules[rule_count++] = rule;
	return NULL;
}

bool gd_kernel_times_read(const char *path)
{
	FILE *file = path && *path ? fopen(path, "re") : NULL;
	char line[4096];
	const char *wrong = NULL;
	unsigned number = 0;
	if (!path || !*path)
		return true;
	if (!file) {
		fprintf(stderr, "gpushim dryrun: GPUSHIM_DRYRUN_TIMES: cannot read %s: %s\n", path,
		    strerror(errno));
		return false;
	}
	while (!wrong && fgets(line, sizeof(line), file)) {
		number++;
		wrong = strlen(line) + 1 == sizeof(line) ? "too long" : read_line(line);
	}
	if (ferror(file) && !wrong)
		wrong = "cannot be read";
	fclose(file);
	if (wrong)
		fprintf(stderr, "gpushim dryrun: %s, line %u: %s\n", path, number, wrong);
	return !wrong;
}

static bool fits(const char *pattern, const char *name)
{
	return strpbrk(pattern, "*?[") ? fnmatch(pattern, name, 0) == 0
				       : strstr(name, pattern) != NULL;
}

bool gd_kernel_time(const char *name, uint64_t *time_out)
{
	for (size_t i = 0; i < rule_count; i++) {
		if (!fits(rules[i].pattern, name))
			continue;
		*time_out = rules[i].time_ns;
		return true;
	}
	return false;
}
