# SPDX-License-Identifier: Apache-2.0
# libcuda.so.1: the stand-in device (DRYRUN.md).  Included by dryrun.mk.

GD_CUDA_PARTS := address_space arrays block_clear call_log call_watch capture capture_api context_settings contexts \
	copies copy_engines copy_3d copy_api device_api device_attributes device_contents device_image device_memory \
	device_table driver_entry driver_services driver_stubs events fault_script \
	foreign_libraries function_attributes gate graph_edges graph_exec graph_memory \
	graph_nodes graph_work graphs handles host_memory ipc_events ipc_memory kernel_functors \
	kernel_model_elementwise kernel_model_embedding kernel_model_fill kernel_model_index kernel_model_join \
	kernel_model_compress kernel_model_list kernel_model_order kernel_model_reduction \
	kernel_model_select kernel_model_sequence kernel_model_spoil kernel_models kernel_times \
	kernel_values kernel_walk known_memory launches libraries managed_memory meetings \
	memory_pool_api memory_pools memset_api modules multiprocessors occupancy operations \
	pointer_attributes process_life refused_functions regions shared_files shared_report \
	shared_state slot_allocator stream_queue stream_settings streams thread_state \
	torch_release unknown_results user_objects virtual_memory \
	visible_devices
GD_CUDA_OBJ := $(GD_CUDA_PARTS:%=$(O)/pic/shim/dryrun/%.o)
GD_CUDA := $(DRYRUN_DIR)/libcuda.so.1

# The flags of the headers are in the stamp already, so they are added where it does not look.
$(GD_CUDA_OBJ): PIC_FLAGS += $(CUDA_FLAGS)
# Its own functions bind inside it: a preloaded recorder exports the same names.
$(GD_CUDA): $(GD_CUDA_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) -shared $(if $(SAN),,-Wl,-z,defs) -Wl,-soname,libcuda.so.1 \
	    -Wl,-Bsymbolic -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -o $@ $^ -ldl -lpthread -lm
DRYRUN_FILES += $(GD_CUDA)

# Programs linked with it; run like unit tests.
GD_TESTS := $(patsubst tests/dryrun/%.c,$(O)/tests/%,$(wildcard tests/dryrun/test_driver_*.c))
$(GD_TESTS): $(O)/tests/%: tests/dryrun/%.c $(GD_CUDA) $(O)/flags
	@mkdir -p $(@D)
	$(call say,LD,$@)$(CC) $(ALL_FLAGS) $(CUDA_FLAGS) -MMD -MP -o $@ $< $(GD_CUDA) \
	    -Wl,-z,lazy -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN/../lib/gpushim/dryrun' -ldl -lpthread
