/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit hashes of frames and stacks: equal hash counts as equal content, so every word is mixed
 * by a full 64 x 64 bit product (for 100 000 stacks the chance of any collision is below 1e-9).
 */
#ifndef GS_STACK_HASH_H
#define GS_STACK_HASH_H

#include <stdint.h>

#define GS_HASH_SEED UINT64_C(0x9e3779b97f4a7c15)
#define GS_HASH_A UINT64_C(0xd6e8feb86659fd93)
#define GS_HASH_B UINT64_C(0xa0761d6478bd642f)

/** Two words to one. */
static inline uint64_t gs_hash_pair(uint64_t a, uint64_t b)
{
	__uint128_t product = (__uint128_t)(a ^ GS_HASH_A) * (b ^ GS_HASH_B);
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/** A running hash and one more hash: faster than gs_hash_add, for words that are mixed already. */
static inline uint64_t gs_hash_chain(uint64_t hash, uint64_t mixed)
{
	return ((hash << 23 | hash >> 41) ^ mixed) * GS_HASH_B;
}

/** A running hash and one more word. */
static inline uint64_t gs_hash_add(uint64_t hash, uint64_t word)
{
	return gs_hash_pair(hash + GS_HASH_SEED, word);
}

#endif
