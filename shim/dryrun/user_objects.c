/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/user_objects.h"

#include <stdlib.h>

#include "shim/dryrun/graphs.h"

struct gd_user_object {
	struct gd_object object;
	void *pointer;
	CUhostFn destroy;
	uint32_t references; /* atomic */
};

static struct gd_user_object *get(CUuserObject handle)
{
	return gd_object_get(handle, GD_TYPE_USER_OBJECT);
}

void gd_user_object_drop(struct gd_user_object *object)
{
	if (__atomic_sub_fetch(&object->references, 1, __ATOMIC_ACQ_REL))
		return;
	object->destroy(object->pointer);
	gd_object_free(object, GD_TYPE_USER_OBJECT);
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
	while (count--)
		gd_user_object_drop(object);
	return CUDA_SUCCESS;
}

static bool hold(struct gd_graph *graph, struct gd_user_object *object, unsigned count)
{
	uint32_t need = graph->object_count + count;
	if (need > graph->object_room) {
		void *more = realloc(graph->objects, need * 2 * sizeof(*graph->objects));
		if (!more)
			return false;
		graph->objects = more;
		graph->object_room = need * 2;
	}
	while (count--)
		graph->objects[graph->object_count++] = object;
	return true;
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
	bool held = hold(graph, object, count);
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
	for (uint32_t i = graph->object_count; i-- > 0 && dropped < count;) {
		if (graph->objects[i] != object)
			continue;
		graph->objects[i] = graph->objects[--graph->object_count];
		dropped++;
	}
	pthread_mutex_unlock(&gd_graph_lock);
	for (unsigned i = 0; i < dropped; i++)
		gd_user_object_drop(object);
	return dropped == count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
