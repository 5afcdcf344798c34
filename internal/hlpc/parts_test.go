package hlpc

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"symchef/internal/guest"
	"symchef/internal/interp"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// TestLocText: a place is read back as it is printed.
func TestLocText(t *testing.T) {
	for _, l := range deepLocs() {
		var got Loc
		if err := got.UnmarshalText([]byte(l.String())); err != nil || got != l {
			t.Errorf("%v is read as %v: %v", l, got, err)
		}
	}
	for _, bad := range []string{"", "r16", "[", "[rax*2]", "raxx", "[rsp+]"} {
		if err := new(Loc).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// synthetic is a trace of two functions whose branches are executed for each statement with a pointer in rbx
// that goes through code in memory; no table tells where the branches go.
func synthetic(t *testing.T) *Trace {
	const base = 0x10000000
	s := mem.NewSpace()
	if err := s.Map(base, 1<<20, guest.ProtRead|guest.ProtWrite, nil, 0, ""); err != nil {
		t.Fatal(err)
	}
	trace := &Trace{Locs: plainLocs(), Statements: 100}
	rbx := slices.Index(trace.Locs, Loc{Reg: ir.RBX})
	for i := range uint64(2) {
		b := &Branch{Function: &Function{Module: "vm", Offset: 0x1000 * i}, Windows: map[string]*Window{}}
		for name, n := range map[string]int{interp.WindowShort: 100, interp.WindowLong: 200, interp.WindowLoop: 300} {
			w := &Window{Before: s, After: s}
			for k := range n {
				e := Event{Site: 0x1000 * i, Target: 1, Vals: make([]uint64, len(trace.Locs))}
				if name == interp.WindowLoop {
					k %= 100
				}
				e.Vals[rbx] = base + 4*uint64(k)
				w.Events = append(w.Events, e)
			}
			b.Windows[name] = w
		}
		trace.Branches = append(trace.Branches, b)
	}
	return trace
}

// TestTie: two functions that look the same are a tie, which is reported with both and with how to decide.
func TestTie(t *testing.T) {
	all := Candidates(synthetic(t))
	if len(all) != 2 || !all[0].Linear || all[0].Slope != 1 || all[0].Rounds != 3 {
		t.Fatalf("candidates %+v", all)
	}
	r := &runs{cal: &interp.Calibration{}}
	var e *AmbiguousError
	if _, err := r.winner(all); !errors.As(err, &e) || len(e.Candidates) != 2 || !strings.Contains(err.Error(), `(prefer "jump rbx")`) {
		t.Errorf("a tie: %v", err)
	}
	if got, err := r.winner(all[:1]); err != nil || len(got) != 1 {
		t.Errorf("one candidate: %v", err)
	}
}

// TestRejected: values that are not pointers, that point to what is written, that do not grow with the
// script, or that do not repeat with its loop are no program counters.
func TestRejected(t *testing.T) {
	for name, spoil := range map[string]func(b *Branch, rbx int){
		"no pointers": func(b *Branch, rbx int) { shift(b, rbx, 1<<40) },
		"written": func(b *Branch, _ int) {
			after := b.Windows[interp.WindowLong].Before.(*mem.Space).Fork()
			if err := after.Write(0x10000000, bytes.Repeat([]byte{1}, 4000)); err != nil {
				t.Fatal(err)
			}
			b.Windows[interp.WindowLong].After = after
		},
		"no growth": func(b *Branch, _ int) { b.Windows[interp.WindowShort] = b.Windows[interp.WindowLong] },
		"no loop":   func(b *Branch, _ int) { b.Windows[interp.WindowLoop] = b.Windows[interp.WindowLong] },
	} {
		trace := synthetic(t)
		trace.Branches = trace.Branches[:1]
		if len(Candidates(trace)) != 1 {
			t.Fatal("nothing to reject")
		}
		spoil(trace.Branches[0], slices.Index(trace.Locs, Loc{Reg: ir.RBX}))
		if got := Candidates(trace); len(got) != 0 {
			t.Errorf("%s: %v is taken", name, got[0].String())
		}
	}
}

func shift(b *Branch, place int, by uint64) {
	for _, w := range b.Windows {
		for k := range w.Events {
			w.Events[k].Vals[place] += by
		}
	}
}
