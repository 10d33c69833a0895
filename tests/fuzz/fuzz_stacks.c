/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: what call stacks are made of.
 *
 * First byte: 0 an ELF file, whose functions are looked up; 1 to 3 a line table of that form, 4 bytes
 * first line, 4 bytes instruction, the table.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/elf_symbols.h"
#include "analyzer/python_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_elf(const uint8_t *data, size_t size)
{
	char path[64];
	const char *file;
	snprintf(path, sizeof(path), "/tmp/gpushim-fuzz-%d.so", (int)getpid());
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	struct ga_elf *elf = ga_elf_open(path, NULL, 0);
	for (uint64_t address = 0; elf && address < 0x8000; address += 0x3f) {
		const char *name = ga_elf_function(elf, address);
		if (name)
			free(ga_demangle(name));
		ga_elf_line(elf, address, &file);
	}
	if (elf)
		ga_elf_is_python(elf);
	ga_elf_close(elf);
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t first;
	int32_t lasti;
	if (size > 0 && data[0] == 0) {
		fuzz_elf(data + 1, size - 1);
	} else if (size >= 9) {
		memcpy(&first, data + 1, sizeof(first));
		memcpy(&lasti, data + 5, sizeof(lasti));
		ga_python_line(data[0] & 7, data + 9, size - 9, first, lasti);
	}
	return 0;
}
