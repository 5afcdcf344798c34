package kernel

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"symchef/internal/seed"
)

var stepsFlag = flag.Int("kernel.steps", 3000, "calls per seed")

// fdPair is a descriptor of the model and the one that stands for it natively.
type fdPair struct{ model, native uint64 }

// local is a path below the two directories.
type local string

// both makes each call in the model and natively and compares what comes back.
type both struct {
	*machine
	dirs [2]string // of the model, native
	log  []string
}

func newBoth(t *testing.T) *both {
	b := &both{dirs: [2]string{t.TempDir(), t.TempDir()}}
	old := unix.Umask(0o022)
	t.Cleanup(func() { unix.Umask(old) })
	for _, d := range b.dirs {
		for name, text := range map[string]string{"a": "first file\n", "b": strings.Repeat("0123456789", 1000), "d/x": "x", "d/e/y": "y"} {
			p := filepath.Join(d, name)
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("a", filepath.Join(d, "l")); err != nil {
			t.Fatal(err)
		}
	}
	b.machine = boot(t, Config{Cwd: b.dirs[0]})
	return b
}

// do makes call nr. Arguments: integers, fdPair, local and string (C strings),
// []byte (memory, compared afterwards unless opaque). It returns both results.
func (b *both) do(nr uint64, opaque bool, args ...any) (fdPair, unix.Errno, [2][]byte) {
	b.t.Helper()
	b.top = scratch
	var ma, na [6]uint64
	var out [2][]byte
	var at uint64
	var keep []any
	for i, a := range args {
		switch v := a.(type) {
		case int:
			ma[i], na[i] = uint64(v), uint64(v)
		case fdPair:
			ma[i], na[i] = v.model, v.native
		case local, string:
			m, n := fmt.Sprint(v), fmt.Sprint(v)
			if _, ok := v.(local); ok {
				m, n = b.dirs[0]+"/"+m, b.dirs[1]+"/"+n
			}
			p := append([]byte(n), 0)
			keep = append(keep, p)
			ma[i], na[i] = b.str(m), uint64(uintptr(unsafe.Pointer(&p[0])))
		case []byte:
			p := append(slices.Clone(v), 0)
			keep = append(keep, p)
			at = b.data(v)
			out[1] = p[:len(v)]
			out[0] = make([]byte, len(v))
			ma[i], na[i] = at, uint64(uintptr(unsafe.Pointer(&p[0])))
		default:
			b.t.Fatalf("argument %T", a)
		}
	}
	mv, merr := b.call(nr, ma[:]...)
	nv, _, nerr := unix.Syscall6(uintptr(nr), uintptr(na[0]), uintptr(na[1]), uintptr(na[2]), uintptr(na[3]), uintptr(na[4]), uintptr(na[5]))
	runtime.KeepAlive(keep)
	if at != 0 {
		copy(out[0], b.peek(at, len(out[0])))
	}
	for i, a := range args {
		if p, ok := a.([]byte); ok && len(p) > 16 {
			args[i] = fmt.Sprint(len(p), " bytes")
		}
	}
	what := fmt.Sprintf("%s%v = %d %v", rowOf(nr).name, args, int64(mv), merr)
	b.log = append(b.log, what)
	if merr != nerr || merr == 0 && !opaque && (mv != uint64(nv) || !bytes.Equal(out[0], out[1])) {
		b.t.Fatalf("%s\nnative: %d %v\nmemory %.60q, native %.60q\nbefore:\n%s", what, nv, nerr, out[0], out[1], strings.Join(b.log[max(0, len(b.log)-12):], "\n"))
	}
	return fdPair{mv, uint64(nv)}, merr, out
}

// stat compares the fields of struct stat that do not depend on the file system.
func (b *both) stat(nr uint64, arg any) {
	b.t.Helper()
	_, errno, out := b.do(nr, true, arg, make([]byte, 144))
	if errno != 0 {
		return
	}
	for _, f := range []struct {
		name string
		at   int
	}{{"mode", 24}, {"uid", 28}, {"gid", 32}, {"size", 48}, {"nlink", 16}} {
		m, n := binary.LittleEndian.Uint32(out[0][f.at:]), binary.LittleEndian.Uint32(out[1][f.at:])
		dir := binary.LittleEndian.Uint32(out[1][24:])&unix.S_IFMT == unix.S_IFDIR
		if m != n && !(dir && (f.name == "size" || f.name == "nlink")) { // file systems count these differently
			b.t.Fatalf("%s: %s %o, native %o\n%s", b.log[len(b.log)-1], f.name, m, n, strings.Join(b.log[max(0, len(b.log)-12):], "\n"))
		}
	}
}

// list compares the names in a directory, which file systems order differently.
func (b *both) list(dir local) {
	b.t.Helper()
	fd, errno, _ := b.do(2, true, dir, unix.O_DIRECTORY, 0)
	if errno != 0 {
		return
	}
	var names [2][]string
	for more := true; more; { // a signal that waits, such as the Go scheduler's, ends a native call early
		n, _, out := b.do(217, true, fd, make([]byte, 8192), 8192)
		for side, total := range [2]uint64{n.model, n.native} {
			for p := out[side][:total]; len(p) > 0; {
				size := binary.LittleEndian.Uint16(p[16:])
				name, _, _ := strings.Cut(string(p[19:size]), "\x00")
				names[side] = append(names[side], fmt.Sprint(name, " ", p[18]))
				p = p[size:]
			}
		}
		more = n.model > 0 || n.native > 0
	}
	slices.Sort(names[0])
	slices.Sort(names[1])
	if !slices.Equal(names[0], names[1]) {
		b.t.Fatalf("%s: %q, native %q\n%s", dir, names[0], names[1], strings.Join(b.log[max(0, len(b.log)-12):], "\n"))
	}
	b.do(3, false, fd)
}

// TestCallsAgainstLinux goes through the errors and effects of file calls one by one.
func TestCallsAgainstLinux(t *testing.T) {
	b := newBoth(t)
	buf := make([]byte, 64)
	fd, _, _ := b.do(2, true, local("b"), unix.O_RDWR, 0)
	b.do(0, false, fd, buf, 10)
	b.do(8, false, fd, -3, unix.SEEK_CUR)
	b.do(0, false, fd, buf, 64)
	b.do(8, false, fd, -5, unix.SEEK_END)
	b.do(0, false, fd, buf, 64)
	b.do(0, false, fd, buf, 64)
	b.do(8, false, fd, -1, unix.SEEK_SET)
	b.do(8, false, fd, 0, 77)
	b.do(18, false, fd, []byte("patch"), 5, 20000) // beyond the end
	b.do(17, false, fd, buf, 64, 9990)
	b.do(17, false, fd, buf, 64, -1)
	b.stat(5, fd)
	b.do(77, false, fd, 30)
	b.do(77, false, fd, 60)
	b.do(17, false, fd, buf, 64, 0)
	b.do(77, false, fd, -1)
	b.do(72, false, fd, unix.F_GETFL, 0)
	b.do(72, false, fd, unix.F_SETFL, unix.O_APPEND|unix.O_NONBLOCK)
	b.do(72, false, fd, unix.F_GETFL, 0)
	b.do(1, false, fd, []byte("end"), 3)
	b.do(72, false, fd, unix.F_GETFD, 0)
	dup, _, _ := b.do(72, true, fd, unix.F_DUPFD_CLOEXEC, 0)
	b.do(72, false, dup, unix.F_GETFD, 0)
	b.do(8, false, dup, 0, unix.SEEK_CUR)
	b.do(72, false, fd, 9999, 0)
	b.do(16, false, fd, unix.TCGETS, buf)
	b.do(3, false, fd)
	b.do(3, false, fd)
	b.do(0, false, fd, buf, 1)
	for _, p := range []string{"", ".", "..", "a/", "a/b", "none/x", "none/", "d/../a", "d/./e//y", "l", "l/", strings.Repeat("n", 256), strings.Repeat("n/", 2050)} {
		b.stat(4, local(p))
		b.stat(6, local(p))
		b.do(21, false, local(p), unix.W_OK)
		b.do(89, false, local(p), buf, 64)
		for _, fl := range []int{unix.O_RDONLY, unix.O_WRONLY, unix.O_DIRECTORY, unix.O_NOFOLLOW, unix.O_CREAT | unix.O_EXCL} {
			if f, errno, _ := b.do(2, true, local(p), fl, 0o640); errno == 0 {
				b.do(3, false, f)
			}
		}
	}
	b.do(4, true, "", buf)
	b.do(21, false, local("a"), 8)
	r, _, out := b.do(293, true, make([]byte, 8), unix.O_NONBLOCK|unix.O_CLOEXEC)
	_ = r
	var rd, wr fdPair
	for i, p := range []*uint64{&rd.model, &rd.native} {
		*p = uint64(binary.LittleEndian.Uint32(out[i]))
	}
	for i, p := range []*uint64{&wr.model, &wr.native} {
		*p = uint64(binary.LittleEndian.Uint32(out[i][4:]))
	}
	b.do(0, false, rd, buf, 8)
	b.do(1, false, wr, []byte("pipe"), 4)
	b.do(0, false, rd, buf, 3)
	b.do(8, false, rd, 0, 0)
	b.do(0, false, wr, buf, 3)
	b.do(1, false, rd, buf, 3)
	b.do(0, false, rd, buf, 3)
	b.do(1, false, wr, make([]byte, 65536), 65536)
	b.do(1, false, wr, make([]byte, 8192), 8192)
	b.do(3, false, wr)
	b.do(0, false, rd, buf, 64)
	b.do(3, false, rd)
	b.list("")
	b.list("d")
}

// TestOwnersAndTimesAgainstLinux: who a file belongs to, its times, and what is refused.
func TestOwnersAndTimesAgainstLinux(t *testing.T) {
	b := newBoth(t)
	times := func(l ...int64) []byte {
		p, _ := binary.Append(nil, binary.LittleEndian, l)
		return p
	}
	fd, _, _ := b.do(2, true, local("b"), unix.O_RDWR, 0)
	b.do(90, false, local("b"), 0o6755)
	for _, to := range [][2]int{{-1, -1}, {os.Getuid(), -1}, {1, 2}, {-1, 3}, {4, -1}, {os.Getuid(), os.Getgid()}} {
		for _, name := range []string{"b", "l", "d", "none"} {
			b.do(92, false, local(name), to[0], to[1])
			b.stat(6, local(name))
			b.stat(4, local(name))
		}
		b.do(94, false, local("l"), to[0], to[1])
		b.stat(6, local("l"))
		b.do(93, false, fd, to[0], to[1])
		b.do(260, false, fd, "", to[0], to[1], unix.AT_EMPTY_PATH)
		b.do(260, false, unix.AT_FDCWD, local("d/x"), to[0], to[1], 77)
		b.stat(5, fd)
	}
	for _, tm := range [][]byte{times(5, 6, 7, 8), times(1, unix.UTIME_OMIT, 9, 10), times(11, 12, 1, unix.UTIME_OMIT), times(-3, 500, 0, 0), times(1, 1e9, 1, 1)} {
		b.do(280, false, unix.AT_FDCWD, local("b"), tm, 0)
		b.do(280, false, unix.AT_FDCWD, local("d"), tm, 0)
		b.do(280, false, unix.AT_FDCWD, local("l"), tm, unix.AT_SYMLINK_NOFOLLOW)
		for _, name := range []string{"b", "d", "l"} {
			_, _, out := b.do(6, true, local(name), make([]byte, 144))
			if m, n := out[0][72:104], out[1][72:104]; !bytes.Equal(m, n) {
				t.Errorf("%s: access and modification times %x, natively %x", name, m, n)
			}
		}
	}
}

// TestChangeTimesAgainstLinux: which calls set a file's modification and change time. Before each both are long ago or now.
func TestChangeTimesAgainstLinux(t *testing.T) {
	b := newBoth(t)
	old, _ := binary.Append(nil, binary.LittleEndian, []int64{1e9, 0, 1e9, 0})
	fd, _, _ := b.do(2, true, local("b"), unix.O_RDWR, 0)
	buf := make([]byte, 16)
	for _, step := range []struct {
		file string
		do   func()
	}{
		{"b", func() { b.do(1, false, fd, []byte("x"), 1) }},
		{"b", func() { b.do(0, false, fd, buf, 1) }},
		{"b", func() { b.do(77, false, fd, 5) }},
		{"b", func() { b.do(90, false, local("b"), 0o640) }},
		{"b", func() { b.do(86, false, local("b"), local("c")) }},
		{"b", func() { b.do(87, false, local("c")) }},
		{"c", func() { b.do(82, false, local("b"), local("c")) }},
		{"d", func() { b.do(83, false, local("d/new"), 0o700) }},
		{"d", func() { b.do(84, false, local("d/new")) }},
		{"d", func() { b.do(90, false, local("d/x"), 0o600) }},
	} {
		var before, after [2][]byte
		if step.file == "c" {
			b.do(280, false, unix.AT_FDCWD, local("b"), old, 0)
			_, _, before = b.do(4, true, local("b"), make([]byte, 144))
		} else {
			b.do(280, false, unix.AT_FDCWD, local(step.file), old, 0)
			_, _, before = b.do(4, true, local(step.file), make([]byte, 144))
		}
		time.Sleep(20 * time.Millisecond) // the file system's clock ticks
		b.Retired += 1e9
		step.do()
		_, _, after = b.do(4, true, local(step.file), make([]byte, 144))
		for _, at := range []int{88, 104} {
			m := bytes.Equal(before[0][at:at+16], after[0][at:at+16])
			if n := bytes.Equal(before[1][at:at+16], after[1][at:at+16]); m != n {
				t.Errorf("%s: time at %d is kept: %v, natively %v", b.log[len(b.log)-2], at, m, n)
			}
		}
	}
}

// TestXattrsAgainstLinux: extended attributes of files, directories and links by all calls.
func TestXattrsAgainstLinux(t *testing.T) {
	b := newBoth(t)
	if err := unix.Setxattr(b.dirs[1]+"/a", "user.try", nil, 0); err == unix.ENOTSUP {
		t.Skip("skipped: the file system has no extended attributes")
	}
	_ = unix.Removexattr(b.dirs[1]+"/a", "user.try")
	buf := make([]byte, 300)
	fd, _, _ := b.do(2, true, local("b"), unix.O_RDWR, 0)
	for _, file := range []string{"a", "l", "d", "none", "b"} {
		for _, name := range []string{"user.x", "user.", "user", "", "nothing.x", "user." + strings.Repeat("n", 250), "user." + strings.Repeat("n", 251), strings.Repeat("n", 300)} {
			if file == "none" && name != "user.x" {
				continue // which error comes first depends on Linux's version
			}
			b.do(191, false, local(file), name, buf, 300)
			for _, flags := range []int{2, 1, 1, 2, 0, 3, 4} {
				b.do(188, false, local(file), name, []byte("value"), 4, flags)
			}
			for _, size := range []int{0, 1, 4, 300} {
				b.do(191, false, local(file), name, buf, size)
				b.do(192, false, local(file), name, buf, size)
				b.do(193, false, fd, name, buf, size)
				b.do(194, false, local(file), buf, size)
				b.do(195, false, local(file), buf, size)
			}
			b.do(189, false, local(file), name, []byte("link"), 4, 0)
			b.do(190, false, fd, name, []byte("descriptor"), 10, 0)
			b.do(196, false, fd, buf, 300)
			b.do(198, false, local(file), name)
			b.do(197, false, local(file), name)
			b.do(199, false, fd, name)
			b.do(199, false, fd, name)
		}
	}
	b.do(188, false, local("a"), "user.big", buf, 1<<17, 0)
	b.do(191, false, local("a"), "user.empty", buf, 0)
	b.do(188, false, local("a"), "user.empty", buf, 0, 0)
	b.do(191, false, local("a"), "user.empty", buf, 10)
	b.do(199, false, 77, "user.x")
}

// TestAdjacentMappingsAgainstLinux: neighbours with the same attributes are one mapping to mremap, others are not.
func TestAdjacentMappingsAgainstLinux(t *testing.T) {
	const page, rw, ro = 4096, unix.PROT_READ | unix.PROT_WRITE, unix.PROT_READ
	m := boot(t, Config{})
	native := func(nr uint64, a ...uint64) (uint64, unix.Errno) {
		a = append(a, make([]uint64, 6-len(a))...)
		v, _, errno := unix.Syscall6(uintptr(nr), uintptr(a[0]), uintptr(a[1]), uintptr(a[2]), uintptr(a[3]), uintptr(a[4]), uintptr(a[5]))
		return uint64(v), errno
	}
	type attempt struct {
		errno unix.Errno
		first byte
	}
	for _, second := range []uint64{rw, ro} {
		for _, later := range []uint64{rw, ro} { // what mprotect makes of the second mapping
			try := func(call func(uint64, ...uint64) (uint64, unix.Errno), fill func(at uint64), first func(at uint64) byte) attempt {
				at, errno := call(unix.SYS_MMAP, 0, 16*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS, ^uint64(0), 0)
				if errno != 0 {
					t.Fatal(errno)
				}
				call(unix.SYS_MMAP, at, 2*page, rw, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED, ^uint64(0), 0)
				call(unix.SYS_MMAP, at+2*page, 2*page, second, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED, ^uint64(0), 0)
				call(unix.SYS_MPROTECT, at+2*page, 2*page, later)
				fill(at)
				to, errno := call(unix.SYS_MREMAP, at, 4*page, 32*page, unix.MREMAP_MAYMOVE, 0)
				if errno != 0 {
					return attempt{errno, 0}
				}
				return attempt{0, first(to)}
			}
			space := m.CurrentProcess().Mem
			got := try(m.call, func(at uint64) { _ = space.WriteU(at, 77, 1) }, func(at uint64) byte { return m.peek(at, 1)[0] })
			want := try(native, func(at uint64) { *(*byte)(ptr(at)) = 77 }, func(at uint64) byte { return *(*byte)(ptr(at)) })
			if got != want {
				t.Errorf("second mapping %d, then %d: %+v, natively %+v", second, later, got, want)
			}
		}
	}
}

// MAP_32BIT finds addresses below 2 GiB, as long as there are any; huge pages are not to be had.
func TestLowMappingsAgainstLinux(t *testing.T) {
	const mib, rw = 1 << 20, unix.PROT_READ | unix.PROT_WRITE
	m := boot(t, Config{})
	native := func(nr uint64, a ...uint64) (uint64, unix.Errno) {
		a = append(a, make([]uint64, 6-len(a))...)
		v, _, errno := unix.Syscall6(uintptr(nr), uintptr(a[0]), uintptr(a[1]), uintptr(a[2]), uintptr(a[3]), uintptr(a[4]), uintptr(a[5]))
		return uint64(v), errno
	}
	for _, c := range []struct{ addr, size, flags uint64 }{
		{0, mib, unix.MAP_32BIT}, {0, 3 * mib, unix.MAP_32BIT | unix.MAP_SHARED}, {0x7000_0000, mib, unix.MAP_32BIT}, {0x7ff0_0000, 2 * mib, unix.MAP_32BIT},
		{1 << 40, mib, unix.MAP_32BIT}, {0, 900 * mib, unix.MAP_32BIT}, {0, 900 * mib, unix.MAP_32BIT}, {0, 3000 * mib, unix.MAP_32BIT}, {0, 0, unix.MAP_32BIT},
		{0, 2 * mib, unix.MAP_HUGETLB}, {0, 2 * mib, unix.MAP_HUGETLB | unix.MAP_32BIT},
	} {
		if c.flags&unix.MAP_SHARED == 0 {
			c.flags |= unix.MAP_PRIVATE
		}
		c.flags |= unix.MAP_ANONYMOUS
		got, errno := m.call(unix.SYS_MMAP, c.addr, c.size, rw, c.flags, ^uint64(0), 0)
		want, wantErrno := native(unix.SYS_MMAP, c.addr, c.size, rw, c.flags, ^uint64(0), 0)
		if wantErrno == 0 {
			defer func() { native(unix.SYS_MUNMAP, want, c.size) }()
			if c.flags&unix.MAP_HUGETLB != 0 {
				t.Logf("skipped: huge pages, of which this machine has some")
				continue
			}
		}
		low := func(at uint64) bool { return at >= 1<<30 && at+c.size <= 1<<31 }
		if errno != wantErrno || errno == 0 && (low(got) != low(want) || !low(got) || (got == c.addr) != (want == c.addr)) {
			t.Errorf("mmap of %d MiB at %#x, flags %#x: %#x, %v, natively %#x, %v", c.size/mib, c.addr, c.flags, got, errno, want, wantErrno)
		}
	}
}

// ptr is a native address as a pointer.
func ptr(at uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

// TestRandomCallsAgainstLinux makes random file calls on both sides.
func TestRandomCallsAgainstLinux(t *testing.T) {
	for i := range 6 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			b := newBoth(t)
			r := rand.New(rand.NewSource(int64(seed.Of(t))))
			names := []local{"a", "b", "c", "d", "d/x", "d/e", "d/e/y", "l", "f", "f/g", "d/l2", "f/g/h", "a/", "d/.", "d/e/.."}
			path := func() local { return names[r.Intn(len(names))] }
			var fds []fdPair
			fd := func() fdPair {
				if len(fds) == 0 {
					return fdPair{900, 900000}
				}
				return fds[r.Intn(len(fds))]
			}
			// Calls fork now and then: the fork must go on exactly alike.
			for step := range *stepsFlag {
				if step%500 == 499 {
					b.sameEffects()
				}
				buf := make([]byte, r.Intn(6000))
				r.Read(buf)
				off := []int{0, 1, 4095, 4096, 5000, -1}[r.Intn(6)]
				switch r.Intn(24) {
				case 0, 1, 2:
					if len(fds) > 20 {
						continue
					}
					fl := []int{0, unix.O_WRONLY, unix.O_RDWR, unix.O_RDWR | unix.O_APPEND}[r.Intn(4)]
					for _, x := range []int{unix.O_CREAT, unix.O_EXCL, unix.O_TRUNC, unix.O_NOFOLLOW, unix.O_DIRECTORY} {
						if r.Intn(4) == 0 {
							fl |= x
						}
					}
					if fl&unix.O_EXCL != 0 && fl&unix.O_CREAT == 0 || fl&unix.O_CREAT != 0 && fl&unix.O_DIRECTORY != 0 {
						continue // undefined, and different between kernels
					}
					f, errno, _ := b.do(2, true, path(), fl, []int{0o644, 0o755, 0o777}[r.Intn(3)])
					if errno == 0 {
						fds = append(fds, f)
						b.stat(5, f)
					}
				case 3:
					f := fd()
					b.do(3, false, f)
					fds = slices.DeleteFunc(fds, func(x fdPair) bool { return x == f })
				case 4, 5:
					b.do(0, false, fd(), buf, len(buf))
				case 6, 7:
					b.do(1, false, fd(), buf, len(buf))
				case 8:
					b.do(17, false, fd(), buf, len(buf), off)
				case 9:
					b.do(18, false, fd(), buf, len(buf), off)
				case 10:
					f := fd()
					if f.model != 900 {
						if o := b.files.get(b.CurrentProcess().Fds[f.model].File); o != nil && o.Kind == fileDir {
							continue // offsets of directories are the file system's own
						}
					}
					b.do(8, false, f, off, []int{0, 1, 2, 9}[r.Intn(4)])
				case 11:
					b.do(83, false, path(), 0o755)
				case 12:
					b.do(84, false, path())
				case 13, 14:
					b.do(87, false, path())
				case 15, 16:
					b.do(82, false, path(), path())
				case 17:
					b.do(86, false, path(), path())
				case 18:
					// O_CREAT through a link that ends with a slash is EISDIR on Linux whatever is there: not modelled.
					b.do(88, false, strings.TrimSuffix(string(path()), "/"), path())
				case 19:
					b.do(76, false, path(), off)
					b.do(77, false, fd(), off)
				case 20:
					b.do(90, false, path(), []int{0o600, 0o755, 0o7777}[r.Intn(3)])
				case 21:
					if f, errno, _ := b.do(32, true, fd()); errno == 0 && len(fds) < 20 {
						fds = append(fds, f)
					} else if errno == 0 {
						b.do(3, false, f)
					}
				case 22:
					b.stat(4, path())
					b.stat(6, path())
					b.do(89, false, path(), make([]byte, 100), 100)
				case 23:
					b.list(path())
					b.machine = &machine{System: b.Fork(), t: b.t, top: scratch}
				}
			}
			for _, f := range fds {
				b.do(3, false, f)
			}
		})
	}
}
