package kernel

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// scratch is where the tests keep what they pass to calls.
const (
	scratch = uint64(0x10000000)
	text    = uint64(0x400000)
)

// machine makes system calls on a System without a program.
type machine struct {
	*System
	t   *testing.T
	top uint64
}

// reloaded is the system written and read again, as in a snapshot.
func (m *machine) reloaded() *System {
	m.t.Helper()
	data, err := m.Marshal()
	if err != nil {
		m.t.Fatal(err)
	}
	back, err := Unmarshal(data, *m.cfg)
	if err != nil {
		m.t.Fatal(err)
	}
	return back
}

func boot(t *testing.T, cfg Config) *machine {
	t.Helper()
	if cfg.Cwd == "" {
		cfg.Cwd = "/"
	}
	if cfg.Host == nil {
		cfg.Host = NewHost()
	}
	cfg.UID, cfg.GID = os.Getuid(), os.Getgid()
	s := newSystem(&cfg)
	s.start()
	s.cur.proc.Mem = mem.NewSpace()
	s.cur.proc.Mem.Objects = s.objects
	m := &machine{System: s, t: t, top: scratch}
	for _, a := range []mem.Area{
		{Start: scratch, End: scratch + 1<<20, Prot: guest.ProtRead | guest.ProtWrite},
		{Start: text, End: text + 4096, Prot: guest.ProtRead | guest.ProtExec, Name: "text"},
	} {
		if err := s.cur.proc.Mem.MapArea(a); err != nil {
			t.Fatal(err)
		}
	}
	s.cur.CPU.PC = text + 2
	s.cur.CPU.Set(ir.RSP, scratch+1<<20-4096)
	return m
}

// data puts bytes into scratch memory and returns their address.
func (m *machine) data(b []byte) uint64 {
	m.t.Helper()
	at := m.top
	m.top = (m.top + uint64(len(b)) + 15) &^ 15
	if err := m.CurrentProcess().Mem.Write(at, b); err != nil {
		m.t.Fatal(err)
	}
	return at
}

