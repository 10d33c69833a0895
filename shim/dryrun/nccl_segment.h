/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ranks of one communicator share: a file in memory that the process of the unique id
 * makes and the others open by its ticket (shared_files.h), so that nothing is left behind whoever
 * dies.
 *
 * Nothing in it is locked: a rank writes its own fields and publishes them by a counter, and
 * everybody sleeps on one bell, so that a rank that dies holds up nobody but those who need its
 * data. Threads: any, any process.
 */
#ifndef GD_NCCL_SEGMENT_H
#define GD_NCCL_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl_api.h"

#define GD_NCCL_MAX_RANKS 64 /* as many as a run has devices */
#define GD_NCCL_NOTE_BYTES 192

/* Two kinds of rounds, as not all ranks take part in the second. */
enum gd_nccl_round { GD_NCCL_ROUND_ALL, GD_NCCL_ROUND_SHRINK, GD_NCCL_ROUNDS };

enum gd_nccl_presence { GD_NCCL_ABSENT, GD_NCCL_JOINED, GD_NCCL_LEFT, GD_NCCL_ABORTED };

/* What a rank is about to do together with the others; all have to say the same. */
struct gd_nccl_order {
	uint64_t count;
	uint32_t call, type, op;
	int32_t root;
};

struct gd_nccl_rank {
	_Atomic uint32_t presence;
	int32_t pid;
	uint64_t start_time; /* of the process */
	char device[32];     /* PCI address: two ranks may not have the same */
	/* Collectives: number of the last one that the rank came to, and has all data of. */
	_Atomic uint64_t posted, taken;
	struct gd_nccl_order order;
	bool unknown; /* not all that it contributes was computed: see gd_nccl_unknown */
	uint64_t start_ns;
	/* Rounds on the host: number of the last; one note for each parity. */
	_Atomic uint64_t told[GD_NCCL_ROUNDS];
	char notes[GD_NCCL_ROUNDS][2][GD_NCCL_NOTE_BYTES];
};

/* One message at a time from one rank to another. */
struct gd_nccl_channel {
	_Atomic uint64_t sent, taken;
	uint64_t bytes, sent_ns, taken_ns;
	uint32_t type;
	bool unknown; /* as of a rank */
};

struct gd_nccl_shared {
	_Atomic uint32_t ranks; /* 0: the first who joins sets it */
	_Atomic uint32_t bell;
	struct gd_nccl_rank rank[GD_NCCL_MAX_RANKS];
	struct gd_nccl_channel channel[GD_NCCL_MAX_RANKS][GD_NCCL_MAX_RANKS]; /* [from][to] */
};

struct gd_nccl_segment {
	struct gd_nccl_shared *shared; /* NULL: not joined */
	size_t bytes;		       /* mapped */
	uint64_t area_bytes;	       /* room for what one rank contributes, and for one message */
	int ranks, rank;
};

/**
 * Make an id and the memory it leads to, which this process keeps until a rank of its own joined.
 *
 * @param area_bytes  largest message that is really exchanged
 * @return status
 */
int gd_nccl_id_make(struct gd_nccl_id *id_out, uint64_t area_bytes);

/** An id of this process is not going to be used. */
void gd_nccl_id_forget(const struct gd_nccl_id *id);

/**
 * Join as one rank; waits for nobody.
 *
 * @param device  PCI address of the rank's device; cut at 31
 * @return status; on failure nothing is joined
 */
int gd_nccl_join(struct gd_nccl_segment *segment, const struct gd_nccl_id *id, int ranks, int rank,
    const char *device);

/** Tell the others that this rank is gone; harmless when not joined. */
void gd_nccl_leave(const struct gd_nccl_segment *segment, enum gd_nccl_presence presence);

/** Give the memory back; nobody in this process uses this rank's segment any more. */
void gd_nccl_close(struct gd_nccl_segment *segment);

/** @return room for what a rank contributes to a collective, or for a message */
char *gd_nccl_area(const struct gd_nccl_segment *segment, int rank);
char *gd_nccl_message(const struct gd_nccl_segment *segment, int from, int to);

/** @return a byte for each byte of such a room, 1 for what nobody has computed */
char *gd_nccl_unknown(const struct gd_nccl_segment *segment, char *room);

/** Wake all who sleep on the bell; harmless when not joined. */
void gd_nccl_ring(const struct gd_nccl_segment *segment);

/** @return the bell's count; to be read before the condition that is waited for */
uint32_t gd_nccl_bell(const struct gd_nccl_segment *segment);

/** Sleep until the bell is no more at `seen`. @return false after a while without that */
bool gd_nccl_sleep(const struct gd_nccl_segment *segment, uint32_t seen);

/** @return whether a rank that had joined is gone: died, aborted or left */
bool gd_nccl_gone(const struct gd_nccl_segment *segment, int rank);

/**
 * A round on the host: tell the others something and wait for what they tell in the same round.
 * One at a time of each kind.
 *
 * @param members  who takes part: bit for each rank
 * @param note     of this rank
 * @param notes    gets that of each member; room for all ranks
 * @param stops    two flags that end the waiting; NULL: none
 * @return GD_NCCL_Success; GD_NCCL_RemoteError when one is gone; GD_NCCL_InternalError when stopped
 */
int gd_nccl_exchange(const struct gd_nccl_segment *segment, enum gd_nccl_round kind,
    uint64_t members, const char note[GD_NCCL_NOTE_BYTES], char (*notes)[GD_NCCL_NOTE_BYTES],
    const _Atomic bool *const stops[2]);

#endif
