/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analyzer/json_writer.h"
#include "analyzer/launch.h"
#include "analyzer/probe.h"
#include "analyzer/render.h"
#include "analyzer/sizes.h"
#include "analyzer/version.h"
#include "formats/settings_table.h"

enum health { HEALTH_OK, HEALTH_INFO, HEALTH_WARN, HEALTH_FAIL };

struct finding {
	enum health health;
	char *text;
};

static struct finding found(enum health health, char *text)
{
	return (struct finding){health, text};
}

static struct finding look_machine(const struct ga_options *options)
{
	struct utsname name;
	if (uname(&name) != 0)
		return found(HEALTH_WARN, ga_format("unknown: %s", strerror(errno)));
	bool known = strcmp(name.machine, "x86_64") == 0;
	return found(known ? HEALTH_OK : HEALTH_FAIL,
	    ga_format("Linux %s on %s, glibc %s, %ld CPUs%s", name.release, name.machine,
		gnu_get_libc_version(), sysconf(_SC_NPROCESSORS_ONLN),
		known ? "" : "; the recorder is for x86_64"));
}

static struct finding look_recorder(const struct ga_options *options)
{
	char *path = ga_launch_find("../lib/libgpushim.so");
	if (!path)
		return found(HEALTH_FAIL,
		    ga_xstrdup("libgpushim.so is not beside the folder of this program; build "
			       "it with make lib, or install again"));
	bool readable = access(path, R_OK) == 0;
	struct finding finding = found(readable ? HEALTH_OK : HEALTH_FAIL,
	    ga_format("%s%s", path, readable ? "" : " cannot be read"));
	free(path);
	return finding;
}

static struct finding look_standin(const struct ga_options *options)
{
	char *path = ga_launch_find("../lib/gpushim/dryrun/libgpushim-audit.so");
	struct finding finding =
	    path ? found(HEALTH_OK,
		       ga_xstrdup("ready: gpushim dryrun works here. Memory that its "
				  "driver, cuDNN and NCCL take for themselves is a guess"))
		 : found(HEALTH_INFO,
		       ga_xstrdup("not built: gpushim dryrun will refuse; make headers dryrun"));
	free(path);
	return finding;
}

static struct finding look_driver(const struct ga_options *options)
{
	struct ga_probe probe;
	ga_probe_driver(&probe);
	struct finding finding = {HEALTH_OK, NULL};
	if (probe.state == GA_PROBE_ABSENT)
		finding = found(
		    HEALTH_INFO, ga_xstrdup("no CUDA driver (libcuda.so.1): gpushim run "
					    "records nothing here, gpushim dryrun needs none"));
	else if (probe.state == GA_PROBE_TIMEOUT)
		finding =
		    found(HEALTH_FAIL, ga_xstrdup("the CUDA driver does not answer within 20 s"));
	else if (probe.state == GA_PROBE_FAILED)
		finding = found(
		    HEALTH_WARN, ga_format("the CUDA driver is there but fails: %s", probe.text));
	else
		finding = found(HEALTH_OK, ga_xstrdup(probe.text));
	return finding;
}

static struct finding look_torch(const struct ga_options *options)
{
	const char *python = options->values[GA_OPTION_PYTHON];
	struct ga_probe probe;
	ga_probe_torch(python ? python : "python3", &probe);
	if (probe.state == GA_PROBE_FOUND && strstr(probe.text, "without CUDA"))
		return found(HEALTH_WARN, ga_format("%s: there is nothing to record", probe.text));
	if (probe.state == GA_PROBE_FOUND)
		return found(HEALTH_OK, ga_xstrdup(probe.text));
	return found(python ? HEALTH_FAIL : HEALTH_INFO,
	    ga_format("%s%s%s", probe.text[0] ? probe.text : "no PyTorch found",
		python ? "" : "; name another Python with --python FILE", ""));
}

static struct finding look_cupti(const struct ga_options *options)
{
	return found(HEALTH_INFO,
	    ga_xstrdup("not used: device times of kernels are not recorded, only calls of the "
		       "host"));
}

static struct finding look_folder(const struct ga_options *options)
{
	struct statvfs disk;
	char free_text[GA_SIZE_TEXT];
	if (access(".", W_OK | X_OK) != 0)
		return found(HEALTH_WARN, ga_format("traces cannot be written to this folder "
						    "(%s); set GPUSHIM_OUTPUT or use -o",
					      strerror(errno)));
	if (statvfs(".", &disk) != 0)
		return found(HEALTH_WARN, ga_format("unknown free space: %s", strerror(errno)));
	uint64_t bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	bool enough = bytes >= UINT64_C(1) << 30;
	return found(enough ? HEALTH_OK : HEALTH_WARN,
	    ga_format("%s free for traces%s", ga_size_text(bytes, free_text),
		enough ? "" : ": long recordings may stop early"));
}

