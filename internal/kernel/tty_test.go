package kernel

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTTYForks: a fork and a restored snapshot have terminals of their own that go on alike.
func TestTTYForks(t *testing.T) {
	m := boot(t, Config{})
	master := m.must(2, m.str("/dev/ptmx"), unix.O_RDWR|unix.O_NOCTTY, 0)
	name := m.str("/dev/pts/0")
	if _, errno := m.call(2, name, unix.O_RDWR, 0); errno != unix.EIO {
		t.Errorf("open of a locked terminal: %v", errno)
	}
	m.must(16, master, tiocSPtLck, m.data(make([]byte, 4)))
	slave := m.must(2, name, unix.O_RDWR|unix.O_NOCTTY, 0)
	m.must(1, master, m.data([]byte("one\nha")), 6)

	back := m.reloaded()
	fork := m.Fork()
	for i, s := range []*System{m.System, fork, back} {
		o := &machine{System: s, t: t, top: m.top}
		rest := o.data([]byte{'l', 'f', byte('0' + i), '\n'})
		o.must(1, master, rest, 4)
		buf := o.space(64)
		if n := o.must(0, slave, buf, 64); string(o.peek(buf, int(n))) != "one\n" {
			t.Errorf("system %d: %q", i, o.peek(buf, int(n)))
		}
		want := "half" + string(rune('0'+i)) + "\n"
		if n := o.must(0, slave, buf, 64); string(o.peek(buf, int(n))) != want {
			t.Errorf("system %d: %q", i, o.peek(buf, int(n)))
		}
		o.must(16, slave, unix.TIOCINQ, buf)
		if n := binary.LittleEndian.Uint32(o.peek(buf, 4)); n != 0 {
			t.Errorf("system %d: %d bytes are left", i, n)
		}
		o.must(3, slave)
		if n := o.must(0, master, buf, 64); string(o.peek(buf, int(n))) != "one\r\nhalf"+string(rune('0'+i))+"\r\n" {
			t.Errorf("system %d: echo %q", i, o.peek(buf, int(n)))
		}
		if _, errno := o.call(0, master, buf, 64); errno != unix.EIO {
			t.Errorf("system %d: read after the last close: %v", i, errno)
		}
		o.must(3, master)
		if _, errno := o.call(4, name, buf); errno != unix.ENOENT {
			t.Errorf("system %d: the terminal is still there: %v", i, errno)
		}
	}
}
