/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA calls where threads and processes end, for the tests of the recorder.
 *
 *   ends MODE [NUMBER]
 *
 * Built with -DLIBRARY it is a library that frees the blocks given to it when the process ends, with
 * -DDRIVER a driver that waits for ever.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef unsigned long long address;

#ifdef DRIVER

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxGetDevice(int *device);
int cuCtxSynchronize(void);
int cuMemAlloc_v2(address *block, size_t bytes);
int cuMemFree_v2(address block);

int cuInit(unsigned flags)
{
	return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	*context = context;
	return 0;
}

int cuCtxSetCurrent(void *context)
{
	return 0;
}

int cuCtxGetDevice(int *device)
{
	return *device = 0;
}

int cuCtxSynchronize(void)
{
	for (;;)
		pause();
}

int cuMemAlloc_v2(address *block, size_t bytes)
{
	static address next = 0x10000000;
	*block = next += bytes;
	return 0;
}

int cuMemFree_v2(address block)
{
	return 0;
}

#else

static int (*cuMemFree)(address);

#ifdef LIBRARY

static address kept[2];

void ends_keep(address first, address second, int (*free_block)(address));
void ends_keep(address first, address second, int (*free_block)(address))
{
	kept[0] = first;
	kept[1] = second;
	cuMemFree = free_block;
}

static void at_exit(void)
{
	if (cuMemFree)
		cuMemFree(kept[0]);
}

__attribute__((constructor)) static void begin(void)
{
	atexit(at_exit);
}

__attribute__((destructor)) static void end(void)
{
	if (cuMemFree)
		cuMemFree(kept[1]);
}

#else

static int (*cuMemAlloc)(address *, size_t);
static int (*cuCtxSetCurrent)(void *);
static void *context;

static void need(bool condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "ends: failed: %s\n", what);
		_exit(99);
	}
}

static address block(void)
{
	address made = 0;
	need(cuMemAlloc(&made, 4096) == 0, "cuMemAlloc");
	return made;
}