static bool is_setting(const char *entry, size_t length)
{
#define S(id, name, kind, value, values, help) \
	if (strlen(name) == length && strncmp(entry, name, length) == 0) \
		return true;
	GF_SETTINGS(S)
#undef S
	return false;
}

static struct finding look_environment(const struct ga_options *options)
{
	extern char **environ;
	const char *preload = getenv("LD_PRELOAD");
	for (char **entry = environ; *entry; entry++) {
		size_t length = strcspn(*entry, "=");
		bool ours = strncmp(*entry, GF_SETTINGS_PREFIX, strlen(GF_SETTINGS_PREFIX)) == 0;
		bool foreign = strncmp(*entry, GF_SETTINGS_FOREIGN_PREFIX,
				   strlen(GF_SETTINGS_FOREIGN_PREFIX)) == 0;
		if (ours && !foreign && !is_setting(*entry, length))
			return found(HEALTH_WARN,
			    ga_format(
				"%.*s is no setting of the recorder; see gpushim help environment",
				(int)length, *entry));
	}
	if (preload && *preload)
		return found(HEALTH_INFO, ga_format("LD_PRELOAD is set and is kept: %s", preload));
	return found(HEALTH_OK, ga_xstrdup("no variable in the way"));
}

static struct finding look_unseen(const struct ga_options *options)
{
	return found(HEALTH_INFO,
	    ga_xstrdup("memory that the driver uses for itself (context, modules), other "
		       "processes, statically linked and setuid programs"));
}

/* L(name, words): each is one line of the answer, in order */
#define LOOKS(L) \
	L(machine, "machine") \
	L(recorder, "recorder") \
	L(standin, "stand-in GPU") \
	L(driver, "driver and devices") \
	L(torch, "PyTorch") \
	L(cupti, "CUPTI") \
	L(folder, "folder and disk") \
	L(environment, "environment") \
	L(unseen, "never seen")

static const struct {
	const char *name, *words;
	struct finding (*look)(const struct ga_options *options);
} looks[] = {
#define L(name, words) {#name, words, look_##name},
    LOOKS(L)
#undef L
};
#define LOOK_COUNT (sizeof(looks) / sizeof(*looks))

static void put_text(const struct ga_page *page, const char *words, const struct finding *finding)
{
	static const char *const marks[] = {"ok", "note", "warn", "FAIL"};
	static const enum ga_style styles[] = {GA_GOOD, GA_DIM, GA_WARN, GA_BAD};
	char *bullet = ga_format("%-5s%-20s", marks[finding->health], words);
	fputs(ga_style(page, styles[finding->health]), page->out);
	ga_paragraph(page, bullet, finding->text);
	fputs(ga_style(page, GA_PLAIN), page->out);
	free(bullet);
}

static void put_json(struct ga_json *json, size_t index, const struct finding *finding)
{
	static const char *const names[] = {"ok", "info", "warn", "fail"};
	ga_json_object(json, NULL);
	ga_json_string(json, "name", looks[index].name);
	ga_json_string(json, "status", names[finding->health]);
	ga_json_string(json, "text", finding->text);
	ga_json_object_end(json);
}

int ga_cmd_doctor(const struct ga_options *options)
{
	struct ga_page page;
	bool as_json = ga_option_given(options, GA_OPTION_JSON), failed = false;
	if (!ga_page_open(&page, options))
		return GA_EXIT_FAILED;
	struct ga_json json = {.out = page.out};
	if (as_json) {
		ga_json_object(&json, NULL);
		ga_json_string(&json, "schema", "gpushim.doctor/1");
		ga_json_string(&json, "version", GA_VERSION);
		ga_json_list(&json, "checks");
	}
	for (size_t i = 0; i < LOOK_COUNT; i++) {
		struct finding finding = looks[i].look(options);
		failed |= finding.health == HEALTH_FAIL;
		if (as_json)
			put_json(&json, i, &finding);
		else
			put_text(&page, looks[i].words, &finding);
		free(finding.text);
	}
	if (as_json) {
		ga_json_list_end(&json);
		ga_json_bool(&json, "usable", !failed);
		ga_json_object_end(&json);
	}
	return ga_page_close(&page) && !failed ? GA_EXIT_OK : GA_EXIT_FAILED;
}
