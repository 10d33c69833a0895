/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/fault_script.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_RULES 64
#define SEPARATORS ", \t\n"

enum when { AT, FROM, ALWAYS, LARGER };

struct rule {
	char name[96];
	enum when when;
	bool delay;	 /* value is microseconds, not a result */
	uint64_t number; /* of the call, or bytes */
	long value;
	uint64_t calls; /* seen so far; atomic */
};

static struct rule rules[MAX_RULES];
static size_t rule_count;

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

static bool read_rule(struct rule *rule, const char *text)
{
	const char *at = strchr(text, ':');
	uint64_t value;
	if (!at || (size_t)(at - text) >= sizeof(rule->name) || at == text)
		return false;
	memset(rule, 0, sizeof(*rule));
	memcpy(rule->name, text, (size_t)(at - text));
	at++;
	if (*at == '*') {
		rule->when = ALWAYS;
		at++;
	} else {
		rule->when = *at == '>' ? LARGER : AT;
		at += *at == '>';
		if (!number(&at, &rule->number))
			return false;
		if (*at == '+' && rule->when == AT) {
			rule->when = FROM;
			at++;
		}
	}
	rule->delay = *at == '~';
	if (*at != '=' && *at != '~')
		return false;
	at++;
	if (!number(&at, &value) || *at || value > 1000000000)
		return false;
	rule->value = (long)value;
	return true;
}

bool gd_fault_script_read(const char *text)
{
	char *copy = text ? strdup(text) : NULL, *rest = NULL;
	if (!copy)
		return false;
	for (char *word = strtok_r(copy, SEPARATORS, &rest); word;
	     word = strtok_r(NULL, SEPARATORS, &rest)) {
		if (rule_count < MAX_RULES && read_rule(&rules[rule_count], word))
			rule_count++;
		else
			fprintf(stderr, "gpushim dryrun: fault script: bad rule \"%s\"\n", word);
	}
	free(copy);
	return rule_count > 0;
}

static int apply(const struct rule *rule)
{
	if (!rule->delay)
		return (int)rule->value;
	struct timespec pause = {rule->value / 1000000, rule->value % 1000000 * 1000};
	nanosleep(&pause, NULL);
	return 0;
}

int gd_fault_call(const char *name)
{
	int result = 0;
	for (size_t i = 0; i < rule_count; i++) {
		struct rule *rule = &rules[i];
		if (rule->when == LARGER || strcmp(rule->name, name) != 0)
			continue;
		uint64_t call = __atomic_add_fetch(&rule->calls, 1, __ATOMIC_RELAXED);
		bool due = rule->when == ALWAYS || (rule->when == AT && call == rule->number) ||
			   (rule->when == FROM && call >= rule->number);
		if (due && result == 0)
			result = apply(rule);
	}
	return result;
}

int gd_fault_size(const char *name, size_t bytes)
{
	for (size_t i = 0; i < rule_count; i++) {
		const struct rule *rule = &rules[i];
		if (rule->when == LARGER && bytes > rule->number && name &&
		    strcmp(rule->name, name) == 0)
			return apply(rule);
	}
	return 0;
}
