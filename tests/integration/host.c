/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small CUDA program for the tests of the recorder: reaches the driver in every way that programs
 * do and ends in every way that processes end.
 *
 *   host MODE [NUMBER [FILE]]
 *
 * Prints what it did as NAME=COUNT lines; with FILE it also keeps the counts of finished calls in
 * that file, shared memory that outlives any death.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long long address;

/* As a program linked with -lcuda has them; weak, so that it starts without any libcuda. */
#pragma weak cuMemAlloc_v2
#pragma weak cuMemFree_v2
int cuMemAlloc_v2(address *out, size_t bytes);
int cuMemFree_v2(address block);

static struct {
	int (*cuInit)(unsigned);
	int (*cuDevicePrimaryCtxRetain)(void **, int);
	int (*cuCtxSetCurrent)(void *);
	int (*cuCtxSynchronize)(void);
	int (*cuMemAlloc)(address *, size_t);
	int (*cuMemFree)(address);
	int (*cuMemcpyHtoD)(address, const void *, size_t);
	int (*cuMemsetD8)(address, unsigned char, size_t);
	int (*cuStreamSynchronize)(void *);
	int (*cuStreamSynchronizePerThread)(void *);
} cuda;

static struct counts {
	uint64_t allocs, frees, copies, memsets, waits;
} plain_counts, *counts = &plain_counts;

static void need(bool condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "host: failed: %s\n", what);
		exit(99);
	}
}

static void add(uint64_t *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

static void *ask(void *get, const char *name, int version, uint64_t flags)
{
	void *function = NULL;
	int status = -1;
	need(((int (*)(const char *, void **, int, uint64_t, int *))get)(name, &function, version,
		 flags, &status) == 0 && function, name);
	return function;
}

/* By the road of the runtime library: dlopen, dlsym, cuGetProcAddress with base names. */
static void load(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	need(driver, "libcuda.so.1");
	void *get = dlsym(driver, "cuGetProcAddress_v2");
	need(get, "cuGetProcAddress_v2");
	void *again = ask(get, "cuGetProcAddress", 12000, 0);
	need(again == get, "cuGetProcAddress asked by itself is the same");
	cuda.cuInit = dlsym(driver, "cuInit");
	cuda.cuDevicePrimaryCtxRetain = ask(get, "cuDevicePrimaryCtxRetain", 7000, 0);
	cuda.cuCtxSetCurrent = ask(get, "cuCtxSetCurrent", 4000, 0);
	cuda.cuCtxSynchronize = ask(get, "cuCtxSynchronize", 2000, 0);
	cuda.cuMemAlloc = ask(get, "cuMemAlloc", 3020, 0);
	cuda.cuMemFree = ask(get, "cuMemFree", 3020, 0);
	cuda.cuMemcpyHtoD = ask(get, "cuMemcpyHtoD", 3020, 0);
	cuda.cuMemsetD8 = ask(get, "cuMemsetD8", 3020, 0);
	cuda.cuStreamSynchronize = ask(get, "cuStreamSynchronize", 2000, 0);
	cuda.cuStreamSynchronizePerThread = ask(get, "cuStreamSynchronize", 7000, 2);
	need(cuda.cuInit && cuda.cuInit(0) == 0, "cuInit");
}

static void use_device(void)
{
	void *context;
	need(cuda.cuDevicePrimaryCtxRetain(&context, 0) == 0, "cuDevicePrimaryCtxRetain");
	need(cuda.cuCtxSetCurrent(context) == 0, "cuCtxSetCurrent");
}

static void cycle(void)
{
	address block;
	char bytes[64] = "";
	need(cuda.cuMemAlloc(&block, 4096) == 0, "cuMemAlloc");
	add(&counts->allocs);
	need(cuda.cuMemcpyHtoD(block, bytes, sizeof(bytes)) == 0, "cuMemcpyHtoD");
	add(&counts->copies);
	need(cuda.cuMemsetD8(block, 1, 4096) == 0, "cuMemsetD8");
	add(&counts->memsets);
	need(cuda.cuStreamSynchronize(NULL) == 0, "cuStreamSynchronize");
	add(&counts->waits);
	need(cuda.cuMemFree(block) == 0, "cuMemFree");
	add(&counts->frees);
}

static void cycles(long number)
{
	for (long i = 0; i < number; i++)
		cycle();
}

static void *thread_cycles(void *number)
{
	use_device();
	cycles((long)(intptr_t)number);
	return NULL;
}

static void pause_us(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};
	nanosleep(&t, NULL);
}

static void *thread_stays(void *number)
{
	thread_cycles(number);
	pause_us(1000000);
	return NULL;
}

static void *thread_for_ever(void *unused)
{
	use_device();
	for (;;)
		cycle();
	return NULL;
}

