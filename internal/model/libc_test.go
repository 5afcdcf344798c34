package model

import (
	"encoding/hex"
	"fmt"
	"maps"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// Addresses of the tests.
const (
	codeAt  = 0x10000
	firstAt = 0x20000
	otherAt = 0x22000
	stackAt = 0x24000
)

// called is a processor that has just called a function, at a path that knows nothing.
func called(t *testing.T, m *exec.Machine) (*cpu.CPU, *mem.Space, mem.Area) {
	t.Helper()
	s := mem.NewSpace()
	for _, at := range []uint64{codeAt, firstAt, otherAt, stackAt} {
		if err := s.Map(at, 0x1000, guest.ProtRead|guest.ProtWrite, nil, 0, "x"); err != nil {
			t.Fatal(err)
		}
	}
	m.Concretize(s, &exec.Facts{}, 0, 0) // these are m's facts from now on
	c := &cpu.CPU{PC: codeAt + 16}
	c.Set(ir.RSP, stackAt+8)
	return c, s, *s.Find(codeAt)
}

// Guards: models without early exit return what the C library returns natively, for many values of their symbolic operands.
func TestLibcRandom(t *testing.T) {
	bin := compile(t, "testdata/libc.c", "-O0", "-fno-builtin")
	r := seed.Rand(t)
	var queries strings.Builder
	type answer struct {
		what string
		got  int64
	}
	var answers []answer
	letters := []byte{0, 1, 'a', 'b', 0x7f, 0x80, 0xff}
	names := slices.Sorted(maps.Keys(libc))
	for round := range 150 * len(names) {
		name := names[round%len(names)]
		compares := strings.Contains(name, "cmp")
		sets := strings.Contains(name, "spn") || name == "strpbrk"
		points := strings.HasSuffix(name, "chr") || name == "strpbrk"
		m := exec.New(expr.New())
		e := m.Ctx
		c, s, area := called(t, m)
		few := letters[:1+r.IntN(len(letters))]
		letter := func() byte { return few[r.IntN(len(few))] }
		inputs := [2]mem.Bytes{}
		vars := 0
		for k, at := range []uint64{firstAt, otherAt} {
			at += 0x3c0 + r.Uint64N(64) // a granule may end among them
			n := 1 + r.IntN(20)
			b := mem.Bytes{Data: make([]byte, n+1), Sym: make([]expr.Ref, n+1)} // a NUL at the end
			for i := range n {
				b.Data[i] = letter()
				if r.IntN(2) == 0 && !(sets && k == 1) {
					b.Data[i], b.Sym[i] = 0, e.Var(fmt.Sprint("v", vars), 8)
					vars++
				}
			}
			if err := s.WriteSym(at, b); err != nil {
				t.Fatal(err)
			}
			inputs[k] = b
			c.Set([]ir.Slot{ir.RDI, ir.RSI}[k], at)
		}
		first := c.R[ir.RDI]
		size := uint64(min(len(inputs[0].Data), len(inputs[1].Data)))
		n, needle := r.Uint64N(size+1), letter()
		if !compares && !sets {
			c.Set(ir.RSI, uint64(needle)|0xab00)
		}
		nAt := ir.RDX
		if name == "strnlen" {
			nAt = ir.RSI
		}
		c.Set(nAt, n)
		var nVar, needleVar expr.Ref
		if r.IntN(3) == 0 {
			nVar = e.Var("n", 8)
			n = 0
			c.SetSym(nAt, n, e.Select(countTo(size), e.ZExt(e.And(nVar, e.Const(7, 8)), 64), 64))
		}
		if strings.HasSuffix(name, "chr") && r.IntN(3) == 0 {
			needleVar, needle = e.Var("c", 8), 0
			c.SetSym(ir.RSI, 0, e.ZExt(needleVar, 64))
		}
		handled, stop := EarlyExit(name, area)(m, c, s)
		if stop != nil {
			t.Fatalf("%s stopped: %+v", name, stop)
		}
		if !handled {
			continue
		}
		if c.PC != 0 || c.R[ir.RSP] != stackAt+16 {
			t.Fatalf("%s returned to %#x, stack %#x", name, c.PC, c.R[ir.RSP])
		}
		for try := range 8 {
			model := make(expr.Assignment, e.NumVars())
			if try > 0 {
				for i := range model {
					model[i] = uint64(letter())
				}
			}
			got := c.R[ir.RAX]
			if c.Sym.Has(ir.RAX) {
				got = e.Eval(c.S[ir.RAX], model)
			}
			if try == 0 && got != c.R[ir.RAX] {
				t.Fatalf("%s: value %#x, expression %#x", name, c.R[ir.RAX], got)
			}
			var text [2]string
			for k, b := range inputs {
				p := slices.Clone(b.Data)
				for i, x := range b.Sym {
					if x != 0 {
						p[i] = byte(e.Eval(x, model))
					}
				}
				text[k] = hex.EncodeToString(p)
			}
			count, key := n, needle
			if nVar != 0 {
				count = countTo(size)[e.Eval(nVar, model)&7]
			}
			if needleVar != 0 {
				key = byte(e.Eval(needleVar, model))
			}
			line := fmt.Sprintf("%s %s %s %d %d\n", name, text[0], text[1], key, count)
			queries.WriteString(line)
			result := int64(got)
			switch {
			case compares:
				if got>>32 != 0 {
					t.Fatalf("%s: rax is %#x", line, got)
				}
				result = int64(int32(got))
			case points && got == 0:
				result = -1
			case points:
				result = int64(got - first)
			}
			answers = append(answers, answer{line, result})
		}
	}
	cmd := osexec.Command(bin)
	cmd.Stdin = strings.NewReader(queries.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	if len(lines) != len(answers) || len(lines) < 4000 {
		t.Fatalf("%d answers to %d questions", len(lines), len(answers))
	}
	for i, a := range answers {
		if lines[i] != fmt.Sprint(a.got) {
			t.Fatalf("%s: the model has %d, the library %s", a.what, a.got, lines[i])
		}
	}
}

// compile builds a C program, or skips where gcc is missing.
func compile(t *testing.T, src string, flags ...string) string {
	t.Helper()
	gcc, err := osexec.LookPath("gcc")
	if err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	out := filepath.Join(t.TempDir(), "prog")
	if b, err := osexec.Command(gcc, append(append([]string{"-o", out}, flags...), src)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, b)
	}
	return out
}

// countTo is a table of eight counts up to n.
func countTo(n uint64) []uint64 {
	l := make([]uint64, 8)
	for i := range l {
		l[i] = uint64(i) * n / 7
	}
	return l
}

// The code runs where a model cannot tell the result: all is concrete, a pointer is symbolic, memory ends before the result
// is settled, the limit may be anything, or the address is that of something else.
func TestLibcDeclines(t *testing.T) {
	for name, change := range map[string]func(*exec.Machine, *cpu.CPU, *mem.Space, *mem.Area){
		"concrete": func(m *exec.Machine, c *cpu.CPU, s *mem.Space, _ *mem.Area) {
			s.Write(firstAt, []byte("abc\x00"))
		},
		"pointer": func(m *exec.Machine, c *cpu.CPU, s *mem.Space, _ *mem.Area) {
			c.SetSym(ir.RDI, firstAt, m.Ctx.Var("p", 64))
		},
		"unreadable": func(m *exec.Machine, c *cpu.CPU, s *mem.Space, _ *mem.Area) {
			c.Set(ir.RDI, firstAt+0xffd)
			s.WriteSym(firstAt+0xffd, mem.Bytes{Data: make([]byte, 3), Sym: []expr.Ref{m.Ctx.Var("x", 8), m.Ctx.Var("y", 8), m.Ctx.Var("z", 8)}})
		},
		"elsewhere": func(m *exec.Machine, c *cpu.CPU, s *mem.Space, a *mem.Area) { a.Name = "other" },
	} {
		for f := range libc {
			m := exec.New(expr.New())
			c, s, area := called(t, m)
			c.Set(ir.RDI, firstAt)
			c.Set(ir.RSI, otherAt)
			c.Set(ir.RDX, 0x1001)
			if f == "strnlen" {
				c.Set(ir.RSI, 0x1001)
			}
			s.WriteSym(firstAt, mem.Bytes{Data: []byte{0}, Sym: []expr.Ref{m.Ctx.Var("b", 8)}})
			s.Write(otherAt, []byte("abc\x00"))
			change(m, c, s, &area)
			before := *c
			if handled, stop := EarlyExit(f, area)(m, c, s); handled || stop != nil || c.PC != before.PC {
				t.Errorf("%s, %s: handled %v, %+v", name, f, handled, stop)
			}
		}
	}
	m := exec.New(expr.New())
	c, s, area := called(t, m)
	c.Set(ir.RDI, firstAt)
	c.Set(ir.RSI, 'a')
	c.SetSym(ir.RDX, 1, m.Ctx.Var("n", 64))
	if handled, _ := EarlyExit("memchr", area)(m, c, s); handled {
		t.Error("memchr with an unbounded limit is handled")
	}
}
