/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of this run and what they are.  All are equal; the facts come from the launcher by
 * GPUSHIM_DRYRUN_DEVICE, GPUSHIM_DRYRUN_COUNT.  Read once, then constant; any thread.
 */
#ifndef GD_DEVICE_TABLE_H
#define GD_DEVICE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* N(key, field, default): whole numbers; bytes may carry nothing but digits. */
#define GD_DEVICE_NUMBERS(N) \
	N("total", total_bytes, UINT64_C(24) << 30) \
	N("context", context_bytes, 0) \
	N("sm", sm_count, 128) \
	N("bandwidth", bandwidth_per_s, UINT64_C(1000000000000)) \
	N("pcie", pcie_per_s, UINT64_C(25000000000)) \
	N("nvlink", nvlink_per_s, 0) \
	N("fp32", fp32_per_s, UINT64_C(80000000000000)) \
	N("tf32", tf32_per_s, UINT64_C(80000000000000)) \
	N("fp16", fp16_per_s, UINT64_C(160000000000000))

struct gd_device_facts {
	char name[128];
	unsigned count;
	int major, minor; /* compute capability */
#define GD_DEVICE_FIELD(key, field, standard) uint64_t field;
	GD_DEVICE_NUMBERS(GD_DEVICE_FIELD)
#undef GD_DEVICE_FIELD
	/* Follow from the compute capability. */
	int threads_per_sm, blocks_per_sm, registers_per_sm;
	int shared_per_sm, shared_per_block_optin, l2_bytes, persisting_l2_bytes;
	int clock_khz, memory_clock_khz, memory_bus_bits;
};

extern struct gd_device_facts gd_facts;

/** Read the environment; once. @return false after saying on stderr what is wrong */
bool gd_device_table_start(void);

/**
 * @param attribute  a CUdevice_attribute
 * @param device     index
 * @return the attribute; 0 for what the device lacks
 */
int gd_device_attribute(int attribute, unsigned device);

/** Identity of a device: the same in every process of a run. */
void gd_device_uuid(unsigned device, unsigned char out[16]);

/** PCI address "0000:01:00.0" and its parts; domain is always 0 */
unsigned gd_device_pci_bus(unsigned device);

#endif
