/* SPDX-License-Identifier: Apache-2.0 */
/* A symbol without a value: dlsym answers NULL, as on C libraries that do not have the function. */
	.globl	_dl_find_object
	.type	_dl_find_object, %function
	.set	_dl_find_object, 0
	.section .note.GNU-stack, "", %progbits
