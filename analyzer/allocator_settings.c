/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/allocator_options.h"
#include "analyzer/sizes.h"
#include "analyzer/xalloc.h"

#define NEVER INT32_MAX
#define DEFAULT_SEGMENT (20 * GA_MIB)
#define TOKEN_BYTES 64

/* The text as PyTorch splits it: , : [ ] stand alone, spaces vanish, the rest are words. */
struct tokens {
	const char *at;
	char token[TOKEN_BYTES];
	struct gf_error *error;
};

struct option {
	const char *name;
	int since, until;
	enum gf_status (*read)(struct tokens *text, struct ga_allocator_settings *settings);
};

static bool next_token(struct tokens *text)
{
	size_t bytes = 0;
	while (*text->at == ' ')
		text->at++;
	if (*text->at && strchr(",:[]", *text->at))
		text->token[bytes++] = *text->at++;
	else
		for (; *text->at && !strchr(",:[]", *text->at); text->at++)
			if (*text->at != ' ' && bytes < TOKEN_BYTES - 1)
				text->token[bytes++] = *text->at;
	text->token[bytes] = 0;
	return bytes > 0;
}

static bool at_token(const struct tokens *text, const char *token)
{
	return strcmp(text->token, token) == 0;
}

static char *without_blanks(const char *from, const char *to)
{
	char *copy = ga_xalloc((size_t)(to - from) + 1, 1), *end = copy;
	for (; from < to; from++)
		if (*from != ' ')
			*end++ = *from;
	return copy;
}

bool ga_allocator_setting_next(const char **at, char **name_out, char **value_out)
{
	struct tokens text = {.at = *at};
	const char *name = text.at;
	for (; next_token(&text); name = text.at) {
		const char *name_end = text.at;
		if (strchr(",:[]", text.token[0]) || !next_token(&text) || !at_token(&text, ":"))
			continue;
		const char *value = text.at;
		if (next_token(&text) && at_token(&text, "["))
			while (next_token(&text) && !at_token(&text, "]"))
				;
		*name_out = without_blanks(name, name_end);
		*value_out = without_blanks(value, text.at);
		*at = text.at;
		return true;
	}
	*at = text.at;
	return false;
}

static enum gf_status refuse(struct tokens *text, const char *option, const char *wants)
{
	return gf_fail(text->error, GF_USAGE, UINT64_MAX, "%s is \"%s\", but it takes %s", option,
	    text->token, wants);
}

static bool read_number(const char *token, uint64_t *value_out)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(token, &end, 10);
	if (errno || end == token || *end || *token == '-')
		return false;
	*value_out = value;
	return true;
}

/* Mebibytes as bytes, capped where PyTorch caps them. */
static uint64_t mebibytes(uint64_t count)
{
	return count > UINT64_MAX / GA_MIB ? UINT64_MAX / GA_MIB * GA_MIB : count * GA_MIB;
}

static bool is_power_of_two(uint64_t value)
{
	return value && (value & (value - 1)) == 0;
}

/* An option without influence on the device's memory; its value may be a list. */
static enum gf_status ga_read_option_nothing(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	if (at_token(text, "["))
		while (next_token(text) && !at_token(text, "]"))
			;
	return GF_OK;
}

/* Sizes that may not lie below a large segment; which option comes first must not matter. */
static enum gf_status check_limits(
    const struct ga_allocator_settings *settings, struct gf_error *error)
{
	uint64_t least = settings->large_segment_bytes;
	bool above = settings->torch < GA_TORCH(2, 9); /* "> 20" became ">= 20" */
	if (settings->max_split_bytes < least + above)
		return gf_fail(error, GF_USAGE, UINT64_MAX,
		    "max_split_size_mb is too small: PyTorch wants %s %u",
		    above ? ">" : ">=", (unsigned)(least / GA_MIB));
	if (settings->slack_is_set && settings->slack_bytes < least + above)
		return gf_fail(error, GF_USAGE, UINT64_MAX,
		    "max_non_split_rounding_mb is too small: PyTorch wants %s %u",
		    above ? ">" : ">=", (unsigned)(least / GA_MIB));
	return GF_OK;
}

static enum gf_status ga_read_option_max_split(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	uint64_t value;
	if (!read_number(text->token, &value))
		return refuse(text, "max_split_size_mb", "a number");
	settings->max_split_bytes = mebibytes(value);
	return GF_OK;
}

static enum gf_status ga_read_option_slack(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	uint64_t value;
	if (!read_number(text->token, &value))
		return refuse(text, "max_non_split_rounding_mb", "a number");
	settings->slack_bytes = mebibytes(value);
	settings->slack_is_set = true;
	return GF_OK;
}

