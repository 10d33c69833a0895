/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every record a trace can hold: the one table from which journal structs, column layout, text
 * dump, schema and documentation check are made.  See FORMAT.md for the meaning of each field.
 *
 * In the journal a record is its struct: `head` first, fields in order, no padding, length a
 * multiple of 8.  `head` is stored last (release); 0 means that the record is not written yet.
 * In the trace a frame keeps records as columns.
 *
 * Evolution: new fields go to the END of a list and keep the length a multiple of 8; new types get
 * a new tag; tags and fields are never reused.  A reader treats missing fields as 0 and skips what
 * it does not know.
 *
 * `time` is in clock ticks (clock records give their meaning).  It is the instant that
 * orders the record against those of other threads: the END of a call that acquires something
 * (memory, handles), the START of any other.  `duration` (ticks) is the time in the real call, so
 * an acquisition began at time - duration.
 */
#ifndef GF_RECORDS_H
#define GF_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Codings of a column, chosen per field (see FORMAT.md for how each is stored):
 *   TIME    the record's time; all types of a frame share one time column in record order
 *   PLAIN   value minus the smallest of the column
 *   TICKS   PLAIN, and the value is a span of clock ticks: rounded down to the trace's tick unit
 *   DELTA   zigzag difference to the row before
 *   TOTAL   zigzag difference to (row before + this row's `size`): 0 for a running total
 */
/* RECORD(tag, name, bytes of its first version) */
#define GF_RECORDS(RECORD) \
	RECORD(1, block, 72) \
	RECORD(2, oom, 64) \
	RECORD(3, memory, 72) \
	RECORD(4, copy, 72) \
	RECORD(5, memset, 64) \
	RECORD(6, launch, 80) \
	RECORD(7, graph, 64) \
	RECORD(8, wait, 48) \
	RECORD(9, event, 56) \
	RECORD(10, mem_info, 48) \
	RECORD(11, module, 64) \
	RECORD(12, call, 48) \
	RECORD(13, mark, 40) \
	RECORD(14, clock, 32) \
	RECORD(15, lost, 32) \
	RECORD(32, text, 24)

/* A block of PyTorch's caching allocator: size > 0 handed out, size < 0 given back. */
#define GF_FIELDS_block(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, address, PLAIN) \
	FIELD(int64_t, size, PLAIN) \
	FIELD(uint64_t, requested, PLAIN) \
	FIELD(uint64_t, stream, PLAIN) \
	FIELD(uint64_t, allocated, TOTAL) \
	FIELD(uint64_t, reserved, DELTA) \
	FIELD(uint32_t, flags, PLAIN) \
	FIELD(uint16_t, device, PLAIN) \
	FIELD(uint16_t, reserved_zero, PLAIN)

/* PyTorch gave up on a request (after its retries). */
#define GF_FIELDS_oom(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, size, PLAIN) \
	FIELD(uint64_t, requested, PLAIN) \
	FIELD(uint64_t, stream, PLAIN) \
	FIELD(uint64_t, allocated, PLAIN) \
	FIELD(uint64_t, reserved, PLAIN) \
	FIELD(uint32_t, flags, PLAIN) \
	FIELD(uint16_t, device, PLAIN) \
	FIELD(uint16_t, reserved_zero, PLAIN)

/* A driver call on memory of any kind; `kind` is a gf_memory_kind, `handle` depends on it. */
#define GF_FIELDS_memory(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, duration, TICKS) \
	FIELD(uint64_t, address, PLAIN) \
	FIELD(uint64_t, size, PLAIN) \
	FIELD(uint64_t, handle, PLAIN) \
	FIELD(uint64_t, stream, PLAIN) \
	FIELD(uint16_t, kind, PLAIN) \
	FIELD(uint16_t, api, PLAIN) \
	FIELD(uint16_t, status, PLAIN) \
	FIELD(uint16_t, device, PLAIN) \
	FIELD(uint32_t, flags, PLAIN) \
	FIELD(uint32_t, thread_flags, PLAIN)

#define GF_FIELDS_copy(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, duration, TICKS) \
	FIELD(uint64_t, target, PLAIN) \
	FIELD(uint64_t, source, PLAIN) \
	FIELD(uint64_t, bytes, PLAIN) \
	FIELD(uint64_t, stream, PLAIN) \
	FIELD(uint32_t, flags, PLAIN) \
	FIELD(uint16_t, api, PLAIN) \
	FIELD(uint16_t, status, PLAIN) \
	FIELD(uint16_t, device, PLAIN) \
	FIELD(uint16_t, target_device, PLAIN) \
	FIELD(uint32_t, reserved_zero, PLAIN)

#define GF_FIELDS_memset(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, duration, TICKS) \
	FIELD(uint64_t, address, PLAIN) \
	FIELD(uint64_t, bytes, PLAIN) \
	FIELD(uint64_t, stream, PLAIN) \
	FIELD(uint32_t, value, PLAIN) \
	FIELD(uint32_t, flags, PLAIN) \
	FIELD(uint16_t, api, PLAIN) \
	FIELD(uint16_t, status, PLAIN) \
	FIELD(uint16_t, device, PLAIN) \
	FIELD(uint16_t, reserved_zero, PLAIN)

#define GF_FIELDS_launch(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, duration, TICKS) \
	FIELD(uint64_t, function, PLAIN) \
	FIELD(uint64_t, stream, PLAIN) \
	FIELD(uint32_t, grid_x, PLAIN) \
	FIELD(uint32_t, grid_y, PLAIN) \
	FIELD(uint32_t, grid_z, PLAIN) \
	FIELD(uint32_t, shared_bytes, PLAIN) \
	FIELD(uint16_t, block_x, PLAIN) \
	FIELD(uint16_t, block_y, PLAIN) \
	FIELD(uint16_t, block_z, PLAIN) \
	FIELD(uint16_t, cluster_size, PLAIN) \
	FIELD(uint16_t, api, PLAIN) \
	FIELD(uint16_t, status, PLAIN) \
	FIELD(uint16_t, device, PLAIN) \
	FIELD(uint16_t, reserved_zero, PLAIN) \
	FIELD(uint32_t, flags, PLAIN) \
	FIELD(uint32_t, reserved_zero2, PLAIN)

/* CUDA graphs: capture, instantiation, launch, end; `kind` is a gf_graph_kind. */
#define GF_FIELDS_graph(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, duration, TICKS) \
	FIELD(uint64_t, graph, PLAIN) \
	FIELD(uint64_t, executable, PLAIN) \
	FIELD(uint64_t, stream, PLAIN) \
	FIELD(uint32_t, nodes, PLAIN) \
	FIELD(uint32_t, flags, PLAIN) \
	FIELD(uint16_t, kind, PLAIN) \
	FIELD(uint16_t, api, PLAIN) \
	FIELD(uint16_t, status, PLAIN) \
	FIELD(uint16_t, device, PLAIN)

/* A call that waits for the device; `kind` is a gf_wait_kind, `object` its context/stream/event. */
#define GF_FIELDS_wait(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, duration, TICKS) \
	FIELD(uint64_t, object, PLAIN) \
	FIELD(uint16_t, kind, PLAIN) \
	FIELD(uint16_t, api, PLAIN) \
	FIELD(uint16_t, status, PLAIN) \
	FIELD(uint16_t, device, PLAIN) \
	FIELD(uint32_t, flags, PLAIN) \
	FIELD(uint32_t, reserved_zero, PLAIN)

/* Order between streams and questions about it; `kind` is a gf_event_kind. */
#define GF_FIELDS_event(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, duration, TICKS) \
	FIELD(uint64_t, object, PLAIN) \
	FIELD(uint64_t, stream, PLAIN) \
	FIELD(uint16_t, kind, PLAIN) \
	FIELD(uint16_t, api, PLAIN) \
	FIELD(uint16_t, status, PLAIN) \
	FIELD(uint16_t, device, PLAIN) \
	FIELD(uint32_t, flags, PLAIN) \
	FIELD(uint32_t, reserved_zero, PLAIN)

/* What the driver said of a device's memory (cuMemGetInfo); PyTorch asks at an OOM. */
#define GF_FIELDS_mem_info(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, duration, TICKS) \
	FIELD(uint64_t, free_bytes, PLAIN) \
	FIELD(uint64_t, total_bytes, PLAIN) \
	FIELD(uint16_t, api, PLAIN) \
	FIELD(uint16_t, status, PLAIN) \
	FIELD(uint16_t, device, PLAIN) \
	FIELD(uint16_t, reserved_zero, PLAIN)

/* Device code: loads, unloads and function look-ups; `name_id` is a TEXT of kind NAME. */
#define GF_FIELDS_module(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, duration, TICKS) \
	FIELD(uint64_t, module, PLAIN) \
	FIELD(uint64_t, function, PLAIN) \
	FIELD(uint64_t, bytes, PLAIN) \
	FIELD(uint32_t, name_id, PLAIN) \
	FIELD(uint32_t, flags, PLAIN) \
	FIELD(uint16_t, kind, PLAIN) \
	FIELD(uint16_t, api, PLAIN) \
	FIELD(uint16_t, status, PLAIN) \
	FIELD(uint16_t, device, PLAIN)

/* Any other intercepted call (contexts, pools, IPC ...): what, on what, how long. */
#define GF_FIELDS_call(FIELD) \
	FIELD(uint32_t, stack_id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, duration, TICKS) \
	FIELD(uint64_t, object, PLAIN) \
	FIELD(uint64_t, value, PLAIN) \
	FIELD(uint16_t, api, PLAIN) \
	FIELD(uint16_t, status, PLAIN) \
	FIELD(uint16_t, device, PLAIN) \
	FIELD(uint16_t, reserved_zero, PLAIN)

/* A point in the life of the process or of a thread; `kind` is a gf_mark_kind. */
#define GF_FIELDS_mark(FIELD) \
	FIELD(uint32_t, kind, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, value, PLAIN) \
	FIELD(uint64_t, value2, PLAIN) \
	FIELD(uint64_t, reserved_zero, PLAIN)

/* `time` (ticks) was at `monotonic_ns` of CLOCK_MONOTONIC and `realtime_ns` of CLOCK_REALTIME. */
#define GF_FIELDS_clock(FIELD) \
	FIELD(uint32_t, reserved_zero, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, monotonic_ns, DELTA) \
	FIELD(uint64_t, realtime_ns, DELTA)

/* `count` events of the trace are missing at about this time; `reason` is a gf_lost_reason. */
#define GF_FIELDS_lost(FIELD) \
	FIELD(uint32_t, reason, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint64_t, count, PLAIN) \
	FIELD(uint64_t, reserved_zero, PLAIN)

/* A definition: `length` bytes follow, padded with zeros to 8; `kind` is a gf_text_kind. */
#define GF_FIELDS_text(FIELD) \
	FIELD(uint32_t, id, PLAIN) \
	FIELD(uint64_t, time, TIME) \
	FIELD(uint32_t, kind, PLAIN) \
	FIELD(uint32_t, length, PLAIN)

/* ---- closed lists of values; numbers are on disk and never change ---- */

#define GF_MEMORY_KINDS(K) \
	K(1, ALLOC, "device memory allocated; handle: pitch, or 0") \
	K(2, FREE, "device memory freed") \
	K(3, ALLOC_ASYNC, "stream-ordered allocation; handle: pool") \
	K(4, FREE_ASYNC, "stream-ordered free") \
	K(5, MANAGED, "managed memory allocated; freed by FREE") \
	K(6, RESERVE, "address range reserved") \
	K(7, UNRESERVE, "address range given back") \
	K(8, CREATE, "physical memory created; handle: its handle") \
	K(9, RELEASE, "reference to physical memory dropped; handle") \
	K(10, MAP, "physical memory mapped at address; handle") \
	K(11, UNMAP, "mapping removed") \
	K(12, ACCESS, "mapped range made accessible") \
	K(13, HOST_ALLOC, "page-locked host memory allocated") \
	K(14, HOST_FREE, "page-locked host memory freed") \
	K(15, HOST_REGISTER, "host memory page-locked in place") \
	K(16, HOST_UNREGISTER, "host memory unlocked") \
	K(17, IMPORT, "handle imported from another process; handle") \
	K(18, EXPORT, "handle exported to another process; handle") \
	K(19, IPC_OPEN, "memory of another process mapped") \
	K(20, IPC_CLOSE, "memory of another process unmapped") \
	K(21, POOL_CREATE, "memory pool created; handle: pool") \
	K(22, POOL_DESTROY, "memory pool destroyed; handle: pool") \
	K(23, POOL_TRIM, "memory pool trimmed; handle: pool, size: bytes to keep") \
	K(24, ARRAY_CREATE, "array created; handle: array") \
	K(25, ARRAY_DESTROY, "array destroyed; handle: array") \
	K(26, RETAIN, "reference to physical memory taken; handle") \
	K(27, MULTICAST, "multicast object created, bound or unbound; handle") \
	K(28, RELEASE_FAILED, "the release recorded just before on this thread failed; the recorder " \
	    "writes none, its releases have their own status")

#define GF_GRAPH_KINDS(K) \
	K(1, CAPTURE_BEGIN, "capture began on a stream") \
	K(2, CAPTURE_END, "capture ended") \
	K(3, INSTANTIATE, "executable graph made") \
	K(4, LAUNCH, "executable graph launched") \
	K(5, DESTROY, "graph destroyed") \
	K(6, EXEC_DESTROY, "executable graph destroyed") \
	K(7, UPLOAD, "executable graph uploaded") \
	K(8, UPDATE, "executable graph updated")

#define GF_WAIT_KINDS(K) \
	K(1, DEVICE, "device or context synchronized") \
	K(2, STREAM, "stream synchronized") \
	K(3, EVENT, "event synchronized")

#define GF_EVENT_KINDS(K) \
	K(1, RECORD, "event recorded on a stream") \
	K(2, QUERY, "event queried; status tells the answer") \
	K(3, STREAM_QUERY, "stream queried") \
	K(4, STREAM_WAIT, "stream made to wait for an event") \
	K(5, HOST_FUNCTION, "host function enqueued") \
	K(6, CREATE, "event created") \
	K(7, DESTROY, "event destroyed") \
	K(8, ELAPSED, "elapsed time read") \
	K(9, STREAM_CREATE, "stream created; value in object") \
	K(10, STREAM_DESTROY, "stream destroyed") \
	K(11, WAIT_VALUE, "stream made to wait for a value in memory") \
	K(12, WRITE_VALUE, "stream writes a value to memory")

#define GF_MODULE_KINDS(K) \
	K(1, LOAD, "module or library loaded") \
	K(2, UNLOAD, "module or library unloaded") \
	K(3, FUNCTION, "function or kernel looked up: function has the name name_id")

/* 5 was for forks and was never written; EMPTY_CACHE is for writers that see the call itself. */
#define GF_MARK_KINDS(K) \
	K(1, START, "recording started; value: process id") \
	K(2, THREAD_START, "thread's first event; value: thread id of the system") \
	K(3, THREAD_END, "thread ended") \
	K(4, END, "recording ended cleanly; the last record of a complete trace") \
	K(6, STOPPED, "recording stopped early; a notice tells why") \
	K(7, EMPTY_CACHE, "the program asked the allocator to give its cache back") \
	K(8, MEMORY_FRACTION, \
	    "the program limited the allocator: value / 2^60 of the memory of device value2")

/* 1 as the value of a MEMORY_FRACTION mark. */
#define GF_FRACTION_ONE (UINT64_C(1) << 60)

#define GF_LOST_REASONS(K) \
	K(1, NO_CHUNK, "journal full: the writer did not keep up") \
	K(2, DISK, "trace could not be written") \
	K(3, LIMIT, "size limit reached") \
	K(4, NO_THREAD, "too many threads") \
	K(5, UNHOOKED, "call slipped past the hooks") \
	K(6, OVERWRITTEN, "oldest part overwritten in wrap mode")

#define GF_TEXT_KINDS(K) \
	K(1, PROPERTY, "name, a zero byte, value: a fact of process, machine or settings") \
	K(2, NAME, "id names a kernel") \
	K(3, API, "id names an intercepted function") \
	K(4, THREAD_NAME, "id names a thread of this trace") \
	K(5, NOTICE, "what limits this trace, in words") \
	K(6, SCHEMA, "record types and fields, see FORMAT.md") \
	K(7, LIBRARY, "a loaded library, see stack_layout.h") \
	K(8, UNHOOKED, "name of a function that is used but not intercepted") \
	K(9, STACK, "id names a call stack, see stack_layout.h") \
	K(10, CODE, "id names a Python code object, see stack_layout.h")

/* Flags of the records that have `flags`. */
#define GF_FLAG_REQUEST_KNOWN 0x01u /* block, oom: `requested` and `stream` are exact */
#define GF_FLAG_IN_ALLOCATOR 0x02u  /* call made inside the caching allocator */
#define GF_FLAG_CAPTURED 0x04u      /* call became a graph node, not work */
#define GF_FLAG_ASYNC 0x08u         /* call may return before the work is done */
#define GF_FLAG_BATCH_ENTRY 0x10u   /* one of several copies of one call */
#define GF_FLAG_PER_THREAD 0x20u    /* stream 0 means the per-thread default stream */
#define GF_FLAG_COOPERATIVE 0x40u   /* cooperative launch */
#define GF_FLAG_STREAM_KNOWN 0x80u  /* block, oom: `stream` is the pool's stream id */
#define GF_FLAG_BACKWARD 0x100u     /* made on a thread that runs backward */

#define GF_DEVICE_UNKNOWN 0xffffu

#define K(number, name, words) GF_MEMORY_##name = number,
enum gf_memory_kind { GF_MEMORY_KINDS(K) };
#undef K
#define K(number, name, words) GF_GRAPH_##name = number,
enum gf_graph_kind { GF_GRAPH_KINDS(K) };
#undef K
#define K(number, name, words) GF_WAIT_##name = number,
enum gf_wait_kind { GF_WAIT_KINDS(K) };
#undef K
#define K(number, name, words) GF_EVENT_##name = number,
enum gf_event_kind { GF_EVENT_KINDS(K) };
#undef K
#define K(number, name, words) GF_MODULE_##name = number,
enum gf_module_kind { GF_MODULE_KINDS(K) };
#undef K
#define K(number, name, words) GF_MARK_##name = number,
enum gf_mark_kind { GF_MARK_KINDS(K) };
#undef K
#define K(number, name, words) GF_LOST_##name = number,
enum gf_lost_reason { GF_LOST_REASONS(K) GF_LOST_REASON_COUNT };
#undef K
#define K(number, name, words) GF_TEXT_##name = number,
enum gf_text_kind { GF_TEXT_KINDS(K) };
#undef K

/* ---- head word ---- */

/* bits 0..7 tag, 8..15 zero (reserved, refused if set), 16..31 length in units of 8 bytes */
#define GF_HEAD(tag, bytes) ((uint32_t)(tag) | (uint32_t)((bytes) / 8) << 16)
#define GF_HEAD_TAG(head) ((head) & 0xffu)
#define GF_HEAD_BYTES(head) (((head) >> 16) * 8u)
#define GF_RECORD_MIN_BYTES 16u  /* head, a first field of 4 bytes, time: every type has them */
#define GF_RECORD_MAX_BYTES 32768u
#define GF_TIME_OFFSET 8u        /* of `time` in every record */
#define GF_TEXT_MAX_BYTES 16384u /* longer texts are cut by the writer, with an ellipsis */

enum gf_tag {
#define RECORD(tag, name, first) GF_TAG_##name = tag,
	GF_RECORDS(RECORD)
#undef RECORD
	GF_TAG_LIMIT = 64 /* tags are 1..63 */
};

enum gf_coding {
	GF_CODING_TIME,
	GF_CODING_PLAIN,
	GF_CODING_DELTA,
	GF_CODING_TOTAL,
	GF_CODING_TICKS
};

struct gf_column {
	const char *name;
	uint8_t bytes;   /* width in the journal: 2, 4 or 8 */
	bool is_signed;
	uint8_t coding;  /* enum gf_coding */
	uint16_t offset; /* in the journal struct */
};

#define GF_MEMBER(type, name, coding) type name;
#define GF_WIDTH(type, name, coding) +sizeof(type)
#define RECORD(tag, name, first) \
	struct gf_##name { \
		uint32_t head; \
		GF_FIELDS_##name(GF_MEMBER) \
	}; \
	_Static_assert(sizeof(struct gf_##name) == 4 GF_FIELDS_##name(GF_WIDTH), \
	    "padding in record " #name); \
	_Static_assert(sizeof(struct gf_##name) % 8 == 0, "length of record " #name); \
	_Static_assert(sizeof(struct gf_##name) >= (first), "record shrank: " #name); \
	_Static_assert(offsetof(struct gf_##name, time) == GF_TIME_OFFSET, "time of " #name);
GF_RECORDS(RECORD)
#undef RECORD

/** One record type as tables see it. */
struct gf_record_type {
	uint8_t tag;
	const char *name;
	uint16_t bytes;        /* journal length now */
	uint16_t first_bytes;  /* journal length of the first version */
	uint16_t column_count; /* without head */
	const struct gf_column *columns;
};
#define GF_COLUMNS_LIMIT 24 /* columns of one record type */
#define GF_TIME_COLUMN 1    /* index of `time` in every record type */

/**
 * The type of a tag.
 *
 * @param tag  any value
 * @return static description, NULL if this version does not know the tag
 */
const struct gf_record_type *gf_record_type(unsigned tag);

/**
 * Index of a column.
 *
 * @return 0 .. column_count - 1, or column_count if the type has no field of that name
 */
unsigned gf_column_index(const struct gf_record_type *type, const char *name);

/**
 * Whether the bytes of a record can be right: length of a known version, text inside the record.
 *
 * @param record  8-byte aligned; GF_HEAD_BYTES(head) bytes are readable
 * @param head    its head word, not 0
 * @return true also for a type that this version does not know
 */
bool gf_record_valid(const void *record, uint32_t head);

/** Bytes that a text takes at the end of its record; `length` is at most GF_TEXT_MAX_BYTES. */
static inline uint32_t gf_text_padded(uint32_t length)
{
	return (length + 7) & ~7u;
}

/**
 * Bytes of head and fields.  Fewer than the type has now: an older writer; more: a newer one.
 *
 * @param record  one that gf_record_valid found right
 * @param head    its head word
 */
static inline uint32_t gf_record_fixed_bytes(const void *record, uint32_t head)
{
	/* The text is the end of the record, so that fields can be added before it. */
	uint32_t text = GF_HEAD_TAG(head) == GF_TAG_text
			    ? gf_text_padded(((const struct gf_text *)record)->length)
			    : 0;
	return GF_HEAD_BYTES(head) - text;
}

/** Where the `length` bytes of text are; gf_record_valid must have said yes. */
static inline const char *gf_text_bytes(const struct gf_text *text)
{
	return (const char *)text + gf_record_fixed_bytes(text, text->head);
}

/**
 * Write the SCHEMA text of this version: every record type, field and closed list (FORMAT.md).
 *
 * @param out    may be NULL when limit is 0
 * @param limit  bytes of `out`; the text is cut there and always zero-terminated
 * @return bytes of the whole text without its terminator (below GF_TEXT_MAX_BYTES)
 *
 * Threads: any.  Never allocates.
 */
size_t gf_schema_text(char *out, size_t limit);

/**
 * Words of a value of one of the closed lists above, for people and dumps.
 *
 * @param tag    record type whose `kind`/`reason` is meant (GF_TAG_memory, ...)
 * @param value  the number
 * @return static upper-case name, or NULL if unknown
 */
const char *gf_kind_name(unsigned tag, unsigned value);

/** Name of a coding as the tables write it ("PLAIN"), NULL if unknown.  Static. */
const char *gf_coding_name(unsigned coding);

#endif
