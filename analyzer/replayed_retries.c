/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/replayed_retries.h"

#include <stdlib.h>

#include "analyzer/fragmentation_finding.h"

static void replay(const struct ga_recorded_allocator *input, struct ga_account *account)
{
	struct ga_fidelity fidelity;
	ga_replay_verify(&input->trace, input->segments, input->segment_count, &fidelity);
	if (fidelity.first_mismatch != UINT64_MAX ||
	    fidelity.segments_matched != fidelity.segments ||
	    fidelity.counts.ooms != account->oom_count)
		return;
	account->retry_count = fidelity.counts.retries;
	account->unknown_retries = 0;
}

static enum gf_status settle(
    struct ga_model *model, struct ga_account *account, struct gf_error *error)
{
	struct ga_recorded_allocator input;
	struct gf_error refusal = {0};
	enum gf_status status =
	    ga_recorded_allocator_read(model, account->device, &input, &refusal);
	if (status == GF_UNSUPPORTED)
		return GF_OK;
	if (status) {
		*error = refusal;
		return status;
	}
	char *obstacle = ga_finding_obstacle(model, &input);
	if (!obstacle)
		replay(&input, account);
	free(obstacle);
	ga_recorded_allocator_clear(&input);
	return GF_OK;
}

enum gf_status ga_retries_settle(struct ga_memory *memory, struct gf_error *error)
{
	enum gf_status status = GF_OK;
	for (unsigned device = 0; device < GA_DEVICE_LIMIT && !status; device++) {
		struct ga_account *account = memory->accounts.by_device[device];
		if (account && account->unknown_retries)
			status = settle(memory->model, account, error);
	}
	return status;
}
