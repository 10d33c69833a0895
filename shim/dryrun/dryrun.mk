# SPDX-License-Identifier: Apache-2.0
# The stand-in GPU.  Fills $(DRYRUN_FILES); everything goes to $(O)/lib/gpushim/dryrun/.
#
# libcuda.so.1 is the device (cuda.mk).  The others are thin: libNAME.so.N consists of
# shim/dryrun/NAME_*.c (NAME in lower case), the refusing stubs of its imports, and the door to the
# driver.  Runtime and CUPTI are compiled once per CUDA major whose headers are there, into cuNN/.

DRYRUN_DIR := $(O)/lib/gpushim/dryrun
DRYRUN_FILES :=
ifneq ($(CUDA_INCLUDE),)
-include shim/dryrun/cuda.mk

# ---- libraries, the sonames they answer to, and their version node (own: the soname itself) -------
DRYRUN_LIBRARIES := cublas cublasLt cudnn cudnn8 cufft cufile curand cusolver cusparse cusparseLt nccl \
	nvJitLink nvToolsExt nvml nvrtc nvshmem_host
cublas_SONAMES := libcublas.so.13 libcublas.so.12 libcublas.so.11
cublasLt_SONAMES := libcublasLt.so.13 libcublasLt.so.12 libcublasLt.so.11
cudnn_SONAMES := libcudnn.so.9
cudnn8_SONAMES := libcudnn.so.8
cudnn8_SOURCES := cudnn # other status numbers, another version
cudnn8_FLAGS := -DGD_CUDNN_MAJOR=8
cufft_SONAMES := libcufft.so.12 libcufft.so.11 libcufft.so.10
cufile_SONAMES := libcufile.so.0
curand_SONAMES := libcurand.so.10
cusolver_SONAMES := libcusolver.so.12 libcusolver.so.11
cusparse_SONAMES := libcusparse.so.12 libcusparse.so.11
cusparseLt_SONAMES := libcusparseLt.so.0
nccl_SONAMES := libnccl.so.2
nvJitLink_SONAMES := libnvJitLink.so.13 libnvJitLink.so.12
nvToolsExt_SONAMES := libnvToolsExt.so.1
nvml_SONAMES := libnvidia-ml.so.1
nvrtc_SONAMES := libnvrtc.so.13 libnvrtc.so.12 libnvrtc.so.11.2
nvshmem_host_SONAMES := libnvshmem_host.so.3
dryrun_NO_NODE := cufile cusparseLt nccl nvml nvToolsExt
dryrun_node = $(if $(filter $1,$(dryrun_NO_NODE)),,$(if $(filter nvshmem_host,$1),NVSHMEM,$2))

DRYRUN_MAJOR_LIBRARIES := cudart cupti
cudart_13 := libcudart.so.13
cudart_12 := libcudart.so.12
cudart_11 := libcudart.so.11.0
cupti_13 := libcupti.so.13
cupti_12 := libcupti.so.12
cupti_11 := libcupti.so.11.7

# ---- headers: the cache first, then what this machine has if it is of that major ---------------------
dryrun_major = $(shell sed -n 's/^.define CUDA_VERSION \([0-9][0-9]\)[0-9][0-9][0-9].*/\1/p' \
	'$1/cuda.h' 2>/dev/null)
dryrun_first = $(firstword $(foreach f,$1,$(if $(wildcard $f/cuda_runtime_api.h),$f)))
dryrun_INCLUDE_LOCAL := $(if $(wildcard $(CUDA_INCLUDE)/cuda_runtime_api.h),$(CUDA_INCLUDE))
dryrun_LOCAL_MAJOR := $(if $(dryrun_INCLUDE_LOCAL),$(call dryrun_major,$(dryrun_INCLUDE_LOCAL)))
dryrun_include = $(call dryrun_first,$(HEADERS_CACHE)/cu$1/include \
	$(if $(filter $1,$(dryrun_LOCAL_MAJOR)),$(dryrun_INCLUDE_LOCAL)))
DRYRUN_MAJORS := $(foreach m,13 12 11,$(if $(call dryrun_include,$m),$m))
missing-majors: # CUDA majors whose headers were not found
	@echo $(filter-out $(DRYRUN_MAJORS),13 12 11)

