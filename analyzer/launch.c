/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/launch.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/child.h"
#include "analyzer/safe_text.h"
#include "analyzer/sizes.h"
#include "formats/journal_fold.h"
#include "formats/settings_table.h"

void ga_launch_set(struct ga_launch *launch, const char *name, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	ga_strings_add(&launch->names, "%s", name);
	ga_strings_take(&launch->values, ga_format_list(format, arguments));
	va_end(arguments);
}

/* What the program will find: what was set last, else what we have. */
static const char *value_of(const struct ga_launch *launch, const char *name)
{
	for (size_t i = launch->names.count; i-- > 0;)
		if (strcmp(launch->names.items[i], name) == 0)
			return launch->values.items[i];
	return getenv(name);
}

/* Whether `list`, entries separated by colons or spaces, has this very entry. */
static bool has_entry(const char *list, const char *entry)
{
	size_t length = strlen(entry);
	while (*list) {
		size_t item = strcspn(list, ": ");
		if (item == length && strncmp(list, entry, length) == 0)
			return true;
		list += item + (list[item] != 0);
	}
	return false;
}

void ga_launch_prepend(
    struct ga_launch *launch, const char *name, char separator, const struct ga_strings *files)
{
	const char *before = getenv(name);
	char *list = ga_xstrdup(before ? before : "");
	for (size_t i = files->count; i-- > 0;) {
		if (has_entry(list, files->items[i]))
			continue;
		char *longer = *list ? ga_format("%s%c%s", files->items[i], separator, list)
				     : ga_xstrdup(files->items[i]);
		free(list);
		list = longer;
	}
	ga_launch_set(launch, name, "%s", list);
	free(list);
}

void ga_launch_free(struct ga_launch *launch)
{
	if (launch->trace_list)
		unlink(launch->trace_list);
	free(launch->trace_list);
	free(launch->user_list);
	ga_strings_clear(&launch->names);
	ga_strings_clear(&launch->values);
}

char *ga_launch_find(const char *relative)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length <= 0)
		return NULL;
	self[length] = 0;
	*strrchr(self, '/') = 0;
	char *path = ga_format("%s/%s", self, relative);
	char *real = realpath(path, NULL);
	free(path);
	return real;
}

char *ga_launch_temporary(bool shared)
{
	const char *folder = getenv("TMPDIR");
	char *path = NULL;
	int fd = -1;
	if (shared) {
		path = ga_xstrdup("/dev/shm/gpushim-XXXXXX");
		fd = mkostemp(path, O_CLOEXEC);
	}
	if (fd < 0) {
		free(path);
		path = ga_format("%s/gpushim-XXXXXX", folder && *folder ? folder : "/tmp");
		fd = mkostemp(path, O_CLOEXEC);
	}
	if (fd < 0) {
		ga_say("cannot make a temporary file %s: %s; set TMPDIR", path, strerror(errno));
		free(path);
		return NULL;
	}
	close(fd);
	return path;
}

/* ---- what the recorder is told ---- */

