/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stack_trace.h"

#include <string.h>

#include "formats/stack_layout.h"

void st_put(struct st_bytes *out, const void *bytes, size_t count)
{
	memcpy(out->at + out->count, bytes, count);
	out->count += (uint32_t)count;
}

void st_code(struct trace_builder *trace, uint32_t id, const char *file, const char *name,
    uint32_t line)
{
	static const char table[] = "\xff\x00\xff\x00"; /* of 3.10: lines 0 and 0 further */
	struct st_bytes out = {.count = 0};
	struct gf_code_head head = {.head_bytes = sizeof(head), .form = GF_LINE_LINES,
	    .file_bytes = (uint16_t)strlen(file), .name_bytes = (uint16_t)strlen(name),
	    .first_line = line, .table_bytes = sizeof(table) - 1};
	st_put(&out, &head, sizeof(head));
	st_put(&out, file, strlen(file));
	st_put(&out, name, strlen(name));
	st_put(&out, table, sizeof(table) - 1);
	trace_text(trace, 1, 1, GF_TEXT_CODE, id, out.at, out.count);
}

void st_stack(struct trace_builder *trace, uint32_t id, const struct st_frames *frames)
{
	struct st_bytes out = {.count = 0};
	struct gf_stack_head head = {.head_bytes = sizeof(head), .python_count = frames->python,
	    .native_count = frames->native, .module_count = frames->layer != 0,
	    .forward_stack = frames->forward};
	st_put(&out, &head, sizeof(head));
	for (unsigned i = 0; i < frames->python; i++) {
		struct gf_stack_python frame = {frames->codes[i], GF_PLACE(2, frames->entries[i])};
		st_put(&out, &frame, sizeof(frame));
	}
	st_put(&out, frames->natives, frames->native * sizeof(uint64_t));
	struct gf_stack_module module = {frames->layer, 0, 0};
	if (frames->layer)
		st_put(&out, &module, sizeof(module));
	trace_text(trace, 1, frames->time ? frames->time : 2, GF_TEXT_STACK, id, out.at, out.count);
}

void st_library(struct trace_builder *trace, uint32_t id, const char *path, uint64_t start,
    uint64_t bytes, uint64_t bias)
{
	st_library_at(trace, 1, id, path, start, bytes, bias);
}

void st_library_at(struct trace_builder *trace, uint64_t time, uint32_t id, const char *path,
    uint64_t start, uint64_t bytes, uint64_t bias)
{
	struct st_bytes out = {.count = 0};
	struct gf_library_head head = {.head_bytes = sizeof(head),
	    .path_bytes = (uint32_t)strlen(path), .bias = bias, .start = start, .end = start + bytes};
	st_put(&out, &head, sizeof(head));
	st_put(&out, path, strlen(path));
	trace_text(trace, 1, time, GF_TEXT_LIBRARY, id, out.at, out.count);
}
