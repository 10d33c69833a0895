/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few kernels that are really executed, because programs decide by what they compute.
 *
 * One table in kernel_models.c: how a kernel is recognised by its name and its arguments, and what
 * it does; the families lie in kernel_model_*.c.  When a function is looked up its name is read
 * once; at a launch the arguments are read into a job, which says everything in the stand-in's own
 * words and is what streams and graphs keep; running a job touches device memory alone, and only
 * what still is device memory.
 *
 * A launch whose arguments do not look as the table says, or which is larger than
 * GD_MODEL_ELEMENTS, is not executed.  What it would have written is then unknown, as is every
 * result of unknown numbers (known_memory.h): unknown memory reads as zeros.  Threads: any.
 */
#ifndef GD_KERNEL_MODELS_H
#define GD_KERNEL_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GD_MODEL_ELEMENTS 32768 /* largest tensor that is computed with; fills and copies: more */
#define GD_MODEL_PLAN 4096     /* bytes of the largest plan */

struct gd_kernel_model;

/* What the name of a kernel tells. */
struct gd_model_match {
	const struct gd_kernel_model *model; /* NULL: the kernel does nothing */
	uint8_t operation;		     /* of the family; 0: only the layout is known */
	uint8_t form;			     /* how the functor lies in the arguments */
	uint8_t inputs;			     /* tensors read */
	uint8_t computed, scalar, result;    /* enum gd_scalar */
	uint8_t types[3];		     /* of the inputs, as the functor takes them */
};

/* A launch as the program made it. */
struct gd_model_launch {
	void **parameters, **extra; /* as given to cuLaunchKernel */
	uint32_t grid[3], block[3];
};

/* What there is to do; as long as gd_model_prepare says. */
struct gd_model_job {
	const struct gd_model_match *match;
	uint16_t author; /* the kernel, for what it leaves unknown (unknown_results.h) */
	uint64_t plan[GD_MODEL_PLAN / 8];
};

/** Recognise a kernel; once per function. @param name  mangled name */
void gd_model_find(const char *name, struct gd_model_match *match_out);

/**
 * Read the arguments of a launch.
 *
 * @param match   borrowed for as long as the job lives
 * @param author  see struct gd_model_job
 * @return bytes of the job that count; 0 when the launch cannot be executed
 */
size_t gd_model_prepare(const struct gd_model_match *match, uint16_t author,
    const struct gd_model_launch *launch, struct gd_model_job *job_out);

/** @return whether a job of it computes what the kernel would have; else it only forgets */
static inline bool gd_model_computes(const struct gd_model_match *match)
{
	return match->operation;
}

/** Execute. @param job  a struct gd_model_job, borrowed */
void gd_model_run(const void *job);

#endif
