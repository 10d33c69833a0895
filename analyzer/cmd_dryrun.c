/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analyzer/explain.h"
#include "analyzer/gpus.h"
#include "analyzer/launch.h"
#include "analyzer/render.h"
#include "analyzer/safe_text.h"
#include "analyzer/sizes.h"

#define MEMORY_DEFAULT (UINT64_C(24) << 30)
#define DEVICES_MOST 64
#define STATE_BYTES (UINT64_C(2) << 20) /* what the stand-in shares takes about half of it */

/* What the options ask of the stand-in; checked before anything is started. */
struct standin {
	const struct ga_gpu *gpu; /* NULL: a generic card of `memory_bytes` */
	uint64_t memory_bytes, context_bytes;
	unsigned count;
	char clock[GA_SIZE_TEXT];
	char *times; /* owned; NULL: none */
	char *folder; /* of its libraries */
	char *shared; /* state file that all processes share */
	char *notes;  /* file of what is to be explained, or NULL */
};

/* A figure of the table; what the card does not have is a dash. */
static void rate_cell(struct ga_table *table, uint64_t value, double unit, int decimals)
{
	if (value)
		ga_cell(table, "%.*f", decimals, (double)value / unit);
	else
		ga_cell(table, "-");
}

static int list_gpus(const struct ga_options *options)
{
	static const char *const names[] = {"name", "card", "memory MiB", "context MiB", "SMs",
	    "cc", "memory GB/s", "PCIe GB/s", "NVLink GB/s", "fp32 TF", "tf32 TF", "fp16 TF"};
	struct ga_page page;
	struct ga_table table = {
	    .columns = sizeof(names) / sizeof(*names), .left = 1 << 1, .least = 3};
	if (!ga_page_open(&page, options))
		return GA_EXIT_FAILED;
	unsigned width = page.width;
	if (!getenv("COLUMNS") && !isatty(STDOUT_FILENO))
		page.width = UINT_MAX; /* a program reads on: every column */
	for (unsigned i = 0; i < table.columns; i++)
		ga_cell(&table, "%s", names[i]);
	for (unsigned i = 0; i < ga_gpu_count; i++) {
		const struct ga_gpu *g = &ga_gpu_models[i];
		ga_cell(&table, "%s", g->name);
		ga_cell(&table, "%s", g->marketing_name);
		ga_cell(&table, "%" PRIu64, g->memory_bytes >> 20);
		ga_cell(&table, "%" PRIu64, g->context_bytes >> 20);
		ga_cell(&table, "%u", g->sm_count);
		ga_cell(&table, "%u.%u", g->major, g->minor);
		rate_cell(&table, g->bandwidth, 1e9, 0);
		rate_cell(&table, g->pcie, 1e9, 0);
		rate_cell(&table, g->nvlink, 1e9, 0);
		rate_cell(&table, g->fp32, 1e12, 1);
		rate_cell(&table, g->tf32, 1e12, 1);
		rate_cell(&table, g->fp16, 1e12, 1);
	}
	ga_table_print(&page, &table);
	page.width = width;
	fputc('\n', page.out);
	ga_paragraph(&page, "",
	    "memory: total as the card reports it. context: estimate of what the driver keeps for "
	    "itself before the first allocation; --context SIZE sets another figure. Rates: data "
	    "sheets, one direction, dense arithmetic.");
	return ga_page_close(&page) ? GA_EXIT_OK : GA_EXIT_FAILED;
}

static int wrong(const char *option, const char *wanted, const char *got)
{
	ga_say("%s needs %s, not '%s'", option, wanted, got);
	return GA_EXIT_USAGE;
}

static int read_card(const struct ga_options *options, struct standin *standin)
{
	const char *name = options->values[GA_OPTION_GPU];
	if (name && ga_option_given(options, GA_OPTION_MEMORY)) {
		ga_say("--gpu and --memory exclude each other");
		return GA_EXIT_USAGE;
	}
	standin->gpu = name ? ga_gpu_find(name) : NULL;
	if (name && !standin->gpu)
		return wrong("--gpu", "a name that gpushim dryrun --gpu list prints", name);
	standin->memory_bytes =
	    standin->gpu ? standin->gpu->memory_bytes
			 : ga_option_size(options, GA_OPTION_MEMORY, MEMORY_DEFAULT);
	if (standin->memory_bytes == 0)
		return wrong("--memory", "more than 0 bytes", options->values[GA_OPTION_MEMORY]);
	standin->context_bytes = ga_option_size(
	    options, GA_OPTION_CONTEXT, standin->gpu ? standin->gpu->context_bytes : 0);
	if (standin->context_bytes >= standin->memory_bytes)
		return wrong("--context", "less than the device's memory",
		    options->values[GA_OPTION_CONTEXT]);
	return GA_EXIT_OK;
}

