package cpucheck

import (
	"bufio"
	"debug/elf"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/harness.c
var harness []byte

// CPU is the processor: a child process that executes instructions.
type CPU struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
	buf []byte // the batch being sent

	after  []State // of the last Run
	lifted lifted  // the other side
}

// New starts the child process, which ends with the test. Without gcc the test is skipped.
func New(t testing.TB) *CPU {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("cpucheck: no gcc: the processor cannot be asked")
	}
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "harness.c"), filepath.Join(dir, "harness")
	if err := os.WriteFile(src, harness, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", "-w", "-o", bin, src).CombinedOutput(); err != nil {
		t.Fatalf("cpucheck: gcc: %v\n%s", err, out)
	}
	c := &CPU{cmd: exec.Command(bin)}
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewReaderSize(out, 1<<20)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.in.Close()
		c.cmd.Wait()
	})
	return c
}

// Run executes code once on each state and returns the states after, which the next Run overwrites.
func (c *CPU) Run(code []byte, states []State) ([]State, error) {
	if len(code) > maxCode {
		return nil, fmt.Errorf("cpucheck: %d bytes of code, limit %d", len(code), maxCode)
	}
	sent := make(chan error, 1)
	go func() {
		c.buf = binary.LittleEndian.AppendUint64(c.buf[:0], uint64(len(states)))
		for i := range states {
			n := len(c.buf)
			c.buf = append(c.buf, zeroRecord[:]...)
			states[i].encode(c.buf[n:], code)
		}
		_, err := c.in.Write(c.buf)
		sent <- err
	}()
	c.after = slices.Grow(c.after[:0], len(states))[:len(states)]
	after := c.after
	var p [recordSize]byte
	for i := range after {
		if _, err := io.ReadFull(c.out, p[:]); err != nil {
			return nil, fmt.Errorf("cpucheck: child process: %w (% x)", err, code)
		}
		after[i].decode(p[:])
	}
	return after, <-sent
}

var zeroRecord [recordSize]byte

// Assemble returns the code of each line of AT&T syntax; a line may hold several instructions, separated by semicolons.
func Assemble(t testing.TB, lines []string) [][]byte {
	t.Helper()
	if _, err := exec.LookPath("as"); err != nil {
		t.Skip("cpucheck: no assembler")
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
