/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device code as programs load it: a cubin (ELF), PTX text, or a fat binary of several of them.
 *
 * A cubin tells which kernels and variables it has and what each kernel needs.  Fat binaries of
 * PyTorch are compressed: of them only the architectures are known, and any name is accepted.
 * Threads: an image does not change after it was read.
 */
#ifndef GD_DEVICE_IMAGE_H
#define GD_DEVICE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gd_image {
	int binary_version; /* 10 * major + minor of the code that runs, e.g. 86 */
	int ptx_version;    /* likewise of the PTX it comes from */
	char *text;	    /* copy of the ELF or PTX; NULL: contents unknown */
	size_t text_bytes;
	bool elf;
};

/* What one kernel needs. */
struct gd_code_facts {
	int registers;
	int max_threads;
	int static_shared_bytes;
};

/**
 * Read an image.
 *
 * @param data       borrowed; NULL is refused
 * @param image_out  set on success; free with gd_image_free
 * @return 0; CUDA_ERROR_INVALID_IMAGE; CUDA_ERROR_NO_BINARY_FOR_GPU; CUDA_ERROR_OUT_OF_MEMORY
 */
int gd_image_read(const void *data, struct gd_image *image_out);

void gd_image_free(struct gd_image *image);

/**
 * @param facts_out  filled with what is known, else with defaults that suit any kernel
 * @return whether the image has (or may have) a kernel of that name
 */
bool gd_image_kernel(
    const struct gd_image *image, const char *name, struct gd_code_facts *facts_out);

/**
 * Walk over the kernels whose names are known.
 *
 * @param index  from 0
 * @return name, not terminated, of *length_out characters; NULL behind the last
 */
const char *gd_image_kernel_name(const struct gd_image *image, unsigned index, size_t *length_out);

/**
 * @param offset_out  where parameter `index` of a kernel begins
 * @param bytes_out   its size
 * @return false when there is no such parameter or nothing is known
 */
bool gd_image_parameter(const struct gd_image *image, const char *name, unsigned index,
    size_t *offset_out, size_t *bytes_out);

/**
 * @param bytes_out  size of a global variable
 * @param data_out   its initial bytes, NULL when it starts as zeros, as those of PTX do; borrowed
 * @return whether the image has it
 */
bool gd_image_variable(
    const struct gd_image *image, const char *name, size_t *bytes_out, const void **data_out);

#endif
