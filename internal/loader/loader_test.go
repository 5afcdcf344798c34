package loader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// elfFile builds a program: a code segment that maps the headers, and data with bss.
func elfFile(typ uint16, base uint64, interp string) []byte {
	le := binary.LittleEndian
	b := make([]byte, 0x2000)
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], typ)
	le.PutUint16(b[18:], 62)
	le.PutUint64(b[24:], base+0x200)
	le.PutUint64(b[32:], 64)
	le.PutUint16(b[54:], 56)
	type ph struct {
		kind, flags               uint32
		off, vaddr, filesz, memsz uint64
	}
	list := []ph{{1, 5, 0, base, 0x1000, 0x1000}, {1, 6, 0x1000, base + 0x2000, 0x10, 0x3000}}
	if interp != "" {
		copy(b[0x300:], interp)
		list = append(list, ph{3, 4, 0x300, base + 0x300, uint64(len(interp) + 1), uint64(len(interp) + 1)})
	}
	le.PutUint16(b[56:], uint16(len(list)))
	for i, p := range list {
		h := b[64+56*i:]
		le.PutUint32(h, p.kind)
		le.PutUint32(h[4:], p.flags)
		le.PutUint64(h[8:], p.off)
		le.PutUint64(h[16:], p.vaddr)
		le.PutUint64(h[32:], p.filesz)
		le.PutUint64(h[40:], p.memsz)
	}
	for i := 0x1000; i < len(b); i++ {
		b[i] = 0xaa
	}
	return b
}

func program(files map[string][]byte) Program {
	return Program{Path: "/p", Argv: []string{"p", "one", ""}, Env: []string{"A=1", "B="}, UID: 5, GID: 6,
		Random: [16]byte{1, 2, 3},
		Open: func(path string) (*mem.Backing, error) {
			if b, ok := files[path]; ok {
				return &mem.Backing{Name: path, Data: b}, nil
			}
			return nil, unix.ENOENT
		}}
}

// layout parses a stack back.
type layout struct {
	argv, env []string
	aux       map[uint64]uint64
}

func parseStack(t *testing.T, img *Image) layout {
	t.Helper()
	at := img.CPU.R[ir.RSP]
	if at%16 != 0 {
		t.Errorf("stack pointer %#x", at)
	}
	next := func() uint64 {
		v, err := img.Space.ReadU(at, 8)
		if err != nil {
			t.Fatal(err)
		}
		at += 8
		return v
	}
	l := layout{aux: map[uint64]uint64{}}
	n := next()
	for i := uint64(0); i < n; i++ {
		l.argv = append(l.argv, cstring(t, img, next()))
	}
	if next() != 0 {
		t.Error("argv does not end with NULL")
	}
	for p := next(); p != 0; p = next() {
		l.env = append(l.env, cstring(t, img, p))
	}
	for {
		tag, v := next(), next()
		if tag == atNull {
			return l
		}
		l.aux[tag] = v
	}
}

func cstring(t *testing.T, img *Image, at uint64) string {
	t.Helper()
	var b []byte
	for {
		v, err := img.Space.ReadU(at, 1)
		if err != nil {
			t.Fatal(err)
		}
		if v == 0 {
			return string(b)
		}
		b = append(b, byte(v))
		at++
	}
}

func TestStatic(t *testing.T) {
	img, err := Load(program(map[string][]byte{"/p": elfFile(2, 0x400000, "")}))
	if err != nil {
		t.Fatal(err)
	}
	if img.CPU.PC != 0x400200 || img.Base != 0 || img.Brk != 0x405000 {
		t.Errorf("pc %#x base %#x brk %#x", img.CPU.PC, img.Base, img.Brk)
	}
	if img.CPU.R[ir.MXCSR] != 0x1f80 || img.CPU.R[ir.FCW] != 0x37f {
		t.Error("control registers")
	}
	data := make([]byte, 0x3000)
	if err := img.Space.Read(0x402000, data); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data[:16], bytes.Repeat([]byte{0xaa}, 16)) || !bytes.Equal(data[16:], make([]byte, 0x3000-16)) {
		t.Error("data and bss")
	}
	if img.Space.Mapped(0x400000, 1, guest.ProtWrite) || !img.Space.Mapped(0x400000, 0x1000, guest.ProtRead|guest.ProtExec) {
		t.Error("protection of the text")
	}
	l := parseStack(t, img)
	if len(l.argv) != 3 || l.argv[1] != "one" || l.argv[2] != "" || len(l.env) != 2 || l.env[1] != "B=" {
		t.Errorf("%q %q", l.argv, l.env)
	}
	for tag, want := range map[uint64]uint64{
		atPhdr: 0x400040, atPhent: 56, atPhnum: 2, atPagesz: 4096, atBase: 0, atEntry: 0x400200,
		atUID: 5, atEUID: 5, atGID: 6, atEGID: 6, atHWCap: HWCap, atClktck: 100, atSecure: 0, atFlags: 0,
	} {
		if l.aux[tag] != want {
			t.Errorf("auxv %d: %#x, want %#x", tag, l.aux[tag], want)
		}
	}
	if _, vdso := l.aux[33]; vdso {
		t.Error("a vdso is announced")
	}
	if cstring(t, img, l.aux[atExecfn]) != "/p" || cstring(t, img, l.aux[atPlatform]) != "x86_64" {
		t.Error("AT_EXECFN or AT_PLATFORM")
	}
	random := make([]byte, 16)
	if err := img.Space.Read(l.aux[atRandom], random); err != nil || random[2] != 3 {
		t.Errorf("AT_RANDOM %x %v", random, err)
	}
}

