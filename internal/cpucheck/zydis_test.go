package cpucheck

import (
	"bufio"
	"debug/elf"
	_ "embed"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/lift"
)

//go:embed testdata/zydis.c
var zydisSource []byte

// zydis is a child process that decodes with Zydis.
type zydis struct {
	in    io.WriteCloser
	out   *bufio.Reader
	names []string
}

// newZydis builds and starts it; without gcc or libzydis-dev the test is skipped.
func newZydis(t *testing.T) *zydis {
	t.Helper()
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "zydis.c"), filepath.Join(dir, "zydis")
	if err := os.WriteFile(src, zydisSource, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", "-o", bin, src, "-lZydis").CombinedOutput(); err != nil {
		t.Skipf("skipped: no gcc or no libzydis-dev: the decoder cannot be compared: %v\n%s", err, out)
	}
	cmd := exec.Command(bin)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	z := &zydis{in: in, out: bufio.NewReaderSize(out, 1<<20)}
	var n [4]byte
	z.read(t, n[:])
	for range binary.LittleEndian.Uint32(n[:]) {
		var name [32]byte
		z.read(t, name[:])
		z.names = append(z.names, strings.TrimRight(string(name[:]), "\x00"))
	}
	return z
}

func (z *zydis) read(t *testing.T, p []byte) {
	t.Helper()
	if _, err := io.ReadFull(z.out, p); err != nil {
		t.Fatal("zydis: ", err)
	}
}

