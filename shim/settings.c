/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shim/log.h"

enum gs_setting_kind { GS_KIND_TEXT, GS_KIND_SIZE, GS_KIND_SWITCH, GS_KIND_CHOICE, GS_KIND_LIST };

#define GS_SETTING_TEXT_BYTES 1024

static const struct gs_setting_row {
	const char *name, *value, *values;
	enum gs_setting_kind kind;
} gs_setting_rows[] = {
#define S(id, name, kind, value, values, help) {name, value, values, GS_KIND_##kind},
    GF_SETTINGS(S)
#undef S
};

/* Untouched pages unless a variable is set: most processes pay nothing for it. */
static char gs_setting_given[GS_SETTING_COUNT][GS_SETTING_TEXT_BYTES];
static bool gs_setting_cut[GS_SETTING_COUNT];

/* Row of `NAME=value`, or -1; *value_out is behind the equals sign. */
static int gs_setting_find(const char *entry, const char **value_out)
{
	for (int i = 0; i < GS_SETTING_COUNT; i++) {
		size_t length = strlen(gs_setting_rows[i].name);
		if (strncmp(entry, gs_setting_rows[i].name, length) == 0 && entry[length] == '=') {
			*value_out = entry + length + 1;
			return i;
		}
	}
	return -1;
}

void gs_settings_read(char **environment)
{
	const char *value;
	for (; environment && *environment; environment++) {
		if (strncmp(*environment, GF_SETTINGS_PREFIX, strlen(GF_SETTINGS_PREFIX)) != 0)
			continue;
		int i = gs_setting_find(*environment, &value);
		if (i < 0)
			continue;
		gs_setting_cut[i] = strlen(value) >= GS_SETTING_TEXT_BYTES;
		if (!gs_setting_cut[i])
			memcpy(gs_setting_given[i], value, strlen(value) + 1);
	}
}

bool gs_settings_enabled(void)
{
	return gs_settings_number(GS_SETTING_enable) != 0;
}

const char *gs_settings_text(enum gs_setting setting)
{
	return gs_settings_given(setting) ? gs_setting_given[setting]
					  : gs_setting_rows[setting].value;
}

static bool gs_parse_size(const char *text, uint64_t *number_out)
{
	if (!isdigit((unsigned char)text[0]))
		return false;
	char *end;
	int saved = errno;
	errno = 0;
	uint64_t number = strtoull(text, &end, 10);
	bool range = errno == ERANGE;
	errno = saved;
	static const char units[] = "KMGT";
	const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (unit)
		end++;
	if (unit && end[0] == 'i' && end[1] == 'B')
		end += 2;
	else if (end[0] == 'B')
		end++;
	if (range || *end || (number << shift) >> shift != number)
		return false;
	*number_out = number << shift;
	return true;
}

/* Position of a word of `length` bytes in a list separated by bars, or -1. */
static int gs_word_index(const char *values, const char *word, size_t length)
{
	for (int index = 0;; index++) {
		size_t have = strcspn(values, "|");
		if (have == length && strncmp(values, word, length) == 0)
			return index;
		if (!values[have])
			return -1;
		values += have + 1;
	}
}

static bool gs_parse_list(const char *values, const char *text, uint64_t *number_out)
{
	uint64_t mask = 0;
	for (;;) {
		size_t length = strcspn(text, ",");
		int index = gs_word_index(values, text, length);
		if (index < 0)
			return false;
		mask |= 1ull << index;
		if (!text[length])
			break;
		text += length + 1;
	}
	*number_out = mask;
	return true;
}

bool gs_settings_parse(enum gs_setting setting, const char *text, uint64_t *number_out)
{
	const struct gs_setting_row *row = &gs_setting_rows[setting];
	switch (row->kind) {
	case GS_KIND_TEXT:
		return true;
	case GS_KIND_SIZE:
		return gs_parse_size(text, number_out);
	case GS_KIND_SWITCH:
		*number_out = text[0] == '1';
		return (text[0] == '0' || text[0] == '1') && !text[1];
	case GS_KIND_CHOICE: {
		int index = gs_word_index(row->values, text, strlen(text));
		*number_out = (uint64_t)(index < 0 ? 0 : index);
		return index >= 0;
	}
	case GS_KIND_LIST:
		return gs_parse_list(row->values, text, number_out);
	}
	return false;
}

bool gs_settings_given(enum gs_setting setting)
{
	uint64_t number;
	return gs_setting_given[setting][0] &&
	    gs_settings_parse(setting, gs_setting_given[setting], &number);
}

uint64_t gs_settings_number(enum gs_setting setting)
{
	uint64_t number = 0;
	if (gs_setting_given[setting][0] &&
	    gs_settings_parse(setting, gs_setting_given[setting], &number))
		return number;
	if (!gs_setting_rows[setting].value[0] ||
	    !gs_settings_parse(setting, gs_setting_rows[setting].value, &number))
		return 0;
	return number;
}

void gs_settings_complain(char *const *environment)
{
	const char *value;
	for (; environment && *environment; environment++) {
		if (strncmp(*environment, GF_SETTINGS_PREFIX, strlen(GF_SETTINGS_PREFIX)) != 0 ||
		    strncmp(*environment, GF_SETTINGS_FOREIGN_PREFIX,
			strlen(GF_SETTINGS_FOREIGN_PREFIX)) == 0)
			continue;
		if (gs_setting_find(*environment, &value) < 0) {
			char name[64] = "";
			memcpy(name, *environment, strnlen(*environment, sizeof(name) - 1));
			name[strcspn(name, "=")] = 0;
			gs_log(GS_LOG_WARN, "unknown variable %s is ignored", name);
		}
	}
	for (int i = 0; i < GS_SETTING_COUNT; i++) {
		uint64_t number;
		if (gs_setting_cut[i])
			gs_log(GS_LOG_WARN, "%s is too long and ignored", gs_setting_rows[i].name);
		else if (gs_setting_given[i][0] &&
		    !gs_settings_parse(i, gs_setting_given[i], &number))
			gs_log(GS_LOG_WARN, "bad value %s=%s is ignored; known: %s", gs_setting_rows[i].name,
			    gs_setting_given[i],
			    gs_setting_rows[i].values[0] ? gs_setting_rows[i].values
							 : "0, 1, or a size such as 512M");
	}
}