func TestDynamic(t *testing.T) {
	img, err := Load(program(map[string][]byte{"/p": elfFile(3, 0, "/ld"), "/ld": elfFile(3, 0, "")}))
	if err != nil {
		t.Fatal(err)
	}
	l := parseStack(t, img)
	if img.Base != PIEBase || img.Entry != PIEBase+0x200 || l.aux[atEntry] != img.Entry || l.aux[atPhdr] != PIEBase+0x40 {
		t.Errorf("base %#x entry %#x aux %#x", img.Base, img.Entry, l.aux)
	}
	if base := l.aux[atBase]; base != MmapTop-0x5000 || img.CPU.PC != base+0x200 {
		t.Errorf("interpreter at %#x, pc %#x", base, img.CPU.PC)
	}
}

func TestScript(t *testing.T) {
	img, err := Load(program(map[string][]byte{"/p": []byte("#! /sh  -e x \nrest"), "/sh": elfFile(2, 0x400000, "")}))
	if err != nil {
		t.Fatal(err)
	}
	l := parseStack(t, img)
	want := []string{"/sh", "-e x", "/p", "one", ""}
	if img.Path != "/sh" || len(l.argv) != len(want) {
		t.Fatalf("%s %q", img.Path, l.argv)
	}
	for i := range want {
		if l.argv[i] != want[i] {
			t.Errorf("%q", l.argv)
		}
	}
}

func TestErrors(t *testing.T) {
	arm := elfFile(2, 0x400000, "")
	arm[18] = 183
	cut := elfFile(2, 0x400000, "")[:0x1800]
	binary.LittleEndian.PutUint64(cut[64+56+32:], 0x1000)
	binary.LittleEndian.PutUint64(cut[64+56+40:], 0x1000)
	for _, c := range []struct {
		name  string
		file  []byte
		errno unix.Errno
		text  string
	}{
		{"missing", nil, unix.ENOENT, "/p: not found"},
		{"text", []byte("hello\n"), unix.ENOEXEC, "/p: not an ELF program"},
		{"arm", arm, unix.ENOEXEC, "/p: not an x86-64 program (ELFCLASS64, EM_AARCH64)"},
		{"cut", cut, unix.ENOEXEC, "/p: damaged ELF file: segment 1"},
		{"headers", elfFile(2, 0x400000, "")[:70], unix.ENOEXEC, "/p: damaged ELF file: program headers"},
		{"relocatable", elfFile(1, 0, ""), unix.ENOEXEC, "/p: not an executable ELF file (ET_REL)"},
		{"no interpreter", elfFile(3, 0, "/ld"), unix.ENOENT, "/ld: not found"},
		{"self script", []byte("#!/p\n"), unix.ELOOP, "/p: too many levels of #! interpreters"},
	} {
		files := map[string][]byte{}
		if c.file != nil {
			files["/p"] = c.file
		}
		_, err := Load(program(files))
		if !errors.Is(err, c.errno) || err.Error() != c.text {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestDamagedHeaders: no byte of the headers, changed, makes the loader panic.
func TestDamagedHeaders(t *testing.T) {
	for i := range 64 + 3*56 {
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			b := elfFile(3, 0, "/ld")
			b[i] = v
			_, _ = Load(program(map[string][]byte{"/p": b, "/ld": elfFile(3, 0, "")}))
		}
	}
}

// TestHostPrograms loads what is installed here.
func TestHostPrograms(t *testing.T) {
	for _, name := range []string{"python3.11", "lua5.4", "sh"} {
		path, err := filepath.EvalSymlinks("/usr/bin/" + name)
		if err != nil {
			continue
		}
		p := program(nil)
		p.Path = path
		p.Open = func(path string) (*mem.Backing, error) {
			b, err := os.ReadFile(path)
			return &mem.Backing{Name: path, Data: b}, err
		}
		if _, err := Load(p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