static void threads(long number, void *(*run)(void *), bool join)
{
	pthread_t *all = calloc((size_t)number, sizeof(*all));
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 * 1024);
	for (long i = 0; i < number; i++)
		need(pthread_create(&all[i], &attributes, run, (void *)(intptr_t)20) == 0,
		    "pthread_create");
	for (long i = 0; join && i < number; i++)
		pthread_join(all[i], NULL);
	if (join)
		free(all);
}

static void *killer(void *us)
{
	pause_us((long)(intptr_t)us);
	kill(getpid(), SIGKILL);
	return NULL;
}

static int child_status(pid_t child)
{
	int status = -1;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- modes ---- */

static void mode_nothing(long number)
{
}

static void mode_probe(long number) /* is there CUDA?  That is no use of it. */
{
	load();
}

static void mode_error(long number) /* a look-up that went well leaves no message */
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	need(driver, "libcuda.so.1");
	dlerror();
	need(dlsym(driver, "cuMemAlloc_v2"), "cuMemAlloc_v2");
	const char *message = dlerror();
	need(!message, message ? message : "");
}

static void *look_up(void *driver)
{
	need(dlsym(driver, "cuMemAlloc_v2"), "cuMemAlloc_v2");
	return NULL;
}

/* A thread looks functions up while a library is loaded whose constructor does so too. */
static void mode_constructor(long number)
{
	pthread_t thread;
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	need(driver && pthread_create(&thread, NULL, look_up, driver) == 0, "thread");
	struct timespec pause = {.tv_nsec = number * 1000};
	nanosleep(&pause, NULL);
	need(dlopen(getenv("HOST_LIBRARY"), RTLD_NOW), "HOST_LIBRARY");
	pthread_join(thread, NULL);
}

static void mode_cycles(long number)
{
	load();
	use_device();
	cycles(number);
	need(cuda.cuStreamSynchronizePerThread(NULL) == 0, "per-thread default stream");
	add(&counts->waits);
	need(cuda.cuCtxSynchronize() == 0, "cuCtxSynchronize");
	add(&counts->waits);
}

static void mode_linked(long number)
{
	load();
	use_device();
	address block;
	for (long i = 0; i < number; i++) {
		need(cuMemAlloc_v2 && cuMemAlloc_v2(&block, 512) == 0, "linked cuMemAlloc_v2");
		add(&counts->allocs);
		need(cuMemFree_v2(block) == 0, "linked cuMemFree_v2");
		add(&counts->frees);
	}
}

static void mode_threads(long number)
{
	load();
	threads(number, thread_cycles, true);
}

/* Each keeps its chunk of the journal. */
static void mode_threads_stay(long number)
{
	load();
	threads(number, thread_stays, true);
}

/* More threads one after the other than any table has slots. */
static void mode_many_threads(long number)
{
	load();
	for (long i = 0; i < number; i += 100)
		threads(100, thread_cycles, true);
}

static void mode_exit_busy(long number)
{
	load();
	threads(number, thread_for_ever, false);
	pause_us(100000);
	exit(5); /* while they record */
}

static void mode_fork(long number)
{
	pid_t child = fork();
	if (child == 0) { /* uses CUDA itself: a trace of its own */
		mode_cycles(3);
		memset(counts, 0, sizeof(*counts));
		printf("child=%d\n", (int)getpid());
		fflush(stdout);
		exit(6);
	}
	mode_cycles(number);
	need(child_status(child) == 6, "status of the child");
	child = fork();
	if (child == 0) { /* what the parent had is of no use to it: its calls fail */
		address block;
		exit(cuda.cuMemAlloc(&block, 4096) != 0 ? 8 : 9);
	}
	need(child_status(child) == 8, "CUDA after fork");
	cycles(number);
}

static void mode_fork_frees(long number)
{
	load();
	use_device();
	address block;
	need(cuda.cuMemAlloc(&block, 4096) == 0, "cuMemAlloc");
	add(&counts->allocs);
	pid_t child = fork();
	if (child == 0) {
		cuda.cuMemFree(block);
		exit(0);
	}
	need(child_status(child) == 0, "status of the child");
	need(cuda.cuMemFree(block) == 0, "cuMemFree");
	add(&counts->frees);
}

/* A child that no fork handler has seen. */
static void mode_clone(long number)
{
	mode_cycles(number);
	fflush(stdout);
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		address block;
		cuda.cuMemAlloc(&block, 4096);
		_exit(7);
	}
	need(child_status(child) == 7, "status of the child");
	cycles(number);
}

/* It does nothing; what is registered for the exit runs in it. */
static void mode_clone_exit(long number)
{
	mode_cycles(number);
	fflush(stdout);
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0)
		exit(7);
	need(child_status(child) == 7, "status of the child");
	cycles(number);
}

extern char **environ;

