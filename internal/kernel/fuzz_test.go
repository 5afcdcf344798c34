package kernel

import (
	"testing"

	"symchef/internal/ir"
	"symchef/internal/mem"
)

// FuzzCalls makes system calls of any numbers and arguments, from any memory: each has an outcome.
// A call is 8 bytes: its row of the table, 6 arguments. The memory that arguments point to is the whole input.
func FuzzCalls(f *testing.F) {
	name := func(n string) (lo, hi byte) {
		for i, r := range calls {
			if r.name == n {
				return byte(i), byte(i >> 8)
			}
		}
		f.Fatal("no call ", n)
		return
	}
	seed := func(path string, rows ...string) {
		b := []byte(path)
		for len(b)%32 != 0 {
			b = append(b, 0)
		}
		for _, n := range rows {
			lo, hi := name(n)
			b = append(b, lo, hi, 131, 0, 132, 130, 129, 128)
		}
		f.Add(b)
	}
	seed("/tmp/a", "open", "write", "read", "pread64", "fstat", "lseek", "close", "unlink")
	seed("../b", "mkdir", "rmdir", "rename", "symlink", "readlink", "getdents64", "chdir", "truncate")
	seed("x", "pipe", "poll", "select", "dup", "fcntl", "ioctl", "readv", "writev")
	seed("y", "socketpair", "sendmsg", "recvmsg", "sendto", "bind", "listen", "accept", "getsockopt")
	seed("z", "mmap", "munmap", "mprotect", "mremap", "madvise", "brk", "mincore", "msync")
	seed("w", "fork", "clone", "wait4", "kill", "rt_sigaction", "rt_sigprocmask", "sigaltstack", "rt_sigreturn")
	seed("v", "futex", "nanosleep", "timer_create", "timerfd_create", "epoll_create1", "eventfd2", "execve", "exit_group")
	host := NewHost()
	f.Fuzz(func(t *testing.T, data []byte) {
		const at = scratch + 1<<16
		m := boot(t, Config{Host: host, Stdin: mem.Concrete([]byte("input\n")), MaxMemory: 64 << 20})
		if len(data) > 1<<15 || m.cur.proc.Mem.Write(at, data) != nil {
			return
		}
		argument := func(b byte) uint64 {
			special := []uint64{^uint64(0), ^uint64(0) - 99, 1 << 12, 1 << 16, 1 << 20, 1<<31 - 1, 1 << 31, 1 << 40, 1 << 47, 1 << 63, 0x5401, 0x80000, 0x22, scratch, text, 0xfff}
			switch {
			case b < 128:
				return at + 32*uint64(b)
			case b < 192:
				return uint64(b - 128)
			}
			return special[b&15]
		}
		for range 64 {
			c := &m.Current().CPU
			if c.PC == text { // it waited: the same call again
				c.PC += 2
			} else if len(data) < 8 {
				break
			} else {
				c.PC = text + 2
				c.Set(ir.RAX, calls[(int(data[0])|int(data[1])<<8)%len(calls)].nr)
				for i, r := range []ir.Slot{ir.RDI, ir.RSI, ir.RDX, ir.R10, ir.R8, ir.R9} {
					c.Set(r, argument(data[2+i]))
				}
				data = data[8:]
			}
			m.Retired += 1000
			switch out := m.Syscall(); out.Kind {
			case Exited, Unsupported, Deadlock, Device:
				return
			}
			m = &machine{System: m.Fork(), t: t}
		}
	})
}

// FuzzUnmarshal restores damaged snapshots.
func FuzzUnmarshal(f *testing.F) {
	b, err := boot(&testing.T{}, Config{}).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Unmarshal(data, Config{Cwd: "/", Host: NewHost()})
		if (s == nil) == (err == nil) {
			t.Fatal(s, err)
		}
	})
}
