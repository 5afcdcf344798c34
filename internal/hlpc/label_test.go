package hlpc

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// The lines of every instruction of some modules are those that the interpreter itself tells.
func TestLinesOfPython(t *testing.T) {
	const python = "/usr/bin/python3.11"
	if _, err := os.Stat(python); err != nil {
		t.Skipf("skipped: %s is not installed", python)
	}
	out, err := exec.Command(python, "-c", `
import json, sys, argparse, json.decoder, inspect, textwrap, typing, dataclasses
def walk(c):
    yield c
    for k in c.co_consts:
        if hasattr(k, "co_code"):
            yield from walk(k)
out = []
for m in (argparse, json.decoder, inspect, textwrap, typing, dataclasses):
    for c in walk(compile(open(m.__file__).read(), m.__file__, "exec")):
        lines = [p[0] or 0 for p in c.co_positions()]
        out.append([c.co_linetable.hex(), c.co_firstlineno, lines])
json.dump(out, sys.stdout)
`).Output()
	if err != nil {
		t.Fatal(err)
	}
	var codes [][3]json.RawMessage
	if err := json.Unmarshal(out, &codes); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, c := range codes {
		var table string
		var first int
		var want []int
		json.Unmarshal(c[0], &table)
		json.Unmarshal(c[1], &first)
		json.Unmarshal(c[2], &want)
		raw, err := hex.DecodeString(table)
		if err != nil {
			t.Fatal(err)
		}
		l := Label{Lines: entries(raw, first)}
		for k, line := range want {
			if got := l.Line(uint32(2 * k)); got != line {
				t.Fatalf("code %d, offset %d: line %d, not %d", i, 2*k, got, line)
			}
			n++
		}
		if l.Line(uint32(2*len(want))) != 0 {
			t.Errorf("code %d: a line after its end", i)
		}
	}
	if n < 10_000 {
		t.Errorf("only %d instructions compared", n)
	}
	t.Logf("%d code objects, %d code units", len(codes), n)
	for cut := range 40 { // a damaged table ends, without a panic
		entries([]byte("\xf0\x7f\x7f\x7f\x7f\x7f\x7f\xe8\x41\xff\xf8\x80\x00")[:cut%14], cut)
	}
}
