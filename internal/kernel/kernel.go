// Package kernel models the part of Linux that guests see: processes, tasks,
// files, time. The whole model is one value, System, that is forked with its state.
//
// The engine (package exec) runs tasks and calls Syscall at each system call;
// the model never calls upward. It returns an Outcome that says what happens next.
//
//	sys, err := kernel.Boot(kernel.Config{...})   // loads the program, one process, one task
//	out := sys.Syscall()                          // of the current task, arguments in its registers
//
// # Invariants
//
//   - Fork is cheap (time in the number of tasks and open files, not of bytes) and complete:
//     nothing mutable is shared between the two systems.
//   - A call that returns NeedConcrete has had no effect and is made again.
//   - What the guest can see is a function of Config, the host's files and the guest's own
//     actions: no host clock, pid, address or random number gets in.
package kernel

import (
	"symchef/internal/cpu"
	"symchef/internal/mem"
)

// OutcomeKind says what the engine does after a system call.
type OutcomeKind uint8

// The outcomes.
const (
	// Done: the result is in the task's RAX (or the task has a new context: execve, sigreturn).
	Done OutcomeKind = iota
	// Switch: the current task waits or gave up the processor; Sys.Current has changed.
	Switch
	// Exited: the first process has ended; see System.ExitStatus.
	Exited
	// NeedConcrete: memory [Addr, Addr+Len) must be concrete; fix it and call again.
	NeedConcrete
	// Device: Request was written to the guest device; the engine answers through
	// System.DeviceReply and then lets the task go on.
	Device
	// Unsupported: the model does not handle this call or argument; What names it. The path ends.
	Unsupported
	// Deadlock: every task waits and nothing can wake one.
	Deadlock
)

// Outcome is the result of one system call.
type Outcome struct {
	Kind    OutcomeKind
	Addr    uint64
	Len     uint64
	Request mem.Bytes // its first line is concrete
	What    string
}

// Status is how a process ended: an exit code, or the number of the signal that killed it.
type Status struct {
	Code   int
	Signal int // 0: exited with Code
}

// Task is a thread. Its state beside the registers is in task.go.
type Task struct {
	CPU cpu.CPU
	TID int
	task
}

// Process is a thread group with its address space. Two processes share one Space
// between vfork(2) and the child's execve(2) or end.
type Process struct {
	PID int
	Mem *mem.Space
	process
}
