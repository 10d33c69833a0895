/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_names.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024

struct name {
	struct name *next;
	char text[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name *names[BUCKETS];

static const char *find_or_add(const char *text, uint32_t bucket)
{
	size_t bytes = strlen(text) + 1;
	struct name *name;

	for (name = names[bucket]; name; name = name->next) {
		if (strcmp(name->text, text) == 0)
			return name->text;
	}
	name = malloc(sizeof(*name) + bytes);
	if (!name)
		return "";
	memcpy(name->text, text, bytes);
	name->next = names[bucket];
	names[bucket] = name;
	return name->text;
}

const char *gd_name_keep(const char *text)
{
	uint32_t hash = 2166136261u;
	const char *kept;

	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	pthread_mutex_lock(&lock);
	kept = find_or_add(text, hash % BUCKETS);
	pthread_mutex_unlock(&lock);
	return kept;
}