/* The program may change its folder before it starts the device. */
static int read_times(const char *path, struct standin *standin)
{
	if (!path)
		return GA_EXIT_OK;
	if (strcmp(standin->clock, "instant") == 0)
		return wrong("--times", "a clock beside it, such as --clock model", path);
	standin->times = access(path, R_OK) == 0 ? realpath(path, NULL) : NULL;
	return standin->times ? GA_EXIT_OK : wrong("--times", "a file that can be read", path);
}

static int read_rest(const struct ga_options *options, struct standin *standin)
{
	const char *clock = options->values[GA_OPTION_CLOCK];
	uint64_t number = ga_option_size(options, GA_OPTION_GPUS, 1);
	if (number < 1 || number > DEVICES_MOST)
		return wrong("--gpus", "a number from 1 to 64", options->values[GA_OPTION_GPUS]);
	standin->count = (unsigned)number;
	if (!clock || strcmp(clock, "instant") == 0 || strcmp(clock, "model") == 0)
		snprintf(standin->clock, sizeof(standin->clock), "%s", clock ? clock : "instant");
	else if (ga_duration_parse(clock, &number))
		snprintf(standin->clock, sizeof(standin->clock), "%" PRIu64, number);
	else
		return wrong("--clock", "instant, model or a duration such as 500us", clock);
	return read_times(options->values[GA_OPTION_TIMES], standin);
}

/* The stand-in's libraries, or a message. */
static char *find_libraries(void)
{
	char *folder = ga_launch_find("../lib/gpushim/dryrun");
	char *audit = folder ? ga_format("%s/libgpushim-audit.so", folder) : NULL;
	if (audit && access(audit, R_OK) == 0) {
		free(audit);
		return folder;
	}
	ga_say(
	    "the stand-in GPU is not built: there is no ../lib/gpushim/dryrun beside the folder of "
	    "this program; build it with make headers dryrun, or install again");
	free(audit);
	free(folder);
	return NULL;
}

static void describe_device(struct ga_launch *launch, const struct standin *standin)
{
	const struct ga_gpu *g = standin->gpu;
	if (!g) { /* the stand-in has defaults for everything else */
		ga_launch_set(launch, "GPUSHIM_DRYRUN_DEVICE", "total=%" PRIu64 ";context=%" PRIu64,
		    standin->memory_bytes, standin->context_bytes);
		return;
	}
	ga_launch_set(launch, "GPUSHIM_DRYRUN_DEVICE",
	    "name=%s;total=%" PRIu64 ";context=%" PRIu64 ";sm=%u;cc=%u.%u;bandwidth=%" PRIu64
	    ";pcie=%" PRIu64 ";nvlink=%" PRIu64 ";fp32=%" PRIu64 ";tf32=%" PRIu64 ";fp16=%" PRIu64,
	    g->marketing_name, standin->memory_bytes, standin->context_bytes, g->sm_count, g->major,
	    g->minor, g->bandwidth, g->pcie, g->nvlink, g->fp32, g->tf32, g->fp16);
}

/*
 * The audit library answers for NVIDIA's files; the library that clears blocks comes in front of
 * the recorder, which comes in front of what the caller preloads.
 */
static void set_libraries(struct ga_launch *launch, const struct standin *standin)
{
	struct ga_strings files = {0};
	ga_strings_add(&files, "%s/libgpushim-audit.so", standin->folder);
	ga_launch_prepend(launch, "LD_AUDIT", ':', &files);
	ga_strings_clear(&files);
	char *zero = ga_format("%s/libgpushim-zero.so", standin->folder);
	const char *preload = getenv("LD_PRELOAD");
	for (size_t i = 0; i < launch->names.count; i++)
		if (strcmp(launch->names.items[i], "LD_PRELOAD") == 0)
			preload = launch->values.items[i];
	bool more = preload && *preload;
	ga_launch_set(launch, "LD_PRELOAD", "%s%s%s", zero, more ? ":" : "", more ? preload : "");
	free(zero);
	/* Triton links its launchers with the driver that ldconfig lists, or with the one here. */
	ga_launch_set(launch, "TRITON_LIBCUDA_PATH", "%s", standin->folder);
}

