/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/torch_hooks.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unwind.h>

#include "shim/calm.h"
#include "shim/hooks.h"
#include "shim/local_symbol.h"
#include "shim/resolve.h"
#include "shim/stack_parts.h"
#include "shim/torch_table.h"

#define GS_C10_CUDA 1 /* c10::DeviceType::CUDA */

/* c10::Device: two bytes by value in one register, whose other bits mean nothing. */
struct gs_c10_device {
	int8_t type, index;
};

/* c10::cuda::CUDAStream: 16 bytes in two registers. */
struct gs_c10_stream {
	uint64_t device;
	int64_t id;
};

typedef void (*gs_usage)(void *, int64_t, uint64_t, uint64_t, struct gs_c10_device);
typedef void (*gs_oom)(uint64_t, uint64_t, uint64_t, struct gs_c10_device);
typedef struct gs_c10_stream (*gs_stream)(int8_t);

static char gs_torch_file[1024];
static const char *gs_torch_trouble;
enum { GS_TORCH_NONE, GS_TORCH_BUSY, GS_TORCH_READY };
static uint32_t gs_torch_state;
static gs_stream gs_current_stream;

const char *gs_torch_path(void)
{
	return __atomic_load_n(&gs_torch_state, __ATOMIC_ACQUIRE) == GS_TORCH_READY ? gs_torch_file : "";
}

const char *gs_torch_notice(void)
{
	return gs_torch_trouble;
}

/* ---- records ---- */

/* Inside allocate() it is known what was asked for and on which stream.  @return GF_FLAG_* */
static inline uint32_t gs_request(struct gs_c10_device device, uint64_t *requested_out,
    uint64_t *stream_out)
{
	if (!gs_tls.in_allocator)
		return 0;
	*requested_out = gs_tls.requested;
	if (!gs_current_stream)
		return GF_FLAG_IN_ALLOCATOR | GF_FLAG_REQUEST_KNOWN;
	*stream_out = (uint64_t)gs_current_stream(device.index).id;
	return GF_FLAG_IN_ALLOCATOR | GF_FLAG_REQUEST_KNOWN | GF_FLAG_STREAM_KNOWN;
}

static GS_HOT void gs_block(uint64_t address, int64_t size, uint64_t allocated, uint64_t reserved,
    struct gs_c10_device device)
{
	struct gs_call call;
	if (device.type != GS_C10_CUDA ||
	    !gs_enter(&call, GS_HOOK_NONE, GS_CLASS_MEMORY, size > 0, 0))
		return;
	call.status = 0;
	bool attended = gs_attend(&call);
	uint32_t stack =
	    attended && size > 0 ? gs_stack_of(&call, GS_STACK_ALLOCATION) : 0;
	struct gf_block *record = attended ? GS_RECORD(call.thread, block) : NULL;
	if (record) {
		record->stack_id = stack;
		record->time = call.start;
		record->address = address;
		record->size = size;
		record->allocated = allocated;
		record->reserved = reserved;
		record->device = (uint8_t)device.index;
		record->flags = gs_stack_in_backward() ? GF_FLAG_BACKWARD : 0;
		if (size > 0)
			record->flags |= gs_request(device, &record->requested, &record->stream);
		GS_PUBLISH(record, block);
	}
	gs_leave();
}

static void gs_out_of_memory(uint64_t size, uint64_t allocated, uint64_t reserved,
    struct gs_c10_device device)
{
	struct gs_call call;
	if (device.type != GS_C10_CUDA || !gs_enter(&call, GS_HOOK_NONE, GS_CLASS_MEMORY, true, 0))
		return;
	call.status = 0;
	bool attended = gs_attend(&call);
	uint32_t stack = attended ? gs_stack_of(&call, GS_STACK_ALLOCATION) : 0;
	struct gf_oom *record = attended ? GS_RECORD(call.thread, oom) : NULL;
	if (record) {
		record->stack_id = stack;
		record->time = call.start;
		record->size = size;
		record->allocated = allocated;
		record->reserved = reserved;
		record->device = (uint8_t)device.index;
		record->flags = gs_request(device, &record->requested, &record->stream);
		GS_PUBLISH(record, oom);
	}
	gs_leave();
	gs_tls.in_allocator = 0; /* what PyTorch's observers of it do is not the allocator's work */
}

