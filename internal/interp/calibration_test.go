package interp

import (
	"errors"
	"strings"
	"testing"
)

// TestCalibrations: every embedded script marks every window and has no language twice.
func TestCalibrations(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Calibrations() {
		if seen[c.Language] {
			t.Errorf("two descriptions of %s", c.Language)
		}
		seen[c.Language] = true
		argv := strings.Join(c.Argv("x"), " ")
		if !strings.Contains(argv, ScriptDir+"/"+c.ScriptName()) {
			t.Errorf("%s: the script is not in %q", c.Language, argv)
		}
		for _, w := range []string{WindowShort, WindowLong, WindowLoop, WindowRecursion, WindowMixed, "end"} {
			if !strings.Contains(c.Script+argv, w) {
				t.Errorf("%s: no window %s", c.Language, w)
			}
		}
	}
	for program, want := range map[string]string{"/usr/bin/lua5.4": "lua", "python3.11": "python", "mruby": "ruby", "cat": ""} {
		got := ""
		if c, ok := CalibrationFor(program); ok {
			got = c.Language
		}
		if got != want {
			t.Errorf("%s speaks %q, want %q", program, got, want)
		}
	}
}

const smallCalibration = `(calibration x (interpreters "x") (argv script) (script "a" (repeat 3 "b" "c") "d") CLAUSE)`

// Structures, whole.
const (
	slabs   = "(slots 6) (free 4) (operation 8) (size 8) (distance 6) (next 0) (variable 24) (type 32) (type-bits 511) (in-slab 1024) (line 36) (file 48)"
	objects = "(type 31) (other 128) (attributes 8) (length 32) (elements 48) (first 32) (second 40) (third 48) (symbol 1) (pair 2) (environment 4) (vector 19) (strings 16) " +
		`(plain 10 4 13 4) (class "a") (source "b") (path "c") (folder "d") (index "e")`
)

// TestParseCalibration: what is wrong is an error with its place, what is right is read.
func TestParseCalibration(t *testing.T) {
	c, err := ParseCalibration(strings.Replace(smallCalibration, "CLAUSE", "(code y (object p (load8 frame 8)) (start (load8 p 0)) (size (mul 2 (load4 p -8))) (identity (p 8)))", 1))
	if err != nil || c.Script != "a\nb\nc\nb\nc\nb\nc\nd\n" || len(c.Codes) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	for _, good := range []string{
		"(code y (object p frame) (start p) (size 1) (identity (slab p 1)) (slabs " + slabs + "))",
		"(code y (object p frame) (start p) (size 1) (identity (constants p)) (objects " + objects + ") (label (lines references 1)))",
	} {
		c, err := ParseCalibration(strings.Replace(smallCalibration, "CLAUSE", good, 1))
		if err != nil {
			t.Errorf("%s: %v", good, err)
		} else if r := c.Codes[0]; r.Slabs != nil && r.Slabs.N("in-slab") != 1024 || r.Objects != nil && (r.Objects.Text("index") != "e" || len(r.Objects.All("plain")) != 4) {
			t.Errorf("%s is read as %+v %+v", good, r.Slabs, r.Objects)
		}
	}
	memory := map[uint64]uint64{1008: 2000, 2000: 3000, 1992: 7}
	read := func(addr uint64, _ int) (uint64, error) {
		if v, ok := memory[addr]; ok {
			return v, nil
		}
		return 0, errors.New("not mapped")
	}
	object, err := c.Codes[0].Object.Eval(Roots{Frame: 1000}, read)
	start, err1 := c.Codes[0].Start.Eval(Roots{Object: object}, read)
	size, err2 := c.Codes[0].Size.Eval(Roots{Object: object}, read)
	if object != 2000 || start != 3000 || size != 14 || err != nil || err1 != nil || err2 != nil {
		t.Errorf("start %d, size %d, %v, %v", start, size, err1, err2)
	}
	if _, err := c.Codes[0].Start.Eval(Roots{Object: 1}, read); err == nil {
		t.Error("memory that is not mapped is no error")
	}
	if got := c.Codes[0].Size.String(); got != "(mul 2 (load4 object -8))" {
		t.Errorf("printed as %s", got)
	}
	memory[3000] = 0x1234
	for text, want := range map[string]uint64{
		"(and frame 43)": 40, "(load2 pc 0)": 0x1234, "(if 0 (load8 pc 7) 5)": 5, "(if frame 4 (load8 pc 7))": 4, "(if (load8 pc 7) 1 1)": 0,
	} {
		c, err := ParseCalibration(strings.Replace(smallCalibration, "CLAUSE", "(code y (object p "+text+") (start p) (size 1) (identity (p 1)))", 1))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Codes[0].Object.Eval(Roots{Frame: 1000, PC: 3000}, read); got != want || (err == nil) != (want != 0) || c.Codes[0].Object.String() != text {
			t.Errorf("%v is %d, %v; want %d", c.Codes[0].Object, got, err, want)
		}
	}
	for _, bad := range []string{
		"(nothing 1)", "(argv script)", "(statements 1)", "(prefer)", "(redispatch 1)",
		"(code y)", "(code y (object p frame) (start p) (size 1) (identity p))", "(code y (object p frame) (start q) (size 1) (identity (p 1)))",
		"(code y (object p frame) (start p) (size 1))", "(code y (start frame) (size 1) (identity (frame 1)))", "(code y (object p frame) (start frame) (size 1) (identity (p 1)))",
		"(code y (object p frame) (start p) (size 1) (identity (words p)))", "(code y (object p (if frame 1)) (start p) (size 1) (identity (p 1)))",
		"(code y (object p frame) (start pc) (size 1) (identity (p 1)))", "(code y (object p frame) (start p) (size 1) (identity (texts p 1)))", "(code y (object p frame) (start p) (size 1) (identity (slab p)))", "(code y (object p frame) (start p) (size 1) (identity (constants p 1)))",
		// What structures look like is said where a part is of one, and whole.
		"(code y (object p frame) (start p) (size 1) (identity (constants p)))", "(code y (object p frame) (start p) (size 1) (identity (slab p 1)))",
		"(code y (object p frame) (start p) (size 1) (identity (p 1)) (slabs " + slabs + "))", "(code y (object p frame) (start p) (size 1) (identity (slab p 1)) (slabs (slots 6)))",
		"(code y (object p frame) (start p) (size 1) (identity (slab p 1)) (slabs (slots 7) " + slabs + "))",
		"(code y (object p frame) (start p) (size 1) (identity (constants p)) (objects " + strings.Replace(objects, "10 4", "10", 1) + "))",
		"(code y (object p frame) (start p) (size 1) (identity (p 1)) (label (lines references 1)))",
	} {
		if _, err := ParseCalibration(strings.Replace(smallCalibration, "CLAUSE", bad, 1)); err == nil || !strings.HasPrefix(err.Error(), "1:") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