// decode calls f for every instruction: one after the other, or with a stride those at its multiples. Length 0: none.
func (z *zydis) decode(t *testing.T, code []byte, stride int, f func(at, length int, mnemonic string)) {
	t.Helper()
	sent := make(chan error, 1)
	go func() {
		head := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(len(code))), uint32(stride))
		_, err := z.in.Write(append(head, code...))
		sent <- err
	}()
	for at := 0; at < len(code); {
		var rec [4]byte
		z.read(t, rec[:])
		n := int(binary.LittleEndian.Uint16(rec[:]))
		f(at, n, z.names[binary.LittleEndian.Uint16(rec[2:])])
		if at += stride; stride == 0 {
			at += max(n, 1)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
}

// aliases are mnemonics that Zydis names otherwise.
var aliases = map[string]string{
	"jae": "jnb", "ja": "jnbe", "je": "jz", "jne": "jnz", "jg": "jnle", "jge": "jnl",
	"cmovae": "cmovnb", "cmova": "cmovnbe", "cmove": "cmovz", "cmovne": "cmovnz", "cmovg": "cmovnle", "cmovge": "cmovnl",
	"setae": "setnb", "seta": "setnbe", "sete": "setz", "setne": "setnz", "setg": "setnle", "setge": "setnl",
	"xlatb": "xlat",
}

// hints are what other processors make of the hint NOPs (0F 18 to 0F 1F): they are NOPs where CPUID does not announce CET, MPX
// and CLDEMOTE.
const hints = " endbr32 endbr64 rdsspd rdsspq bndcl bndcn bndcu bndldx bndmk bndmov bndstx cldemote "

// misreadLengths are instructions that the lifter refuses and whose length x86asm gets wrong, where a path ends anyway: it reads
// a ModRM byte after vzeroupper, and an address in one that has none.
var misreadLengths = map[string]string{
	"vzeroupper": "AVX", "vzeroall": "AVX", "mov": "control and debug registers",
}

// agree reports whether the mnemonic of an instruction is the one that Zydis gives.
func agree(in *lift.Inst, z string) bool {
	name := strings.TrimSuffix(strings.ToLower(in.Op.String()), "_xmm")
	if a := aliases[name]; a != "" {
		name = a
	}
	return name == z || in.Op == x86asm.NOP && strings.Contains(hints, " "+z+" ") || z == "int3" && in.Bytes[in.Len-1] == 0xcc
}

// comparer compares decoders and collects what differs, by kind, with an example.
type comparer struct {
	rows                         map[string]bool
	instructions, accepted       int
	differs, unaccepted, missing map[string]int
	example                      map[string]string
}

func newComparer() *comparer {
	c := &comparer{rows: map[string]bool{}, differs: map[string]int{}, unaccepted: map[string]int{}, missing: map[string]int{}, example: map[string]string{}}
	for _, f := range Forms() {
		c.rows[f.Name] = true
	}
	return c
}

// compare looks at one instruction: code, and length and mnemonic by Zydis.
func (c *comparer) compare(where string, code []byte, n int, mnemonic string) {
	c.instructions++
	in, f, ok := lift.Accept(CodeBase, code[:min(len(code), 15)])
	differ := func(format string, args ...any) {
		k := fmt.Sprintf(format, args...)
		if c.differs[k]++; c.example[k] == "" {
			c.example[k] = fmt.Sprintf("%s: % x", where, code[:min(len(code), max(n, 8))])
		}
	}
	switch {
	case !ok && n == 0:
	case !ok:
		if c.unaccepted[mnemonic]++; c.example[mnemonic] == "" {
			c.example[mnemonic] = fmt.Sprintf("%s: % x", where, code[:n])
		}
		if in != nil && in.Op != 0 && in.Len != n && misreadLengths[mnemonic] == "" {
			differ("%s has %d bytes, %v %d", mnemonic, n, in.Op, in.Len)
		}
	case n == 0 && in.Op == x86asm.UD2: // lock where it is not allowed
	case n == 0 && in.Op == x86asm.NOP: // an invalid form of MPX
	case n == 0:
		differ("%v is no instruction", in.Op)
	default:
		c.accepted++
		if !c.rows[f.Name] {
			c.missing[f.Name]++
		}
		if in.Len != n {
			differ("%s has %d bytes, %v %d", mnemonic, n, in.Op, in.Len)
		} else if !agree(in, mnemonic) {
			differ("%s is %v", mnemonic, in.Op)
		}
	}
}

// report fails the test for every kind of difference.
func (c *comparer) report(t *testing.T) {
	t.Helper()
	for _, k := range slices.Sorted(maps.Keys(c.differs)) {
		t.Errorf("%s: %d times, as in %s", k, c.differs[k], c.example[k])
	}
	for k, n := range c.missing {
		t.Errorf("%s: accepted %d times, but no row of the table", k, n)
	}
	names := slices.SortedFunc(maps.Keys(c.unaccepted), func(a, b string) int { return c.unaccepted[b] - c.unaccepted[a] })
	var list []string
	for _, k := range names[:min(len(names), 40)] {
		list = append(list, fmt.Sprintf("%s %d (%s)", k, c.unaccepted[k], c.example[k]))
	}
	t.Logf("%d instructions, %d accepted by the lifter; %d mnemonics are not, most often %s", c.instructions, c.accepted, len(names), strings.Join(list, ", "))
}

// stock are the interpreters whose code is decoded.
var stock = []string{"python3.11", "lua5.4", "lua5.1", "luajit", "perl", "ruby3.1", "php8.2", "mujs", "/usr/lib/R/bin/exec/R"}

// images returns the ELF files of the interpreters that are installed and of all libraries that they name.
func images(t *testing.T) []string {
	dirs := []string{"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib/R/lib"}
	var files, missing []string
	seen := map[string]bool{}
	var add func(path string)
	add = func(path string) {
		if path, _ = filepath.EvalSymlinks(path); path == "" || seen[path] {
			return
		}
		seen[path] = true
		f, err := elf.Open(path)
		if err != nil { // a script in front of the interpreter
			return
		}
		defer f.Close()
		files = append(files, path)
		libs, _ := f.ImportedLibraries()
		for _, l := range libs {
			for _, d := range dirs {
				add(filepath.Join(d, l))
			}
		}
	}
	for _, name := range stock {
		path, err := exec.LookPath(name)
		if err != nil {
			missing = append(missing, name)
			continue
		}
		add(path)
	}
	t.Logf("%d files; not installed: %v", len(files), missing)
	return files
}

// TestZydisCode compares the decoder with Zydis over the code of the interpreters and their libraries. What the lifter accepts
// there is in the instruction table.
func TestZydisCode(t *testing.T) {
	z, c := newZydis(t), newComparer()
	for _, path := range images(t) {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range f.Sections {
			if s.Flags&elf.SHF_EXECINSTR == 0 || s.Type != elf.SHT_PROGBITS {
				continue
			}
			code, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			z.decode(t, code, 0, func(at, n int, mnemonic string) {
				c.compare(fmt.Sprintf("%s:%#x", path, s.Addr+uint64(at)), code[at:], n, mnemonic)
			})
		}
		f.Close()
	}
	c.report(t)
}

// TestZydisForms compares the decoder with Zydis on every encoding of the instruction table.
func TestZydisForms(t *testing.T) {
	z, c := newZydis(t), newComparer()
	var code []byte
	for _, f := range Forms() {
		for _, o := range f.opcodes {
			for _, modrm := range o.modrm {
				rex := ""
				if o.rexW {
					rex = "\x48"
				}
				insn := append([]byte(o.prefix+rex+o.code), modrm)
				code = append(code, slices.Concat(insn, make([]byte, 15))[:15]...)
			}
		}
	}
	z.decode(t, code, 15, func(at, n int, mnemonic string) { c.compare("table", code[at:at+15], n, mnemonic) })
	c.report(t)
}