static bool read_real(const char *token, double *value_out)
{
	char *end;
	double value = strtod(token, &end);
	if (end == token || *end || !(value >= 0))
		return false;
	*value_out = value;
	return true;
}

static enum gf_status ga_read_option_gc_threshold(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	double value;
	if (!read_real(text->token, &value) || value <= 0 || value >= 1)
		return refuse(text, "garbage_collection_threshold", "a number between 0 and 1");
	settings->gc_threshold = value;
	return GF_OK;
}

static enum gf_status ga_read_option_fraction(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	double value;
	if (!read_real(text->token, &value) || value > 1)
		return refuse(text, "per_process_memory_fraction", "a number from 0 to 1");
	settings->fraction = value;
	return GF_OK;
}

static enum gf_status ga_read_option_reserve(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	double fraction;
	uint64_t bytes;
	if (read_real(text->token, &fraction) && fraction > 0)
		settings->reserve_fraction = fraction;
	else if (ga_size_parse(text->token, &bytes) && bytes)
		settings->reserve_bytes = bytes;
	return GF_OK; /* PyTorch warns about anything else and keeps its default */
}

static enum gf_status ga_read_option_roundup_bypass(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	uint64_t value;
	if (!read_number(text->token, &value))
		return refuse(text, "roundup_bypass_threshold_mb", "a number");
	settings->roundup_bypass_bytes = mebibytes(value);
	return GF_OK;
}

static enum gf_status ga_read_option_backend(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	if (!at_token(text, "native") && !at_token(text, "cudaMallocAsync"))
		return refuse(text, "backend", "native or cudaMallocAsync");
	settings->driver_pool = at_token(text, "cudaMallocAsync");
	return GF_OK;
}

static enum gf_status ga_read_option_expandable(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	if (!at_token(text, "True") && !at_token(text, "False"))
		return refuse(text, "expandable_segments", "True or False");
	settings->expandable = at_token(text, "True");
	return GF_OK;
}

static enum gf_status ga_read_option_large_segment(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	uint64_t value;
	if (!read_number(text->token, &value) || value <= 10 || value > 1 << 20)
		return refuse(text, "large_segment_size_mb", "a number above 10");
	settings->large_segment_bytes = value * GA_MIB;
	settings->large_page_bytes = value * GA_MIB;
	return GF_OK;
}

static enum gf_status ga_read_option_page(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	uint64_t value;
	if (!read_number(text->token, &value) || value < 2 || value > 1 << 20 || value % 2)
		return refuse(text, "expandable_segments_page_size", "an even number of MiB");
	settings->large_page_bytes = value * GA_MIB;
	return GF_OK;
}

static void fill_divisions(struct ga_allocator_settings *settings, size_t from, uint64_t value)
{
	for (size_t i = from; i < GA_ROUNDUP_BUCKETS; i++)
		settings->divisions[i] = (uint32_t)value;
}

/* One "key:value" of the list syntax; `last` is the bucket of the key before, -1 at first. */
static enum gf_status read_division(
    struct tokens *text, struct ga_allocator_settings *settings, int *last)
{
	uint64_t key = 0, value;
	bool rest = at_token(text, ">");
	if (!rest && (!read_number(text->token, &key) || !is_power_of_two(key)))
		return refuse(text, "roundup_power2_divisions", "powers of two as keys");
	if (!next_token(text) || !at_token(text, ":") || !next_token(text) ||
	    !read_number(text->token, &value) || value > 1 << 20 ||
	    (value && !is_power_of_two(value)))
		return refuse(text, "roundup_power2_divisions", "0 or powers of two as values");
	if (rest) {
		int from = *last < 0 ? 0 : *last;
		fill_divisions(settings, from + (settings->torch >= GA_TORCH(2, 10)), value);
		return GF_OK;
	}
	int bucket = 63 - __builtin_clzll(key);
	if (bucket > GA_ROUNDUP_BUCKETS - 1)
		bucket = GA_ROUNDUP_BUCKETS - 1;
	for (int i = 0; *last < 0 && i < bucket; i++)
		settings->divisions[i] = (uint32_t)value;
	settings->divisions[bucket] = (uint32_t)value;
	*last = bucket;
	return GF_OK;
}

static enum gf_status ga_read_option_divisions(
    struct tokens *text, struct ga_allocator_settings *settings)
{
	uint64_t value;
	int last = -1;
	if (!at_token(text, "[")) {
		if (!read_number(text->token, &value) || value > 1 << 20 || !is_power_of_two(value))
			return refuse(text, "roundup_power2_divisions", "a power of two");
		fill_divisions(settings, 0, value);
		return GF_OK;
	}
	if (settings->torch < GA_TORCH(2, 0))
		return refuse(text, "roundup_power2_divisions", "one number before PyTorch 2.0");
	while (next_token(text) && !at_token(text, "]")) {
		if (at_token(text, ","))
			continue;
		enum gf_status status = read_division(text, settings, &last);
		if (status)
			return status;
	}
	return at_token(text, "]")
		   ? GF_OK
		   : refuse(text, "roundup_power2_divisions", "a list that ends with ]");
}

