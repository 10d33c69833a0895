/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/slow_allocator.h"

#include <stdlib.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define POOLS 64

struct area {				   /* a segment or a reservation */
	uint64_t start, size, page, birth; /* page 0: classic */
};

enum kind { VACANT, UNBACKED, TAKEN, PENDING };

struct slow_block {
	struct slow_block *before,
	    *after; /* all blocks; those of one area lie together, by address */
	struct area *area;
	uint64_t start, size, wanted, record, entered, asked; /* asked: order of the frees */
	uint64_t stream;
	uint32_t pool;
	bool small, done;
	enum kind kind;
};

struct slow {
	struct ga_allocator_settings settings;
	struct ga_alloc_driver *driver;
	ga_history_sink *sink;
	void *self;
	uint64_t device, limit, records, births, frees, searches[POOLS][2];
	bool limited;
	int captures;
	int uses[POOLS];
	bool known[POOLS];
	struct slow_block *first;
};

static void *make(size_t bytes)
{
	void *memory = calloc(1, bytes);
	if (!memory)
		exit(1);
	return memory;
}

struct slow *slow_new(const struct ga_allocator_settings *settings, uint64_t device_bytes,
    struct ga_alloc_driver *driver, ga_history_sink *sink, void *sink_self)
{
	struct slow *slow = make(sizeof(*slow));
	slow->settings = *settings;
	slow->device = device_bytes;
	slow->driver = driver;
	slow->sink = sink;
	slow->self = sink_self;
	if (settings->fraction >= 0)
		slow_set_fraction(slow, settings->fraction);
	return slow;
}

static void tell(struct slow *slow, enum ga_history_action action, uint64_t address, uint64_t size,
    uint64_t stream)
{
	struct ga_history_entry entry = {action, address, size, stream};
	slow->sink(slow->self, &entry);
}

/* ---- rounding: divisions between powers of two by size class, else 512-byte steps ---- */

static uint64_t up(uint64_t value, uint64_t step)
{
	return (value + step - 1) / step * step;
}

static uint64_t round_up(const struct ga_allocator_settings *settings, uint64_t n)
{
	if (n < 512)
		return 512;
	uint64_t power = 1;
	int log = 0;
	while (power * 2 <= n) {
		power *= 2;
		log++;
	}
	int bucket = log - 20;
	if (bucket < 0)
		bucket = 0;
	if (bucket > 15)
		bucket = 15;
	uint64_t d = settings->divisions[bucket];
	if (d > 1 && n > 512 * d && n <= settings->roundup_bypass_bytes)
		return power == n ? n : up(n, power / d);
	return up(n, 512);
}

static uint64_t segment_size(const struct ga_allocator_settings *settings, uint64_t z)
{
	if (z <= MIB)
		return 2 * MIB;
	return z < 10 * MIB ? settings->large_segment_bytes : up(z, 2 * MIB);
}

/* ---- blocks ---- */

static struct slow_block *left_of(const struct slow_block *block)
{
	return block->before && block->before->area == block->area ? block->before : NULL;
}

static struct slow_block *right_of(const struct slow_block *block)
{
	return block->after && block->after->area == block->area ? block->after : NULL;
}

/* Behind `left`, or at the front of everything. */
static struct slow_block *put(
    struct slow *slow, struct slow_block *left, struct area *area, uint64_t start, uint64_t size)
{
	struct slow_block *block = make(sizeof(*block));
	block->area = area;
	block->start = start;
	block->size = size;
	block->record = slow->records++;
	block->before = left;
	block->after = left ? left->after : slow->first;
	if (block->after)
		block->after->before = block;
	if (left)
		left->after = block;
	else
		slow->first = block;
	return block;
}

static void take_out(struct slow *slow, struct slow_block *block)
{
	if (block->before)
		block->before->after = block->after;
	else
		slow->first = block->after;
	if (block->after)
		block->after->before = block->before;
	free(block);
}

static struct slow_block *put_like(struct slow *slow, struct slow_block *left,
    const struct slow_block *model, uint64_t start, uint64_t size)
{
	struct slow_block *block = put(slow, left, model->area, start, size);
	block->stream = model->stream;
	block->pool = model->pool;
	block->small = model->small;
	return block;
}

void slow_destroy(struct slow *slow)
{
	while (slow->first) {
		struct area *area = slow->first->area;
		while (slow->first && slow->first->area == area)
			take_out(slow, slow->first);
		free(area);
	}
	free(slow);
}

