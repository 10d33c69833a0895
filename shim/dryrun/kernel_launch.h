/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of the math libraries: named, launched through the driver, doing nothing.
 *
 * The real libraries carry their kernels as machine code; these carry a few lines of PTX made from
 * the name.  Whoever watches the driver sees a module, a function and a launch with the grid that a
 * plain tiling of the problem would have.
 */
#ifndef GD_KERNEL_LAUNCH_H
#define GD_KERNEL_LAUNCH_H

#include <cuda.h>
#include <stdint.h>

/* Which of the device's rates the work of a kernel runs at. */
enum gd_rate {
	GD_RATE_MEMORY, /* moves bytes, computes little */
	GD_RATE_F64,
	GD_RATE_F32,
	GD_RATE_TF32,
	GD_RATE_F16,
	GD_RATE_F8,
};

/* What a launch is to look like and to cost. */
struct gd_work {
	const char *name; /* of the kernel; copied when first seen */
	uint64_t threads; /* results to compute; blocks of 256 are made of them */
	uint64_t flops;	  /* for the clock model; 0 when unknown */
	enum gd_rate rate;
	void **arguments; /* of a kernel that the driver executes (its kernel models); else NULL */
	/* What it writes and nobody computes: known no more once it runs.  0 bytes: not said. */
	const void *written;
	uint64_t written_bytes;
};

/**
 * Launch a kernel on a stream of the current context.
 *
 * @param work    borrowed
 * @param stream  as the program gave it to the library
 * @return the driver's answer
 *
 * Threads: any.  The first launch of a name loads it under a lock.
 */
CUresult gd_kernel_launch(const struct gd_work *work, CUstream stream);

#endif
