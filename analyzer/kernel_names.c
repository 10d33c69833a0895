/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/export.h"

struct named {
	uint64_t key; /* handle of the function */
	uint32_t name_id;
};

void ga_kernel_names_init(struct ga_kernel_names *names)
{
	ga_map_init(&names->by_handle, sizeof(struct named));
}

void ga_kernel_names_free(struct ga_kernel_names *names)
{
	ga_map_free(&names->by_handle);
}

void ga_kernel_names_learn(struct ga_kernel_names *names, const struct gf_event_ref *event)
{
	struct gf_module module;
	if (event->type != GF_TAG_module)
		return;
	gf_get_module(event->batch, event->row, &module);
	if (module.kind != GF_MODULE_FUNCTION || !module.function || module.status)
		return;
	((struct named *)ga_map_add(&names->by_handle, module.function))->name_id = module.name_id;
}

const char *ga_kernel_name(
    const struct ga_kernel_names *names, const struct ga_model *model, uint64_t function)
{
	const struct named *named = function ? ga_map_find(&names->by_handle, function) : NULL;
	return named ? gf_reader_text(model->reader, GF_TEXT_NAME, named->name_id) : NULL;
}
