package replay

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// What the kernel keeps for a process (page tables, queues of sockets, timers, pages that only a pipe holds) is no memory of its own, and
// counted for it only in part. But the host tells how much of its memory is anybody's at all: what is left is the kernel's. So a watch looks at
// how that has grown, and takes it for the sandbox's as far as it finds there what could have taken it.

// hostMemory is what /proc/meminfo tells, in bytes.
type hostMemory struct {
	total, available uint64
	// kernel is what neither programs nor the cache of files have, and what would not be given back for others.
	kernel uint64
}

// readHostMemory fails where nothing could be watched.
func readHostMemory() (m hostMemory, err error) {
	b, err := readFile("/proc/meminfo")
	if err != nil {
		return m, err
	}
	v := fieldsKB(b)
	m.total, m.available, m.kernel = v["MemTotal"], v["MemAvailable"], v["MemTotal"]
	for _, name := range []string{"MemFree", "Buffers", "Cached", "SwapCached", "AnonPages", "SReclaimable", "Hugetlb"} {
		m.kernel -= min(v[name], m.kernel)
	}
	return m, nil
}

// scarce reports whether the host runs out of memory: less than 1/32 of it could be had.
func (m hostMemory) scarce() bool { return m.total > 0 && m.available < m.total/32 }

// much is the least growth of the kernel's memory that is no chance, whatever a sandbox seems to have: 1/8 of the host's.
func (m hostMemory) much() uint64 { return m.total / 8 }

// fieldsKB are the lines "Name: 12 kB" of a file of /proc, in bytes.
func fieldsKB(b []byte) map[string]uint64 {
	v := map[string]uint64{}
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		if kb, ok := strings.CutSuffix(strings.TrimSpace(rest), " kB"); ok {
			n, _ := strconv.ParseUint(kb, 10, 64)
			v[name] = n << 10
		}
	}
	return v
}

// pageTables are those of processes pids, in bytes.
func pageTables(pids []int) (n uint64) {
	for _, pid := range pids {
		b, _ := readFile(fmt.Sprintf("/proc/%d/status", pid))
		n += fieldsKB(b)["VmPTE"]
	}
	return n
}

// socketsInUse is how many sockets this network namespace has: with those that nobody has open any more while something of theirs waits elsewhere.
func socketsInUse() uint64 {
	b, _ := readFile("/proc/self/net/sockstat")
	_, rest, _ := strings.Cut(string(b), "sockets: used ")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.ParseUint(line, 10, 64)
	return n
}

// socketMost is what may wait for the reader of a socket, in bytes: the kernel takes more as long as there is less than the bound, so twice that.
var socketMost = sync.OnceValue(func() uint64 {
	s, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 16 << 20
	}
	defer unix.Close(s[0])
	defer unix.Close(s[1])
	unix.SetsockoptInt(s[0], unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<30)
	most, _ := unix.GetsockoptInt(s[0], unix.SOL_SOCKET, unix.SO_SNDBUF)
	return 2 * uint64(max(most, 1<<18))
})
