/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators made from others.  Each rank tells the others of the parent what it wants, and an
 * id of its own; the id of the first rank of the new group is the one that is used.
 */
#include <stdlib.h>
#include <string.h>

#include "nccl_errors.h"
#include "nccl_group.h"

/* What a rank tells; the kinds do not mix. */
struct wish {
	int32_t color, key;
	struct gd_nccl_id id; /* zeros: none */
};
_Static_assert(sizeof(struct wish) <= GD_NCCL_NOTE_BYTES, "a wish fits into a note");

struct split {
	struct gd_nccl_making making;
	struct ncclComm *parent; /* a reference */
	enum gd_nccl_round kind;
	uint64_t members, turn; /* turn: among the parent's rounds of the kind */
	struct wish wish;
	int grown_ranks;   /* 0: not ncclCommGrow */
	bool parent_works; /* else it was revoked before, and is good for just this */
};

static struct wish wish_of(const char *note)
{
	struct wish wish;

	memcpy(&wish, note, sizeof(wish));
	return wish;
}

/* Place of this rank among those of its color, by key, then by rank in the parent.  The id is that
 * of the one in front. */
static int enrol_by_color(const struct split *split, char (*notes)[GD_NCCL_NOTE_BYTES])
{
	struct wish own = split->wish, first = own;
	int first_rank = split->parent->rank, count = 0, rank = 0;

	for (int r = 0; r < split->parent->ranks; r++) {
		struct wish other;

		if (!(split->members >> r & 1))
			continue;
		other = wish_of(notes[r]);
		if (other.color != own.color)
			continue;
		count++;
		rank += other.key < own.key || (other.key == own.key && r < split->parent->rank);
		if (other.key < first.key || (other.key == first.key && r < first_rank)) {
			first = other;
			first_rank = r;
		}
	}
	if (rank != 0)
		gd_nccl_id_forget(&own.id);
	return gd_nccl_enrol(split->making.comm, &first.id, count, rank);
}

/* The one rank that has an id gives it to the others; all keep their ranks. */
static int enrol_grown(const struct split *split, char (*notes)[GD_NCCL_NOTE_BYTES])
{
	static const struct gd_nccl_id none;
	struct gd_nccl_id id = none;

	for (int r = 0; r < split->parent->ranks; r++) {
		struct wish other = wish_of(notes[r]);

		if (memcmp(&other.id, &none, sizeof(none)) != 0)
			id = other.id;
	}
	return gd_nccl_enrol(split->making.comm, &id, split->grown_ranks, split->parent->rank);
}

/* Rounds of one parent are held in the order in which they were asked for. */
static void take_turn(const struct split *split)
{
	struct ncclComm *parent = split->parent;

	pthread_mutex_lock(&parent->lock);
	while (parent->served[split->kind] != split->turn)
		pthread_cond_wait(&parent->changed, &parent->lock);
	pthread_mutex_unlock(&parent->lock);
}

static void end_turn(const struct split *split)
{
	pthread_mutex_lock(&split->parent->lock);
	split->parent->served[split->kind]++;
	pthread_cond_broadcast(&split->parent->changed);
	pthread_mutex_unlock(&split->parent->lock);
}

static int talk(struct split *split, char (*notes)[GD_NCCL_NOTE_BYTES])
{
	struct ncclComm *parent = split->parent, *comm = split->making.comm;
	const _Atomic bool *const stops[2] = {
	    split->parent_works ? &parent->aborted : NULL, comm ? &comm->aborted : NULL};
	char note[GD_NCCL_NOTE_BYTES] = "";

	memcpy(note, &split->wish, sizeof(split->wish));
	return gd_nccl_exchange(&parent->segment, split->kind, split->members, note, notes, stops);
}

static int find(struct gd_nccl_making *making, bool wanted)
{
	struct split *split = (struct split *)making;
	char notes[GD_NCCL_MAX_RANKS][GD_NCCL_NOTE_BYTES];
	int status = GD_NCCL_InvalidUsage;

	take_turn(split);
	if (wanted)
		status = talk(split, notes);
	end_turn(split);
	if (status == GD_NCCL_Success && making->comm)
		status =
		    split->grown_ranks ? enrol_grown(split, notes) : enrol_by_color(split, notes);
	else
		gd_nccl_id_forget(&split->wish.id);
	gd_nccl_drop(split->parent);
	return status;
}

