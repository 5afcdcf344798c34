package session

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"symchef/internal/replay"
)

// What a run needs of the limits of its process (setrlimit(2), ulimit).
const (
	// leastDescriptors are enough for one worker, one replay, and what the interpreter's start takes.
	leastDescriptors = 64
	// arena is by how much Go's heap grows in the address space, in bytes. What Go and the machine take beside it is there when a run begins, but for
	// later: the buffer of compiled code, and an arena that is only begun.
	arena = 64 << 20
	later = 2 * arena
)

// fits looks at the limits of this process. Where the address space has less room than maxMemory the result is that room, and one line says so.
func fits(maxMemory uint64, stderr io.Writer) (uint64, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err == nil && l.Cur < leastDescriptors {
		return 0, &usageError{fmt.Sprintf("%d descriptors are too few (ulimit -n): %d are needed", l.Cur, leastDescriptors)}
	}
	if err := unix.Getrlimit(unix.RLIMIT_AS, &l); err != nil || l.Cur == unix.RLIM_INFINITY {
		return maxMemory, nil
	}
	taken := addressesTaken()
	room := (l.Cur - min(taken, l.Cur)) / arena * arena / 4 * 3 // a fourth is for what no longer fits where something was
	switch {
	case room < LeastMemory:
		return 0, &usageError{fmt.Sprintf("%d MiB of address space are too little (ulimit -v): %d MiB are needed", l.Cur>>20, (taken+2*arena)>>20)}
	case maxMemory == 0 || room < maxMemory:
		once(fmt.Sprintf("%d MiB of address space (ulimit -v) leave %d MiB for --max-memory", l.Cur>>20, room>>20), func(line string) { fmt.Fprintln(stderr, "symchef:", line) })
		return room, nil
	}
	return maxMemory, nil
}

// addressesTaken is how much of the address space is not left for --max-memory, in bytes.
func addressesTaken() uint64 {
	b, _ := os.ReadFile("/proc/self/statm") // proc(5): pages; the first is the size of the address space
	size, _, _ := strings.Cut(string(b), " ")
	pages, _ := strconv.ParseUint(size, 10, 64)
	return pages*uint64(os.Getpagesize()) + later
}

// said are the lines that once has said.
var said sync.Map

// once says a line that no run of this process has said before.
func once(line string, say func(string)) {
	if _, before := said.LoadOrStore(line, true); !before {
		say(line)
	}
}

// Lost says what this host refuses, a line for each, and what that changes. Nothing of it makes a run wrong.
func Lost() (lines []string) {
	if err := replay.FixedAddresses(); err != nil {
		lines = append(lines, fmt.Sprintf("replays run at random addresses (%v): what depends on addresses is unstable", err))
	}
	return lines
}