static void mode_spawn(long number)
{
	mode_cycles(number);
	char *arguments[] = {(char *)"true", NULL};
	pid_t child;
	need(posix_spawnp(&child, "true", NULL, NULL, arguments, environ) == 0, "posix_spawn");
	need(child_status(child) == 0, "spawned true");
	child = vfork();
	if (child == 0) {
		execlp("true", "true", (char *)NULL);
		_exit(1);
	}
	need(child_status(child) == 0, "vforked true");
	need(system("true") == 0, "system");
	cycles(number);
}

static void mode_exec(long number)
{
	mode_cycles(number);
	execlp("true", "true", (char *)NULL);
}

static void mode_underscore_exit(long number)
{
	mode_cycles(number);
	_exit(3);
}

static void mode_quick_exit(long number)
{
	mode_cycles(number);
	quick_exit(4);
}

static void mode_abort(long number)
{
	mode_cycles(number);
	abort();
}

static void mode_segv(long number)
{
	mode_cycles(number);
	volatile int *volatile nowhere = NULL;
	*nowhere = 1;
}

static void mode_kill(long number) /* after NUMBER microseconds */
{
	load();
	use_device();
	pthread_t thread;
	need(pthread_create(&thread, NULL, killer, (void *)(intptr_t)number) == 0, "killer");
	for (;;)
		cycle();
}

static void mode_kill_threads(long number)
{
	load();
	use_device();
	pthread_t thread;
	need(pthread_create(&thread, NULL, killer, (void *)(intptr_t)number) == 0, "killer");
	threads(3, thread_for_ever, false);
	for (;;)
		pause();
}

static void mode_reopen(long number)
{
	load();
	use_device();
	for (long i = 0; i < number; i++) {
		void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
		need(dlsym(driver, "cuMemFree_v2") != NULL, "dlsym");
		need(dlsym(driver, "cuNoSuchFunction") == NULL && dlerror(), "dlerror");
		dlclose(driver);
		cycle();
	}
}

static void mode_slow(long number) /* for NUMBER milliseconds, for tests that look at it meanwhile */
{
	load();
	use_device();
	for (long i = 0; i < number; i++) {
		cycle();
		pause_us(1000);
	}
}

/* Closes every descriptor, as daemons do, and has files of its own under the numbers. */
static void mode_close_all(long number)
{
	enum { FILES = 1200 }; /* more than the numbers that the recorder uses */
	load();
	use_device();
	cycle();
	char path[] = "/tmp/gpushim-host-XXXXXX";
	for (int fd = 3; fd < 2048; fd++)
		close(fd);
	int own = mkstemp(path);
	need(own >= 0 && write(own, "own", 3) == 3, path);
	for (int i = 0; i < FILES && dup(own) >= 0; i++)
		continue;
	struct timespec pause = {.tv_nsec = 1000};
	for (long i = 0; i < number; i++) {
		cycle();
		if (i % 64 == 0)
			nanosleep(&pause, NULL);
	}
	need(lseek(own, 0, SEEK_END) == 3, "nobody else writes to the file of the program");
	unlink(path);
}

static const struct {
	const char *name;
	void (*run)(long number);
} modes[] = {
    {"nothing", mode_nothing},
    {"probe", mode_probe},
    {"error", mode_error},
    {"constructor", mode_constructor},
    {"cycles", mode_cycles},
    {"linked", mode_linked},
    {"threads", mode_threads},
    {"threads-stay", mode_threads_stay},
    {"many-threads", mode_many_threads},
    {"exit-busy", mode_exit_busy},
    {"fork", mode_fork},
    {"fork-frees", mode_fork_frees},
    {"clone", mode_clone},
    {"clone-exit", mode_clone_exit},
    {"spawn", mode_spawn},
    {"exec", mode_exec},
    {"_exit", mode_underscore_exit},
    {"quick_exit", mode_quick_exit},
    {"abort", mode_abort},
    {"segv", mode_segv},
    {"kill", mode_kill},
    {"kill-threads", mode_kill_threads},
    {"reopen", mode_reopen},
    {"slow", mode_slow},
    {"close-all", mode_close_all},
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	long number = argc > 2 ? atol(argv[2]) : 10;
	if (argc > 3) {
		int fd = open(argv[3], O_RDWR | O_CREAT, 0600);
		need(fd >= 0 && ftruncate(fd, sizeof(*counts)) == 0, argv[3]);
		counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		need(counts != MAP_FAILED, "mmap");
	}
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name) != 0)
			continue;
		modes[i].run(number);
		printf("allocs=%llu\nfrees=%llu\ncopies=%llu\nmemsets=%llu\nwaits=%llu\n",
		    (unsigned long long)counts->allocs, (unsigned long long)counts->frees,
		    (unsigned long long)counts->copies, (unsigned long long)counts->memsets,
		    (unsigned long long)counts->waits);
		return 0;
	}
	fprintf(stderr, "host: unknown mode\n");
	return 2;
}
