/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels over lists of tensors (ATen/native/cuda/MultiTensorApply.cuh) and the two of GradScaler
 * (AmpKernels.cu):
 *   multi_tensor_apply_kernel<Metadata<n>, F, Op, ...>(Metadata, F, Op, scalar ...)
 *   amp_update_scale_cuda_kernel(float *scale, int *tracker, const float *found, double growth,
 *       double backoff, int interval)
 * Metadata is: const void *addresses[n][most]; numel[most]; more[most]; block_to_tensor[blocks];
 * int block_to_chunk[blocks].  CUDA 13 builds have 7 times the room of older ones and take 16 bits
 * for a tensor; numel was 32 bits before 2.1.  Which of the three it is tells the content: chunk
 * numbers of each tensor count up from 0, and every tensor is device memory.
 *
 * What is not modelled forgets the tensors of the list: most of these kernels work in place, and a
 * program that waits for what they change must not wait for ever.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/copies.h"
#include "shim/dryrun/kernel_functors.h"
#include "shim/dryrun/known_memory.h"
#include "shim/dryrun/unknown_results.h"

#define CHUNK 65536
#define MOST_ENTRIES 160 /* 96 and more tensors fit in most launches; FUSED has several lists */
#define SAFE_BYTES 4096	 /* every build's metadata is at least about so large */

enum operation { NONE, COPY, SCALAR, UNSCALE };
enum metadata { PLAIN, SCALARS, FUSED };

/* ---- metadata ---- */

struct layout {
	unsigned most[5], most_scalars[5]; /* tensors by number of lists */
	unsigned blocks, block_bytes, numel_bytes;
};
static const struct layout layouts[] = {
    {{110, 64, 48, 36, 30}, {96, 64, 48, 36, 30}, 320, 1, 8},
    {{110, 64, 48, 36, 30}, {96, 64, 48, 36, 30}, 320, 1, 4},
    {{770, 448, 336, 252, 210}, {672, 448, 336, 252, 210}, 2240, 2, 8},
};

struct metadata_view {
	const char *bytes;
	const struct layout *layout;
	unsigned lists, most, tensors;
	unsigned element_bytes;
	size_t numel_at, tensor_at, chunk_at, size;
};

static uint64_t number_at(const char *from, size_t index, unsigned bytes)
{
	uint64_t value = 0; /* little-endian, as the device */
	memcpy(&value, from + index * bytes, bytes);
	return value;
}

static void lay_out(struct metadata_view *v, const struct gd_model_match *match)
{
	const struct layout *l = v->layout;
	unsigned kind = match->form >> 4;
	unsigned more = kind == FUSED ? 8 : kind == SCALARS ? gd_scalar_bytes(match->scalar) : 0;
	v->most = (kind == SCALARS ? l->most_scalars : l->most)[v->lists - 1];
	v->numel_at = (size_t)v->lists * v->most * 8;
	v->tensor_at = v->numel_at + (size_t)v->most * (l->numel_bytes + more);
	v->chunk_at = (v->tensor_at + (size_t)l->blocks * l->block_bytes + 3) & ~(size_t)3;
	v->size = v->chunk_at + (size_t)l->blocks * 4;
}

static uint64_t numel(const struct metadata_view *v, unsigned tensor)
{
	return number_at(v->bytes + v->numel_at, tensor, v->layout->numel_bytes);
}

static uint64_t address(const struct metadata_view *v, unsigned list, unsigned tensor)
{
	return number_at(v->bytes, (size_t)list * v->most + tensor, 8);
}

/* The first tensor may be continued from the launch before. */
static bool chunks_fit(struct metadata_view *v, uint32_t grid)
{
	uint64_t tensor = 0, chunk = number_at(v->bytes + v->chunk_at, 0, 4);
	if (!grid || grid > v->layout->blocks)
		return false;
	for (uint32_t b = 0; b < grid; b++, chunk++) {
		uint64_t now = number_at(v->bytes + v->tensor_at, b, v->layout->block_bytes);
		if (now != tensor) {
			if (now != tensor + 1 || chunk * CHUNK < numel(v, (unsigned)tensor))
				return false;
			tensor = now;
			chunk = 0;
		}
		if (now >= v->most || number_at(v->bytes + v->chunk_at, b, 4) != chunk ||
		    chunk * CHUNK >= numel(v, (unsigned)now))
			return false;
	}
	v->tensors = (unsigned)tensor + 1;
	/* The last tensor ends here, or the launch is full. */
	return chunk * CHUNK >= numel(v, (unsigned)tensor) || grid == v->layout->blocks;
}

