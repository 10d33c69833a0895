/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/unknown_results.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/known_memory.h"
#include "shim/dryrun/modules.h"
#include "shim/dryrun/shared_state.h"

#define WAITING 8

struct waiting {
	uint64_t address;
	uint32_t bytes;
};

static __thread uint32_t waiting_count;
static __thread struct waiting waiting[WAITING];

void gd_result_handed_out(uint64_t address, uint64_t bytes)
{
	if (bytes > GD_AUTHORED_BYTES)
		return;
	gd_space_set_author(address, bytes, GD_NO_AUTHOR);
	if (waiting_count < WAITING)
		waiting[waiting_count++] = (struct waiting){address, (uint32_t)bytes};
}

/* Whether digits are a length, and not those of S4_, T0_ or Li128E. */
static bool is_length(const char *name, const char *digits)
{
	char before = digits > name ? digits[-1] : 0;
	return before && before != 'S' && before != 'T' &&
	       !(islower((unsigned char)before) && digits - name > 1 && digits[-2] == 'L');
}

/* The next identifier of a mangled name: digits and as many characters. */
static const char *identifier(const char *name, const char *at, size_t *length_out)
{
	const char *behind = at; /* a name: another may begin at once */
	while (*at) {
		const char *digits = at++;
		if (!isdigit((unsigned char)*digits))
			continue;
		char *start;
		unsigned long length = strtoul(digits, &start, 10);
		at = start;
		if ((digits == behind || is_length(name, digits)) && length > 1 &&
		    length <= strlen(start)) {
			*length_out = length;
			return start;
		}
	}
	return NULL;
}

static bool tells_something(const char *word, size_t length)
{
	static const char *const dull[] = {"at", "native", "c10", "detail", "Array", "array",
	    "TensorIterator", "TensorIteratorBase", "BinaryFunctor", "AUnaryFunctor",
	    "BUnaryFunctor", "ReduceOp", "func_wrapper_t", "gpu_kernel_impl_nocast",
	    "gpu_kernel_impl", "TrivialOffsetCalculator", "TensorListMetadata", "Half", "BFloat16",
	    "cub", "at_cuda_detail", "cuda", "OpaqueType", "memory", "_"};
	for (size_t i = 0; i < sizeof(dull) / sizeof(dull[0]); i++) {
		if (strlen(dull[i]) == length && memcmp(dull[i], word, length) == 0)
			return false;
	}
	return memcmp(word, "_GLOBAL__N_", length < 11 ? length : 11) != 0;
}

/* The kernel and the first word of what it is made for: reduce_kernel WelfordOps.  Letters, digits,
 * underscores and a blank. */
static void shorten(const char *mangled, char *text, size_t size)
{
	size_t length, used = 0, words = 0;
	text[0] = 0;
	const char *word =
	    strncmp(mangled, "_Z", 2) == 0 ? identifier(mangled, mangled, &length) : NULL;
	for (; word && words < 2; word = identifier(mangled, word + length, &length)) {
		if (!tells_something(word, length) || used + length + 2 > size)
			continue;
		if (words++)
			text[used++] = ' ';
		memcpy(text + used, word, length);
		used += length;
		text[used] = 0;
	}
	if (words)
		return;
	for (; mangled[used] && used < size - 1; used++)
		text[used] = isalnum((unsigned char)mangled[used]) ? mangled[used] : '_';
	text[used] = 0;
}

uint16_t gd_result_author(struct gd_function *function)
{
	uint16_t author = __atomic_load_n(&function->author, __ATOMIC_RELAXED);
	if (__builtin_expect(author != GD_NO_AUTHOR, 1))
		return author;
	char text[GD_MISSING_NAME];
	shorten(function->name, text, sizeof(text));
	author = gd_unmodelled_note(text);
	__atomic_store_n(&function->author, author, __ATOMIC_RELAXED);
	return author;
}

void gd_result_launched(struct gd_function *function, bool computes)
{
	if (__builtin_expect(!waiting_count, 1))
		return;
	for (uint32_t i = 0; i < waiting_count && !computes; i++)
		gd_space_set_author(
		    waiting[i].address, waiting[i].bytes, gd_result_author(function));
	waiting_count = 0;
}

void gd_result_read(uint64_t address, uint64_t bytes)
{
	if (bytes && !gd_space_known(address, bytes))
		gd_unmodelled_read(gd_space_author(address));
}

void gd_result_assumed(uint16_t author)
{
	gd_unmodelled_read(author);
}
