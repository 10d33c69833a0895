/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and durations as people write and read them.
 *
 * Threads: any, no shared state.
 */
#ifndef GA_SIZES_H
#define GA_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GA_SIZE_TEXT 32	  /* bytes that hold any text made here, but for */
#define GA_THINGS_TEXT 64 /* a count of things */

/**
 * Read a SIZE: a number, also with a fraction, and a unit of powers of 1024.
 *
 * @param text       "512M", "24G", "80GiB", "1.5 GB", "4096"; case does not matter
 * @param bytes_out  set only on success
 * @return whether the whole text is a size of at most 2^63 - 1 bytes
 */
bool ga_size_parse(const char *text, uint64_t *bytes_out);

/**
 * Read a DURATION: a number and ns, us, ms or s; a bare number is nanoseconds.
 *
 * @param ns_out  set only on success
 * @return whether the whole text is a duration of at most 2^63 - 1 ns
 */
bool ga_duration_parse(const char *text, uint64_t *ns_out);

/**
 * Bytes for people: "512 bytes", "1.50 KiB", "23.65 GiB"; two decimals, as PyTorch prints them.
 *
 * @param out  GA_SIZE_TEXT bytes
 * @return out
 */
const char *ga_size_text(uint64_t bytes, char out[GA_SIZE_TEXT]);

/** A duration for people: "980 ns", "12.3 us", "4.56 ms", "1.23 s", "12 min 3 s".  @return out */
const char *ga_duration_text(uint64_t ns, char out[GA_SIZE_TEXT]);

/** A share of a whole that is not 0: "20 %", "under 1 %".  @return out */
const char *ga_share_text(uint64_t part, uint64_t whole, char out[GA_SIZE_TEXT]);

/** A count with thin groups of three digits: "12 345 678".  @return out */
const char *ga_count_text(uint64_t count, char out[GA_SIZE_TEXT]);

/**
 * A count of things: "1 event", "12 345 events".
 *
 * @param thing  one of them; its plural takes an s; at most 30 bytes
 * @param out    GA_THINGS_TEXT bytes
 * @return out
 */
const char *ga_things_text(uint64_t count, const char *thing, char out[GA_THINGS_TEXT]);

#endif
