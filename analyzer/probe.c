/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/child.h"
#include "analyzer/sizes.h"

#define PATIENCE_MS 20000

static long now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Read the child's answer; false if it takes too long. */
static bool read_answer(int fd, char *text, size_t bytes)
{
	size_t used = 0;
	long end = now_ms() + PATIENCE_MS;
	while (used + 1 < bytes) {
		long left = end - now_ms();
		struct pollfd waiting = {.fd = fd, .events = POLLIN};
		if (left <= 0 || poll(&waiting, 1, (int)left) == 0)
			return false;
		ssize_t count = read(fd, text + used, bytes - used - 1);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		used += (size_t)count;
	}
	text[used] = 0;
	while (used && text[used - 1] == '\n')
		text[--used] = 0;
	return true;
}

/* Run `ask(argument)` in a child whose standard output is the answer; its exit code is the state.
 */
static void ask_child(void (*ask)(const char *), const char *argument, struct ga_probe *probe)
{
	int ends[2], status = 0;
	struct sigaction old;
	*probe = (struct ga_probe){.state = GA_PROBE_FAILED};
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	fflush(NULL);
	ga_child_keep(&old);
	pid_t child = fork();
	if (child == 0) {
		sigaction(SIGCHLD, &old, NULL);
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(ends[1], STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		ask(argument);
		fflush(stdout);
		_exit(GA_PROBE_FAILED);
	}
	close(ends[1]);
	bool answered = child > 0 && read_answer(ends[0], probe->text, sizeof(probe->text));
	close(ends[0]);
	if (child > 0 && !answered)
		kill(child, SIGKILL);
	bool learned = child > 0 && ga_child_wait(child, &status);
	sigaction(SIGCHLD, &old, NULL);
	if (!learned)
		return;
	if (!answered)
		probe->state = GA_PROBE_TIMEOUT;
	else if (WIFSIGNALED(status))
		snprintf(probe->text, sizeof(probe->text), "killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) <= GA_PROBE_TIMEOUT)
		probe->state = (enum ga_probe_state)WEXITSTATUS(status);
}

static void answer(enum ga_probe_state state)
{
	fflush(stdout);
	_exit(state);
}

/* ---- driver ---- */

/* The few functions of the driver that are asked, as cuda.h declares them. */
struct driver {
	int (*init)(unsigned flags);
	int (*version)(int *version);
	int (*count)(int *count);
	int (*get)(int *device, int ordinal);
	int (*name)(char *name, int bytes, int device);
	int (*total)(size_t *bytes, int device);
};

static bool find_functions(void *library, struct driver *driver)
{
	driver->init = (int (*)(unsigned))dlsym(library, "cuInit");
	driver->version = (int (*)(int *))dlsym(library, "cuDriverGetVersion");
	driver->count = (int (*)(int *))dlsym(library, "cuDeviceGetCount");
	driver->get = (int (*)(int *, int))dlsym(library, "cuDeviceGet");
	driver->name = (int (*)(char *, int, int))dlsym(library, "cuDeviceGetName");
	driver->total = (int (*)(size_t *, int))dlsym(library, "cuDeviceTotalMem_v2");
	return driver->init && driver->version && driver->count && driver->get && driver->name &&
	       driver->total;
}

static void ask_driver(const char *unused)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	struct driver driver;
	int version = 0, count = 0, device, error;
	if (!library)
		answer(GA_PROBE_ABSENT);
	if (!find_functions(library, &driver)) {
		printf("libcuda.so.1 lacks functions of CUDA 10 and later");
		answer(GA_PROBE_FAILED);
	}
	if ((error = driver.init(0)) != 0 || driver.version(&version) != 0 ||
	    driver.count(&count) != 0) {
		printf("cuInit answers %d", error);
		answer(GA_PROBE_FAILED);
	}
	printf("CUDA %d.%d, %d device%s", version / 1000, version % 1000 / 10, count,
	    count == 1 ? "" : "s");
	for (int i = 0; i < count; i++) {
		char name[128] = "?", size[GA_SIZE_TEXT];
		size_t bytes = 0;
		if (driver.get(&device, i) == 0 && driver.name(name, sizeof(name), device) == 0 &&
		    driver.total(&bytes, device) == 0)
			printf("; %d: %s, %s", i, name, ga_size_text(bytes, size));
	}
	answer(GA_PROBE_FOUND);
}

void ga_probe_driver(struct ga_probe *probe)
{
	ask_child(ask_driver, NULL, probe);
}

/* ---- PyTorch ---- */

/*
 * Reads torch/version.py alone: importing torch takes seconds and may start CUDA.  The loader tells
 * which of NVIDIA's libraries are not there; a PyTorch without them runs on the stand-in only.
 */
/* clang-format off */
static const char torch_script[] =
    "import importlib.util, os, subprocess, sys\n"
    "spec = importlib.util.find_spec('torch')\n"
    "if not spec or not spec.origin:\n"
    "    print('no PyTorch in Python', sys.version.split()[0])\n"
    "    sys.exit(1)\n"
    "folder = os.path.dirname(spec.origin)\n"
    "facts = {}\n"
    "exec(open(os.path.join(folder, 'version.py')).read(), facts)\n"
    "cuda = facts.get('cuda')\n"
    "kind = 'for CUDA ' + cuda if cuda else 'without CUDA'\n"
    "python = sys.version.split()[0]\n"
    "print('PyTorch', facts.get('__version__'), kind + ', Python', python + ',', folder, end='')\n"
    "try:\n"
    "    listing = subprocess.run(['ldd', folder + '/lib/libtorch_cuda.so'], stdout=subprocess.PIPE,\n"
    "                             stderr=subprocess.DEVNULL).stdout.decode()\n"
    "except OSError:\n"
    "    listing = ''\n"
    "missing = dict.fromkeys(line.split()[0] for line in listing.splitlines() if line.endswith('not found'))\n"
    "if missing:\n"
    "    print('; not there is', ', '.join(missing) + ': it runs under gpushim dryrun only', end='')\n";
/* clang-format on */

static void ask_torch(const char *python)
{
	execlp(python, python, "-c", torch_script, (char *)NULL);
	printf("cannot start %s: %s", python, strerror(errno));
	answer(GA_PROBE_FAILED);
}

void ga_probe_torch(const char *python, struct ga_probe *probe)
{
	ask_child(ask_torch, python, probe);
}