static void enter(struct slow *slow, struct slow_block *block)
{
	block->kind = VACANT;
	block->entered = slow->searches[block->pool][block->small];
}

/* Neighbours of the same kind become one block; the record of `block` is the one that stays. */
static void join(struct slow *slow, struct slow_block *block)
{
	struct slow_block *left = left_of(block), *right = right_of(block);
	if (left && left->kind == block->kind) {
		block->start = left->start;
		block->size += left->size;
		take_out(slow, left);
	}
	if (right && right->kind == block->kind) {
		block->size += right->size;
		take_out(slow, right);
	}
}

static int compare_free(
    const struct slow *slow, const struct slow_block *a, const struct slow_block *b)
{
#define BY(x, y) \
	do { \
		if ((x) != (y)) \
			return (x) < (y) ? -1 : 1; \
	} while (0)
	BY(a->stream, b->stream);
	BY(a->size, b->size);
	if (slow->settings.torch >= GA_TORCH(2, 13))
		BY(a->area->birth, b->area->birth);
	else if (slow->settings.torch >= GA_TORCH(2, 12))
		BY(a->record, b->record);
	BY(a->start, b->start);
#undef BY
	return 0;
}

static bool is_in(const struct slow_block *block, uint32_t pool, bool small)
{
	return block->kind == VACANT && block->pool == pool && block->small == small;
}

/* The free block of a pool that follows `than` in list order; NULL `than`: the first. */
static struct slow_block *following(
    const struct slow *slow, const struct slow_block *than, uint32_t pool, bool small)
{
	struct slow_block *best = NULL;
	for (struct slow_block *b = slow->first; b; b = b->after)
		if (is_in(b, pool, small) && (!than || compare_free(slow, b, than) > 0) &&
		    (!best || compare_free(slow, b, best) < 0))
			best = b;
	return best;
}

/* ---- search ---- */

struct wish {
	uint64_t n, z, a, stream;
	uint32_t pool;
	bool small;
};

static bool may_collect(const struct slow *slow)
{
	return slow->limited && slow->settings.gc_threshold > 0;
}

static uint64_t effective(const struct slow_block *block)
{
	const struct slow_block *right = right_of(block);
	return block->size + (right && right->kind == UNBACKED ? right->size : 0);
}

static struct slow_block *best_fit(const struct slow *slow, const struct wish *wish)
{
	struct slow_block *best = NULL;
	for (struct slow_block *b = slow->first; b; b = b->after)
		if (is_in(b, wish->pool, wish->small) && b->stream == wish->stream &&
		    b->size >= wish->z && (!best || compare_free(slow, b, best) < 0))
			best = b;
	return best;
}

static struct slow_block *search(struct slow *slow, const struct wish *wish)
{
	const struct ga_allocator_settings *settings = &slow->settings;
	if (may_collect(slow))
		slow->searches[wish->pool][wish->small]++;
	struct slow_block *found = best_fit(slow, wish);
	if (settings->expandable) {
		while (found && found->area->page) {
			struct slow_block *next = following(slow, found, wish->pool, wish->small);
			if (!next || next->stream != wish->stream ||
			    effective(next) >= effective(found))
				break;
			found = next;
		}
	} else {
		while (found && found->area->page) {
			found = following(slow, found, wish->pool, wish->small);
			if (found && found->stream != wish->stream)
				found = NULL;
		}
	}
	if (!found)
		return NULL;
	if (wish->z < settings->max_split_bytes && found->size >= settings->max_split_bytes)
		return NULL;
	if (wish->z >= settings->max_split_bytes && found->size >= wish->z + settings->slack_bytes)
		return NULL;
	return found;
}

/* ---- expandable segments ---- */

static bool usable(const struct slow_block *block)
{
	return block && (block->kind == VACANT || block->kind == UNBACKED);
}

static bool reaches(const struct slow_block *start, uint64_t z)
{
	uint64_t sum = 0;
	for (; usable(start); start = right_of(start)) {
		sum += start->size;
		if (sum >= z)
			return true;
	}
	return false;
}

/* The unmapped range of the wish's pool and stream with the lowest address above `above`. */
static struct slow_block *next_unbacked(
    const struct slow *slow, const struct wish *wish, const uint64_t *above)
{
	struct slow_block *best = NULL;
	for (struct slow_block *b = slow->first; b; b = b->after)
		if (b->kind == UNBACKED && b->pool == wish->pool && b->small == wish->small &&
		    b->stream == wish->stream && (!above || b->start > *above) &&
		    (!best || b->start < best->start))
			best = b;
	return best;
}

