package replay

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A tracee is a process that is stopped under ptrace(2) right before a syscall instruction of its own. It makes
// system calls on order, in its confinement, and can go on as if it had never been stopped. One thread drives it.
type tracee struct {
	pid int
	// at are the registers it goes on with: the instruction at at.Rip is syscall.
	at unix.PtraceRegs
}

// errGone is a tracee that has ended or does what it was not told.
var errGone = errors.New("the process does not do what it is told")

// syscallStop is the signal of a stop at a system call (PTRACE_O_TRACESYSGOOD).
const syscallStop = unix.SIGTRAP | 0x80

// syscallInfo is struct ptrace_syscall_info of ptrace(2); what follows Args is not needed.
type syscallInfo struct {
	Op         uint8
	_          [3]byte
	Arch       uint32
	IP, SP, NR uint64
	Args       [6]uint64
	_          [16]byte
}

// Values of syscallInfo.Op.
const (
	atEntry = 1
	atExit  = 2
)

func getSyscallInfo(pid int) (syscallInfo, error) {
	const request = 0x420e // PTRACE_GET_SYSCALL_INFO
	var i syscallInfo
	return i, ptrace(request, pid, unsafe.Sizeof(i), unsafe.Pointer(&i))
}

// ptrace makes a request without telling Go's scheduler, which would find other work for the thread: none takes long.
func ptrace(request, pid int, addr uintptr, data unsafe.Pointer) error {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(pid), addr, uintptr(data), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// waitFor waits until process pid stops or ends.
func waitFor(pid int) (ws unix.WaitStatus, err error) {
	for {
		if _, err = unix.Wait4(pid, &ws, unix.WALL, nil); err != unix.EINTR {
			return ws, err
		}
	}
}

// soon is waitFor where it does not take long: see ptrace.
func soon(pid int) (ws unix.WaitStatus, err error) {
	for {
		_, _, e := unix.RawSyscall6(unix.SYS_WAIT4, uintptr(pid), uintptr(unsafe.Pointer(&ws)), unix.WALL, 0, 0, 0)
		switch e {
		case 0:
			return ws, nil
		case unix.EINTR:
		default:
			return ws, e
		}
	}
}

// stopAt resumes t until its next system call begins or ends, as op says. It passes over the event at which a child of t exists,
// and returns that child.
func (t *tracee) stopAt(op uint8) (child int, err error) {
	for {
		if err := ptrace(unix.PTRACE_SYSCALL, t.pid, 0, nil); err != nil {
			return child, err
		}
		ws, err := soon(t.pid)
		if err != nil {
			return child, err
		}
		if ws.Stopped() && ws.TrapCause() == unix.PTRACE_EVENT_FORK {
			pid, err := unix.PtraceGetEventMsg(t.pid)
			if err != nil {
				return child, err
			}
			child = int(pid)
			continue
		}
		if !ws.Stopped() || ws.StopSignal() != syscallStop {
			return child, fmt.Errorf("%w: status %#x", errGone, ws)
		}
		i, err := getSyscallInfo(t.pid)
		if err == nil && i.Op != op {
			err = fmt.Errorf("%w: stopped at %d", errGone, i.Op)
		}
		return child, err
	}
}

// order makes t execute a system call. A child that this makes is stopped, too.
func (t *tracee) order(nr uint64, args ...uint64) (result uint64, child int, err error) {
	r := t.at
	r.Rax, r.Orig_rax = nr, ^uint64(0) // no call to restart
	for i, to := range [6]*uint64{&r.Rdi, &r.Rsi, &r.Rdx, &r.R10, &r.R8, &r.R9} {
		if *to = 0; i < len(args) {
			*to = args[i]
		}
	}
	if err := ptrace(unix.PTRACE_SETREGS, t.pid, 0, unsafe.Pointer(&r)); err != nil {
		return 0, 0, err
	}
	if _, err := t.stopAt(atEntry); err != nil {
		return 0, 0, err
	}
	if child, err = t.stopAt(atExit); err != nil {
		return 0, child, err
	}
	if err := ptrace(unix.PTRACE_GETREGS, t.pid, 0, unsafe.Pointer(&r)); err != nil {
		return 0, child, err
	}
	if e := -int64(r.Rax); e > 0 && e < 4096 {
		return 0, child, fmt.Errorf("system call %d: %w", nr, unix.Errno(e))
	}
	return r.Rax, child, nil
}

// do makes several system calls; those after one that fails are not made.
func (t *tracee) do(calls ...[]uint64) error {
	for _, c := range calls {
		if _, _, err := t.order(c[0], c[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// rewind is for a tracee that is about to make a system call: afterwards it is right before it.
func (t *tracee) rewind() error {
	if err := unix.PtraceGetRegs(t.pid, &t.at); err != nil {
		return err
	}
	r := t.at
	t.at.Rip -= 2
	t.at.Rax, t.at.Orig_rax = r.Orig_rax, ^uint64(0)
	var code [2]byte
	if n, err := unix.PtracePeekData(t.pid, uintptr(t.at.Rip), code[:]); err != nil || n != 2 || code != [2]byte{0x0f, 0x05} {
		return errors.Join(errors.New("a system call by another instruction than syscall"), err)
	}
	r.Orig_rax = unix.SYS_GETPID // in its place
	if err := unix.PtraceSetRegs(t.pid, &r); err != nil {
		return err
	}
	_, err := t.stopAt(atExit)
	return err
}

// release lets t go on, untraced.
func (t *tracee) release() error {
	if err := unix.PtraceSetRegs(t.pid, &t.at); err != nil {
		return err
	}
	return unix.PtraceDetach(t.pid)
}

// readText reports whether text, and then a zero, is what stands at addr.
func (t *tracee) readText(addr uint64, text string) bool {
	b := make([]byte, len(text)+1)
	n, err := unix.PtracePeekData(t.pid, uintptr(addr), b[:1])
	if err != nil || n == 0 || b[0] != text[0] {
		return false // without reading the whole: most texts are another's
	}
	n, err = unix.PtracePeekData(t.pid, uintptr(addr), b)
	return err == nil && n == len(b) && bytes.Equal(b[:n-1], []byte(text)) && b[n-1] == 0
}