func (m *machine) str(s string) uint64 { return m.data(append([]byte(s), 0)) }
func (m *machine) space(n int) uint64  { return m.data(make([]byte, n)) }
func (m *machine) words(w ...uint64) uint64 {
	var b []byte
	for _, x := range w {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return m.data(b)
}

func (m *machine) peek(at uint64, n int) []byte {
	m.t.Helper()
	b := make([]byte, n)
	if err := m.CurrentProcess().Mem.Read(at, b); err != nil {
		m.t.Fatal(err)
	}
	return b
}

// raw makes a call of the current task and returns the outcome.
func (m *machine) raw(nr uint64, args ...uint64) Outcome {
	c := &m.Current().CPU
	c.Set(ir.RAX, nr)
	for i, a := range args {
		c.Set([]ir.Slot{ir.RDI, ir.RSI, ir.RDX, ir.R10, ir.R8, ir.R9}[i], a)
	}
	m.Retired++
	return m.Syscall()
}

// call is raw for a call that ends at once; it returns RAX and the errno.
func (m *machine) call(nr uint64, args ...uint64) (uint64, unix.Errno) {
	m.t.Helper()
	out := m.raw(nr, args...)
	if out.Kind != Done {
		m.t.Fatalf("call %d: %+v", nr, out)
	}
	return m.result()
}

func (m *machine) result() (uint64, unix.Errno) {
	v := m.Current().CPU.R[ir.RAX]
	if int64(v) < 0 && int64(v) > -4096 {
		return v, unix.Errno(-int64(v))
	}
	return v, 0
}

func (m *machine) must(nr uint64, args ...uint64) uint64 {
	m.t.Helper()
	v, errno := m.call(nr, args...)
	if errno != 0 {
		m.t.Fatalf("call %d%x: %v", nr, args, errno)
	}
	return v
}

// TestTable checks the rows against each other and that every row says what it must.
func TestTable(t *testing.T) {
	last := -1
	for _, r := range calls {
		if int(r.nr) <= last {
			t.Errorf("%s (%d) is out of order", r.name, r.nr)
		}
		last = int(r.nr)
		if (r.do == nil) != (r.level == none) {
			t.Errorf("%s: level %v, implemented %v", r.name, r.level, r.do != nil)
		}
		if (r.level == partial || r.level == stub) && r.note == "" {
			t.Errorf("%s: %v without a note", r.name, r.level)
		}
		if NumArgs(r.nr) != r.nargs || r.nargs > 6 {
			t.Errorf("%s: %d arguments", r.name, r.nargs)
		}
	}
	if NumArgs(100000) != 6 {
		t.Error("an unknown call needs all arguments")
	}
}

func TestUnknownCallNamesItself(t *testing.T) {
	m := boot(t, Config{})
	out := m.raw(9999, 1, 2, 3, 4, 5, 6)
	if want := "system call 9999(0x1, 0x2, 0x3, 0x4, 0x5, 0x6)"; out.Kind != Unsupported || out.What != want {
		t.Errorf("got %+v", out)
	}
	if out := m.raw(283, 1, 2); out.What != "timerfd_create(0x1, 0x2)" {
		t.Errorf("got %+v", out)
	}
}

// TestForkIsolates: neither copy sees what the other does to memory, files,
// descriptors, pipes, signals, output or time.
func TestForkIsolates(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("lower"), 0o644); err != nil {
		t.Fatal(err)
	}
	m := boot(t, Config{Cwd: dir})
	name := m.str("f")
	p := m.space(8)
	m.must(22, p)
	fd := m.must(2, name, unix.O_RDWR, 0)
	buf := m.data([]byte("UPPER"))
	m.must(1, fd, buf, 2)
	m.must(1, 4, buf, 3) // into the pipe

	o := &machine{System: m.Fork(), t: t, top: m.top}
	m.must(1, fd, buf, 5)
	m.must(1, 1, buf, 5)
	m.must(0, 3, p+64, 3)
	m.must(3, fd)
	m.must(83, m.str("d"), 0o755)
	m.must(13, uint64(unix.SIGUSR1), m.words(1, 0, 0, 0), 0, 8)
	m.Retired += 1000

	if got := o.peek(buf, 5); string(got) != "UPPER" {
		t.Errorf("memory %q", got)
	}
	if b := o.Stdout(); len(b.Data) != 0 {
		t.Errorf("output %q", b.Data)
	}
	into := o.space(16)
	if n := o.must(0, 3, into, 16); n != 3 || string(o.peek(into, 3)) != "UPP" {
		t.Errorf("pipe: %d bytes", n)
	}
	if n := o.must(17, fd, into, 16, 0); n != 5 || string(o.peek(into, 5)) != "UPwer" {
		t.Errorf("file: %q", o.peek(into, int(n)))
	}
	if _, errno := o.call(4, o.str("d"), o.space(144)); errno != unix.ENOENT {
		t.Errorf("directory made after the fork: %v", errno)
	}
	if o.CurrentProcess().Actions[unix.SIGUSR1].Handler != 0 {
		t.Error("signal action leaked")
	}
	if o.Now() >= m.Now() {
		t.Error("time leaked")
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "f")); string(b) != "lower" {
		t.Errorf("the host's file was written: %q", b)
	}
}

// TestSymbolicData: expressions travel through files and pipes and out.
func TestSymbolicData(t *testing.T) {
	ctx := expr.New()
	v := ctx.Var("x", 8)
	m := boot(t, Config{Cwd: "/tmp", Stdin: mem.Bytes{Data: []byte("abb"), Sym: []expr.Ref{0, v, v}}})
	buf := m.space(64)
	m.must(0, 0, buf, 2)
	m.must(1, 1, buf, 2)
	if out := m.Stdout(); string(out.Data) != "ab" || !reflect.DeepEqual(out.Sym, []expr.Ref{0, v}) {
		t.Errorf("stdout %+v", out)
	}
	fd := m.must(319, m.str("mem"), 0)
	m.must(1, fd, buf, 2)
	m.must(8, fd, 0, 0)
	m.must(0, fd, buf+16, 2)
	pipe := m.space(8)
	m.must(22, pipe)
	m.must(20, 5, m.words(buf+16, 1, buf+17, 1), 2)
	m.must(0, 4, buf+32, 8)
	b, err := m.CurrentProcess().Mem.ReadSym(buf+32, 2)
	if err != nil || !reflect.DeepEqual(b.Sym, []expr.Ref{0, v}) {
		t.Errorf("through file and pipe: %+v, %v", b, err)
	}
	m.must(1, 5, buf, 2)
	m.Rebase(func(expr.Ref) uint64 { return 'Z' })
	if out := m.Stdout(); string(out.Data) != "aZ" {
		t.Errorf("stdout after Rebase: %q", out.Data)
	}
	m.must(8, fd, 0, 0)
	m.must(0, fd, buf+48, 2)
	m.must(0, 4, buf+56, 2)
	if got := m.peek(buf+48, 2); string(got) != "aZ" {
		t.Errorf("file after Rebase: %q", got)
	}
	if got := m.peek(buf+56, 2); string(got) != "aZ" {
		t.Errorf("pipe after Rebase: %q", got)
	}
	m.must(0, 0, buf+60, 2)
	if got := m.peek(buf+60, 1); string(got) != "Z" {
		t.Errorf("standard input after Rebase: %q", got)
	}
}