# ---- rules ------------------------------------------------------------------------------------------------
DRYRUN_CFLAGS = $(ALL_FLAGS) $(PIC_FLAGS)
DRYRUN_LINK = $(CC) $(ALL_FLAGS) -shared $(if $(SAN),,-Wl,-z,defs) -Wl,-z,now -Wl,-z,relro
comma := ,
dryrun_DOOR := driver_door unprovided
dryrun_KERNELS := kernel_launch matmul_work
dryrun_WITH_KERNELS := cublas cublasLt cudnn cudnn8 cufft cusolver cusparse nccl cusparseLt
dryrun_nvml_MORE := device_table process_life shared_state # NVML tells about devices without the driver
dryrun_nccl_MORE := device_table process_life shared_files
dryrun_lower = $(shell echo '$1' | tr A-Z a-z)
dryrun_parts = $(patsubst shim/dryrun/%.c,%,$(wildcard shim/dryrun/$(or $(strip $($1_SOURCES)),$(call dryrun_lower,$1))_*.c))

$(O)/dryrun/door/%.o: shim/dryrun/%.c $(O)/flags $(O)/config.mk
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CC) $(DRYRUN_CFLAGS) $(CUDA_FLAGS) -MMD -MP -c -o $@ $<
$(O)/dryrun/%.map:
	@mkdir -p $(@D)
	@echo '$(MAP_NODE) { global: *; };' > $@

# LIBRARY: objects of one library, for all its sonames or for one major's headers (FLAGS).
# 1 library, 2 object folder, 3 header flags
define dryrun_objects
$2/%.o: shim/dryrun/%.c $(O)/flags $(O)/config.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$(CC) $$(DRYRUN_CFLAGS) $3 -DGD_LIBRARY=$1 -MMD -MP -c -o $$@ $$<
$2/ptsz/%.o: shim/dryrun/%.c $(O)/flags $(O)/config.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$(CC) $$(DRYRUN_CFLAGS) $3 -DGD_LIBRARY=$1 -DCUDA_API_PER_THREAD_DEFAULT_STREAM \
	    -MMD -MP -c -o $$@ $$<
endef
# 1 library, 2 object folder, 3 file to make, 4 soname, 5 version node or nothing
define dryrun_library
$3: $(patsubst %,$2/%.o,$(call dryrun_parts,$1) stubs) \
    $(patsubst %,$2/ptsz/%.o,$(filter cudart_ordered_%,$(call dryrun_parts,$1))) $(patsubst %,$(O)/dryrun/door/%.o,$(dryrun_DOOR) $(if $(filter $1,$(dryrun_WITH_KERNELS)),$(dryrun_KERNELS)) $(dryrun_$1_MORE)) \
    $(if $5,$(O)/dryrun/$4.map)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)$$(DRYRUN_LINK) -Wl,-soname,$4 $(if $5,-Wl$(comma)--version-script=$(O)/dryrun/$4.map) \
	    -o $$@ $$(filter %.o,$$^) -ldl -lpthread -lm
$(O)/dryrun/$4.map: MAP_NODE := $5
DRYRUN_FILES += $3
endef

$(foreach l,$(DRYRUN_LIBRARIES),$(eval $(call dryrun_objects,$(or $(strip $($l_SOURCES)),$l),$(O)/dryrun/$l,$$(CUDA_FLAGS) $($l_FLAGS))) \
    $(foreach s,$($l_SONAMES),$(eval $(call dryrun_library,$l,$(O)/dryrun/$l,$(DRYRUN_DIR)/$s,$s,$(call dryrun_node,$l,$s)))))
$(foreach m,$(DRYRUN_MAJORS),$(foreach l,$(DRYRUN_MAJOR_LIBRARIES), \
    $(eval $(call dryrun_objects,$l,$(O)/dryrun/cu$m/$l,-isystem $(call dryrun_include,$m))) \
    $(eval $(call dryrun_library,$l,$(O)/dryrun/cu$m/$l,$(DRYRUN_DIR)/cu$m/$($l_$m),$($l_$m),$($l_$m)))))

# The numbers and names of calls in CUPTI's records, from the headers of the major.
# 1 major
define dryrun_call_list
$(O)/dryrun/cu$1/cupti/cupti_call_list.h: $(call dryrun_include,$1)/cupti_driver_cbid.h
	@mkdir -p $$(@D)
	@sed -n 's/.*CUPTI_DRIVER_TRACE_CBID_\(cu[A-Za-z0-9_]*\) *= *\([0-9]*\).*/GD_DRIVER_CALL(\2, "\1")/p' $$< > $$@.tmp
	@sed -n 's/.*CUPTI_RUNTIME_TRACE_CBID_\(.*\)_v0*\([0-9][0-9]*\) *= *\([0-9]*\).*/GD_RUNTIME_CALL(\3, "\1", \2)/p' \
	    $$(<D)/cupti_runtime_cbid.h >> $$@.tmp && mv $$@.tmp $$@
