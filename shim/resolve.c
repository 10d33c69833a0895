/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/resolve.h"

#include <dlfcn.h>
#include <string.h>

#include "shim/calm.h"
#include "shim/hooks.h"
#include "shim/line.h"
#include "shim/questions.h"

#define GS_NAME_SLOTS 2048 /* powers of two, several times the number of hooks */
#define GS_ADDRESS_SLOTS 1024
#define GS_BASE_NAME 0x8000u /* slot of a name without its suffix */

/* Beyond the rows of hook_table.h: handed out, but not exported. */
enum { GS_GET_PROC_ADDRESS = GS_HOOK_COUNT, GS_GET_PROC_ADDRESS_V2, GS_NAMED_COUNT };

enum gs_resolve_state { GS_RESOLVE_NONE, GS_RESOLVE_DONE };

void *(*gs_real_dlsym)(void *, const char *);

static uint16_t gs_name_slots[GS_NAME_SLOTS]; /* 0: free, else hook or GS_BASE_NAME | hook */
static uint32_t gs_names_ready;
static struct {
	void *real;
	uint16_t hook;
} gs_addresses[GS_ADDRESS_SLOTS];
static uint32_t gs_resolve_state;
static void (*gs_prepare)(void);

static CUresult (*gs_real_get)(const char *, void **, int, cuuint64_t);
static CUresult (*gs_real_get_v2)(const char *, void **, int, cuuint64_t, int *);
static CUresult gs_wrap_get(const char *name, void **out, int version, cuuint64_t flags);
static CUresult gs_wrap_get_v2(const char *name, void **out, int version, cuuint64_t flags,
    int *status);

/* ---- names ---- */

static const char *gs_hook_name(unsigned hook)
{
	if (hook == GS_GET_PROC_ADDRESS)
		return "cuGetProcAddress";
	if (hook == GS_GET_PROC_ADDRESS_V2)
		return "cuGetProcAddress_v2";
	return gs_hook_rows[hook].name;
}

static void *gs_hook_wrapper(unsigned hook)
{
	if (hook == GS_GET_PROC_ADDRESS)
		return (void *)gs_wrap_get;
	if (hook == GS_GET_PROC_ADDRESS_V2)
		return (void *)gs_wrap_get_v2;
	return gs_hook_rows[hook].wrapper;
}

/* Classes that are not recorded keep the real pointer: nothing is added to their calls. */
static bool gs_hook_wanted(unsigned hook)
{
	if (__atomic_load_n(&gs_phase, __ATOMIC_RELAXED) == GS_PHASE_OFF)
		return false;
	return hook >= GS_HOOK_COUNT ||
	    (gs_hook_rows[hook].class & (gs_settings_number(GS_SETTING_record) | GS_CLASS_ALWAYS));
}

/* Length of a name without _v2, _ptsz and the like. */
static size_t gs_base_length(const char *name)
{
	size_t length = strlen(name);
	if (length > 5 && (!strcmp(name + length - 5, "_ptsz") || !strcmp(name + length - 5, "_ptds")))
		length -= 5;
	if (length > 3 && name[length - 3] == '_' && name[length - 2] == 'v')
		length -= 3;
	return length;
}

static uint32_t gs_name_hash(const char *name, size_t length)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return hash ^ hash >> 15;
}

static bool gs_slot_matches(uint16_t slot, const char *name, size_t length)
{
	const char *have = gs_hook_name(slot & ~GS_BASE_NAME);
	size_t have_length = slot & GS_BASE_NAME ? gs_base_length(have) : strlen(have);
	return have_length == length && memcmp(have, name, length) == 0;
}

/*
 * Threads may fill the table side by side: each enters the same names in the same order, so that
 * whoever comes second finds them there.
 */
