package device

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"symchef/internal/seed"
)

func TestParse(t *testing.T) {
	tests := []struct {
		line string
		want *Request
	}{
		{"hello 1", &Request{Verb: VerbHello, Version: 1}},
		{"begin", &Request{Verb: VerbBegin}},
		{"begin test_a", &Request{Verb: VerbBegin, Text: "test_a"}},
		{"input e str a%40b 0 10 1", &Request{Verb: VerbInput, Input: &Input{Name: "e", Kind: KindStr, Type: StrType(0, 10, true, false), DefaultBytes: []byte("a@b"), ASCII: true}}},
		{"input e str ab 0 10 2", &Request{Verb: VerbInput, Input: &Input{Name: "e", Kind: KindStr, Type: StrType(0, 10, true, true), DefaultBytes: []byte("ab"), ASCII: true, NoNUL: true}}},
		{"input e str % 0 0 0", &Request{Verb: VerbInput, Input: &Input{Name: "e", Kind: KindStr, Type: StrType(0, 0, false, false), DefaultBytes: []byte{}}}},
		{"input b bytes %00%FF 2 2", &Request{Verb: VerbInput, Input: &Input{Name: "b", Kind: KindBytes, Type: BytesType(2, 2), DefaultBytes: []byte{0, 255}}}},
		{"input i int -1 -9223372036854775808 9223372036854775807", &Request{Verb: VerbInput, Input: &Input{Name: "i", Kind: KindInt, Type: IntType(math.MinInt64, math.MaxInt64), DefaultInt: -1}}},
		{"input d float 1.5 -inf 1e300", &Request{Verb: VerbInput, Input: &Input{Name: "d", Kind: KindFloat, Type: Real{math.Inf(-1), 1e300}, DefaultFloat: 1.5}}},
		{"input f bool 1", &Request{Verb: VerbInput, Input: &Input{Name: "f", Kind: KindBool, Type: BoolType(), DefaultInt: 1}}},
		{"input c choice 2 3", &Request{Verb: VerbInput, Input: &Input{Name: "c", Kind: KindChoice, Type: ChoiceType(3), DefaultInt: 2}}},
		{"place 4 int1 140737353922560", &Request{Verb: VerbPlace, ID: 4, Layout: "int1", Addr: 140737353922560}},
		{"value 4 48 -2", &Request{Verb: VerbValue, ID: 4, Len: 48, Less: -2}},
		{"log - 5", &Request{Verb: VerbLog, Len: 5, Inline: true}},
		{"outcome exception E - 0", &Request{Verb: VerbOutcome, Kind: OutcomeException, Type: "E", Inline: true}},
		{"concretize - 8", &Request{Verb: VerbConcretize, Len: 8, Inline: true}},
		{"bounds 4096 8", &Request{Verb: VerbBounds, Addr: 4096, Len: 8}},
		{"symbolic 4096 100", &Request{Verb: VerbSymbolic, Addr: 4096, Len: 100}},
		{"concretize 4096 1", &Request{Verb: VerbConcretize, Addr: 4096, Len: 1}},
		{"assume 4096 4", &Request{Verb: VerbAssume, Addr: 4096, Len: 4}},
		{"prune", &Request{Verb: VerbPrune}},
		{"immortal - 32", &Request{Verb: VerbImmortal, Len: 32, Inline: true}},
		{"log 4096 0", &Request{Verb: VerbLog, Addr: 4096}},
		{"expect ValueError m.E", &Request{Verb: VerbExpect, Types: []string{"ValueError", "m.E"}}},
		{"outcome ok % 4096 0", &Request{Verb: VerbOutcome, Kind: OutcomeOK, Addr: 4096}},
		{"outcome exception m.E 4096 3", &Request{Verb: VerbOutcome, Kind: OutcomeException, Type: "m.E", Addr: 4096, Len: 3}},
		{"chosen 3 4096 12", &Request{Verb: VerbChosen, ID: 3, Addr: 4096, Len: 12}},
		{"chosen 0 - 3", &Request{Verb: VerbChosen, Len: 3, Inline: true}},
		{"returned 4096 12", &Request{Verb: VerbReturned, Addr: 4096, Len: 12}},
		{"returned - 3", &Request{Verb: VerbReturned, Len: 3, Inline: true}},
		{"frames 0", &Request{Verb: VerbFrames}},
		{"frames 2 /t/a%20b.py:3:test %FF.py:1:f", &Request{Verb: VerbFrames, Frames: []string{"/t/a b.py:3:test", "\xff.py:1:f"}}},
		{"tests 0", &Request{Verb: VerbTests}},
		{"tests 2 test_a b%2C%20c", &Request{Verb: VerbTests, Tests: []string{"test_a", "b, c"}}},
		{"end", &Request{Verb: VerbEnd}},
		{"step 0 0", &Request{Verb: VerbStep}},
		{"step 4294967295 18446744073709551615", &Request{Verb: VerbStep, Step: math.MaxUint32, Opcode: math.MaxUint64}},
		{"shape x 0 0", &Request{Verb: VerbShape, Shape: &Shape{Name: "x"}}},
		{"shape x 2 4 $P =(a= @1 =)", &Request{Verb: VerbShape, Shape: &Shape{"x", 2, []Piece{{Kind: '$', Text: "P"}, {Kind: '=', Text: "(a="}, {Kind: '@', Part: 1}, {Kind: '=', Text: ")"}}}}},
		{"judged own", &Request{Verb: VerbJudged, Text: "own"}},
		{"function /m.py::f() m.f /m.py:3 (x:%20int) % 0 0 0", &Request{Verb: VerbFunction, Function: &Function{Run: "/m.py::f()", Name: "m.f", At: "/m.py:3", Signature: "(x: int)"}}},
		{"function % m.f /m.py:3 % no%20value 1 x 2 KeyError m.E 1 m.E", &Request{Verb: VerbFunction, Function: &Function{Name: "m.f", At: "/m.py:3", Refused: "no value", Guessed: []string{"x"}, Promised: []string{"KeyError", "m.E"}, Own: []string{"m.E"}}}},
		{"usage no%20test", &Request{Verb: VerbUsage, Text: "no test"}},
	}
	seen := map[Verb]bool{}
	for _, tt := range tests {
		got, err := Parse([]byte(tt.line + "\n"))
		if err != nil {
			t.Errorf("%q: %v", tt.line, err)
			continue
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: got %+v, want %+v", tt.line, got, tt.want)
		}
		seen[got.Verb] = true
	}
	for v := VerbHello; int(v) < len(verbs); v++ {
		if !seen[v] {
			t.Errorf("no row for %s", v)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, line := range []string{
		"", "begin", "\n", " begin\n", "begin \n", "begin a b\n", "begin %\n", "BEGIN\n", "hello\n", "hello x\n", "hello 01\n", "hello +1\n", "begin\nend\n",
		"input  str a 1 1 1\n", "input % str a 1 1 1\n", "input x str a 1 1\n", "input x str a 2 1 1\n", "input x str a 2 2 1\n", "input x str %C3%A9 1 1 1\n",
		"input x str %FF 1 1 0\n", "input x str %4 1 1 1\n", "input x str a -1 1 1\n", "input x str a 1 99999999 1\n", "input x int 5 0 4\n", "input x int 0 5 4\n",
		"input x int 0 0 9223372036854775808\n", "input x bool 2\n", "input x choice 3 3\n", "input x choice 0 0\n", "input x choice 0 70000\n", "input x float 1\n", "input x float 2 0 1\n", "input x float nan 0 1\n", "input x float 0 -0 nan\n", "input x float -0 0 1\n", "input x float 0 1 0\n", "input x float 0 1e999 0\n",
		"input x\x00 bool 1\n", "place 0  4096\n", "place -1 int1 4096\n", "place 0 % 4096\n", "bounds 1 9\n", "bounds 1 0\n", "bounds 18446744073709551615 2\n", "assume 1 -1\n", "assume - 4\n", "concretize - 0\n", "log -\n", "value 0\n", "value 0 99999999999 0\n", "value 0 8\n",
		"expect\n", "expect %\n", "outcome ok T 1 0\n", "outcome exception % 1 0\n", "outcome crash T 1 0\n", "log x\n", "usage\n",
		"returned\n", "returned -\n", "returned - x\n", "returned 1 99999999999\n", "frames\n", "frames -1\n", "frames 1\n", "frames 1 a b\n", "frames 2 a\n", "frames 1025\n", "frames 999999999\n", "tests\n", "step\n", "step 1\n", "step 4294967296 1\n", "step -1 1\n", "step 01 1\n", "step 1 1 1\n", "step x 1\n", "tests 2 a\n", "tests 99999 a\n",
		"shape\n", "shape x\n", "shape x 1\n", "shape x -1 0\n", "shape x 1 1\n", "shape x 1 1 @1\n", "shape x 1 1 @-1\n", "shape x 1 1 @00\n", "shape x 1 1 @\n", "shape x 1 1 a\n", "shape x 1 1 %\n", "shape x 1 2 =a\n", "shape x 1 1 =%FF\n", "shape x 0 99999 =\n",
	} {
		if r, err := Parse([]byte(line)); err == nil {
			t.Errorf("%q was accepted: %+v", line, r)
		}
	}
}

func TestReplies(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{string(OK()), "ok\n"}, {string(OK(3, -1)), "ok 3 -1\n"}, {string(OKUnsigned(0, math.MaxUint64)), "ok 0 18446744073709551615\n"},
		{string(Err("a\nb")), "err a b\n"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

// randomRequest draws any request that Parse could return.
func randomRequest(r *rand.Rand) *Request {
	text := func(least int) string {
		b := make([]rune, least+r.IntN(6))
		for i := range b {
			b[i] = []rune{'a', '%', ' ', '\n', 0, '~', 'é', '€', '\U0001F600'}[r.IntN(9)]
		}
		return string(b)
	}
	q := &Request{Verb: Verb(1 + r.IntN(len(verbs)-1))}
	addr := func() { q.Addr, q.Len = r.Uint64()>>8, 1+r.Uint64N(8) }
	switch q.Verb {
	case VerbHello:
		q.Version = r.IntN(10)
	case VerbInput:
		in := &Input{Name: text(1), Kind: Kind(1 + r.IntN(6))}
		n := r.IntN(5)
		switch in.Kind {
		case KindStr:
			in.ASCII = r.IntN(2) == 0
			in.NoNUL = in.ASCII && r.IntN(2) == 0
			in.DefaultBytes = []byte(strings.Repeat("z", n))
			if !in.ASCII {
				in.DefaultBytes = []byte(strings.Repeat("é", n))
			}
			in.Type = StrType(r.IntN(n+1), n+r.IntN(9), in.ASCII, in.NoNUL)
		case KindBytes:
			in.DefaultBytes = make([]byte, n)
			for i := range in.DefaultBytes {
				in.DefaultBytes[i] = byte(r.Uint32())
			}
			in.Type = BytesType(r.IntN(n+1), n+r.IntN(9))
		case KindInt:
			in.DefaultInt = int64(r.Uint64()) >> r.IntN(64)
			in.Type = IntType(math.MinInt64, in.DefaultInt)
		case KindFloat:
			in.DefaultFloat = math.Float64frombits(r.Uint64() &^ (1 << 62)) // no NaN
			in.Type = Real{math.Inf(-1), in.DefaultFloat}
		case KindBool:
			in.DefaultInt = r.Int64N(2)
			in.Type = BoolType()
		case KindChoice:
			in.DefaultInt = r.Int64N(5)
			in.Type = ChoiceType(5)
		}
		q.Input = in
	case VerbShape:
		q.Shape = &Shape{Name: text(0), Inputs: 1 + r.IntN(3)}
		for range r.IntN(4) {
			p := Piece{Kind: "=@$"[r.IntN(3)]}
			if p.Kind == PieceInput {
				p.Part = r.IntN(q.Shape.Inputs)
			} else {
				p.Text = text(0)
			}
			q.Shape.Code = append(q.Shape.Code, p)
		}
	case VerbFunction:
		q.Function = &Function{Run: text(0), Name: text(0), At: text(1), Signature: text(0), Refused: text(0)}
		for range r.IntN(3) {
			q.Function.Guessed, q.Function.Promised = append(q.Function.Guessed, text(1)), append(q.Function.Promised, text(0))
		}
	case VerbStep:
		q.Step, q.Opcode = r.Uint32(), r.Uint64()
	case VerbPlace:
		q.ID, q.Layout, q.Addr = r.IntN(100), text(1), r.Uint64()
	case VerbValue:
		q.ID, q.Len, q.Less = r.IntN(100), r.Uint64N(99), int64(r.Uint64())
	case VerbBounds, VerbSymbolic, VerbAssume:
		addr()
	case VerbFrames:
		for range r.IntN(4) {
			q.Frames = append(q.Frames, text(1))
		}
	case VerbConcretize, VerbLog, VerbReturned, VerbChosen:
		if q.Verb == VerbChosen {
			q.ID = r.IntN(100)
		}
		addr()
		if r.IntN(2) == 0 {
			q.Addr, q.Inline = 0, true
		}
	case VerbExpect:
		for range 1 + r.IntN(3) {
			q.Types = append(q.Types, text(1))
		}
	case VerbOutcome:
		addr()
		q.Kind = OutcomeOK
		if r.IntN(2) == 0 {
			q.Kind, q.Type = OutcomeAssertion, text(1)
		}
	case VerbUsage, VerbJudged:
		q.Text = text(0)
	}
	return q
}

func TestRoundTrip(t *testing.T) {
	r := seed.Rand(t)
	for range 20000 {
		q := randomRequest(r)
		got, err := Parse(q.Format())
		if err != nil || !reflect.DeepEqual(got, q) {
			t.Fatalf("%q: got %+v %v, want %+v", q.Format(), got, err, q)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"hello 1\n", "input e str a%40b 0 10 1\n", "outcome exception m.E 4096 3\n", "expect A B\n", "place 1 str 4096\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		q, err := Parse(line)
		if err != nil {
			return
		}
		again, err := Parse(q.Format())
		if err != nil || !reflect.DeepEqual(q, again) {
			t.Fatalf("%q parses to %+v, formats to %q, which parses to %+v %v", line, q, q.Format(), again, err)
		}
	})
}

func TestTypeInvariants(t *testing.T) {
	byteType := Scalar{Width: 8, Max: 255}
	for _, tt := range []struct {
		name string
		typ  Type
		ok   bool
	}{
		{"bit", BoolType(), true},
		{"int64", IntType(math.MinInt64, math.MaxInt64), true},
		{"width 0", Scalar{}, false},
		{"width 65", Scalar{Width: 65}, false},
		{"unsigned 64", Scalar{Width: 64}, false},
		{"negative unsigned", Scalar{Width: 8, Min: -1}, false},
		{"too wide unsigned", Scalar{Width: 8, Max: 256}, false},
		{"signed byte", Scalar{Width: 8, Signed: true, Min: -128, Max: 127}, true},
		{"too wide signed", Scalar{Width: 8, Signed: true, Min: -128, Max: 128}, false},
		{"empty range", Scalar{Width: 8, Min: 2, Max: 1}, false},
		{"sequence", Sequence{Elem: byteType, MaxLen: 3}, true},
		{"sequence of nothing", Sequence{MaxLen: 3}, false},
		{"lengths crossed", Sequence{Elem: byteType, MinLen: 4, MaxLen: 3}, false},
		{"too long", Sequence{Elem: byteType, MaxLen: MaxSeqLen + 1}, false},
		{"bad element", Sequence{Elem: Scalar{}, MaxLen: 3}, false},
		{"record", Record{[]Field{{"a", byteType}, {"b", Sequence{Elem: byteType, MaxLen: 1}}}}, true},
		{"record twice", Record{[]Field{{"a", byteType}, {"a", byteType}}}, false},
		{"record empty", Record{}, false},
		{"record bad", Record{[]Field{{"a", nil}}}, false},
		{"choice", Choice{[]Type{nil, byteType}}, true},
		{"choice bad", Choice{[]Type{Scalar{}}}, false},
		{"choice empty", Choice{}, false},
	} {
		if err := tt.typ.Validate(); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, in := range []Input{
		{},
		{Name: "x"},
		{Name: "x", Kind: KindStr, Type: BytesType(0, 1), ASCII: true},
		{Name: "x", Kind: KindInt, Type: BoolType()},
		{Name: "x", Kind: KindChoice, Type: Choice{[]Type{byteType}}},
		{Name: "x", Kind: KindChoice, Type: BoolType()},
		{Name: "x", Kind: KindStr, Type: ChoiceType(2)},
	} {
		if in.Validate() == nil {
			t.Errorf("accepted %+v", in)
		}
	}
}
