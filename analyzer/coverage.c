/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/coverage.h"

#include <ctype.h>
#include <stdlib.h>

#include "analyzer/sizes.h"

/* Device memory was used, yet nothing of PyTorch's allocator is here: its hooks did not take. */
static bool lacks_blocks(const struct ga_memory *memory)
{
	const struct ga_account *account = ga_memory_next(memory, -1);
	bool used = account != NULL;
	for (; account; account = ga_memory_next(memory, account->device))
		if (account->alloc_count || account->oom_count)
			return false;
	return used && memory->backend == GA_BACKEND_NATIVE;
}

char *ga_coverage_gap(const struct ga_memory *memory)
{
	const struct ga_model *model = memory->model;
	if (!ga_model_records(model, "memory"))
		return ga_format("memory was not recorded (GPUSHIM_RECORD=%s)",
		    ga_model_property(model, "record"));
	char *gap = ga_model_gap(model);
	if (!gap && lacks_blocks(memory))
		return ga_xstrdup(
		    "no block of PyTorch's allocator was recorded, though the program "
		    "used device memory");
	return gap;
}

enum ga_coverage ga_coverage_of(const struct ga_memory *memory)
{
	char *gap = ga_coverage_gap(memory);
	free(gap);
	if (!ga_model_records(memory->model, "memory"))
		return GA_COVERS_NONE;
	if (gap)
		return GA_COVERS_PART;
	return memory->model->summary->ended ? GA_COVERS_ALL : GA_COVERS_CUT;
}

char *ga_coverage_text(const struct ga_memory *memory)
{
	enum ga_coverage coverage = ga_coverage_of(memory);
	char duration[GA_SIZE_TEXT];
	if (coverage == GA_COVERS_ALL)
		return ga_xstrdup("");
	if (coverage == GA_COVERS_CUT)
		return ga_format("The recording stops after %s: the process was killed, called "
				 "exec, or still runs.",
		    ga_duration_text(ga_model_duration_ns(memory->model), duration));
	char *gap = ga_coverage_gap(memory);
	char *text = ga_format("Incomplete: %s%s", gap,
	    coverage == GA_COVERS_NONE ? ", so what the program used of it is unknown."
				       : ". Figures are lower limits.");
	free(gap);
	return text;
}

char *ga_coverage_headline(const struct ga_memory *memory, const char *answer)
{
	static const char *const before[] = {[GA_COVERS_ALL] = "",
	    [GA_COVERS_CUT] = " Until then ",
	    [GA_COVERS_PART] = " What was recorded: "};
	enum ga_coverage coverage = ga_coverage_of(memory);
	char *lacking = ga_coverage_text(memory);
	if (coverage == GA_COVERS_NONE)
		return lacking;
	char *line = ga_format("%s%s%s.", lacking, before[coverage], answer);
	line[0] = (char)toupper((unsigned char)line[0]);
	free(lacking);
	return line;
}

void ga_coverage_json(const struct ga_memory *memory, struct ga_json *json)
{
	ga_json_bool(json, "complete", ga_coverage_whole(memory));
}
