/* SPDX-License-Identifier: Apache-2.0 */
/*
 * void *dlsym(void *handle, const char *name)
 *
 * Not in C: glibc takes the scope of RTLD_NEXT and RTLD_DEFAULT from the return address, so the real
 * dlsym must be entered by a jump, with the caller's return address still in place.  One unversioned
 * export serves references to every version of dlsym.
 */
	.text
	.globl dlsym
	.type dlsym, %function
	.hidden gs_dlsym_filter
	.hidden gs_real_dlsym

#if defined(__x86_64__)

	.p2align 4
dlsym:
	.cfi_startproc
	endbr64
	push %rdi
	.cfi_adjust_cfa_offset 8
	push %rsi
	.cfi_adjust_cfa_offset 8
	sub $8, %rsp /* a multiple of 16 at the call */
	.cfi_adjust_cfa_offset 8
	mov 24(%rsp), %rdx
	call gs_dlsym_filter
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rdi
	.cfi_adjust_cfa_offset -8
	test %rax, %rax
	jne 1f
	mov gs_real_dlsym(%rip), %rax
	test %rax, %rax
	je 1f /* no dlsym behind ours: NULL */
	jmp *%rax
1:	ret
	.cfi_endproc
	.size dlsym, .-dlsym

#elif defined(__aarch64__)

	.p2align 4
dlsym:
	.cfi_startproc
	hint #34 /* bti c */
	stp x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov x29, sp
	stp x0, x1, [sp, #16]
	mov x2, x30
	bl gs_dlsym_filter
	mov x16, x0
	ldp x0, x1, [sp, #16]
	ldp x29, x30, [sp], #32
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	.cfi_restore 30
	cbnz x16, 1f
	adrp x16, gs_real_dlsym
	ldr x16, [x16, #:lo12:gs_real_dlsym]
	cbz x16, 1f
	br x16
1:	mov x0, x16
	ret
	.cfi_endproc
	.size dlsym, .-dlsym

#else
#error "dlsym.S: no code for this processor"
#endif

	.section .note.GNU-stack, "", %progbits
