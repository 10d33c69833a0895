/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Little-endian numbers in byte buffers, and a cursor that cannot leave its buffer.
 *
 * Threads: any.  Nothing here allocates.
 */
#ifndef GF_WIRE_H
#define GF_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define GF_SWAP32(x) (x)
#define GF_SWAP64(x) (x)
#else
#define GF_SWAP32(x) __builtin_bswap32(x)
#define GF_SWAP64(x) __builtin_bswap64(x)
#endif

/** Store a number at any address, little-endian. */
static inline void gf_put32(void *to, uint32_t value)
{
	value = GF_SWAP32(value);
	memcpy(to, &value, sizeof(value));
}

static inline void gf_put64(void *to, uint64_t value)
{
	value = GF_SWAP64(value);
	memcpy(to, &value, sizeof(value));
}

/** Load a little-endian number from any address. */
static inline uint32_t gf_get32(const void *from)
{
	uint32_t value;
	memcpy(&value, from, sizeof(value));
	return GF_SWAP32(value);
}

static inline uint64_t gf_get64(const void *from)
{
	uint64_t value;
	memcpy(&value, from, sizeof(value));
	return GF_SWAP64(value);
}

/* A position in bytes that are not trusted.  After the first read behind the end `failed` stays
 * set and all reads give 0, so that a parser may check once per group. */
struct gf_cursor {
	const unsigned char *at, *end;
	bool failed;
};

static inline struct gf_cursor gf_cursor_over(const void *data, size_t bytes)
{
	return (struct gf_cursor){data, (const unsigned char *)data + bytes, false};
}

static inline size_t gf_cursor_left(const struct gf_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/** The next `bytes` bytes, which are then behind the cursor; NULL if there are fewer. */
static inline const unsigned char *gf_take(struct gf_cursor *cursor, size_t bytes)
{
	if (cursor->failed || bytes > gf_cursor_left(cursor)) {
		cursor->failed = true;
		return NULL;
	}
	cursor->at += bytes;
	return cursor->at - bytes;
}

static inline uint8_t gf_take8(struct gf_cursor *cursor)
{
	const unsigned char *from = gf_take(cursor, 1);
	return from ? *from : 0;
}

static inline uint32_t gf_take32(struct gf_cursor *cursor)
{
	const unsigned char *from = gf_take(cursor, 4);
	return from ? gf_get32(from) : 0;
}

static inline uint64_t gf_take64(struct gf_cursor *cursor)
{
	const unsigned char *from = gf_take(cursor, 8);
	return from ? gf_get64(from) : 0;
}

/** A number of 0..8 little-endian bytes. */
static inline uint64_t gf_take_bytes(struct gf_cursor *cursor, unsigned bytes)
{
	const unsigned char *from = gf_take(cursor, bytes);
	uint64_t value = 0;
	for (unsigned i = bytes; from && i-- > 0;)
		value = value << 8 | from[i];
	return value;
}

#endif
