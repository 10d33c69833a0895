/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUSHIM_* of the environment, read once in the constructor and constant from then on.
 *
 * The constructor only looks at `enable`; the others are copied as text and understood when the
 * recording starts, because most processes that inherit the library never record.  The table of
 * all variables is formats/settings_table.h.
 */
#ifndef GS_SETTINGS_H
#define GS_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/settings_table.h"

enum gs_setting {
#define S(id, name, kind, value, values, help) GS_SETTING_##id,
	GF_SETTINGS(S)
#undef S
	GS_SETTING_COUNT
};

/* Bits of the class list of GPUSHIM_RECORD, in its order; ALWAYS is what is on in any case. */
enum gs_class {
	GS_CLASS_MEMORY = 1,
	GS_CLASS_COPIES = 2,
	GS_CLASS_KERNELS = 4,
	GS_CLASS_API = 8,
	GS_CLASS_CPU = 16,
	GS_CLASS_ALWAYS = 32,
};

/**
 * Look the variables up.  A later call overwrites; texts are borrowed from the environment and
 * copied, so that a later setenv of the program changes nothing.
 *
 * Threads: one, before any other function here.
 */
void gs_settings_read(char **environment);

/** Whether GPUSHIM_ENABLE allows anything at all. */
bool gs_settings_enabled(void);

/** Text of a setting as it was given, or its default if it is unset or not good. */
const char *gs_settings_text(enum gs_setting setting);

/** Whether a good value was given. */
bool gs_settings_given(enum gs_setting setting);

/** Number of a CHOICE or SWITCH, bit mask of a LIST, bytes of a SIZE; a bad value is the default. */
uint64_t gs_settings_number(enum gs_setting setting);

/** Say each unknown GPUSHIM_* name and each bad value once, through the log. */
void gs_settings_complain(char *const *environment);

/**
 * Number of a text by the rules of the table.
 *
 * @param setting     which row
 * @param text        value as a user writes it
 * @param number_out  set on success
 * @return whether the text is a good value
 */
bool gs_settings_parse(enum gs_setting setting, const char *text, uint64_t *number_out);

#endif
