/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim/safe_read.h"

#define GS_ENTRIES_MOST 4096
#define GS_ENTRY_BYTES 8192 /* longer ones are none of ours */
#define GS_TEXT_BYTES (512u * 1024)
#define GS_PAGE_BYTES 4096u

static struct gs_copy {
	char *entries[GS_ENTRIES_MOST + 1];
	char text[GS_TEXT_BYTES];
} *gs_copy; /* untouched pages cost nothing */

/* A string that another thread may free meanwhile: page by page.  Returns its bytes, 0 if it is none. */
static size_t gs_copy_string(uintptr_t address, char *out, size_t room)
{
	size_t most = room < GS_ENTRY_BYTES ? room : GS_ENTRY_BYTES, have = 0;
	while (have < most) {
		size_t step = GS_PAGE_BYTES - (address + have) % GS_PAGE_BYTES;
		if (step > most - have)
			step = most - have;
		if (!gs_safe_read(address + have, out + have, step))
			return 0;
		const char *end = memchr(out + have, 0, step);
		if (end)
			return (size_t)(end - out) + 1;
		have += step;
	}
	return 0;
}

void gs_environment_take(void)
{
	uintptr_t list = (uintptr_t)environ, entry;
	size_t count = 0, used = 0;
	void *memory = gs_copy ? gs_copy
			       : mmap(NULL, sizeof(*gs_copy), PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return;
	gs_copy = memory;
	for (; list && count < GS_ENTRIES_MOST; list += sizeof(entry)) {
		if (!gs_safe_read(list, &entry, sizeof(entry)) || !entry)
			break;
		char *to = gs_copy->text + used;
		size_t bytes = gs_copy_string(entry, to, GS_TEXT_BYTES - used);
		if (bytes)
			gs_copy->entries[count++] = to;
		used += bytes;
	}
	gs_copy->entries[count] = NULL;
}

char *const *gs_environment(void)
{
	static char *const none[] = {NULL};
	return gs_copy ? gs_copy->entries : none;
}

const char *gs_environment_get(const char *name)
{
	size_t length = strlen(name);
	for (char *const *entry = gs_environment(); *entry; entry++)
		if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=')
			return *entry + length + 1;
	return NULL;
}
