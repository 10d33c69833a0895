/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/stacks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/frame_text.h"
#include "analyzer/python_lines.h"
#include "analyzer/stack_definitions.h"
#include "analyzer/xalloc.h"

/* A stack that was asked for. */
struct made {
	uint64_t key; /* id + 1 */
	struct ga_stack stack;
	struct ga_words words;
	bool told; /* `words` are set */
};

/* A native address that was asked for, while one library held it: stacks share most of theirs. */
struct place {
	struct ga_span span;
	struct ga_frame frame;
	bool is_python, is_evaluation;
	struct place *other; /* of the same address, while another library was there */
};

struct address {
	uint64_t key; /* the address */
	struct place *places;
};

/* Stacks that are alike but for the layer. */
struct site {
	uint64_t key; /* hash of what they have in common */
	uint32_t id;  /* of the first that was asked for */
};

struct ga_stacks {
	struct ga_definitions definitions;
	struct ga_map sites;
	struct ga_map made;
	struct ga_map addresses;
	struct ga_strings names; /* demangled */
};

struct ga_stacks *ga_stacks_new(const struct gf_reader *reader)
{
	struct ga_stacks *stacks = ga_xalloc(1, sizeof(*stacks));
	ga_definitions_read(&stacks->definitions, reader);
	ga_map_init(&stacks->sites, sizeof(struct site));
	ga_map_init(&stacks->made, sizeof(struct made));
	ga_map_init(&stacks->addresses, sizeof(struct address));
	return stacks;
}

static void free_places(struct ga_map *addresses)
{
	const struct address *address = NULL;
	while ((address = ga_map_next(addresses, address)))
		for (struct place *place = address->places, *other; place; place = other) {
			other = place->other;
			free(place);
		}
	ga_map_free(addresses);
}

void ga_stacks_free(struct ga_stacks *stacks)
{
	if (!stacks)
		return;
	const struct made *made = NULL;
	while ((made = ga_map_next(&stacks->made, made))) {
		free((void *)made->stack.frames);
		free((char *)made->words.place);
		free((char *)made->words.operation);
	}
	ga_map_free(&stacks->made);
	ga_map_free(&stacks->sites);
	free_places(&stacks->addresses);
	ga_strings_clear(&stacks->names);
	ga_definitions_free(&stacks->definitions);
	free(stacks);
}

size_t ga_stacks_damaged(const struct ga_stacks *stacks)
{
	return stacks->definitions.damaged;
}

/* ---- one frame ---- */

static struct place *make_place(struct ga_stacks *stacks, uint64_t address, uint64_t time)
{
	struct place *place = ga_xalloc(1, sizeof(*place));
	place->frame.address = address;
	/* A return address may be the first of the next function: the call before it is meant. */
	address--;
	struct ga_library *library =
	    ga_definitions_library(&stacks->definitions, address, time, &place->span);
	if (!library)
		return place;
	place->frame.module = library->path[0] ? library->path : NULL;
	place->is_python = library->is_python;
	const char *name =
	    library->elf ? ga_elf_function(library->elf, address - library->bias) : NULL;
	if (!name)
		return place;
	static const char evaluation[] = "_PyEval_EvalFrameDefault"; /* maybe with .cold behind */
	place->is_evaluation = strncmp(name, evaluation, sizeof(evaluation) - 1) == 0;
	char *text = ga_demangle(name);
	ga_strings_take(&stacks->names, text);
	place->frame.function = text;
	place->frame.line = ga_elf_line(library->elf, address - library->bias, &place->frame.file);
	return place;
}

static struct place native_place(struct ga_stacks *stacks, uint64_t address, uint64_t time)
{
	if (!address)
		return (struct place){.is_python = false};
	struct address *known = ga_map_add(&stacks->addresses, address);
	for (const struct place *place = known->places; place; place = place->other)
		if (time >= place->span.first && time <= place->span.last)
			return *place;
	struct place *made = make_place(stacks, address, time);
	made->other = known->places;
	known->places = made;
	return *made;
}

static struct ga_frame python_frame(const struct ga_stacks *stacks,
    const struct ga_stack_text *text, unsigned index)
{
	struct gf_stack_python entry = ga_stack_python(text, index);
	const struct ga_code *code = ga_definitions_code(&stacks->definitions, entry.code);
	struct ga_frame frame = {.python = true};
	if (code) {
		frame.function = code->function[0] ? code->function : NULL;
		frame.file = code->file[0] ? code->file : NULL;
		frame.line = ga_python_line(code->form, code->table, code->table_bytes,
		    code->first_line, GF_PLACE_LASTI(entry.place));
	}
	for (unsigned i = 0; i < text->head.module_count; i++) {
		struct gf_stack_module module = ga_stack_module(text, i);
		if (module.frame == index)
			frame.layer = module.address;
	}
	return frame;
}

/* ---- a whole stack ---- */

