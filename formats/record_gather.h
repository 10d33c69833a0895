/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of many journal records of one type, as arrays.  Compiled into the preload library.
 *
 * Threads: any.  Nothing here allocates.
 */
#ifndef GF_RECORD_GATHER_H
#define GF_RECORD_GATHER_H

#include <stdint.h>

#include "formats/records.h"

#define GF_RECORD_WORDS_LIMIT 16u /* 8-byte words of the fixed part of a record */

/**
 * Which bits of the records differ from the first one anywhere.
 *
 * @param records    `rows` records of one type, 8-byte aligned
 * @param words      words to compare, at most GF_RECORD_WORDS_LIMIT
 * @param differing  `words` words
 *
 * Cost: about 0.3 ns a word and record.
 */
void gf_gather_differing(const unsigned char *const *records, uint32_t rows, unsigned words,
    uint64_t *differing);

/** One field of each record, widened; 8-byte fields are ANDed with `rounding`. */
void gf_gather(const unsigned char *const *records, uint32_t rows, const struct gf_column *column,
    uint64_t rounding, uint64_t *values);

/** (field - base) >> shift of each record, as 32 bits; bits of 8-byte fields outside `rounding` do
 * not count. */
void gf_gather_reduced(const unsigned char *const *records, uint32_t rows,
    const struct gf_column *column, uint64_t rounding, uint64_t base, unsigned shift,
    uint32_t *numbers);

#endif
