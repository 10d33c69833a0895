/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVRTC: programs whose kernels do nothing, like all kernels here.
 *
 * The source is searched for kernels; the "compiled" program is PTX with an empty entry of the same
 * name for each, and one for each name expression.  Nothing is checked: source that a compiler
 * would refuse passes, and the log says so.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gd_export.h"
#include "unprovided.h"

enum {
	NVRTC_SUCCESS = 0,
	NVRTC_OUT_OF_MEMORY = 1,
	NVRTC_INVALID_INPUT = 3,
	NVRTC_INVALID_PROGRAM = 4,
	NVRTC_NO_NAMES_AFTER_COMPILATION = 8,
	NVRTC_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
	NVRTC_NAME_EXPRESSION_NOT_VALID = 10,
};

static const char log_text[] = "the stand-in GPU compiles nothing: the source was not checked\n";

struct expression {
	struct expression *next;
	char *lowered;
	char text[];
};

struct program {
	char *source, *ptx;
	struct expression *expressions;
};

GD_EXPORT int nvrtcCreateProgram(struct program **out, const char *source, const char *name,
    int header_count, const char *const *headers, const char *const *header_names);
GD_EXPORT int nvrtcDestroyProgram(struct program **program);
GD_EXPORT int nvrtcAddNameExpression(struct program *program, const char *text);
GD_EXPORT int nvrtcGetLoweredName(struct program *program, const char *text, const char **lowered);
GD_EXPORT int nvrtcCompileProgram(struct program *program, int count, const char *const *options);
GD_EXPORT int nvrtcGetPTXSize(struct program *program, size_t *bytes);
GD_EXPORT int nvrtcGetPTX(struct program *program, char *out);
GD_EXPORT int nvrtcGetCUBINSize(struct program *program, size_t *bytes);
GD_EXPORT int nvrtcGetCUBIN(struct program *program, char *out);
GD_EXPORT int nvrtcGetProgramLogSize(struct program *program, size_t *bytes);
GD_EXPORT int nvrtcGetProgramLog(struct program *program, char *out);

int nvrtcCreateProgram(struct program **out, const char *source, const char *name, int header_count,
    const char *const *headers, const char *const *header_names)
{
	struct program *program;

	if (!out || !source)
		return NVRTC_INVALID_INPUT;
	program = calloc(1, sizeof(*program));
	if (!program || !(program->source = strdup(source))) {
		free(program);
		return NVRTC_OUT_OF_MEMORY;
	}
	*out = program;
	return NVRTC_SUCCESS;
}

int nvrtcDestroyProgram(struct program **where)
{
	struct program *program = where ? *where : NULL;
	struct expression *next;

	if (!program)
		return NVRTC_INVALID_PROGRAM;
	for (struct expression *e = program->expressions; e; e = next) {
		next = e->next;
		free(e->lowered);
		free(e);
	}
	free(program->source);
	free(program->ptx);
	free(program);
	*where = NULL;
	return NVRTC_SUCCESS;
}

int nvrtcAddNameExpression(struct program *program, const char *text)
{
	struct expression *expression;

	if (!program || !text)
		return NVRTC_INVALID_INPUT;
	if (program->ptx)
		return NVRTC_NO_NAMES_AFTER_COMPILATION;
	expression = calloc(1, sizeof(*expression) + strlen(text) + 1);
	if (!expression)
		return NVRTC_OUT_OF_MEMORY;
	strcpy(expression->text, text);
	expression->next = program->expressions;
	program->expressions = expression;
	return NVRTC_SUCCESS;
}

