/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/hooks.h"

#include "shim/hook_macros.h"
#include "shim/torch_table.h"
#include "tests/test.h"

static bool listed(const char *map, const char *name)
{
	char line[256];
	snprintf(line, sizeof(line), "\n\t%s;\n", name);
	return strstr(map, line);
}

static char *read_whole(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "r");
	if (!file)
		return NULL;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	return text;
}

TEST(exports_are_the_tables)
{
	const char *map = read_whole("shim/libgpushim.map");
	if (!map)
		exit(77); /* not run in the source tree */
	size_t count = 3;
	EXPECT(listed(map, "dlsym") && listed(map, "_exit") && listed(map, "_Exit"));
#define H(since, class, use, recorder, fn, ...) \
	count++; \
	EXPECT(listed(map, #fn));
	GS_HOOKS(H)
#undef H
#define T(shape, id, symbol) \
	count++; \
	EXPECT(listed(map, symbol));
	GS_TORCH_HOOKS(T)
#undef T
	count += 2; /* those of autograd_hooks.c */
	EXPECT(listed(map, GS_TORCH_NEXT_NUMBER));
	EXPECT(listed(map, GS_TORCH_EVALUATE));
	size_t lines = 0;
	for (const char *at = map; (at = strstr(at, ";\n")); at += 2)
		lines++;
	EXPECT_EQ(lines, count + 2); /* and `local: *;`, `};` */
}

/* Programs probe these to find out whether there is CUDA at all. */
TEST(probes_are_not_exported)
{
	static const char *const probes[] = {"cuInit", "cuDriverGetVersion", "cuDeviceGet",
	    "cuDeviceGetCount", "cuDeviceGetName", "cuDeviceGetAttribute", "cuGetProcAddress",
	    "cuGetProcAddress_v2"};
	for (unsigned hook = 1; hook < GS_HOOK_COUNT; hook++)
		for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
			EXPECT(strcmp(gs_hook_rows[hook].name, probes[i]) != 0);
}

TEST(rows_are_complete_and_unique)
{
	for (unsigned hook = 1; hook < GS_HOOK_COUNT; hook++) {
		EXPECT(gs_hook_rows[hook].name && gs_hook_rows[hook].wrapper &&
		    gs_hook_rows[hook].real && *gs_hook_rows[hook].real);
		for (unsigned other = 1; other < hook; other++)
			EXPECT(strcmp(gs_hook_rows[hook].name, gs_hook_rows[other].name) != 0);
	}
	EXPECT(GS_HOOK_COUNT < 65536);
}

TEST(parameter_macros)
{
	EXPECT_EQ(GS_COUNT(), 0);
	EXPECT_EQ(GS_COUNT(int), 1);
	EXPECT_EQ(GS_COUNT(int, int, int, int, int, int, int, int, int, int, int, int), 12);
}

/* Without libcuda in the process every function says that CUDA is not initialised. */
TEST(no_driver)
{
	int (*synchronize)(void) = (int (*)(void))gs_hook_rows[GS_HOOK_cuCtxSynchronize].wrapper;
	EXPECT_EQ(synchronize(), 3);
	EXPECT_EQ(synchronize(), 3);
}
