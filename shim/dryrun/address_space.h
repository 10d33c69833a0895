/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device addresses and the bytes behind them.
 *
 * One region without access rights gives the addresses: touching device memory from the host
 * faults, as it does on a real machine.  A second region of the same size, never committed, holds
 * the bytes that were really stored; the kernel gives it pages only where something is written.
 * Both are cut into slots of 2 MiB, the granularity of the device.  An address slot leads to a data
 * slot, so that memory mapped twice, or unmapped and mapped again, keeps its bytes.
 *
 * For each 4 KiB page of data one bit says that something was stored there: reading elsewhere gives
 * zeros without touching memory, clearing costs nothing there.
 *
 * Slots that several processes share lie in a file and count as stored.
 *
 * Threads: taking and giving slots lock; storing shares a lock that only sharing takes alone;
 * everything else is lock-free, and the caller orders
 * accesses to the same bytes as for any memory.
 */
#ifndef GD_ADDRESS_SPACE_H
#define GD_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GD_SLOT_SHIFT 21
#define GD_SLOT_BYTES (UINT64_C(1) << GD_SLOT_SHIFT)

struct gd_block;

extern uint64_t gd_space_base;	/* first device address */
extern uint64_t gd_space_bytes; /* length of the region */

/** @return slots that hold so many bytes */
static inline uint64_t gd_slots(uint64_t bytes)
{
	return (bytes + GD_SLOT_BYTES - 1) >> GD_SLOT_SHIFT;
}

/** @return whether an address lies in the device region */
static inline bool gd_space_holds(uint64_t address)
{
	return address - gd_space_base < gd_space_bytes;
}

/**
 * Reserve both regions; once.
 *
 * @param memory_bytes  of all devices; there is room for all of it at least
 * @return false after saying why there is none
 */
bool gd_space_start(uint64_t memory_bytes);

/**
 * Take consecutive slots; they lead nowhere yet.
 *
 * @param slots  at least 1
 * @return address of the first, or 0 when there is no such gap
 */
uint64_t gd_space_take(uint64_t slots);

/** Give slots back. They must lead nowhere and belong to no block. */
void gd_space_give(uint64_t address, uint64_t slots);

/** Enter (or with NULL remove) the owner of slots. */
void gd_space_set_block(uint64_t address, uint64_t slots, struct gd_block *block);

/** @return the owner of the slot that an address lies in, or NULL */
struct gd_block *gd_space_block(uint64_t address);

/**
 * Let address slots lead to the data slots of `data`, the address of slots taken before; their own
 * for plain memory.
 */
void gd_space_map(uint64_t address, uint64_t data, uint64_t slots);

/** Let address slots lead nowhere. */
void gd_space_unmap(uint64_t address, uint64_t slots);

/** @return whether every byte of the range leads to data */
bool gd_space_mapped(uint64_t address, uint64_t bytes);

/** Copy bytes in, out, or between device ranges (which may overlap); the ranges must be mapped. */
void gd_space_store(uint64_t to, const void *from, size_t bytes);
void gd_space_load(void *to, uint64_t from, size_t bytes);
void gd_space_move(uint64_t to, uint64_t from, size_t bytes);

/**
 * Store a repeated pattern.
 *
 * @param pattern  its first `width` bytes; width is 1, 2, 4, 8 or 16
 * @param count    times
 */
void gd_space_fill(uint64_t to, const void *pattern, size_t width, size_t count);

/** @return whether everything in the range was stored (known_memory.h) and not cleared since */
bool gd_space_known(uint64_t address, uint64_t bytes);

/** @return whether anything in the range may be known: false is certain */
bool gd_space_known_any(uint64_t address, uint64_t bytes);

/** Say that what a range holds is known, or is not, whatever it is. */
void gd_space_set_known(uint64_t address, uint64_t bytes, bool known);

/** Which kernel, not executed, would have filled a place (known_memory.h); large ranges: nothing.
 */
uint16_t gd_space_author(uint64_t address);
void gd_space_set_author(uint64_t address, uint64_t bytes, uint16_t author);

/** Make a range read as zeros, unknown ones; parts that lead nowhere are skipped. */
void gd_space_clear(uint64_t address, uint64_t bytes);

/**
 * Let data slots lie in a file, which other processes map too; stores of other threads meanwhile
 * are kept.
 *
 * @param data  address of the first slot, as for gd_space_map
 * @param file  of at least so many slots; borrowed
 * @param keep  what was stored goes into the file; else what the file holds is seen
 * @return false without room or memory: nothing changed
 */
bool gd_space_share(uint64_t data, uint64_t slots, int file, bool keep);

/** Take data slots out of their file again; they read as zeros. */
void gd_space_unshare(uint64_t data, uint64_t slots);

#endif