static struct slow_block *place_for(struct slow *slow, const struct wish *wish)
{
	struct slow_block *range = next_unbacked(slow, wish, NULL);
	while (range) {
		struct slow_block *left = left_of(range), *start = usable(left) ? left : range;
		if (reaches(start, wish->z))
			return start;
		uint64_t above = range->start;
		range = next_unbacked(slow, wish, &above);
	}
	return NULL;
}

static struct slow_block *new_reservation(struct slow *slow, const struct wish *wish)
{
	struct area *area = make(sizeof(*area));
	area->page =
	    wish->small ? slow->settings.small_page_bytes : slow->settings.large_page_bytes;
	area->size = up(slow->device * 9 / 8, area->page);
	area->start = ga_alloc_driver_reserve(slow->driver, area->size);
	area->birth = slow->births++;
	struct slow_block *block = put(slow, NULL, area, area->start, area->size);
	block->stream = wish->stream;
	block->pool = wish->pool;
	block->small = wish->small;
	block->kind = UNBACKED;
	return block;
}

static bool back(struct slow *slow, struct slow_block *range, uint64_t bytes)
{
	uint64_t size = up(bytes, range->area->page), start = range->start;
	if (!ga_alloc_driver_map(slow->driver, size))
		return false;
	if (size < range->size)
		put_like(slow, range, range, start + size, range->size - size)->kind = UNBACKED;
	range->size = size;
	range->kind = VACANT;
	join(slow, range);
	enter(slow, range);
	tell(slow, GA_HISTORY_SEGMENT_MAP, start, size, range->stream);
	return true;
}

static struct slow_block *expand(struct slow *slow, const struct wish *wish)
{
	struct slow_block *block = place_for(slow, wish);
	if (!block) {
		block = new_reservation(slow, wish);
		if (block->size < wish->z) {
			if (slow->settings.torch >= GA_TORCH(2, 15)) {
				free(block->area);
				take_out(slow, block);
			}
			return NULL;
		}
	}
	for (;;) {
		if (block->kind == VACANT && block->size >= wish->z)
			return block;
		struct slow_block *range = block->kind == UNBACKED ? block : right_of(block);
		uint64_t missing = block->kind == UNBACKED ? wish->z : wish->z - block->size;
		if (!back(slow, range, missing < range->size ? missing : range->size))
			return NULL;
		block = range;
	}
}

/* ---- giving back ---- */

uint64_t slow_reserved(const struct slow *slow)
{
	uint64_t sum = 0;
	for (const struct slow_block *b = slow->first; b; b = b->after)
		sum += b->kind == UNBACKED ? 0 : b->size;
	return sum;
}

static bool whole(const struct slow_block *block)
{
	return !block->area->page && !left_of(block) && !right_of(block);
}

static void give_back(struct slow *slow, struct slow_block *block)
{
	tell(slow, GA_HISTORY_SEGMENT_FREE, block->start, block->size, block->stream);
	ga_alloc_driver_release(slow->driver, block->size);
	if (whole(block))
		free(block->area);
	take_out(slow, block);
}

/* Candidates' ages: their sum and number, or release of those that are old enough. */
static uint64_t collect_pass(struct slow *slow, double threshold, double *sum, uint64_t *count)
{
	uint64_t released = 0;
	struct slow_block *b = following(slow, NULL, 0, false), *next;
	for (; b; b = next) {
		next = following(slow, b, 0, false);
		double age = (double)(slow->searches[0][0] - b->entered);
		if (!whole(b))
			continue;
		if (threshold >= 0 && age >= threshold) {
			released += b->size;
			give_back(slow, b);
			continue;
		}
		*sum += age;
		++*count;
	}
	return released;
}

static void collect(struct slow *slow)
{
	uint64_t g = (uint64_t)(slow->settings.gc_threshold * (double)slow->limit);
	uint64_t reserved = slow_reserved(slow), target = reserved > g ? reserved - g : 0, done = 0;
	while (done < target) {
		double sum = 0, rest = 0;
		uint64_t count = 0, left = 0;
		collect_pass(slow, -1, &sum, &count);
		if (!count)
			return;
		uint64_t released = collect_pass(slow, sum / (double)count, &rest, &left);
		if (!released)
			return;
		done += released;
	}
}