static bool tensors_fit(const struct metadata_view *v)
{
	for (unsigned t = 0; t < v->tensors; t++) {
		for (unsigned list = 0; list < v->lists; list++) {
			uint64_t at = address(v, list, t);
			if (numel(v, t) > UINT32_MAX || (at && !gd_model_memory(at, numel(v, t))))
				return false;
		}
	}
	return true;
}

/* Nothing tells how much the program holds: the kernel says whether so much can be read. */
static bool readable(const char *from, size_t bytes)
{
	char part[1024];
	for (size_t done = 0; done < bytes; done += sizeof(part)) {
		size_t size = bytes - done < sizeof(part) ? bytes - done : sizeof(part);
		struct iovec to = {part, size}, source = {(void *)(uintptr_t)(from + done), size};
		if (process_vm_readv(getpid(), &to, 1, &source, 1, 0) != (ssize_t)size)
			return false;
	}
	return true;
}

static bool read_as(const struct layout *layout, const struct gd_model_match *match,
    const struct gd_model_launch *launch, bool sure, struct metadata_view *v)
{
	v->lists = match->form & 15;
	v->element_bytes = gd_scalar_bytes(match->types[0]);
	v->layout = layout;
	v->bytes = gd_model_argument(launch, 0);
	lay_out(v, match);
	if (!sure && v->size > SAFE_BYTES && !readable(v->bytes, v->size))
		return false;
	return chunks_fit(v, launch->grid[0]) && tensors_fit(v);
}

static bool same_tensors(const struct metadata_view *a, const struct metadata_view *b)
{
	bool same = a->tensors == b->tensors;
	for (unsigned t = 0; same && t < a->tensors; t++) {
		same = numel(a, t) == numel(b, t);
		for (unsigned list = 0; list < a->lists; list++)
			same &= address(a, list, t) == address(b, list, t);
	}
	return same;
}

/* What a program leaves unused in the large layout may look like a small one.  A process has one
 * PyTorch, so the first launch that fits a single layout decides for all; before that a launch is
 * understood when all layouts that it fits mean the same. */
static bool read_metadata(const struct gd_model_match *match, const struct gd_model_launch *launch,
    struct metadata_view *v)
{
	static const struct layout *decided; /* atomic */
	const struct layout *only = __atomic_load_n(&decided, __ATOMIC_RELAXED);
	struct metadata_view other;
	unsigned fitting = 0;
	if (only)
		return read_as(only, match, launch, true, v);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		if (!read_as(&layouts[i], match, launch, false, fitting ? &other : v))
			continue;
		if (fitting++ && !same_tensors(v, &other))
			return false;
	}
	if (fitting == 1)
		__atomic_store_n(&decided, v->layout, __ATOMIC_RELAXED);
	return fitting != 0;
}

/* ---- names ---- */

static unsigned read_kind(const char *name, struct gd_model_match *match)
{
	static const struct {
		const char *key;
		unsigned kind;
	} keys[] = {{"18TensorListMetadataI", PLAIN}, {"28TensorListScalarListMetadataI", SCALARS},
	    {"32FusedOptimizerTensorListMetadataI", FUSED}};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *at = strstr(name, keys[i].key);
		if (!at)
			continue;
		at += strlen(keys[i].key);
		if (keys[i].kind == SCALARS)
			match->scalar = (uint8_t)gd_scalar_of_name(name, &at);
		if (strncmp(at, "Li", 2) == 0 && at[2] >= '1' && at[2] <= '5' && at[3] == 'E')
			return keys[i].kind << 4 | (unsigned)(at[2] - '0');
	}
	return 0;
}

/* Which of list 0 and 1 is read; the result is the last list. */
static void read_operation(const char *name, const char *functor, struct gd_model_match *match)
{
	const char *scalar = strstr(name, "21BinaryOpScalarFunctorI");
	if (strstr(name, "_amp_foreach_non_finite_check_and_unscale_cuda_")) {
		match->operation = UNSCALE;
	} else if (strstr(name, "4CopyI")) {
		const char *types = strstr(name, "4CopyI") + 6;
		match->result = (uint8_t)gd_scalar_of_name(name, &types);
		unsigned from = gd_scalar_of_name(name, &types);
		if (from == GD_SCALAR_NONE || match->form != 2)
			return;
		match->operation = COPY;
		match->types[1] = (uint8_t)from;
	} else if (scalar && functor) {
		match->computed = (uint8_t)gd_scalar_computed(match->types[0]);
		if (strstr(scalar, "St4plusI"))
			match->result = GD_FUNCTOR_ADD_SELF;
		else if (strstr(scalar, "St10multipliesI"))
			match->result = GD_FUNCTOR_MULTIPLY;
		else
			return;
		match->operation = SCALAR;
	}
}

