package hlpc

import (
	"reflect"
	"testing"

	"symchef/internal/guest"
	"symchef/internal/interp"
	"symchef/internal/mem"
	"symchef/internal/seed"
)

// TestCodes: what is remembered of a code object is what is found anew, whatever is written where it lies, in whichever of the
// spaces that have forked from one another.
func TestCodes(t *testing.T) {
	r := seed.Rand(t)
	cal, err := interp.ParseCalibration(`(calibration x (interpreters "x") (argv script) (script "a")
		(code y (object p frame) (start (load8 p 0)) (size (load4 p 8))
			(identity ((load8 p 0) (load4 p 8)) (words (add p 0x10) 16) ((load8 p 0x20) (strlen (load8 p 0x20) 0)))
			(label (file 3))))`)
	if err != nil {
		t.Fatal(err)
	}
	const base, objects = 0x10000, 3
	put := func(s *mem.Space, i int) { // writes a part of object i, or all of it
		at := base + uint64(i)*0x300 // some cross granules
		write := func(addr, v uint64, n int) {
			if err := s.WriteU(addr, v, n); err != nil {
				t.Fatal(err)
			}
		}
		what := r.IntN(7)
		if what == 0 || what == 6 {
			write(at, at+0x100+r.Uint64N(2), 8)
		}
		if what == 1 || what == 6 {
			write(at+8, 16*r.Uint64N(4), 4)
		}
		if what == 2 || what == 6 {
			write(at+0x10+8*r.Uint64N(2), r.Uint64N(3), 8)
		}
		if what == 3 || what == 6 {
			write(at+0x100+r.Uint64N(64), r.Uint64N(3), 1)
		}
		if what == 4 || what == 6 {
			write(at+0x20, at+0x200+r.Uint64N(3), 8)
		}
		if what == 5 || what == 6 {
			write(at+0x200+r.Uint64N(20), 'a'*r.Uint64N(2), 1)
		}
	}
	first := mem.NewSpace()
	if err := first.Map(base, 0x2000, guest.ProtRead|guest.ProtWrite, nil, 0, ""); err != nil {
		t.Fatal(err)
	}
	for i := range objects {
		for range 20 {
			put(first, i)
		}
	}
	spaces := []*mem.Space{first}
	old := &codes{rule: &cal.Codes[0], function: &Function{Offset: 1, End: 3}}
	found, same := 0, 0
	for range 20000 {
		s := spaces[r.IntN(len(spaces))]
		switch r.IntN(10) {
		case 0:
			if f := s.Fork(); len(spaces) < 3 {
				spaces = append(spaces, f)
			} else {
				spaces[r.IntN(3)] = f
			}
		case 1, 2, 3:
			put(s, r.IntN(objects))
		}
		at := base + uint64(r.IntN(objects))*0x300
		pc, bias := at+0x100+r.Uint64N(40), r.Uint64N(2)
		fresh := &codes{rule: old.rule, function: old.function}
		old.reader.Of(s)
		fresh.reader.Of(s)
		before := old.known[at]
		got, want := old.at(at, pc, bias), fresh.at(at, pc, bias)
		if (got == nil) != (want == nil) || got != nil && (got.Code != want.Code || !reflect.DeepEqual(got.label, want.label)) {
			t.Fatalf("remembered %+v, found anew %+v", got, want)
		}
		if got != nil {
			found++
			if got == before {
				same++
			}
		}
	}
	if found < 1000 || same < found/4 {
		t.Errorf("%d found, %d of them remembered", found, same)
	}
}

// A list that a guest has tied into a ring has an end.
func TestRingOfConstants(t *testing.T) {
	cal, ok := interp.CalibrationOf("r")
	if !ok {
		t.Fatal("no calibration")
	}
	as := cal.Codes[0].Objects
	n := as.N
	const vector, constant, pair, symbol, name = 0x10000, 0x10100, 0x10200, 0x10300, 0x10400
	s := mem.NewSpace()
	if err := s.Map(vector, 0x1000, guest.ProtRead|guest.ProtWrite, nil, 0, ""); err != nil {
		t.Fatal(err)
	}
	for at, v := range map[uint64]uint64{
		vector + n("length"): 1, vector + n("elements"): constant, constant: n("plain"), constant + n("attributes"): pair,
		pair: n("pair"), pair + n("second"): pair, pair + n("third"): symbol, symbol: n("symbol"), symbol + n("first"): name, name + n("length"): 1, name + n("elements"): 'x',
	} {
		if err := s.WriteU(at, v, 8); err != nil {
			t.Fatal(err)
		}
	}
	read := func() ([]byte, error) {
		r := &mem.Reader{}
		r.Of(s)
		return constants(&transcript{Reader: r}, as, vector)
	}
	if _, err := read(); err == nil {
		t.Error("a ring is no error")
	}
	if err := s.WriteU(pair+n("second"), symbol, 8); err != nil {
		t.Fatal(err)
	}
	if b, err := read(); err != nil || len(b) == 0 {
		t.Errorf("%x, %v", b, err)
	}
	if err := s.WriteU(vector+n("elements"), 0x90000, 8); err != nil {
		t.Fatal(err)
	}
	if b, err := read(); err == nil {
		t.Errorf("a constant where nothing is mapped is %x", b)
	}
}