/* The largest segment of the stream that the split limit lets be released. */
static struct slow_block *largest_oversized(
    struct slow *slow, const struct wish *wish, uint64_t below)
{
	struct slow_block *best = NULL;
	for (struct slow_block *b = slow->first; b; b = b->after)
		if (is_in(b, wish->pool, wish->small) && b->stream == wish->stream && whole(b) &&
		    b->size >= slow->settings.max_split_bytes && b->size < below &&
		    (!best || compare_free(slow, b, best) > 0))
			best = b;
	return best;
}

static bool release_oversized(struct slow *slow, const struct wish *wish)
{
	uint64_t split = slow->settings.max_split_bytes, sum = 0;
	if (split == UINT64_MAX)
		return false;
	uint64_t key = wish->z > split ? wish->z : split;
	struct wish bigger = *wish;
	bigger.z = key;
	struct slow_block *one = best_fit(slow, &bigger);
	if (one && whole(one)) {
		give_back(slow, one);
		return true;
	}
	while (sum < key) {
		struct slow_block *largest = largest_oversized(slow, wish, key);
		if (!largest)
			return false;
		sum += largest->size;
		give_back(slow, largest);
	}
	return true;
}

static void complete(struct slow *slow, struct slow_block *block)
{
	tell(slow, GA_HISTORY_FREE_COMPLETED, block->start, block->wanted, block->stream);
	block->kind = VACANT;
	join(slow, block);
	enter(slow, block);
}

/* Pending blocks in the order of their frees: all, or those that are done. */
static void complete_pending(struct slow *slow, bool all)
{
	for (;;) {
		struct slow_block *oldest = NULL;
		for (struct slow_block *b = slow->first; b; b = b->after)
			if (b->kind == PENDING && (all || b->done) &&
			    (!oldest || b->asked < oldest->asked))
				oldest = b;
		if (!oldest)
			return;
		complete(slow, oldest);
	}
}

static void unback(struct slow *slow, struct slow_block *block)
{
	struct area *area = block->area;
	uint64_t from = area->start + up(block->start - area->start, area->page);
	uint64_t end = block->start + block->size;
	uint64_t to = area->start + (end - area->start) / area->page * area->page;
	if (from >= to)
		return;
	if (from > block->start)
		enter(
		    slow, put_like(slow, block->before, block, block->start, from - block->start));
	if (end > to)
		enter(slow, put_like(slow, block, block, to, end - to));
	block->start = from;
	block->size = to - from;
	block->kind = UNBACKED;
	join(slow, block);
	ga_alloc_driver_release(slow->driver, to - from);
	tell(slow, GA_HISTORY_SEGMENT_UNMAP, from, to - from, block->stream);
	if (block->size == area->size) {
		free(area);
		take_out(slow, block);
	}
}

static void release_half(struct slow *slow, uint32_t pool, bool small)
{
	struct slow_block *b = following(slow, NULL, pool, small), *next;
	for (; b; b = next) {
		next = following(slow, b, pool, small);
		if (whole(b))
			give_back(slow, b);
	}
	/* What unmapping leaves of a block is not looked at again, so its list is made first. */
	size_t count = 0;
	struct slow_block *list[4096];
	for (b = following(slow, NULL, pool, small); b && count < 4096;
	     b = following(slow, b, pool, small))
		if (b->area->page)
			list[count++] = b;
	for (size_t i = 0; i < count; i++)
		unback(slow, list[i]);
}

static void release_all(struct slow *slow)
{
	complete_pending(slow, true);
	release_half(slow, 0, false);
	release_half(slow, 0, true);
	for (uint32_t pool = 1; pool < POOLS; pool++) {
		if (!slow->known[pool] || slow->uses[pool])
			continue;
		release_half(slow, pool, true);
		release_half(slow, pool, false);
	}
}

/* ---- calls ---- */

static struct slow_block *attempt(struct slow *slow, const struct wish *wish)
{
	if (slow->limited && slow_reserved(slow) + wish->a > slow->limit)
		return NULL;
	if (slow->settings.expandable)
		return expand(slow, wish);
	uint64_t address;
	if (!ga_alloc_driver_allocate(slow->driver, wish->a, &address))
		return NULL;
	struct area *area = make(sizeof(*area));
	area->start = address;
	area->size = wish->a;
	area->birth = slow->births++;
	struct slow_block *block = put(slow, NULL, area, address, wish->a);
	block->stream = wish->stream;
	block->pool = wish->pool;
	block->small = wish->small;
	tell(slow, GA_HISTORY_SEGMENT_ALLOC, address, wish->a, wish->stream);
	return block;
}