/* ---- the reported functions ---- */

#define T(shape, id, symbol) static void *gs_real_##id;
GS_TORCH_HOOKS(T)
#undef T

static void gs_torch_absent(void)
{
}

/*
 * Python loads PyTorch with RTLD_LOCAL, so neither RTLD_NEXT nor RTLD_DEFAULT finds libc10: its
 * functions come from the scope of the library that called us.
 */
void *gs_torch_symbol(const char *symbol, const void *caller)
{
	struct gs_calm before = gs_calm_begin();
	Dl_info info;
	void *handle = NULL;
	if (dladdr(caller, &info) && info.dli_fname)
		handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle ? gs_dlsym(handle, symbol) : NULL;
	if (!found)
		dlerror();
	gs_calm_end(before);
	return found;
}

static void *gs_torch_resolve(void **real, const char *symbol, const void *caller)
{
	void *found = gs_torch_symbol(symbol, caller);
	if (!found)
		found = (void *)gs_torch_absent; /* asked once only */
	__atomic_store_n(real, found, __ATOMIC_RELAXED);
	return found;
}

#define GS_TORCH_REAL(id, symbol) \
	void *real = __atomic_load_n(&gs_real_##id, __ATOMIC_RELAXED); \
	if (!GS_LIKELY(real)) \
	real = gs_torch_resolve(&gs_real_##id, symbol, __builtin_return_address(0))

#define GS_TORCH_USAGE(id, symbol) \
	void gs_torch_##id(void *address, int64_t size, uint64_t allocated, uint64_t reserved, \
	    struct gs_c10_device device) __asm__(symbol) __attribute__((visibility("default"))); \
	GS_HOT void gs_torch_##id(void *address, int64_t size, uint64_t allocated, uint64_t reserved, \
	    struct gs_c10_device device) \
	{ \
		gs_block((uint64_t)(uintptr_t)address, size, allocated, reserved, device); \
		GS_TORCH_REAL(id, symbol); \
		((gs_usage)real)(address, size, allocated, reserved, device); \
	}
#define GS_TORCH_OOM(id, symbol) \
	void gs_torch_##id(uint64_t size, uint64_t allocated, uint64_t reserved, \
	    struct gs_c10_device device) __asm__(symbol) __attribute__((visibility("default"))); \
	void gs_torch_##id(uint64_t size, uint64_t allocated, uint64_t reserved, \
	    struct gs_c10_device device) \
	{ \
		gs_out_of_memory(size, allocated, reserved, device); \
		GS_TORCH_REAL(id, symbol); \
		((gs_oom)real)(size, allocated, reserved, device); \
	}
#define T(shape, id, symbol) GS_TORCH_##shape(id, symbol)
GS_TORCH_HOOKS(T)
#undef T

/* ---- allocate(), for the requested size ---- */

/*
 * allocate() throws when there is no memory, but also when the driver fails otherwise or the size is
 * absurd.  What we remember must end then too.  A handler in C would make the library need libgcc_s
 * in every process; so the unwinder is told of a personality routine of our own, which it calls when
 * it takes the frame down.  It costs the usual way nothing.  Calls do not nest.
 */
GS_HIDDEN _Unwind_Reason_Code gs_allocate_left(int version, _Unwind_Action actions, uint64_t class,
    struct _Unwind_Exception *exception, struct _Unwind_Context *context);
_Unwind_Reason_Code gs_allocate_left(int version, _Unwind_Action actions, uint64_t class,
    struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	if (actions & _UA_CLEANUP_PHASE)
		gs_tls.in_allocator = 0;
	return _URC_CONTINUE_UNWIND;
}

