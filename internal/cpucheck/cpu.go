package cpucheck

import (
	"debug/elf"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

//go:embed testdata/harness.c
var harness []byte

// batchSize is the number of states that the child process runs at a time: two batches, before and after, stay in the caches.
const batchSize = 256

// batch is one half of the memory shared with the child process: struct half of harness.c.
type batch struct {
	count, codeLen uint64
	code           [maxCode]byte
	_              [48]byte
	before, after  [batchSize]State
}

// CPU is the processor: a child process that executes instructions. It serves one goroutine.
type CPU struct {
	in     io.WriteCloser // a byte names the batch to run
	out    io.Reader      // and comes back
	halves *[2]batch
	lifted lifted // the other side
}

// New starts the child process, which ends with the test. Without gcc the test is skipped.
func New(t testing.TB) *CPU { return NewN(t, 1)[0] }

// NewN starts n child processes.
func NewN(t testing.TB, n int) []*CPU {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("skipped: no gcc, so the processor cannot be asked")
	}
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "harness.c"), filepath.Join(dir, "harness")
	if err := os.WriteFile(src, harness, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O2", "-w", "-fno-builtin", "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("cpucheck: gcc: %v\n%s", err, out)
	}
	cpus := make([]*CPU, n)
	for i := range cpus {
		c, err := start(t, bin)
		if err != nil {
			t.Fatalf("cpucheck: %v", err)
		}
		cpus[i] = c
	}
	return cpus
}

func start(t testing.TB, bin string) (*CPU, error) {
	const size = unsafe.Sizeof([2]batch{})
	fd, err := unix.MemfdCreate("cpucheck", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	shared := os.NewFile(uintptr(fd), "cpucheck")
	defer shared.Close()
	if err := shared.Truncate(int64(size)); err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(bin)
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = []*os.File{shared}
	c := &CPU{halves: (*[2]batch)(unsafe.Pointer(&mem[0])), lifted: newLifted()}
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.out, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		c.in.Close()
		cmd.Wait()
		unix.Munmap(mem)
	})
	return c, nil
}

// Each executes code on n states that fill makes in place (what is there before is of another state), and passes each
// to use, as it was before and is afterwards, until use returns false. While the child process executes one batch, the
// one before is used and the next one made.
func (c *CPU) Each(code []byte, n int, fill func(i int, s *State), use func(before, after *State) bool) error {
	if len(code) > maxCode {
		return fmt.Errorf("cpucheck: %d bytes of code, limit %d", len(code), maxCode)
	}
	running := 0 // states of the other half, which the child process executes
	for half, at := 0, 0; at < n || running > 0; half = 1 - half {
		b, ready := &c.halves[half], min(n-at, batchSize)
		for i := range ready {
			fill(at+i, &b.before[i])
		}
		at += ready
		done := running
		if err := c.finish(running); err != nil {
			return fmt.Errorf("cpucheck: child process: %w (% x)", err, code)
		}
		if running = ready; ready > 0 {
			b.count, b.codeLen = uint64(ready), uint64(len(code))
			copy(b.code[:], code)
			if _, err := c.in.Write([]byte{byte(half)}); err != nil {
				return err
			}
		}
		other := &c.halves[1-half]
		for i := range done {
			if !use(&other.before[i], &other.after[i]) {
				return c.finish(running)
			}
		}
	}
	return nil
}

// finish waits for the batch of so many states, if any, that the child process executes.
func (c *CPU) finish(states int) error {
	if states == 0 {
		return nil
	}
	var p [1]byte
	_, err := io.ReadFull(c.out, p[:])
	return err
}

// Assemble returns the code of each line of AT&T syntax; a line may hold several instructions, separated by semicolons.
func Assemble(t testing.TB, lines []string) [][]byte {
	t.Helper()
	if _, err := exec.LookPath("as"); err != nil {
		t.Skip("skipped: no assembler")
	}
	var text strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&text, "L%d:\t%s\n", i, l)
	}
	fmt.Fprintf(&text, "L%d:\n", len(lines))
	obj := filepath.Join(t.TempDir(), "forms.o")
	cmd := exec.Command("as", "--64", "-L", "-o", obj, "-")
	cmd.Stdin = strings.NewReader(text.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cpucheck: as: %v\n%s", err, out)
	}
	f, err := elf.Open(obj)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	at := make([]uint64, len(lines)+1)
	for _, s := range syms {
		var i int
		if n, _ := fmt.Sscanf(s.Name, "L%d", &i); n == 1 {
			at[i] = s.Value
		}
	}
	forms := make([][]byte, len(lines))
	for i := range forms {
		forms[i] = code[at[i]:at[i+1]]
	}
	return forms
}
