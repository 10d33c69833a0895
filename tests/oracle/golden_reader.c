/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/golden_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "analyzer/xalloc.h"

#define STREAM_IDS 256

/* State while a file is read. */
struct reading {
	struct golden *golden;
	struct ga_alloc_trace_builder builder;
	struct ga_strings changes;    /* settings set at run time, by index */
	uint64_t handles[STREAM_IDS]; /* stream id -> handle, from the history */
	bool is_known[STREAM_IDS];
	uint64_t pools[2 * STREAM_IDS][2]; /* graph -> pool */
	size_t pool_count;
};

static char *read_whole(const char *path, size_t *bytes_out)
{
	FILE *file = fopen(path, "rb");
	char *bytes = NULL;
	size_t count = 0, capacity = 0;
	if (!file)
		return NULL;
	for (size_t got = 1; got; count += got) {
		if (capacity - count < 1 << 16) {
			capacity = capacity ? capacity * 2 : 1 << 18;
			bytes = realloc(bytes, capacity);
			if (!bytes)
				exit(1);
		}
		got = fread(bytes + count, 1, capacity - count - 1, file);
	}
	fclose(file);
	bytes[count] = 0;
	*bytes_out = count;
	return bytes;
}

static char *inflate(char *packed, size_t bytes)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	size_t capacity = bytes * 8 + (1 << 16), left = 1;
	char *text = ga_xalloc(capacity, 1);
	ZSTD_inBuffer in = {packed, bytes, 0};
	ZSTD_outBuffer out = {text, capacity - 1, 0};
	while (in.pos < in.size || left) {
		if (out.pos == out.size) {
			capacity *= 2;
			text = realloc(text, capacity);
			if (!text)
				exit(1);
			out.dst = text;
			out.size = capacity - 1;
		}
		size_t before = in.pos + out.pos;
		left = ZSTD_decompressStream(stream, &out, &in);
		if (ZSTD_isError(left) || (before == in.pos + out.pos && out.pos < out.size))
			break;
	}
	text[out.pos] = 0;
	ZSTD_freeDStream(stream);
	free(packed);
	return text;
}

/* Value behind "key": in the header; the header is ours, so no escapes are handled. */
static const char *value_of(const char *header, const char *key)
{
	char name[64];
	snprintf(name, sizeof(name), "\"%s\": ", key);
	const char *at = strstr(header, name);
	return at ? at + strlen(name) : "";
}

static uint64_t number_of(const char *header, const char *key)
{
	return strtoull(value_of(header, key), NULL, 10);
}

static void string_of(const char *header, const char *key, char *out, size_t bytes)
{
	const char *at = value_of(header, key);
	size_t count = 0;
	if (*at == '"')
		for (at++; at[count] && at[count] != '"' && count + 1 < bytes; count++)
			out[count] = at[count];
	out[count] = 0;
}

static enum gf_status read_header(
    struct reading *reading, const char *header, struct gf_error *error)
{
	struct golden *golden = reading->golden;
	struct ga_alloc_trace *trace = &golden->trace;
	char torch[64];
	string_of(header, "torch", torch, sizeof(torch));
	string_of(header, "settings", golden->text, sizeof(golden->text));
	string_of(header, "program", golden->program, sizeof(golden->program));
	trace->device_bytes = number_of(header, "device_total");
	trace->budget_bytes = number_of(header, "device_free_at_start");
	golden->peak_reserved = number_of(header, "reserved_bytes.all.peak");
	golden->peak_allocated = number_of(header, "allocated_bytes.all.peak");
	golden->retries = number_of(header, "num_alloc_retries");
	golden->ooms = number_of(header, "num_ooms");
	const char *list = value_of(header, "runtime_settings"), *end = strchr(list, ']');
	while (end && (list = strchr(list, '"')) && list < end) {
		const char *close = strchr(list + 1, '"');
		ga_strings_add(&reading->changes, "%.*s", (int)(close - list - 1), list + 1);
		list = close + 1;
	}
	return ga_allocator_settings_parse(
	    ga_torch_number(torch), golden->text, &trace->settings, error);
}