/* In the body of a function: that routine is its personality; 0x1b: a distance of 32 bits. */
#define GS_TOLD_WHEN_LEFT() __asm__ volatile(".cfi_personality 0x1b, gs_allocate_left")

static inline void gs_allocate_begin(size_t size)
{
	gs_tls.in_allocator = 1;
	gs_tls.requested = size;
	gs_stack_soon();
}

static inline void gs_allocate_end(void)
{
	gs_tls.in_allocator = 0;
}

#if defined(__aarch64__)
/* DataPtr is returned through x8, as a C struct of its size is. */
struct gs_data_ptr {
	void *words[4];
};
typedef struct gs_data_ptr (*gs_allocate_function)(void *self, size_t size);
static gs_allocate_function gs_real_allocate;
static GS_HOT struct gs_data_ptr gs_allocate(void *self, size_t size)
{
	GS_TOLD_WHEN_LEFT();
	gs_allocate_begin(size);
	struct gs_data_ptr result = gs_real_allocate(self, size);
	gs_allocate_end();
	return result;
}
#else
/* DataPtr is returned in memory whose address is the hidden first argument. */
typedef void *(*gs_allocate_function)(void *result, void *self, size_t size);
static gs_allocate_function gs_real_allocate;
static GS_HOT void *gs_allocate(void *result, void *self, size_t size)
{
	GS_TOLD_WHEN_LEFT();
	gs_allocate_begin(size);
	void *same = gs_real_allocate(result, self, size);
	gs_allocate_end();
	return same;
}
#endif

/* ---- setMemoryFraction(), which tells nobody ---- */

typedef void (*gs_fraction_function)(void *self, double fraction, int device);
static gs_fraction_function gs_real_set_fraction;

static void gs_fraction_set(double fraction, int device)
{
	struct gs_call call;
	if (!gs_enter(&call, GS_HOOK_NONE, GS_CLASS_MEMORY, true, 0))
		return;
	call.status = 0;
	struct gf_mark *mark = gs_attend(&call) ? GS_RECORD(call.thread, mark) : NULL;
	if (mark) {
		mark->kind = GF_MARK_MEMORY_FRACTION;
		mark->time = call.start;
		mark->value = (uint64_t)(fraction * (double)GF_FRACTION_ONE);
		mark->value2 = (uint8_t)device; /* the register's rest means nothing */
		GS_PUBLISH(mark, mark);
	}
	gs_leave();
}

/* What PyTorch refuses it throws, and we are not back here. */
static void gs_set_fraction(void *self, double fraction, int device)
{
	gs_real_set_fraction(self, fraction, device);
	gs_fraction_set(fraction, device);
}

#define GS_VTABLE_HEAD 2 /* words before the first function: offset to top, type_info */
#define GS_VTABLE_WORDS 160
#define GS_VTABLE_ALLOCATE 2 /* behind the two destructors */

static void *gs_vtable[GS_VTABLE_WORDS];

struct gs_segment {
	const char *address, *end;
	uintptr_t bias; /* of the library */
};

static int gs_segment_of(struct dl_phdr_info *info, size_t size, void *context)
{
	struct gs_segment *segment = context;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const char *begin = (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		if (info->dlpi_phdr[i].p_type == PT_LOAD && segment->address >= begin &&
		    segment->address < begin + info->dlpi_phdr[i].p_memsz) {
			segment->end = begin + info->dlpi_phdr[i].p_memsz;
			segment->bias = (uintptr_t)info->dlpi_addr;
			return 1;
		}
	}
	return 0;
}

static bool gs_in_c10_cuda(const void *address)
{
	Dl_info info;
	return dladdr(address, &info) && info.dli_fname && strstr(info.dli_fname, "libc10_cuda");
}

/* Where the function is, its place in the table follows; without names in the file nothing is told.
 */
static void gs_fraction_exchange(size_t words, uintptr_t bias)
{
	uintptr_t function = gs_local_function(gs_torch_file, GS_TORCH_FRACTION);
	if (!function)
		return;
	function += bias;
	for (size_t i = GS_VTABLE_HEAD; i < words; i++) {
		if ((uintptr_t)gs_vtable[i] != function)
			continue;
		gs_real_set_fraction = (gs_fraction_function)function;
		gs_vtable[i] = (void *)gs_set_fraction;
		return;
	}
}

