/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file names belong to NVIDIA's device libraries.  A prefix such as libcu alone would also
 * hit libcurl and libcups.  Included by the audit library alone.
 */
#ifndef GD_VENDOR_NAMES_H
#define GD_VENDOR_NAMES_H

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

#endif
