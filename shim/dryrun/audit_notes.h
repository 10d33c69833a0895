/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the door did, for `gpushim dryrun --explain`: lines "PID kind word word word", separated by
 * tabs, appended to the file GPUSHIM_DRYRUN_EXPLAIN.  Nothing happens without it.
 */
#ifndef GD_AUDIT_NOTES_H
#define GD_AUDIT_NOTES_H

/**
 * Append a line; the first one of a process tells its command line before.
 *
 * @param kind   what happened: `asked FILE ANSWER BY HOW`, `stub FUNCTION LIBRARY OBJECT`,
 *               `foreign PATH`; the driver itself
 *               adds `device NAME COUNT` when it starts (driver_entry.c)
 * @param words  strings, NULL ends them
 */
void gd_audit_note_words(const char *kind, const char *const *words);
#define gd_audit_note(kind, ...) gd_audit_note_words(kind, (const char *const[]){__VA_ARGS__, NULL})

#endif
