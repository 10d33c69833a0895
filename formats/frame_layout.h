/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where things are in a trace file: for the encoder and the decoder of frames, and for readers of files.
 * FORMAT.md says what they mean.
 */
#ifndef GF_FRAME_LAYOUT_H
#define GF_FRAME_LAYOUT_H

#include <stdint.h>

/* File header, 64 bytes. */
#define GF_FILE_MAGIC_AT 0u
#define GF_FILE_VERSION_AT 8u
#define GF_FILE_HEADER_BYTES_AT 12u
#define GF_FILE_TRACE_ID_AT 16u
#define GF_FILE_REQUIRED_AT 32u /* feature bits that a reader must know */
#define GF_FILE_CHECKSUM_AT 56u /* XXH3-64 of the bytes before */

/* Frame header, 64 bytes, then the body. */
#define GF_FRAME_MAGIC 0x4d524693u /* 93 'F' 'R' 'M' in the file: no text, no pointer */
#define GF_FRAME_MAGIC_AT 0u
#define GF_FRAME_HEADER_CHECKSUM_AT 4u /* low half of XXH3-64 of the header from byte 8 on */
#define GF_FRAME_BODY_CHECKSUM_AT 8u   /* XXH3-64 of the body */
#define GF_FRAME_BODY_BYTES_AT 16u
#define GF_FRAME_DIRECTORY_BYTES_AT 20u    /* sources and sections, the beginning of the body */
#define GF_FRAME_DIRECTORY_CHECKSUM_AT 24u /* low half of XXH3-64 of the directory */
#define GF_FRAME_THREAD_AT 28u
#define GF_FRAME_RECORDS_AT 32u
#define GF_FRAME_SOURCES_AT 36u  /* 1 byte */
#define GF_FRAME_SECTIONS_AT 37u /* 1 byte */
#define GF_FRAME_TICK_SHIFT_AT 38u
#define GF_FRAME_REQUIRED_AT 39u /* 1 byte of feature bits that a reader must know */
#define GF_FRAME_TIME_FIRST_AT 40u
#define GF_FRAME_TIME_LAST_AT 48u
#define GF_FRAME_TYPES_AT 56u

#define GF_SOURCE_BYTES 16u         /* sequence, begin, end */
#define GF_SECTION_BYTES 16u        /* then its columns */
#define GF_SECTION_ORDER 0u         /* "tag" of the section with types and times */
#define GF_SECTION_COLUMNS_LIMIT 64u
#define GF_SECTION_RAW_LIMIT (32u << 20)
#define GF_TICK_SHIFT_LIMIT 20u

enum gf_section_form { GF_FORM_STORED, GF_FORM_ZSTD };

/* A column's entry: planes | base bytes << 4; the bits below; [shift; [table entries - 1];] base.
 * The parts in brackets are there only if planes > 0, if it is a table. */
#define GF_COLUMN_CODE 0x03u   /* enum gf_column_code */
#define GF_COLUMN_TABLE 0x04u
#define GF_COLUMN_SIGNED 0x08u
#define GF_COLUMN_WIDTH 0x30u  /* width is 1 << (bits >> 4) */
#define GF_COLUMN_RESERVED 0xc0u
#define GF_COLUMN_WIDTH_SHIFT 4u
#define GF_COLUMN_BYTES_LIMIT (4u + 8u)

enum gf_column_code { GF_CODE_PLAIN, GF_CODE_DELTA, GF_CODE_TOTAL };

#endif