/*
 * Give the allocator object a copy of its table of virtual functions with ours in it.
 * Nothing is undone at exit.  The order of the first three functions has been the same from 2.0
 * to 2.15; any doubt ends it.
 */
static const char *gs_allocate_exchange(void *c10_cuda)
{
	void ***variable = gs_dlsym(c10_cuda, GS_TORCH_ALLOCATOR);
	void **object = variable ? __atomic_load_n(variable, __ATOMIC_ACQUIRE) : NULL;
	if (!object)
		return "requested sizes are unknown: this PyTorch has no allocator of the known kind";
	void **table = *object;
	if (!gs_in_c10_cuda(table) || !gs_in_c10_cuda(table[GS_VTABLE_ALLOCATE]))
		return "requested sizes are unknown: the allocator is not PyTorch's own";
	const char *const *type = table[-1];
	if (!type || !type[1] || !strstr(type[1], GS_TORCH_NATIVE_TYPE))
		return NULL; /* the asynchronous one: each block is a driver call with its size */
	struct gs_segment segment = {.address = (const char *)table};
	dl_iterate_phdr(gs_segment_of, &segment);
	size_t words = GS_VTABLE_HEAD + (size_t)(segment.end - segment.address) / sizeof(void *);
	if (words > GS_VTABLE_WORDS)
		words = GS_VTABLE_WORDS;
	memcpy(gs_vtable, table - GS_VTABLE_HEAD, words * sizeof(void *));
	gs_real_allocate = (gs_allocate_function)table[GS_VTABLE_ALLOCATE];
	gs_vtable[GS_VTABLE_HEAD + GS_VTABLE_ALLOCATE] = (void *)gs_allocate;
	gs_fraction_exchange(words, segment.bias);
	__atomic_store_n(object, (void *)(gs_vtable + GS_VTABLE_HEAD), __ATOMIC_RELEASE);
	return NULL;
}

/* ---- finding PyTorch ---- */

static int gs_torch_match(struct dl_phdr_info *info, size_t size, void *context)
{
	const char *slash = strrchr(info->dlpi_name, '/');
	if (strncmp(slash ? slash + 1 : info->dlpi_name, "libc10_cuda.so", 14) != 0 ||
	    strlen(info->dlpi_name) >= sizeof(gs_torch_file))
		return 0;
	strcpy(context, info->dlpi_name);
	return 1;
}

static bool gs_torch_find(void)
{
	char path[sizeof(gs_torch_file)];
	if (!dl_iterate_phdr(gs_torch_match, path))
		return false;
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return false;
	memcpy(gs_torch_file, path, sizeof(path));
#define T(shape, id, symbol) \
	__atomic_store_n(&gs_real_##id, gs_dlsym(handle, symbol), __ATOMIC_RELAXED);
	GS_TORCH_HOOKS(T)
#undef T
	gs_current_stream = (gs_stream)gs_dlsym(handle, GS_TORCH_STREAM);
	gs_torch_trouble = gs_allocate_exchange(handle);
	dlerror(); /* names of other releases left a message */
	return true;
}

void gs_torch_prepare(void)
{
	uint32_t state = GS_TORCH_NONE;
	if (!__atomic_compare_exchange_n(&gs_torch_state, &state, GS_TORCH_BUSY, false, __ATOMIC_ACQUIRE,
		__ATOMIC_RELAXED))
		return;
	struct gs_calm before = gs_calm_begin();
	bool found = gs_torch_find();
	__atomic_store_n(&gs_torch_state, found ? GS_TORCH_READY : GS_TORCH_NONE, __ATOMIC_RELEASE);
	gs_calm_end(before);
}

void gs_torch_forget(void)
{
	if (gs_torch_state == GS_TORCH_BUSY)
		gs_torch_state = GS_TORCH_NONE;
}
