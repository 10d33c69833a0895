/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/status.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const words[] = {
#define S(name, text) text,
    GF_STATUSES(S)
#undef S
};

const char *gf_status_words(enum gf_status status)
{
	return (unsigned)status < GF_STATUS_COUNT ? words[status] : "unknown status";
}

const char *gf_errno_words(int number)
{
	/* strerror() may translate, and then it allocates and locks. */
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
	const char *text = strerrordesc_np(number);
	if (text)
		return text;
#endif
	return "system error";
}

enum gf_status gf_errno_status(int number)
{
	bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
	return full ? GF_NO_SPACE : GF_IO;
}

enum gf_status gf_fail(
    struct gf_error *error, enum gf_status status, uint64_t offset, const char *format, ...)
{
	if (!error)
		return status;
	va_list arguments;
	error->status = status;
	error->offset = offset;
	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return status;
}