static bool is_folder(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A device, pipe or socket. */
static bool is_special(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* What makes a path absolute: the current folder, or "" where it is absolute already.  free() it. */
static char *folder_before(const char *path)
{
	char folder[PATH_MAX];
	if (*path == '/' || !getcwd(folder, sizeof(folder)))
		return ga_xstrdup("");
	return ga_format("%s/", folder);
}

/* A name as a part of a path pattern that means this name.  free() it. */
static char *pattern_of(const char *name)
{
	char *pattern = ga_xalloc(2 * strlen(name) + 1, 1), *end = pattern;
	for (; *name; name++) {
		*end++ = *name;
		if (*name == '%')
			*end++ = '%';
	}
	return pattern;
}

/*
 * An old trace makes way: FILE becomes FILE.old, its leftover journal FILE.old.journal, unless that is
 * part of it by then.  Not one that is being written: its process would go on under the old name.
 */
static bool set_aside(const char *path)
{
	static const char *const suffixes[] = {"", ".journal"};
	struct gf_error error;
	if (gf_journal_fold(path, &error) == GF_USAGE) {
		ga_say("%s is in use: %s; name another file with -o", path, error.text);
		return false;
	}
	for (size_t i = 0; i < 2; i++) {
		char *from = ga_format("%s%s", path, suffixes[i]);
		char *to = ga_format("%s.old%s", path, suffixes[i]);
		if (rename(from, to) != 0 && errno != ENOENT)
			ga_say("cannot rename %s to %s: %s", from, to, strerror(errno));
		free(from);
		free(to);
	}
	return true;
}

/* Make a folder and those around it.  Returns whether it is there. */
static bool make_folder(char *path)
{
	for (char *c = path + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = 0;
		mkdir(path, 0777);
		*c = '/';
	}
	return is_folder(path);
}

static int set_output(struct ga_launch *launch, const char *path)
{
	size_t length = strlen(path);
	if (length == 0) {
		ga_say("--output needs a path");
		return GA_EXIT_USAGE;
	}
	/* The program may change its folder: it gets an absolute path. */
	char *folder_name = folder_before(path), *full = ga_format("%s%s", folder_name, path);
	if (path[length - 1] == '/' && !make_folder(full)) {
		ga_say("cannot make the folder %s: %s", path, strerror(errno));
		free(folder_name);
		free(full);
		return GA_EXIT_FAILED;
	}
	bool folder = is_folder(full);
	bool named = length > 4 && strcmp(path + length - 4, ".gst") == 0;
	const char *suffix = folder || named ? "" : ".gst";
	char *trace = ga_format("%s%s", full, suffix), *pattern = pattern_of(folder_name);
	bool special = is_special(full) || is_special(trace), good = !special;
	if (special)
		ga_say("%s is a device or a pipe, and a trace needs a file", path);
	else if (!folder)
		good = set_aside(trace);
	ga_launch_set(launch, "GPUSHIM_OUTPUT", "%s%s%s", pattern, path, suffix);
	free(pattern);
	free(trace);
	free(folder_name);
	free(full);
	return good ? GA_EXIT_OK : GA_EXIT_USAGE;
}

static bool setting_exists(const char *name)
{
#define S(id, variable, kind, value, values, help) \
	if (strcmp(name, variable) == 0) \
		return true;
	GF_SETTINGS(S)
#undef S
	return false;
}

/* Whether `list`, names with '|' between them, has the `length` bytes at `word`. */
static bool is_value(const char *list, const char *word, size_t length)
{
	for (; *list; list += strcspn(list, "|"), list += *list == '|')
		if (strcspn(list, "|") == length && strncmp(list, word, length) == 0)
			return true;
	return false;
}

/* Whether the recorder will take the value. */
static bool value_fits(const char *kind, const char *values, const char *text)
{
	uint64_t bytes;
	if (strcmp(kind, "SIZE") == 0)
		return ga_size_parse(text, &bytes);
	if (strcmp(kind, "SWITCH") == 0)
		return strcmp(text, "0") == 0 || strcmp(text, "1") == 0;
	if (strcmp(kind, "CHOICE") == 0)
		return is_value(values, text, strlen(text));
	for (bool list = strcmp(kind, "LIST") == 0; list && *text;) {
		size_t length = strcspn(text, ",");
		if (!is_value(values, text, length))
			return false;
		text += length + (text[length] == ',');
	}
	return true;
}

static bool setting_fits(const char *name, const char *text)
{
#define S(id, variable, kind, value, values, help) \
	if (strcmp(name, variable) == 0 && !value_fits(#kind, values, text)) { \
		ga_say("%s cannot be '%s'%s%s; see gpushim help environment", name, text, \
		    *values ? ", only " : "", values); \
		return false; \
	}
	GF_SETTINGS(S)
#undef S
	return true;
}

/* --set NAME=VALUE; NAME as in the environment or short: stacks, STACKS, GPUSHIM_STACKS. */
static int set_setting(struct ga_launch *launch, const char *text)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text) {
		ga_say("--set needs NAME=VALUE, not '%s'", text);
		return GA_EXIT_USAGE;
	}
	bool full = strncmp(text, GF_SETTINGS_PREFIX, strlen(GF_SETTINGS_PREFIX)) == 0;
	char *name =
	    ga_format("%s%.*s", full ? "" : GF_SETTINGS_PREFIX, (int)(equals - text), text);
	for (char *c = name; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	bool known = setting_exists(name);
	bool fits = known && setting_fits(name, equals + 1);
	if (fits)
		ga_launch_set(launch, name, "%s", equals + 1);
	else if (!known)
		ga_say("there is no setting %s; see gpushim help environment", name);
	free(name);
	return fits ? GA_EXIT_OK : GA_EXIT_USAGE;
}

int ga_launch_record(struct ga_launch *launch, const struct ga_options *options)
{
	const char *output = options->values[GA_OPTION_TRACE];
	struct ga_strings files = {0};
	char *library = ga_launch_find("../lib/libgpushim.so");
	if (!library) {
		ga_say("lib/libgpushim.so is not beside the folder of this program; build it with "
		       "make lib, or install again");
		return GA_EXIT_FAILED;
	}
	ga_strings_take(&files, library);
	ga_launch_prepend(launch, "LD_PRELOAD", ':', &files);
	ga_strings_clear(&files);
	int status = output ? set_output(launch, output) : GA_EXIT_OK;
	for (int i = 0; i < options->set_count && status == GA_EXIT_OK; i++)
		status = set_setting(launch, options->sets[i]);
	if (status != GA_EXIT_OK)
		return status;
	launch->trace_list = ga_launch_temporary(false);
	if (!launch->trace_list)
		return GA_EXIT_FAILED;
	const char *list = value_of(launch, "GPUSHIM_TRACE_LIST");
	launch->user_list = list && *list ? ga_xstrdup(list) : NULL;
	ga_launch_set(launch, "GPUSHIM_TRACE_LIST", "%s", launch->trace_list);
	return GA_EXIT_OK;
}

/* ---- running ---- */

static volatile pid_t running; /* the program; read by the signal handler */

/* A signal that the terminal sent reached the whole group, the program included. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	(void)context;
	int saved = errno;
	if (running > 0 && info->si_code <= 0)
		kill(running, number);
	errno = saved;
}

static const int passed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};
#define PASSED (sizeof(passed) / sizeof(*passed))

/* Handle the signals, keeping the old actions; ignored ones stay ignored, as under nohup. */
static void handle_signals(struct sigaction *old)
{
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < PASSED; i++) {
		sigaction(passed[i], NULL, &old[i]);
		if (old[i].sa_handler != SIG_IGN)
			sigaction(passed[i], &action, NULL);
	}
}

static void restore_signals(const struct sigaction *old)
{
	for (size_t i = 0; i < PASSED; i++)
		sigaction(passed[i], &old[i], NULL);
}

static void run_child(
    const struct ga_launch *launch, const struct sigaction *old, const sigset_t *mask)
{
	restore_signals(old);
	sigprocmask(SIG_SETMASK, mask, NULL);
	for (size_t i = 0; i < launch->names.count; i++)
		setenv(launch->names.items[i], launch->values.items[i], 1);
	execvp(launch->program[0], launch->program);
	int why = errno;
	ga_say("cannot start %s: %s", launch->program[0], strerror(why));
	_exit(why == ENOENT ? 127 : 126);
}

static int failed_run(const char *what)
{
	ga_say("%s: %s", what, strerror(errno));
	return GA_EXIT_FAILED;
}

int ga_launch_run(struct ga_launch *launch)
{
	struct sigaction old[PASSED], old_child;
	sigset_t all, mask;
	int status = 0;
	sigfillset(&all);
	fflush(NULL);
	/* Blocked until `running` is known, so that no early signal is lost. */
	sigprocmask(SIG_BLOCK, &all, &mask);
	handle_signals(old);
	ga_child_keep(&old_child);
	pid_t child = fork();
	if (child == 0) {
		sigaction(SIGCHLD, &old_child, NULL);
		run_child(launch, old, &mask);
	}
	running = child;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	bool learned = child > 0 && ga_child_wait(child, &status);
	running = 0;
	restore_signals(old);
	sigaction(SIGCHLD, &old_child, NULL);
	if (!learned)
		return failed_run(child < 0 ? "cannot start a process"
					    : "cannot learn how the program ended");
	launch->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	launch->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	return launch->status;
}

/* Signals that end programs in practice; others are told by number alone. */
#define SIGNALS(S) \
	S(SIGHUP) S(SIGINT) S(SIGQUIT) S(SIGILL) S(SIGABRT) S(SIGBUS) S(SIGFPE) S(SIGKILL) \
	S(SIGSEGV) S(SIGPIPE) S(SIGALRM) S(SIGTERM) S(SIGXCPU) S(SIGXFSZ)

/* "the program was killed by signal 9 (SIGKILL); ", "" if it was not.  free() it. */
static char *killed_text(int number)
{
	const char *name = NULL;
#define S(signal) \
	if (number == signal) \
		name = #signal;
	SIGNALS(S)
#undef S
	if (!number)
		return ga_xstrdup("");
	return ga_format("the program was killed by signal %d%s%s%s; ", number, name ? " (" : "",
	    name ? name : "", name ? ")" : "");
}

/* A line of the list of traces becomes the name it stands for: \012 is a newline, \134 a backslash.
 */
static void list_line_decode(char *line)
{
	char *to = line;
	for (const char *from = line; *from && *from != '\n';) {
		bool newline = strncmp(from, "\\012", 4) == 0;
		if (newline || strncmp(from, "\\134", 4) == 0) {
			*to++ = newline ? '\n' : '\\';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = 0;
}

/* Who asked for a list of traces gets it, although the recorder writes to ours. */
static void pass_line(const struct ga_launch *launch, const char *line)
{
	FILE *out = launch->user_list ? fopen(launch->user_list, "ae") : NULL;
	bool written = out && fputs(line, out) >= 0;
	if (out && fclose(out) != 0)
		written = false;
	if (launch->user_list && !written)
		ga_say("cannot write to GPUSHIM_TRACE_LIST=%s: %s", launch->user_list,
		    strerror(errno));
}

void ga_launch_tell(const struct ga_launch *launch)
{
	FILE *list = launch->trace_list ? fopen(launch->trace_list, "re") : NULL;
	char *line = NULL;
	size_t capacity = 0;
	bool any = false, refused = false;
	if (!list)
		return;
	char *killed = killed_text(launch->signal);
	while (getline(&line, &capacity, list) > 0) {
		pass_line(launch, line);
		refused |= *line == GF_LIST_REFUSED;
		if (*line == GF_LIST_REFUSED)
			continue;
		list_line_decode(line);
		gf_journal_fold(line, NULL); /* else the journal stays and readers take both */
		ga_say("%strace in %s", any ? "" : killed, line);
		any = true;
	}
	if (!any && refused)
		ga_say("%sno trace: the recorder could not write one; it said why above", killed);
	else if (!any && launch->status != 126 && launch->status != 127)
		ga_say("%sno trace: no process recorded a use of CUDA; gpushim doctor tells "
		       "what can be recorded here",
		    killed);
	free(killed);
	free(line);
	fclose(list);
}
