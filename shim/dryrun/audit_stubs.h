/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of the stubs in audit_stubs.S; included from assembler, too. */
#ifndef GD_AUDIT_STUBS_H
#define GD_AUDIT_STUBS_H

#define GD_UNKNOWN_MOST 1024
#define GD_UNKNOWN_BYTES 16

#endif
