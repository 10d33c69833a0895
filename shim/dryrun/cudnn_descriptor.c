/* SPDX-License-Identifier: Apache-2.0 */
/* The graph interface's descriptors: made, filled, read back. */
#include "cudnn_descriptor.h"

#include <stdlib.h>
#include <string.h>

GD_EXPORT int cudnnBackendDestroyDescriptor(struct gd_descriptor *descriptor);
GD_EXPORT int cudnnBackendInitialize(struct gd_descriptor *descriptor);
GD_EXPORT int cudnnBackendFinalize(struct gd_descriptor *descriptor);
GD_EXPORT int cudnnBackendSetAttribute(
    struct gd_descriptor *descriptor, int name, int type, int64_t count, const void *values);

/* Most types are enumerations, and so are all that newer releases have added. */
unsigned gd_attribute_bytes(int type)
{
	switch (type) {
	case 0:			       /* handle */
	case GD_CUDNN_TYPE_INT64:      /* 3 */
	case 5:			       /* double */
	case 6:			       /* pointer */
	case GD_CUDNN_TYPE_DESCRIPTOR: /* 15 */
		return 8;
	case 2:	 /* bool */
	case 24: /* char */
		return 1;
	case 26: /* fraction: two int64 */
		return 16;
	default:
		return type > 0 ? 4 : 0;
	}
}

const struct gd_attribute *gd_descriptor_find(const struct gd_descriptor *descriptor, int name)
{
	const struct gd_attribute *attribute = descriptor->attributes;

	while (attribute && attribute->name != name)
		attribute = attribute->next;
	return attribute;
}

static void count_links(const struct gd_attribute *attribute, int change)
{
	struct gd_descriptor *linked;

	if (attribute->type != GD_CUDNN_TYPE_DESCRIPTOR)
		return;
	for (int64_t i = 0; i < attribute->count; i++) {
		memcpy(&linked, attribute->bytes + (size_t)i * sizeof(linked), sizeof(linked));
		if (linked && change > 0)
			atomic_fetch_add(&linked->references, 1);
		else
			gd_descriptor_drop(linked);
	}
}

static void remove_attribute(struct gd_descriptor *descriptor, int name)
{
	struct gd_attribute **where = &descriptor->attributes, *gone;

	while (*where && (*where)->name != name)
		where = &(*where)->next;
	gone = *where;
	if (gone) {
		*where = gone->next;
		count_links(gone, -1);
		free(gone);
	}
}

bool gd_descriptor_set(
    struct gd_descriptor *descriptor, int name, int type, int64_t count, const void *values)
{
	size_t bytes = (size_t)count * gd_attribute_bytes(type);
	struct gd_attribute *attribute;

	if (count < 0 || count > INT32_MAX || !gd_attribute_bytes(type))
		return false;
	attribute = malloc(sizeof(*attribute) + bytes);
	if (!attribute)
		return false;
	attribute->name = name;
	attribute->type = type;
	attribute->count = count;
	if (bytes)
		memcpy(attribute->bytes, values, bytes);
	count_links(attribute, 1);
	remove_attribute(descriptor, name);
	attribute->next = descriptor->attributes;
	descriptor->attributes = attribute;
	return true;
}

struct gd_descriptor *gd_descriptor_link(
    const struct gd_descriptor *descriptor, int name, int64_t index)
{
	const struct gd_attribute *attribute =
	    descriptor ? gd_descriptor_find(descriptor, name) : NULL;
	struct gd_descriptor *linked;

	if (!attribute || attribute->type != GD_CUDNN_TYPE_DESCRIPTOR || index >= attribute->count)
		return NULL;
	memcpy(&linked, attribute->bytes + (size_t)index * sizeof(linked), sizeof(linked));
	return linked;
}

void gd_descriptor_drop(struct gd_descriptor *descriptor)
{
	if (!descriptor || atomic_fetch_sub(&descriptor->references, 1) != 1)
		return;
	while (descriptor->attributes)
		remove_attribute(descriptor, descriptor->attributes->name);
	free(descriptor);
}

int cudnnBackendCreateDescriptor(int kind, struct gd_descriptor **out)
{
	struct gd_descriptor *descriptor = calloc(1, sizeof(*descriptor));

	if (!descriptor)
		return GD_CUDNN_ALLOC_FAILED;
	descriptor->kind = kind;
	atomic_init(&descriptor->references, 1);
	*out = descriptor;
	return GD_CUDNN_SUCCESS;
}

int cudnnBackendInitialize(struct gd_descriptor *descriptor)
{
	return descriptor ? GD_CUDNN_SUCCESS : GD_CUDNN_BAD_PARAM;
}

int cudnnBackendDestroyDescriptor(struct gd_descriptor *descriptor)
{
	gd_descriptor_drop(descriptor);
	return GD_CUDNN_SUCCESS;
}

int cudnnBackendFinalize(struct gd_descriptor *descriptor)
{
	if (!descriptor)
		return GD_CUDNN_BAD_PARAM;
	descriptor->finalized = true;
	return GD_CUDNN_SUCCESS;
}

int cudnnBackendSetAttribute(
    struct gd_descriptor *descriptor, int name, int type, int64_t count, const void *values)
{
	if (!descriptor || descriptor->finalized ||
	    !gd_descriptor_set(descriptor, name, type, count, values))
		return GD_CUDNN_BAD_PARAM;
	return GD_CUDNN_SUCCESS;
}
