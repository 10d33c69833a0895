/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that names the release; the Makefile reads it too. */
#ifndef GA_VERSION_H
#define GA_VERSION_H

#define GA_VERSION "0.1.0"

#endif
