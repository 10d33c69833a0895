/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/known_memory.h"

#include <stddef.h>
#include <sys/mman.h>

#include "shim/dryrun/address_space.h"

#define GRAIN_SHIFT 9
#define GRAIN_BYTES (1U << GRAIN_SHIFT)
#define GRAINS_PER_SLOT GD_KNOWN_GRAINS
#define WORDS_PER_SLOT (GRAINS_PER_SLOT / 64)
#define MASK_WORDS (GRAIN_BYTES / 64)
_Static_assert(GD_KNOWN_GRAINS << GRAIN_SHIFT == GD_SLOT_BYTES, "grains fill a slot");

static uint64_t *whole;	  /* a bit a grain; atomic, as all of these */
static uint64_t *partial; /* likewise; means something only where `whole` has no bit */
static uint64_t *masks;	  /* by grain MASK_WORDS words, a bit a byte: zeros unless partial */
static uint8_t *any;	  /* by slot: some bit may be set */
static uint16_t *authors; /* by grain */

void gd_known_start(char *table, uint64_t slots)
{
	_Static_assert(GD_KNOWN_BYTES_PER_SLOT >=
			   GRAINS_PER_SLOT * (MASK_WORDS * sizeof(*masks) + sizeof(*authors)) +
			       WORDS_PER_SLOT * (sizeof(*whole) + sizeof(*partial)) + sizeof(*any),
	    "room for all tables");
	madvise(table, slots * GD_KNOWN_BYTES_PER_SLOT, MADV_NOHUGEPAGE);
	masks = (uint64_t *)table;
	whole = masks + slots * GRAINS_PER_SLOT * MASK_WORDS;
	partial = whole + slots * WORDS_PER_SLOT;
	authors = (uint16_t *)(partial + slots * WORDS_PER_SLOT);
	any = (uint8_t *)(authors + slots * GRAINS_PER_SLOT);
}

static uint64_t word_at(const uint64_t *table, uint64_t index)
{
	return __atomic_load_n(&table[index], __ATOMIC_RELAXED);
}

static bool bit_at(const uint64_t *table, uint64_t grain)
{
	return word_at(table, grain / 64) >> grain % 64 & 1;
}

static void set_bits(uint64_t *table, uint64_t index, uint64_t bits)
{
	if (~word_at(table, index) & bits)
		__atomic_fetch_or(&table[index], bits, __ATOMIC_SEQ_CST);
}

static void clear_bits(uint64_t *table, uint64_t index, uint64_t bits)
{
	if (word_at(table, index) & bits)
		__atomic_fetch_and(&table[index], ~bits, __ATOMIC_SEQ_CST);
}

static bool slot_flag(uint64_t slot)
{
	return __atomic_load_n(&any[slot], __ATOMIC_SEQ_CST);
}

static void raise_flag(uint64_t slot)
{
	if (!slot_flag(slot))
		__atomic_store_n(&any[slot], 1, __ATOMIC_SEQ_CST);
}

/* The bits of one word that a range covers, both ends included. */
static uint64_t bits_of(uint64_t word, uint64_t first, uint64_t last)
{
	uint64_t low = first > word * 64 ? first - word * 64 : 0;
	uint64_t high = last < word * 64 + 63 ? last - word * 64 : 63;
	return (~UINT64_C(0) >> (63 - (high - low))) << low;
}

/* A range as grains that it covers and the pieces of grains at its ends. */
struct pieces {
	struct piece {
		uint64_t grain;
		unsigned first, last; /* bytes of the grain */
	} piece[2];
	unsigned count;
	uint64_t first, end; /* whole grains; none: equal */
};

static struct pieces cut(uint64_t offset, uint64_t bytes)
{
	uint64_t end = offset + bytes;
	struct pieces p = {
	    .first = (offset + GRAIN_BYTES - 1) >> GRAIN_SHIFT, .end = end >> GRAIN_SHIFT};
	uint64_t head = offset >> GRAIN_SHIFT, tail = (end - 1) >> GRAIN_SHIFT;
	if (offset % GRAIN_BYTES)
		p.piece[p.count++] = (struct piece){head, offset % GRAIN_BYTES,
		    head == tail ? (end - 1) % GRAIN_BYTES : GRAIN_BYTES - 1};
	if (end % GRAIN_BYTES && (head != tail || !p.count))
		p.piece[p.count++] = (struct piece){tail, 0, (end - 1) % GRAIN_BYTES};
	if (p.end < p.first)
		p.end = p.first;
	return p;
}

/* ---- pieces of grains ---- */

static void set_piece(const struct piece *piece)
{
	if (bit_at(whole, piece->grain))
		return;
	for (uint64_t word = piece->first / 64; word <= piece->last / 64; word++)
		set_bits(masks, piece->grain * MASK_WORDS + word,
		    bits_of(word, piece->first, piece->last));
	set_bits(partial, piece->grain / 64, UINT64_C(1) << piece->grain % 64);
	raise_flag(piece->grain / GRAINS_PER_SLOT);
}

static void fill_mask(uint64_t grain, uint64_t word)
{
	for (unsigned i = 0; i < MASK_WORDS; i++)
		__atomic_store_n(&masks[grain * MASK_WORDS + i], word, __ATOMIC_SEQ_CST);
}