struct merging {
	struct ga_stacks *stacks;
	const struct ga_stack_text *text;
	struct ga_frame *frames; /* room for all */
	size_t count;
	unsigned python_used;
	bool knows_evaluation; /* the evaluation function can be told among the native frames */
};

/* The Python frames that one call of the evaluation function ran. */
static void put_evaluation(struct merging *merging)
{
	unsigned place = 0;
	while (merging->python_used < merging->text->head.python_count && !(place & GF_PLACE_ENTRY)) {
		place = ga_stack_python(merging->text, merging->python_used).place;
		merging->frames[merging->count++] =
		    python_frame(merging->stacks, merging->text, merging->python_used++);
	}
}

static void put_python_rest(struct merging *merging)
{
	while (merging->python_used < merging->text->head.python_count)
		merging->frames[merging->count++] =
		    python_frame(merging->stacks, merging->text, merging->python_used++);
}

static void put_native(struct merging *merging, unsigned index)
{
	uint64_t address = ga_stack_native(merging->text, index);
	struct place place = native_place(merging->stacks, address, merging->text->time);
	bool has_python = merging->text->head.python_count > 0;
	if (!has_python || !place.is_python)
		merging->frames[merging->count++] = place.frame;
	else if (place.is_evaluation)
		put_evaluation(merging);
	else if (!merging->knows_evaluation)
		put_python_rest(merging);
}

static bool has_evaluation(struct ga_stacks *stacks, const struct ga_stack_text *text)
{
	for (unsigned i = 0; i < text->head.native_count; i++)
		if (native_place(stacks, ga_stack_native(text, i), text->time).is_evaluation)
			return true;
	return false;
}

static struct ga_stack merge(struct ga_stacks *stacks, const struct ga_stack_text *text)
{
	const struct ga_stack_text *forward =
	    ga_definitions_stack(&stacks->definitions, text->head.forward_stack);
	size_t room = (size_t)text->head.python_count + text->head.native_count +
	    (forward ? forward->head.python_count : 0);
	struct merging merging = {.stacks = stacks, .text = text,
	    .frames = ga_xalloc(room + 1, sizeof(struct ga_frame)),
	    .knows_evaluation = has_evaluation(stacks, text)};
	for (unsigned i = 0; i < text->head.native_count; i++)
		put_native(&merging, i);
	put_python_rest(&merging);
	for (unsigned i = 0; forward && i < forward->head.python_count; i++) {
		merging.frames[merging.count] = python_frame(stacks, forward, i);
		merging.frames[merging.count++].forward = true;
	}
	return (struct ga_stack){merging.frames, merging.count,
	    (text->head.flags & (GF_STACK_PYTHON_CUT | GF_STACK_NATIVE_CUT)) != 0};
}

/* NULL if the id is 0, not defined or damaged. */
static struct made *make(struct ga_stacks *stacks, uint32_t id)
{
	struct made *made = stacks && id ? ga_map_find(&stacks->made, (uint64_t)id + 1) : NULL;
	if (!stacks || !id || made)
		return made;
	const struct ga_stack_text *text = ga_definitions_stack(&stacks->definitions, id);
	if (!text)
		return NULL;
	struct ga_stack stack = merge(stacks, text);
	made = ga_map_add(&stacks->made, (uint64_t)id + 1);
	made->stack = stack;
	return made;
}

struct ga_stack ga_stacks_frames(struct ga_stacks *stacks, uint32_t id)
{
	const struct made *made = make(stacks, id);
	return made ? made->stack : (struct ga_stack){0};
}

struct ga_words ga_stacks_words(struct ga_stacks *stacks, uint32_t id)
{
	struct made *made = make(stacks, id);
	if (!made)
		return (struct ga_words){0};
	if (!made->told) {
		const struct ga_frame *frame = ga_stack_place(&made->stack);
		made->words.place = frame ? ga_frame_text(frame) : NULL;
		made->words.operation = ga_stack_operation(&made->stack);
		made->told = true;
	}
	return made->words;
}

/* ---- sites ---- */

#define SITE_SEED UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix(uint64_t hash, const void *bytes, size_t length)
{
	uint64_t word;
	for (size_t i = 0; i < length; i += sizeof(word)) { /* lists of 8 bytes an entry */
		memcpy(&word, (const char *)bytes + i, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0xd6e8feb86659fd93);
		hash ^= hash >> 32;
	}
	return hash;
}

static uint64_t mix_frames(uint64_t hash, const struct ga_stack_text *text)
{
	uint64_t counts = (uint64_t)text->head.python_count << 32 | text->head.native_count;
	hash = mix(hash, &counts, sizeof(counts));
	hash = mix(hash, text->python, text->head.python_count * sizeof(struct gf_stack_python));
	return mix(hash, text->native, text->head.native_count * sizeof(uint64_t));
}

