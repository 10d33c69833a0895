/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/trace_dump.h"

#include <ctype.h>
#include <inttypes.h>

#include "formats/reader.h"

static void dump_quoted(const char *bytes, uint32_t length, FILE *out)
{
	fputc('"', out);
	for (uint32_t i = 0; i < length; i++)
		if (isprint((unsigned char)bytes[i]) && bytes[i] != '"' && bytes[i] != '\\')
			fputc(bytes[i], out);
		else
			fprintf(out, "\\x%02x", (unsigned char)bytes[i]);
	fputc('"', out);
}

static void dump_row(const struct gf_batch *batch, unsigned tag, uint32_t row, FILE *out)
{
	const struct gf_record_type *type = gf_record_type(tag);
	const struct gf_rows *rows = &batch->rows[tag];
	for (unsigned i = 0; i < type->column_count; i++) {
		const struct gf_column *column = &type->columns[i];
		uint64_t value = 0;
		if (i == GF_TIME_COLUMN || !rows->columns[i])
			continue;
		if (column->bytes == 8)
			value = ((const uint64_t *)rows->columns[i])[row];
		else if (column->bytes == 4)
			value = ((const uint32_t *)rows->columns[i])[row];
		else
			value = ((const uint16_t *)rows->columns[i])[row];
		if (value == 0)
			continue;
		if (column->is_signed)
			fprintf(out, " %s=%" PRId64, column->name, (int64_t)value);
		else
			fprintf(out, " %s=%" PRIu64, column->name, value);
	}
	if (tag == GF_TAG_text) {
		struct gf_text text;
		gf_get_text(batch, row, &text);
		fputc(' ', out);
		dump_quoted(batch->text_bytes + batch->text_offsets[row], text.length, out);
	}
}

static void dump_events(struct gf_reader *reader, FILE *out)
{
	struct gf_event_ref event;
	struct gf_error error;
	struct gf_merge *merge = gf_merge_open(reader, ~UINT64_C(0));
	enum gf_status status = merge ? GF_OK : GF_NO_MEMORY;
	while (!status && (status = gf_merge_next(merge, &event, &error)) == GF_OK) {
		const struct gf_record_type *type = gf_record_type(event.type);
		fprintf(out, "%" PRIu64 " %u ", event.ticks, event.thread_id);
		if (type) {
			fputs(type->name, out);
			dump_row(event.batch, event.type, event.row, out);
		} else {
			fprintf(out, "type %u", event.type);
		}
		fputc('\n', out);
	}
	if (status != GF_END)
		fprintf(out, "ended with: %s\n", gf_status_words(status));
	gf_merge_close(merge);
}

static void dump_summary(struct gf_reader *reader, FILE *out)
{
	const struct gf_summary *summary = gf_reader_summary(reader);
	const struct gf_damage *damage = gf_reader_damage(reader);
	fprintf(out, "frames %" PRIu64 " ended %d journal %d\n", summary->frame_count,
	    summary->ended, summary->has_journal);
	fprintf(out, "ticks %" PRIu64 " to %" PRIu64 ", %" PRIu64 " ns\n", summary->first_ticks,
	    summary->last_ticks, gf_reader_ns(reader, summary->last_ticks));
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		if (summary->record_count[tag])
			fprintf(out, "records of type %u: %" PRIu64 "\n", tag,
			    summary->record_count[tag]);
	for (unsigned reason = 0; reason < GF_LOST_REASON_COUNT; reason++)
		if (summary->lost[reason])
			fprintf(
			    out, "lost, reason %u: %" PRIu64 "\n", reason, summary->lost[reason]);
	if (damage->damaged_frames)
		fprintf(out,
		    "damaged %" PRIu64 ", %" PRIu64 " bytes, truncated %d, journal %d: %s\n",
		    damage->damaged_frames, damage->unreadable_bytes, damage->truncated,
		    damage->journal_damaged, damage->first_text);
}

void trace_dump(const char *path, FILE *out)
{
	struct gf_reader *reader;
	struct gf_error error;
	enum gf_status status = gf_reader_open(path, &reader, &error);
	if (status) {
		fprintf(out, "not opened: %s: %s\n", gf_status_words(status), error.text);
		return;
	}
	if (gf_reader_verify(reader, &error))
		fprintf(out, "not verified: %s\n", error.text);
	dump_summary(reader, out);
	dump_events(reader, out);
	gf_reader_close(reader);
}
