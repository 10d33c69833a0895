/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stubs for functions that no stand-in library has (audit_unknown.h): each tells its number.  They
 * are entered in place of functions of any type, so they leave the stack alone and jump on.
 */
#include "shim/dryrun/audit_stubs.h"

	.text
	.hidden	gd_unknown_stubs
	.globl	gd_unknown_stubs
	.type	gd_unknown_stubs, %object
	.balign	GD_UNKNOWN_BYTES
gd_unknown_stubs:
	.set	slot, 0
	.rept	GD_UNKNOWN_MOST
	.balign	GD_UNKNOWN_BYTES
#if defined(__x86_64__)
	endbr64
	movl	$slot, %edi
	jmp	gd_unknown_called
#elif defined(__aarch64__)
	hint	#34				/* bti c */
	mov	w0, #slot
	b	gd_unknown_called
#else
#error "no stubs for this processor"
#endif
	.set	slot, slot + 1
	.endr
	.size	gd_unknown_stubs, . - gd_unknown_stubs

	.section .note.GNU-stack, "", %progbits
