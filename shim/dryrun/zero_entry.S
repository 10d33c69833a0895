/* SPDX-License-Identifier: Apache-2.0 */
/*
 * c10's memory usage reports, entered before anybody else's definition.
 *
 * Each saves the argument registers, lets gd_zero_report clear the block and look up the next
 * definition, and jumps there: the next one sees the caller's own return address, by which it finds
 * the PyTorch library that called.
 */
	.text

#if defined(__x86_64__)
	.macro report name, argument, which
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	mov	\argument, %rdx
	mov	40(%rsp), %rcx
	mov	$\which, %r8d
	call	gd_zero_report
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	\name, . - \name
	.endm

	report	_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE, %r8, 0
	report	_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE, %r8, 1
	report	_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE, %rdx, 2

#elif defined(__aarch64__)
	.macro report name, argument, which
	.globl	\name
	.type	\name, %function
\name:
	.cfi_startproc
	hint	#34				/* bti c */
	stp	x29, x30, [sp, #-64]!
	.cfi_adjust_cfa_offset 64
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	str	x4, [sp, #48]
	mov	x2, \argument
	mov	x3, x30
	mov	w4, #\which
	bl	gd_zero_report
	mov	x16, x0
	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldr	x4, [sp, #48]
	ldp	x29, x30, [sp], #64
	.cfi_adjust_cfa_offset -64
	.cfi_restore x29
	.cfi_restore x30
	br	x16
	.cfi_endproc
	.size	\name, . - \name
	.endm

	report	_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE, x4, 0
	report	_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE, x4, 1
	report	_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE, x2, 2
#else
#error "no entry points for this processor"
#endif

	.section .note.GNU-stack, "", %progbits
