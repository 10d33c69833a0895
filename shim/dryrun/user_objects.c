/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/user_objects.h"

#include <stdlib.h>

#include "shim/dryrun/graphs.h"

struct gd_user_object {
	struct gd_object object;
	void *pointer;
	CUhostFn destroy;
	uint32_t references; /* atomic */
	struct gd_user_object *next_due;
};

static struct gd_user_object *due; /* destructors to run; guarded by gd_graph_lock */

static struct gd_user_object *get(CUuserObject handle)
{
	return gd_object_get(handle, GD_TYPE_USER_OBJECT);
}

/* @return whether it was the last reference */
static bool drop(struct gd_user_object *object)
{
	return !__atomic_sub_fetch(&object->references, 1, __ATOMIC_ACQ_REL);
}

static void end(struct gd_user_object *object)
{
	object->destroy(object->pointer);
	gd_object_free(object, GD_TYPE_USER_OBJECT);
}

static bool make_room(struct gd_references *references, uint32_t count)
{
	uint32_t need = references->count + count;
	if (need <= references->room)
		return true;
	void *more = realloc(references->objects, need * 2 * sizeof(*references->objects));
	if (!more)
		return false;
	references->objects = more;
	references->room = need * 2;
	return true;
}

bool gd_references_copy(struct gd_references *to, const struct gd_references *from)
{
	if (!make_room(to, from->count))
		return false;
	for (uint32_t i = 0; i < from->count; i++) {
		__atomic_add_fetch(&from->objects[i]->references, 1, __ATOMIC_ACQ_REL);
		to->objects[to->count++] = from->objects[i];
	}
	return true;
}

void gd_references_drop(struct gd_references *references)
{
	for (uint32_t i = 0; i < references->count; i++) {
		struct gd_user_object *object = references->objects[i];
		if (!drop(object))
			continue;
		object->next_due = due;
		due = object;
	}
	free(references->objects);
	*references = (struct gd_references){0};
}

void gd_graph_unlock(void)
{
	struct gd_user_object *first = due, *next;
	due = NULL;
	pthread_mutex_unlock(&gd_graph_lock);
	for (; first; first = next) {
		next = first->next_due;
		end(first);
	}
}

GD_API(cuUserObjectCreate,
    (CUuserObject * object_out, void *pointer, CUhostFn destroy, unsigned int references,
	unsigned int flags),
    (object_out, pointer, destroy, references, flags))
{
	if (!object_out || !destroy || !references || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
		return CUDA_ERROR_INVALID_VALUE;
	struct gd_user_object *object = gd_object_new(GD_TYPE_USER_OBJECT);
	if (!object)
		return CUDA_ERROR_OUT_OF_MEMORY;
	object->pointer = pointer;
	object->destroy = destroy;
	object->references = references;
	gd_object_publish(object, GD_TYPE_USER_OBJECT);
	*object_out = (CUuserObject)object;
	return CUDA_SUCCESS;
}

GD_API(cuUserObjectRetain, (CUuserObject handle, unsigned int count), (handle, count))
{
	struct gd_user_object *object = get(handle);
	if (!object || !count)
		return CUDA_ERROR_INVALID_VALUE;
	__atomic_add_fetch(&object->references, count, __ATOMIC_ACQ_REL);
	return CUDA_SUCCESS;
}

GD_API(cuUserObjectRelease, (CUuserObject handle, unsigned int count), (handle, count))
{
	struct gd_user_object *object = get(handle);
	if (!object || !count || count > __atomic_load_n(&object->references, __ATOMIC_ACQUIRE))
		return CUDA_ERROR_INVALID_VALUE;
	while (count--) {
		if (drop(object))
			end(object);
	}
	return CUDA_SUCCESS;
}

GD_API(cuGraphRetainUserObject,
    (CUgraph graph_handle, CUuserObject handle, unsigned int count, unsigned int flags),
    (graph_handle, handle, count, flags))
{
	struct gd_graph *graph = gd_graph_get(graph_handle);
	struct gd_user_object *object = get(handle);
	if (!graph || !object || !count || count > 65536 ||
	    flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_graph_lock);
	bool held = make_room(&graph->held, count);
	for (unsigned i = 0; held && i < count; i++)
		graph->held.objects[graph->held.count++] = object;
	pthread_mutex_unlock(&gd_graph_lock);
	if (held && !(flags & CU_GRAPH_USER_OBJECT_MOVE))
		__atomic_add_fetch(&object->references, count, __ATOMIC_ACQ_REL);
	return held ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

GD_API(cuGraphReleaseUserObject, (CUgraph graph_handle, CUuserObject handle, unsigned int count),
    (graph_handle, handle, count))
{
	struct gd_graph *graph = gd_graph_get(graph_handle);
	struct gd_user_object *object = get(handle);
	unsigned dropped = 0;
	if (!graph || !object || !count)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_graph_lock);
	for (uint32_t i = graph->held.count; i-- > 0 && dropped < count;) {
		if (graph->held.objects[i] != object)
			continue;
		graph->held.objects[i] = graph->held.objects[--graph->held.count];
		dropped++;
	}
	pthread_mutex_unlock(&gd_graph_lock);
	for (unsigned i = 0; i < dropped; i++) {
		if (drop(object))
			end(object);
	}
	return dropped == count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
