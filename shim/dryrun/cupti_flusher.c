/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_flusher.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "cupti_records.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static uint32_t period_ms;
static bool running, prepared;

static void *flush_periodically(void *unused)
{
	pthread_mutex_lock(&lock);
	while (period_ms) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += period_ms / 1000;
		until.tv_nsec += (long)(period_ms % 1000) * 1000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		if (pthread_cond_timedwait(&changed, &lock, &until) == 0)
			continue; /* another period */
		pthread_mutex_unlock(&lock);
		gd_records_settle(false);
		pthread_mutex_lock(&lock);
	}
	running = false;
	pthread_mutex_unlock(&lock);
	return unused;
}

static void prepare(void)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attributes);
	pthread_condattr_destroy(&attributes);
	prepared = true;
}

/* Signals are for the program's own threads. */
static bool start(void)
{
	pthread_t thread;
	sigset_t all, before;
	bool made;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	made = pthread_create(&thread, NULL, flush_periodically, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (made)
		pthread_detach(thread);
	return made;
}

bool gd_flusher_set_period(uint32_t milliseconds)
{
	pthread_mutex_lock(&lock);
	if (!prepared)
		prepare();
	period_ms = milliseconds;
	if (milliseconds && !running)
		running = start();
	pthread_cond_broadcast(&changed);
	bool done = running || !milliseconds;
	pthread_mutex_unlock(&lock);
	return done;
}
