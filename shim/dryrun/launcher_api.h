/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libcuda.so.1 of the stand-in exports beside the driver's functions.  Other parts reach these
 * by dlsym on the handle of libcuda.so.1; nothing links against it.
 */
#ifndef GD_LAUNCHER_API_H
#define GD_LAUNCHER_API_H

#include <stddef.h>
#include <stdint.h>

/**
 * Write the counts of a finished run as JSON.
 *
 * @param shared_path  the run's GPUSHIM_DRYRUN_SHARED
 * @param json_path    file to write; a run that never used the device gives zeros
 * @return 0 or errno
 */
int gpushim_dryrun_write_stats(const char *shared_path, const char *json_path);

/**
 * Name the functions that the run reached and that are not provided; nothing when there are none.
 *
 * @param fd  where to write
 * @return 0
 */
int gpushim_dryrun_tell(const char *shared_path, int fd);

/**
 * Make device memory read as zeros.  Costs a few nanoseconds where nothing was stored.
 * An address that is no device memory is ignored.  Threads: any; takes no lock.
 *
 * @param address  device address
 * @param bytes    length; may span several mappings
 */
void gpushim_dryrun_clear(void *address, size_t bytes);

/**
 * The same behind the work that is still queued in a stream: it may use what lay there before.
 *
 * @param stream_of  asked for the CUstream, only when work is queued somewhere; it may not call the
 *                   driver
 * @param user       handed to `stream_of`
 */
void gpushim_dryrun_clear_in_order(
    void *address, size_t bytes, void *(*stream_of)(void *user), void *user);

/**
 * Read device memory whose contents are known: copies brought them, or kernels that are executed.
 *
 * @param to     room for `bytes`
 * @param from   device address
 * @param bytes  length
 * @return 1; 0 when it is no device memory or holds what nobody has computed: nothing is read
 *
 * Does not wait for work in front.  Threads: any; takes no lock.
 */
int gpushim_dryrun_load(void *to, unsigned long long from, size_t bytes);

/**
 * Write device memory, as a kernel would: more than the largest real copy reads as zeros.  Does not
 * wait for work in front; an address that is no device memory is ignored.  Threads: any.
 */
void gpushim_dryrun_store(unsigned long long to, const void *from, size_t bytes);

/**
 * Note that a function of another stand-in library was reached and is not provided.
 *
 * @param name  exported name; copied
 */
void gpushim_dryrun_missing(const char *name);

/**
 * Tell what the next kernel launch of this thread computes, for the model clock.
 *
 * @param flops      floating point operations
 * @param precision  0 fp32, 1 tf32, 2 fp16 and bf16
 */
void gpushim_dryrun_hint(unsigned long long flops, int precision);

/**
 * Ask the fault script about a call of another stand-in library, or about one of its own events.
 *
 * @param name  the function, or what fault_script.h lists
 * @return 0, or what the script says
 */
int gpushim_dryrun_fault(const char *name);

/* What a kernel does that waits for other processes or devices.  Nothing here may call the driver. */
struct gd_meeting {
	/* It was enqueued (again, when a graph is launched).  @return its number, handed to `meet`;
	 * called under locks of the driver, in the order of the stream */
	uint64_t (*arrive)(void *user);
	/* Its stream has reached it, at a time of the simulated clock; on the stream's own thread.
	 * @return when the last of those it waits for came, on the same clock */
	uint64_t (*meet)(void *user, uint64_t number, uint64_t start_ns);
	/* It will not be enqueued again, and no `meet` runs. */
	void (*drop)(void *user);
	void *user;
	/* For the model clock: bytes that the busiest link of the device carries, one after the
	 * other in so many steps. */
	uint64_t link_bytes;
	uint32_t steps;
};

/**
 * Let the next kernel launch of this thread be a meeting.
 *
 * @param meeting  copied; NULL: the last one is not wanted any more (its launch was refused before
 *                 it reached the driver)
 * @return 0, or -1 without memory: `drop` is not called then
 */
int gpushim_dryrun_meet(const struct gd_meeting *meeting);

/**
 * Read or write memory of the device, or memory of the host that the driver knows, at once.
 *
 * @param from  to write; NULL: zeros
 * @return 0, or -1 when the range is no such memory: nothing was touched
 *
 * Threads: any; also inside `meet`.
 */
int gpushim_dryrun_read(void *to, const void *from, size_t bytes);
int gpushim_dryrun_write(void *to, const void *from, size_t bytes);

/**
 * Tell which bytes of a range that was just read nobody has computed.
 *
 * @param unknown_out  a byte for each, 1 for an unknown one; untouched when all are known
 * @return whether there is one
 */
int gpushim_dryrun_unknown(char *unknown_out, const void *from, size_t bytes);

/** Forget those bytes of a range just written of which `unknown` says so. */
void gpushim_dryrun_forget(void *to, const char *unknown, size_t bytes);

/** @return GPUSHIM_DRYRUN_REAL_COPY: bytes of the largest copy that is real */
size_t gpushim_dryrun_real_copy(void);

/* Handles that have an id beside what the driver's own functions tell. */
enum gd_id_of { GD_ID_OF_GRAPH, GD_ID_OF_NODE, GD_ID_OF_EXEC };

/** @return the id that operations carry for a graph's handle; 0 for what is none */
unsigned long long gpushim_dryrun_graph_id(int id_of, void *handle);

struct gd_operation;

/**
 * See every operation that is enqueued on a device: the source of the stand-in CUPTI.
 *
 * @param see   called on the enqueuing thread (for work behind a host function: on the stream's own
 *              thread) with the operation, valid during the call; NULL ends it.  It must not call
 * the driver.
 * @param user  handed to `see`
 */
void gpushim_dryrun_observe(
    void (*see)(const struct gd_operation *operation, void *user), void *user);

#endif