static void add_entry(struct golden *golden, const struct ga_history_entry *entry)
{
	golden->history = ga_xgrow(
	    golden->history, golden->history_count, &golden->history_capacity, sizeof(*entry));
	golden->history[golden->history_count++] = *entry;
	if (entry->action < GA_HISTORY_SEGMENT_ALLOC || entry->action == GA_HISTORY_OOM)
		return;
	golden->segments = ga_xgrow(
	    golden->segments, golden->segment_count, &golden->segment_capacity, sizeof(*entry));
	golden->segments[golden->segment_count++] = *entry;
}

static void read_output(struct golden *golden, const char *line)
{
	char word[32];
	struct ga_history_entry entry = {GA_HISTORY_ACTION_COUNT, 0, 0, 0};
	if (sscanf(line, "out %31s %" SCNu64 " %" SCNu64 " %" SCNu64, word, &entry.address,
		&entry.size, &entry.stream) != 4)
		return;
	for (int i = 0; i < GA_HISTORY_ACTION_COUNT; i++)
		if (strcmp(word, ga_history_word((enum ga_history_action)i)) == 0)
			entry.action = (enum ga_history_action)i;
	add_entry(golden, &entry);
}

/* The lines of the text, each ended by 0; sscanf() of an unended line would measure all the rest.
 */
static const char *next_line(const char *line)
{
	return line + strlen(line) + 1;
}

/* Ids of streams get their handles from the history: the k-th block in is the k-th block out. */
static void learn_streams(struct reading *reading, const char *text, const char *end)
{
	const struct golden *golden = reading->golden;
	size_t next = 0;
	for (const char *line = text; line < end; line = next_line(line)) {
		uint64_t id;
		if (sscanf(line, "in alloc %*d %*d %" SCNu64, &id) != 1 &&
		    sscanf(line, "in oom %*d %*d %" SCNu64, &id) != 1)
			continue;
		while (next < golden->history_count &&
		       golden->history[next].action != GA_HISTORY_ALLOC &&
		       golden->history[next].action != GA_HISTORY_OOM)
			next++;
		if (next == golden->history_count)
			return;
		if (id < STREAM_IDS) {
			reading->handles[id] = golden->history[next].stream;
			reading->is_known[id] = true;
		}
		next++;
	}
}

static uint32_t pool_of(struct reading *reading, uint64_t graph)
{
	for (size_t i = reading->pool_count; i-- > 0;)
		if (reading->pools[i][0] == graph)
			return (uint32_t)reading->pools[i][1];
	return 0;
}

static void read_capture(struct reading *reading, const char *word, uint64_t graph, uint64_t pool)
{
	struct ga_alloc_trace_builder *builder = &reading->builder;
	if (strcmp(word, "capture_begin") == 0) {
		if (reading->pool_count < 2 * STREAM_IDS) {
			reading->pools[reading->pool_count][0] = graph;
			reading->pools[reading->pool_count++][1] = pool;
		}
		ga_alloc_trace_capture_begin(builder, (uint32_t)pool);
	} else if (strcmp(word, "capture_end") == 0) {
		ga_alloc_trace_mark(builder, GA_CALL_CAPTURE_END, 0, pool_of(reading, graph));
	} else if (strcmp(word, "graph_reset") == 0) {
		ga_alloc_trace_mark(builder, GA_CALL_POOL_RELEASE, 0, pool_of(reading, graph));
	}
}