static struct slow_block *find_or_make(struct slow *slow, const struct wish *wish)
{
	struct slow_block *block = search(slow, wish);
	if (block)
		return block;
	if (may_collect(slow))
		collect(slow);
	block = attempt(slow, wish);
	if (!block && release_oversized(slow, wish))
		block = attempt(slow, wish);
	if (!block && !slow->captures) {
		release_all(slow);
		block = attempt(slow, wish);
	}
	return block;
}

struct slow_block *slow_allocate(
    struct slow *slow, uint64_t request, uint64_t stream, uint32_t pool)
{
	const struct ga_allocator_settings *settings = &slow->settings;
	struct wish wish = {.n = request, .stream = stream, .pool = pool};
	if (!slow->captures)
		complete_pending(slow, false);
	wish.z = round_up(settings, request);
	wish.a = segment_size(settings, wish.z);
	wish.small = wish.z <= MIB;
	struct slow_block *block = find_or_make(slow, &wish);
	if (!block) {
		tell(
		    slow, GA_HISTORY_OOM, ga_alloc_driver_free_bytes(slow->driver), wish.z, stream);
		return NULL;
	}
	uint64_t rest = block->size - wish.z;
	bool split = wish.small || settings->expandable
			 ? rest >= 512
			 : wish.z < settings->max_split_bytes && rest > MIB;
	if (split) {
		struct slow_block *head =
		    put_like(slow, block->before, block, block->start, wish.z);
		block->start += wish.z;
		block->size = rest;
		enter(slow, block);
		block = head;
	}
	block->kind = TAKEN;
	block->wanted = request;
	tell(slow, GA_HISTORY_ALLOC, block->start, request, stream);
	return block;
}

void slow_free(struct slow *slow, struct slow_block *block, bool waits)
{
	tell(slow, GA_HISTORY_FREE_REQUESTED, block->start, block->wanted, block->stream);
	block->kind = PENDING;
	block->done = false;
	block->asked = slow->frees++;
	if (!waits)
		complete(slow, block);
}

bool slow_waits(const struct slow *slow, const struct slow_block *block)
{
	for (const struct slow_block *b = slow->first; b; b = b->after)
		if (b == block)
			return b->kind == PENDING;
	return false;
}

void slow_ready(struct slow *slow, struct slow_block *block)
{
	block->done = true;
}

void slow_empty_cache(struct slow *slow)
{
	release_all(slow);
}

void slow_set_fraction(struct slow *slow, double fraction)
{
	/* 2.10 and later take the whole device for no limit at all. */
	slow->limited = slow->settings.torch < GA_TORCH(2, 10) || fraction < 1;
	slow->limit = (uint64_t)(fraction * (double)slow->device);
}

void slow_set_settings(struct slow *slow, const struct ga_allocator_settings *settings)
{
	slow->settings = *settings;
}

void slow_capture_begin(struct slow *slow, uint32_t pool)
{
	slow->known[pool] = true;
	slow->uses[pool]++;
	slow->captures++;
}

void slow_capture_end(struct slow *slow)
{
	slow->captures--;
}

void slow_pool_release(struct slow *slow, uint32_t pool)
{
	slow->uses[pool]--;
}

struct ga_reserved_split slow_split(const struct slow *slow)
{
	struct ga_reserved_split split = {0};
	for (const struct slow_block *b = slow->first; b; b = b->after) {
		uint64_t gone = 0;
		if (b->kind == TAKEN) {
			split.requested += b->wanted;
			split.rounding += b->size - b->wanted;
		} else if (b->kind == PENDING) {
			split.pending += b->size;
		} else if (b->kind == VACANT && (!b->pool || !slow->uses[b->pool])) {
			uint64_t page = b->area->page;
			uint64_t from = b->start - b->area->start, to = from + b->size;
			if (page)
				gone = to / page * page > up(from, page)
					   ? to / page * page - up(from, page)
					   : 0;
			else if (whole(b))
				gone = b->size;
		}
		if (b->kind == VACANT) {
			split.releasable += gone;
			split.stuck += b->size - gone;
		}
	}
	return split;
}
