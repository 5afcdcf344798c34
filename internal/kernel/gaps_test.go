package kernel

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStandardStreamsAreFIFOs: what the guest is told of its standard streams.
func TestStandardStreamsAreFIFOs(t *testing.T) {
	m := boot(t, Config{})
	for fd := range uint64(3) {
		at := m.space(144)
		m.must(unix.SYS_FSTAT, fd, at)
		if mode := binary.LittleEndian.Uint32(m.peek(at+24, 4)); mode != unix.S_IFIFO|0o600 {
			t.Errorf("descriptor %d has mode %o", fd, mode)
		}
	}
}

// TestOrdinaryUser: ports below 1024 and rights to shared memory, for somebody who is not the superuser.
func TestOrdinaryUser(t *testing.T) {
	m := boot(t, Config{})
	m.cfg.UID, m.cfg.GID = 1000, 1000
	for port, want := range map[byte]unix.Errno{0: 0, 80: unix.EACCES} {
		fd := m.must(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0)
		if _, errno := m.call(unix.SYS_BIND, fd, m.data([]byte{unix.AF_INET, 0, 0, port, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}), 16); errno != want {
			t.Errorf("port %d: %v, want %v", port, errno, want)
		}
	}
	const readOnly = 0o10000 // SHM_RDONLY
	for mode, want := range map[uint64][2]unix.Errno{0o600: {}, 0o400: {unix.EACCES, 0}, 0: {unix.EACCES, unix.EACCES}} {
		id := m.must(unix.SYS_SHMGET, 0, 4096, mode)
		for i, flags := range [2]uint64{0, readOnly} {
			if _, errno := m.call(unix.SYS_SHMAT, id, 0, flags); errno != want[i] {
				t.Errorf("shmat of mode %o with flags %o: %v, want %v", mode, flags, errno, want[i])
			}
		}
	}
}

// TestFutexUntil: FUTEX_WAIT_BITSET waits until a moment of the clock that it names.
func TestFutexUntil(t *testing.T) {
	for clock, flag := range map[uint64]uint64{unix.CLOCK_MONOTONIC: 0, unix.CLOCK_REALTIME: futexRealtime} {
		m := boot(t, Config{})
		now := m.space(16)
		m.must(unix.SYS_CLOCK_GETTIME, clock, now)
		until := binary.LittleEndian.Uint64(m.peek(now, 8)) + 5
		word, timeout := m.space(4), m.words(until, 0)
		out := m.raw(unix.SYS_FUTEX, word, futexWaitBits|flag, 0, timeout, 0, 1)
		for out.Kind == Switch {
			out = m.raw(unix.SYS_FUTEX, word, futexWaitBits|flag, 0, timeout, 0, 1)
		}
		if _, errno := m.result(); out.Kind != Done || errno != unix.ETIMEDOUT {
			t.Errorf("clock %d: %v", clock, errno)
		}
		m.must(unix.SYS_CLOCK_GETTIME, clock, now)
		if sec := binary.LittleEndian.Uint64(m.peek(now, 8)); sec != until {
			t.Errorf("clock %d: woken at %d, not %d", clock, sec, until)
		}
	}
}

// TestCostOfExec: the start of a program costs more than what it passes in the address space that it leaves.
func TestCostOfExec(t *testing.T) {
	m := boot(t, Config{})
	before := m.cost
	m.mapped(m.cur.proc.Mem, m.cur.proc.Mem.Fork(), 0)
	if got := m.cost - before; got != execCost {
		t.Errorf("%d", got)
	}
}