$(O)/dryrun/cu$1/cupti/cupti_calls.o: PIC_FLAGS += -I$(O)/dryrun/cu$1/cupti
$(O)/dryrun/cu$1/cupti/cupti_calls.o: $(O)/dryrun/cu$1/cupti/cupti_call_list.h
endef
$(foreach m,$(DRYRUN_MAJORS),$(eval $(call dryrun_call_list,$m)))

# Tests of the runtime and of CUPTI, once per major; they run like unit tests.  The driver that they bring along is
# the one that the runtime finds.
GD_RUNTIME_TESTS := $(patsubst tests/dryrun/%.c,%,$(wildcard tests/dryrun/test_runtime_*.c))
GD_CUPTI_TESTS := $(patsubst tests/dryrun/%.c,%,$(wildcard tests/dryrun/test_cupti_*.c))
# 1 test, 2 major, 3 more libraries
define dryrun_runtime_test
$(O)/tests/$1_cu$2: tests/dryrun/$1.c $(DRYRUN_DIR)/cu$2/$(cudart_$2) $3 $(GD_CUDA) $(O)/flags
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)$$(CC) $$(ALL_FLAGS) -isystem $(call dryrun_include,$2) -MMD -MP -o $$@ $$< \
	    -Wl,--no-as-needed $(DRYRUN_DIR)/cu$2/$(cudart_$2) $3 $(GD_CUDA) \
	    -Wl,-z,lazy -Wl,--enable-new-dtags -Wl,-rpath,'$$$$ORIGIN/../lib/gpushim/dryrun:$$$$ORIGIN/../lib/gpushim/dryrun/cu$2' \
	    -ldl -lpthread
GD_TESTS += $(O)/tests/$1_cu$2
endef
$(foreach m,$(DRYRUN_MAJORS),$(foreach t,$(GD_RUNTIME_TESTS),$(eval $(call dryrun_runtime_test,$t,$m))) \
    $(foreach t,$(GD_CUPTI_TESTS),$(eval $(call dryrun_runtime_test,$t,$m,$(DRYRUN_DIR)/cu$m/$(cupti_$m)))))

# Tests of NCCL, over its own library and the driver.
GD_NCCL := $(DRYRUN_DIR)/libnccl.so.2
GD_NCCL_TESTS := $(patsubst tests/dryrun/%.c,$(O)/tests/%,$(wildcard tests/dryrun/test_nccl_*.c))
$(GD_NCCL_TESTS): $(O)/tests/%: tests/dryrun/%.c $(GD_CUDA) $(GD_NCCL) $(O)/flags
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) $(CUDA_FLAGS) -MMD -MP -o $@ $< $(GD_NCCL) $(GD_CUDA) \
	    -Wl,-rpath,'$$ORIGIN/../lib/gpushim/dryrun' -ldl -lpthread -lm
GD_TESTS += $(GD_NCCL_TESTS)

# ---- the ways in: the audit library and the preload that clears blocks ------------------------------------
dryrun_AUDIT := audit audit_notes audit_stubs audit_unknown elf_image
$(DRYRUN_DIR)/libgpushim-audit.so: $(dryrun_AUDIT:%=$(O)/dryrun/door/%.o)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(DRYRUN_LINK) -Wl,-soname,$(@F) -o $@ $^ -ldl
$(O)/dryrun/door/%.o: shim/dryrun/%.S $(O)/flags $(O)/config.mk
	@mkdir -p $(@D)
	$(call say,AS,$@)$(CC) $(DRYRUN_CFLAGS) -MMD -MP -c -o $@ $<
$(DRYRUN_DIR)/libgpushim-zero.so: $(addprefix $(O)/dryrun/door/,zero_entry.o zero_blocks.o late_threads.o)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(DRYRUN_LINK) -Wl,-soname,$(@F) -o $@ $^ -ldl
# Names that programs open without a version.
$(DRYRUN_DIR)/libcuda.so $(DRYRUN_DIR)/libnvidia-ml.so: | $(DRYRUN_DIR)/libnvidia-ml.so.1
	@ln -sf $(@F).1 $@
DRYRUN_FILES += $(addprefix $(DRYRUN_DIR)/,libgpushim-audit.so libgpushim-zero.so libcuda.so libnvidia-ml.so)
endif