bool gd_list_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	const char *functor = strstr(after, "FunctorI");
	match->form = (uint8_t)read_kind(name, match);
	match->types[0] = GD_SCALAR_NONE;
	if (functor) {
		functor += 8;
		match->types[0] = (uint8_t)gd_scalar_of_name(name, &functor);
	}
	if (!match->form || strstr(after, "NormFunctorI"))
		return false; /* norms write elsewhere */
	if (match->types[0] != GD_SCALAR_NONE)
		read_operation(name, functor, match);
	return true;
}

/* ---- plans ---- */

struct entry {
	uint64_t from, to;
	uint32_t count;
	bool forget; /* too large, or nothing is known of the kernel but where it may write: `to` */
};

struct list {
	uint32_t operation, entries;
	uint8_t from_type, to_type, pad[6];
	struct gd_functor_call call;
	uint64_t found, inverse; /* of UNSCALE */
	struct entry entry[MOST_ENTRIES];
};
_Static_assert(sizeof(struct list) <= GD_MODEL_PLAN, "room");

static bool small_enough(const struct list *l, uint64_t count)
{
	if (l->operation == COPY && l->from_type == l->to_type)
		return count * gd_scalar_bytes(l->to_type) <= gd_copies_limit();
	return count <= GD_MODEL_ELEMENTS;
}

/* @return false when the list is full */
static bool add_entry(struct list *l, uint64_t from, uint64_t to, uint64_t count, bool forget)
{
	if (l->entries == MOST_ENTRIES)
		return false;
	l->entry[l->entries++] = (struct entry){from, to, (uint32_t)count, forget};
	return true;
}

/* The result is the last list. */
static bool plan_entries(const struct metadata_view *v, struct list *l)
{
	for (unsigned t = 0; t < v->tensors; t++) {
		uint64_t from = address(v, 0, t), to = address(v, v->lists - 1, t);
		uint64_t count = numel(v, t);
		if (!gd_model_memory(from, count * gd_scalar_bytes(l->from_type)) ||
		    !gd_model_memory(to, count * gd_scalar_bytes(l->to_type)) ||
		    !add_entry(l, from, to, count, !small_enough(l, count)))
			return false;
	}
	return true;
}

/* Any list may be written; of those that do not fit the rest is forgotten at once. */
static void plan_forget(const struct metadata_view *v, struct list *l)
{
	l->operation = NONE;
	l->entries = 0;
	l->to_type = v->element_bytes ? l->to_type : GD_SCALAR_U8;
	for (unsigned t = 0; t < v->tensors; t++) {
		for (unsigned list = 0; list < v->lists; list++) {
			uint64_t to = address(v, list, t);
			uint64_t bytes = numel(v, t) * (v->element_bytes ? v->element_bytes : 1);
			if (gd_model_memory(to, bytes) && !add_entry(l, 0, to, numel(v, t), true))
				gd_model_forget(to, bytes, GD_NO_AUTHOR);
		}
	}
}

static bool plan_operation(
    const struct gd_model_match *match, const struct gd_model_launch *launch, struct list *l)
{
	memset(l, 0, sizeof(*l));
	l->operation = match->operation;
	l->from_type = l->to_type = match->types[0];
	if (match->operation == COPY) {
		l->to_type = match->result;
		l->from_type = match->types[1];
	} else if (match->operation == UNSCALE) { /* a lambda that holds both pointers */
		memcpy(&l->found, gd_model_argument(launch, 2), 8);
		memcpy(&l->inverse, gd_model_argument(launch, 2) + 8, 8);
		return gd_model_memory(l->found, 4) && gd_model_memory(l->inverse, 4);
	} else if (match->operation == SCALAR) {
		struct gd_number scalar =
		    gd_scalar_load(match->computed, gd_model_argument(launch, 3));
		l->call.operation = match->result;
		l->call.computed = match->computed;
		l->call.side = match->result == GD_FUNCTOR_MULTIPLY ? 2 : 0;
		l->call.scalars[0].whole = scalar.whole;
		l->call.scalars[1].whole = 1;
		if (scalar.floating) {
			l->call.scalars[0].real = scalar.real;
			l->call.scalars[1].real = 1;
		}
	}
	return match->operation != NONE;
}

size_t gd_list_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct metadata_view v;
	struct list *l = plan;
	if (!launch->parameters || !read_metadata(match, launch, &v))
		return 0;
	if (!plan_operation(match, launch, l) || !plan_entries(&v, l))
		plan_forget(&v, l);
	return offsetof(struct list, entry) + l->entries * sizeof(l->entry[0]);
}

/* ---- doing it ---- */

