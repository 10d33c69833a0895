/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a block made in backward to the line of the forward pass that it belongs to.
 *
 * PyTorch numbers the nodes of its autograd graph as they are made.  The function that gives the
 * numbers out and the one that runs a node in backward are exported and called through the PLT, so
 * this library defines both: the first notes the Python stack under the number, the second looks the
 * number of its node up for as long as the node runs.
 *
 * Each thread counts its nodes from 0; a node also keeps PyTorch's number of the thread that made it.
 *
 * Threads: any.
 */
#ifndef GS_AUTOGRAD_HOOKS_H
#define GS_AUTOGRAD_HOOKS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/** A recording begins: no node is known. */
void gs_autograd_reset(void);

/** Why backward is not linked to forward, NULL if it is or was not needed so far.  Static. */
const char *gs_autograd_notice(void);

/**
 * Where a node keeps its number, from the run-time type information of the class.
 *
 * @param type  address of torch::autograd::Node's type_info
 * @return byte offset, 0 if the class is not of a known kind
 */
unsigned gs_autograd_number_offset(const void *const *type);

#pragma GCC visibility pop

#endif
