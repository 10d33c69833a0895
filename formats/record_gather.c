/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/record_gather.h"

#define INLINE static inline __attribute__((always_inline))

/* `words` is a constant where this is inlined: the words stay in registers. */
INLINE void differing_words(
    const unsigned char *const *records, uint32_t rows, unsigned words, uint64_t *differing)
{
	const uint64_t *first = (const uint64_t *)records[0];
	uint64_t any[GF_RECORD_WORDS_LIMIT] = {0};
	for (uint32_t i = 1; i < rows; i++) {
		const uint64_t *record = (const uint64_t *)records[i];
		for (unsigned word = 0; word < words; word++)
			any[word] |= record[word] ^ first[word];
	}
	memcpy(differing, any, words * sizeof(any[0]));
}

void gf_gather_differing(
    const unsigned char *const *records, uint32_t rows, unsigned words, uint64_t *differing)
{
	switch (words) {
	case 6:
		differing_words(records, rows, 6, differing);
		break;
	case 7:
		differing_words(records, rows, 7, differing);
		break;
	case 8:
		differing_words(records, rows, 8, differing);
		break;
	case 9:
		differing_words(records, rows, 9, differing);
		break;
	case 10:
		differing_words(records, rows, 10, differing);
		break;
	default:
		differing_words(records, rows, words, differing);
	}
}

void gf_gather(const unsigned char *const *records, uint32_t rows, const struct gf_column *column,
    uint64_t rounding, uint64_t *values)
{
	size_t offset = column->offset;
	if (column->bytes == 8)
		for (uint32_t i = 0; i < rows; i++)
			values[i] = *(const uint64_t *)(records[i] + offset) & rounding;
	else if (column->bytes == 4)
		for (uint32_t i = 0; i < rows; i++)
			values[i] = *(const uint32_t *)(records[i] + offset);
	else
		for (uint32_t i = 0; i < rows; i++)
			values[i] = *(const uint16_t *)(records[i] + offset);
}

void gf_gather_reduced(const unsigned char *const *records, uint32_t rows,
    const struct gf_column *column, uint64_t rounding, uint64_t base, unsigned shift,
    uint32_t *numbers)
{
	size_t offset = column->offset;
	if (column->bytes == 8)
		for (uint32_t i = 0; i < rows; i++)
			numbers[i] =
			    (uint32_t)(((*(const uint64_t *)(records[i] + offset) & rounding) -
					   base) >>
				       shift);
	else if (column->bytes == 4)
		for (uint32_t i = 0; i < rows; i++)
			numbers[i] =
			    (*(const uint32_t *)(records[i] + offset) - (uint32_t)base) >> shift;
	else
		for (uint32_t i = 0; i < rows; i++)
			numbers[i] =
			    (uint32_t)(*(const uint16_t *)(records[i] + offset) - (uint32_t)base) >>
			    shift;
}
