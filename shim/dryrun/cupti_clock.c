/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define LINES 64	     /* older times go by the oldest one */
#define RENEW_NS 20000000    /* how long a line is used before the clocks are read again */
#define CALIBRATE_NS 2000000 /* how long the first reading takes */
#define SAME_RATE 2e-4	     /* a clock this near to the nanosecond counts nanoseconds */

/* From here on client time is client + (device - here) * rate. */
struct line {
	uint64_t device_ns;
	double client, rate; /* relative to `origin` */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all below but client_clock */
static struct line lines[LINES];
static size_t line_count;	   /* ever begun; the last LINES are kept; 0: no reading yet */
static uint64_t origin_ns, origin; /* first reading of both */
static CUpti_TimestampCallbackFunc client_clock; /* atomic */

static uint64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t gd_clock_device_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t gd_clock_client_ns(void)
{
	CUpti_TimestampCallbackFunc clock = __atomic_load_n(&client_clock, __ATOMIC_ACQUIRE);

	return clock ? clock() : read_clock(CLOCK_REALTIME);
}

/* Of some readings the one that was interrupted least. */
static void read_both(uint64_t *device_out, uint64_t *client_out)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t before = gd_clock_device_ns(), client = gd_clock_client_ns();
		uint64_t after = gd_clock_device_ns();

		if (after - before >= best)
			continue;
		best = after - before;
		*device_out = before + best / 2;
		*client_out = client;
	}
}

static double rate_since_origin(uint64_t device_ns, uint64_t client)
{
	double rate = (double)(int64_t)(client - origin) / (double)(device_ns - origin_ns);

	return rate > 1 - SAME_RATE && rate < 1 + SAME_RATE ? 1 : rate;
}

static void calibrate(void)
{
	uint64_t device_ns, client;

	read_both(&origin_ns, &origin);
	do
		read_both(&device_ns, &client);
	while (device_ns - origin_ns < CALIBRATE_NS);
	lines[0] = (struct line){origin_ns, 0, rate_since_origin(device_ns, client)};
	line_count = 1;
}

static double on_line(const struct line *line, uint64_t device_ns)
{
	return line->client + (double)(int64_t)(device_ns - line->device_ns) * line->rate;
}

/* Begin a line where the last one is now, aimed so that it meets the clock one period later. */
static void renew(void)
{
	const struct line *last = &lines[(line_count - 1) % LINES];
	uint64_t device_ns, client;
	double rate, goal;
	struct line next;

	read_both(&device_ns, &client);
	if (device_ns <= last->device_ns)
		return;
	rate = rate_since_origin(device_ns, client);
	next.device_ns = device_ns;
	next.client = on_line(last, device_ns);
	goal = (double)(int64_t)(client - origin) + rate * RENEW_NS;
	next.rate = (goal - next.client) / RENEW_NS;
	if (next.rate < rate / 2) /* the clock was set back: slow down, but never run backwards */
		next.rate = rate / 2;
	lines[line_count++ % LINES] = next;
}

uint64_t gd_clock_convert(uint64_t device_ns)
{
	uint64_t converted;
	size_t at;

	if (!device_ns)
		return 0;
	pthread_mutex_lock(&lock);
	if (!line_count)
		calibrate();
	if (gd_clock_device_ns() - lines[(line_count - 1) % LINES].device_ns > RENEW_NS)
		renew();
	at = line_count - 1;
	while (at && line_count - at < LINES && lines[at % LINES].device_ns > device_ns)
		at--;
	converted = origin + (uint64_t)(int64_t)on_line(&lines[at % LINES], device_ns);
	pthread_mutex_unlock(&lock);
	return converted;
}

void gd_clock_set(CUpti_TimestampCallbackFunc clock)
{
	pthread_mutex_lock(&lock);
	__atomic_store_n(&client_clock, clock, __ATOMIC_RELEASE);
	calibrate();
	pthread_mutex_unlock(&lock);
}
