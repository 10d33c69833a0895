/* SPDX-License-Identifier: Apache-2.0 */
/* What ends with a context: the memory and the modules made in it. */
#ifndef GD_CONTEXT_CONTENTS_H
#define GD_CONTEXT_CONTENTS_H

struct gd_context;

/** Free everything that was made in a context and is still there; its streams are gone already. */
void gd_context_contents_drop(struct gd_context *context);

#endif
