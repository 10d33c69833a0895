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

/* strerror() may translate, and then it allocates and locks. */
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
const char *gf_errno_words(int number)
{
	const char *text = strerrordesc_np(number);
	return text ? text : "system error";
}
#else
/* What files and programs fail with. */
static const struct {
	int number;
	const char *words;
} errnos[] = {
    {EPERM, "Operation not permitted"},
    {ENOENT, "No such file or directory"},
    {EINTR, "Interrupted system call"},
    {EIO, "Input/output error"},
    {ENXIO, "No such device or address"},
    {E2BIG, "Argument list too long"},
    {ENOEXEC, "Exec format error"},
    {EBADF, "Bad file descriptor"},
    {EAGAIN, "Resource temporarily unavailable"},
    {ENOMEM, "Cannot allocate memory"},
    {EACCES, "Permission denied"},
    {EBUSY, "Device or resource busy"},
    {EEXIST, "File exists"},
    {EXDEV, "Invalid cross-device link"},
    {ENODEV, "No such device"},
    {ENOTDIR, "Not a directory"},
    {EISDIR, "Is a directory"},
    {EINVAL, "Invalid argument"},
    {ENFILE, "Too many open files in system"},
    {EMFILE, "Too many open files"},
    {ETXTBSY, "Text file busy"},
    {EFBIG, "File too large"},
    {ENOSPC, "No space left on device"},
    {ESPIPE, "Illegal seek"},
    {EROFS, "Read-only file system"},
    {EPIPE, "Broken pipe"},
    {ENAMETOOLONG, "File name too long"},
    {ENOSYS, "Function not implemented"},
    {ELOOP, "Too many levels of symbolic links"},
    {EOVERFLOW, "Value too large for defined data type"},
    {EOPNOTSUPP, "Operation not supported"},
    {ESTALE, "Stale file handle"},
    {EDQUOT, "Disk quota exceeded"},
};

const char *gf_errno_words(int number)
{
	for (size_t i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (errnos[i].number == number)
			return errnos[i].words;
	return "system error";
}
#endif

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
