package exec

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"symchef/internal/cpu"
	"symchef/internal/expr"
	"symchef/internal/guest"
	"symchef/internal/ir"
	"symchef/internal/jit"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// TestTLB: whatever happens to a space between two runs (mapping, protection,
// forks, overlays, a new model), loads and stores see what a map of pages says. And what is guarded is not written in an epoch of the notes.
func TestTLB(t *testing.T) {
	r := seed.Rand(t)
	type side struct {
		s   *mem.Space
		ref bytesMem
		sym map[uint64]expr.Ref
	}
	m := New(expr.New())
	m.facts = &Facts{}
	m.Notes = &Notes{}
	type guard struct {
		of         []mem.Piece // as they were in the epoch
		gen, epoch uint64
	}
	kept := 0 // writes to a granule with guarded bytes that end no epoch
	e := m.Ctx
	model := expr.Assignment{}
	vars := make([]expr.Ref, 40)
	for i := range vars {
		vars[i] = e.Var(fmt.Sprint("v", i), 8)
		model = append(model, uint64(i))
	}
	// A load or store, in the evaluator and as machine code.
	b := &ir.Block{PC: 0x1000, Uops: []ir.Uop{{}, {Op: ir.Jmp}}, Insns: []ir.InsnMark{{}}}
	compiled := map[ir.Uop]jit.Code{}
	native := 0
	compile := func(c *cpu.CPU) int {
		code, there := compiled[b.Uops[0]]
		if !there {
			compiling := &ir.Block{PC: b.PC, Uops: slices.Clone(b.Uops), Insns: b.Insns}
			code, _ = m.code.Compile(&jit.Source{Block: compiling})
			compiled[b.Uops[0]] = code
		}
		if !m.code.Valid(code) {
			return 0 // the host allows no machine code
		}
		m.native.Regs, m.native.Left = &c.R, 1
		m.code.Run(code)
		if m.native.Uop >= 0 {
			return int(m.native.Uop)
		}
		native++
		return len(b.Uops) - 1
	}
	for range 150 {
		s, ref := memory(t, r)
		sides := []*side{{s, ref, map[uint64]expr.Ref{}}}
		var guards []guard
		var trace []string
		k := 0
		for range 1500 {
			if r.IntN(8) == 0 { // else the machine's translations stay
				k = r.IntN(len(sides))
				m.Notes.Stop()
			}
			d := sides[k]
			at := dataBase + r.Uint64N(5)*guest.PageSize + r.Uint64N(3)*256 + r.Uint64N(16) - 8
			start := at &^ (guest.PageSize - 1)
			prot := guest.Prot(r.IntN(8))
			w := widths[r.IntN(4)]
			what := ""
			op := r.IntN(60)
			if op < 16 { // not the machine's
				m.Notes.Stop()
			}
			switch op {
			case 0:
				what = "map"
				if err := d.s.Map(start, guest.PageSize, prot, nil, 0, ""); err != nil {
					t.Fatal(err)
				}
				d.ref[start/guest.PageSize] = &refPage{prot: prot}
				for a := range d.sym {
					if a&^(guest.PageSize-1) == start {
						delete(d.sym, a)
					}
				}
			case 1:
				what = "unmap"
				d.s.Unmap(start, guest.PageSize)
				delete(d.ref, start/guest.PageSize)
				for a := range d.sym {
					if a&^(guest.PageSize-1) == start {
						delete(d.sym, a)
					}
				}
			case 2, 3, 4:
				what = "protect"
				if p := d.ref[start/guest.PageSize]; p != nil {
					p.prot = prot | guest.ProtRead
					d.s.Protect(start, guest.PageSize, p.prot)
				}
			case 5, 6:
				what = "fork"
				f := &side{d.s.Fork(), d.ref.clone(), map[uint64]expr.Ref{}}
				for a, x := range d.sym {
					f.sym[a] = x
				}
				if len(sides) < 3 {
					sides = append(sides, f)
				} else {
					sides[r.IntN(3)] = f
				}
			case 7, 8:
				what = "symbolic write"
				v := r.IntN(len(vars))
				if d.s.WriteSym(at, mem.Bytes{Data: []byte{byte(model[v])}, Sym: []expr.Ref{vars[v]}}) == nil {
					*d.ref.at(at, 0), d.sym[at] = byte(model[v]), vars[v]
				}
			case 9, 10, 11:
				what = "rebase"
				for i := range model {
					model[i] = r.Uint64N(256)
				}
				for _, d := range sides {
					d.s.Rebase(func(x expr.Ref) uint64 { return e.Eval(x, model) })
					for a, x := range d.sym {
						*d.ref.at(a, 0) = byte(e.Eval(x, model))
					}
				}
			case 12, 13, 14, 15:
				what = "write by a call"
				buf := []byte{1, 2, 3, byte(r.Uint32())}
				if d.s.Write(at, buf) == nil {
					d.ref.WriteMem(at, buf)
					for i := range uint64(4) {
						delete(d.sym, at+i)
					}
				}
			case 16, 17:
				what = "guard"
				m.use(d.s)
				g := guard{gen: m.Guards()}
				for range 1 + r.IntN(2) {
					p := mem.Piece{At: at, Held: make([]byte, 1+r.IntN(20))}
					if d.ref.ReadMem(p.At, p.Held) == nil {
						g.of = append(g.of, p)
					}
					at += 20 + r.Uint64N(300)
				}
				if m.Guard(g.of) {
					if g.gen != m.Guards() {
						t.Fatalf("guards end where bytes are guarded")
					}
					guards = append(guards, g)
				}
			default: // a load or a store, with the evaluator that would be chosen
				c := cpu.CPU{}
				c.R[ir.RBX], c.R[ir.RAX] = at, r.Uint64()
				base, imm := ir.Slot(ir.RBX), uint64(0)
				if r.IntN(4) == 0 { // the address is known when it is compiled
					base, imm = ir.Zero, at
				}
				b.Uops[0] = ir.Uop{Op: ir.Load + ir.Op(r.IntN(2)), W: w, D: ir.RCX, C: ir.RAX, A: base, B: ir.Zero, Imm: imm}
				what = fmt.Sprint(b.Uops[0].Op, w)
				buf := make([]byte, w/8)
				var err error
				if b.Uops[0].Op == ir.Load {
					err = d.ref.ReadMem(at, buf)
				} else {
					for i := range buf {
						buf[i] = byte(c.R[ir.RAX] >> (8 * i))
					}
					if err = d.ref.WriteMem(at, buf); err == nil {
						for i := range buf {
							delete(d.sym, at+uint64(i))
						}
					}
				}
				m.use(d.s)
				guards = slices.DeleteFunc(guards, func(g guard) bool { return g.gen != m.Guards() && g.epoch != m.Notes.Epoch })
				for i := range guards {
					g := &guards[i]
					if g.epoch == m.Notes.Epoch {
						continue
					}
					g.epoch = m.Notes.Epoch
					for _, p := range g.of {
						d.s.Read(p.At, p.Held)
					}
				}
				i, st := 0, symMem
				switch v := r.IntN(len(vars)); {
				case b.Uops[0].Op == ir.Store && r.IntN(6) == 0: // a symbolic value
					c.Sym.Add(ir.RAX)
					c.S[ir.RAX] = e.Xor(e.ZExt(vars[v], 64), e.Const(model[v]^c.R[ir.RAX], 64))
					if err == nil {
						d.sym[at] = e.Extract(c.S[ir.RAX], 0, 8)
					}
				case r.IntN(2) == 0:
					i, st = m.fast(&c, d.s, b, compile(&c))
				default:
					i, st = m.fast(&c, d.s, b, 0)
				}
				if st == symMem {
					i, st, _ = m.concolic(&c, d.s, b, i)
				}
				bad := ""
				for _, g := range guards {
					for _, p := range g.of {
						now := make([]byte, len(p.Held))
						d.s.Read(p.At, now)
						if g.epoch == m.Notes.Epoch && !bytes.Equal(now, p.Held) {
							bad = fmt.Sprintf("%x at %#x, which was %x, in the same epoch", now, p.At, p.Held)
						}
						if b.Uops[0].Op == ir.Store && err == nil && g.epoch == m.Notes.Epoch && at&^granMask == p.At&^granMask {
							kept++
						}
					}
				}
				switch {
				case bad != "":
				case st != ok && st != fault || (st == fault) != (err != nil) || st == fault && m.faultAt != at:
					bad = fmt.Sprintf("uop %d, status %d at %#x, want error %v at %#x", i, st, m.faultAt, err, at)
				case st == ok && b.Uops[0].Op == ir.Load && c.R[ir.RCX] != number(buf):
					bad = fmt.Sprintf("loaded %#x, want %#x", c.R[ir.RCX], number(buf))
				case st == ok && c.Sym.Has(ir.RCX) && e.Eval(c.S[ir.RCX], model) != number(buf):
					bad = "wrong expression"
				}
				symbolic := false
				for a := range uint64(w / 8) {
					symbolic = symbolic || d.sym[at+a] != 0
				}
				if st == ok && b.Uops[0].Op == ir.Load && symbolic != c.Sym.Has(ir.RCX) {
					bad = fmt.Sprintf("loaded symbolic bytes: %v", symbolic)
				}
				if bad != "" {
					t.Fatalf("space %d: %v of %d bits at %#x: %s\nafter %q", k, b.Uops[0].Op, w, at, bad, trace[max(0, len(trace)-30):])
				}
			}
			trace = append(trace, fmt.Sprintf("%d: %s %#x", k, what, at))
		}
		for k, d := range sides {
			for n, p := range d.ref {
				p.prot |= guest.ProtRead
				d.s.Protect(n*guest.PageSize, guest.PageSize, p.prot)
			}
			if bad := d.ref.diff(d.s); bad != "" {
				t.Fatalf("space %d: %s\nafter %q", k, bad, trace[max(0, len(trace)-30):])
			}
		}
	}
	t.Logf("%d accesses by machine code alone; %d times was something written beside what is guarded", native, kept)
	if kept < 20 {
		t.Error("nearly every write beside what is guarded ends the epoch")
	}
	if native == 0 {
		t.Log("the host allows no machine code")
	}
}