// TestNeedConcrete: a symbolic path is asked for, and asking has no effect.
func TestNeedConcrete(t *testing.T) {
	ctx := expr.New()
	m := boot(t, Config{})
	at := m.str("/tmp/xyz")
	if err := m.CurrentProcess().Mem.WriteSym(at+5, mem.Bytes{Data: []byte("x"), Sym: []expr.Ref{ctx.Var("x", 8)}}); err != nil {
		t.Fatal(err)
	}
	before := m.Current().CPU
	out := m.raw(2, at, unix.O_CREAT|unix.O_WRONLY, 0o644)
	if out.Kind != NeedConcrete || out.Addr > at+5 || out.Addr+out.Len <= at+5 {
		t.Fatalf("got %+v", out)
	}
	before.Set(ir.RAX, 2)
	if got := m.Current().CPU; got.PC != before.PC || got.R[ir.RAX] != 2 {
		t.Error("registers changed")
	}
	if err := m.CurrentProcess().Mem.Write(at+5, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if fd := m.must(2, at, unix.O_CREAT|unix.O_WRONLY, 0o644); fd != 3 {
		t.Errorf("fd %d", fd)
	}
}

func TestDevice(t *testing.T) {
	m := boot(t, Config{DeviceEnabled: true})
	fd := m.must(2, m.str("/dev/symchef"), unix.O_RDWR, 0)
	req := m.data([]byte("hello 1\n"))
	out := m.raw(1, fd, req, 8)
	if out.Kind != Device || string(out.Request.Data) != "hello 1\n" {
		t.Fatalf("got %+v", out)
	}
	if v, _ := m.result(); v != 8 {
		t.Errorf("the write returned %d", v)
	}
	m.DeviceReply(mem.Concrete([]byte("ok 1\n")))
	if n := m.must(0, fd, req, 64); string(m.peek(req, int(n))) != "ok 1\n" {
		t.Errorf("reply %q", m.peek(req, int(n)))
	}
	if _, errno := boot(t, Config{}).call(2, scratch, 0, 0); errno != unix.ENOENT {
		t.Errorf("empty path: %v", errno)
	}
	off := boot(t, Config{})
	if _, errno := off.call(2, off.str("/dev/symchef"), unix.O_RDWR, 0); errno != unix.ENOENT {
		t.Errorf("device while disabled: %v", errno)
	}
}

// The clock of a system with a device does not depend on how many instructions came before that was opened.
func TestClockBeforeDevice(t *testing.T) {
	var early, late [2][]byte
	for i := range early {
		m := boot(t, Config{DeviceEnabled: true})
		at := m.space(48)
		now := func() []byte {
			m.must(unix.SYS_CLOCK_GETTIME, unix.CLOCK_REALTIME, at)
			m.must(unix.SYS_CLOCK_GETTIME, unix.CLOCK_PROCESS_CPUTIME_ID, at+16)
			m.must(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, at+32)
			return m.peek(at, 48)
		}
		m.Retired = uint64(i) * 123_456_789
		early[i] = now()
		if m.Retired += uint64(i) * 1e9; bytes.Equal(now(), early[i]) {
			t.Error("time stands still")
		}
		stamp := m.Timestamp()
		if m.Opened() || m.Timestamp() <= stamp {
			t.Errorf("time stamps %d, %d", stamp, m.Timestamp())
		}
		m.must(2, m.str(DevicePath), unix.O_RDWR, 0)
		if !m.Opened() || m.Retired%Slice != 0 {
			t.Errorf("opened at %d", m.Retired)
		}
		late[i] = now()
		before := m.Now()
		if m.Retired += 1000; m.Now() != before+1000 {
			t.Errorf("1000 instructions took %d", m.Now()-before)
		}
	}
	if !bytes.Equal(early[0], early[1]) || !bytes.Equal(late[0], late[1]) {
		t.Errorf("% x\n% x\n% x\n% x", early[0], early[1], late[0], late[1])
	}
}

func TestVirtualTree(t *testing.T) {
	m := boot(t, Config{Virtual: map[string]fs.FS{"/symchef/guest": fstest.MapFS{"python/a.py": {Data: []byte("x = 1\n")}}}})
	fd := m.must(2, m.str("/symchef/guest/python/a.py"), 0, 0)
	buf := m.space(4096)
	if n := m.must(0, fd, buf, 64); string(m.peek(buf, int(n))) != "x = 1\n" {
		t.Error("content")
	}
	if _, errno := m.call(2, m.str("/symchef/guest/python/b.py"), unix.O_CREAT|unix.O_WRONLY, 0o644); errno != unix.EROFS {
		t.Errorf("create: %v", errno)
	}
	dir := m.must(2, m.str("/symchef"), unix.O_DIRECTORY, 0)
	n := m.must(217, dir, buf, 4096)
	if !bytes.Contains(m.peek(buf, int(n)), []byte("guest\x00")) {
		t.Error("the mount point is not listed")
	}
	root := m.must(2, m.str("/"), unix.O_DIRECTORY, 0)
	for {
		n := m.must(217, root, buf, 4096)
		if n == 0 {
			break
		}
		if bytes.Contains(m.peek(buf, int(n)), []byte("symchef\x00")) {
			t.Error("/ lists what is not there in replay")
		}
	}
}

// TestTime: sleeping jumps, instructions count, and nothing else does.
func TestTime(t *testing.T) {
	m := boot(t, Config{})
	start := m.Now()
	if out := m.raw(35, m.words(2, 500), 0); out.Kind != Switch {
		t.Fatalf("got %+v", out)
	}
	if m.Current().CPU.PC != text {
		t.Fatal("the call is not made again")
	}
	m.Current().CPU.PC += 2
	if out := m.Syscall(); out.Kind != Done {
		t.Fatalf("got %+v", out)
	}
	if d := m.Now() - start; d != 2e9+500+1 {
		t.Errorf("slept %d ns", d)
	}
}

func TestDeadlock(t *testing.T) {
	m := boot(t, Config{})
	p := m.space(8)
	m.must(22, p)
	if out := m.raw(0, 3, p, 1); out.Kind != Deadlock {
		t.Errorf("got %+v", out)
	}
}

func TestAbortDies(t *testing.T) {
	m := boot(t, Config{})
	if out := m.raw(234, firstPID, firstPID, uint64(unix.SIGABRT)); out.Kind != Exited || m.ExitStatus().Signal != int(unix.SIGABRT) {
		t.Errorf("got %+v, %+v", out, m.ExitStatus())
	}
}

func TestFaultDies(t *testing.T) {
	m := boot(t, Config{})
	if out := m.Fault(16, true); out.Kind != Exited || m.ExitStatus().Signal != int(unix.SIGSEGV) {
		t.Errorf("got %+v, %+v", out, m.ExitStatus())
	}
}

// TestHandler: registers, flags and mask come back after a handler.
func TestHandler(t *testing.T) {
	m := boot(t, Config{})
	m.must(13, uint64(unix.SIGUSR1), m.words(0x401000, saRestorer, 0x402000, 1<<4), 0, 8)
	c := &m.Current().CPU
	for i := ir.RBX; i < ir.R15; i++ {
		if i != ir.RSP {
			c.Set(i, uint64(i)*0x1111)
		}
	}
	c.Set(ir.X0+5, 77)
	c.Set(ir.FTop, 3)
	c.Set(ir.FPR+2*4, 0x8000000000000000)
	c.Set(ir.CCOp, uint64(ir.MakeCC(ir.CCSub, 32)))
	c.Set(ir.CCA, 1)
	c.Set(ir.CCB, 2)
	if out := m.raw(62, firstPID, uint64(unix.SIGUSR1)); out.Kind != Done {
		t.Fatalf("got %+v", out)
	}
	if c.PC != 0x401000 || c.R[ir.RDI] != uint64(unix.SIGUSR1) {
		t.Fatalf("handler not entered: pc %#x", c.PC)
	}
	if c.R[ir.RSP]%16 != 8 {
		t.Errorf("stack %#x", c.R[ir.RSP])
	}
	if got := m.Current().Mask; got != 1<<4|bit(int(unix.SIGUSR1)) {
		t.Errorf("mask %#x", got)
	}
	if ret := binary.LittleEndian.Uint64(m.peek(c.R[ir.RSP], 8)); ret != 0x402000 {
		t.Errorf("return address %#x", ret)
	}
	for i := ir.RBX; i < ir.R15; i++ { // what a handler may clobber
		if i != ir.RSP {
			c.Set(i, 0)
		}
	}
	c.Set(ir.X0+5, 0)
	c.Set(ir.RSP, c.R[ir.RSP]+8) // ret
	if out := m.raw(15); out.Kind != Done {
		t.Fatalf("sigreturn: %+v", out)
	}
	if c.PC != text+2 || c.R[ir.RAX] != 0 || c.R[ir.RBX] != uint64(ir.RBX)*0x1111 || c.R[ir.X0+5] != 77 || c.R[ir.FTop] != 3 || c.R[ir.FPR+8] != 0x8000000000000000 {
		t.Errorf("context not restored: %+v", c.R[:ir.NumState])
	}
	if f := ir.Flags(ir.CC(c.R[ir.CCOp]), c.R[ir.CCA], c.R[ir.CCB], c.R[ir.CCC]); f != ir.Flags(ir.MakeCC(ir.CCSub, 32), 1, 2, 0) {
		t.Errorf("flags %#x", f)
	}
	if m.Current().Mask != 0 {
		t.Error("mask not restored")
	}
}

// TestForkWait: a child process, its pipe end closing, and its status.
func TestForkWait(t *testing.T) {
	m := boot(t, Config{})
	p := m.space(8)
	m.must(22, p)
	child := m.must(57)
	if out := m.raw(0, 3, p+16, 1); out.Kind != Switch || uint64(m.Current().TID) != child {
		t.Fatalf("got %+v, task %d", out, m.Current().TID)
	}
	if got := m.Current().CPU.R[ir.RAX]; got != 0 {
		t.Fatalf("the child's fork returned %d", got)
	}
	m.must(1, 4, m.data([]byte("k")), 1)
	if out := m.raw(60, 7); out.Kind != Switch || m.Current().TID != firstPID {
		t.Fatalf("got %+v", out)
	}
	m.Current().CPU.PC += 2
	if out := m.Syscall(); out.Kind != Done {
		t.Fatalf("read: %+v", out)
	}
	if got := m.peek(p+16, 1); got[0] != 'k' {
		t.Errorf("read %q", got)
	}
	if pid := m.must(61, ^uint64(0), p+32, 0, 0); pid != child {
		t.Errorf("waited for %d", pid)
	}
	if st := unix.WaitStatus(binary.LittleEndian.Uint32(m.peek(p+32, 4))); !st.Exited() || st.ExitStatus() != 7 {
		t.Errorf("status %#x", st)
	}
	if _, errno := m.call(61, ^uint64(0), 0, 0, 0); errno != unix.ECHILD {
		t.Errorf("second wait: %v", errno)
	}
}

// TestWaitIgnored: where SIGCHLD is ignored a wait ends with ECHILD when the last child has ended.
func TestWaitIgnored(t *testing.T) {
	m := boot(t, Config{})
	m.must(13, uint64(unix.SIGCHLD), m.words(1, 0, 0, 0), 0, 8)
	child := m.must(57)
	if out := m.raw(61, child, 0, 0, 0); out.Kind != Switch || uint64(m.Current().TID) != child {
		t.Fatalf("got %+v, task %d", out, m.Current().TID)
	}
	if out := m.raw(60, 0); out.Kind != Switch || m.Current().TID != firstPID {
		t.Fatalf("got %+v", out)
	}
	m.Current().CPU.PC += 2
	if out := m.Syscall(); out.Kind != Done {
		t.Fatalf("wait: %+v", out)
	}
	if _, errno := m.result(); errno != unix.ECHILD {
		t.Errorf("wait: %v", errno)
	}
}

// TestWaitOther: a child that nobody waits for does not end a wait for another, and time passes.
func TestWaitOther(t *testing.T) {
	m := boot(t, Config{})
	sleeper := m.must(57)
	m.must(57)
	if out := m.raw(61, sleeper, 0, 0, 0); out.Kind != Switch || uint64(m.Current().TID) != sleeper {
		t.Fatalf("got %+v, task %d", out, m.Current().TID)
	}
	before := m.Now()
	if out := m.raw(35, m.words(5, 0), 0); out.Kind != Switch || uint64(m.Current().TID) == sleeper {
		t.Fatalf("got %+v, task %d", out, m.Current().TID)
	}
	if out := m.raw(60, 0); out.Kind != Switch || uint64(m.Current().TID) != sleeper || m.Now() < before+5e9 {
		t.Errorf("after the other child ended: %+v, task %d, %d ns later", out, m.Current().TID, m.Now()-before)
	}
}

// TestThreads: futex wait and wake between two tasks of one process.
func TestThreads(t *testing.T) {
	m := boot(t, Config{})
	word := m.data([]byte{1, 0, 0, 0})
	flags := uint64(unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_CHILD_CLEARTID)
	tid := m.must(56, flags, scratch+0x80000, 0, word, 0)
	if out := m.raw(202, word, 0, 1, 0, 0, 0); out.Kind != Switch || uint64(m.Current().TID) != tid {
		t.Fatalf("got %+v", out)
	}
	if m.Current().CPU.R[ir.RSP] != scratch+0x80000 {
		t.Error("stack of the thread")
	}
	if out := m.raw(60, 0); out.Kind != Switch || m.Current().TID != firstPID {
		t.Fatalf("got %+v", out)
	}
	m.Current().CPU.PC += 2
	if out := m.Syscall(); out.Kind != Done {
		t.Fatalf("got %+v", out)
	}
	if v, errno := m.result(); v != 0 || errno != 0 {
		t.Errorf("futex returned %d, %v", v, errno)
	}
	if got := m.peek(word, 4); !bytes.Equal(got, make([]byte, 4)) {
		t.Errorf("the thread's id was not cleared: %x", got)
	}
	if out := m.raw(202, word, 0, 0, m.words(1, 0), 0, 0); out.Kind != Switch {
		t.Fatalf("got %+v", out)
	}
	m.Current().CPU.PC += 2
	if m.Syscall(); m.Current().CPU.R[ir.RAX] != ^uint64(unix.ETIMEDOUT)+1 {
		t.Errorf("timeout: %d", int64(m.Current().CPU.R[ir.RAX]))
	}
}

// TestWaitForSignal: a blocked signal ends rt_sigtimedwait, and so does one that has a handler.
func TestWaitForSignal(t *testing.T) {
	m := boot(t, Config{})
	const alarm = uint64(unix.SIGALRM)
	set := m.words(1 << (alarm - 1))
	m.must(unix.SYS_RT_SIGACTION, alarm, m.words(text, saRestorer, text, 0), 0, 8)
	for _, how := range []uint64{0, 1} { // SIG_BLOCK, SIG_UNBLOCK
		m.must(unix.SYS_RT_SIGPROCMASK, how, set, 0, 8)
		m.must(unix.SYS_ALARM, 1)
		if out := m.raw(unix.SYS_RT_SIGTIMEDWAIT, set, 0, 0, 8); out.Kind != Switch {
			t.Fatalf("%+v", out)
		}
		m.Current().CPU.PC += 2
		if out := m.Syscall(); out.Kind != Done {
			t.Fatalf("%+v", out)
		}
		if v, _ := m.result(); v != alarm {
			t.Errorf("how %d: %d", how, v)
		}
	}
}

// TestPidfd: descriptors of processes against Linux, and one of a child that a signal ends.
func TestPidfd(t *testing.T) {
	b := newBothSockets(t)
	self := fdPair{firstPID, uint64(os.Getpid())}
	b.sock(unix.SYS_PIDFD_OPEN, 0, 0)
	b.sock(unix.SYS_PIDFD_OPEN, -1, 0)
	b.sock(unix.SYS_PIDFD_OPEN, self, 1)
	b.sock(unix.SYS_PIDFD_OPEN, 0x3fffffff, 0)
	fd, _ := b.sock(unix.SYS_PIDFD_OPEN, self, 0)
	b.sock(unix.SYS_FCNTL, fd, unix.F_GETFD, 0)
	b.ready(fd)
	b.sock(0, fd, zeros(8), 8)
	b.sock(unix.SYS_PIDFD_SEND_SIGNAL, fd, 0, 0, 0)
	b.sock(unix.SYS_PIDFD_SEND_SIGNAL, fd, 99, 0, 0)
	b.sock(unix.SYS_PIDFD_SEND_SIGNAL, fd, 0, 0, 1<<20)
	b.sock(unix.SYS_PIDFD_SEND_SIGNAL, 900, 0, 0, 0)
	pipe := &blob{b: make([]byte, 8), mute: [][2]int{{0, 8}}}
	b.sock(unix.SYS_PIPE2, pipe, 0)
	b.sock(unix.SYS_PIDFD_SEND_SIGNAL, pipe.side(b, 0), 0, 0, 0)

	m := boot(t, Config{})
	child := m.must(unix.SYS_FORK)
	p := m.must(unix.SYS_PIDFD_OPEN, child, 0)
	m.must(unix.SYS_PIDFD_SEND_SIGNAL, p, uint64(unix.SIGKILL), 0, 0)
	if out := m.raw(unix.SYS_WAITID, 3, p, 0, unix.WEXITED, 0); out.Kind != Switch {
		t.Fatalf("%+v", out)
	}
	m.Current().CPU.PC += 2
	if out := m.Syscall(); out.Kind != Done || m.Current().CPU.R[ir.RAX] != 0 {
		t.Fatalf("%+v", out)
	}
	if m.process(int(child)) != nil {
		t.Error("the child was not reaped")
	}
	if _, errno := m.call(unix.SYS_PIDFD_SEND_SIGNAL, p, 0, 0, 0); errno != unix.ESRCH {
		t.Error(errno)
	}
}

var updateFlag = flag.Bool("update", false, "write docs/syscalls.md")

// accessText is what the rows of a call say, each once.
func accessText(name string) string {
	var out []string
	for _, i := range accessRows[name] {
		x := accesses[i]
		var l []string
		for _, part := range [][2]string{{"", x.step.String()}, {"reads ", x.asks}, {"changes ", x.changes}} {
			if part[1] != "" {
				l = append(l, part[0]+part[1])
			}
		}
		if text := strings.Join(l, "; "); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", or ")
}

// TestDocument: docs/syscalls.md is the table. `go test ./internal/kernel -run TestDocument -update` writes it.
func TestDocument(t *testing.T) {
	counts := map[level]int{}
	var rows strings.Builder
	for _, r := range calls {
		counts[r.level]++
		fmt.Fprintf(&rows, "| %d | %s | %s | %s | %s |\n", r.nr, r.name, r.level, r.note, accessText(r.name))
	}
	text := fmt.Sprintf(`# System calls

Generated from internal/kernel/table.go. full (%d): as Linux does, for all arguments. partial (%d):
the note says what is missing. stub (%d): accepts or refuses without modelling. none (%d): known by
name only. A call that is none or not listed ends the path as unsupported.

The last column is from internal/kernel/ordertable.go: what the call touches for the order of tasks (what it reads and changes are things that
a process has one of). Descriptors that it uses, makes or closes are noted of every call.

| number | call | level | note | touches |
|---:|---|---|---|---|
%s`, counts[full], counts[partial], counts[stub], counts[none], rows.String())
	const path = "../../docs/syscalls.md"
	if *updateFlag {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(path); err != nil || string(old) != text {
		t.Errorf("%s is not current: go test ./internal/kernel -run TestDocument -update", path)
	}
}
