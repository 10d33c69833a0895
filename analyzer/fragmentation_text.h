/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of fragmentation as text for people.
 *
 * Threads: one at a time per page.
 */
#ifndef GA_FRAGMENTATION_TEXT_H
#define GA_FRAGMENTATION_TEXT_H

#include "analyzer/fragmentation_finding.h"
#include "analyzer/render.h"

/** The verdict on a device in some sentences. */
void ga_fragmentation_verdict(const struct ga_finding *finding, const struct ga_page *page);

/** The evidence: split of the peak, bounds, settings. */
void ga_fragmentation_text(const struct ga_finding *finding, const struct ga_page *page);

#endif
