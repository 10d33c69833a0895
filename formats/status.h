/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call of formats/ may answer, and the one message that explains it.
 *
 * Threads: any; an error object belongs to its caller.  Nothing here allocates.
 */
#ifndef GF_STATUS_H
#define GF_STATUS_H

#include <stdarg.h>
#include <stdint.h>

/* S(name, words): 0 is success.  END and damage are different values on purpose. */
#define GF_STATUSES(S) \
	S(OK, "fine") \
	S(END, "end of data") \
	S(BAD_FILE, "not a gpushim trace") \
	S(BAD_FRAME, "damaged frame") \
	S(BAD_RECORD, "damaged record") \
	S(TRUNCATED, "file is cut short") \
	S(TOO_NEW, "written by a newer gpushim") \
	S(IO, "input or output failed") \
	S(NO_MEMORY, "out of memory") \
	S(NO_SPACE, "no space left") \
	S(USAGE, "wrong use of a function") \
	S(UNSUPPORTED, "not supported")

enum gf_status {
#define S(name, words) GF_##name,
	GF_STATUSES(S)
#undef S
	GF_STATUS_COUNT
};

/** Where and why a call failed.  `offset` is a byte position in the file, UINT64_MAX if none. */
struct gf_error {
	enum gf_status status;
	uint64_t offset;
	char text[512];
};

/**
 * Words of a status for people.
 *
 * @param status  any value; unknown ones are named so
 * @return static string, never NULL
 */
const char *gf_status_words(enum gf_status status);

/**
 * Words of an errno value, in English: neither allocates nor locks, unlike strerror().
 *
 * @return static string, never NULL; callers print the number too
 */
const char *gf_errno_words(int number);

/** What an errno value of a failed write means: GF_NO_SPACE (disk, quota or limit), else GF_IO. */
enum gf_status gf_errno_status(int number);

/**
 * Fill an error and return its status, so that `return gf_fail(...)` reads as one step.
 *
 * @param error   may be NULL: then only the status is returned
 * @param status  not GF_OK
 * @param offset  file position of the trouble, UINT64_MAX if it has none
 * @param format  printf text: cause first, with numbers and what to do
 * @return status
 */
enum gf_status gf_fail(struct gf_error *error, enum gf_status status, uint64_t offset,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