static int begin(struct split *split, struct ncclComm *parent, const struct gd_nccl_config *config)
{
	bool blocking = parent->config.blocking;

	if (split->wish.color >= 0) {
		int status = gd_nccl_new(&split->making.comm, parent, config);

		if (status != GD_NCCL_Success)
			return status;
		blocking = split->making.comm->config.blocking;
		split->making.comm->shares_buffers =
		    split->kind == GD_NCCL_ROUND_SHRINK
			? split->making.comm->config.shrink_share == 1
			: !split->grown_ranks && split->making.comm->config.split_share == 1;
	}
	split->parent = parent;
	split->parent_works = !atomic_load(&parent->aborted);
	split->making.find = find;
	gd_nccl_hold(parent);
	pthread_mutex_lock(&parent->lock);
	split->turn = parent->asked[split->kind]++;
	pthread_mutex_unlock(&parent->lock);
	return gd_nccl_make(&split->making, blocking);
}

static int start(
    struct ncclComm *parent, const struct split *wanted, const struct gd_nccl_config *config)
{
	struct split *split = malloc(sizeof(*split));
	int status;

	if (!split)
		return gd_nccl_fail(GD_NCCL_SystemError, "no memory");
	*split = *wanted;
	*split->making.comm_out = NULL;
	status = split->grown_ranks ? GD_NCCL_Success : ncclGetUniqueId(&split->wish.id);
	if (status == GD_NCCL_Success)
		return begin(split, parent, config);
	free(split);
	return status;
}

int ncclCommSplit(
    struct ncclComm *comm, int color, int key, struct ncclComm **out, struct gd_nccl_config *config)
{
	struct split split = {.making.comm_out = out,
	    .kind = GD_NCCL_ROUND_ALL,
	    .wish = {.color = color, .key = key}};

	if (!gd_nccl_ready(comm, __func__) || !out || color < GD_NCCL_NO_COLOR)
		return gd_nccl_group_status(GD_NCCL_InvalidArgument);
	split.members = gd_nccl_everybody(comm);
	return gd_nccl_group_status(start(comm, &split, config));
}

/* The ranks that are left out do not call this: they may be dead. */
int ncclCommShrink(struct ncclComm *comm, int *excluded, int count, struct ncclComm **out,
    struct gd_nccl_config *config, int flags)
{
	struct split split = {.making.comm_out = out, .kind = GD_NCCL_ROUND_SHRINK};

	if (!gd_nccl_ready(comm, __func__) || !out || count < 0 || (count && !excluded) ||
	    flags < 0 || flags > 1)
		return gd_nccl_group_status(GD_NCCL_InvalidArgument);
	split.members = gd_nccl_everybody(comm);
	split.wish.key = comm->rank;
	for (int i = 0; i < count; i++) {
		if (excluded[i] < 0 || excluded[i] >= comm->ranks)
			return gd_nccl_group_status(gd_nccl_fail(
			    GD_NCCL_InvalidArgument, "%s: no rank %d", __func__, excluded[i]));
		split.members &= ~(UINT64_C(1) << excluded[i]);
	}
	if (!(split.members >> comm->rank & 1))
		return gd_nccl_group_status(gd_nccl_fail(
		    GD_NCCL_InvalidArgument, "%s: called by a rank to leave out", __func__));
	if (flags == 1) /* stop what is going on first */
		gd_nccl_stop(comm);
	return gd_nccl_group_status(start(comm, &split, config));
}

int ncclCommGetUniqueId(struct ncclComm *comm, struct gd_nccl_id *id)
{
	return gd_nccl_ready(comm, __func__) ? ncclGetUniqueId(id) : GD_NCCL_InvalidArgument;
}

/* The id was made by one of the old ranks, which has it; the new ones got it from the program. */
static int grow(struct ncclComm *comm, int ranks, const struct gd_nccl_id *id,
    struct ncclComm **out, const struct gd_nccl_config *config)
{
	struct split split = {
	    .making.comm_out = out, .kind = GD_NCCL_ROUND_ALL, .grown_ranks = ranks};

	split.members = gd_nccl_everybody(comm);
	if (id)
		split.wish.id = *id;
	return start(comm, &split, config);
}

int ncclCommGrow(struct ncclComm *comm, int ranks, const struct gd_nccl_id *id, int rank,
    struct ncclComm **out, struct gd_nccl_config *config)
{
	if (!out ||
	    (comm && (!gd_nccl_ready(comm, __func__) || ranks <= comm->ranks || rank != -1)))
		return gd_nccl_group_status(gd_nccl_fail(
		    GD_NCCL_InvalidArgument, "%s: %d ranks, new rank %d", __func__, ranks, rank));
	if (comm)
		return gd_nccl_group_status(grow(comm, ranks, id, out, config));
	if (!id)
		return gd_nccl_group_status(
		    gd_nccl_fail(GD_NCCL_InvalidArgument, "%s: a new rank needs the id", __func__));
	return ncclCommInitRankConfig(out, ranks, *id, rank, config);
}
