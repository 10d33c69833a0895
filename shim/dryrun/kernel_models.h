/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few kernels that are really executed, because programs decide by what they compute.
 *
 * One table in kernel_models.c: how a kernel is recognised by its name, which arguments it has,
 * what it does.  A model runs up to gd_copies_limit() bytes of result; beyond, the result reads as
 * zeros, as that of every kernel without a model.  Threads: any.
 */
#ifndef GD_KERNEL_MODELS_H
#define GD_KERNEL_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GD_MODEL_ARGUMENTS 6

struct gd_kernel_model;

/* A model that fits a kernel, with what the name told: sizes of the arguments, element types. */
struct gd_model_match {
	const struct gd_kernel_model *model; /* NULL: the kernel does nothing */
	uint8_t argument_count;
	uint8_t argument_bytes[GD_MODEL_ARGUMENTS]; /* alignment is the largest power of two in it,
						       up to 16 */
	uint8_t element_bytes;
};

/** Recognise a kernel; once per function. @param name  mangled name */
void gd_model_find(const char *name, struct gd_model_match *match_out);

/** @return bytes of all arguments as the launch buffer lays them out */
size_t gd_model_argument_bytes(const struct gd_model_match *match);

/**
 * Gather the arguments of a launch into one buffer.
 *
 * @param parameters  as given to cuLaunchKernel, or NULL
 * @param extra       likewise
 * @param buffer      gd_model_argument_bytes long
 * @return false when the launch gives none
 */
bool gd_model_gather(
    const struct gd_model_match *match, void **parameters, void **extra, char *buffer);

/** Execute. @param buffer  from gd_model_gather */
void gd_model_run(const struct gd_model_match *match, const char *buffer);

#endif