/* Ask the stand-in, in this process, for what it counted and for what it could not provide. */
static int tell_standin(const struct ga_options *options, const struct standin *standin)
{
	const char *stats = options->values[GA_OPTION_STATS];
	char *path = ga_format("%s/libcuda.so.1", standin->folder);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int status = GA_EXIT_OK;
	if (!library)
		ga_say("cannot ask the stand-in GPU: %s", dlerror());
	free(path);
	int (*tell)(const char *, int) =
	    library ? (int (*)(const char *, int))dlsym(library, "gpushim_dryrun_tell") : NULL;
	int (*write_stats)(const char *, const char *) =
	    library
		? (int (*)(const char *, const char *))dlsym(library, "gpushim_dryrun_write_stats")
		: NULL;
	if (tell)
		tell(standin->shared, STDERR_FILENO);
	if (stats && (!write_stats || write_stats(standin->shared, stats) != 0)) {
		ga_say("cannot write the counts to %s", stats);
		status = GA_EXIT_FAILED;
	}
	return status;
}

/* In memory where there is room: containers may have next to none there. */
static char *make_state_file(void)
{
	struct statvfs room;
	char *path = ga_launch_temporary(true);
	if (path && statvfs(path, &room) == 0 && room.f_blocks &&
	    (uint64_t)room.f_bavail * room.f_frsize < STATE_BYTES) {
		unlink(path);
		free(path);
		path = ga_launch_temporary(false);
	}
	return path;
}

static int start(
    const struct ga_options *options, struct standin *standin, struct ga_launch *launch)
{
	bool record = !ga_option_given(options, GA_OPTION_NO_RECORD);
	int status = record ? ga_launch_record(launch, options) : GA_EXIT_OK;
	if (status != GA_EXIT_OK)
		return status;
	bool explain = ga_option_given(options, GA_OPTION_EXPLAIN);
	standin->shared = make_state_file();
	standin->notes = explain ? ga_launch_temporary(false) : NULL;
	if (!standin->shared || (explain && !standin->notes))
		return GA_EXIT_FAILED;
	set_libraries(launch, standin);
	describe_device(launch, standin);
	ga_launch_set(launch, "GPUSHIM_DRYRUN_COUNT", "%u", standin->count);
	ga_launch_set(launch, "GPUSHIM_DRYRUN_CLOCK", "%s", standin->clock);
	if (standin->times)
		ga_launch_set(launch, "GPUSHIM_DRYRUN_TIMES", "%s", standin->times);
	ga_launch_set(launch, "GPUSHIM_DRYRUN_SHARED", "%s", standin->shared);
	if (explain)
		ga_launch_set(launch, "GPUSHIM_DRYRUN_EXPLAIN", "%s", standin->notes);
	status = ga_launch_run(launch);
	ga_launch_tell(launch);
	int told = tell_standin(options, standin);
	if (explain)
		ga_explain(standin->notes, standin->folder, launch);
	unlink(standin->shared);
	if (explain)
		unlink(standin->notes);
	return status == 0 ? told : status;
}

int ga_cmd_dryrun(const struct ga_options *options)
{
	const char *gpu = options->values[GA_OPTION_GPU];
	struct ga_launch launch = {.program = options->arguments};
	struct standin standin = {0};
	if (gpu && strcmp(gpu, "list") == 0)
		return list_gpus(options);
	int status = read_card(options, &standin);
	if (status == GA_EXIT_OK)
		status = read_rest(options, &standin);
	if (status != GA_EXIT_OK)
		return status;
	if (options->argument_count == 0) {
		ga_say("dryrun needs a program: gpushim dryrun -- python train.py");
		return GA_EXIT_USAGE;
	}
	standin.folder = find_libraries();
	if (!standin.folder)
		return GA_EXIT_FAILED;
	status = start(options, &standin, &launch);
	ga_launch_free(&launch);
	free(standin.shared);
	free(standin.notes);
	free(standin.times);
	free(standin.folder);
	return status;
}