static const struct option *find_option(const char *name)
{
	static const struct option options[] = {
#define O(name, since, until, reader) {#name, since, until, ga_read_option_##reader},
	    GA_ALLOCATOR_OPTIONS(O)
#undef O
	};
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (strcmp(options[i].name, name) == 0)
			return &options[i];
	return NULL;
}

static enum gf_status read_option(struct tokens *text, struct ga_allocator_settings *settings)
{
	const struct option *option = find_option(text->token);
	if (!option)
		return gf_fail(text->error, GF_USAGE, UINT64_MAX,
		    "PyTorch has no allocator option \"%s\"", text->token);
	if (option->since == GA_TORCH_LATER && settings->torch < option->since)
		return gf_fail(text->error, GF_USAGE, UINT64_MAX,
		    "no PyTorch up to %d.%d has the allocator option %s", GA_TORCH_NEWEST / 1000,
		    GA_TORCH_NEWEST % 1000, option->name);
	if (settings->torch < option->since || settings->torch >= option->until)
		return gf_fail(text->error, GF_USAGE, UINT64_MAX,
		    "PyTorch %d.%d does not know the allocator option %s (since %d.%d)",
		    settings->torch / 1000, settings->torch % 1000, option->name,
		    option->since / 1000, option->since % 1000);
	if (!next_token(text) || !at_token(text, ":") || !next_token(text))
		return refuse(text, option->name, "a colon and a value");
	return option->read(text, settings);
}

static enum gf_status apply(
    struct ga_allocator_settings *settings, const char *text_bytes, struct gf_error *error)
{
	struct ga_allocator_settings changed = *settings;
	struct tokens text = {text_bytes ? text_bytes : "", "", error};
	while (next_token(&text)) {
		if (at_token(&text, ","))
			continue;
		enum gf_status status = read_option(&text, &changed);
		if (status)
			return status;
	}
	if (!changed.slack_is_set)
		changed.slack_bytes = changed.large_segment_bytes;
	enum gf_status status = check_limits(&changed, error);
	if (!status)
		*settings = changed;
	return status;
}

int ga_torch_number(const char *text)
{
	char *end;
	long major = text ? strtol(text, &end, 10) : 0;
	if (!text || end == text || *end != '.' || major < 1 || major > 1000)
		return GA_TORCH_NEWEST;
	const char *rest = end + 1;
	long minor = strtol(rest, &end, 10);
	return end == rest || minor < 0 || minor > 999 ? GA_TORCH_NEWEST
						       : (int)GA_TORCH(major, minor);
}

void ga_allocator_settings_default(int torch, struct ga_allocator_settings *settings_out)
{
	*settings_out = (struct ga_allocator_settings){
	    .torch = torch,
	    .tie = torch >= GA_TORCH(2, 13)   ? GA_TIE_SEGMENT
		   : torch >= GA_TORCH(2, 12) ? GA_TIE_RECORD
					      : GA_TIE_ADDRESS,
	    .drops_short_reservation = torch >= GA_TORCH(2, 15),
	    .whole_is_no_limit = torch >= GA_TORCH(2, 10),
	    .max_split_bytes = UINT64_MAX,
	    .slack_bytes = DEFAULT_SEGMENT,
	    .roundup_bypass_bytes = UINT64_MAX,
	    .large_segment_bytes = DEFAULT_SEGMENT,
	    .small_page_bytes = 2 * GA_MIB,
	    .large_page_bytes = DEFAULT_SEGMENT,
	    .fraction = -1,
	    .reserve_fraction = 1.125,
	};
}

enum gf_status ga_allocator_settings_parse(
    int torch, const char *text, struct ga_allocator_settings *settings_out, struct gf_error *error)
{
	struct ga_allocator_settings settings;
	ga_allocator_settings_default(torch, &settings);
	enum gf_status status = apply(&settings, text, error);
	if (!status)
		*settings_out = settings;
	return status;
}

enum gf_status ga_allocator_settings_change(
    struct ga_allocator_settings *settings, const char *text, struct gf_error *error)
{
	struct ga_allocator_settings changed = *settings;
	changed.max_split_bytes = UINT64_MAX;
	changed.gc_threshold = 0;
	fill_divisions(&changed, 0, 0);
	if (changed.torch >= GA_TORCH(2, 11))
		changed.slack_is_set = false;
	enum gf_status status = apply(&changed, text, error);
	if (!status)
		*settings = changed;
	return status;
}
