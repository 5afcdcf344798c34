// Package nativeboot executes the start of a guest on the host's processor: what a machine does in seconds is done in
// tens of milliseconds.
//
//	b := nativeboot.Boot{Sys: sys, Before: func(path string) bool { return path == kernel.DevicePath }}
//	ended, err := b.Run(ctx)
//	// sys goes on in the machine
//
// # What is native, and what is not
//
// Only instructions are. A process of the host, empty but for one page, is given the memory and the registers of the guest's task.
// It runs under ptrace(2) with PTRACE_SYSEMU: no system call of its is ever executed, each is answered by the
// model (package kernel), whose address space is lent to the process meanwhile (mem.Remote); what shared mappings show as well, as a file.
// Memory that stands in a file, as that of a snapshot, is mapped from there, and what the process has not written of it is not read back. So the guest sees the
// same Linux as in the machine, and nothing of it can touch the host. A seccomp filter kills the process at any call that
// is executed after all and is not one of ours.
//
// Instructions that would tell the host's processor from the machine's are caught: RDTSC faults (PR_SET_TSC; some virtual machines ignore that), and those
// like CPUID, and RDTSC where it does not fault, are found wherever memory becomes executable and replaced by a breakpoint. Not every processor can let CPUID fault
// (arch_prctl(2), ARCH_SET_CPUID), so this is the one way. A page where such bytes stand and no known function tells
// whether they are an instruction is not executable natively: it is walked through instruction by instruction. Nor is memory that is no
// file's, or that can be written and executed.
//
// # Where it ends
//
// The system is whole between any two instructions, so a native run may end anywhere, and the machine goes on: where
// Before says so, and where something comes that is not done natively (children, faults, generated code). Threads take turns
// where they wait, in the machine, too (kernel.System.Preempt); timers expire at system calls, and the model enters handlers of signals. The state is the one that the machine would have reached; what differs is
// Retired, which the clock does not depend on then (kernel.System).
//
// Two things escape: results that the processor leaves undefined, and in the memory that FXSAVE writes what is no
// register: MXCSR_MASK and the last x87 instruction.
//
// Glossary: gate the page of our own in the process, guest's what belongs to the model.
package nativeboot
