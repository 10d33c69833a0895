/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records whose operations have not ended yet: a heap by the end.  Threads: any; no callback of the
 * client is called from here.
 */
#ifndef GD_CUPTI_PENDING_H
#define GD_CUPTI_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti_layout.h"

/** Keep a record. @return false without memory */
bool gd_pending_add(uint64_t end_ns, const union gd_record *record);

/** @return whether there is a record that ends no later; not of a graph.  Costs a load. */
bool gd_pending_any(uint64_t until_ns);

/**
 * Take the record that ends first.
 *
 * @param until_ns  only if it ends no later
 * @param out       set when there is one
 */
bool gd_pending_take(uint64_t until_ns, union gd_record *out);

/**
 * Make an operation part of a graph's record that waits, or of a new one.
 *
 * @param record   of the graph, with the operation's times
 * @param call     number of the launch
 */
void gd_pending_add_to_graph(const union gd_record *record, uint32_t call);

/** Take the record of a graph whose work has ended. @return false when there is none */
bool gd_pending_take_graph(uint64_t until_ns, union gd_record *out);

/** Forget all. */
void gd_pending_drop(void);

#endif
