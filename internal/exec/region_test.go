package exec_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/ir"
	"symchef/internal/seed"
)

// branchAt is where the branch of choice stands.
const branchAt = codeBase + 3

// choice is cmp %rcx,%rax; jcc no; yes; jmp join; no: ...; join: hlt. It returns the address of join.
func choice(cc byte, yes, no []byte) (code []byte, join uint64) {
	code = append([]byte{0x48, 0x39, 0xc8, 0x0f, 0x80 | cc}, binary.LittleEndian.AppendUint32(nil, uint32(len(yes)+5))...)
	code = append(append(code, yes...), 0xe9)
	code = append(binary.LittleEndian.AppendUint32(code, uint32(len(no))), no...)
	return append(code, 0xf4), codeBase + uint64(len(code))
}

// TestMerge merges the two ways of a branch with random code on each: the merged state has to be, under every model, that of a concrete run.
func TestMerge(t *testing.T) {
	r := seed.Rand(t)
	var m *exec.Machine
	merged, compared := 0, 0
	left := map[string]int{}
	for n := range 1000 {
		if n%40 == 0 {
			m = exec.New(expr.New())
		}
		yes, text1 := insns(r, r.IntN(4))
		no, text2 := insns(r, r.IntN(4))
		code, join := choice(byte(r.IntN(16)), yes, no)
		p := start(t, r, m.Ctx, code, text1+"or "+text2)
		c, _ := parts(p.st)
		c.SetSym(ir.RAX, 0, m.Ctx.ZExt(m.Ctx.Var("v8_0", 8), 64))
		if !c.Sym.Has(ir.RCX) {
			c.Set(ir.RCX, r.Uint64N(256))
		}
		model := p.model(r, nil)
		st := p.st.Fork()
		st.Resume(m.Ctx)
		st.Rebase(m.Ctx, model)
		stop := m.Run(st.Sys, &st.Facts, 1)
		if stop.Kind != exec.Decide || stop.Decision != exec.Branch || stop.PC != branchAt {
			left["no decision"]++
			continue
		}
		c, _ = parts(st)
		a, b := st.Sys.Fork(), st.Sys.Fork()
		way := func(v uint64) exec.Stop {
			x := a
			if v == 0 {
				x = b
			}
			defer st.Suppose(m.Ctx, stop.Ref, v)()
			return m.RunRegion(x, &st.Facts, 100, exec.Join{PC: join, Stack: c.R[ir.RSP]})
		}
		one, other := way(1), way(0)
		if one.Kind != exec.Joined || other.Kind != exec.Joined {
			left[one.What+", "+other.What]++
			continue
		}
		if why := m.Merge(a, b, stop.Ref, m.Ctx.Eval(stop.Ref, model) != 0, exec.Joined); why != "" {
			left[why]++
			continue
		}
		merged++
		st.Sys = a
		c, s := parts(st)
		if bad := sound(m.Ctx, c, s, model); bad != "" {
			t.Fatalf("%s: %s", p.insns, bad)
		}
		for range 8 {
			want := p.reference(model)
			if want == nil {
				break
			}
			c2, s2 := rebased(m.Ctx, *c, s, model)
			got := &result{c2, s2, want.signal, want.n}
			if bad := got.differs(want); bad != "" {
				t.Fatalf("%s: model %x: %s", p.insns, model, bad)
			}
			compared++
			model = p.model(r, model)
		}
	}
	t.Logf("%d merged, %d models compared; %v", merged, compared, left)
	if merged < 80 || compared < 5*merged {
		t.Errorf("%d merged, %d models compared", merged, compared)
	}
}

// TestJoinOf: where the ways of a branch meet is known from the code alone.
func TestJoinOf(t *testing.T) {
	for _, c := range []struct {
		name string
		code []byte
		join int // offset; -1: not within the function
	}{
		{"if", []byte{0x74, 1, 0x90, 0xc3}, 3},
		{"if, else", []byte{0x74, 3, 0x90, 0xeb, 1, 0x90, 0xc3}, 6},
		{"two returns", []byte{0x74, 1, 0xc3, 0x90, 0xc3}, -1},
		{"one way ends in a trap", []byte{0x74, 2, 0x0f, 0x0b, 0x90, 0xc3}, 4},
		{"a call returns", []byte{0x74, 5, 0xe8, 0, 0, 0, 0, 0x90, 0xc3}, 7},
		{"the end of a loop", []byte{0x90, 0x75, 0xfd, 0xc3}, 3},
		{"the start of a loop", []byte{0x74, 3, 0x90, 0xeb, 0xfb, 0xc3}, 5},
		{"a second exit of the loop", []byte{0x74, 5, 0x90, 0x75, 3, 0xeb, 0xf9, 0x90, 0xc3}, 8},
		{"branches within", []byte{0x74, 6, 0x90, 0x74, 1, 0x90, 0xeb, 3, 0x75, 1, 0x90, 0xc3}, 11},
		{"an indirect jump", []byte{0x74, 2, 0xff, 0xe0, 0x90, 0xc3}, -1},
		{"a string instruction", []byte{0xf3, 0xa4, 0xc3}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := boot(t, rx, c.code...)
			at := slices.IndexFunc(c.code, func(b byte) bool { return b == 0x74 || b == 0x75 || b == 0xf3 })
			got, ok := exec.New(expr.New()).JoinOf(st.Sys, codeBase+uint64(at))
			want := uint64(0)
			if c.join >= 0 {
				want = codeBase + uint64(c.join)
			}
			if !ok || got.PC != want || got.Stack != stackTop {
				t.Errorf("%#x, %v, want %#x", got, ok, want)
			}
		})
	}
	if _, ok := exec.New(expr.New()).JoinOf(boot(t, rx, 0x90, 0xc3).Sys, codeBase); ok {
		t.Error("no branch, and a join")
	}
}
