/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "analyzer/sizes.h"
#include "analyzer/traces.h"

/* Of all readable frames, once everything was read. */
static uint64_t count_records(const struct ga_model *model)
{
	uint64_t count = 0;
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		count += model->summary->record_count[tag];
	return count;
}

static void put_json(const struct ga_model *model, uint64_t records, struct ga_json *json)
{
	const struct gf_damage *damage = gf_reader_damage(model->reader);
	bool placed = damage->first_bad_offset != UINT64_MAX;
	ga_json_bool(json, "whole", !ga_model_incomplete(model));
	ga_json_bool(json, "ended", model->summary->ended);
	ga_json_number(json, "file_bytes", model->summary->file_bytes);
	ga_json_number(json, "journal_bytes", model->summary->journal_bytes);
	ga_json_number(json, "frames", model->summary->frame_count);
	ga_json_number(json, "records", records);
	ga_json_number(json, "damaged_frames", damage->damaged_frames);
	ga_json_number(json, "unreadable_bytes", damage->unreadable_bytes);
	ga_json_maybe(json, "first_bad_offset", placed, damage->first_bad_offset);
	ga_json_bool(json, "truncated", damage->truncated);
	ga_json_bool(json, "journal_damaged", damage->journal_damaged);
	ga_json_bool(json, "journal_missing", ga_model_journal_missing(model));
	ga_json_string(json, "damage", damage->first_text[0] ? damage->first_text : NULL);
	ga_json_number(json, "lost_events", ga_model_lost(model));
}

static void damaged_text(const struct ga_model *model, const struct ga_page *page)
{
	const struct gf_damage *damage = gf_reader_damage(model->reader);
	char bytes[GA_SIZE_TEXT], count[GA_SIZE_TEXT];
	ga_styled_paragraph(page, GA_BAD, "damaged: ",
	    damage->first_text[0] ? damage->first_text : "bytes that belong to no readable frame");
	if (damage->first_bad_offset != UINT64_MAX)
		ga_fact(page, "first at offset", "%" PRIu64, damage->first_bad_offset);
	ga_fact(page, "frames skipped", "%s", ga_count_text(damage->damaged_frames, count));
	ga_fact(page, "not readable", "%s", ga_size_text(damage->unreadable_bytes, bytes));
	if (damage->truncated)
		ga_fact(page, "end", "the file ends in the middle of a frame");
}

static void put_text(const struct ga_model *model, uint64_t records, const struct ga_page *page)
{
	char bytes[GA_SIZE_TEXT], count[GA_SIZE_TEXT], frames[GA_SIZE_TEXT];
	if (ga_model_damaged(model))
		damaged_text(model, page);
	else if (ga_model_journal_missing(model))
		fprintf(page->out, "%sincomplete%s: a part of the recording is not here\n",
		    ga_style(page, GA_BAD), ga_style(page, GA_PLAIN));
	else
		fprintf(page->out, "%swhole%s: every checksum is right\n", ga_style(page, GA_GOOD),
		    ga_style(page, GA_PLAIN));
	ga_fact(page, "readable", "records %s (events, names, stacks), frames %s", ga_count_text(records, count),
	    ga_count_text(model->summary->frame_count, frames));
	ga_fact(page, "trace", "%s%s", ga_size_text(model->summary->file_bytes, bytes),
	    model->summary->has_journal ? ", a part of it in the journal" : "");
	if (ga_model_damaged(model))
		ga_paragraph(page, "",
		    "What is left is still reported by every command. Copy the file again from "
		    "where it was recorded, or record once more.");
}

static int report(const struct ga_options *options, struct ga_model *model,
    const struct ga_page *page, struct ga_json *json)
{
	struct gf_error error = {0};
	struct ga_strings notices = {0};
	if (gf_reader_verify(model->reader, &error) != GF_OK)
		return ga_trace_failed(model, &error);
	uint64_t records = count_records(model);
	if (json)
		put_json(model, records, json);
	else
		put_text(model, records, page);
	if (json) { /* the text has told it already, and is about the file alone */
		ga_model_damage_notice(model, &notices);
		ga_model_notices(model, &notices);
	} else {
		ga_model_missing_notices(model, &notices);
	}
	ga_notices_put(page, json, &notices);
	/* A missing journal is a part of the trace that cannot be read. */
	return ga_model_incomplete(model) ? GA_EXIT_DAMAGED : GA_EXIT_OK;
}

int ga_cmd_check(const struct ga_options *options)
{
	return ga_traces_report(options, &(struct ga_reporter){report});
}
