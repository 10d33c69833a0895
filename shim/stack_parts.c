/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/stack_parts.h"

#include "shim/autograd_hooks.h"
#include "shim/call_stack.h"
#include "shim/calm.h"
#include "shim/library_map.h"
#include "shim/native_stack.h"
#include "shim/producer.h"
#include "shim/settings.h"

enum { STACKS_NONE, STACKS_PYTHON, STACKS_NATIVE, STACKS_ALL }; /* as in settings_table.h */

static const char *gs_trouble; /* NULL: none */
static struct gs_told {
	bool trouble, autograd;
} gs_told; /* notices that this trace has; helper thread only */
static uint32_t gs_prepared;

static bool gs_append_definition(void *context, enum gf_text_kind kind, uint32_t id,
    const void *bytes, uint32_t length)
{
	return gs_append_text(context, kind, id, bytes, length);
}

static void gs_skip_own_code(void)
{
	struct gs_library own;
	if (gs_library_init() && gs_library_find((uintptr_t)&gs_stack_parts_prepare, &own))
		gs_native_stack_skip(own.start, own.end);
}

/* Unless told otherwise copies and waits go without native frames: they say little more. */
static void gs_choose_parts(uint8_t parts[GS_STACK_USES])
{
	static const uint8_t bits[] = {[STACKS_PYTHON] = GS_STACK_PYTHON,
	    [STACKS_NATIVE] = GS_STACK_NATIVE, [STACKS_ALL] = GS_STACK_PYTHON | GS_STACK_NATIVE};
	uint8_t chosen = bits[gs_settings_number(GS_SETTING_stacks) & 3];
	parts[GS_STACK_ALLOCATION] = chosen;
	parts[GS_STACK_TRANSFER] = gs_settings_given(GS_SETTING_stacks) ? chosen : GS_STACK_PYTHON;
	parts[GS_STACK_FORWARD] = chosen & GS_STACK_PYTHON;
}

void gs_stack_parts_prepare(void)
{
	uint8_t parts[GS_STACK_USES];
	if (__atomic_exchange_n(&gs_prepared, 1, __ATOMIC_ACQ_REL))
		return;
	struct gs_calm before = gs_calm_begin();
	gs_choose_parts(parts);
	const char *trouble = "call stacks are not recorded: GPUSHIM_STACKS is none";
	if (parts[GS_STACK_ALLOCATION]) {
		gs_skip_own_code(); /* before the first stack is taken */
		trouble = gs_stack_init(parts, gs_append_definition);
	}
	__atomic_store_n(&gs_trouble, trouble, __ATOMIC_RELEASE);
	gs_calm_end(before);
}

void gs_stack_parts_reset(void)
{
	gs_told = (struct gs_told){false, false};
}

const char *gs_stack_parts_notice(void)
{
	const char *text = __atomic_load_n(&gs_trouble, __ATOMIC_ACQUIRE);
	if (text && !gs_told.trouble) {
		gs_told.trouble = true;
		return text;
	}
	text = gs_autograd_notice();
	if (text && !gs_told.autograd) {
		gs_told.autograd = true;
		return text;
	}
	return gs_stack_next_notice();
}