int nvrtcGetLoweredName(struct program *program, const char *text, const char **lowered)
{
	if (!program || !text || !lowered)
		return NVRTC_INVALID_INPUT;
	if (!program->ptx)
		return NVRTC_NO_LOWERED_NAMES_BEFORE_COMPILATION;
	for (const struct expression *e = program->expressions; e; e = e->next) {
		if (strcmp(e->text, text) == 0) {
			*lowered = e->lowered;
			return NVRTC_SUCCESS;
		}
	}
	return NVRTC_NAME_EXPRESSION_NOT_VALID;
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/*
 * The name of the kernel whose __global__ ends at `at`: the first identifier before a parenthesis
 * that is no attribute.  NULL when the text ends before.
 */
static const char *kernel_name(const char *at, size_t *length)
{
	const char *start = at;

	while ((at = strpbrk(at, "(;{")) && *at == '(') {
		const char *end = at;
		int depth = 0;

		while (end > start && isspace((unsigned char)end[-1]))
			end--;
		for (start = end; in_name(start[-1]);)
			start--;
		*length = (size_t)(end - start);
		if (*length && strncmp(start, "__", 2) != 0)
			return start;
		do { /* past the parentheses of an attribute */
			depth += *at == '(';
			depth -= *at == ')';
			at++;
		} while (*at && depth > 0);
		start = at;
	}
	return NULL;
}

static void write_entry(FILE *to, const char *name, size_t length)
{
	fprintf(to, ".visible .entry %.*s()\n{\n\tret;\n}\n", (int)length, name);
}

/* A name that can stand in PTX: the expression with everything else made '_'. */
static char *lower(const char *text)
{
	char *name = NULL;

	if (asprintf(&name, "gpushim_%s", text) < 0)
		return NULL;
	for (char *c = name; *c; c++) {
		if (!in_name(*c))
			*c = '_';
	}
	return name;
}

/* Options name an architecture and a standard; every one will do. */
int nvrtcCompileProgram(struct program *program, int count, const char *const *options)
{
	static const char keyword[] = "__global__";
	const char *at, *name;
	size_t bytes, length;
	FILE *to;

	if (!program)
		return NVRTC_INVALID_PROGRAM;
	free(program->ptx);
	program->ptx = NULL;
	to = open_memstream(&program->ptx, &bytes);
	if (!to)
		return NVRTC_OUT_OF_MEMORY;
	fputs(".version 8.0\n.target sm_50\n.address_size 64\n\n", to);
	for (at = program->source; (at = strstr(at, keyword));) {
		at += sizeof(keyword) - 1;
		name = kernel_name(at, &length);
		if (name)
			write_entry(to, name, length);
	}
	for (struct expression *e = program->expressions; e; e = e->next) {
		if (!e->lowered)
			e->lowered = lower(e->text);
		if (e->lowered)
			write_entry(to, e->lowered, strlen(e->lowered));
	}
	return fclose(to) == 0 && program->ptx ? NVRTC_SUCCESS : NVRTC_OUT_OF_MEMORY;
}

int nvrtcGetPTXSize(struct program *program, size_t *bytes)
{
	if (!program || !program->ptx || !bytes)
		return NVRTC_INVALID_PROGRAM;
	*bytes = strlen(program->ptx) + 1;
	return NVRTC_SUCCESS;
}

int nvrtcGetPTX(struct program *program, char *out)
{
	if (!program || !program->ptx || !out)
		return NVRTC_INVALID_PROGRAM;
	strcpy(out, program->ptx);
	return NVRTC_SUCCESS;
}

/* Where machine code is asked for the same text is given: the driver loads either. */
int nvrtcGetCUBINSize(struct program *program, size_t *bytes)
{
	return nvrtcGetPTXSize(program, bytes);
}

int nvrtcGetCUBIN(struct program *program, char *out)
{
	return nvrtcGetPTX(program, out);
}

int nvrtcGetProgramLogSize(struct program *program, size_t *bytes)
{
	*bytes = sizeof(log_text);
	return NVRTC_SUCCESS;
}

int nvrtcGetProgramLog(struct program *program, char *out)
{
	memcpy(out, log_text, sizeof(log_text));
	return NVRTC_SUCCESS;
}