static void clear_piece(const struct piece *piece)
{
	uint64_t grain = piece->grain, bit = UINT64_C(1) << grain % 64;
	if (bit_at(whole, grain)) {
		fill_mask(grain, ~UINT64_C(0));
		set_bits(partial, grain / 64, bit);
		clear_bits(whole, grain / 64, bit);
	}
	if (!bit_at(partial, grain))
		return;
	for (uint64_t word = piece->first / 64; word <= piece->last / 64; word++)
		clear_bits(
		    masks, grain * MASK_WORDS + word, bits_of(word, piece->first, piece->last));
}

static bool piece_known(const struct piece *piece)
{
	if (bit_at(whole, piece->grain))
		return true;
	if (!bit_at(partial, piece->grain))
		return false;
	for (uint64_t word = piece->first / 64; word <= piece->last / 64; word++) {
		if (~word_at(masks, piece->grain * MASK_WORDS + word) &
		    bits_of(word, piece->first, piece->last))
			return false;
	}
	return true;
}

/* ---- ranges ---- */

void gd_known_set(uint64_t offset, uint64_t bytes)
{
	if (!bytes)
		return;
	struct pieces p = cut(offset, bytes);
	for (unsigned i = 0; i < p.count; i++)
		set_piece(&p.piece[i]);
	for (uint64_t word = p.first / 64; p.first < p.end && word <= (p.end - 1) / 64; word++) {
		set_bits(whole, word, bits_of(word, p.first, p.end - 1));
		raise_flag(word / WORDS_PER_SLOT);
	}
}

/* The flag goes first: a bit that another thread sets meanwhile is seen, or raises it again. */
static void lower_flag(uint64_t slot)
{
	__atomic_store_n(&any[slot], 0, __ATOMIC_SEQ_CST);
	for (uint64_t i = slot * WORDS_PER_SLOT; i < (slot + 1) * WORDS_PER_SLOT; i++) {
		if (__atomic_load_n(&whole[i], __ATOMIC_SEQ_CST) ||
		    __atomic_load_n(&partial[i], __ATOMIC_SEQ_CST)) {
			__atomic_store_n(&any[slot], 1, __ATOMIC_SEQ_CST);
			return;
		}
	}
}

static void clear_word(uint64_t word, uint64_t bits)
{
	uint64_t in_part = word_at(partial, word) & bits;
	clear_bits(whole, word, bits);
	for (uint64_t left = in_part; left; left &= left - 1)
		fill_mask(word * 64 + (unsigned)__builtin_ctzll(left), 0);
	clear_bits(partial, word, in_part);
}

void gd_known_clear(uint64_t offset, uint64_t bytes)
{
	if (!bytes)
		return;
	struct pieces p = cut(offset, bytes);
	for (unsigned i = 0; i < p.count; i++)
		clear_piece(&p.piece[i]);
	for (uint64_t word = p.first / 64; p.first < p.end && word <= (p.end - 1) / 64;) {
		uint64_t slot = word / WORDS_PER_SLOT;
		if (!slot_flag(slot)) {
			word = (slot + 1) * WORDS_PER_SLOT;
			continue;
		}
		clear_word(word, bits_of(word, p.first, p.end - 1));
		word++;
		if (bytes >= GD_SLOT_BYTES && word % WORDS_PER_SLOT == 0)
			lower_flag(slot);
	}
}

bool gd_known(uint64_t offset, uint64_t bytes)
{
	if (!bytes)
		return true;
	struct pieces p = cut(offset, bytes);
	for (unsigned i = 0; i < p.count; i++) {
		if (!piece_known(&p.piece[i]))
			return false;
	}
	for (uint64_t word = p.first / 64; p.first < p.end && word <= (p.end - 1) / 64; word++) {
		uint64_t missing = ~word_at(whole, word) & bits_of(word, p.first, p.end - 1);
		for (; missing; missing &= missing - 1) { /* known in many steps, perhaps */
			const struct piece all = {
			    word * 64 + (unsigned)__builtin_ctzll(missing), 0, GRAIN_BYTES - 1};
			if (!piece_known(&all))
				return false;
		}
	}
	return true;
}

bool gd_known_any(uint64_t offset, uint64_t bytes)
{
	uint64_t first = offset >> GRAIN_SHIFT, last = (offset + bytes - 1) >> GRAIN_SHIFT;
	for (uint64_t word = first / 64; bytes && word <= last / 64; word++) {
		if ((word_at(whole, word) | word_at(partial, word)) & bits_of(word, first, last))
			return true;
	}
	return false;
}

void gd_known_set_author(uint64_t offset, uint64_t bytes, uint16_t author)
{
	uint64_t last = (offset + bytes - 1) >> GRAIN_SHIFT;
	for (uint64_t grain = offset >> GRAIN_SHIFT; bytes && grain <= last; grain++)
		__atomic_store_n(&authors[grain], author, __ATOMIC_RELAXED);
}

uint16_t gd_known_author(uint64_t offset)
{
	return __atomic_load_n(&authors[offset >> GRAIN_SHIFT], __ATOMIC_RELAXED);
}
