/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sizes.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
	const char *name;
	double factor;
};

static const struct unit size_units[] = {
    {"", 1},
    {"B", 1},
    {"bytes", 1},
    {"K", 0x1p10},
    {"KB", 0x1p10},
    {"KiB", 0x1p10},
    {"M", 0x1p20},
    {"MB", 0x1p20},
    {"MiB", 0x1p20},
    {"G", 0x1p30},
    {"GB", 0x1p30},
    {"GiB", 0x1p30},
    {"T", 0x1p40},
    {"TB", 0x1p40},
    {"TiB", 0x1p40},
    {NULL, 0},
};

static const struct unit duration_units[] = {
    {"", 1},
    {"ns", 1},
    {"us", 1e3},
    {"ms", 1e6},
    {"s", 1e9},
    {NULL, 0},
};

/* The integer part is kept exact: a double would round sizes above 2^53. */
static bool number_parse(const char *text, uint64_t *whole, double *fraction, const char **rest)
{
	if (!isdigit((unsigned char)*text))
		return false;
	*whole = 0;
	*fraction = 0;
	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(*whole, 10, whole) ||
		    __builtin_add_overflow(*whole, (uint64_t)(*text - '0'), whole))
			return false;
	if (*text == '.') {
		double place = 0.1;
		if (!isdigit((unsigned char)*++text))
			return false;
		for (; isdigit((unsigned char)*text); text++, place /= 10)
			*fraction += (*text - '0') * place;
	}
	while (*text == ' ')
		text++;
	*rest = text;
	return true;
}

static bool parse(const char *text, const struct unit *units, uint64_t *out)
{
	uint64_t whole, scaled;
	double fraction;
	const char *rest;
	if (!number_parse(text, &whole, &fraction, &rest))
		return false;
	while (units->name && strcasecmp(units->name, rest) != 0)
		units++;
	if (!units->name || __builtin_mul_overflow(whole, (uint64_t)units->factor, &scaled))
		return false;
	uint64_t part = (uint64_t)(fraction * units->factor + 0.5);
	if (__builtin_add_overflow(scaled, part, &scaled) || scaled > INT64_MAX)
		return false;
	*out = scaled;
	return true;
}

bool ga_size_parse(const char *text, uint64_t *bytes_out)
{
	return parse(text, size_units, bytes_out);
}

bool ga_duration_parse(const char *text, uint64_t *ns_out)
{
	return parse(text, duration_units, ns_out);
}

const char *ga_size_text(uint64_t bytes, char out[GA_SIZE_TEXT])
{
	static const char *const names[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	if (bytes < 1024) {
		snprintf(out, GA_SIZE_TEXT, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
		return out;
	}
	double value = (double)bytes / 1024;
	unsigned unit = 0;
	/* 1023.995 would print as "1024.00": such a value belongs to the next unit. */
	while (value >= 1023.995 && unit + 1 < sizeof(names) / sizeof(*names)) {
		value /= 1024;
		unit++;
	}
	snprintf(out, GA_SIZE_TEXT, "%.2f %s", value, names[unit]);
	return out;
}

const char *ga_duration_text(uint64_t ns, char out[GA_SIZE_TEXT])
{
	double value = (double)ns;
	if (ns < 1000)
		snprintf(out, GA_SIZE_TEXT, "%" PRIu64 " ns", ns);
	else if (ns < 1000000)
		snprintf(out, GA_SIZE_TEXT, "%.1f us", value / 1e3);
	else if (ns < 1000000000)
		snprintf(out, GA_SIZE_TEXT, "%.2f ms", value / 1e6);
	else if (ns < 120000000000)
		snprintf(out, GA_SIZE_TEXT, "%.2f s", value / 1e9);
	else if (ns < 7200000000000)
		snprintf(out, GA_SIZE_TEXT, "%" PRIu64 " min %" PRIu64 " s", ns / 60000000000,
		    ns / 1000000000 % 60);
	else
		snprintf(out, GA_SIZE_TEXT, "%" PRIu64 " h %" PRIu64 " min", ns / 3600000000000,
		    ns / 60000000000 % 60);
	return out;
}

const char *ga_share_text(uint64_t part, uint64_t whole, char out[GA_SIZE_TEXT])
{
	double percent = 100.0 * (double)part / (double)whole;
	if (part && percent < 1)
		snprintf(out, GA_SIZE_TEXT, "under 1 %%");
	else
		snprintf(out, GA_SIZE_TEXT, "%.0f %%", percent);
	return out;
}

const char *ga_count_text(uint64_t count, char out[GA_SIZE_TEXT])
{
	char digits[GA_SIZE_TEXT];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;
	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			out[at++] = ' ';
		out[at++] = digits[i];
	}
	out[at] = 0;
	return out;
}

const char *ga_things_text(uint64_t count, const char *thing, char out[GA_THINGS_TEXT])
{
	char number[GA_SIZE_TEXT];
	snprintf(out, GA_THINGS_TEXT, "%s %s%s", ga_count_text(count, number), thing,
	    count == 1 ? "" : "s");
	return out;
}
