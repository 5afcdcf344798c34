package hlpc_test

import (
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"symchef/internal/hlpc"
	"symchef/internal/interp"
)

const tallyProgram = `fn fib(n) { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }
fn sum(n) { let s = 0; while 0 < n { set s = s + n % 3; set n = n - 1; } return s; }
let i = 0;
while i < 6 { if i == 4 { print !sum(i); } else { print fib(i); } set i = i + 1; }
`

// tally compiles examples/interpreter, stripped, and returns its description.
func tally(t *testing.T, flags ...string) (string, *interp.Calibration) {
	t.Helper()
	if _, err := osexec.LookPath("gcc"); err != nil {
		t.Skip("skipped: gcc is not installed")
	}
	path := filepath.Join(t.TempDir(), "tally")
	args := append([]string{"-s", "-o", path, "../../examples/interpreter/tally.c"}, flags...)
	if out, err := osexec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %s", out)
	}
	src, err := os.ReadFile("../../examples/interpreter/tally.desc")
	if err != nil {
		t.Fatal(err)
	}
	cal, err := interp.ParseCalibration(string(src))
	if err != nil {
		t.Fatal(err)
	}
	return path, cal
}

// TestOwnLanguage: an interpreter that nobody has seen before is calibrated, however it is compiled,
// and its steps are those that its own disassembler lists.
func TestOwnLanguage(t *testing.T) {
	for _, flags := range []string{"-O2", "-O3 -no-pie", "-O1 -static"} {
		t.Run(flags, func(t *testing.T) {
			path, cal := tally(t, strings.Fields(flags)...)
			r, err := hlpc.Calibrate(config(path, cal), cal, true)
			if err != nil {
				t.Fatal(err)
			}
			if r.Confidence != "high" || r.Level != hlpc.Table.String() || r.Opcode != "u8[pc]" || r.PerStatement != 4 || r.Code != "tally" || r.Function.Module != path {
				t.Errorf("unexpected: %+v", r)
			}
			program := filepath.Join(t.TempDir(), "program.tally")
			if err := os.WriteFile(program, []byte(tallyProgram), 0o644); err != nil {
				t.Fatal(err)
			}
			listing, err := osexec.Command(path, "-d", program).Output()
			if err != nil {
				t.Fatal(err)
			}
			bySize := map[uint64]*function{}
			for _, f := range tallyFunctions(string(listing)) {
				last := f.code[len(f.code)-1]
				bySize[last.offset+1] = f // it ends with return
			}
			steps, out := record(t, r, path, program)
			if want := "0\n1\n1\n2\n0\n5\n"; out != want {
				t.Errorf("output %q, want %q", out, want)
			}
			walk(t, steps, func(s step) *function { return bySize[s.Code.Size] }, func(_ *function, i int) bool { return i == 0 })
			for _, f := range bySize {
				if want := map[string]int{"main": 1, "fib": 1 + 1 + 3 + 5 + 15, "sum": 1}[f.name]; f.calls != want {
					t.Errorf("%s was called %d times, want %d", f.name, f.calls, want)
				}
			}
			if len(bySize) != 3 {
				t.Errorf("%d functions", len(bySize))
			}
		})
	}
}

// tallyFunctions parses what tally -d prints.
func tallyFunctions(listing string) (out []*function) {
	line := regexp.MustCompile(`(?m)^(?:function (\w+) \d+|(\d+) (\w+)(?: (\d+))?)$`)
	targets := map[*function]map[int]uint64{}
	var f *function
	for _, m := range line.FindAllStringSubmatch(listing, -1) {
		if m[1] != "" {
			f = &function{name: m[1], index: map[uint64]int{}, after: tallyAfter}
			targets[f] = map[int]uint64{}
			out = append(out, f)
			continue
		}
		off, _ := strconv.ParseUint(m[2], 10, 64)
		f.index[off] = len(f.code)
		if m[4] != "" {
			targets[f][len(f.code)], _ = strconv.ParseUint(m[4], 10, 64)
		}
		f.code = append(f.code, instruction{off, m[3], -1})
	}
	for f, jumps := range targets {
		for i, off := range jumps {
			f.code[i].jump = f.index[off]
		}
	}
	return out
}

func tallyAfter(f *function, i int) []int {
	switch f.code[i].name {
	case "return":
		return nil
	case "jump":
		return []int{f.code[i].jump}
	case "unless":
		return []int{i + 1, f.code[i].jump}
	}
	return []int{i + 1}
}

// TestNoWinner: an interpreter without indirect branches, and an annotation that fits nothing, are
// reported, the latter with the candidates there are.
func TestNoWinner(t *testing.T) {
	path, cal := tally(t, "-O2", "-fno-jump-tables")
	var e *hlpc.AmbiguousError
	if _, err := hlpc.Calibrate(config(path, cal), cal, true); !errors.As(err, &e) || len(e.Candidates) != 0 {
		t.Errorf("without jump tables: %v", err)
	}
	path, cal = tally(t, "-O2")
	cal.Prefer = "call r11"
	if _, err := hlpc.Calibrate(config(path, cal), cal, true); !errors.As(err, &e) || len(e.Candidates) == 0 || !strings.Contains(e.Error(), "call r11") {
		t.Errorf("with a wrong annotation: %v", err)
	}
	cal.Prefer = strings.SplitN(e.Candidates[0], " at ", 2)[0]
	if r, err := hlpc.Calibrate(config(path, cal), cal, true); err != nil || r.Kind+" "+r.Location.String() != cal.Prefer {
		t.Errorf("with (prefer %q): %v", cal.Prefer, err)
	}
	cal.Script = "print 1;"
	if _, err := hlpc.Calibrate(config(path, cal), cal, true); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("a script without marks: %v", err)
	}
}
