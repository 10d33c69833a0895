/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of PyTorch's allocator settings, one row each.  O(name, first release, first release
 * without it or NEVER, reader): readers are the ga_read_option_* functions of allocator_settings.c.
 */
#ifndef GA_ALLOCATOR_OPTIONS_H
#define GA_ALLOCATOR_OPTIONS_H

#define GA_ALLOCATOR_OPTIONS(O) \
	O(max_split_size_mb, GA_TORCH(1, 10), NEVER, max_split) \
	O(max_non_split_rounding_mb, GA_TORCH(2, 6), NEVER, slack) \
	O(garbage_collection_threshold, GA_TORCH(1, 12), NEVER, gc_threshold) \
	O(roundup_power2_divisions, GA_TORCH(1, 12), NEVER, divisions) \
	O(roundup_bypass_threshold_mb, GA_TORCH(1, 12), GA_TORCH(2, 0), roundup_bypass) \
	O(backend, GA_TORCH(2, 0), NEVER, backend) \
	O(expandable_segments, GA_TORCH(2, 1), NEVER, expandable) \
	O(release_lock_on_cudamalloc, GA_TORCH(2, 1), NEVER, nothing) \
	O(release_lock_on_hipmalloc, GA_TORCH(2, 6), NEVER, nothing) \
	O(pinned_use_cuda_host_register, GA_TORCH(2, 1), NEVER, nothing) \
	O(pinned_use_hip_host_register, GA_TORCH(2, 6), NEVER, nothing) \
	O(pinned_num_register_threads, GA_TORCH(2, 1), NEVER, nothing) \
	O(pinned_use_background_threads, GA_TORCH(2, 6), NEVER, nothing) \
	O(pinned_reserve_segment_size_mb, GA_TORCH(2, 9), NEVER, nothing) \
	O(pinned_max_round_threshold_mb, GA_TORCH(2, 10), NEVER, nothing) \
	O(pinned_max_cached_size_mb, GA_TORCH(2, 10), NEVER, nothing) \
	O(pinned_free_catch_all, GA_TORCH(2, 12), NEVER, nothing) \
	O(graph_capture_record_stream_reuse, GA_TORCH(2, 9), NEVER, nothing) \
	O(per_process_memory_fraction, GA_TORCH(2, 10), NEVER, fraction) \
	O(throw_on_cudamalloc_oom, GA_TORCH(2, 12), NEVER, nothing) \
	O(large_segment_size_mb, GA_TORCH(2, 11), NEVER, large_segment) \
	O(expandable_segments_page_size, GA_TORCH_LATER, NEVER, page) \
	O(expandable_segments_reserve, GA_TORCH(2, 15), NEVER, reserve) \
	O(expandable_segments_reserve_by_class, GA_TORCH(2, 15), NEVER, nothing)

#endif
