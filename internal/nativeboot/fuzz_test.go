package nativeboot

import (
	"debug/elf"
	"os"
	"testing"

	"symchef/internal/lift"
	"symchef/internal/mem"
)

// FuzzInstruction looks for instructions in files that may be damaged: one that is found holds the byte asked for and is what the
// decoder sees there.
func FuzzInstruction(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01\x0f\xa2\x0f\x01\xd0"))
	if b, err := os.ReadFile("/bin/true"); err == nil {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const start = 0x400000
		p := &process{}
		a := &mem.Area{Start: start, End: start + uint64(len(data)), Back: &mem.Backing{Data: data}}
		for i := range data {
			if !candidate(data[i:], watch{true, true}) {
				continue
			}
			addr := start + uint64(i)
			at, op, n := p.instruction(a, start, data, addr)
			if n == 0 {
				continue
			}
			if o, m := lift.Op(data[at-start:]); at > addr || at+n <= addr || o != op || uint64(m) != n {
				t.Errorf("%#x: %v of %d bytes at %#x, decoded %v of %d", addr, op, n, at, o, m)
			}
		}
	})
}

// Every place where CPUID may be in the C library and the dynamic linker is known to be an instruction or none.
func TestKnownCode(t *testing.T) {
	found := 0
	for _, path := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Skipf("skipped: %v", err)
		}
		file, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		p := &process{}
		back := &mem.Backing{Name: path, Data: data}
		for _, g := range file.Progs {
			if g.Type != elf.PT_LOAD || g.Flags&elf.PF_X == 0 {
				continue
			}
			a := &mem.Area{Start: g.Vaddr, End: g.Vaddr + g.Filesz, Back: back, Off: g.Off}
			text := data[g.Off : g.Off+g.Filesz]
			for i := range text {
				if !candidate(text[i:], watch{true, true}) {
					continue
				}
				at, op, n := p.instruction(a, a.Start, text, a.Start+uint64(i))
				if n == 0 {
					t.Errorf("%s: not known at %#x", path, a.Start+uint64(i))
				}
				if kind, ok := kinds[op]; ok && kind == cpuid && at == a.Start+uint64(i) {
					found++
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("%d CPUID instructions", found)
	}
}
