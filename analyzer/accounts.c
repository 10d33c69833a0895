/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/accounts.h"

#include <stdlib.h>

#include "analyzer/xalloc.h"

struct ga_account *ga_account_open(struct ga_accounts *accounts, unsigned device)
{
	if (device >= GA_DEVICE_LIMIT) {
		accounts->misplaced++;
		return NULL;
	}
	struct ga_account *account = accounts->by_device[device];
	if (account)
		return account;
	account = ga_xalloc(1, sizeof(*account));
	account->device = (uint16_t)device;
	account->totals_known = true;
	account->timeline = ga_xalloc(1, sizeof(*account->timeline));
	ga_timeline_init(account->timeline, accounts->first_ticks, accounts->last_ticks);
	accounts->by_device[device] = account;
	return account;
}

void ga_accounts_free(struct ga_accounts *accounts)
{
	for (unsigned i = 0; i < GA_DEVICE_LIMIT; i++) {
		struct ga_account *account = accounts->by_device[i];
		if (!account)
			continue;
		free(account->departed);
		free(account->timeline);
		free(account);
		accounts->by_device[i] = NULL;
	}
}

void ga_account_note(struct ga_account *account, uint64_t ticks, uint64_t order)
{
	struct ga_point point = {ticks, account->allocated, account->reserved};
	ga_timeline_add(account->timeline, point);
	if (point.allocated > account->peak.allocated) {
		account->peak = point;
		account->peak_order = order;
		account->peak_non_torch = account->non_torch;
		account->departed_count = 0;
	}
	if (point.reserved > account->peak_reserved.reserved)
		account->peak_reserved = point;
}

void ga_account_correct(
    uint64_t *sum, uint64_t total, uint64_t ticks, struct ga_difference *difference)
{
	if (*sum == total)
		return;
	uint64_t bytes = *sum > total ? *sum - total : total - *sum;
	if (difference->count++ == 0)
		difference->first_ticks = ticks;
	if (bytes > difference->most_bytes)
		difference->most_bytes = bytes;
	*sum = total;
}

void ga_account_depart(struct ga_account *account, const struct ga_block *block)
{
	if (block->order > account->peak_order)
		return;
	account->departed = ga_xgrow(account->departed, account->departed_count,
	    &account->departed_capacity, sizeof(*account->departed));
	account->departed[account->departed_count++] = *block;
}
