/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU models for `gpushim dryrun --gpu NAME` and for whatever compares a recording with a card.
 *
 * Memory is what cuMemGetInfo tells as the total on that card, taken from "total capacity" figures
 * of PyTorch's own out-of-memory messages on recent drivers (drivers differ by up to 200 MiB; ECC
 * on where the card has it).  The context reserve is what a CUDA context with lazily loaded modules
 * keeps for itself before the first allocation: ESTIMATES in steps of 8 MiB by architecture, rising
 * with the number of SMs; drivers differ by up to 100 MiB, `--context` sets another figure.
 * Bandwidths and peaks are those of the vendor's data sheets: device memory, one direction of the
 * PCIe link, one direction of all NVLink links together (0 = none), dense (not sparse) arithmetic.
 */
#ifndef GA_GPUS_H
#define GA_GPUS_H

#include <stdint.h>

/*
 * G(name, marketing name, memory in MiB, context in MiB, SMs, major, minor,
 *   memory GB/s, PCIe GB/s, NVLink GB/s, fp32, tf32, fp16 TFLOPS)
 */
#define GA_GPUS(G) \
	G("p100", "Tesla P100-PCIE-16GB", 16281, 256, 56, 6, 0, 732, 16, 0, 9.3, 0, 18.7) \
	G("v100-16g", "Tesla V100-SXM2-16GB", 16151, 304, 80, 7, 0, 900, 16, 150, 15.7, 0, 125) \
	G("v100-32g", "Tesla V100-SXM2-32GB", 32501, 304, 80, 7, 0, 900, 16, 150, 15.7, 0, 125) \
	G("t4", "Tesla T4", 14930, 104, 40, 7, 5, 320, 16, 0, 8.1, 0, 65) \
	G("a100-40g", "NVIDIA A100-SXM4-40GB", 40448, 416, 108, 8, 0, 1555, 32, 300, 19.5, 156, \
	    312) \
	G("a100-80g", "NVIDIA A100-SXM4-80GB", 81152, 424, 108, 8, 0, 2039, 32, 300, 19.5, 156, \
	    312) \
	G("a30", "NVIDIA A30", 24095, 304, 56, 8, 0, 933, 32, 100, 10.3, 82, 165) \
	G("a10-24g", "NVIDIA A10", 22590, 256, 72, 8, 6, 600, 32, 0, 31.2, 62.5, 125) \
	G("a40", "NVIDIA A40", 45416, 264, 84, 8, 6, 696, 32, 56, 37.4, 74.8, 149.7) \
	G("a6000", "NVIDIA RTX A6000", 48669, 264, 84, 8, 6, 768, 32, 56, 38.7, 77.4, 154.8) \
	G("rtx3060-12g", "NVIDIA GeForce RTX 3060", 12044, 160, 28, 8, 6, 360, 32, 0, 12.7, 12.7, \
	    51) \
	G("rtx3080-10g", "NVIDIA GeForce RTX 3080", 10014, 248, 68, 8, 6, 760, 32, 0, 29.8, 29.8, \
	    119) \
	G("rtx3090", "NVIDIA GeForce RTX 3090", 24259, 256, 82, 8, 6, 936, 32, 56, 35.6, 35.6, \
	    142) \
	G("jetson-orin-32g", "Orin", 30697, 128, 14, 8, 7, 205, 16, 0, 3.3, 6.7, 13.3) \
	G("rtx4080", "NVIDIA GeForce RTX 4080", 16077, 312, 76, 8, 9, 717, 32, 0, 48.7, 48.7, 195) \
	G("rtx4090", "NVIDIA GeForce RTX 4090", 24210, 384, 128, 8, 9, 1008, 32, 0, 82.6, 82.6, \
	    330) \
	G("l4", "NVIDIA L4", 22559, 208, 58, 8, 9, 300, 32, 0, 30.3, 60, 121) \
	G("l40s", "NVIDIA L40S", 45458, 400, 142, 8, 9, 864, 32, 0, 91.6, 183, 362) \
	G("rtx6000-ada", "NVIDIA RTX 6000 Ada Generation", 48520, 400, 142, 8, 9, 960, 32, 0, \
	    91.1, 182, 364) \
	G("h100-80g", "NVIDIA H100 80GB HBM3", 81079, 520, 132, 9, 0, 3350, 64, 450, 67, 495, 990) \
	G("h100-nvl", "NVIDIA H100 NVL", 95354, 520, 132, 9, 0, 3938, 64, 300, 60, 418, 835) \
	G("h200", "NVIDIA H200", 143156, 528, 132, 9, 0, 4800, 64, 450, 67, 495, 990) \
	G("gh200", "NVIDIA GH200 480GB", 97280, 520, 132, 9, 0, 4000, 450, 450, 67, 495, 990) \
	G("b200", "NVIDIA B200", 182642, 568, 148, 10, 0, 8000, 64, 900, 80, 1100, 2250) \
	G("rtx5090", "NVIDIA GeForce RTX 5090", 32120, 456, 170, 12, 0, 1792, 64, 0, 104.8, 104.8, \
	    419)

/** One model; sizes in bytes, rates in bytes or operations per second. */
struct ga_gpu {
	const char *name, *marketing_name;
	uint64_t memory_bytes, context_bytes;
	unsigned sm_count, major, minor;
	uint64_t bandwidth, pcie, nvlink, fp32, tf32, fp16;
};

extern const struct ga_gpu ga_gpu_models[];
extern const unsigned ga_gpu_count;

/** The model of that name, NULL if the table has none. */
const struct ga_gpu *ga_gpu_find(const char *name);

#endif