static uint64_t site_hash(const struct ga_stacks *stacks, const struct ga_stack_text *text)
{
	const struct ga_stack_text *forward =
	    ga_definitions_stack(&stacks->definitions, text->head.forward_stack);
	uint64_t hash = mix_frames(SITE_SEED, text);
	if (forward)
		hash = mix_frames(hash, forward);
	return hash + !hash; /* keys are not 0 */
}

uint32_t ga_stacks_site(struct ga_stacks *stacks, uint32_t id)
{
	const struct ga_stack_text *text = ga_definitions_stack(&stacks->definitions, id);
	if (!text)
		return id;
	struct site *site = ga_map_add(&stacks->sites, site_hash(stacks, text));
	if (!site->id)
		site->id = id;
	return site->id;
}

/* ---- showing ---- */

static void frame_json(const struct ga_frame *frame, struct ga_json *json)
{
	ga_json_object(json, NULL);
	ga_json_string(json, "kind", frame->python ? "python" : "native");
	ga_json_string(json, "function", frame->function);
	ga_json_string(json, "file", frame->file);
	ga_json_maybe(json, "line", frame->line > 0, frame->line);
	ga_json_string(json, "module", frame->module);
	if (frame->forward)
		ga_json_bool(json, "forward", true);
	ga_json_object_end(json);
}

void ga_stacks_json(struct ga_stacks *stacks, uint32_t id, struct ga_json *json, const char *name)
{
	struct ga_stack stack = ga_stacks_frames(stacks, id);
	ga_json_list(json, name);
	for (size_t i = 0; i < stack.count; i++)
		frame_json(&stack.frames[i], json);
	ga_json_list_end(json);
}

/* Files of the program itself, not of what it was installed with. */
static bool is_own_file(const char *file)
{
	static const char *const foreign[] = {"/site-packages/", "/dist-packages/", "/lib/python3",
	    "/lib64/python3"};
	if (!file || file[0] == '<')
		return false;
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (strstr(file, foreign[i]))
			return false;
	return true;
}

/* Functions between an operation and the memory that it gets: the same in every stack. */
static bool is_plumbing(const char *function)
{
	static const char *const prefixes[] = {"c10::", "at::detail::"};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(function, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

const struct ga_frame *ga_stack_place(const struct ga_stack *stack)
{
	const struct ga_frame *python = NULL, *native = NULL;
	for (size_t i = 0; i < stack->count; i++) {
		const struct ga_frame *frame = &stack->frames[i];
		if (frame->python && is_own_file(frame->file))
			return frame;
		if (frame->python && !python)
			python = frame;
		if (!frame->python && frame->function && !native && !is_plumbing(frame->function))
			native = frame;
	}
	return python ? python : native ? native : stack->count ? &stack->frames[0] : NULL;
}

/* NAME of "prefixNAME::call(...)" and the like, NULL if the function is another one.  free() it. */
static char *name_behind(const char *function, const char *prefix)
{
	static const char tail[] = "_apply_functional";
	size_t length = strlen(prefix);
	if (!function || strncmp(function, prefix, length) != 0)
		return NULL;
	const char *name = function + length, *end = name;
	while (isalnum((unsigned char)*end) || *end == '_')
		end++;
	size_t bytes = (size_t)(end - name);
	if (bytes > sizeof(tail) - 1 && strncmp(end - (sizeof(tail) - 1), tail, sizeof(tail) - 1) == 0)
		bytes -= sizeof(tail) - 1;
	return bytes ? ga_format("%.*s", (int)bytes, name) : NULL;
}

/* Functions of the autograd library that are no node. */
static bool is_helper(const char *name)
{
	return strcmp(name, "details") == 0;
}

/*
 * Cut the overload off an operation's name, as far as it can be told: the generated classes join
 * name and overload by '_', and names have that character too.
 */
static void cut_overload(char *name)
{
	static const char *const overloads[] = {"_dtype_layout", "_dtype", "_device", "_other",
	    "_dim_IntList", "_dim_DimnameList", "_memory_format", "_low", "_low_out", "_Tensor",
	    "_Scalar", "_Tensor_Scalar", "_generator", "_int", "_names", "_out", "_grad_input",
	    "_generator_out"};
	for (size_t i = 0; i < sizeof(overloads) / sizeof(overloads[0]); i++) {
		size_t length = strlen(name), cut = strlen(overloads[i]);
		if (length > cut && strcmp(name + length - cut, overloads[i]) == 0) {
			name[length - cut] = 0;
			return;
		}
	}
}

char *ga_stack_operation(const struct ga_stack *stack)
{
	char *operation = NULL;
	for (size_t i = 0; i < stack->count && !stack->frames[i].python; i++) {
		const char *function = stack->frames[i].function;
		char *node = name_behind(function, "torch::autograd::generated::");
		char *called = name_behind(function, "at::_ops::");
		if (node && is_helper(node)) {
			free(node);
			node = NULL;
		}
		if (called)
			cut_overload(called);
		if (node) {
			free(operation);
			free(called);
			return node;
		}
		if (called) {
			free(operation);
			operation = called;
		}
	}
	return operation;
}
