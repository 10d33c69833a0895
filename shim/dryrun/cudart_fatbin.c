/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the headers of a fat binary: one header for all, then one per piece (PTX or machine code)
 * with the architecture it is for.  The pieces themselves may be compressed and are skipped.
 */
#include "cudart_registry.h"

#define GD_WRAPPER_MAGIC 0x466243b1u
#define GD_FATBIN_MAGIC 0xba55ed50u

struct fatbin_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t content_bytes;
};

struct fatbin_piece {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t payload_bytes;
	uint32_t unknown[3];
	uint32_t arch; /* at byte 28 */
};

int gd_fatbin_arch(const struct gd_fatbin_wrapper *wrapper, int device_number)
{
	const struct fatbin_header *header;
	const char *at, *end;
	int best = 0;

	if (!wrapper || wrapper->magic != GD_WRAPPER_MAGIC || !wrapper->data)
		return 0;
	header = wrapper->data;
	if (header->magic != GD_FATBIN_MAGIC || header->header_bytes < sizeof(*header))
		return 0;
	at = (const char *)header + header->header_bytes;
	end = at + header->content_bytes;
	while ((size_t)(end - at) >= sizeof(struct fatbin_piece)) {
		const struct fatbin_piece *piece = (const struct fatbin_piece *)at;

		if (piece->header_bytes < sizeof(*piece) ||
		    piece->payload_bytes > (uint64_t)(end - at) - piece->header_bytes)
			break;
		if ((int)piece->arch <= device_number && (int)piece->arch > best)
			best = (int)piece->arch;
		at += piece->header_bytes + piece->payload_bytes;
	}
	return best;
}
