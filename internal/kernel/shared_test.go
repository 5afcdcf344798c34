package kernel

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"

	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/mem"
)

// sharedFile returns a machine that has a file of three bytes open (the descriptor) and mapped twice.
func sharedFile(t *testing.T) (m *machine, fd, a, b uint64) {
	m = boot(t, Config{Cwd: "/tmp"})
	fd = m.must(319, m.str("mem"), 0)
	m.must(1, fd, m.data([]byte("abc")), 3)
	a = m.must(9, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED, fd, 0)
	b = m.must(9, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED, fd, 0)
	return m, fd, a, b
}

// TestSharedExpressions: expressions stored in a shared mapping are those of the file and of other mappings, and Rebase reaches them.
func TestSharedExpressions(t *testing.T) {
	m, fd, a, b := sharedFile(t)
	v := expr.New().Var("x", 8)
	space := m.CurrentProcess().Mem
	if err := space.WriteSym(a+1, mem.Bytes{Data: []byte("B"), Sym: []expr.Ref{v}}); err != nil {
		t.Fatal(err)
	}
	for _, at := range []uint64{a, b} {
		if !space.HasSym(at, 4096) || space.HasSym(at, 1) || space.HasSym(at+2, 4000) || !space.HasSym(at-5000, 8192) {
			t.Errorf("symbolic bytes of the mapping at %#x", at)
		}
	}
	buf := m.space(8)
	m.must(17, fd, buf, 3, 0)
	got, err := space.ReadSym(buf, 3)
	if err != nil || string(got.Data) != "aBc" || got.Sym == nil || got.Sym[1] != v {
		t.Errorf("read: %+v, %v", got, err)
	}
	m.Rebase(func(expr.Ref) uint64 { return 'Z' })
	if got := m.peek(b, 3); string(got) != "aZc" {
		t.Errorf("after Rebase %q", got)
	}
	if _, err := m.Marshal(); err == nil {
		t.Error("a snapshot with symbolic shared memory")
	}
	m.must(18, fd, m.data([]byte("y")), 1, 1)
	if space.HasSym(a, 4096) {
		t.Error("still symbolic after a concrete write")
	}
}

// TestSharedForks: two systems share nothing, two processes of one do.
func TestSharedForks(t *testing.T) {
	m, fd, a, b := sharedFile(t)
	o := &machine{System: m.Fork(), t: t, top: m.top}
	if err := m.CurrentProcess().Mem.Write(a, []byte("m")); err != nil {
		t.Fatal(err)
	}
	o.must(18, fd, o.data([]byte("o")), 1, 2)
	if x, y := m.peek(b, 3), o.peek(b, 3); string(x) != "mbc" || string(y) != "abo" {
		t.Errorf("systems: %q, %q", x, y)
	}
	parent := m.CurrentProcess()
	m.must(57)
	child := m.Processes()[1]
	version := parent.Mem.Version()
	if err := child.Mem.Write(b+1, []byte("CC")); err != nil {
		t.Fatal(err)
	}
	if got := m.peek(a, 3); string(got) != "mCC" {
		t.Errorf("parent sees %q", got)
	}
	if err := child.Mem.Write(scratch, []byte("own")); err != nil {
		t.Fatal(err)
	}
	if got := m.peek(scratch, 3); string(got) == "own" {
		t.Error("private memory is shared")
	}
	_ = m.System.Fork()
	if err := child.Mem.Write(b+1, []byte("DD")); err != nil {
		t.Fatal(err)
	}
	if got := m.peek(a, 3); string(got) != "mDD" || parent.Mem.Version() == version {
		t.Errorf("parent sees %q after a fork of the system; version %d, was %d", got, parent.Mem.Version(), version)
	}
}

// TestSharedSnapshot: a restored system shows the same through file and mappings, and shares as before.
func TestSharedSnapshot(t *testing.T) {
	m, fd, a, b := sharedFile(t)
	if err := m.CurrentProcess().Mem.Write(a+5, []byte("tail")); err != nil {
		t.Fatal(err)
	}
	back := m.reloaded()
	o := &machine{System: back, t: t, top: m.top}
	o.must(18, fd, o.data([]byte("q")), 1, 3)
	if got := o.peek(b, 9); !bytes.Equal(got, []byte("abcq\x00tail")) {
		t.Errorf("%q", got)
	}
	if other := o.must(9, 0, 4096, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_ANONYMOUS, ^uint64(0), 0); other == a || o.peek(other, 1)[0] != 0 {
		t.Error("a new mapping shows an old object")
	}
}

// TestSharedEnd: behind the file's last page there is SIGBUS, without a mapping SIGSEGV.
func TestSharedEnd(t *testing.T) {
	for _, c := range []struct {
		at   uint64
		want unix.Signal
	}{{2 * guest.PageSize, unix.SIGBUS}, {guest.PageSize - 1, 0}, {3 * guest.PageSize, unix.SIGSEGV}} {
		m, fd, _, _ := sharedFile(t)
		p := m.must(9, 0, 3*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED, fd, 0)
		m.must(11, p+3*4096, 4096)
		err := m.CurrentProcess().Mem.Write(p+c.at, []byte{1})
		if (err == nil) != (c.want == 0) {
			t.Fatalf("store at %#x: %v", c.at, err)
		}
		if err != nil {
			m.Fault(p+c.at, true)
			if got := m.ExitStatus().Signal; got != int(c.want) {
				t.Errorf("store at %#x: signal %d, want %d", c.at, got, c.want)
			}
		}
	}
}
