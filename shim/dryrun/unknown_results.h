/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of kernels that are not executed and that the program reads back all the same: counted by
 * kernel for the end of the run.
 *
 * Arguments of most such kernels are not known, so it is guessed which one made a result: the first
 * that its thread launched after the block was handed out.  Only blocks up to GD_AUTHORED_BYTES are
 * followed, those that programs decide by; what is read of others is counted without a kernel.
 * Threads: any.
 */
#ifndef GD_UNKNOWN_RESULTS_H
#define GD_UNKNOWN_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

struct gd_function;

/** A block is handed out. */
void gd_result_handed_out(uint64_t address, uint64_t bytes);

/** @return the number of a kernel among those that leave results unknown, at least 1 */
uint16_t gd_result_author(struct gd_function *function);

/**
 * A kernel is launched.  Costs a load when no block waits for its author.
 *
 * @param computes  it is executed
 */
void gd_result_launched(struct gd_function *function, bool computes);

/** The program reads device memory. */
void gd_result_read(uint64_t address, uint64_t bytes);

/** A decision was taken for the program without the numbers that it needs. */
void gd_result_assumed(uint16_t author);

#endif