static void gs_name_enter(uint16_t slot, const char *name, size_t length)
{
	for (uint32_t i = gs_name_hash(name, length);; i++) {
		uint16_t found = 0;
		if (__atomic_compare_exchange_n(&gs_name_slots[i % GS_NAME_SLOTS], &found, slot,
			false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    gs_slot_matches(found, name, length))
			return;
	}
}

static void gs_names_fill(void)
{
	if (__atomic_load_n(&gs_names_ready, __ATOMIC_ACQUIRE))
		return;
	for (unsigned hook = 1; hook < GS_NAMED_COUNT; hook++)
		gs_name_enter((uint16_t)hook, gs_hook_name(hook), strlen(gs_hook_name(hook)));
	/* Where a base name is an exported name as well, the exported one stays. */
	for (unsigned hook = 1; hook < GS_NAMED_COUNT; hook++)
		gs_name_enter((uint16_t)(hook | GS_BASE_NAME), gs_hook_name(hook),
		    gs_base_length(gs_hook_name(hook)));
	__atomic_store_n(&gs_names_ready, 1, __ATOMIC_RELEASE);
}

/* Slot of a name: a hook, or GS_BASE_NAME and one of the hooks with that base, or 0. */
static uint16_t gs_name_find(const char *name)
{
	gs_names_fill();
	size_t length = strlen(name);
	for (uint32_t i = gs_name_hash(name, length);; i++) {
		uint16_t slot = __atomic_load_n(&gs_name_slots[i % GS_NAME_SLOTS], __ATOMIC_RELAXED);
		if (!slot || gs_slot_matches(slot, name, length))
			return slot;
	}
}

/* ---- dlsym ---- */

static void gs_dlsym_find(void)
{
	static const char *const versions[] = {"GLIBC_2.34",
#if defined(__x86_64__)
	    "GLIBC_2.2.5",
#else
	    "GLIBC_2.17",
#endif
	};
	for (unsigned i = 0; !gs_real_dlsym && i < sizeof(versions) / sizeof(versions[0]); i++)
		gs_real_dlsym = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", versions[i]);
}

void *gs_dlsym(void *handle, const char *name)
{
	if (!gs_real_dlsym)
		gs_dlsym_find();
	return gs_real_dlsym ? gs_real_dlsym(handle, name) : NULL;
}

static const char *gs_file_of(const void *address)
{
	Dl_info info;
	if (!address || !dladdr(address, &info) || !info.dli_fname)
		return "";
	const char *slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

static bool gs_starts_with(const char *text, const char *head)
{
	return strncmp(text, head, strlen(head)) == 0;
}

/* The driver itself and tools that sit below the programs must see the real functions. */
static bool gs_caller_excluded(const void *caller)
{
	static const char *const heads[] = {"libcuda.so", "libcupti.so", "libnvperf", "libgpushim",
	    "libcuinj", "libToolsInjection", "libsanitizer-collection", "libInterceptor"};
	const char *file = gs_file_of(caller);
	for (unsigned i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (gs_starts_with(file, heads[i]))
			return true;
	return false;
}

void *gs_dlsym_filter(void *handle, const char *name, const void *caller)
{
	if (!gs_real_dlsym)
		gs_dlsym_find();
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || !name || name[0] != 'c' ||
	    name[1] != 'u' || name[2] < 'A' || name[2] > 'Z' ||
	    __atomic_load_n(&gs_phase, __ATOMIC_RELAXED) == GS_PHASE_OFF)
		return NULL;
	uint16_t slot = gs_name_find(name);
	if (!slot || (slot & GS_BASE_NAME) || !gs_hook_wanted(slot) || gs_caller_excluded(caller))
		return NULL;
	void *real = gs_dlsym(handle, name);
	if (!real) {
		dlerror(); /* the caller's own question, answered next, sets it again */
		return NULL;
	}
	if (!gs_starts_with(gs_file_of(real), "libcuda.so") || !gs_resolve())
		return NULL;
	return gs_hook_wrapper(slot);
}

/* ---- real functions ---- */

/*
 * Threads may fill this table side by side as well.  One function under two names: the first row
 * stands for both, whoever claimed the slot.
 */
static void gs_address_enter(void *real, uint16_t hook)
{
	for (uintptr_t i = (uintptr_t)real >> 4;; i++) {
		void *found = NULL;
		uint16_t unnamed = 0;
		if (!__atomic_compare_exchange_n(&gs_addresses[i % GS_ADDRESS_SLOTS].real, &found, real,
			false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) && found != real)
			continue;
		__atomic_compare_exchange_n(&gs_addresses[i % GS_ADDRESS_SLOTS].hook, &unnamed, hook,
		    false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		return;
	}
}

/* Hook of a real address, 0 if it is none of them. */
static uint16_t gs_address_find(const void *real)
{
	for (uintptr_t i = (uintptr_t)real >> 4;; i++) {
		const void *found =
		    __atomic_load_n(&gs_addresses[i % GS_ADDRESS_SLOTS].real, __ATOMIC_RELAXED);
		if (found == real)
			return __atomic_load_n(
			    &gs_addresses[i % GS_ADDRESS_SLOTS].hook, __ATOMIC_RELAXED);
		if (!found)
			return 0;
	}
}

/* The same value from every thread: a store that others may repeat. */
#define GS_KEEP(variable, value) \
	__atomic_store_n(&(variable), (__typeof__(variable))(value), __ATOMIC_RELAXED)

static void gs_resolve_from(void *driver)
{
#define Q(fn, ...) GS_KEEP(gs_ask.fn, gs_dlsym(driver, #fn));
	GS_QUESTIONS(Q)
#undef Q
	GS_KEEP(gs_real_get, gs_dlsym(driver, "cuGetProcAddress"));
	GS_KEEP(gs_real_get_v2, gs_dlsym(driver, "cuGetProcAddress_v2"));
	if (gs_real_get)
		gs_address_enter((void *)gs_real_get, GS_GET_PROC_ADDRESS);
	if (gs_real_get_v2)
		gs_address_enter((void *)gs_real_get_v2, GS_GET_PROC_ADDRESS_V2);
	for (unsigned hook = 1; hook < GS_HOOK_COUNT; hook++) {
		void *real = gs_dlsym(driver, gs_hook_rows[hook].name);
		if (!real)
			continue;
		gs_address_enter(real, (uint16_t)hook);
		__atomic_store_n(gs_hook_rows[hook].real, real, __ATOMIC_RELAXED);
	}
}

/*
 * Nobody waits for somebody else here: who looks up needs the loader's lock, and who would wait may
 * hold it (a constructor of a library that is being loaded).  So threads that come side by side all
 * do the same work.
 */
bool gs_resolve(void)
{
	static __thread bool asking;
	if (__atomic_load_n(&gs_resolve_state, __ATOMIC_ACQUIRE) == GS_RESOLVE_DONE)
		return true;
	if (asking)
		return false; /* we are asked by what we are asking */
	struct gs_calm before = gs_calm_begin();
	asking = true;
	/* Our reference keeps the driver mapped; the pointers above stay good. */
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (driver)
		gs_resolve_from(driver);
	asking = false;
	if (driver && __atomic_exchange_n(&gs_resolve_state, GS_RESOLVE_DONE, __ATOMIC_ACQ_REL) ==
	    GS_RESOLVE_NONE && gs_prepare)
		gs_prepare();
	dlerror(); /* what was not found left a message */
	gs_calm_end(before);
	return driver;
}

void gs_resolve_on_driver(void (*prepare)(void))
{
	gs_prepare = prepare;
}

/* ---- cuGetProcAddress ---- */

static struct {
	uint32_t ready;
	char text[124];
} gs_unhooked_names[GS_UNHOOKED_LIMIT];
static uint32_t gs_unhooked_count;

const char *gs_unhooked(uint32_t index)
{
	if (index >= GS_UNHOOKED_LIMIT ||
	    !__atomic_load_n(&gs_unhooked_names[index].ready, __ATOMIC_ACQUIRE))
		return NULL;
	return gs_unhooked_names[index].text;
}

/* Every statically linked runtime asks for the same list. */
static bool gs_unhooked_known(const char *text)
{
	const char *known;
	for (uint32_t index = 0; (known = gs_unhooked(index)) != NULL; index++)
		if (strcmp(known, text) == 0)
			return true;
	return false;
}

static void gs_unhooked_add(const char *name, int version)
{
	char text[sizeof(gs_unhooked_names[0].text)];
	struct gs_line line;
	gs_line_start(&line, text, sizeof(text));
	gs_line_format(&line, "%s@%d", name, version);
	if (gs_unhooked_known(text))
		return;
	uint32_t index = __atomic_fetch_add(&gs_unhooked_count, 1, __ATOMIC_RELAXED);
	if (index >= GS_UNHOOKED_LIMIT)
		return;
	memcpy(gs_unhooked_names[index].text, text, sizeof(text));
	__atomic_store_n(&gs_unhooked_names[index].ready, 1, __ATOMIC_RELEASE);
}

/*
 * Some drivers may hand out our own exports: then there is nothing to do.  (A libcuda that is not
 * linked with -Bsymbolic has its own references bound to the preloaded library.)
 */
static bool gs_is_wrapper(const void *address)
{
	Dl_info info, own;
	return dladdr(address, &info) && dladdr((void *)gs_wrap_get, &own) &&
	    info.dli_fbase == own.dli_fbase;
}

static void gs_exchange(const char *name, void **out, int version)
{
	if (!out || !*out || !name || !name[0])
		return;
	uint16_t hook = gs_address_find(*out);
	if (hook) {
		if (gs_hook_wanted(hook))
			*out = gs_hook_wrapper(hook);
		return;
	}
	if (gs_name_find(name) && !gs_is_wrapper(*out))
		gs_unhooked_add(name, version);
}

static CUresult gs_wrap_get(const char *name, void **out, int version, cuuint64_t flags)
{
	if (!gs_resolve() || !gs_real_get)
		return CUDA_ERROR_NOT_INITIALIZED;
	CUresult result = gs_real_get(name, out, version, flags);
	if (result == CUDA_SUCCESS)
		gs_exchange(name, out, version);
	return result;
}

static CUresult gs_wrap_get_v2(const char *name, void **out, int version, cuuint64_t flags,
    int *status)
{
	if (!gs_resolve() || !gs_real_get_v2)
		return CUDA_ERROR_NOT_INITIALIZED;
	CUresult result = gs_real_get_v2(name, out, version, flags, status);
	if (result == CUDA_SUCCESS)
		gs_exchange(name, out, version);
	return result;
}