/* One `in` line.  @return false at the end of what the history covers */
static bool read_input(struct reading *reading, const char *line)
{
	struct ga_alloc_trace_builder *builder = &reading->builder;
	char word[32];
	int64_t a = 0, b = 0;
	uint64_t c = 0, d = 0;
	int got = sscanf(
	    line, "in %31s %" SCNd64 " %" SCNd64 " %" SCNu64 " %" SCNu64, word, &a, &b, &c, &d);
	if (got < 1)
		return true;
	uint64_t stream = c < STREAM_IDS && reading->is_known[c] ? reading->handles[c] : c;
	if (strcmp(word, "alloc") == 0)
		ga_alloc_trace_alloc(builder, (uint64_t)(a < 0 ? b : a), stream, d);
	else if (strcmp(word, "oom") == 0)
		ga_alloc_trace_alloc(builder, (uint64_t)(a < 0 ? b : a), stream, 0);
	else if (strcmp(word, "free") == 0)
		sscanf(line, "in free %*d %*d %*d %" SCNu64, &d), ga_alloc_trace_free(builder, d);
	else if (strcmp(word, "driver_alloc") == 0)
		ga_alloc_trace_segment(builder, (uint64_t)b, a == 0 ? d : 0);
	else if (strcmp(word, "event_record") == 0)
		ga_alloc_trace_event_record(builder, d, c);
	else if (strcmp(word, "event_query") == 0 && a == 0)
		ga_alloc_trace_event_done(builder, d, false);
	else if (strcmp(word, "event_synchronize") == 0)
		ga_alloc_trace_event_done(builder, d, true);
	else if (strcmp(word, "empty_cache") == 0)
		ga_alloc_trace_mark(builder, GA_CALL_EMPTY_CACHE, 0, 0);
	else if (strcmp(word, "set_fraction") == 0)
		ga_alloc_trace_mark(builder, GA_CALL_FRACTION, (uint64_t)a, 0);
	else if (strcmp(word, "set_settings") == 0 && (size_t)a < reading->changes.count)
		ga_alloc_trace_settings(builder, reading->changes.items[a]);
	else
		read_capture(reading, word, (uint64_t)a, (uint64_t)b);
	return strcmp(word, "stop") != 0;
}

static void read_lines(struct reading *reading, const char *text, const char *end)
{
	bool is_on = true;
	for (const char *line = text; line < end; line = next_line(line)) {
		uint64_t size, address;
		if (is_on && strncmp(line, "in ", 3) == 0)
			is_on = read_input(reading, line);
		else if (sscanf(line, "reserve %" SCNu64 " %" SCNu64, &size, &address) == 2)
			ga_alloc_trace_reservation(&reading->builder, size, address);
	}
	reading->golden->whole = is_on;
}

/* The whole text, lines ended by 0; NULL if the file cannot be read. */
static char *read_text(const char *path, size_t *bytes_out)
{
	size_t bytes, name = strlen(path);
	char *text = read_whole(path, &bytes);
	if (text && name > 4 && strcmp(path + name - 4, ".zst") == 0)
		text = inflate(text, bytes);
	if (!text)
		return NULL;
	*bytes_out = strlen(text);
	for (char *at = text; (at = strchr(at, '\n'));)
		*at++ = 0;
	return text;
}

enum gf_status golden_read(const char *path, struct golden *golden_out, struct gf_error *error)
{
	struct golden golden = {0};
	struct reading reading = {.golden = &golden};
	size_t bytes;
	char *text = read_text(path, &bytes);
	if (!text)
		return gf_fail(error, GF_IO, UINT64_MAX, "cannot read %s", path);
	const char *end = text + bytes, *lines = next_line(text);
	ga_alloc_trace_begin(&reading.builder, &golden.trace);
	enum gf_status status = read_header(&reading, text, error);
	for (const char *line = lines; line < end && !status; line = next_line(line))
		if (strncmp(line, "out ", 4) == 0)
			read_output(&golden, line);
	if (!status) {
		learn_streams(&reading, lines, end);
		read_lines(&reading, lines, end);
	}
	ga_alloc_trace_end(&reading.builder);
	ga_strings_clear(&reading.changes);
	free(text);
	if (status)
		golden_free(&golden);
	else
		*golden_out = golden;
	return status;
}

void golden_free(struct golden *golden)
{
	ga_alloc_trace_clear(&golden->trace);
	free(golden->history);
	free(golden->segments);
	*golden = (struct golden){0};
}
