package testcase

import "testing"

// FuzzUnmarshal reads damaged lines of tests.jsonl: what is accepted is written and read as itself.
func FuzzUnmarshal(f *testing.F) {
	b, err := encode(Test{ID: "t000001", Inputs: []Input{Str("s", "a\u00e9"), Int("i", -1), Bytes("b", []byte{0, 255}), Bool("x", true), Choice("c", 1), Stdin([]byte("in")), Argv(1, []byte("a"))},
		Observation: Observation{Outcome: Outcome{Kind: Crash, Signal: "SIGSEGV"}, Returned: "l1:s2:\xc3\xa9", Frames: []string{"/t.py:1:f"}}})
	if err == nil {
		f.Add(b)
	}
	f.Add([]byte(`{"id":"t000001","inputs":[{"name":"n","type":"int","value":99999999999999999999}],"outcome":{"kind":"ok"}}`))
	f.Add([]byte(`{"id":"t000001","inputs":null,"outcome":{"kind":"?"},"decisions":[{"kind":"branch","pc":"0x1","value":"0x"}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		x, err := decode(line)
		if err != nil {
			return
		}
		again, err := encode(x)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, err := decode(again); err != nil {
			t.Fatalf("%s: %s: %v", line, again, err)
		}
		for _, in := range x.Inputs {
			in.Bytes()
			in.Str()
			in.Int()
			in.Bool()
			in.Choice()
		}
		Target{Path: "/p", Kind: Program, Argv: []string{"p"}}.Call(x.Inputs)
	})
}
