/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and lines of machine code: symbol tables of ELF files, and debugging information where it is
 * there (elfutils, if found when this was built).
 *
 * Files are untrusted: every offset is checked.  A file that is not the one of the recording, by its
 * build id, is not used.
 *
 * Threads: one at a time.
 */
#ifndef GA_ELF_SYMBOLS_H
#define GA_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ga_elf;

/**
 * Open a library or program, and its separate debugging file if there is one.  It stays open behind
 * ga_elf_close() for who asks next.
 *
 * @param path             file
 * @param build_id, bytes  of the file that was recorded; 0 bytes: none, any file is accepted
 * @return NULL if it cannot be read or is another build; free with ga_elf_close
 *
 * Cost: sorts the functions, some 10 ms for the largest libraries; little if it is still open.
 */
struct ga_elf *ga_elf_open(const char *path, const unsigned char *build_id, size_t bytes);
void ga_elf_close(struct ga_elf *elf);

/**
 * The function of an address.
 *
 * @param address  the file's own address (address in memory - bias)
 * @return its name as the file has it, borrowed; NULL if no function reaches there
 */
const char *ga_elf_function(const struct ga_elf *elf, uint64_t address);

/** Whether the file has Python's interpreter, known by the function that evaluates frames. */
bool ga_elf_is_python(const struct ga_elf *elf);

/**
 * Source line of an address.
 *
 * @param file_out  borrowed, lives as long as `elf`
 * @return the line, 0 if it is not known
 */
uint32_t ga_elf_line(struct ga_elf *elf, uint64_t address, const char **file_out);

/** A C++ name as people write it; free() it.  A copy of `name` if it is none. */
char *ga_demangle(const char *name);

#endif
