/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file names belong to NVIDIA's device libraries.  A prefix such as libcu alone would also
 * hit libcurl and libcups.
 */
#ifndef GD_VENDOR_NAMES_H
#define GD_VENDOR_NAMES_H

#include <stddef.h>
#include <string.h>

/* X(name): the part of a file name after "lib" up to ".so" or "_"; libcudnn covers libcudnn_ops. */
#define GD_VENDOR_NAMES(X) \
	X("cuda") \
	X("cudart") \
	X("cublas") \
	X("cublasLt") \
	X("cudnn") \
	X("cufft") \
	X("cufftw") \
	X("cufile") \
	X("cupti") \
	X("curand") \
	X("cusolver") \
	X("cusolverMg") \
	X("cusparse") \
	X("cusparseLt") \
	X("nccl") \
	X("nvblas") \
	X("nvidia-ml") \
	X("nvidia-nvvm") \
	X("nvidia-ptxjitcompiler") \
	X("nvJitLink") \
	X("nvperf") \
	X("nvrtc") \
	X("nvrtc-builtins") \
	X("nvshmem") \
	X("nvToolsExt")

#define GD_RENAMED_HASH 8

/**
 * Find what a wheel has put into the name of a library that it brings along: packagers rename such
 * copies to libNAME-HASH.so.VERSION or libNAME.HASH.so.VERSION, HASH being eight hexadecimal
 * digits.
 *
 * @param file  name without folder
 * @return length of libNAME; 0 when the name is not of this kind.  Threads: any.
 */
static inline size_t gd_renamed_length(const char *file)
{
	const char *end = strstr(file, ".so");
	size_t length = end ? (size_t)(end - file) : 0;

	if (length <= GD_RENAMED_HASH + 1)
		return 0;
	length -= GD_RENAMED_HASH + 1;
	if ((file[length] != '-' && file[length] != '.') ||
	    strspn(file + length + 1, "0123456789abcdef") != GD_RENAMED_HASH)
		return 0;
	return length;
}

#endif