static float float_at(uint64_t at)
{
	float value;
	gd_space_load(&value, at, sizeof(value));
	return value;
}

static struct gd_number changed(
    const struct list *l, struct gd_number value, float inverse, bool *infinite)
{
	const struct gd_number inputs[3] = {value};
	if (l->operation == SCALAR)
		return gd_functor_compute(&l->call, inputs);
	if (l->operation == UNSCALE) {
		*infinite |= !isfinite(gd_number_real(value));
		return gd_number_of(gd_number_real(value) * (double)inverse);
	}
	return value;
}

static void run_entry(const struct list *l, const struct entry *e, float inverse, bool *infinite)
{
	unsigned from = gd_scalar_bytes(l->from_type), to = gd_scalar_bytes(l->to_type);
	if (l->operation == COPY && l->from_type == l->to_type) {
		gd_space_move(e->to, e->from, (size_t)e->count * to);
		return;
	}
	for (uint32_t i = 0; i < e->count; i++) {
		char bytes[8];
		gd_space_load(bytes, e->from + (uint64_t)i * from, from);
		struct gd_number value = gd_scalar_load(l->from_type, bytes);
		gd_scalar_store(l->to_type, bytes, changed(l, value, inverse, infinite));
		gd_space_store(e->to + (uint64_t)i * to, bytes, to);
	}
}

static void entry_done(const struct list *l, const struct entry *e, bool scaled, float inverse,
    uint16_t author, bool *infinite, bool *assumed)
{
	uint64_t read = (uint64_t)e->count * gd_scalar_bytes(l->from_type);
	uint64_t written = (uint64_t)e->count * gd_scalar_bytes(l->to_type);
	if (!gd_model_memory(e->to, written) || (!e->forget && !gd_model_memory(e->from, read)))
		return;
	if (!e->forget && scaled && gd_space_known(e->from, read)) {
		run_entry(l, e, inverse, infinite);
		return;
	}
	*assumed = true;
	gd_model_forget(e->to, written, e->forget ? author : gd_model_blame(e->from, author));
}

/* Gradients that are not known count as finite: the step is taken, as in most of a training. */
void gd_list_run(const void *plan, uint16_t author)
{
	const struct list *l = plan;
	bool unscale = l->operation == UNSCALE, infinite = false, assumed = false;
	bool scaled = !unscale || gd_space_known(l->inverse, 4);
	float inverse = unscale ? float_at(l->inverse) : 1, one = 1;
	for (uint32_t i = 0; i < l->entries; i++)
		entry_done(l, &l->entry[i], scaled, inverse, author, &infinite, &assumed);
	if (infinite && gd_model_memory(l->found, 4))
		gd_space_store(l->found, &one, sizeof(one));
	else if (unscale && assumed)
		gd_result_assumed(author);
}

/* ---- the scale ---- */

struct scaler {
	uint64_t scale, tracker, found;
	double growth, backoff;
	int32_t interval;
};

bool gd_scaler_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	match->operation = 1; /* the signature says it all */
	return true;
}

size_t gd_scaler_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct scaler *s = plan;
	(void)match;
	if (!launch->parameters || launch->grid[0] != 1 || launch->block[0] != 1)
		return 0;
	memcpy(&s->scale, gd_model_argument(launch, 0), 8);
	memcpy(&s->tracker, gd_model_argument(launch, 1), 8);
	memcpy(&s->found, gd_model_argument(launch, 2), 8);
	memcpy(&s->growth, gd_model_argument(launch, 3), 8);
	memcpy(&s->backoff, gd_model_argument(launch, 4), 8);
	memcpy(&s->interval, gd_model_argument(launch, 5), 4);
	return sizeof(*s);
}

/* amp_update_scale_cuda_kernel, word for word but for the one launch argument. */
void gd_scaler_run(const void *plan, uint16_t author)
{
	const struct scaler *s = plan;
	int32_t tracker;
	if (!gd_model_memory(s->scale, 4) || !gd_model_memory(s->tracker, 4) ||
	    !gd_model_memory(s->found, 4) || !gd_space_known(s->scale, 4) ||
	    !gd_space_known(s->tracker, 4))
		return;
	float scale = float_at(s->scale), larger;
	gd_space_load(&tracker, s->tracker, 4);
	if (float_at(s->found) != 0) {
		scale = (float)((double)scale * s->backoff);
		tracker = 0;
	} else if (tracker + 1 == s->interval) {
		larger = (float)((double)scale * s->growth);
		scale = isfinite(larger) ? larger : scale;
		tracker = 0;
	} else {
		tracker++;
	}
	gd_space_store(s->scale, &scale, 4);
	gd_space_store(s->tracker, &tracker, 4);
}
