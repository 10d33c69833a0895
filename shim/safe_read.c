/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/safe_read.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim/calm.h"

/* Where a filter forbids process_vm_readv, the kernel's file of our own memory does the same. */
static bool read_memory_file(uintptr_t address, void *out, size_t bytes)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t got = pread(fd, out, bytes, (off_t)address);
	close(fd);
	return got == (ssize_t)bytes;
}

bool gs_safe_read(uintptr_t address, void *out, size_t bytes)
{
	struct gs_calm before = gs_calm_begin();
	struct iovec local = {out, bytes};
	struct iovec remote = {(void *)address, bytes};
	ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	bool done = got == (ssize_t)bytes;
	if (got < 0 && (errno == ENOSYS || errno == EPERM || errno == EACCES))
		done = read_memory_file(address, out, bytes);
	gs_calm_end(before);
	return done;
}

bool gs_safe_probe(uintptr_t address)
{
	char byte;
	return gs_safe_read(address, &byte, 1);
}
