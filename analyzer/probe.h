/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to software that may crash, hang or be missing: each is asked in a child process that
 * is given up after a while.
 *
 * Threads: the main thread.
 */
#ifndef GA_PROBE_H
#define GA_PROBE_H

enum ga_probe_state { GA_PROBE_FOUND, GA_PROBE_ABSENT, GA_PROBE_FAILED, GA_PROBE_TIMEOUT };

struct ga_probe {
	enum ga_probe_state state;
	char text[1024]; /* what was found, or why it failed */
};

/** The CUDA driver and its devices. */
void ga_probe_driver(struct ga_probe *probe);

/** The PyTorch that a Python would import, without importing it. */
void ga_probe_torch(const char *python, struct ga_probe *probe);

#endif
