package replay

import (
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// seccomp binds this thread, and what it executes, to the calls of the tables.
// scoped says that signals to other processes are held back by other means.
func seccomp(m Mode, scoped bool) error {
	self := uint32(os.Getpid())
	prog := filter(m, self, scoped)
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog))); e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	return nil
}

// The instructions of a filter, and offsets in struct seccomp_data, seccomp(2).
const (
	bpfLoad = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	bpfAnd  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	bpfJeq  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	bpfJge  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	bpfRet  = unix.BPF_RET | unix.BPF_K

	offNr, offArch, offArgs = 0, 4, 16

	x32 = 0x4000_0000 // in numbers of calls of that kind
)

// filter is the program of seccomp(2) for mode m and process self. If not scoped, calls with
// a scope reach that process alone. The kernel remembers which calls it allows
// whatever their arguments are, so its length costs nothing.
func filter(m Mode, self uint32, scoped bool) []unix.SockFilter {
	noSuchCall := fails(uint32(unix.ENOSYS))
	prog := []unix.SockFilter{
		{Code: bpfLoad, K: offArch},
		{Code: bpfJeq, Jt: 1, K: unix.AUDIT_ARCH_X86_64}, // int 0x80 and its like
		noSuchCall,
		{Code: bpfLoad, K: offNr},
		{Code: bpfJge, Jf: 1, K: x32},
		noSuchCall,
	}
	// call appends what happens to call nr: body, which has to end in a ret.
	call := func(nr uint32, body ...unix.SockFilter) {
		prog = append(prog, unix.SockFilter{Code: bpfJeq, Jf: uint8(len(body)), K: nr})
		prog = append(prog, body...)
	}
	here := map[uint32]bool{} // calls that are allowed in this mode
	for _, r := range allowed {
		if r.in != "" && r.in != m {
			continue
		}
		body := r.body(self, scoped)
		for _, nr := range r.calls {
			here[nr] = true
			call(nr, body...)
		}
	}
	for _, r := range slices.Concat(allowed, refused) {
		for _, nr := range r.calls {
			if !here[nr] {
				here[nr] = true
				call(nr, fails(r.failure()))
			}
		}
	}
	return append(prog, noSuchCall)
}

// fails is the end of a call with an errno.
func fails(errno uint32) unix.SockFilter {
	return unix.SockFilter{Code: bpfRet, K: unix.SECCOMP_RET_ERRNO | errno}
}

// body is what happens to calls of r, made by process self.
func (r rule) body(self uint32, scoped bool) (body []unix.SockFilter) {
	failed := fails(r.failure())
	if r.never {
		return []unix.SockFilter{failed}
	}
	tests := r.when
	if r.scope && !scoped {
		tests = []test{{arg: 0, oneOf: []uint32{self}}}
	}
	for _, t := range tests {
		body = append(body, unix.SockFilter{Code: bpfLoad, K: uint32(offArgs + 8*t.arg)})
		if t.mask != 0 {
			body = append(body, unix.SockFilter{Code: bpfAnd, K: t.mask})
		}
		if t.not != 0 {
			body = append(body, unix.SockFilter{Code: bpfJeq, Jf: 1, K: t.not}, failed)
			continue
		}
		good := t.good(self, scoped)
		for i, v := range good {
			body = append(body, unix.SockFilter{Code: bpfJeq, Jt: uint8(len(good) - i), K: v})
		}
		body = append(body, failed)
	}
	if r.seen {
		return append(body, unix.SockFilter{Code: bpfRet, K: unix.SECCOMP_RET_TRACE})
	}
	return append(body, unix.SockFilter{Code: bpfRet, K: unix.SECCOMP_RET_ALLOW})
}

// good are the values that t allows.
func (t test) good(self uint32, scoped bool) []uint32 {
	good := slices.Clone(t.oneOf)
	if scoped {
		good = append(good, t.scoped...)
	}
	if good == nil {
		good = []uint32{0}
	}
	if t.self {
		good = append(good, self)
	}
	return good
}

// failure is the errno of r as a filter returns it.
func (r rule) failure() uint32 {
	switch r.errno {
	case 0:
		return uint32(unix.EPERM)
	case done:
		return 0
	}
	return uint32(r.errno)
}