static void load(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	need(driver, "libcuda.so.1");
	int (*cuInit)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
	int (*retain)(void **, int) =
	    (int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
	cuCtxSetCurrent = (int (*)(void *))dlsym(driver, "cuCtxSetCurrent");
	cuMemAlloc = (int (*)(address *, size_t))dlsym(driver, "cuMemAlloc_v2");
	cuMemFree = (int (*)(address))dlsym(driver, "cuMemFree_v2");
	need(cuInit(0) == 0 && retain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0, "cuInit");
}

/* ---- the process ends ---- */

static address last_blocks[2];

static void free_at_exit(void)
{
	cuMemFree(last_blocks[0]);
}

__attribute__((destructor)) static void free_in_destructor(void)
{
	if (last_blocks[1])
		cuMemFree(last_blocks[1]);
}

/* Four blocks are freed: by a handler and a destructor of the program and of a library. */
static void mode_last_frees(long number)
{
	void *library = dlopen(getenv("ENDS_LIBRARY"), RTLD_NOW);
	void (*keep)(address, address, int (*)(address)) = library
	    ? (void (*)(address, address, int (*)(address)))dlsym(library, "ends_keep")
	    : NULL;
	need(keep, "ENDS_LIBRARY");
	load();
	last_blocks[0] = block();
	last_blocks[1] = block();
	keep(block(), block(), cuMemFree);
	atexit(free_at_exit);
}

/* It ends without a last word, so many microseconds after its first use of CUDA. */
static void mode_sudden(long number)
{
	load();
	block();
	usleep((useconds_t)number);
	_exit(0);
}

/* As daemons do: what was standard error is a file of the program when the recording starts. */
static void mode_own_stderr(long number)
{
	close(STDERR_FILENO);
	need(open("own", O_WRONLY | O_CREAT | O_TRUNC, 0644) == STDERR_FILENO, "the lowest number");
	load();
	block();
}

/* ---- threads end ---- */

enum { THREADS = 64 };
static pthread_barrier_t all_there;
static unsigned returned;

static void *allocate_when_cancelled(void *unused)
{
	cuCtxSetCurrent(context);
	pthread_barrier_wait(&all_there);
	pthread_cancel(pthread_self()); /* met at the next point of cancellation */
	cuMemFree(block());
	__atomic_fetch_add(&returned, 1, __ATOMIC_RELAXED);
	pthread_testcancel();
	return NULL;
}

/* Threads that were told to end wait together for the recording to start, and for their chunks. */
static void mode_cancel(long number)
{
	pthread_t threads[THREADS];
	void *result = NULL;
	load();
	pthread_barrier_init(&all_there, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		need(pthread_create(&threads[i], NULL, allocate_when_cancelled, NULL) == 0, "thread");
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		need(result == PTHREAD_CANCELED, "the threads end");
	}
	need(returned == THREADS, "they end where the program says");
}

static pthread_key_t key;

/* It comes again in every round of destructors; in the last one there is none after it. */
static void end_of_thread(void *value)
{
	cuCtxSetCurrent(context); /* the driver's own destructor took it away */
	cuMemFree(block());
	pthread_setspecific(key, value);
}

static void *thread_with_key(void *unused)
{
	pthread_setspecific(key, &key);
	return NULL;
}

static void mode_key_destructors(long number)
{
	load();
	need(pthread_key_create(&key, end_of_thread) == 0, "key");
	for (long i = 0; i < number; i++) {
		pthread_t thread;
		need(pthread_create(&thread, NULL, thread_with_key, NULL) == 0, "thread");
		pthread_join(thread, NULL);
	}
}

/* A time limit: the handler jumps out of whatever call the program is inside of. */
static sigjmp_buf too_late;

static void jump(int unused)
{
	siglongjmp(too_late, 1);
}

static unsigned long allocate_deeper(int depth)
{
	volatile char room[200] = {0};
	if (depth)
		return allocate_deeper(depth - 1) + (unsigned char)room[depth];
	cuMemFree(block());
	return 1;
}

static void wait_until_jump(void)
{
	int (*wait_for)(void) =
	    (int (*)(void))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxSynchronize");
	signal(SIGALRM, jump);
	if (sigsetjmp(too_late, 1) != 0)
		return;
	ualarm(20000, 0);
	wait_for();
}

/* With the driver of -DDRIVER, which has no lock that a jump could leave taken. */
static void mode_jump(long depth)
{
	unsigned long count = 0;
	load();
	cuMemFree(block());
	wait_until_jump();
	for (int i = 0; i < 1000; i++)
		count += allocate_deeper((int)depth);
	need(count == 1000, "allocations");
}

/* What a program has been promised it gets, whoever records it. */
static void mode_limited(long mib)
{
	struct rlimit space;
	char text[64] = "";
	load();
	int file = open("/proc/self/statm", O_RDONLY);
	need(file >= 0 && read(file, text, sizeof(text) - 1) > 0, "statm");
	space.rlim_cur = space.rlim_max = strtoull(text, NULL, 10) * 4096 + ((rlim_t)mib << 20);
	need(setrlimit(RLIMIT_AS, &space) == 0, "setrlimit");
	cuMemFree(block());
	void *memory = malloc((size_t)mib << 19); /* half of it */
	need(memory, "malloc");
	free(memory);
}

static void mode_remove(long unused)
{
	load();
	cuMemFree(block());
	need(unlink("removed.gst") == 0, "unlink");
}

/* The process goes on without its main thread, and ends with its last one. */
static void *outlive_main(void *unused)
{
	usleep(300000);
	cuCtxSetCurrent(context);
	cuMemFree(block());
	return NULL;
}

static void mode_main_exit(long unused)
{
	pthread_t thread;
	load();
	cuMemFree(block());
	need(pthread_create(&thread, NULL, outlive_main, NULL) == 0, "thread");
	pthread_exit(NULL);
}

/* A child that shares our memory ends; we do not. */
static void mode_vfork(long number)
{
	load();
	for (long i = 0; i < number; i++) {
		cuMemFree(block());
		pid_t child = vfork();
		if (child == 0)
			_exit(0);
		need(child > 0 && waitpid(child, NULL, 0) == child, "vfork");
	}
}

/* As servers do that lock themselves in: the folder of the trace is out of reach then. */
static void mode_chroot(long unused)
{
	load();
	cuMemFree(block());
	need(chroot("/proc/self/fdinfo") == 0 && chdir("/") == 0, "chroot");
	cuMemFree(block());
}

static const struct {
	const char *name;
	void (*run)(long number);
} modes[] = {
    {"last-frees", mode_last_frees},
    {"sudden", mode_sudden},
    {"own-stderr", mode_own_stderr},
    {"cancel", mode_cancel},
    {"chroot", mode_chroot},
    {"vfork", mode_vfork},
    {"remove", mode_remove},
    {"limited", mode_limited},
    {"jump", mode_jump},
    {"main-exit", mode_main_exit},
    {"key-destructors", mode_key_destructors},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run(argc > 2 ? atol(argv[2]) : 1);
			return 0;
		}
	fprintf(stderr, "ends: unknown mode\n");
	return 2;
}

#endif
#endif
