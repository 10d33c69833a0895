/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's memory as text and JSON, shared by the commands that show it.
 *
 * Threads: one at a time.
 */
#ifndef GA_MEMORY_VIEW_H
#define GA_MEMORY_VIEW_H

#include "analyzer/blocks.h"
#include "analyzer/json_writer.h"
#include "analyzer/render.h"
#include "analyzer/sizes.h"

#define GA_HOLDERS_KEPT 64 /* sites of each refusal, where there are very many */

/** Peak of reserved bytes, GA_UNKNOWN where pools of the driver hide it. */
uint64_t ga_view_peak_reserved(const struct ga_memory *memory, const struct ga_account *account);

/** The same, but the peak of allocated bytes where that is hidden.  @param hidden_out  whether so */
uint64_t ga_view_peak(
    const struct ga_memory *memory, const struct ga_account *account, bool *hidden_out);

/** Reserved bytes of a point, GA_UNKNOWN where pools of the driver hide them. */
uint64_t ga_view_reserved(const struct ga_memory *memory, uint64_t reserved_bytes);

/** A size in short and, in parentheses, to the byte; what comes behind it begins with a blank. */
void ga_view_size(
    const struct ga_page *page, const char *name, uint64_t bytes, const char *tail);

/** "device 0, NVIDIA L4 (22.03 GiB)".  free() it. */
char *ga_view_title(const struct ga_memory *memory, const struct ga_account *account);

/** Whether the last figures are those after the exit: the end is there and nothing is missing. */
bool ga_view_saw_exit(const struct ga_model *model);

/** "rank 1 of 2", "" for a process that has none.  free() it. */
char *ga_view_rank(const struct ga_model *model);

/** The program with its arguments, cut where it would fill more than two lines.  free() it. */
char *ga_view_program(const struct ga_model *model, const struct ga_page *page);

/** What was recorded, in one sentence. */
void ga_view_head(const struct ga_model *model, const struct ga_page *page);

/** How often the allocator retried, "unknown" if that is not certain.  @param out  may hold the
 * text */
const char *ga_view_retries(const struct ga_account *account, char out[GA_SIZE_TEXT]);

/** The figures of a device, without peak and timeline, as members of the open object. */
void ga_view_figures_json(
    const struct ga_memory *memory, const struct ga_account *account, struct ga_json *json);

/** Member `peak`. */
void ga_view_peak_json(
    const struct ga_memory *memory, const struct ga_account *account, struct ga_json *json);

/** What --top and --stacks ask for; `rows` without --top. */
struct ga_sites_shown ga_view_shown(const struct ga_options *options, size_t rows);

/** Who holds the peak, as ga_sites_text(). */
void ga_view_peak_text(const struct ga_memory *memory, const struct ga_account *account,
    struct ga_sites_shown shown, const struct ga_page *page);

/** Member `timeline`. */
void ga_view_timeline_json(
    const struct ga_memory *memory, const struct ga_account *account, struct ga_json *json);

/** The drawing of memory over time. */
void ga_view_drawing(
    const struct ga_memory *memory, const struct ga_account *account, const struct ga_page *page);

/**
 * The device that comes nearest to its size; the widest if no size is known.
 *
 * @param total_out  its size, GA_UNKNOWN if not known
 * @return NULL if no device was used
 */
const struct ga_account *ga_view_fullest(const struct ga_memory *memory, uint64_t *total_out);

/** "200.00 MiB of 1.00 GiB (20 %) reserved at the peak of device 0".  free() it. */
char *ga_view_peak_line(const struct ga_memory *memory);

/** The same as a headline that says what is lacking.  free() it. */
char *ga_view_peak_headline(const struct ga_memory *memory);

/** What is lacking as a paragraph of its own, where the headline is about something else. */
void ga_view_lacking(const struct ga_memory *memory, const struct ga_page *page);

/** "400.00 MiB asked for, 212.00 MiB free: 188.00 MiB too little".  free() it. */
char *ga_view_oom_figures(const struct ga_oom *oom);

/**
 * How often memory ran out, where last, and who held the most of it then; there must be a refusal.
 *
 * @param memory  analysed with holders, else they are not told
 * @return free() it
 */
char *ga_view_oom_line(const struct ga_memory *memory);

#endif
